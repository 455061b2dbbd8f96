"""The joint distribution of the noise at several levels, the jump process of the noise at all levels, and its paths.

The process starts at epsilon = infinity with 0, and epsilon decreases. Jumps of size j != 0 arrive while alpha grows,
with intensity alpha^{|j|-1} d alpha, independently of each other. Hence the number of jumps between two levels has a
Poisson distribution, and is finite even if the upper level is infinity. V at a level is the sum of the jumps at larger
epsilons. In epsilon the intensity is 2/(e^epsilon - 1) d epsilon, and a jump at alpha has size j with probability
(1-alpha)/(2 alpha) alpha^{|j|}.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from utmost.core.exact.arguments import instance, integer, sequence, sequence_of
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import natural
from utmost.core.gradual.quantities import NumberKind, Quantity, plain
from utmost.core.gradual.steps import Tightening
from utmost.errors import OutOfRange

_MOST_POINTS = 10**7
_FEW_STEPS = 100


def joint_pmf(noise: Sequence[ArrayLike], levels: Sequence[Level]) -> Any:
    r"""P(V_{l_1} = v_1, ..., V_{l_m} = v_m) for levels in any order.

    With the levels sorted so that l_1 has the smallest epsilon, l_{m+1} = infinity and V_infinity = 0,

    .. math:: P(v_1, \dots, v_m) = \prod_i P(W_i = v_i - v_{i+1}),
        \quad W_i \text{ the tightening noise } l_{i+1} \to l_i.

    Args:
        noise: One integer, or one array of integers, per level; arrays broadcast.
        levels: Levels, per unit, in the order of ``noise``.

    Returns:
        Fractions for single integers and object arrays if every alpha is rational, else floats.

    Raises:
        OutOfRange: if there are no levels, or if the numbers of levels and of noise values differ.

    Source: [koufogiannis2015], Theorem 12, on the integers.

    >>> from utmost.exact import level
    >>> joint_pmf([3, 1], [level(alpha="1/2"), level(alpha="1/4")])
    Fraction(7, 720)
    """
    sequence(noise, "noise")
    sequence_of(levels, Level, "levels")
    if not len(levels) or len(noise) != len(levels):
        raise OutOfRange(
            "noise and levels must have the same length, at least 1", came=f"{len(noise)} and {len(levels)}"
        )
    kind, read = NumberKind.of(levels, *noise)
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    values: list[Any] = [*(read[i].astype(object) if kind.exact else read[i] for i in order), 0]
    next_higher: list[Level | None] = [*(levels[i] for i in order[1:]), None]
    mass: Any = 1
    for i, place in enumerate(order):
        steps, distribution = values[i] - values[i + 1], Tightening(levels[place], next_higher[i])
        if np.size(steps) <= _FEW_STEPS:
            mass = mass * distribution.pmf(steps)
        else:  # the steps of a grid have only a few different sizes
            distinct, places = np.unique(steps, return_inverse=True)
            mass = mass * distribution.pmf(distinct)[places.reshape(steps.shape)]
    return plain(mass)


def largest_ratio(levels: Sequence[Level], reach: int = 3) -> Fraction | float:
    """The largest P(v)/P(v + 1) or P(v + 1)/P(v) of the joint distribution over noise v with entries in -reach..reach.

    The ratio is exp(privacy loss) of all responses together when the value changes by 1. The ratio equals 1/alpha of
    the level with the largest epsilon.

    Cost: (2 reach + 1)^m probabilities for m levels.

    >>> from utmost.exact import level
    >>> largest_ratio([level(alpha="1/2"), level(alpha="1/3"), level(alpha="2/3")], reach=1)
    Fraction(3, 1)
    """
    sequence_of(levels, Level, "levels")
    reach = natural(reach, "reach")
    if (2 * reach + 1) ** min(len(levels), 64) > _MOST_POINTS:
        raise OutOfRange(
            f"the joint distribution may have at most {_MOST_POINTS} points",
            came="more",
            remedy="Pass a smaller reach.",
        )
    is_rational = all(level.is_rational for level in levels)
    axis = np.arange(-reach, reach + 1).astype(object if is_rational else np.int64)
    noise = np.meshgrid(*[axis] * len(levels), indexing="ij")
    here, there = joint_pmf(noise, levels), joint_pmf([values + 1 for values in noise], levels)
    ratios = np.ravel(here / there)
    largest: Fraction | float = max(max(ratios), 1 / min(ratios))
    return largest


def correlation(first: Level, second: Level) -> float:
    r"""Pearson's correlation of the noise at two levels, sqrt(a_2/a_1) (1-a_1)/(1-a_2) for alphas a_1 >= a_2.

    The squared correlation is the probability `stay` of `Tightening`. For small epsilons the correlation tends to
    epsilon_1/epsilon_2, as for Laplace noise.

    >>> from utmost.exact import level
    >>> correlation(level(alpha="1/2"), level(alpha="1/4"))
    0.4714045207910317
    """
    instance(first, Level, "first")
    instance(second, Level, "second")
    lower, higher = min(first, second), max(first, second)
    return 1.0 if lower == higher else math.sqrt(Tightening(lower, higher).stay.number)


def expected_change(first: Level, second: Level) -> Fraction | float:
    """E|V_first - V_second|, the expected change of a response between two levels.

    >>> from utmost.exact import level
    >>> expected_change(level(alpha="1/2"), level(alpha="1/4"))
    Fraction(28, 27)
    """
    instance(first, Level, "first")
    instance(second, Level, "second")
    return Fraction(0) if first == second else Tightening(min(first, second), max(first, second)).mean_absolute


def jump_intensity(level: Level) -> Fraction | float:
    """2/(e^epsilon - 1) = 2 alpha/(1 - alpha), the expected number of jumps per unit of epsilon at a level.

    >>> from utmost.exact import level
    >>> jump_intensity(level(alpha="1/2"))
    Fraction(2, 1)
    """
    instance(level, Level, "level")
    return Quantity(lambda a: 2 * a / (1 - a), (level,)).number


def expected_jumps(lower: Level, higher: Level | None = None) -> float:
    """2 ln((1-b)/(1-a)), the mean number of jumps between two levels; a ``higher`` of None means epsilon = infinity.

    >>> from utmost.exact import level
    >>> expected_jumps(level(alpha="1/2"), level(alpha="1/4"))
    0.8109302162163288
    """
    odds = Quantity(lambda a, b: (1 - b) / (1 - a) - 1, _in_order(lower, higher))
    return 2 * math.log1p(odds.float)


def no_jump_probability(lower: Level, higher: Level | None = None) -> Fraction | float:
    """((1-a)/(1-b))^2, the probability that the noise is the same at all levels between two levels.

    This probability is less than P(V_lower = V_higher), since a path may leave a value and return.
    """
    return Quantity(lambda a, b: ((1 - a) / (1 - b)) ** 2, _in_order(lower, higher)).number


def jump_count_pmf(n: ArrayLike, lower: Level, higher: Level | None = None) -> Any:
    """P(the process jumps n times between two levels): a Poisson probability, with mean `expected_jumps`.

    >>> from utmost.exact import level
    >>> float(jump_count_pmf(0, level(alpha="1/2")))
    0.25
    """
    _, (counts,) = NumberKind.of((), n)
    mean = expected_jumps(lower, higher)
    if mean == 0:  # the two levels are equal
        return plain((counts == 0).astype(np.float64))
    none = [k < 0 or k > 1 << 1000 for k in map(int, np.ravel(counts))]  # lgamma of a larger n overflows a float
    terms = [
        0.0 if no else math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
        for k, no in zip(np.ravel(counts), none, strict=True)
    ]
    return plain(np.array(terms).reshape(np.shape(counts)))


def jump_pmf(j: ArrayLike, level: Level) -> Any:
    """P(a jump at this level has size j) = (1-alpha)/(2 alpha) alpha^{|j|}, j != 0.

    >>> from utmost.exact import level
    >>> jump_pmf(-1, level(alpha="1/2")), jump_pmf([0, 1, 2], level(alpha="1/2")).tolist()
    (Fraction(1, 4), [0.0, 0.25, 0.125])
    """
    instance(level, Level, "level")
    kind, (sizes,) = NumberKind.of((level,), j)
    half = kind.number(Quantity(lambda a: (1 - a) / 2, (level,)))
    return plain(kind.where(sizes != 0, half) * kind.powers(level, np.maximum(np.abs(sizes), 1) - 1))


def expected_jumps_of_size(j: int, lower: Level, higher: Level | None = None) -> Fraction | float:
    """(a^k - b^k)/k with k = |j|, the mean number of jumps of size j between two levels.

    >>> from utmost.exact import level
    >>> expected_jumps_of_size(-2, level(alpha="1/2"))
    Fraction(1, 8)
    """
    j = integer(j, "j")
    k = natural(abs(j), "the size of a jump")
    if k == 0:
        raise OutOfRange("a jump must have a size other than 0", came=j)
    return Quantity(lambda a, b: (a**k - b**k) / k, _in_order(lower, higher)).number


def forward_intensities(x: ArrayLike, level: Level) -> tuple[Any, Any, Any]:
    """Rates of jumps per unit of epsilon (inward, across, outward) as epsilon grows from a level with noise x.

    Let m = |x|, and s the sign of x. Inward jumps go to one of 0, s, ..., s(m-1), with equal probabilities, at the rate
    m. Jumps across 0 go to -s(1 + Geom(alpha^2)), outward jumps to s(m + 1 + Geom(alpha^2)), each kind at the rate
    alpha^2/(1 - alpha^2).
    """
    instance(level, Level, "level")
    kind, (noise,) = NumberKind.of((level,), x)
    size = np.abs(noise)
    flat = plain(kind.number(Quantity(lambda a: a * a / (1 - a * a), (level,))) + 0 * size)
    return plain(size), flat, flat


def _in_order(lower: Level, higher: Level | None) -> tuple[Level, Level | None]:
    instance(lower, Level, "lower")
    if higher is not None and instance(higher, Level, "higher") < lower:
        required = f"the first epsilon must be at most the second, {higher}"
        raise OutOfRange(required, came=lower, remedy="Swap the levels.")
    return lower, higher


@dataclass(frozen=True, slots=True, repr=False)
class Jump(Display):
    """A jump of the noise at one level.

    Attributes:
        size: Change of the noise when epsilon falls below the epsilon of the jump; not 0.
        clock: Cell of the unit interval that contains u = (alpha/a)^|size|, where alpha is the alpha of the jump, and a
            is the alpha of the path's smallest epsilon. u is uniform for every size.
    """

    size: int
    clock: Interval

    def __repr__(self) -> str:
        return "Jump(...)"  # the size of a jump is as secret as the value itself


@dataclass(frozen=True, slots=True, repr=False)
class Path(Display):
    """The noise at every level from ``start`` up to epsilon = infinity.

    The noise V at the level of alpha is the sum of the jumps at larger epsilons: those with u < (alpha/a)^|size|.

    Attributes:
        start: Smallest epsilon of the path, per unit.
        jumps: Jumps of the path, in no particular order.

    >>> from utmost.exact import level
    >>> path = Path(level(alpha="1/2"), (Jump(3, Interval.of(0, 8)), Jump(-1, Interval(128, 129, 8))))
    >>> path.at(level(alpha="1/2")), path.at(level(alpha="1/3")), path.at(level(alpha="1/5")), path.at(None)
    (2, 2, 3, 0)
    """

    start: Level
    jumps: tuple[Jump, ...]

    def __repr__(self) -> str:
        return f"Path(start={self.start}, {len(self.jumps)} jumps)"

    def at(self, level: Level | None) -> int:
        """The noise at a level of the path; 0 for None, which is epsilon = infinity.

        Raises:
            OutOfRange: if the level is below ``start``, or so close to a jump that the precision of ``clock`` does not
                decide which is larger (this has probability below 2^-200 for a path drawn by `utmost.sampling`).
        """
        if level is None:
            return 0
        if level < self.start:
            required = f"the level must be at least the start of the path, {self.start}"
            raise OutOfRange(required, came=level, remedy="Tighten the noise instead.")
        if level == self.start:
            return sum(jump.size for jump in self.jumps)
        noise = 0
        for jump in self.jumps:
            reach = _reach(self.start, level, abs(jump.size), jump.clock.bits)
            if reach.high <= jump.clock.low:
                continue
            if reach.low < jump.clock.high:
                raise OutOfRange(
                    "the level must not coincide with a jump of the path",
                    came=level,
                    remedy="Change the level slightly.",
                )
            noise += jump.size
        return noise

    @property
    def levels(self) -> tuple[float, ...]:
        """The epsilons of the jumps in the order of ``jumps``, as floats for pictures."""
        return tuple(
            (self.start.epsilon_float - math.log(max(nearest(jump.clock), 2.0**-1022)) / abs(jump.size))
            for jump in self.jumps
        )


@lru_cache(maxsize=1 << 12)
def _reach(start: Level, level: Level, power: int, bits: int) -> Interval:
    return Quantity(lambda a, b: (b / a) ** power, (start, level)).enclosure(bits)
