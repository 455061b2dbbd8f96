"""The errors, in closed form, of noise that serves only a single release and cannot be relaxed."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from math import inf
from typing import NamedTuple

from utmost.core.exact.levels import Level
from utmost.core.noise.costs import squared
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.draw_with_total import DrawWithTotal, drawn_distribution, least_share, total_noise
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.one_draw import DrawDistribution
from utmost.core.noise.tables_draw import MOST_GROUPS, TablesDraw
from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.axis_sums import Groups, Weighed
from utmost.publish.workloads.measuring.least_draw import least_draw
from utmost.publish.workloads.workload import Workload

STAIRCASE, ONE_DRAW, ONE_WAY_DRAW = "a staircase for each cell", "one draw of all cells", "one draw of one-way tables"
WITH_TOTAL, WITH_TABLES = ", with a separate total", ", beside the other tables"
_MOST_CELLS = 50
_MOST_DIFFERENCES, _MANY_TABLES = 60, 8
"""Limits for one draw of tables: the largest number of differences of groups in few tables, and the number of tables
from which on tables are many. Beyond them, the gain over a plan is small and takes seconds.
"""


class OnceNoise(NamedTuple):
    """One kind of noise for a single release, and its weighted error."""

    kind: str  # `STAIRCASE`, `ONE_DRAW` or `ONE_WAY_DRAW`
    total_share: Fraction  # budget share of the total's own noise; 0 without it
    table_shares: Mapping[str, Fraction]  # budget shares of the other tables, each with separate noise
    error: float  # sum over the wanted parts of weight times variance

    @property
    def name(self) -> str:
        return self.kind + WITH_TABLES * bool(self.table_shares) + WITH_TOTAL * (self.total_share > 0)


@lru_cache(maxsize=8)  # a plan needs the same noises several times
def once_noises(workload: Workload, unit: Unit, level: Level) -> tuple[OnceNoise, ...]:
    """Return the kinds of noise by which a single release can answer a workload, each with its error."""
    if unit.is_shared or unit.is_distinct or unit.sensitivity.denominator != 1:
        return ()
    return (*_noises_of_cells(workload, unit, level), *_noises_of_tables(workload, unit, level))


def _noises_of_cells(workload: Workload, unit: Unit, level: Level) -> Iterator[OnceNoise]:
    """Yield kinds of noise of all cells; wanted tables are sums of the noisy cells."""
    if any(isinstance(sums, Weighed) for part in workload.parts for sums in part.sums):
        return
    cells, weights = workload.domain.size, dict[int, Fraction]()  # the weight of sums over this number of cells
    for part in workload.parts:
        for size, times in part.sizes(workload.domain).items():
            weights[size] = weights.get(size, Fraction(0)) + part.weight * Fraction(times, part.answers)
    if unit.sensitivity > 1 and not unit.needs_sizes:
        stairs = DiscreteStaircase(unit.per_cell(level), unit.sensitivity.numerator, squared)
        error = float(stairs.variance()) * float(sum(size * weight for size, weight in weights.items()))
        yield OnceNoise(STAIRCASE, Fraction(0), {}, error)
    # If one individual adds 1 to one cell, the best joint draw is independent geometric noise of each cell, as in a
    # plan.
    is_alone = unit.cells == unit.sensitivity == 1 and unit.neighbours == "add-remove"
    has_draw = not unit.exactly or unit.cells == unit.sensitivity == 1
    if cells > _MOST_CELLS or is_alone or not has_draw:
        return

    def error_of(cell: float, total: float) -> float:
        # Cells are exchangeable, so a sum of n cells has the variance n (variance - covariance) + n^2 covariance.
        covariance = (total - cells * cell) / (cells * (cells - 1)) if cells > 1 else 0.0
        return sum(float(weight) * size * (cell + (size - 1) * covariance) for size, weight in weights.items())

    def variances(distribution: DrawDistribution | DrawWithTotal) -> tuple[float, float]:
        cell, total = (distribution.variance_of([1] * size + [0] * (cells - size)) for size in (1, cells))
        return float(cell), float(total)

    draw_at = partial(least_draw, unit=unit, cells=cells)
    whole = draw_at(level)
    cell, total = variances(whole)
    alone = error_of(cell, total)
    yield OnceNoise(ONE_DRAW, Fraction(0), {}, alone)
    if cells == 1 or whole.reach == 0:
        return

    def hoped(share: Fraction) -> float:
        """Return the error as if variances were proportional to 1/level^2; the true error is rarely smaller."""
        rest = float(1 - share) ** 2
        own = float(total_noise(level.scaled(share), whole).variance())
        both = 1 / (rest / total + 1 / own)
        return error_of(cell / rest + (both - total / rest) / cells**2, both)

    if any(hoped(Fraction(share, 16)) < alone for share in range(1, 16)):
        share = least_share(lambda share: error_of(*variances(drawn_distribution(draw_at, level, share))))
        if share:
            yield OnceNoise(ONE_DRAW, share, {}, error_of(*variances(drawn_distribution(draw_at, level, share))))


def _noises_of_tables(workload: Workload, unit: Unit, level: Level) -> Iterator[OnceNoise]:
    """Yield one draw of all one-way tables; the other wanted tables get separate noise, with shares of the level."""
    domain = workload.domain
    sizes = dict(zip(domain.columns, domain.shape, strict=True))
    weights = {part.name: part.weight for part in workload.parts}
    others = {name: weight for name, weight in weights.items() if name and name not in sizes}
    is_unit = unit.sensitivity == unit.cells == 1 and unit.amount is None
    is_known = unit.neighbours == "add-remove" or unit.nonnegative
    # Check that each part has all groups of a marginal, and the marginal's name.
    are_tables = len(weights) == len(workload.parts) and all(
        all(isinstance(sums, Groups) and sums.only is None for sums in part.sums)
        and part.name == domain.marginal_name(part.marginal(domain))
        for part in workload.parts
    )
    groups = sum(sizes.values())
    is_small = groups <= MOST_GROUPS and (len(sizes) >= _MANY_TABLES or groups - len(sizes) <= _MOST_DIFFERENCES)
    # One table has the draw of its cells, see `_noises_of_cells`; and no axis may be named "total".
    is_drawn = len(sizes) > 1 and not weights.keys().isdisjoint(sizes) and "total" not in sizes
    if not (is_unit and is_known and are_tables and is_small and is_drawn):
        return

    def draw_at(level: Level) -> TablesDraw:
        return TablesDraw(level, [*sizes.values()], unit.neighbours, unit.exactly)

    first_cells = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
    places = range(sum(sizes.values()))
    answers, wanted = dict[int, list[int]](), list[tuple[Fraction, int]]()
    for name, weight in weights.items():
        if name not in others:
            size = sizes.get(name, 0)  # tables of one size have the same variance; 0 stands for the total
            answers[size] = [int(place == first_cells[name] if name else place < domain.shape[0]) for place in places]
            wanted.append((weight, size))
    roots = {name: float(weight) ** (1 / 3) for name, weight in others.items()}

    def shares_of(share: Fraction) -> dict[str, Fraction]:
        # Variances are nearly proportional to 1/share^2, so the best shares are nearly proportional to weight^(1/3).
        total = sum(roots.values())
        return {name: Fraction(int(share * 10_000 * Fraction(root / total)), 10_000) for name, root in roots.items()}

    def drawn(share: Fraction, total_share: Fraction) -> float:
        if share + total_share >= 1:
            return inf
        distribution = drawn_distribution(draw_at, level, total_share, share)
        variances = {size: float(distribution.variance_of(answer)) for size, answer in answers.items()}
        return sum(float(weight) * variances[size] for weight, size in wanted)

    def beside(shares: Mapping[str, Fraction]) -> float:
        if not all(shares.values()):
            return inf
        noises = {name: Geometric(unit.per_cell(level.scaled(share))) for name, share in shares.items()}
        return sum(float(others[name]) * float(noise.variance()) for name, noise in noises.items())

    none, whole = Fraction(0), drawn(Fraction(0), Fraction(0))
    share = least_share(lambda share: whole / float(1 - share) ** 2 + beside(shares_of(share))) if others else none
    if others and not share:  # a share with a small weight was rounded to 0
        return
    shares = shares_of(share) if others else {}
    spent, apart = sum(shares.values(), none), beside(shares)
    yield OnceNoise(ONE_WAY_DRAW, none, shares, drawn(spent, none) + apart)
    if "" in weights and not unit.exactly:
        total_share = least_share(lambda total_share: drawn(spent, total_share))
        if total_share:
            yield OnceNoise(ONE_WAY_DRAW, total_share, shares, drawn(spent, total_share) + apart)
