"""Round the nonnegative least squares to integer cells, so that sums change little: controlled rounding.

Every answer is a sum of cells, so if the cells are nonnegative integers, all sums agree without constraints between
tables. The first step is `nonnegative_squares`. The second step, in this module, rounds every cell, every measured sum
and every public sum to the integer below or above it, with the least total change: a linear program over the fractional
parts. If the marginals form two chains, in each of which marginals refine one another, their groups are two laminar
families of sets. Then their incidence matrix is totally unimodular, and the program's vertices are integers
[edmonds1970]. Otherwise (three-way tables) the solution may have fractions; these are rounded, and the largest change
of a sum is reported. For public sums, an integer program then makes the facts hold.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.programs.highs import InfeasibleProgram, solve, solve_by_columns, solve_inside, solve_whole
from utmost.core.programs.linear_program import LinearProgram
from utmost.errors import Infeasible, SolverFailed
from utmost.publish.workloads.measuring.measured_marginals import is_hats, place_of_hats
from utmost.publish.workloads.reconstruction.inner_optimum import ChainSums
from utmost.publish.workloads.reconstruction.nonnegative_squares import NonNegative
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.publish.workloads.reconstruction.whole_flows import whole_flow
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Marginal, finest_common, with_level

_NEAR = 1e-7  # a cell that is this near to an integer counts as that integer
MANY = 10_000  # for more cells, rounding an interior optimum is faster than a simplex method
_ROWS = 4  # with fewer cells for each sum, a simplex method is fast
_FIRST_STEPS = 6  # number of interior point steps before a simplex method continues
# A simplex method continues for at most 1 500 sums, with at most 5 cells and 20 steps for each sum.
_MOST_ROWS, _TIED, _PIVOTS = 1_500, 5, 20
_PROVEN = 1e-9  # the largest duality gap for each cell


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """The integer cells of a clean table."""

    cells: NDArray[Any]
    whole: bool  # whether the marginals form two chains: then every measured sum changed by less than 1
    largest_move: float  # largest change of a measured sum by rounding


def controlled_rounding(
    domain: Domain, marginals: list[Marginal], squares: NonNegative, facts: PublicFacts | None = None
) -> Rounded:
    """Round every cell to the integer below or above it, and, if possible, every sum of the marginals, too."""
    # Solve a linear program with a variable for each cell that is not an integer. With more than 10^4 variables in two
    # chains, use interior point steps, cycles of four arcs, and, for up to 1 500 sums, a simplex method over a tenth of
    # the variables.
    floor = np.floor(squares.rest + _NEAR)
    part = np.where(squares.rest - floor > _NEAR, squares.rest - floor, 0.0)
    up = np.zeros(domain.shape)
    open_cells = np.flatnonzero(part.ravel())
    # Subtract the sums of the integers below the cells from the public facts.
    limits: SumLimits = {}
    if facts is not None:
        bounds = facts.minus(squares.whole + floor.astype(np.int64))
        limits = {domain.marginal(facts.domain.level_names(marginal)): ends for marginal, ends in bounds.items()}
    whole = is_two_chains(marginals)
    if open_cells.size:
        up.ravel()[open_cells] = _least_moves(domain, marginals, part, open_cells, limits if whole else {})
    if facts is not None and not whole:
        up = _integers_with_facts(domain, facts, up, squares.whole + floor.astype(np.int64), limits)
    up = np.rint(up)
    moves = [np.abs(domain.sums(up - part, marginal)).max() for marginal in marginals]
    steps = (floor + up).astype(np.int64)
    move = float(max(moves))
    if whole and move >= 1:
        raise SolverFailed(
            "the linear program of two laminar families must have integer vertices", came=move, where="clean"
        )
    if facts is not None and not facts.hold(squares.whole + steps):
        raise SolverFailed("public facts must hold for the integer cells", where="clean")
    return Rounded(squares.whole + steps, whole, move)


SumLimits = Mapping[Marginal, tuple[Floats, Floats]]
"""For each marginal, lower and upper bounds on the amount that rounding adds to each sum."""


def _integers_with_facts(
    domain: Domain, facts: PublicFacts, up: Floats, floor: NDArray[Any], limits: SumLimits
) -> Floats:
    """Return integers near ``up`` for which the facts hold: floors or ceilings if possible, else any integers."""
    lower, upper = facts.box(floor)
    base = np.floor(up + _NEAR)
    part, start = up - base, 0
    rows: list[NDArray[Any]] = []
    ends: tuple[list[Floats], list[Floats]] = ([], [])
    for marginal, bounds in limits.items():
        groups = domain.spread(np.arange(bounds[0].size), marginal).ravel()
        rows.append(groups + start)
        for side, bound in zip(ends, bounds, strict=True):
            side.append((bound - domain.sums(base, marginal)).ravel())
        start += bounds[0].size
    if not rows:
        return base + np.rint(part)
    at, n = np.concatenate(rows), part.size
    which = np.tile(np.arange(n), len(rows))
    cost, below, above = 1 - 2 * part.ravel(), (lower - base).ravel(), (upper - base).ravel()
    once = np.minimum(np.ceil(part).ravel(), above)
    least, most = (np.concatenate(side) for side in ends)
    try:
        near = LinearProgram.of_triplets(cost, at, which, np.ones(at.size), least, most, column_upper=once)
        return np.asarray(base + solve_whole(near).reshape(up.shape))
    except InfeasibleProgram:
        pass
    twice = np.concatenate([which, which + n, which + 2 * n])
    signs = np.repeat([1.0, 1.0, -1.0], at.size)
    costs = np.concatenate([cost, np.full(2 * n, 2.0)])
    tops = np.concatenate([once, np.maximum(above - once, 0), np.maximum(-below, 0)])
    far = LinearProgram.of_triplets(costs, np.tile(at, 3), twice, signs, least, most, column_upper=tops)
    try:
        moves = solve_whole(far).reshape(3, *up.shape)
    except InfeasibleProgram:
        required = f"these facts must hold for some table of whole numbers, none negative: {facts.words}"
        remedy = "Remove the facts about one of the marginals: all together hold only for fractions."
        raise Infeasible(required, where="given", remedy=remedy) from None
    return np.asarray(base + moves[0] + moves[1] - moves[2])


def kept_in_rounding(domain: Domain, measured: Iterable[Marginal]) -> tuple[Domain, list[Marginal]]:
    """Return a domain and marginals over it; rounding should change the sums of these marginals by less than 1."""
    # These are the measured marginals. Hat functions overlap, so along their axis, unless it has levels, nested runs of
    # 4, 16, 64, ... values replace them: a range then changes by less than twice the number of its runs.
    marginals = list(measured)
    place = place_of_hats(marginals)
    if place is None:
        return domain, marginals
    axis = domain.axes[place]
    if len(axis.levels) == 1:
        lengths = [length for length in (4**power for power in range(1, 14)) if length < axis.size]
        starts = tuple(np.arange(0, axis.size, length) for length in lengths)
        labels = tuple(tuple(range(len(start))) for start in starts)
        names = tuple(f"{axis.levels[0]} in runs of {length}" for length in lengths)
        with_runs = Axis((axis.levels[0], *names), (axis.labels[0], *labels), (axis.starts[0], *starts))
        domain = Domain({of.levels[0]: with_runs if at == place else of for at, of in enumerate(domain.axes)})
    groups = [marginal for marginal in marginals if not is_hats(marginal)]
    if len(axis.levels) == 1:  # adding the runs changes the level number of "all"
        last = len(domain.axes[place].levels)
        groups = [with_level(group, place, last if group[place] else 0) for group in groups]
    others = finest_common(groups)
    runs = [with_level(others, place, level) for level in range(len(domain.axes[place].levels) + 1)]
    return domain, list(dict.fromkeys([*groups, *runs]))


def _least_moves(
    domain: Domain, marginals: list[Marginal], part: Floats, cells: NDArray[np.intp], limits: SumLimits
) -> Floats:
    """Return the cells to round up, so that no sum changes by 1 or more, with the least total change."""
    rows, lower, upper, start = [], [], [], 0
    groups: dict[Marginal, NDArray[np.int64]] = {}
    for marginal in marginals:
        if marginal == domain.finest:
            continue
        sums = domain.sums(part, marginal).ravel()
        near = np.rint(sums)
        # A sum that is an integer up to rounding errors must not change.
        sums = np.where(np.abs(sums - near) < 1e-6, near, sums)
        groups[marginal] = domain.spread(np.arange(sums.size), marginal).ravel()[cells]
        rows.append(groups[marginal] + start)
        low, high = (np.ravel(end) for end in limits.get(marginal, (-np.inf, np.inf)))
        lower.append(np.clip(np.floor(sums), low, high))
        upper.append(np.clip(np.ceil(sums), low, high))
        start += sums.size
    # A clean cell is rounded to the nearest integer if all sums then agree; a half is as good up as down (cost 0).
    cost = 1 - 2 * part.ravel()[cells]
    if not rows:
        return (cost < 0).astype(np.float64)
    at, which = np.concatenate(rows), np.tile(np.arange(cells.size), len(rows))
    sides, most = (np.concatenate(lower), np.concatenate(upper)), np.ones(cells.size)
    program = LinearProgram.of_triplets(cost, at, which, np.ones(at.size), *sides, column_upper=most)
    if cells.size > max(MANY, _ROWS * start) and is_two_chains(marginals):
        chains = [[groups[marginal] for marginal in chain] for chain in _two_chains(list(groups))]
        up = least_whole_flow(program, ChainSums(list(groups.values()), lower, upper), chains)
        if up is not None:
            return up
    try:
        return np.asarray(solve(program).primal)
    except InfeasibleProgram as error:
        raise SolverFailed("rounding must keep all fixed sums", came=str(error), where="clean") from None


def least_whole_flow(program: LinearProgram, sums: ChainSums, chains: list[list[NDArray[np.int64]]]) -> Floats | None:
    """Return an integer optimum of the program of two chains, proved by duals up to 10^-9 a cell; None if not found."""

    # Equal fractions make whole faces of the program optimal, and a simplex method takes cubic time on these. An
    # interior point method takes about thirty steps, and then all cycles of its arcs have cost 0. With few sums, six
    # steps suffice, and a simplex method solves for the few remaining cells.
    def made_whole(inner: Floats, duals: Floats) -> tuple[Floats, Floats]:
        return whole_flow(inner, program.cost, chains), duals

    ways: tuple[Callable[[], tuple[Floats, Floats]], ...] = (
        lambda: _best_of_few(program, sums, chains),
        lambda: made_whole(*sums.inner_optimum(program.cost)),
        lambda: made_whole(*solve_inside(program)),
    )
    for way in ways:
        try:
            up, duals = way()
        except SolverFailed:
            continue
        sent = program.product(up)
        # The bounds and the duals prove the optimum, however the point was found.
        is_whole = bool(((program.lower <= sent) & (sent <= program.upper)).all()) and set(np.unique(up)) <= {0, 1}
        if is_whole and float(program.cost @ up - program.least_by(duals)) <= _PROVEN * up.size:
            return up
    return None


def _best_of_few(
    program: LinearProgram, sums: ChainSums, chains: list[list[NDArray[np.int64]]]
) -> tuple[Floats, Floats]:
    """Return an integer optimum and its duals, by a simplex method over few cells that starts at an integer point near
    it.
    """
    # A few interior steps give prices and, after rounding, an integer point. About a tenth of the cells contradict the
    # prices or are nearly tied; the simplex method changes only these cells.
    rows = program.shape[0]
    if rows > _MOST_ROWS:
        raise SolverFailed(f"the simplex method can fix at most {_MOST_ROWS} sums", came=rows, where="clean")
    inner, prices = sums.inner_optimum(program.cost, _FIRST_STEPS)
    up = whole_flow(inner, program.cost, chains)
    reduced = program.cost - program.transposed_product(prices)
    last = min(_TIED * rows, reduced.size - 1)
    tied = abs(reduced) <= np.partition(abs(reduced), last)[last]
    some = np.flatnonzero(tied | (np.where(up > 0, -reduced, reduced) < 0))
    primal, duals = solve_by_columns(program, up, some, _PIVOTS * rows)
    near = np.rint(primal)
    if np.abs(primal - near).max() > _NEAR:
        raise SolverFailed("the vertices of two chains must be integers", where="clean")
    return near, duals


def _two_chains(marginals: list[Marginal]) -> list[list[Marginal]]:
    """Split the marginals into two chains, each from fine to coarse: incomparable marginals go to different chains."""
    side: dict[Marginal, int] = {}
    for start in marginals:
        side.setdefault(start, 0)
        reached = [start]
        while reached:
            marginal = reached.pop()
            for other in marginals:
                if _are_incomparable(marginal, other) and other not in side:
                    side[other] = 1 - side[marginal]
                    reached.append(other)
    return [sorted((marginal for marginal in marginals if side[marginal] == k), key=sum) for k in (0, 1)]


def is_two_chains(marginals: list[Marginal]) -> bool:
    """Whether no three marginals are pairwise incomparable: then the marginals form two chains (Dilworth's theorem)."""
    return not any(
        all(_are_incomparable(*pair) for pair in combinations(three, 2)) for three in combinations(marginals, 3)
    )


def _are_incomparable(marginal: Marginal, other: Marginal) -> bool:
    levels = list(zip(marginal, other, strict=True))
    return any(a < b for a, b in levels) and any(a > b for a, b in levels)
