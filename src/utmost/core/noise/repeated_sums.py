"""Margins of the sum of n independent copies of one integer noise."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import fmpz_poly

from utmost.core.exact.arguments import instance
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.numbers import Number, first_integer, natural, read_confidence
from utmost.core.noise.integer_distribution import IntegerDistribution

# Probabilities are rounded down to multiples of 2^-_BITS. For more than _MOST_COPIES copies, only Chernoff's bound is
# used.
_BITS, _MOST_COPIES = 96, 10_000
# Wide noise is rounded to _BINS bins per standard deviation. The rounding error uses 1/_GIVEN_UP of the allowed
# probability.
_BINS, _GIVEN_UP = 160, 64
# The probability beyond this number of standard deviations is ignored, for one copy and for the sum. This only raises
# margins.
_OF_ONE, _OF_ALL = 36, 9
_SLOPES = 200


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedSum(Display):
    r"""S = X_1 + ... + X_n, with independent X_i of one distribution on the integers.

    The probabilities of one X are rounded down to multiples of 2^-96 and multiplied exactly as polynomials, and the
    products are rounded down, so that P(|S| <= r) is never overestimated. Wide noise is first rounded to bins; the
    margin then includes the largest effect of this rounding on S, about 1 %. For more than 10 000 copies, and for
    confidences too close to 1 for the bins, Chernoff's bound is used. The margin of one copy is exact.

    Args:
        distribution: Distribution of one copy.
        count: Number of copies. The signs of the copies in the sum do not matter, since the distribution is symmetric.

    Cost: 10 ms for 10 copies, at most seconds for 10 000.

    >>> from utmost.noise import DiscreteStaircase
    >>> distribution = DiscreteStaircase(1, 5)
    >>> [RepeatedSum(distribution, n).margin("0.95") for n in (1, 2, 12)]
    [15, 20, 48]
    """

    distribution: IntegerDistribution
    count: int

    def __post_init__(self) -> None:
        instance(self.distribution, IntegerDistribution, "distribution")
        object.__setattr__(self, "count", natural(self.count, "count", least=1))

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int:
        """The least r with a certificate that P(|S| <= r) >= confidence.

        Raises:
            OutOfRange: if the confidence is not strictly between 0 and 1.
        """
        return self.margin_for_miss(1 - read_confidence(confidence))

    def margin_for_miss(self, miss: Fraction) -> int:
        """The least r with a certificate that P(|S| > r) <= miss."""
        if self.count == 1:
            return self.distribution.margin(1 - miss)
        margins = [self.count * self.distribution.margin(1 - miss / self.count)]
        chernoff = self._by_chernoff(miss)
        if chernoff is None:  # tails that heavy may have no variance either, which the bins need
            return margins[0]
        margins.append(chernoff)
        if self.count > _MOST_COPIES:
            return min(margins)
        # A third margin comes from the sums of the bins, if their precision suffices for this probability. Rounding to
        # bins changes each copy symmetrically by at most half a bin: Hoeffding's inequality, rounded up, bounds the
        # change of the sum, except with the probability ``given_up``.
        half, given_up = self._bin // 2, miss / _GIVEN_UP
        log = math.log(2 * given_up.denominator) - math.log(given_up.numerator)
        shift = math.ceil(half * math.sqrt(2 * self.count * log) * (1 + 1e-9))
        if shift >= self.count * half:
            shift, given_up = self.count * half, Fraction(0)
        required = math.ceil((1 - miss + given_up) * (1 << _BITS))
        if self._cumulative[-1] >= required:
            bins = first_integer(-1, len(self._cumulative) - 1, lambda bins: bool(self._cumulative[bins] >= required))
            margins.append(bins * self._bin + shift)
        return min(margins)

    @cached_property
    def _deviation(self) -> float:
        return math.sqrt(float(self.distribution.variance()))

    @cached_property
    def _bin(self) -> int:
        """The width of a bin. The width is odd, so that a bin is symmetric about its middle."""
        return 2 * int(self._deviation / _BINS / 2) + 1

    @cached_property
    def _cumulative(self) -> list[int]:
        """Lower bounds of 2^96 P(|S'| <= k) for the sum S' in bins, k = 0, 1, ..."""
        half, most_of_one = self._bin // 2, math.ceil(_OF_ONE * self._deviation / self._bin) + 1
        # 2^96 P(X >= first) for the first integer of each bin of one copy, rounded down and rounded up.
        firsts = [k * self._bin - half for k in range(1, most_of_one + 2)]
        found = [interval.at(_BITS) for interval in self.distribution.tail_intervals(firsts, _BITS + 32)]
        # The probabilities of the bins, rounded down.
        halves = [(1 << _BITS) - 2 * found[0].high]
        halves += [max(0, near.low - far.high) for near, far in pairwise(found)]

        # Repeated squaring gives the probabilities of the sum of all copies, none of them too large.
        most = math.ceil((_OF_ONE + _OF_ALL * math.sqrt(self.count)) * self._deviation / self._bin) + 1
        square, left, weights = halves[:0:-1] + halves, self.count, list[int]()
        while left:
            if left & 1:
                weights = _times(weights, square, most) if weights else square
            left >>= 1
            square = _times(square, square, most) if left else square

        middle = len(weights) // 2
        sums, total = [], 0
        for k in range(middle + 1):
            total += weights[middle + k] * (1 if k == 0 else 2)
            sums.append(total)
        return sums

    def _by_chernoff(self, miss: Fraction) -> int | None:
        """The least over some slopes s of (n log M(s) + log(2/miss))/s, for M(s) = E exp(s X), or None if every M(s) is
        infinite.
        """
        # No distribution of this level and sensitivity has a finite exponential moment at larger s.
        steepest = self.distribution.level.epsilon_float / self.distribution.sensitivity
        # Rounded down, by more than the errors of both logarithms.
        log_miss = math.log(miss.numerator) - math.log(miss.denominator) - 1e-9
        least = math.inf
        for k in range(1, _SLOPES):
            s = steepest * (k / _SLOPES) ** 2
            log_moment = self.distribution.log_mean_exponential(s)
            least = min(least, (self.count * log_moment + math.log(2) - log_miss) / s)
        if least == math.inf:
            return None
        return math.ceil(Fraction(round_up(Fraction(least))) * (1 + Fraction(1, 10**9)))


def _times(first: list[int], second: list[int], most: int) -> list[int]:
    """The product of two polynomials, truncated and rounded down. The coefficient of power 0 is in the middle of each
    array.
    """
    whole: Any = (fmpz_poly(first) * fmpz_poly(second)).coeffs()
    length = len(first) + len(second) - 1
    coefficients = [int(c) >> _BITS for c in whole] + [0] * (length - len(whole))
    spare = max(0, length // 2 - most)
    return coefficients[spare : length - spare]


def repeated(distribution: IntegerDistribution, count: int) -> Any:
    """Return the sum of ``count`` copies: a `Combination` for geometric noise, a `RepeatedSum` for any other."""
    from utmost.core.noise.combination import Combination

    if distribution.ratio is not None:
        return Combination([1], distribution.ratio, counts=[count])
    return RepeatedSum(distribution, count)
