"""The weighted errors of noise for a single release, which cannot be relaxed, in closed form."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from utmost.core.exact.levels import Level
from utmost.core.noise.costs import squared
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.draw_with_total import DrawWithTotal, least_total_share
from utmost.core.noise.one_draw import DrawLaw
from utmost.core.noise.tables_draw import TablesDraw
from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.measuring.least_draw import least_draw
from utmost.publish.workloads.workload import Workload

STAIRCASE, ONE_DRAW, ONE_WAY_DRAW = "a staircase for each cell", "one draw of all cells", "one draw of one-way tables"
WITH_TOTAL = ", with a total of its own"
_MOST_CELLS, _MOST_GROUPS = 50, 60

Answers = list[tuple[Fraction, list[int]]]
"""Kinds of wanted answers: the weight of each kind, and the coefficients of the cells in one of its answers."""


class OnceNoise(NamedTuple):
    """Noise for a single release, and its weighted error."""

    kind: str  # `STAIRCASE`, `ONE_DRAW` or `ONE_WAY_DRAW`
    total_share: Fraction  # budget share of the total's own noise; 0 without it
    error: float  # sum over the wanted parts of weight times variance

    @property
    def name(self) -> str:
        return self.kind + WITH_TOTAL * (self.total_share > 0)


def once_noises(workload: Workload, unit: Unit, level: Level) -> list[OnceNoise]:
    """All noise for a single release that can serve a workload of cells, or of one-way tables, and the total."""
    if unit.is_shared or unit.is_distinct or unit.sensitivity.denominator != 1:
        return []
    domain, found = workload.domain, list[OnceNoise]()
    of_total = sum((part.weight for part in workload.parts if part.name == ""), Fraction(0))
    has_total = of_total > 0 and not unit.exactly
    if _wants_cells(workload):
        of_cells = sum((part.weight for part in workload.parts if part.family(domain) == domain.finest), Fraction(0))
        if unit.sensitivity > 1 and not unit.needs_sizes:
            stairs = DiscreteStaircase(unit.per_cell(level), unit.sensitivity.numerator, squared)
            error = float(stairs.variance()) * float(of_cells + of_total * domain.size)
            found.append(OnceNoise(STAIRCASE, Fraction(0), error))
        if domain.size <= _MOST_CELLS and _has_draw(unit):
            answers = [(of_cells, [1, *[0] * (domain.size - 1)]), (of_total, [1] * domain.size)]
            draw_at = partial(least_draw, unit=unit, cells=domain.size)
            found += _draws(ONE_DRAW, draw_at, answers, level, has_total=has_total)
    elif (sizes := _one_way_sizes(workload, unit)) is not None:
        starts = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
        places, first = range(sum(sizes.values())), next(iter(sizes.values()))
        answers = [(of_total, [int(place < first) for place in places])]
        for part in workload.parts:
            if part.name:
                answers.append((part.weight, [int(place == starts[part.name]) for place in places]))

        def tables_at(level: Level) -> TablesDraw:
            return TablesDraw(level, [*sizes.values()], unit.neighbours, unit.exactly)

        found += _draws(ONE_WAY_DRAW, tables_at, answers, level, has_total=has_total)
    return found


def _draws(
    kind: str, draw_at: Callable[[Level], DrawLaw], answers: Answers, level: Level, *, has_total: bool
) -> Iterator[OnceNoise]:
    """One draw at the full level; and where a secret total is wanted, the best combination with noise of the total."""

    def error(share: Fraction) -> float:
        law = DrawWithTotal.at_share(draw_at, level, share) if share else draw_at(level)
        return sum(float(weight) * float(law.variance_of(answer)) for weight, answer in answers if weight)

    yield OnceNoise(kind, Fraction(0), error(Fraction(0)))
    if has_total and (share := least_total_share(error)):
        yield OnceNoise(kind, share, error(share))


def _wants_cells(workload: Workload) -> bool:
    """Whether the cells are wanted, and nothing else but their total."""
    domain = workload.domain
    names = {part.name for part in workload.parts}
    cells = [part for part in workload.parts if part.family(domain) == domain.finest and part.answers == domain.size]
    return bool(cells) and names <= {cells[0].name, ""}


def _one_way_sizes(workload: Workload, unit: Unit) -> dict[str, int] | None:
    """The number of groups of each one-way table by its name, if nothing but these and the total is wanted."""
    domain = workload.domain
    if unit.sensitivity != 1 or unit.cells != 1 or unit.amount is not None or not _is_known(unit):
        return None
    sizes = dict(zip(domain.columns, domain.shape, strict=True))
    names = {part.name for part in workload.parts if all(map(_is_whole, part.sums))}
    is_small = sum(sizes.values()) - len(sizes) <= _MOST_GROUPS
    return sizes if is_small and len(names) == len(workload.parts) and names <= {*sizes, ""} else None


def _has_draw(unit: Unit) -> bool:
    """Whether there is one draw for this unit: without ``exactly``, or with one cell and sensitivity 1."""
    return not unit.exactly or (unit.sensitivity == unit.cells == 1)


def _is_known(unit: Unit) -> bool:
    return unit.neighbours == "add-remove" or unit.nonnegative


def _is_whole(sums: object) -> bool:
    return isinstance(sums, Groups) and sums.only is None
