"""The smallest epsilon that a channel keeps along a metric, and where it is attained."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from utmost.channels import Channel
from utmost.exact import Interval, Level, Surd, checked, exact, log_interval, round_up
from utmost.privacy.ptype import rows_of
from utmost.privacy.ratios import is_steeper, suspects
from utmost.spaces import Space


@dataclass(frozen=True, slots=True)
class SmallestEpsilon:
    """The least level that contains a channel, with the place that needs it.

    Attributes:
        value: epsilon, rounded up, and so is the decimal that it prints; 0 for a channel that tells nothing, infinity
            where an outcome is possible for one secret and impossible for another.
        level: the same level exactly, where it is positive and finite and the distance of the pair is rational.
        pair: (x, z) with C[x, y] = exp(epsilon d(x, z)) C[z, y]; None where the value is 0.
        outcome: y, or None.
    """

    value: float
    level: Level | None
    pair: tuple[int, int] | None
    outcome: int | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Two probabilities of one outcome, larger > smaller, and the distance of their secrets."""

    larger: Fraction
    smaller: Fraction
    length: Fraction | Surd
    pair: tuple[int, int]
    outcome: int

    @property
    def ratio(self) -> Fraction:
        return self.larger / self.smaller

    @property
    def level(self) -> Level | None:
        """The level that this place needs, where it is a power of a rational alpha."""
        if isinstance(self.length, Surd) or not self.smaller:
            return None
        return Level.of_alpha(1 / self.ratio).scaled(1 / self.length)


@checked
def smallest_epsilon(channel: Channel | object, space: Space) -> SmallestEpsilon:
    """The smallest epsilon with C[x, y] <= exp(epsilon d(x, z)) C[z, y] for all x, z and y.

    It is the largest log(C[x, y] / C[z, y]) / d(x, z), and is attained on an essential edge. Probabilities are taken
    as exact numbers; float64 entries as the rationals that they are.

    Args:
        channel: n rows.
        space: n secrets.

    Cost: O(m) for each essential edge.

    Source: [fernandes2022], section III.

    >>> from utmost.channels import renormalised_geometric_channel
    >>> from utmost.spaces import counts
    >>> found = smallest_epsilon(renormalised_geometric_channel(2, alpha="1/2"), counts(2))
    >>> found.level, found.pair, found.outcome
    (Level(alpha=7/16), (0, 1), 0)
    """
    matrix = rows_of(channel, space)
    length = cache(space.length)
    worst: _Place | None = None
    for x, z, y in suspects(matrix, space, slope=None):
        larger, smaller = Fraction(matrix[x, y]), Fraction(matrix[z, y])
        if larger > smaller:
            place = _Place(larger, smaller, length(x, z), (x, z), y)
            worst = place if worst is None or _is_steeper(place, worst) else worst
    return _answer(worst)


def _answer(worst: _Place | None) -> SmallestEpsilon:
    if worst is None:
        return SmallestEpsilon(0.0, None, None, None)
    if not worst.smaller:
        return SmallestEpsilon(math.inf, None, worst.pair, worst.outcome)
    bits = 256 + 2 * worst.ratio.numerator.bit_length()  # a ratio near 1 has a small logarithm
    epsilon = log_interval(worst.ratio, bits) / _interval(worst.length, bits)
    return SmallestEpsilon(_as_printed(epsilon), worst.level, worst.pair, worst.outcome)


def _as_printed(epsilon: Interval) -> float:
    """epsilon rounded up, so that neither the float nor the decimal it prints, as levels read it, is below."""
    value = round_up(epsilon)
    return value if exact(value) >= epsilon.upper else math.nextafter(value, math.inf)


def _is_steeper(one: _Place, other: _Place) -> bool:
    """Whether one needs a larger epsilon than the other: decided exactly, but for ties along different surds."""
    if not one.smaller or not other.smaller:
        return not one.smaller and bool(other.smaller)
    if one.length == other.length:
        return is_steeper(one.larger, one.smaller, other.larger, other.smaller)
    mine, theirs = one.level, other.level
    if mine is not None and theirs is not None:
        return mine > theirs
    for bits in (128, 512, 2048):  # a doubled way has an equal slope, which no number of bits tells: a tie
        cross_one = log_interval(one.ratio, bits) * _interval(other.length, bits)
        cross_other = log_interval(other.ratio, bits) * _interval(one.length, bits)
        if cross_one.is_below(cross_other) or cross_other.is_below(cross_one):
            return cross_other.is_below(cross_one)
    return False


def _interval(length: Fraction | Surd, bits: int) -> Interval:
    return length.interval(bits) if isinstance(length, Surd) else Interval.of(length, bits)
