"""Choose the distribution of one draw of noise for all cells of a table, by the unit of privacy."""

from functools import lru_cache

from utmost.core.exact.levels import Level
from utmost.core.noise.cells_draw import CellsDraw
from utmost.core.noise.one_draw import DrawDistribution
from utmost.core.noise.tables_draw import TablesDraw
from utmost.core.privacy.unit import Unit


@lru_cache(maxsize=256)
def least_draw(level: Level, unit: Unit, cells: int, step: int | None = None) -> DrawDistribution:
    """Return the distribution; ``step`` is the width of a staircase's first step, None for the best width."""
    if unit.leaves_totals and unit.sensitivity == unit.cells == 1:
        return TablesDraw(level, [cells], unit.neighbours, unit.exactly)
    changed, wide = min(unit.cells, cells), unit.sensitivity.numerator
    in_total = None if unit.in_total is None or unit.in_total >= changed * wide else int(unit.in_total)

    signs, relation, first = unit.nonnegative, unit.neighbours, 1 if step is None else step
    distribution = CellsDraw(
        level, cells, changed, wide, in_total=in_total, neighbours=relation, nonnegative=signs, step=first
    )
    return distribution if step is not None else distribution.with_best_step()
