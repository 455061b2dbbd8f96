"""A stream of pseudo-random bits from one key: AES-256 in counter mode, encrypting zeros."""

from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

KEY_BYTES, NONCE_BYTES = 32, 16

_ZEROS = bytes(1 << 18)
# `update_into` of older releases of cryptography asks for one cipher block of room past the end.
_SLACK = 16
_WORDS_AT_ONCE = 512
_WORD_TYPES = {bits: np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)}


class Keystream:
    """The AES-256-CTR keystream of one key and nonce, read as unsigned words of 8, 16, 32 or 64 bits.

    Words are little-endian on every machine, so equal keys give equal words. No part of the stream is read twice.

    Attributes:
        taken: how many bytes have left the stream.
        ahead: room for draws that were made from the stream ahead of their use; they end with it.

    >>> Keystream(bytes(32), bytes(16)).words(2, 16).tolist()
    [38364, 30912]
    """

    __slots__ = ("_encryptor", "_spare", "ahead", "taken")

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(nonce)).encryptor()
        self._spare: list[int] = []
        self.taken = 0
        self.ahead: dict[Any, Any] = {}

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """The next ``count`` words of ``bits`` bits, in a fresh array."""
        size = count * bits // 8
        buffer = np.empty(size + _SLACK, np.uint8)
        for start in range(0, size, len(_ZEROS)):
            part = min(len(_ZEROS), size - start)
            self._encryptor.update_into(memoryview(_ZEROS)[:part], buffer[start:].data)
        self.taken += size
        return buffer[:size].view(_WORD_TYPES[bits])

    def word(self) -> int:
        """One word of 64 bits; they are made some hundreds at a time."""
        try:
            return self._spare.pop()
        except IndexError:
            fresh: list[int] = self.words(_WORDS_AT_ONCE, 64).tolist()
            last = fresh.pop()
            self._spare = fresh
            return last
