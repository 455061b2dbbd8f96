"""Every way to measure sums keeps the same promises, seen from outside: a plan, and the sums that a release gives.

Privacy in rationals over all changes of the unit; estimates that are exactly the truth where there is no noise, and
those of dense least squares where there is; margins of the very noises that these take; and the variances that a plan
states. A new way to measure is one row of `PLANS`.
"""

import json
import pickle
from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import combinations, cycle, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import NotDetermined
from utmost.releases import NoisySums
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, SignedAxis, Workload, bins, edges, hierarchy, periods
from workload_cases import precision, rows_of_marginal, workloads

ONE = ut.Unit(1, 1)
EVEN = hierarchy({"N": ["n1", "n2"], "S": ["s1", "s2"]}, names=["region", "district"])
UNEVEN = hierarchy({"A": {"a": [1], "b": [2, 3]}, "B": {"c": [4, 5, 6]}}, names=["state", "county", "town"])
CROSSED = Domain(sex=["m", "w"], age=bins(3), place=EVEN, vote=["y", "n"])
SMALL = Domain(age=bins(6), sex=["m", "w"], kind=["x", "y", "z"])
QUARTERS = Domain(region=["N", "S"], quarter=["q1", "q2", "q3"])
COLUMNS = Domain(row=list("ABC"), column=["visits", "nights"])
AGE = AxisRows(0, np.array([[1, 2, 2, 0, 1, 0], [0, 1, 1, 3, 0, 1]]), 6)
ALONE = ProductRows(Domain(age=bins(6)), (AGE,))
ROWS = ProductRows(SMALL, (AGE, ut.workloads.values_alone(SMALL.axes[1]), AxisRows(0, np.array([[1, 1, 1]]), 3)))
LEVELS = ProductRows(Domain(place=EVEN, age=bins(6)), (AxisRows(1, np.array([[1, 2]]), 4), AGE))
SIGNED = SignedAxis([[1, 0, 0], [1, -1, -1], [0, 1, -1]], ["8/15", "7/15", "7/15"])
PAIRS = ProductRows(QUARTERS, (AxisRows(0, np.array([[1, 1]]), 3), SIGNED))


def listed(rows, unit=ONE, **words):
    return Plan(rows.domain, unit, rows.shares, rows=rows, **words)


