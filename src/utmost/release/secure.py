"""Only randomness that nobody can predict may serve a release."""

from utmost.errors import PromiseBroken
from utmost.sampling.bits import Randomness, source


def secure(randomness: Randomness | None) -> Randomness:
    """The source given, or the operating system's.

    Raises:
        PromiseBroken: for a source that is not secure.
    """
    bits = source(randomness)
    if bits.is_secure is not True:
        raise PromiseBroken(
            "a release needs randomness that nobody can predict",
            came=type(bits).__name__,
            where="release",
            mend="Leave out randomness=; in tests call utmost.testing.seeded_release.",
        )
    return bits
