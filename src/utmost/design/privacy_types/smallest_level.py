"""Compute the smallest epsilon that a channel or a noise distribution satisfies, and check a claimed epsilon."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from utmost.core.exact.arguments import instance
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, is_lower, log_interval, round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.core.exact.surds import Surd
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.profile_distribution import ProfileDistribution
from utmost.design.channels.channel import Channel
from utmost.design.privacy_types.curves import curve_distance
from utmost.design.privacy_types.privacy_type import candidate_triples, is_steeper, rows_of
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, PromiseBroken

_FAR_BITS = 2048  # bits of intervals, so that a probability of 1e-280 has many digits
_FAR_OFF = Fraction(1, 10)  # largest relative difference between the last likelihood ratio and its limit


@dataclass(frozen=True, slots=True, repr=False)
class SmallestEpsilon(Display):
    """The smallest epsilon that a channel satisfies, with the secrets and the outcome that attain it."""

    value: float  # epsilon, rounded up; 0 if nothing is revealed, infinity if an outcome excludes a secret
    level: Level | None  # the exact level if 0 < epsilon < infinity and the distance of the pair is rational
    pair: tuple[int, int] | None  # (x, z) with C[x, y] = exp(epsilon d(x, z)) C[z, y]; None if value is 0
    outcome: int | None  # y; None if value is 0


@dataclass(frozen=True, slots=True)
class _LikelihoodRatio:
    """The probabilities of one outcome for two secrets, larger > smaller, and the distance of the two secrets."""

    larger: Fraction
    smaller: Fraction
    length: Fraction | Surd
    pair: tuple[int, int]
    outcome: int

    @property
    def value(self) -> Fraction:
        return self.larger / self.smaller

    @property
    def level(self) -> Level | None:
        """The smallest level that allows this ratio; None if the distance is irrational or the ratio infinite."""
        if isinstance(self.length, Surd) or not self.smaller:
            return None
        return Level.of_alpha(1 / self.value).scaled(1 / self.length)


def smallest_epsilon(channel: Channel | object, space: Space) -> SmallestEpsilon:
    """Return the smallest epsilon with C[x, y] <= exp(epsilon d(x, z)) C[z, y] for all x, z and y.

    The smallest epsilon is the largest log(C[x, y] / C[z, y]) / d(x, z), attained at secrets without a third secret
    between them. Float64 entries are converted to rationals exactly.

    Args:
        channel: Channel C with n rows.
        space: Space of n secrets with distances d.

    Cost: O(m) for each essential edge.

    Source: [fernandes2022], section III.

    >>> from utmost.design.channels.on_counts import renormalised_geometric_channel
    >>> from utmost.spaces import counts
    >>> found = smallest_epsilon(renormalised_geometric_channel(3, alpha="1/2"), counts(2))
    >>> found.level, found.pair, found.outcome
    (level(alpha='7/16'), (0, 1), 0)
    """
    instance(space, Space, "space")
    matrix = rows_of(channel, space)
    length = cache(space.length)
    worst: _LikelihoodRatio | None = None
    for x, z, y in candidate_triples(matrix, space, slope=None):
        larger, smaller = Fraction(matrix[x, y]), Fraction(matrix[z, y])
        if larger > smaller:
            ratio = _LikelihoodRatio(larger, smaller, length(x, z), (x, z), y)
            worst = ratio if worst is None or _is_steeper(ratio, worst) else worst
    if worst is None:
        return SmallestEpsilon(0.0, None, None, None)
    if not worst.smaller:
        return SmallestEpsilon(math.inf, None, worst.pair, worst.outcome)
    bits = 256 + 2 * worst.value.numerator.bit_length()  # a ratio near 1 has a small logarithm, so it needs more bits
    epsilon = log_interval(worst.value, bits) / _interval(worst.length, bits)
    # Round up so that neither the float nor its printed decimal is below epsilon.
    value = round_up(epsilon)
    value = value if exact(value) >= epsilon.upper else math.nextafter(value, math.inf)
    return SmallestEpsilon(value, worst.level, worst.pair, worst.outcome)


def _is_steeper(first: _LikelihoodRatio, second: _LikelihoodRatio) -> bool:
    """Return whether ``first`` needs a larger epsilon than ``second``; exact, except if different surds tie."""
    if not first.smaller or not second.smaller:
        return not first.smaller and bool(second.smaller)
    if first.length == second.length:
        return is_steeper(first.larger, first.smaller, second.larger, second.smaller)
    first_level, second_level = first.level, second.level
    if first_level is not None and second_level is not None:
        return first_level > second_level
    first_cross, second_cross = partial(_cross_product, first, second), partial(_cross_product, second, first)
    # No number of bits shows that two slopes with different surds are equal; after 2048 bits they count as equal.
    return bool(is_lower(second_cross, first_cross, 2048))


def _cross_product(mine: _LikelihoodRatio, other: _LikelihoodRatio, bits: int) -> Interval:
    return log_interval(mine.value, bits) * _interval(other.length, bits)


def _interval(length: Fraction | Surd, bits: int) -> Interval:
    return length.interval(bits) if isinstance(length, Surd) else Interval.of(length, bits)


def smallest_level(distribution: Distribution, shift: Number | None = None) -> Level:
    """Return the smallest level that noise satisfies if the answers on neighbouring datasets differ by at most |shift|.

    For noise of sensitivity D, the smallest level is the level of the noise times ceil(|shift| / D) for the staircase
    distributions, and times |shift| / D for the Laplace and the geometric distribution. The default shift is D, for
    which the result is the level of the noise.

    Raises:
        OutOfRange: if the shift is 0, because equal answers satisfy every level.

    Source: [geng2012], (24) and (76); shifts beyond the sensitivity: proofs/theory/trade-off.md.

    >>> from utmost.noise import DiscreteStaircase, Geometric
    >>> [smallest_level(noise(epsilon=1, sensitivity=3), shift=4) for noise in (DiscreteStaircase, Geometric)]
    [level(epsilon=2), level(epsilon='4/3')]
    """
    instance(distribution, Distribution, "distribution")
    smallest = distribution.worst_level(curve_distance(distribution, shift))
    if smallest is None:
        raise OutOfRange(
            "the shift must not be 0: equal answers satisfy every level",
            came=shift,
            where="smallest_level",
            remedy="Pass shift=, the largest difference of the answers on two neighbouring datasets.",
        )
    return smallest


def check_promise(
    distribution: Distribution,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    shift: Number | None = None,
) -> None:
    """Check that a level is the smallest one that noise satisfies: e^epsilon is the supremum of the likelihood ratios,
    which one ratio attains or which the ratios approach.

    The level of the largest likelihood ratio is compared exactly with the claimed level. For noise on the integers, the
    probabilities at an outcome that attains the ratio are compared too: as Fractions if they are rational, else as
    intervals. For a distribution that the user defined, the formulas of its methods are also compared with each other,
    and the largest ratio is searched among probabilities of at least 1e-280.

    Args:
        distribution: Noise distribution.
        epsilon, alpha: Level to check; the level of the distribution by default.
        shift: Largest distance of neighbouring query answers; the sensitivity of the distribution by default.

    Raises:
        PromiseBroken: if a likelihood ratio exceeds e^epsilon, or if their supremum is smaller, so that there is more
            noise than the level needs.

    >>> from utmost.noise import Geometric
    >>> check_promise(Geometric(epsilon=1, sensitivity=3))
    >>> check_promise(Geometric(epsilon=1, sensitivity=3), epsilon=1, shift=4)
    Traceback (most recent call last):
    utmost.errors.PromiseBroken: check_promise: the noise must satisfy epsilon=1; got epsilon=4/3. ...
    """
    instance(distribution, Distribution, "distribution")
    promised = distribution.level if epsilon is None and alpha is None else level(epsilon, alpha)
    smallest = smallest_level(distribution, shift)
    if promised < smallest:
        raise PromiseBroken(
            f"the noise must satisfy {promised}", came=str(smallest), where="check_promise", remedy="Use more noise."
        )
    if smallest < promised:
        raise PromiseBroken(
            f"the noise must attain {promised}", came=str(smallest), where="check_promise", remedy="Use less noise."
        )
    if not isinstance(distribution, IntegerDistribution):
        return
    distribution.check_formulas()
    # Check P(X = y) alpha = P(X = y + distance) at the worst outcome y.
    distance = int(curve_distance(distribution, shift))
    y = distribution.worst_place(distance)
    if y is None:
        return _check_limit(distribution, distance, smallest)
    # An irrational level is rounded up to a float, and the level of the noise may exceed the loss by a part in 10^12.
    wasted = 0 if isinstance(distribution, ProfileDistribution) else Fraction(smallest.epsilon_float) / 10**11
    if smallest.is_rational and distribution.is_rational:
        least, far = distribution.pmf(y) * smallest.alpha_fraction(), distribution.pmf(y + distance)
        attained = far * (1 - wasted) <= least <= far
    else:
        near, far, at = distribution.pmf_interval(y), distribution.pmf_interval(y + distance), smallest.alpha_interval()
        attained = not (near * at).is_below(far * (1 - wasted)) and not far.is_below(near * at)
    if not attained:
        raise PromiseBroken(
            f"the probability at {y + distance} must be alpha times the probability at {y}",
            came=distribution,
            where="pmf",
            remedy="Correct pmf, or the level that the distribution states.",
        )


def _check_limit(distribution: IntegerDistribution, distance: int, smallest: Level) -> None:
    """Check for y = 0, 1, 2, 4, ... that P(X = y) / P(X = y + distance) is below 1/alpha, and gets close to it."""
    values = [0, *(1 << power for power in range((distribution.window().size - distance).bit_length()))]
    alpha = smallest.alpha_interval(_FAR_BITS)
    for y in values:
        if not (distribution.pmf_interval(y, _FAR_BITS) * alpha).is_below(
            distribution.pmf_interval(y + distance, _FAR_BITS)
        ):
            raise PromiseBroken(
                f"the probability at {y + distance} must be above alpha times the probability at {y}",
                came=distribution,
                where="worst_level",
                remedy="Correct pmf, or the level that the distribution states.",
            )
    last = values[-1]
    if (distribution.pmf_interval(last, _FAR_BITS) * alpha * (1 + _FAR_OFF)).is_below(
        distribution.pmf_interval(last + distance, _FAR_BITS)
    ):
        raise PromiseBroken(
            "the ratio of probabilities must converge to the level that the distribution states",
            came=distribution,
            where="worst_level",
            remedy="State a smaller level.",
        )