PLANS = {
    "marginals": Plan(SMALL, ONE, {"age sex kind": "1/2", "age/2 sex": "1/8", "kind": "1/8", "": "1/4"}),
    "marginals of a tree": Plan(Domain(place=EVEN, sex=["m", "w"]), ONE, {"district sex": "1/2", "region": "1/2"}),
    "marginals that leave the cells open": Plan(SMALL, ONE, {"age sex": "1/2", "kind": "1/2"}),
    "a tree of unequal groups": Plan(Domain(place=UNEVEN), ONE, {"town": "1/2", "county": "1/4", "": "1/4"}),
    "a tree whose towns are open": Plan(Domain(place=UNEVEN), ONE, {"county": "1/2", "state": "1/2"}),
    "unequal groups crossed": Plan(Domain(place=UNEVEN, sex=["m", "w"]), ONE, {"town sex": "2/3", "sex": "1/3"}),
    "differences": Plan(CROSSED, ONE, {"sex age": "1/4", "sex- district": "1/4", "age region vote-": "1/2"}),
    "differences of the cells": Plan(CROSSED, ONE, {"sex age district vote": "1/2", "sex-": "1/4", "vote-": "1/4"}),
    "hat functions": Plan(
        Domain(age=bins(12)), ut.Unit(2, 1), {"age": "1/2", "age~2": "1/4", "age~5": "1/8", "": "1/8"}
    ),
    "hat functions beside a tree": Plan(
        Domain(sex=["m", "f"], age=range(6), place=EVEN),
        ONE,
        {"age district": "1/4", "age~3 region": "1/4", "age~2": "1/8", "sex age": "1/8", "sex region": "1/4"},
    ),
    "hat functions, two cells": Plan(
        Domain(age=range(5), sex=["m", "f"]), ut.Unit(1, 2), {"age sex": "1/4", "age~2 sex": "1/4", "age~3": "1/2"}
    ),
    "hat functions, a record replaced": Plan(
        Domain(age=bins(12)), ut.Unit(3, 1, "change-one"), {"age": "1/2", "age~2": "1/4", "": "1/4"}
    ),
    "hat functions wider than the axis": Plan(Domain(age=range(4)), ONE, {"age": "1/2", "age~9": "1/2"}),
    "ages": Plan(Domain(age=edges([0, 5, 15, 65, None])), ONE, {"age": "3/4", "": "1/4"}),
    "months": Plan(Domain(month=periods("2025", "2026", every="month")), ONE, {"month": "1/2", "month/quarter": "1/2"}),
    "one value": Plan(Domain(age=range(1)), ONE, {"age": 1}),
    "no axis": Plan(Domain(), ONE, {"": 1}),
    "listed rows": listed(ALONE, ut.Unit(2, 1)),
    "products of listed rows": listed(ROWS),
    "listed rows over regions": listed(LEVELS),
    "sums and differences": Plan(
        COLUMNS, ut.Unit(1, 2), {"row column": "3/4", "column": "1/4", "row": "1/3", "": "2/3"}, together="column"
    ),
    "differences alone": Plan(COLUMNS, ut.Unit(1, 2), {"row column": 1, "row": 1}, together="column"),
    "signed rows": listed(PAIRS, ut.Unit(1, 3, nonnegative=True), together="quarter"),
}  # fmt: skip


def dense_rows(plan):
    """What each marginal measures as rows over the cells, from the sums of unit vectors."""
    cells = np.eye(plan.domain.size, dtype=np.int64).reshape(-1, *plan.domain.shape)
    sums = [plan.sums(cell) for cell in cells]
    return {marginal: np.array([one[marginal].ravel() for one in sums]).T for marginal in plan.shares}


def stated_levels(release):
    """The level of the noise on each sum of a marginal, as the statement has it: of a change of the sum by one."""
    stated = release.statement["noise"]["marginals"]
    assert {one["distribution"] for one in stated} == {"Geometric"}
    return {
        marginal: ut.level(Fraction(one["per_sum"]["epsilon"]) / one["sensitivity"])
        for marginal, one in zip(release.plan.shares, stated, strict=True)
    }


def with_sums(plan, sums, epsilon=1):
    """The release that has these noisy sums."""
    return NoisySums(ut.Promise(noise=plan), ut.level(epsilon), Fraction(19, 20), sums)


def dense_coefficients(release):
    """Least squares for the cells from the whole matrix of a release, with the weights that it states: B, and the A."""
    rows = dense_rows(release.plan)
    A = np.vstack(list(rows.values())).astype(float)
    weighed = A.T * np.concatenate(
        [np.full(len(own), float(release.weights[marginal])) for marginal, own in rows.items()]
    )
    return np.linalg.pinv(weighed @ A, rcond=1e-11) @ weighed, A


def along_axes(release):
    """Listed rows are put together axis by axis: B of least squares along each, by the weights of its classes."""
    rows, dense = release.plan.rows, []
    for place, listed in enumerate(rows.axes):
        signed = isinstance(listed, SignedAxis)
        A = listed.matrix.astype(float) if signed else np.vstack([np.eye(listed.values), listed.rows])
        weights = np.zeros(len(A))
        for marginal, weight in release.weights.items():
            weights[rows.places(marginal)[place]] += float(weight)
        dense.append(np.linalg.solve(A.T * weights @ A, A.T * weights))
    return reduce(np.kron, dense)


