"""Random bits that repeat, for tests. Never for a release: whoever knows the seed can take the noise off again."""

from hashlib import sha256
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotANumber, Unsupported
from utmost.sampling.bits import Word
from utmost.sampling.keystream import NONCE_BYTES, Keystream


class SeededRandomness:
    """Insecure on purpose: equal seeds give equal draws, on every machine and with every version of NumPy.

    `utmost.release` refuses it, and so does the ledger; `utmost.sample` and `utmost.testing.seeded_release` take it.

    Args:
        seed: an int, text or bytes.

    Raises:
        NotANumber: for a seed of another type.

    >>> SeededRandomness(1).words(3, 8).tolist() == SeededRandomness(1).words(3, 8).tolist()
    True
    """

    is_secure = False

    __slots__ = ("_stream",)

    def __init__(self, seed: int | str | bytes) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | str | bytes | np.integer):
            raise NotANumber("a seed must be an int, text or bytes", came=seed, where="SeededRandomness")
        written = repr(seed if isinstance(seed, str | bytes) else int(seed))  # so that 1, "1" and b"1" differ
        self._stream = Keystream(sha256(f"utmost seed {written}".encode()).digest(), bytes(NONCE_BYTES))

    @property
    def word(self) -> Word:
        """Single words of 64 bits."""
        return self._stream.word

    @property
    def ahead(self) -> dict[Any, Any]:
        """Draws made ahead."""
        return self._stream.ahead

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """``count`` words of ``bits`` = 8, 16, 32 or 64 bits."""
        return self._stream.words(count, bits)

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "random state must not be copied", where="SeededRandomness", mend="Pass the seed and make it anew."
        )
