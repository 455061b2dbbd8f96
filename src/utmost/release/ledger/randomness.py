"""Noise derived from the ledger's key: the same for the same step of the same release, and for nobody without the key.

    key = HKDF(ledger key; name, version, promise, commitment to the values, step, column)

feeds an AES-256-CTR keystream. A ledger that was put back to an earlier state and is asked the same again says the same
again, bit for bit. Whoever holds the key and the responses can take the noise off: it must be kept as the data are.
"""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.release.gradual.chain import Step
from utmost.release.ledger.key import Key
from utmost.release.statement import level_text
from utmost.sampling.bits import Word
from utmost.sampling.keystream import NONCE_BYTES, Keystream


class DerivedRandomness:
    """A keystream under a secret key. It is secure as long as no key serves two different draws.

    >>> DerivedRandomness(bytes(32)).words(2, 16).tolist() == DerivedRandomness(bytes(32)).words(2, 16).tolist()
    True
    """

    is_secure = True

    __slots__ = ("_stream",)

    def __init__(self, secret: bytes) -> None:
        # Each key serves one stream only, so the nonce may be constant.
        self._stream = Keystream(secret, bytes(NONCE_BYTES))

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
        raise Unsupported("random state must not be copied", where="DerivedRandomness")


def derived_randomness(
    key: Key, name: str, version: int, promise: str, commitment: str, step: Step, column: str
) -> DerivedRandomness:
    """The randomness of one column of one step.

    Args:
        promise: all that the lattice of the noise hangs on, as text.
        commitment: the digest of the commitment to the values.
    """
    levels = ["" if one is None else level_text(one) for one in (step.strict, step.to, step.loose)]
    return DerivedRandomness(key.derived("noise", name, str(version), promise, commitment, *levels, column))