def listed_coefficients(release, row):
    """What an answer takes of each measured marginal, from the estimates of the groups that are measured."""
    rows = release.plan.rows
    groups = rows_of_marginal(rows.domain, rows.base)
    found = (row @ groups.T / groups.sum(axis=1) @ along_axes(release)).reshape([one.entries for one in rows.axes])
    return np.concatenate([found[np.ix_(*rows.places(marginal))].ravel() for marginal in release.plan.shares])


def answers(plan, draw, most=None):
    """Rows over the cells, and how to ask for them: a group of every marginal, and numbers along all axes.

    Args:
        most: Number of marginals, chosen at random; every marginal if left out.
    """
    domain, marginals = plan.domain, list(plan.domain.marginals())
    chosen = range(len(marginals)) if most is None else sorted(draw.permutation(len(marginals))[:most])
    for marginal in (marginals[place] for place in chosen):
        where = {
            axis.levels[one]: axis.labels[one][int(draw.integers(axis.groups(one)))]
            for axis, one in zip(domain.axes, marginal, strict=True)
            if one < len(axis.levels)
        }
        factors = [factor.astype(int) for factor in domain.selection(where)]
        yield reduce(np.kron, factors, np.ones(1, int)), {"where": where}
    for _ in range(2):
        along = {axis.levels[0]: draw.integers(-3, 4, axis.size).tolist() for axis in domain.axes}
        yield reduce(np.kron, along.values(), np.ones(1, int)), {"along": along}


def coefficients(release, form):
    """What an answer takes of each noise: its value where one sum is 1 and all others are 0, as fractions."""
    zeros = {marginal: np.zeros_like(sums) for marginal, sums in release.measured.items()}
    found = {}
    for marginal, sums in zeros.items():
        found[marginal] = []
        for place in range(sums.size):
            one = sums.copy()
            one.ravel()[place] = 1
            found[marginal].append(release.reconstruction.value({**zeros, marginal: one}, form))
    return found


def check_estimates(plan, seed, most=None):
    """Every answer is a sum of what was measured, whose coefficients give the truth exactly, as fractions.

    They are those of least squares, up to the rounding of weights, and the noises of its margin have these very ones.
    """
    draw = np.random.default_rng(seed)
    noisy = {marginal: draw.integers(-60, 60, plan.measured_shape(marginal)) for marginal in plan.shares}
    release = with_sums(plan, noisy)
    rows, (B, A), levels = dense_rows(plan), dense_coefficients(release), stated_levels(release)
    huge = np.asarray(draw.integers(0, 10**15, plan.domain.shape), dtype=object) * 10**15 + 1  # more than floats hold
    exactly = plan.sums(np.asarray(huge, dtype=object).reshape(plan.domain.shape))
    for row, how in answers(plan, draw, most):
        form = release.form(**how)
        if not np.allclose(row @ B @ A, row, atol=1e-6):
            with pytest.raises(NotDetermined):
                release.reconstruction.value(noisy, form)
            continue
        found = coefficients(release, form)
        assert sum(np.dot(own, rows[marginal]) for marginal, own in found.items()).tolist() == row.tolist()
        assert release.reconstruction.value(exactly, form) == np.dot(row, np.ravel(huge))
        value = sum(np.dot(own, noisy[marginal].ravel()) for marginal, own in found.items())
        assert release.reconstruction.value(noisy, form) == value
        flat = np.array([float(one) for own in found.values() for one in own])
        least = listed_coefficients(release, row) if plan.rows else row @ B
        assert flat == pytest.approx(least, abs=1e-5 * (1 + abs(least).max()))
        distribution, terms = release.noise(form), Counter()
        for size, own, count in zip(distribution.coefficients, distribution.levels, distribution.counts, strict=True):
            terms[size, own] += count
        assert terms == Counter((abs(one), levels[marginal]) for marginal, own in found.items() for one in own if one)


@pytest.mark.parametrize("name", PLANS)
def test_answers_are_unbiased_exactly_and_those_of_least_squares(name):
    check_estimates(PLANS[name], 1, most=5)


