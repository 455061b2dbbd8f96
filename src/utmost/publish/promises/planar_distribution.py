"""Noise of points at epsilon per unit of distance: its distribution, grid and margin, and the epsilon for a margin."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level, integer_root, level
from utmost.core.exact.numbers import Number, natural, read_confidence, written_number
from utmost.core.gradual.euclidean_noise import EuclideanLaplace
from utmost.core.sampling.grid import COARSEST, FINEST
from utmost.core.sampling.integers import Integers
from utmost.errors import Infeasible, OutOfRange
from utmost.publish.promises.accuracy import least_decimal

# In the plane, rounding to 1/(64 epsilon) changes the 95 % margin by at most 0.24 %.
_FINE = 64
# Largest epsilon of one step of the grid. For coarser grids independent geometric noise of each coordinate has a
# smaller error, if the values are on the grid.
_COARSEST_STEP = Fraction(17, 10)
_LARGEST = Fraction(10) ** 300


@dataclass(frozen=True, slots=True, repr=False)
class PlanarDistribution(Display):
    """The distribution of the noise of one answer about points, and the grid to which the answer is rounded.

    Attributes:
        level: Epsilon for each ``per`` of Euclidean distance.
        dimensions: Number of coordinates of a point.
        per: Distance that the level refers to.
        declared: Width of the grid; None for a width chosen by the level.

    Raises:
        OutOfRange: if ``per`` or the grid is not positive, or if the grid is wider than 1.7 ``per/epsilon``.
    """

    level: Level
    dimensions: int
    per: Fraction
    declared: Fraction | None = None

    def __post_init__(self) -> None:
        instance(self.level, Level, "level")
        object.__setattr__(self, "dimensions", natural(self.dimensions, "dimensions", least=1))
        object.__setattr__(self, "per", read_width(self.per, "per"))
        step = self.noise.level
        if self.declared is None:
            return
        width = read_width(self.declared, "grid")
        object.__setattr__(self, "declared", width)
        if step.scaled(width).epsilon_interval(64).lower > _COARSEST_STEP:
            raise OutOfRange(
                "epsilon for a distance of one grid step must be at most 1.7",
                came=f"a grid step of {width}, and {self.level} for a distance of {self.per}",
                where="grid",
                remedy="Pass a smaller grid=, or leave out grid=. If all points lie on this grid, separate noise for "
                'each of the n coordinates is smaller: GradualRelease(numbers="integers") at 1/sqrt(n) of the level.',
            )

    @property
    def noise(self) -> EuclideanLaplace:
        """The distribution before rounding, in the unit of the coordinates."""
        return EuclideanLaplace(self.level.scaled(1 / self.per), self.dimensions)

    @property
    def grid(self) -> Fraction:
        """The grid to which points are rounded after the noise: the declared one, or the largest power of two that is
        at most per/(64 epsilon).
        """
        return _fine_grid(self.noise.level) if self.declared is None else self.declared

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> float:
        """Return the margin of error: the distance of a rounded answer from its point is at most this.

        The probability of a distance of at most the margin is at least the confidence.
        """
        # The margin of the noise plus half the diagonal of a grid cell, rounded up.
        return round_up(_margin(self.noise, self.grid, read_confidence(confidence)))


def _margin(noise: EuclideanLaplace, grid: Fraction, confidence: Fraction) -> Fraction:
    return noise.margin_fraction(confidence) + grid * _root_above(noise.dimensions) / 2


def _fine_grid(step: Level) -> Fraction:
    """Return the largest grid 2^-k with 2^k >= 64 epsilon; ``step`` is the level, epsilon, for a distance of 1."""
    wanted = step.epsilon_interval(128 + step.power.denominator.bit_length()).upper * _FINE
    k = wanted.numerator.bit_length() - wanted.denominator.bit_length() - 1
    while Fraction(2) ** k < wanted:
        k += 1
    return Fraction(2) ** -max(COARSEST, min(FINEST, k))


def _root_above(n: int) -> Fraction:
    """Return a rational slightly above the square root of n."""
    return Fraction(integer_root(n << 128, 2) + 1, 1 << 64)


def read_width(value: Number, name: str) -> Fraction:
    """Check that a length is a positive number; return it exactly."""
    number = written_number(value, name)
    if not 1 / _LARGEST <= number <= _LARGEST:
        raise OutOfRange(f"{name} must be positive, between 1e-300 and 1e300", came=value)
    return number


def planar_epsilon_for(
    margin: Number,
    confidence: Number = DEFAULT_CONFIDENCE,
    *,
    per: Number = 1,
    dimensions: int = 2,
    grid: Number | None = None,
    digits: int = 3,
) -> Fraction:
    """Return the least epsilon, to ``digits`` significant digits, at which a `PlanarRelease` has at most this margin.

    The search bisects: the margin never increases with epsilon, since neither the margin of the noise nor the width of
    the grid does.

    Args:
        margin: Largest allowed distance between an answer and its point.
        confidence: Probability with which the margin holds.
        per, grid: Arguments of `PlanarRelease`; the result is the level for each ``per``.
        dimensions: Number of coordinates of a point.
        digits: Number of significant digits.

    Raises:
        OutOfRange: if the margin is not positive, or if the declared grid is too wide for the level.
        Infeasible: if the declared grid alone causes a larger margin.

    >>> planar_epsilon_for(100), planar_epsilon_for(1000, per=200)
    (Fraction(119, 2500), Fraction(951, 1000))
    """
    wanted, distance = read_width(margin, "margin"), read_width(per, "per")
    declared = None if grid is None else read_width(grid, "grid")
    n = natural(dimensions, "dimensions", least=1)
    sure = read_confidence(confidence)
    quantile = EuclideanLaplace(level(1), n).margin_fraction(sure)
    left = wanted if declared is None else wanted - declared * _root_above(n) / 2
    if left <= 0:
        raise Infeasible("half the diagonal of each grid cell must be shorter than the margin", came=declared)
    # The noise has no smaller margin than quantile/epsilon; reduced by a thousandth, for rounding.
    bound = quantile * distance / left * Fraction(999, 1000)
    if not 1 / _LARGEST <= bound <= _LARGEST:
        raise OutOfRange("the epsilon that margin needs must be between 1e-300 and 1e300", came=margin)

    def is_met(epsilon: Fraction) -> bool:
        noise = EuclideanLaplace(level(epsilon).scaled(1 / distance), n)
        return _margin(noise, _fine_grid(noise.level) if declared is None else declared, sure) <= wanted

    least = least_decimal(is_met, float(bound), digits)
    PlanarDistribution(level(least), n, distance, declared)  # raises if the grid is too wide for the level
    return least


def written(cells: Integers, grid: Fraction) -> NDArray[np.float64]:
    """Multiply numbers of steps by the width of the grid; round each product to the nearest finite float."""
    top, bottom = grid.numerator, grid.denominator
    short = cells.dtype != object and max(top, bottom) <= _WHOLE
    if short and cells.size and int(np.abs(cells).max()) * top <= _WHOLE:
        return np.asarray(cells.astype(np.float64) * top / bottom)  # rounded once, in the quotient

    def nearest(number: Fraction) -> float:
        try:
            return float(number)
        except OverflowError:
            largest = math.nextafter(math.inf, 0)  # copysign cannot take the sign of such a number
            return largest if number > 0 else -largest

    flat = [nearest(int(cell) * grid) for cell in cells.reshape(-1).tolist()]
    return np.array(flat, np.float64).reshape(cells.shape)


_WHOLE = 1 << 53
