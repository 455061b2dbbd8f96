"""One draw at a share of the level, beside a total of its own at the rest: the variances of what follows from both.

The cells of a table are exchangeable, so that a cell is its contrast, the cell less the mean, and the mean, which have
no covariance. The two measurements of the total are averaged by their precisions, and contrasts stay as they are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from utmost.core.exact.levels import Level
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.one_draw import DrawLaw
from utmost.core.noise.tables_draw import TablesDraw
from utmost.errors import OutOfRange

_GRID = 100
"""Shares are compared in hundredths."""


@dataclass(frozen=True, slots=True)
class TotalBeside:
    """Variances of one draw with a total of its own beside it.

    Attributes:
        share: Share of the level of the draw; the total has the rest.
        cells: Variance of a cell, by the number of cells of its table.
        total: Variance of the total.
    """

    share: Fraction
    cells: Mapping[int, float]
    total: float

    @classmethod
    def of(cls, law_at: Callable[[Level], DrawLaw], level: Level, share: Fraction, reach: int = 1) -> "TotalBeside":
        """The variances at one share.

        Args:
            law_at: Distribution of the draw at a level.
            level: Level of both together.
            share: Share of the draw, above 0 and at most 1.
            reach: Largest change of the total by one individual.

        Raises:
            OutOfRange: for a share outside its range.

        >>> from utmost.exact import level
        >>> found = TotalBeside.of(lambda at: TablesDraw(at, [2] * 20), level(1), Fraction(84, 100))
        >>> round(20 * found.cells[2] + found.total)  # of twenty tables
        1546
        """
        if not 0 < share <= 1:
            raise OutOfRange("the share of one draw must be above 0 and at most 1", came=share)
        law = law_at(level.scaled(share))
        sizes = sorted(set(law.sizes)) if isinstance(law, TablesDraw) else [law.size]
        first = law.sizes[0] if isinstance(law, TablesDraw) else law.size
        drawn = float(law.variance_of([1] * first + [0] * (law.size - first)))
        total = drawn
        if share < 1 and drawn > 0:
            beside = float(Geometric(level.scaled(1 - share), reach).variance())
            total = 1 / (1 / drawn + 1 / beside)
        cells = {}
        for size in sizes:
            start = next(place for place in law.kinds if _size_at(law, place) == size)
            alone = float(law.variance_of([int(place == start) for place in range(law.size)]))
            cells[size] = alone - (drawn - total) / size**2
        return cls(share, cells, total)

    @classmethod
    def least(
        cls,
        law_at: Callable[[Level], DrawLaw],
        level: Level,
        value: Callable[["TotalBeside"], float],
        reach: int = 1,
    ) -> "TotalBeside":
        """The variances at the share of least value among hundredths, by ever finer steps.

        Args:
            law_at, level, reach: Arguments of `of`.
            value: Quantity to make least.
        """
        found: dict[int, TotalBeside] = {}

        def at(hundredths: int) -> float:
            if hundredths not in found:
                found[hundredths] = cls.of(law_at, level, Fraction(hundredths, _GRID), reach)
            return value(found[hundredths])

        best, step = _GRID, 16
        while step:
            near = [place for place in range(best - 3 * step, best + 3 * step + 1, step) if 1 <= place <= _GRID]
            best = min(near, key=at)
            step //= 2
        return found[best]


def _size_at(law: DrawLaw, place: int) -> int:
    if not isinstance(law, TablesDraw):
        return law.size
    end = 0
    for size in law.sizes:
        end += size
        if place < end:
            return size
    raise AssertionError("a place is one of a table")
