"""Rational functions of alphas: Fractions if the alphas are rational, else floats from enclosures.

`NumberKind` chooses the type of the result, as the distributions of `utmost.noise` do: exact for a single integer, an
object array of Fractions for an object array, and float64 for every other array. Fractions need rational alphas.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.arrays import objects
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, log_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.noise.evaluation import Points
from utmost.core.noise.powers import ExactPowers, FloatPowers
from utmost.errors import NotANumber, OutOfRange, Unsupported

# A formula of three alphas loses precision by a factor of about (1 - alpha)^-4. The guard bits double until they
# suffice.
_GUARD = 32
# Floats below 2^-1074 are zero: more bits change nothing.
_FLOAT_BITS = 192
_MOST_FLOAT_BITS = 2048


@dataclass(frozen=True, slots=True, repr=False)
class Quantity(Display):
    """The number f(alpha_1, ..., alpha_k), for a formula f made of + - * / and integer powers.

    >>> from utmost.exact import level
    >>> Quantity(lambda a: (1 - a) / (1 + a), (level(alpha="1/2"),)).number
    Fraction(1, 3)
    >>> Quantity(lambda a: (1 - a) / (1 + a), (level(epsilon=1),)).number
    0.4621171572600097...
    """

    formula: Callable[..., Any]  # takes k Fractions or k Intervals
    levels: tuple[Level | None, ...]  # None stands for epsilon = infinity, where alpha = 0

    @property
    def is_rational(self) -> bool:
        """Whether every alpha, and so the number, is rational."""
        return all(level is None or level.is_rational for level in self.levels)

    def fraction(self) -> Fraction:
        """The number as a Fraction; every alpha must be rational."""
        alphas = [Fraction(0) if level is None else level.alpha_fraction() for level in self.levels]
        return Fraction(self.formula(*alphas))

    def __call__(self, bits: int) -> Interval:
        """An interval around the number, at most four units of ``2**-bits`` wide."""
        return Interval.of(self.fraction(), bits) if self.is_rational else self.enclosure(bits)

    def enclosure(self, bits: int) -> Interval:
        """An interval around the number. No exact Fraction is computed, since high powers make it huge."""
        guard = _GUARD
        while True:
            inner = bits + guard
            alphas = [Interval.of(0, inner) if level is None else level.alpha_interval(inner) for level in self.levels]
            try:
                tight: Interval | None = (Interval.of(0, inner) + self.formula(*alphas)).at(bits)
            except OutOfRange:  # the interval of a divisor still contains zero
                tight = None
            if tight is not None and tight.high - tight.low <= 4:
                return tight
            guard *= 2

    @property
    def number(self) -> Fraction | float:
        return self.fraction() if self.is_rational else self.float

    @property
    def float(self) -> float:
        """The number as a float with a relative error of about 2^-53, if 2048 bits suffice to bound the error."""
        if self.is_rational:
            return nearest(self.fraction())
        bits = _FLOAT_BITS
        while True:
            enclosure = self.enclosure(bits)
            if enclosure.width * 2**56 <= min(abs(enclosure.lower), abs(enclosure.upper)) or bits >= _MOST_FLOAT_BITS:
                return nearest(enclosure)
            bits *= 2


@dataclass(frozen=True, slots=True)
class NumberKind:
    """The kind of numbers of a result: Fractions if ``exact`` is True, else floats.

    >>> from utmost.exact import level
    >>> half = level(alpha="1/2")
    >>> [NumberKind(exact).powers(half, np.array([0, 2])).tolist() for exact in (True, False)]
    [[Fraction(1, 1), Fraction(1, 4)], [1.0, 0.25]]
    """

    exact: bool

    @classmethod
    def of(cls, levels: Sequence[Level | None], *points: ArrayLike) -> tuple["NumberKind", list[NDArray[Any]]]:
        """The kind of numbers for these levels and points, and the points as integer arrays that broadcast together."""
        read_points = [Points.of(point) for point in points]
        for read_point, point in zip(read_points, points, strict=True):
            if not read_point.integral.all():
                raise NotANumber("the noise must be integers", came=point)
        exact = all(point.exact for point in read_points)
        rational = all(level is None or level.is_rational for level in levels)
        if exact and not rational and not all(point.scalar for point in read_points):
            raise Unsupported(
                "exact probabilities need a rational alpha",
                remedy='Give the level by a rational alpha, such as alpha="1/2", or pass a numeric array.',
            )
        return cls(exact and rational), list(np.broadcast_arrays(*(point.floors for point in read_points)))

    def number(self, quantity: Quantity) -> Any:
        return quantity.fraction() if self.exact else quantity.float

    def powers(self, base: Level | Quantity, exponents: Any) -> Any:
        """base^k for integers k >= 0 and a base in (0, 1)."""
        if not self.exact:
            return FloatPowers(base if isinstance(base, Level) else _level(base)).power(exponents)
        power = ExactPowers(base).power if isinstance(base, Level) else base.fraction().__pow__
        return objects((power(int(k)) for k in np.ravel(exponents)), np.shape(exponents))

    def complements(self, base: Quantity, exponents: Any) -> Any:
        """1 - base^k for integers k >= 0 and a base in (0, 1), without cancellation."""
        if self.exact:
            return 1 - self.powers(base, exponents)
        return -np.expm1(-_level(base).epsilon_float * np.asarray(exponents, dtype=np.float64))

    def where(self, condition: Any, value: Any) -> Any:
        """``value`` where the condition is true, and zero elsewhere."""
        zero: Any = Fraction(0) if self.exact else 0.0
        return np.where(condition, value, zero)


def plain(value: Any) -> Any:
    """Return an array unchanged, and the element of an array without axes as a Python number."""
    return np.asarray(value).item() if np.ndim(value) == 0 else value


def _level(base: Quantity) -> Level:
    """A level whose alpha is the base, to 200 significant bits of its logarithm."""
    bits = 256
    while True:
        enclosure = base.enclosure(bits)
        if enclosure.low > 0:
            minus_log = -log_interval((enclosure.lower + enclosure.upper) / 2, bits)
            if minus_log.low >> 200:
                return Level.of_epsilon((minus_log.lower + minus_log.upper) / 2)
        bits *= 2