@pytest.mark.parametrize("name", PLANS)
def test_tables_are_made_of_the_answers(name):
    """Estimates are the sums' own, up to what is printed; a margin holds for each, and is at most 12 % wider."""
    plan, draw = PLANS[name], np.random.default_rng(1)
    release = with_sums(
        plan, {marginal: draw.integers(-60, 60, plan.measured_shape(marginal)) for marginal in plan.shares}
    )
    marginals = list(plan.domain.marginals())
    for marginal in {marginals[0], marginals[-1], *(marginals[int(at)] for at in draw.integers(0, len(marginals), 2))}:
        if not determines(plan, marginal):
            with pytest.raises(NotDetermined):
                release[marginal]
            continue
        table, place = release[marginal], int(draw.integers(np.prod(plan.domain.group_shape(marginal), dtype=int)))
        at = np.unravel_index(place, plan.domain.group_shape(marginal))
        where = {
            axis.levels[one]: axis.labels[one][group]
            for axis, one, group in zip(plan.domain.axes, marginal, at, strict=True)
            if one < len(axis.levels)
        }
        answer = release.total(where)
        assert abs(table["count"][place] - float(answer.exact)) <= 0.5
        assert answer.margin <= table["count_margin"][place] + 1e-9
        assert table["count_margin"][place] <= 1.12 * answer.margin + 0.5


@pytest.mark.parametrize("name", PLANS)
def test_no_change_of_the_unit_tells_more_than_the_level_and_one_tells_all_of_it(name):
    """Level times |change of the sum|, added up, over all changes of the unit's cells, as fractions: 1 at most."""
    plan = PLANS[name]
    release = with_sums(plan, plan.sums(np.zeros(plan.domain.shape, int)))
    levels, rows = stated_levels(release), dense_rows(plan)
    moved = np.array(list(changes(plan)))
    spent = sum(
        levels[marginal].epsilon * abs(moved @ own.T).sum(axis=1).astype(object) for marginal, own in rows.items()
    )
    assert max(spent) == plan.charge == 1


@pytest.mark.parametrize("name", ["marginals of a tree", "differences", "hat functions", "hat functions, two cells"])
def test_the_noise_drawn_has_the_levels_that_are_stated(name):
    """Of many releases of nothing each marginal's sums have the variance of its level, within five standard errors."""
    plan, runs = PLANS[name], 100
    releases = [ut.release(np.zeros(plan.domain.shape, int), plan, epsilon=2, once=True).table for _ in range(runs)]
    for marginal, own in stated_levels(releases[0]).items():
        squares = np.array([release.measured[marginal].ravel() for release in releases]).astype(float) ** 2
        allowed = 5 * squares.std() / squares.size**0.5
        assert squares.mean() == pytest.approx(1 / precision(own.epsilon_float), abs=allowed)


