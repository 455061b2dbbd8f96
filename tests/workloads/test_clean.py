"""Clean tables: the least squares over x >= 0 are those of an outside solver; rounding moves no sum by a whole."""

import itertools
import os
import time
from fractions import Fraction
from itertools import product

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from running import PLAIN, python
from utmost.counting import CountedTable
from utmost.errors import Infeasible
from utmost.privacy import Unit
from utmost.programs import solve

# No release shows the real numbers before they are rounded: a fault there may hide behind the rounding.
from utmost.publish.releases.given_facts import read_given
from utmost.publish.workloads.measuring.unequal_trees import UnequalTree
from utmost.publish.workloads.measuring.ways_to_measure import measurement_of
from utmost.publish.workloads.reconstruction import clean, whole_flows
from utmost.publish.workloads.reconstruction.clashing_facts import check_feasible
from utmost.publish.workloads.reconstruction.clean import controlled_rounding, is_two_chains
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.reconstruction.nonnegative_squares import nonnegative_least_squares
from utmost.publish.workloads.reconstruction.nonnegative_trees import nearest_of_tree
from utmost.publish.workloads.reconstruction.public_facts import Between, PublicFacts
from utmost.publish.workloads.reconstruction.tree_reconstruction import TreeReconstruction
from utmost.releases import release_detailed
from utmost.workloads import Domain, between, bins, hierarchy


def table(shape, *, noise=4, seed=0, names="abc"):
    """A domain, and noisy sums of Poisson counts over all its marginals."""
    draw = np.random.default_rng(seed)
    domain = Domain({name: list(range(size)) for name, size in zip(names, shape, strict=False)})
    cells = draw.poisson(np.exp(draw.normal(0.3, 1.5, shape)))
    return domain, cells, noisy(domain, cells, list(domain.marginals()), draw, noise)


def noisy(domain, cells, marginals, draw, noise):
    """Two-sided geometric noise of one level on every sum."""

    def geometric(shape):
        return draw.geometric(1 / noise, shape) - draw.geometric(1 / noise, shape)

    return {marginal: domain.sums(cells, marginal) + geometric(domain.group_shape(marginal)) for marginal in marginals}


def outside(domain, weights, measured):
    """The least squares over x >= 0 by HiGHS' solver of quadratic programs: its objective."""
    n = domain.size
    rows = [domain.spread(np.arange(y.size), marginal).ravel() for marginal, y in measured.items()]
    sizes = [y.size for y in measured.values()]
    q = np.repeat([float(weights[marginal]) for marginal in measured], sizes)
    y = np.concatenate([one.ravel() for one in measured.values()]).astype(float)
    starts = np.cumsum([0, *sizes])
    total, solver = len(y), highspy.Highs()
    solver.silent()
    model, lp = highspy.HighsModel(), highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n + total, total
    lp.col_cost_ = np.concatenate([np.zeros(n), -q * y])
    lp.col_lower_ = np.concatenate([np.zeros(n), np.full(total, -1e9)])
    lp.col_upper_ = np.full(n + total, 1e9)
    at = np.concatenate([row + start for row, start in zip(rows, starts, strict=False)])
    order = np.argsort(np.tile(np.arange(n), len(rows)), kind="stable")
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate([np.arange(n + 1) * len(rows), n * len(rows) + np.arange(1, total + 1)])
    lp.a_matrix_.index_ = np.concatenate([at[order], np.arange(total)])
    lp.a_matrix_.value_ = np.concatenate([np.ones(n * len(rows)), -np.ones(total)])
    lp.row_lower_ = lp.row_upper_ = np.zeros(total)
    model.lp_ = lp
    model.hessian_.dim_ = n + total
    model.hessian_.start_ = np.concatenate([np.zeros(n, int), np.arange(total + 1)]).astype(np.int32)
    model.hessian_.index_ = np.arange(n, n + total, dtype=np.int32)
    model.hessian_.value_ = q
    solver.passModel(model)
    solver.run()
    x = np.maximum(np.array(solver.getSolution().col_value)[:n].reshape(domain.shape), 0)
    return objective(domain, weights, measured, x)


