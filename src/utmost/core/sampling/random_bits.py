"""Sources of random bits: the operating system, through a keystream that no fork, thread or pickle repeats."""

import os
import threading
from collections.abc import Callable
from hashlib import sha256
from os import getpid
from typing import Any, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from utmost.errors import EntropyFailed, PromiseBroken, Unsupported

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
        taken: Number of bytes read from the stream.
        ahead: Draws made from the stream before their use; they end with it.

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
        """One word of 64 bits, from a buffer of some hundreds."""
        try:
            return self._spare.pop()
        except IndexError:
            fresh: list[int] = self.words(_WORDS_AT_ONCE, 64).tolist()
            last = fresh.pop()
            self._spare = fresh
            return last


# A gibibyte is 2^26 cipher blocks: far below the 2^64 at which counter mode could be distinguished from random bits.
_BYTES_PER_KEY = 1 << 30

# A healthy source repeats 16 bytes among so few blocks with a chance below 2^-120.
_LEAST_BLOCK = 16
_REMEMBERED = 64

_MEND = "Nothing was released. Stop this machine's releases until its random source (getrandom, /dev/urandom) works."

_seen: tuple[bytes, ...] = ()


def entropy(count: int) -> bytes:
    """``count`` bytes from the operating system's source, which must not repeat itself.

    Every block is compared, by a digest of its beginning, with those that this process drew before; the first is
    compared with one drawn for this purpose. A source that is stuck at one block, or repeats a few, is thus detected
    before its second block is used. Blocks that differ are no proof that nobody can predict them; no test is.

    Raises:
        EntropyFailed: the source fails, gives too few bytes, or repeats a block.

    >>> len(entropy(48))
    48
    """
    global _seen
    # The tuple is replaced and never changed, so that threads need no lock, which a fork might leave locked.
    before = _seen or (_digest(_block(_LEAST_BLOCK)),)
    block = _block(max(count, _LEAST_BLOCK))
    digest = _digest(block)
    if digest in before:
        raise EntropyFailed(
            "the operating system's source must not repeat itself", came="one block twice", remedy=_MEND
        )
    _seen = (*before[1 - _REMEMBERED :], digest)
    return block[:count]


def _block(count: int) -> bytes:
    try:
        block = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        came = error.strerror if isinstance(error, OSError) else None
        raise EntropyFailed("the operating system must give random bytes", came=came, remedy=_MEND) from None
    if len(block) != count:
        raise EntropyFailed(
            "the operating system must give random bytes", came=f"{len(block)} of {count}", remedy=_MEND
        )
    return block


def _digest(block: bytes) -> bytes:
    # A digest, since the memory of blocks must not reveal a key.
    return sha256(block[:_LEAST_BLOCK]).digest()


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


WordSource = Callable[[], int]
"""A function that returns a fresh word of 64 random bits at each call. It serves one draw and is not stored."""


class Randomness(Protocol):
    """A source of independent, uniform random words."""

    @property
    def is_secure(self) -> bool:
        """Whether nobody can predict the words. Releases refuse other sources."""

    @property
    def word(self) -> WordSource:
        """Single words of 64 bits, for one draw."""

    @property
    def ahead(self) -> dict[Any, Any]:
        """Draws made before their use. They must end with the stream: at a fork, and in a copy."""

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """``count`` words of ``bits`` = 8, 16, 32 or 64 bits, in a fresh array."""


class _ThreadState(threading.local):
    """The process of one thread, the number of forks before it, and its stream."""

    state: tuple[int, int, Keystream] | None = None