def changes(plan):
    """All that one individual can change: cells by the sensitivity, or the cells of a row of the axis `together`."""
    domain, s = plan.domain, int(plan.unit.sensitivity)
    if plan.together is None:
        each = s * np.eye(domain.size, dtype=int)
        yield from each
        if plan.unit.epsilon_parts == 2:
            for one, other in combinations(each, 2):
                yield from (one + other, one - other)
        if plan.unit.neighbours == "change-one":
            yield from 2 * each
        return
    low = 0 if plan.unit.nonnegative else -s
    width = domain.shape[-1]
    for row, change in product(range(domain.size // width), product(range(low, s + 1), repeat=width)):
        cells = np.zeros(domain.size, dtype=int)
        cells[row * width : (row + 1) * width] = change
        yield cells


def variances_of(plan, parts, epsilon):
    """The mean variance of the answers of each part, by the inverse of the whole information.

    Listed rows are put together axis by axis: theirs is that of the noises of these coefficients.
    """
    release = with_sums(plan, plan.sums(np.zeros(plan.domain.shape, int)), epsilon)
    levels = stated_levels(release)
    rows = {part.name: part.matrix(plan.domain) for part in parts}
    if plan.rows is not None:
        own = [1 / float(precision(levels[marginal].epsilon_float)) for marginal in plan.shares]
        each = np.repeat(own, [np.prod(plan.measured_shape(marginal), dtype=int) for marginal in plan.shares])
        found = {name: [listed_coefficients(release, row) ** 2 @ each for row in own] for name, own in rows.items()}
    else:
        information = sum(
            float(precision(levels[marginal].epsilon_float)) * own.T @ own for marginal, own in dense_rows(plan).items()
        )
        covariance = np.linalg.pinv(information, rcond=1e-12)
        found = {name: np.einsum("ij,jk,ik->i", own, covariance, own, optimize=True) for name, own in rows.items()}
    return {name: np.mean(variances) for name, variances in found.items()}


@given(workloads(most=40), st.lists(st.integers(0, 5), min_size=30, max_size=30), st.sampled_from(["1/10", 1, 4]))
def test_marginals_have_the_variances_of_dense_least_squares(wanted, parts, epsilon):
    """Groups, ranges, prefixes, windows, weighed rows and single sums, whatever the axes and the shares."""
    marginals = list(wanted.domain.marginals())
    drawn = {marginal: part for marginal, part in zip(marginals, parts, strict=False) if part} | {marginals[0]: 1}
    shares = {marginal: Fraction(part, sum(drawn.values())) for marginal, part in drawn.items()}
    plan = Plan(wanted.domain, ONE, shares, wanted, ut.level(epsilon))
    assert plan.variances == pytest.approx(variances_of(plan, wanted.parts, epsilon), rel=1e-7)


def wanted_of(plan):
    """Sums of every kind that the axes of a plan allow, of which some have several kinds of groups."""
    domain = plan.domain
    marginals = [marginal for marginal in domain.marginals() if determines(plan, marginal)]
    wanted = Workload(domain, {marginal: 1 + place for place, marginal in enumerate(marginals)})
    if (
        domain.axes
        and domain.finest in marginals
        and "town" not in domain.level_names(domain.finest)
        and plan.rows is None
    ):
        first = domain.axes[0]
        wanted += Workload.sums(domain, [{first.levels[0]: list(first.labels[0][-2:])}])
        if first.levels[0] == "age":
            wanted += Workload.ranges(domain, "age") + Workload.prefixes(domain, "age", weight=3)
    return wanted


def determines(plan, marginal):
    try:
        return bool(Plan(plan.domain, plan.unit, plan.shares, Workload(plan.domain, {marginal: 1}), **how(plan)))
    except ut.errors.OutOfRange:
        return False


def how(plan):
    return {"together": plan.together, "rows": plan.rows}


@pytest.mark.parametrize(("name", "epsilon"), [*zip(PLANS, cycle(["0.000001", 20]))])
def test_a_plan_states_the_variances_of_dense_least_squares(name, epsilon):
    made = PLANS[name]
    wanted = wanted_of(made)
    plan = Plan(made.domain, made.unit, made.shares, wanted, ut.level(epsilon), **how(made))
    stated = plan.variances
    assert stated == pytest.approx(variances_of(plan, wanted.parts, epsilon), rel=2e-5)
    assert plan.value == pytest.approx(sum(float(part.weight) * stated[part.name] for part in wanted.parts))


SHAPES = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=3)


@given(SHAPES, st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any), st.integers(0, 10**6))
def test_trees_of_any_groups(shape, parts, seed):
    """Divisions of states of counties, of any sizes, and "all", of which some are not measured."""
    branches = {
        f"d{i}": {f"d{i}s{j}": [f"d{i}s{j}c{k}" for k in range(size)] for j, size in enumerate(states)}
        for i, states in enumerate(shape)
    }
    domain = Domain(place=hierarchy(branches, names=["division", "state", "county"]))
    shares = {(place,): Fraction(part, sum(parts)) for place, part in enumerate(parts) if part}
    check_estimates(Plan(domain, ONE, shares), seed, most=6)


