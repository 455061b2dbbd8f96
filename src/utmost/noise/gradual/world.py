"""The number world of an answer: fractions or floats, chosen as `utmost.noise` chooses it.

A single integer asks for an exact answer, an object array for an object array of fractions, every other array for
float64; a fraction is possible where every alpha is rational.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.errors import NotANumber, Unsupported
from utmost.exact import Level, log_interval, objects
from utmost.noise.gradual.quantity import Quantity
from utmost.noise.points import Points
from utmost.noise.powers import ExactPowers, FloatPowers


@dataclass(frozen=True, slots=True)
class World:
    """Fractions where ``exact``, else floats.

    >>> from utmost.exact import level
    >>> half = level(alpha="1/2")
    >>> World(True).powers(half, np.array([0, 2])).tolist(), World(False).powers(half, np.array([0, 2])).tolist()
    ([Fraction(1, 1), Fraction(1, 4)], [1.0, 0.25])
    """

    exact: bool

    @classmethod
    def of(cls, levels: Sequence[Level | None], *points: ArrayLike) -> tuple["World", list[NDArray[Any]]]:
        """The world that these points ask for at these levels, and the points as integer arrays that broadcast.

        Raises:
            NotANumber: where a point is no integer.
            Unsupported: for an object array where an alpha is irrational.
        """
        read = [Points.of(point) for point in points]
        for one, point in zip(read, points, strict=True):
            if not one.whole.all():
                raise NotANumber("the noise must be made of integers", came=point)
        exact = all(one.exact for one in read)
        rational = all(level is None or level.is_rational for level in levels)
        if exact and not rational and not all(one.scalar for one in read):
            raise Unsupported(
                "exact probabilities need a rational alpha",
                mend='Give the level as alpha="1/2", say, or pass a numeric array.',
            )
        return cls(exact and rational), list(np.broadcast_arrays(*(one.floors for one in read)))

    def number(self, quantity: Quantity) -> Any:
        """A quantity as a Fraction or a float."""
        return quantity.fraction() if self.exact else quantity.float

    def powers(self, base: Level | Quantity, exponents: Any) -> Any:
        """base^k for integers k >= 0 and a base in (0, 1)."""
        if not self.exact:
            return FloatPowers(base if isinstance(base, Level) else _level(base)).power(exponents)
        power = ExactPowers(base).power if isinstance(base, Level) else base.fraction().__pow__
        return objects((power(int(k)) for k in np.ravel(exponents)), np.shape(exponents))

    def where(self, condition: Any, value: Any) -> Any:
        """``value`` where the condition holds, and zero elsewhere."""
        zero: Any = Fraction(0) if self.exact else 0.0
        return np.where(condition, value, zero)


def plain(value: Any) -> Any:
    """The array, or its only element as a Python number where it has no axis."""
    return np.asarray(value).item() if np.ndim(value) == 0 else value


def _level(base: Quantity) -> Level:
    """A level whose alpha is the base to 200 significant bits of its logarithm: good for floats."""
    bits = 256
    while True:
        enclosure = base.enclosure(bits)
        if enclosure.low > 0:
            minus_log = -log_interval((enclosure.lower + enclosure.upper) / 2, bits)
            if minus_log.low >> 200:
                return Level.of_epsilon((minus_log.lower + minus_log.upper) / 2)
        bits *= 2