class SystemRandomness:
    """AES-256-CTR keystreams, each keyed by 48 bytes from the operating system.

    Every thread of every process has a key of its own, and changes it after each gibibyte. A forked child recognises
    its parent's state, by a hook that Python runs in the child and by the process number, and takes a new key before
    the first bit; buffered words are discarded with the old key. The state cannot be pickled or copied: a worker makes
    its own. No program can detect that its virtual machine was copied while it ran. A source that fails or is stuck
    raises `EntropyFailed` at the first draw that needs it.

    >>> SystemRandomness().words(3, 32).dtype
    dtype('uint32')
    """

    is_secure = True

    def __init__(self) -> None:
        self._thread = _ThreadState()

    @property
    def word(self) -> WordSource:
        """Single words of 64 bits, for one draw, all from the stream of this thread."""
        return self._stream().word

    @property
    def ahead(self) -> dict[Any, Any]:
        """Draws made from this thread's stream before their use."""
        return self._stream().ahead

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """``count`` words of ``bits`` = 8, 16, 32 or 64 bits."""
        return self._stream().words(count, bits)

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "random state must not be copied",
            where="SystemRandomness",
            remedy="Let each worker make its own: leave out randomness=, or call SystemRandomness() there.",
        )

    def _stream(self) -> Keystream:
        state = self._thread.state
        if state is not None:
            pid, forks, stream = state
            if pid == getpid() and forks == _forks and stream.taken < _BYTES_PER_KEY:
                return stream
        seed = entropy(KEY_BYTES + NONCE_BYTES)
        stream = Keystream(seed[:KEY_BYTES], seed[KEY_BYTES:])
        self._thread.state = getpid(), _forks, stream
        return stream


SYSTEM = SystemRandomness()
"""The default source."""


def source(randomness: Randomness | None) -> Randomness:
    """The source for an argument ``randomness=``: the operating system's for None. A seed or a generator is refused."""
    if randomness is None:
        return SYSTEM
    if all(hasattr(randomness, name) for name in ("is_secure", "word", "words", "ahead")):
        return randomness
    raise Unsupported(
        "randomness must be a source of random words",
        came=randomness,
        remedy="Leave it out; for repeatable tests use utmost.testing.SeededRandomness(seed).",
    )


def unpredictable(randomness: Randomness | None, *, where: str, instead: str) -> Randomness:
    """The source for an argument ``randomness=`` of a call that publishes; one that is not secure is refused.

    Args:
        randomness: Argument of the caller.
        where: Kind of publication, for the message: "release" or "draw".
        instead: Function that tests call instead.
    """
    bits = source(randomness)
    if bits.is_secure is not True:
        raise PromiseBroken(
            f"a {where} needs randomness that nobody can predict",
            came=type(bits).__name__,
            where=where,
            remedy=f"Leave out randomness=; in tests call {instead}.",
        )
    return bits


class KeyedRandomness:
    """A keystream under a key: for the derived noise of ledgers, and for tests that repeat.

    The same key gives the same bits, so releases refuse it like a seed; only the key's owner knows whether others can
    predict them. Derived noise passes it to the draws directly, one key for each.

    >>> KeyedRandomness(bytes(32)).words(2, 16).tolist() == KeyedRandomness(bytes(32)).words(2, 16).tolist()
    True
    """

    is_secure = False

    __slots__ = ("_stream",)

    def __init__(self, secret: bytes) -> None:
        # Each key serves one stream only, so the nonce may be constant.
        self._stream = Keystream(secret, bytes(NONCE_BYTES))

    @property
    def word(self) -> WordSource:
        """Single words of 64 bits."""
        return self._stream.word

    @property
    def ahead(self) -> dict[Any, Any]:
        """Draws made before their use."""
        return self._stream.ahead

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """``count`` words of ``bits`` = 8, 16, 32 or 64 bits."""
        return self._stream.words(count, bits)

    def __reduce__(self) -> NoReturn:
        raise Unsupported("random state must not be copied", where=type(self).__name__)


def secure(randomness: Randomness | None) -> Randomness:
    """The source for an argument ``randomness=`` of a release; one that is not secure is refused."""
    return unpredictable(randomness, where="release", instead="utmost.interfaces.testing.seeded_release")
