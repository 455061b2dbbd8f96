"""Refinement: one channel is worse than another for everyone exactly when it is the other, post-processed."""

from dataclasses import dataclass

from utmost.channels import Channel, stochastic
from utmost.errors import OutOfRange
from utmost.exact import Array, checked, frozen
from utmost.geometry.nearest_remaps import MergedPair
from utmost.geometry.remaps import exact_remap, near_remap, preferring_consumer
from utmost.geometry.witnesses import TOLERANCE, is_remap_between, prefers, same_secrets
from utmost.spaces import Consumer


@dataclass(frozen=True, slots=True, eq=False)
class RefinementVerdict:
    """Whether A is a refinement of B; true or false in a condition. One of the two witnesses is there.

    Attributes:
        B, A: the channels.
        remap: the channel P with B @ P == A, or None.
        consumer: one who loses less with A than with B, or None.
        tolerance: what == and "less" mean where an entry is float64 (see `refinement`).
    """

    B: Channel
    A: Channel
    remap: Channel | None
    consumer: Consumer | None
    tolerance: float

    def __bool__(self) -> bool:
        return self.remap is not None

    def verify(self) -> bool:
        """Whether the witness proves the verdict, by one matrix product or two expected losses."""
        if self.remap is not None:
            return is_remap_between(self.B, self.remap, self.A, self.tolerance)
        return self.consumer is not None and prefers(self.consumer, self.A, self.B, self.tolerance)


@checked
def refinement(B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE) -> Channel | None:
    """The remap P with B @ P == A, or None: then `refutation` gives a consumer who prefers A.

    Rational channels are decided exactly, and P is rational. Where one of the two has float64 entries, both are read
    as floats, which are rounded numbers: P is then any remap that brings B within the tolerance of A in every entry,
    None means that no remap does, and either is certified with rounding errors counted. (A float channel taken as the
    rationals that its entries are is hardly ever a refinement of another, nor do its rows sum to 1.)

    Args:
        B: (n, m), the channel that is post-processed.
        A: (n, k).
        tolerance: for float64 channels, between 1e-13 and 1; rows of channels sum to 1 up to 1e-9.

    Returns:
        (m, k), from the outcomes of B to those of A. Outcomes of B that cannot occur are treated like the first one.

    Raises:
        NotAChannel: for another number of secrets.

    Source: [fernandes2022], section II-B, after Theorem "Coriaceous" of quantitative information flow. Cost: with
    independent columns of B one linear system; otherwise floats find a remap or a loss, and one exact system mends it.

    >>> from utmost.channels import geometric_channel
    >>> loose, strict = geometric_channel(2, alpha="1/4"), geometric_channel(2, alpha="1/2")
    >>> [str(p) for p in refinement(loose, strict).matrix[1]], refinement(strict, loose)
    (['7/27', '13/27', '7/27'], None)
    """
    return refinement_verdict(B, A, tolerance).remap


@checked
def refutation(B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE) -> Consumer | None:
    """A consumer who loses strictly less with A than with B, or None: then A is a refinement of B.

    Its prior is uniform, and its losses are integers with as few digits as do. For rational channels the preference is
    exact. For float64 channels it is larger than a change of all entries by the tolerance explains.

    Args: as `refinement`. Raises: as `refinement`.

    >>> from utmost.channels import geometric_channel
    >>> loose, strict = geometric_channel(1, alpha="1/4"), geometric_channel(1, alpha="1/2")
    >>> refutation(strict, loose).loss.tolist(), refutation(loose, strict)
    ([[Fraction(0, 1), Fraction(2, 1)], [Fraction(1, 1), Fraction(0, 1)]], None)
    """
    return refinement_verdict(B, A, tolerance).consumer


@checked
def refinement_verdict(B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE) -> RefinementVerdict:
    """Both questions at the price of one: is A a refinement of B, and who says so?

    Args: as `refinement`. Raises: as `refinement`.

    >>> verdict = refinement_verdict([[1, 0], [0, 1]], [["1/2", "1/2"], [0, 1]])
    >>> bool(verdict), verdict.verify()
    (True, True)
    """
    first, second = same_secrets(B, A)
    if not (first.is_exact and second.is_exact):
        first, second = first.to_floats(), second.to_floats()
    if not 1e-13 <= tolerance <= 1:
        raise OutOfRange("the tolerance must lie between 1e-13 and 1", came=tolerance, where="refinement")
    pair = MergedPair.of(first.matrix, second.matrix)
    told: list[Consumer] = []

    def is_told(loss: Array) -> bool:
        consumer = preferring_consumer(loss, pair.near, second, first, tolerance)
        told.extend([] if consumer is None else [consumer])
        return consumer is not None

    def is_near(remap: Array) -> bool:
        return is_remap_between(first, Channel(pair.unmerged(remap)), second, tolerance)

    decided = exact_remap(pair, is_told) if first.is_exact else near_remap(pair, is_near, is_told)
    if decided is None:
        return RefinementVerdict(first, second, None, told[0], tolerance)
    remap = stochastic(frozen(pair.unmerged(decided)), first.outcomes, second.outcomes)
    return RefinementVerdict(first, second, remap, None, tolerance)
