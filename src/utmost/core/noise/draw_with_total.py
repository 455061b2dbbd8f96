"""Noise for n cells and their total: one draw for all cells, and separate noise for the total, each at its own level.

Let S be the sum of the noise N of n cells, M the separate noise of the total, and w in [0, 1] the weight of the
separate total. The cells absorb the difference of the two totals: let D be w (M - S), rounded to one of the two nearest
integers at random such that the mean is unchanged. Cell i has the noise N_i + D / n, rounded at random in the same way,
so that the cells are integers and add up to the average (1 - w) S + w M of both totals. The data cancel in M - S, so
the noise of the cells does not depend on the data. The result is computed from two answers, so its epsilon is the sum
of their two levels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from utmost.core.exact.arguments import instance, wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import between_0_and_1
from utmost.core.noise.costs import squared
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.one_draw import DrawDistribution
from utmost.core.noise.optimal import optimal_noise
from utmost.core.noise.tables_draw import TablesDraw
from utmost.errors import OutOfRange

_PARTS = 1000
"""The weight of the separate total is a multiple of 1/1000."""

COMBINED = (
    "one draw makes the noise of all cells, and the total has separate noise; their two levels add up to epsilon. "
    "The two totals are averaged with weights by their variances. Optimality is not claimed"
)
"""The claim for one draw with separate noise of the total."""


@dataclass(frozen=True, slots=True, repr=False)
class DrawWithTotal(Display):
    """Noise of cells from one draw, shifted to add up to an average of their own total and a second noisy total.

    Args:
        draw: Noise of all cells in one draw, at the cells' share of the level.
        total: Noise of the total, at the rest of the level, with a sensitivity of at least ``draw.reach``.

    Raises:
        OutOfRange: if the total is public, or if its noise has a sensitivity below ``draw.reach``.

    Promise: epsilon-DP, where epsilon is the sum of both levels. The noise cannot be relaxed.
    Cost: that of ``draw``.
    Source: sequential composition and least squares; proofs/theory/one-draw.md, "A total of its own".

    >>> from utmost.exact import level
    >>> from utmost.noise import CellsDraw
    >>> noise = DrawWithTotal.at_share(lambda at: CellsDraw(at, cells=10, changed=5), level(1), Fraction(61, 100))
    >>> noise.total, noise.weight
    (DiscreteStaircase(epsilon='61/100', sensitivity=5, step=3), Fraction(979, 1000))
    >>> round(noise.variance_of([1, *[0] * 9])), round(noise.variance_of([1] * 10))  # a cell, the total
    (79, 130)
    """

    numbers: ClassVar[Literal["integers"]] = "integers"
    draw: DrawDistribution
    total: Geometric | DiscreteStaircase

    def __post_init__(self) -> None:
        instance(self.draw, DrawDistribution, "draw")
        if self.draw.reach == 0:
            raise OutOfRange("a total with separate noise must not be public", came="a public total")
        if self.total.sensitivity < self.draw.reach:
            raise OutOfRange(
                f"the noise of the total must have a sensitivity of at least {self.draw.reach}",
                came=self.total.sensitivity,
                where="total",
            )

    @classmethod
    def at_share(
        cls, draw_at: Callable[[Level], DrawDistribution], level: Level, total_share: Fraction
    ) -> "DrawWithTotal":
        """Split a level: the share ``total_share`` of epsilon for the total, and the rest for the draw of the cells.

        Args:
            draw_at: Function from a level to the draw of the cells.
            level: Level of cells and total together.
            total_share: Budget share of the total, strictly between 0 and 1.
        """
        if not callable(draw_at):
            raise wrong_kind("draw_at", "a function from a level to the draw of the cells", draw_at)
        share, at = between_0_and_1(total_share, "total_share"), instance(level, Level, "level")
        draw = instance(draw_at(at.scaled(1 - share)), DrawDistribution, "draw_at")
        return cls(draw, total_noise(at.scaled(share), draw))

    def __repr__(self) -> str:
        return f"DrawWithTotal({self.draw!r}, {self.total!r})"

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.draw.size

    @property
    def tables(self) -> tuple[int, ...]:
        """The number of cells of each table. All tables have the same total."""
        return self.draw.sizes if isinstance(self.draw, TablesDraw) else (self.draw.size,)

    @property
    def kinds(self) -> dict[int, int]:
        """Map the position of one cell to the number of cells whose noise has the same distribution, for each
        distribution.
        """
        return self.draw.kinds

    @property
    def weight(self) -> Fraction:
        """The weight w of the separate total in the average, from the two variances, rounded to a thousandth."""
        drawn, separate = self._total_variances
        return Fraction(round(_PARTS * drawn / (drawn + separate)), _PARTS)

    @property
    def _total_variances(self) -> tuple[Fraction, Fraction]:
        """Return the variance of the draw's total, and the variance of the separate noise."""
        first = [int(place < self.tables[0]) for place in range(self.size)]
        return Fraction(self.draw.variance_of(first)), Fraction(self.total.variance())

    def variance_of(self, coefficients: Sequence[Any]) -> float:
        """An upper bound of the variance of the sum of coefficients times cells, including rounding to integers.

        Args:
            coefficients: One number for each cell.

        Raises:
            OutOfRange: if the numbers of coefficients and of cells differ.
        """
        variance = Fraction(self.draw.variance_of(coefficients))
        drawn, separate = self._total_variances
        means, start = Fraction(0), 0
        for size in self.tables:
            numbers = [Fraction(number) for number in coefficients[start : start + size]]
            mean = sum(numbers, Fraction(0)) / size
            means, start = means + mean, start + size
            # Rounding adds 1 to r random cells, with the variance r (n - r) / (n (n - 1)) times the squared deviations.
            if size > 1:
                deviations = sum(((number - mean) ** 2 for number in numbers), Fraction(0))
                variance += deviations * (size * size // 4) / (size * (size - 1))
        w = self.weight
        return float(variance + means**2 * (w * w * (drawn + separate) - 2 * w * drawn + Fraction(1, 4)))


def total_noise(level: Level, draw: DrawDistribution) -> Geometric | DiscreteStaircase:
    """The separate noise of the total of a draw, at the level of the total."""
    noise = Geometric(level) if draw.reach <= 1 else optimal_noise(level, draw.reach, squared)
    assert isinstance(noise, Geometric | DiscreteStaircase), "noise on the integers"
    return noise


def drawn_distribution(
    draw_at: Callable[[Level], DrawDistribution], level: Level, total_share: Fraction, beside: Fraction = Fraction(0)
) -> DrawDistribution | DrawWithTotal:
    """The noise of the cells, and of the total unless ``total_share`` is 0, after other noise took ``beside`` of
    epsilon.
    """
    # The caller spends the budget share ``beside`` on other noise.
    rest = level if not beside else level.scaled(1 - beside)
    return DrawWithTotal.at_share(draw_at, rest, total_share / (1 - beside)) if total_share else draw_at(rest)


def least_share(value: Callable[[Fraction], float]) -> Fraction:
    """The multiple of 1/100, from 0 to 0.99, with the least ``value`` that a search of ever smaller steps finds.

    >>> least_share(lambda share: (float(share) - 0.613) ** 2)
    Fraction(61, 100)
    """
    found: dict[int, float] = {}
    best, step = 0, 16
    while step:
        for hundredths in range(max(0, best - 3 * step), min(99, best + 3 * step) + 1, step):
            if hundredths not in found:
                found[hundredths] = value(Fraction(hundredths, 100))
        best = min(found, key=found.__getitem__)
        step //= 2
    return Fraction(best, 100)