def objective(domain, weights, measured, x):
    """1/2 sum_S q_S |A_S x - y_S|^2."""
    return sum(weights[f] / 2 * float(((domain.sums(x, f) - y) ** 2).sum()) for f, y in measured.items())


def test_a_thousand_cells_have_the_objective_of_an_outside_solver():
    """20 x 50 with all its marginals: the objective of HiGHS' quadratic program to 10^-6, certified to far less."""
    domain, _, measured = table((20, 50))
    weights = dict.fromkeys(measured, 1)
    found = nonnegative_least_squares(Reconstruction(domain, weights), measured)
    assert found.objective == pytest.approx(outside(domain, weights, measured), rel=1e-6)
    assert found.objective == pytest.approx(objective(domain, weights, measured, found.whole + found.rest), rel=1e-12)
    assert found.gap < 1e-9
    assert found.residual < 1e-6


@given(st.sampled_from(["plain", "tree", "bins", "three"]), st.integers(0, 10**6), st.integers(1, 30))
def test_small_tables_are_solved_to_the_conditions_of_the_least(kind, seed, weight):
    """x >= 0, gradient >= 0, and their product 0 (Karush, Kuhn and Tucker), whatever the axes and the weights."""
    draw = np.random.default_rng(seed)
    domain = {
        "plain": Domain(a=list(range(5)), b=list(range(3))),
        "tree": Domain(place=hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"]), sex=[1, 2]),
        "bins": Domain(age=bins(16)),
        "three": Domain(a=[1, 2], b=[1, 2, 3], c=[1, 2, 3, 4]),
    }[kind]
    marginals = list(domain.marginals())
    weights = {marginal: int(draw.integers(1, weight + 1)) for marginal in marginals}
    cells = draw.poisson(1.5, domain.shape)
    measured = noisy(domain, cells, marginals, draw, 5)
    found = nonnegative_least_squares(Reconstruction(domain, weights), measured)
    x = found.whole + found.rest
    gradient = sum(w * domain.spread(domain.sums(x, f) - measured[f], f) for f, w in weights.items())
    assert x.min() >= -1e-9
    assert gradient.min() > -1e-5 * sum(weights.values()) * domain.size
    assert np.abs(np.where(x > 1e-6, gradient, 0)).max() < 1e-5 * sum(weights.values()) * domain.size
    rounded = controlled_rounding(domain, marginals, found)
    assert rounded.cells.min() >= 0
    assert np.abs(rounded.cells - x).max() < 1
    assert rounded.whole == (kind != "three")
    if rounded.whole:
        moved = [np.abs(domain.sums(rounded.cells - x, marginal)).max() for marginal in marginals]
        assert max(moved) < 1
        assert rounded.largest_move == pytest.approx(max(moved), abs=1e-5)


@given(
    st.sampled_from(["table", "trees", "tree", "marginals"]), st.integers(0, 10**6), st.sampled_from([2, 3, 7, 10**6])
)
def test_whole_flows_cost_what_the_simplex_method_finds(kind, seed, divisor):
    """Two chains, ties or none: feasible, whole, and of the least cost; fractions of few kinds tie almost all of it."""
    tree = hierarchy({"N": ["a", "b"], "S": ["c", "d", "e"]}, names=["region", "district"])
    domain, marginals = {
        "table": (Domain(a=list(range(6)), b=list(range(5))), [(0, 0), (0, 1), (1, 0), (1, 1)]),
        "trees": (Domain(a=tree, b=bins(4)), [(0, 3), (1, 3), (2, 0), (2, 1), (2, 2), (2, 3)]),
        "tree": (Domain(age=bins(16)), [(1,), (2,), (3,), (4,)]),
        "marginals": (Domain(a=list(range(6)), b=list(range(5))), [(1, 0)]),
    }[kind]
    part = np.random.default_rng(seed).integers(0, divisor, domain.shape) / divisor
    programs, flow = [], clean.least_whole_flow

    def both(program, sums, chains):
        programs.append((program, flow(program, sums, chains), solve(program).value, sums.inner_optimum(program.cost)))
        patched.setattr(clean, "_MOST_ROWS", -1)  # from an inner optimum, as with many sums
        from_inside = flow(program, sums, chains)
        assert program.cost @ from_inside == pytest.approx(program.cost @ programs[0][1], abs=1e-7)
        return programs[0][1]

    cells = np.flatnonzero(part.ravel())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(clean, "MANY", -1)
        patched.setattr(clean, "_ROWS", 0)
        patched.setattr(clean, "least_whole_flow", both)
        patched.setattr(clean, "solve_inside", None)  # the method for groups needs no help
        patched.setattr(whole_flows, "_FEW", 0)
        clean._least_moves(domain, marginals, part, cells, {})
    (program, up, least, (inner, prices)) = programs[0]
    assert program.cost @ inner == pytest.approx(least, abs=1e-6)
    assert program.least_by(prices) == pytest.approx(least, abs=1e-6)
    assert set(up) <= {0.0, 1.0}
    assert (program.lower <= program.product(up)).all()
    assert (program.product(up) <= program.upper).all()
    assert program.cost @ up == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_of_four_leave_every_sum_and_cost_nothing(seed):
    """Most flows are whole afterwards, and what is not lies between the same whole numbers."""
    draw = np.random.default_rng(seed)
    tails, heads = (draw.integers(0, size, 9000) for size in (40, 300))
    parts, costs = draw.choice([0.0, 0.25, 1 / 3, 0.5, 1.0], 9000), draw.choice([0.0, 1.0, -0.5], 9000)
    after = whole_flows._in_fours(tails, heads, parts, costs)
    for places in (tails, heads):
        assert np.bincount(places, after) == pytest.approx(np.bincount(places, parts), abs=1e-9)
    assert costs @ after <= costs @ parts + 1e-9
    assert ((after >= -1e-12) & (after <= 1 + 1e-12)).all()
    assert after[parts % 1 == 0].tolist() == parts[parts % 1 == 0].tolist()
    assert ((after > 1e-6) & (after < 1 - 1e-6)).sum() < 0.4 * (parts % 1 != 0).sum()


ANY_PROCESSOR = """
import hashlib
import numpy as np
from utmost.programs import LinearProgram
from utmost.publish.workloads.reconstruction.clean import _best_of_few
from utmost.publish.workloads.reconstruction.inner_optimum import ChainSums
draw = np.random.default_rng(3)
part = draw.integers(0, 7, (60, 60)) / 7
groups = [np.repeat(np.arange(60), 60), np.tile(np.arange(60), 60), np.zeros(3600, dtype=np.int64)]
sums = [part.sum(axis=1), part.sum(axis=0), part.sum(keepdims=True).ravel()]
least, most = ([end(each) for each in sums] for end in (np.floor, np.ceil))
optimum = [*ChainSums(groups, least, most).inner_optimum(1 - 2 * part.ravel())]
at = np.concatenate([group + start for group, start in zip(groups, (0, 60, 120))])
ends = np.concatenate(least), np.concatenate(most)
cells = np.tile(np.arange(3600), 3)
program = LinearProgram.of_triplets(1 - 2 * part.ravel(), at, cells, np.ones(10800), *ends, column_upper=np.ones(3600))
optimum += _best_of_few(program, ChainSums(groups, least, most), [[groups[0], groups[2]], [groups[1]]])
print(*(hashlib.sha256(numbers.tobytes()).hexdigest() for numbers in optimum))
"""


def test_whoever_makes_a_clean_table_again_comes_to_the_same_optimum():
    """Bit for bit, by the kernels of another processor: of many equal optima, a verifier must find that one."""
    kinds = [{}, {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"}]
    said = {python("-c", ANY_PROCESSOR, env=os.environ | PLAIN | kind).stdout for kind in kinds}
    assert len(said) == 1


def test_a_three_way_table_reports_its_largest_move():
    """20 x 20 x 25: the program's vertices are not whole; cells move by less than one, sums by what is reported."""
    domain, _, measured = table((20, 20, 25), seed=1)
    found = nonnegative_least_squares(Reconstruction(domain, dict.fromkeys(measured, 1)), measured)
    rounded = controlled_rounding(domain, list(measured), found)
    x = found.whole + found.rest
    assert not rounded.whole
    assert np.abs(rounded.cells - x).max() < 1
    moved = max(np.abs(domain.sums(rounded.cells - x, marginal)).max() for marginal in measured)
    assert rounded.largest_move == pytest.approx(moved, abs=1e-5)
    assert rounded.largest_move < 5


@pytest.mark.parametrize("seed", range(8))
def test_counts_beyond_all_floats_beside_a_negative_one(seed):
    """10^30 beside a cell cut off at zero, noise of millions: the sums' exact digits decide, as without the 10^30."""
    draw = np.random.default_rng(seed)
    domain = Domain(a=["x", "y"])
    first, second, total = (int(one) for one in draw.normal(0, 4e6, 3))
    weights, huge = {(0,): 1, (1,): 1}, 10**30
    measured = {
        (0,): np.array([huge + first, -abs(second)], dtype=object),
        (1,): np.array([huge + total], dtype=object),
    }
    found = nonnegative_least_squares(Reconstruction(domain, weights), measured)
    exactly = [int(one) + float(rest) for one, rest in zip(found.whole - np.array([huge, 0]), found.rest, strict=True)]
    cut = max(0.0, (total - first - 2 * abs(second)) / 3)
    assert exactly[1] == pytest.approx(cut, abs=1e-3)
    assert exactly[0] == pytest.approx((first + total - exactly[1]) / 2, abs=1e-3)


def test_a_cell_that_ends_at_its_bound_is_it_however_large_the_estimates_are():
    """At 10^18 a bound less the estimate is no float: what was written was -7 where 0 is the nearest."""
    domain = Domain(age=["a", "b", "c"])
    measured = {
        (0,): np.array([-2916240611427169761, -11357975383211217687, 1948518855079671682], dtype=object),
        (1,): np.array([2543410610952409075]),
    }
    nearest = nonnegative_least_squares(Reconstruction(domain, {(0,): 1, (1,): 1}), measured)
    cells = [int(cell) + int(rest) for cell, rest in zip(nearest.whole, nearest.rest, strict=True)]
    assert cells[:2] == [0, 0]
    assert cells[2] == pytest.approx((1948518855079671682 + 2543410610952409075) / 2, rel=1e-15)


def test_one_cell_and_tables_of_zeros():
    """n = 1; and nothing but zeros, with noise that is negative everywhere."""
    one = Domain(a=["x"])
    found = nonnegative_least_squares(
        Reconstruction(one, {(0,): 1, (1,): 2}), {(0,): np.array([-3]), (1,): np.array([2])}
    )
    assert (found.whole + found.rest).tolist() == pytest.approx([1 / 3])
    domain = Domain(a=[1, 2, 3], b=[1, 2])
    measured = {marginal: np.full(domain.group_shape(marginal), -2) for marginal in domain.marginals()}
    found = nonnegative_least_squares(Reconstruction(domain, dict.fromkeys(measured, 1)), measured)
    assert not (found.whole + found.rest).any()
    assert not controlled_rounding(domain, list(measured), found).cells.any()


def test_chains_of_marginals():
    """Any number of nested marginals, twice; three marginals of a three-way table are not that."""
    assert is_two_chains([(0,), (1,), (2,), (3,)])
    assert is_two_chains([(0, 0), (0, 1), (0, 2), (1, 2), (2, 0), (2, 2)])
    assert not is_two_chains([(0, 2), (1, 1), (2, 0)])


@pytest.mark.slow
def test_a_hundred_thousand_cells_are_cleaned_as_an_outside_method_would():
    """300 x 333 with both marginals and total: within 20 s of processor, and L-BFGS-B finds nothing below.

    Neither from the noisy cells, nor from the least that was found, which it moves by less than 10^-9 of it.
    """
    domain, _, measured = table((300, 333))
    weights = dict.fromkeys(measured, 1)
    started = time.process_time()
    found = nonnegative_least_squares(Reconstruction(domain, weights), measured)
    rounded = controlled_rounding(domain, list(measured), found)
    assert time.process_time() - started < 20
    assert rounded.whole
    assert rounded.largest_move < 1

    def outside_value(flat):
        x = flat.reshape(domain.shape)
        off = {f: domain.sums(x, f) - y for f, y in measured.items()}
        slope = sum(domain.spread(one, f) for f, one in off.items())
        return sum(float((one**2).sum()) for one in off.values()) / 2, slope.ravel()

    bounds, ours = [(0, None)] * domain.size, (found.whole + found.rest).ravel().astype(float)
    for start, steps in ((np.maximum(measured[domain.finest], 0).ravel().astype(float), 60), (np.maximum(ours, 0), 20)):
        options = {"maxiter": steps, "ftol": 0, "gtol": 0}
        other = minimize(outside_value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        assert found.objective - found.gap <= other.fun * (1 + 1e-12)
    assert found.objective == pytest.approx(other.fun, rel=1e-9)


# ------------------------------------------------------------ public facts


TREE = hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"])


DOMAINS = {
    "plain": Domain(a=list(range(5)), b=list(range(3))),
    "tree": Domain(place=TREE, sex=[1, 2]),
    "bins": Domain(age=bins(16)),
    "three": Domain(a=[1, 2], b=[1, 2, 3], c=[1, 2, 3, 4]),
    "wide": Domain(a=list(range(6)), b=list(range(9))),
}


def problem(kind, seed):
    """Noisy sums of some marginals with weights, and facts that hold of the true table: numbers, bounds, zeros."""
    draw, domain = np.random.default_rng(seed), DOMAINS[kind]
    marginals = [marginal for marginal in domain.marginals() if draw.random() < 0.6 or marginal == domain.finest]
    weights = {marginal: int(draw.integers(1, 30)) for marginal in marginals}
    cells = draw.poisson(draw.choice([0.2, 1.5, 20.0]), domain.shape)

    def noise(shape):
        return draw.geometric(0.2, shape) - draw.geometric(0.2, shape)

    measured = {marginal: domain.sums(cells, marginal) + noise(domain.group_shape(marginal)) for marginal in marginals}
    rows = []
    for marginal in domain.marginals():
        if draw.random() < 0.5:
            for place, total in enumerate(domain.sums(cells, marginal).ravel().tolist()):
                slack = [int(one) for one in draw.integers(0, 3, 2)]
                values = [total, between(total - slack[0], total + slack[1]), between(high=total)]
                which = int(np.searchsorted([0.4, 0.6, 0.7], draw.random()))
                rows += [(marginal, place, values[which])] if which < 3 else []
    return domain, weights, measured, PublicFacts.of_places(domain, rows)


def matrix(domain, marginal, places):
    groups = domain.spread(np.arange(int(np.prod(domain.group_shape(marginal)))), marginal).ravel()
    return np.array([groups == place for place in places], dtype=float).reshape(len(places), domain.size)


def outside_given(domain, weights, measured, facts):
    """The least of half the weighed squares over x >= 0 of which the facts hold, by HiGHS' quadratic programs."""
    rows = [np.sqrt(weights[marginal]) * matrix(domain, marginal, range(y.size)) for marginal, y in measured.items()]
    A = np.concatenate(rows)
    y = np.concatenate([np.sqrt(weights[marginal]) * y.ravel() for marginal, y in measured.items()])
    H, held = np.tril(A.T @ A), [matrix(domain, marginal, facts.places(marginal)) for marginal in facts.bounds]
    B = np.concatenate([*held, np.zeros((0, domain.size))])
    ends = [
        [float(end[side].ravel()[place]) for marginal, end in facts.bounds.items() for place in facts.places(marginal)]
        for side in (0, 1)
    ]
    solver, model, lp = highspy.Highs(), highspy.HighsModel(), highspy.HighsLp()
    solver.silent()
    lp.num_col_, lp.num_row_, lp.col_cost_ = domain.size, len(B), -A.T @ y
    lp.col_lower_, lp.col_upper_ = np.zeros(domain.size), np.full(domain.size, 1e9)
    lp.row_lower_, lp.row_upper_ = map(np.array, ends)
    at = [np.flatnonzero(row) for row in B]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *map(len, at)]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([*at, np.zeros(0)]).astype(np.int32)
    lp.a_matrix_.value_ = np.ones(sum(map(len, at)))
    model.lp_, model.hessian_.dim_ = lp, domain.size
    below = [np.flatnonzero(column) for column in H.T]
    model.hessian_.start_ = np.cumsum([0, *map(len, below)]).astype(np.int32)
    model.hessian_.index_ = np.concatenate(below).astype(np.int32)
    model.hessian_.value_ = np.concatenate([H[rows, j] for j, rows in enumerate(below)])
    solver.passModel(model)
    solver.run()
    return solver.getInfo().objective_function_value + y @ y / 2


@given(st.sampled_from(list(DOMAINS)), st.integers(0, 10**6))
def test_the_least_squares_given_facts_are_those_of_an_outside_solver(kind, seed):
    """Objective to 10^-5, a gap that says so, and whole numbers of which every fact holds."""
    domain, weights, measured, facts = problem(kind, seed)
    squares = nonnegative_least_squares(measurement_of(domain, weights).reconstruction(weights), measured, facts=facts)
    least = outside_given(domain, weights, measured, facts)
    assert squares.objective == pytest.approx(least, rel=1e-5, abs=1e-5)
    assert squares.gap <= 1e-5 * (1 + least)
    marginals = list(dict.fromkeys([*measured, *facts.bounds]))
    rounded = controlled_rounding(domain, marginals, squares, facts)
    assert rounded.cells.min() >= 0
    assert facts.hold(rounded.cells)
    assert rounded.whole == is_two_chains(marginals)
    if rounded.whole:
        x = squares.whole + squares.rest
        assert max(np.abs(domain.sums(rounded.cells - x, marginal)).max() for marginal in marginals) < 1 + 1e-5


@given(st.sampled_from([(2, 2), (2, 2, 2), (1, 3)]), st.integers(0, 10**6))
def test_facts_are_refused_just_where_no_table_of_whole_numbers_is(shape, seed):
    """All tables of up to two a cell, one by one: facts of any kind, of which some exclude each other."""
    draw = np.random.default_rng(seed)
    domain = Domain({name: list(range(size)) for name, size in zip("abc", shape, strict=False)})
    rows = []
    for marginal in domain.marginals():
        for place in range(int(np.prod(domain.group_shape(marginal)))):
            if draw.random() < 0.4:
                low = int(draw.integers(0, 3))
                rows.append(
                    (marginal, place, draw.choice([low, between(low, low + 1), between(high=low), between(low)]))
                )
    rows += [(domain.finest, place, between(high=2)) for place in range(domain.size)]
    weights = dict.fromkeys(domain.marginals(), 1)
    measured = {marginal: draw.integers(-2, 6, domain.group_shape(marginal)) for marginal in weights}
    try:
        facts = PublicFacts.of_places(domain, rows)
        squares = nonnegative_least_squares(Reconstruction(domain, weights), measured, facts=facts)
        rounded = controlled_rounding(domain, list(weights), squares, facts)
    except Infeasible:
        ends = [(f, p, v if isinstance(v, Between) else between(v, v)) for f, p, v in rows]
        tables = [np.array(cells).reshape(shape) for cells in product(range(3), repeat=domain.size)]
        sums = {marginal: [domain.sums(table, marginal).ravel() for table in tables] for marginal in weights}
        alive = np.ones(len(tables), dtype=bool)
        for marginal, place, value in ends:
            column = np.array([one[place] for one in sums[marginal]])
            alive &= (value.low is None or column >= value.low) & (value.high is None or column <= value.high)
        assert not alive.any()
    else:
        assert facts.hold(rounded.cells)


def test_facts_that_fractions_alone_hold_are_refused_as_such():
    """u + v = u + w = v + w = 1, three cells of 2 x 2 x 2 in pairs by planes: halves, and no whole numbers."""
    domain = Domain(a=[0, 1], b=[0, 1], c=[0, 1])
    zeros = {cell: 0 for cell in product("01", repeat=3) if cell.count("1") != 1}
    facts = read_given(domain, {"a=0": 1, "b=0": 1, "c=0": 1, "a b c": zeros})
    check_feasible(facts)
    measured = {domain.finest: np.ones(domain.shape, dtype=int)}
    squares = nonnegative_least_squares(Reconstruction(domain, {domain.finest: 1}), measured, facts=facts)
    assert (squares.whole + squares.rest)[1, 0, 0] == pytest.approx(0.5)
    with pytest.raises(Infeasible, match="whole numbers"):
        controlled_rounding(domain, [domain.finest, *facts.bounds], squares, facts)


ADMITTED = Domain(department=list("ABC"), sex=["men", "women"])


COUNTS = np.array([[512, 89], [353, 17], [120, 0]])


@pytest.mark.parametrize("size", [10**15, 10**20])
def test_facts_of_any_size_hold_to_the_last_digit(size):
    cells = COUNTS.astype(object) + size
    measured = {ADMITTED.finest: cells + 2, ADMITTED.marginal(""): ADMITTED.sums(cells, ADMITTED.marginal("")) - 7}
    facts = read_given(ADMITTED, {"total": int(cells.sum()), "sex": cells.sum(0).tolist()})
    squares = nonnegative_least_squares(Reconstruction(ADMITTED, dict.fromkeys(measured, 3)), measured, facts=facts)
    rounded = controlled_rounding(ADMITTED, list(dict.fromkeys([*measured, *facts.bounds])), squares, facts)
    assert facts.hold(rounded.cells)
    assert int(rounded.cells.sum()) == int(cells.sum())


# ------------------------------------------------------------ trees, in rationals


DOMAIN = Domain(place=hierarchy({"A": {"a": [1], "b": [2, 3]}, "B": {"c": [4, 5]}}, names=["state", "county", "town"]))


LEVELS = st.sampled_from([(0,), (0, 1), (0, 3), (0, 1, 2), (0, 1, 2, 3)])


SIZES = st.sampled_from([5, 10**6, 10**18, 10**40])


def exact(array):
    return np.array([Fraction(number) for number in array], dtype=object)


def gradient_of(cells, weights, measured):
    """Of half the sum of squares, by its definition."""
    slopes = exact([0] * DOMAIN.size)
    for marginal, weight in weights.items():
        off = DOMAIN.sums(cells, marginal) - measured[marginal].astype(object)
        slopes = slopes + weight * DOMAIN.spread(off, marginal)
    return slopes


@given(st.data(), LEVELS, SIZES)
def test_the_least_is_the_one_support_that_keeps_to_the_conditions_of_the_least(data, levels, size):
    """Of all 32 sets of cells that may be positive, solved by Gauss' elimination, those of the least give one point."""
    drawn = st.integers(-size, size)
    weights = {(level,): data.draw(st.sampled_from([1, 2, 7, 10**12])) for level in levels}
    measured = {
        marginal: np.array([data.draw(drawn) for _ in range(DOMAIN.group_shape(marginal)[0])], dtype=object)
        for marginal in weights
    }
    cells = exact(nearest_of_tree(UnequalTree.of(DOMAIN), weights, measured))
    points = set()
    for support in itertools.product([False, True], repeat=5):
        point = solved(support, weights, measured)
        slopes = gradient_of(point, weights, measured)
        if (point >= 0).all() and (slopes >= 0).all() and not (point * slopes).any():
            points.add(tuple(point))
    assert points == {tuple(cells)}


def solved(support, weights, measured):
    """The least over these cells, the others being zero: rows of the second derivative, by elimination."""
    free = [place for place, is_free in enumerate(support) if is_free]
    ones = np.array([[Fraction(int(a == b)) for b in range(5)] for a in range(5)], dtype=object)
    zero = exact([0] * 5)
    right = -gradient_of(zero, weights, measured)
    rows = [[*(gradient_of(ones[place], weights, measured) + right)[free], right[place]] for place in free]
    for at in range(len(rows)):
        rows[at] = [number / rows[at][at] for number in rows[at]]
        for other in range(len(rows)):
            if other != at:
                rows[other] = [a - rows[other][at] * b for a, b in zip(rows[other], rows[at], strict=True)]
    point = zero.copy()
    for place, row in zip(free, rows, strict=True):
        point[place] = row[-1]
    return point


@pytest.mark.parametrize("size", [10**15, 10**18, 10**40])
def test_numbers_beyond_the_digits_of_floats_are_nearest_to_the_last_one(size):
    """What was found at 10^18 was hundreds off, or nothing."""
    draw = np.random.default_rng(0)
    weights = {(0,): 1, (2,): 3}
    for _ in range(20):
        measured = {
            marginal: np.array([int(one * 10**9) * size for one in draw.normal(0, 1, groups)], dtype=object)
            for marginal, groups in (((0,), 5), ((2,), 2))
        }
        found = nonnegative_least_squares(TreeReconstruction(DOMAIN, weights), measured)
        cells = found.whole.astype(object) + exact(found.rest.tolist())
        assert max(abs(cells - exact(nearest_of_tree(UnequalTree.of(DOMAIN), weights, measured)))) < 1e-15
        assert found.residual == found.gap == 0


@pytest.mark.parametrize("seed", [5, 14])
def test_a_level_that_weighs_almost_nothing_beside_another_is_no_hindrance(seed):
    """Nothing was found within 10^-6 of a cell: the total weighed 10^10 times as much."""
    draw = np.random.default_rng(seed)
    domain, weights = Domain(a=list(range(6))), {(0,): 1, (1,): 10**10}
    measured = {(0,): draw.integers(-100, 1000, 6), (1,): draw.integers(0, 1000, 1)}
    found = nonnegative_least_squares(TreeReconstruction(domain, weights), measured)
    nearest = exact(nearest_of_tree(UnequalTree.of(domain), weights, measured))
    assert max(abs(found.whole.astype(object) + exact(found.rest.tolist()) - nearest)) < 1e-15


@pytest.mark.parametrize(("size", "reach", "share"), [(10**18, 10**18, "1/2"), (1000, 10, "0.999999")])
def test_a_release_in_two_stages_is_cleaned_at_every_size_and_share(size, reach, share):
    """One in twenty to one in two were refused: the tolerance is of a cell, whatever the size of the numbers."""
    domain = Domain(g=["a", "b"], x=["p", "q", "r", "s"])
    table = CountedTable(domain, np.array([0, size, 0, size // 3, 1, size // 7, 0, 0]).reshape(2, 4), Unit(reach, 1))
    for _ in range(3):
        release = release_detailed(table, "g", {"x": -(10**30)}, epsilon=1, first=share)
        clean = release.clean()
        both = release.together
        nearest = nearest_of_tree(UnequalTree.of(both.domain), both.reconstruction.weights, both.measured)
        assert max(abs(exact(clean.cells.tolist()) - exact(nearest))) < 1 + 1e-6
