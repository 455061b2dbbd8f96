"""The distribution of one draw for all cells of a table, by what one individual may change."""

from functools import lru_cache

from utmost.core.exact.levels import Level
from utmost.core.noise.cells_draw import CellsDraw
from utmost.core.noise.one_draw import DrawLaw
from utmost.core.noise.tables_draw import TablesDraw
from utmost.core.privacy.unit import Unit


@lru_cache(maxsize=256)
def least_draw(level: Level, unit: Unit, cells: int, step: int | None = None) -> DrawLaw:
    """The distribution of one draw for cells of which one individual changes as many as a unit says.

    Args:
        level: Level of all cells together.
        unit: Unit of privacy; a sensitivity that is an integer.
        cells: Number of cells.
        step: First step; the one of least variance among those compared if left out.

    >>> from utmost.exact import level
    >>> least_draw(level(1), Unit(1, 1, "change-one", nonnegative=True), 5)
    TablesDraw(epsilon=1, sizes=(5,), neighbours='change-one')
    >>> least_draw(level(1), Unit(5, 2, nonnegative=True), 2)
    CellsDraw(epsilon=1, sensitivity=5, cells=2, changed=2, step=4)
    """
    if unit.leaves_totals and unit.sensitivity == unit.cells == 1:
        return TablesDraw(level, [cells], unit.neighbours, unit.exactly)
    changed, wide = min(unit.cells, cells), unit.sensitivity.numerator
    in_all = None if unit.in_all is None or unit.in_all >= changed * wide else int(unit.in_all)

    signs, relation, first = unit.nonnegative, unit.neighbours, 1 if step is None else step
    law = CellsDraw(level, cells, changed, wide, in_all=in_all, neighbours=relation, nonnegative=signs, step=first)
    return law if step is not None else law.with_best_step()
