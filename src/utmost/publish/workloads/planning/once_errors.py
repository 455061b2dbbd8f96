"""The weighted errors that noise made once, which cannot be relaxed, would have for a workload: in closed form."""

from collections.abc import Iterator
from fractions import Fraction

from utmost.core.exact.levels import Level
from utmost.core.noise.costs import squared
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.tables_draw import TablesDraw
from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.measuring.least_draw import least_draw
from utmost.publish.workloads.workload import Workload

STAIRCASE, ONE_DRAW, ONE_WAY_DRAW = "a staircase for each cell", "one draw of all cells", "one draw of one-way tables"
_MOST_CELLS, _MOST_GROUPS = 50, 60


def once_errors(workload: Workload, unit: Unit, level: Level) -> dict[str, float]:
    """The weighted error of each kind of noise for one level that there is for a workload of cells or one-way tables.

    Args:
        workload: the cells of the domain, with or without their total; or one-way tables, with or without it.
        unit: Unit of privacy.
        level: Level of the whole release.

    >>> from utmost.core.exact.levels import level
    >>> from utmost.workloads import Domain
    >>> wanted = Workload(Domain(a=range(5)), {"a": 1, "": 1})
    >>> counts = Unit(1, 1, "change-one", nonnegative=True)
    >>> {name: round(error, 3) for name, error in once_errors(wanted, counts, level(1)).items()}
    {'one draw of all cells': 10.134}
    """
    if unit.is_shared or unit.is_distinct or unit.sensitivity.denominator != 1:
        return {}
    domain, errors = workload.domain, dict[str, float]()
    of_cells = sum((part.weight for part in workload.parts if part.family(domain) == domain.finest), Fraction(0))
    of_total = sum((part.weight for part in workload.parts if part.name == ""), Fraction(0))
    if _wants_cells(workload):
        if unit.sensitivity > 1 and not unit.needs_sizes:
            stairs = DiscreteStaircase(unit.per_cell(level), unit.sensitivity.numerator, squared)
            errors[STAIRCASE] = float(stairs.variance()) * float(of_cells + of_total * domain.size)
        if domain.size <= _MOST_CELLS and _has_draw(unit):
            law = least_draw(level, unit, domain.size)
            total = float(law.variance_of([1] * domain.size)) if of_total else 0.0
            errors[ONE_DRAW] = float(of_cells) * float(law.variance) + float(of_total) * total
    elif (sizes := _one_way_sizes(workload, unit)) is not None:
        tables = TablesDraw(level, [*sizes.values()], unit.neighbours, unit.exactly)
        starts = dict(zip(sizes, _starts([*sizes.values()]), strict=True))
        errors[ONE_WAY_DRAW] = float(of_total) * float(tables.total_variance)
        for part in workload.parts:
            if part.name:
                coefficients = [int(place == starts[part.name]) for place in range(tables.size)]
                errors[ONE_WAY_DRAW] += float(part.weight) * float(tables.variance_of(coefficients))
    return errors


def _wants_cells(workload: Workload) -> bool:
    """Whether the cells are wanted, and at most their total beside them."""
    domain = workload.domain
    names = {part.name for part in workload.parts}
    cells = [part for part in workload.parts if part.family(domain) == domain.finest and part.answers == domain.size]
    return bool(cells) and names <= {cells[0].name, ""}


def _one_way_sizes(workload: Workload, unit: Unit) -> dict[str, int] | None:
    """The groups of each one-way table of the domain by its name, where nothing else is wanted; else None."""
    domain = workload.domain
    if unit.sensitivity != 1 or unit.cells != 1 or unit.amount is not None or not _is_known(unit):
        return None
    sizes = dict(zip(domain.columns, domain.shape, strict=True))
    names = {part.name for part in workload.parts if all(map(_is_whole, part.sums))}
    is_small = sum(sizes.values()) - len(sizes) <= _MOST_GROUPS
    return sizes if is_small and len(names) == len(workload.parts) and names <= {*sizes, ""} else None


def _has_draw(unit: Unit) -> bool:
    """Whether there is one draw for this unit; where everybody is counted, of one cell each."""
    return not unit.exactly or (unit.sensitivity == unit.cells == 1)


def _is_known(unit: Unit) -> bool:
    return unit.neighbours == "add-remove" or unit.nonnegative


def _is_whole(sums: object) -> bool:
    return isinstance(sums, Groups) and sums.only is None


def _starts(sizes: list[int]) -> Iterator[int]:
    start = 0
    for size in sizes:
        yield start
        start += size