@given(workloads(most=15), st.lists(st.integers(0, 3), min_size=30, max_size=30).filter(any), st.integers(0, 10**6))
def test_marginals_of_any_domain(wanted, parts, seed):
    drawn = {marginal: part for marginal, part in zip(wanted.domain.marginals(), parts, strict=False) if part}
    if drawn:
        shares = {marginal: Fraction(part, sum(drawn.values())) for marginal, part in drawn.items()}
        check_estimates(Plan(wanted.domain, ONE, shares), seed, most=6)


@st.composite
def listed_products(draw):
    """Rows at random along one to three axes, of which some have levels."""
    axes = [bins(5), hierarchy({"N": ["n1", "n2"], "S": ["s1"]}, names=["region", "district"]), ["a"], ["b", "c"]]
    chosen = draw(st.lists(st.sampled_from(range(len(axes))), min_size=1, max_size=3, unique=True))
    domain, made = Domain({f"x{place}": axes[place] for place in chosen}), []
    for axis in domain.axes:
        on = draw(st.integers(0, len(axis.levels)))
        entries = st.lists(st.integers(0, 3), min_size=axis.groups(on), max_size=axis.groups(on)).filter(any)
        rows = np.array(draw(st.lists(entries, max_size=3)), dtype=int).reshape(-1, axis.groups(on))
        made.append(AxisRows(on, rows, int(rows.sum(axis=0).max(initial=0)) + draw(st.integers(1, 9))))
    return ProductRows(domain, tuple(made))


@given(listed_products(), st.integers(0, 10**6))
def test_products_of_any_listed_rows(rows, seed):
    """Every cell is charged the level to the last digit, too: weight times share adds up to 1 over its sums."""
    plan = listed(rows)
    for cell in np.eye(rows.domain.size, dtype=int):
        sums = plan.sums(cell.reshape(rows.domain.shape))
        assert sum(share * int(abs(sums[marginal]).sum()) for marginal, share in plan.shares.items()) == 1
    check_estimates(plan, seed, most=6)


@pytest.mark.parametrize("weights", [(1, 1), (1, 10**16), (1, 10**30), (10**30, 1)])
@pytest.mark.parametrize("size", [1, 2, 7, 33])
def test_estimates_by_hat_functions_are_unbiased_however_far_the_weights_are_apart(size, weights):
    """Hat functions 4 apart are sums of those 2 apart: nearly singular, where the values are hardly measured."""
    plan = Plan(Domain(age=range(size)), ONE, {"age": "1/2", "age~2": "1/4", "age~4": "1/4"})
    truly = np.random.default_rng(size).integers(0, 50, size)
    release = NoisySums(
        ut.Promise(noise=plan), ut.level(1), Fraction(19, 20), plan.sums(truly),
        weights=dict(zip(plan.shares, (weights[1], weights[1], weights[0]), strict=True)),
    )  # fmt: skip
    values = [release.reconstruction.value(release.measured, release.form({"age": at})) for at in range(size)]
    assert values == truly.tolist()


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_and_its_release_are_written_and_read_back(name):
    """As JSON values and by pickle; a release that a plan changed on the way would not be the stated one."""
    plan = PLANS[name]
    release = ut.release(np.ones(plan.domain.shape, int), plan, epsilon=1, once=True) if plan.together is None else None
    for again in (Plan.of_facts(json.loads(json.dumps(plan.facts())), plan.unit), pickle.loads(pickle.dumps(plan))):
        assert (again.shares, again.facts(), again.charge) == (plan.shares, plan.facts(), 1)
    if release is not None:
        read = NoisySums.of_facts(json.loads(json.dumps(release.table.facts())))
        assert read.statement == release.table.statement
        assert pickle.loads(pickle.dumps(read)).statement == read.statement
