"""Lower bounds: the figures known, no plan and no mechanism below them, and certificates that are checked.

Last those for all answers together, of any mechanism: attained, and below the best noise of two cells.
"""

import copy
import math
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, cycle, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from utmost.errors import OutOfRange, PromiseBroken
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Staircase, costs
from utmost.privacy import Amount, Unit

# An inequality holds for every certificate, however wrong, and a bound shows one of them.
from utmost.publish.workloads.bounds.bound_inequalities import (
    ChordShares,
    Directions,
    MatrixPart,
    MatrixRoots,
    MixedDirections,
    answer_below,
    directions_below,
    matrix_below,
    variance_below,
)
from utmost.publish.workloads.bounds.workload_evidence import answers_below, exact_spectrum, is_possible
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.workloads import (
    Domain,
    Plan,
    Workload,
    bins,
    bounds_of,
    certified_shares,
    charge_of,
    check_lower_bounds,
    choose_plan,
    hierarchy,
)
from workload_cases import precision

ONE = Unit(1, 1)
DEPARTMENTS = Domain(department=list("ABCDEF"), sex=["men", "women"], outcome=["admitted", "rejected"])
MARGINS = ["department sex", "department", "sex", ""]
PLACES = Domain(
    place=hierarchy({f"r{i}": [f"r{i}d{j}" for j in range(25)] for i in range(8)}, names=["region", "district"])
)
TABLE = Domain(a=range(20), b=range(50))


def admitted_and_all(marginals, per_answer):
    """Admitted and applicants, by each of these marginals."""
    names = [name for marginal in marginals for name in (f"{marginal} outcome=admitted".strip(), marginal)]
    return Workload(DEPARTMENTS, dict.fromkeys(names, 1), per_answer=per_answer)


def constants(bounds):
    """The bounds on plans, in units of the variance of the whole level's noise."""
    at = float(precision(1.0))
    return {kind: bound.value * at for kind, bound in bounds.by_class().items()}


@pytest.mark.parametrize(
    ("wanted", "gamma", "chord"),
    [
        (admitted_and_all(MARGINS[:1], True), 31.416, 31.416),
        (admitted_and_all(MARGINS, True), 95.195, 95.195),
        (admitted_and_all(MARGINS, False), 23.385, 23.385),
        (Workload(PLACES, {"district": 1, "region": 1, "": 1}), 8.0855, 8.0855),
        (Workload(TABLE, {"a b": 1, "a": 1, "b": 1}, per_answer=True), 1689.115, 1689.733),
        (Workload(TABLE, {"a b": 1, "a": 1, "b": 1, "": 1}), 14.9294, 14.9294),
    ],
)
def test_the_constants_of_known_workloads(wanted, gamma, chord):
    """Gamma and K of Berkeley's marginals, of a tree of 8 x 25, of a table of 20 x 50."""
    bounds = bounds_of(wanted, ONE, 1)
    check_lower_bounds(bounds)
    found = constants(bounds)
    assert found["any integer plan"] == pytest.approx(gamma, rel=3e-5)
    assert found["given marginals"] == pytest.approx(chord, rel=3e-5)
    assert found["any unbiased"] == pytest.approx(gamma / 2, rel=3e-5)
    assert found["per answer"] == pytest.approx(float(wanted.weight), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "gamma", "chord"), [("ranges", 12.356, 18.049), ("prefixes", 8.735, 12.623)])
def test_the_constants_of_ranges_and_prefixes_of_1024_bins(kind, gamma, chord):
    wanted = getattr(Workload, kind)(Domain(age=bins(1024)), "age")
    bounds = bounds_of(wanted, ONE, 1)
    check_lower_bounds(bounds)
    assert constants(bounds)["any integer plan"] == pytest.approx(gamma, abs=1e-3)
    assert constants(bounds)["given marginals"] == pytest.approx(chord, abs=1e-3)


def test_an_axis_that_is_summed_over_does_not_raise_a_bound():
    """Ranges of x over a domain of x and y, or of x alone: one problem, as cells that are added up are worth one."""
    alone = bounds_of(Workload.ranges(Domain(x=bins(6)), "x"), ONE, 1)
    beside = Domain(x=bins(6), y=range(3), z=["a", "b"])
    bounds = bounds_of(Workload.ranges(beside, "x"), ONE, 1)
    check_lower_bounds(bounds)
    for kind, bound in alone.by_class().items():
        assert bounds.by_class()[kind].value == pytest.approx(bound.value, rel=1e-4)


def test_no_integer_rows_are_below_their_bound():
    """Random integer rows with loads at most E, dense least squares: never below v(E) Gamma; ranges and marginals."""
    random = np.random.default_rng(4)
    for wanted in (Workload.ranges(Domain(age=bins(5)), "age"), Workload(Domain(a=range(5)), {"a": 1, "": 3})):
        least = bounds_of(wanted, ONE, 2).any_integer_plan.value
        for _ in range(100):
            rows = np.vstack([random.integers(-3, 4, (7, 5)), np.eye(5)])
            levels = random.gamma(0.3, size=12) + 1e-4
            levels *= 2 / (levels @ abs(rows)).max()
            information = rows.T @ (precision(levels)[:, None] * rows)
            assert np.trace(wanted.gram() @ np.linalg.inv(information)) >= least


@pytest.mark.parametrize(("up", "down"), [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (2, 2)])
def test_directions_bound_every_information_that_keeps_the_promise(up, down):
    """tr(M X^-1) >= the bound for every X with d'Xd <= 1 for all such d, by brute force."""
    domain = Domain(a=range(3), b=range(2))
    wanted = Workload(domain, {"a b": 1, "a": 2, "": 3})
    blocks = VarianceComponents.of(domain)
    bound = float(directions_below(blocks, exact_spectrum(wanted, blocks), Directions(up, down)))
    directions = []
    for ups in combinations(range(6), up):
        for downs in combinations(sorted(set(range(6)) - set(ups)), down):
            directions.append(np.array([(i in ups) - (i in downs) for i in range(6)]))
    directions = np.array(directions)
    random, matrix, seen = np.random.default_rng(5), wanted.gram(), []
    projections = [np.ones((6, 6)) / 6, np.eye(6) - np.ones((6, 6)) / 6]
    for trial in range(100):
        root = random.normal(size=(6, 6))
        information = (
            root @ root.T
            if trial % 2
            else sum(w * p for w, p in zip(random.gamma(0.5, size=2), projections, strict=True))
        )
        information = information + 1e-6 * np.eye(6)
        information /= np.einsum("ki,ij,kj->k", directions, information, directions).max()
        seen.append(np.trace(matrix @ np.linalg.inv(information)))
    assert min(seen) >= bound
    if up != down:
        assert min(seen) <= 2 * bound


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", 1, 3, 10])
def test_an_answer_of_sensitivity_one_is_bounded_by_the_geometric_distribution(epsilon):
    """Attained: geometric noise, in its exact variance; never above it."""
    bound = answer_below(level(epsilon), Fraction(1), True)
    assert float(bound) == pytest.approx(float(Geometric(epsilon).variance()), rel=1e-12)


def half_staircase(epsilon, D, steps):
    """The second moment of the staircase on the integers plus a half, with ``steps`` high points on either side."""
    places = np.arange(int(60 * D / min(epsilon, 1)) + 2 * D)
    weights = np.exp(-epsilon * np.floor((places - steps + D) / D))
    return float((weights * (places + 0.5) ** 2).sum() / weights.sum())


@pytest.mark.parametrize(("epsilon", "D"), [(0.1, 2), (1, 2), (1, 3), (0.5, 4), (2, 7), (5, 2), (8, 50)])
def test_an_answer_of_larger_sensitivity_is_bounded_by_the_staircase_on_the_reals(epsilon, D):
    """Below the best noise on Z and on Z + 1/2, and near the better one for little epsilon."""
    bound = float(answer_below(level(epsilon), Fraction(D), True))
    whole = float(DiscreteStaircase(epsilon, D, costs.squared).variance())
    half = min(half_staircase(epsilon, D, steps) for steps in range(1, D + 1))
    assert bound <= min(whole, half)
    assert bound >= float(Staircase(epsilon, D, cost=costs.squared).variance()) - 1 / 12 - 1e-9
    if epsilon <= 1:
        assert bound >= min(whole, half) * 0.93


@pytest.mark.parametrize(
    "unit", [Unit(1, 3), Unit(2, 1), Unit(1, 1, "change-one"), Unit(3, 2, "change-one"), Unit("1/2", 2)]
)
def test_units_of_every_kind(unit):
    """The bounds are proved, the plan that measures all cells is above them, and grows at least as they do."""
    wanted = Workload(TABLE, {"a b": 1, "a": 1})
    bounds = bounds_of(wanted, unit, 2)
    check_lower_bounds(bounds)
    cells = float((1 + 50) / precision(2 / (unit.epsilon_parts * float(unit.sensitivity))))
    assert all(1 <= factor < 200 for factor in bounds.ratios(cells).values())
    assert bounds.any_unbiased.value >= bounds_of(wanted, Unit(unit.sensitivity, 1), 2).any_unbiased.value


@pytest.mark.parametrize(
    ("domain", "epsilon"),
    [(Domain(only=["one"]), "1e-30"), (Domain(age=bins(5)), "1e-6"), (Domain(a=range(3), b=["x"]), 5000)],
)
def test_extreme_levels_and_domains(domain, epsilon):
    """One cell, axes of one value, levels that hide nothing or everything: proved, and never above the cells' own."""
    wanted = Workload(domain, {domain.finest: 1, domain.columns[0] + f"={domain.axes[0].labels[0][0]}": 1})
    bounds = bounds_of(wanted, ONE, epsilon)
    check_lower_bounds(bounds)
    assert all(
        0 <= bound.value <= 2 * float(variance_below(level(epsilon))) * (1 + 1e-12)
        for bound in bounds.by_class().values()
    )


def test_huge_numbers():
    """Weights and sensitivities of thirty digits."""
    wanted = Workload(Domain(age=bins(4)), {"age": 10**30, "age=1": "1e-30"})
    bounds = bounds_of(wanted, Unit(10**30, 10**30), 1)
    check_lower_bounds(bounds)
    assert bounds.any_integer_plan.value > 1e90


def test_what_is_not_bounded_says_why():
    """Trees of unequal groups have no closed form over marginals; long ordered axes no matrix."""
    states = hierarchy({"A": ["a1"], "B": ["b1", "b2"]}, names=["state", "county"])
    bounds = bounds_of(Workload(Domain(place=states), {"county": 1, "state": 1}), ONE, 1)
    check_lower_bounds(bounds)
    assert bounds.given_marginals is None
    assert "all groups of a level must have the same size" in bounds.not_bounded["given marginals"]
    assert bounds.any_unbiased.value > 0
    long = bounds_of(Workload.prefixes(Domain(age=bins(4096)), "age"), ONE, 1)
    assert long.any_unbiased is None
    assert "at most 2000 values" in long.not_bounded["any unbiased"]
    assert long.given_marginals.value > 0
    short = bounds_of(Workload(TABLE, {"a b": 1}), ONE, 1, marginals=["a"])
    assert short.not_bounded == {"given marginals": "the given marginals do not determine every wanted answer"}


WANTED = Workload.ranges(Domain(age=bins(8)), "age")
PROVED = bounds_of(WANTED, ONE, 1)


def test_values_survive_pickling_and_copying():
    for twin in (pickle.loads(pickle.dumps(PROVED)), copy.deepcopy(PROVED)):
        check_lower_bounds(twin)
        assert twin.ratios(100.0) == PROVED.ratios(100.0)


@pytest.mark.parametrize("kind", ["per_answer", "any_mechanism", "any_unbiased", "any_integer_plan", "given_marginals"])
def test_a_larger_value_is_refused(kind):
    bound = getattr(PROVED, kind)
    with pytest.raises(PromiseBroken, match="the bound"):
        check_lower_bounds(replace(PROVED, **{kind: replace(bound, value=math.nextafter(bound.value, math.inf))}))


def tampered_roots():
    roots = PROVED.any_unbiased.certificate
    larger = roots.roots[0] * 101 // 100
    crooked = roots.roots[0].copy()
    crooked[0, 1] += 1
    return [
        replace(roots, roots=(larger,)),
        replace(roots, roots=(crooked,)),
        replace(roots, weights=(0, *roots.weights[1:])),
        replace(roots, weights=roots.weights[1:]),
        replace(roots, bits=(roots.bits[0] - 1,)),
        Directions(1),
        Directions(5),
        None,
    ]


@pytest.mark.parametrize("certificate", tampered_roots())
def test_tampered_roots_prove_nothing(certificate):
    for kind in ("any_mechanism", "any_unbiased"):
        bad = replace(PROVED, **{kind: replace(getattr(PROVED, kind), certificate=certificate)})
        with pytest.raises(PromiseBroken):
            check_lower_bounds(bad)


def test_tampered_shares_and_directions_prove_nothing():
    shares = PROVED.given_marginals.certificate.shares
    for other in (
        (Fraction(2),) * len(shares),
        (Fraction(-1), *shares[1:]),
        shares[1:],
        (*shares[:-2], Fraction(0), Fraction(0)),
    ):
        bad = replace(PROVED, given_marginals=replace(PROVED.given_marginals, certificate=ChordShares(other)))
        with pytest.raises(PromiseBroken):
            check_lower_bounds(bad)
    marginals = bounds_of(Workload(TABLE, {"a b": 1}), Unit(1, 2), 1)
    half = Fraction(3, 2)  # of no cells: the mean of squares would be too large
    others = Directions(half), Directions(1, 0, None, half), Directions(1, 0, None, 2), Directions(True)
    for other in (Directions(3), Directions(2, 1), Directions(0), Directions(10**6), Directions(-1, 2), *others):
        bad = replace(marginals, any_unbiased=replace(marginals.any_unbiased, certificate=other))
        with pytest.raises(PromiseBroken):
            check_lower_bounds(bad)
    for other in (Directions(3), MixedDirections((Directions(1), Directions(1, 1)), (Fraction(1, 2),) * 2)):
        more = replace(marginals.any_integer_plan, certificate=other)
        with pytest.raises(PromiseBroken, match="possible"):
            check_lower_bounds(replace(marginals, any_integer_plan=more))
    for weights in ((Fraction(1),), (Fraction(2), Fraction(-1)), (Fraction(1, 2),) * 3):
        mixed = MixedDirections((Directions(1), Directions(2)), weights)
        with pytest.raises(PromiseBroken, match="weights of the changes"):
            check_lower_bounds(replace(marginals, any_unbiased=replace(marginals.any_unbiased, certificate=mixed)))
    with pytest.raises(PromiseBroken, match="bound of each part"):
        check_lower_bounds(replace(marginals, parts=(1e9,)))


def test_the_matrix_inequality_holds_for_any_certificate():
    """However wrong Z is, what is proved of M = 1 stays below Gamma = 5."""
    random = np.random.default_rng(7)
    part = MatrixPart(np.eye(5, dtype=int).astype(object), 1, 1)
    for _ in range(200):
        root = random.integers(-50, 300, (5, 5))
        root = (root + root.T).astype(object)
        proven = matrix_below(
            [part], MatrixRoots(tuple(random.integers(1, 30, 5).tolist()), (root,), (int(random.integers(0, 10)),))
        )
        assert proven <= 5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9])
def test_a_bound_that_is_no_number_or_too_large_is_refused(value):
    bounds = bounds_of(Workload(TABLE, {"a b": 1, "a": 1}), ONE, 2)
    check_lower_bounds(bounds)
    forged = [
        replace(bounds, **{name: replace(getattr(bounds, name), value=value)})
        for name in ("per_answer", "any_mechanism", "any_unbiased", "any_integer_plan", "given_marginals")
    ]
    for one in [*forged, replace(bounds, parts=(value, *bounds.parts[1:]))]:
        with pytest.raises(PromiseBroken):
            check_lower_bounds(one)


@pytest.mark.parametrize(
    ("epsilon", "least", "floor"), [("1/10", 1583.83, 791.42), (1, 15.516, 7.292), (3, 1.4642, 0.4371)]
)
def test_bounds_are_of_what_one_individual_may_change(epsilon, least, floor):
    """Cells and their total under change-one, counts: halves are certified as the best shares, and no bound for
    plans is above them; whoever does not know the sign pays four times as much and has bounds of its own."""
    wanted = Workload(Domain(cell=[*range(100)]), {"cell": 1, "": 1})
    unit = Unit(1, 1, "change-one", nonnegative=True)
    bounds, found = bounds_of(wanted, unit, epsilon), certified_shares(wanted, unit, epsilon)
    check_lower_bounds(bounds)
    own = (
        math.cosh(float(Fraction(epsilon)) / 2) - 1
    )  # precision of noise of level epsilon/2, of each cell and the total
    covariance = np.linalg.inv(own * np.eye(100) + own * np.ones((100, 100)))
    error = float(covariance.diagonal().mean() + covariance.sum())
    assert error == pytest.approx(least, rel=1e-4)
    assert found.is_certified
    assert found.value == pytest.approx(error, rel=1e-9)
    assert list(found.shares.values()) == pytest.approx([1, 1])
    assert bounds.any_integer_plan.value == pytest.approx(floor, rel=1e-3)
    assert bounds.any_unbiased.value < bounds.any_integer_plan.value < bounds.given_marginals.value < found.bound
    unknown = replace(unit, nonnegative=False)
    assert bounds_of(wanted, unknown, epsilon).any_integer_plan.value > error
    assert certified_shares(wanted, unknown, epsilon).value == pytest.approx(4 * error, rel=0.2)


def test_the_total_alone_is_bounded_by_what_it_needs():
    """Replacing a record leaves a total of counts where it is, and six cells are not more than there are."""
    wanted, least = Workload(Domain(), {"": 1}), float(1 / precision(1.0))
    for unit in (Unit(1, 1, "change-one", nonnegative=True), Unit(1, 6), Unit(1, 6, "change-one", nonnegative=True)):
        assert choose_plan(wanted, unit, epsilon=1).value == pytest.approx(least)
        for kind, bound in bounds_of(wanted, unit, 1).by_class().items():
            assert bound.value == pytest.approx(least / (2 if kind == "any unbiased" else 1), rel=1e-6)


UNITS = [
    Unit(1, 1),
    Unit(2, 3),
    *(Unit(1, k, "change-one", nonnegative=known) for k in (1, 2, 4) for known in (False, True)),
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_no_plan_that_keeps_the_level_is_below_a_bound_for_plans(unit):
    """Random levels of all marginals, as large as their charge allows."""
    random, wanted = np.random.default_rng(5), Workload(TABLE, {"a b": 1, "a": 2, "": 1})
    epsilon = Fraction(1, 4) if UNITS.index(unit) % 2 else 3
    bounds = bounds_of(wanted, unit, epsilon)
    check_lower_bounds(bounds)
    least = max(bound.value for bound in bounds.by_class().values())
    for _ in range(10):
        levels = [Fraction(int(one), 100) for one in random.integers(1, 60, 4)]
        parts = dict(zip(TABLE.marginals(), levels, strict=True))
        charge = charge_of(TABLE, unit, parts)
        shares = {marginal: part / charge for marginal, part in parts.items()}
        tried = Plan(TABLE, unit, shares, wanted, level(epsilon))
        assert tried.charge == 1
        assert tried.value >= least
    assert choose_plan(wanted, unit, epsilon=epsilon).value >= least


@given(st.sampled_from(UNITS), st.integers(2, 9))
def test_certified_shares_are_not_above_those_of_the_search(unit, cells):
    wanted = Workload(Domain(cell=range(cells)), {"cell": 1, "": 3})
    found = certified_shares(wanted, unit, 1)
    searched = choose_plan(wanted, unit, epsilon=1, aim="mean", method="marginals")
    assert found.is_certified
    assert found.bound <= searched.value <= found.value * 1.001
    shares = {marginal: Fraction(share) for marginal, share in found.shares.items() if share}
    assert charge_of(wanted.domain, unit, shares) == pytest.approx(1)


SMALL = Domain(a=range(4), b=range(3))


@pytest.mark.parametrize("epsilon", ["1e-6", 1, 50])
@pytest.mark.parametrize(
    "wanted",
    [
        Workload(SMALL, {"a b": 1}),
        Workload(SMALL, {"a": 3}),
        Workload(SMALL, {"": 1}),
        Workload(Domain(age=bins(5)), {"age": 1}),
        Workload(Domain(x=bins(6)), {"x=1": 1, "x=4": 1}),
    ],
    ids=["cells", "groups", "total", "bins", "two of six"],
)
def test_geometric_noise_attains_it_where_answers_do_not_overlap(wanted, epsilon):
    bound = bounds_of(wanted, ONE, epsilon).any_mechanism
    exact = float(wanted.weight * variance_below(level(epsilon)))
    assert exact * (1 - 1e-7) <= bound.value <= exact * (1 + 1e-14)


def least_distribution(matrix, epsilon, shifts, offset, far=7):
    """The least E z'Mz over all z on a box of Z^2 + offset that keep the level under the shifts, as far as it goes.

    The box holds all z of less than the mean, so a distribution outside is worse, and one cut off to it is no worse
    than before.
    """
    places = list(product(range(-far, far + 1), repeat=2))
    number = {place: at for at, place in enumerate(places)}
    rows, ratio = [], np.exp(epsilon)
    for place in places:
        for shift in shifts:
            other = number.get((place[0] + shift[0], place[1] + shift[1]))
            if other is not None:
                rows += [(number[place], other), (other, number[place])]
    low, high = np.array(rows).T
    each = np.arange(len(rows))
    entries = np.concatenate([np.ones(len(rows)), np.full(len(rows), -ratio)])
    inequalities = coo_matrix((entries, (np.tile(each, 2), np.concatenate([low, high]))))
    z = np.array(places) + offset
    found = linprog(
        np.einsum("ni,ij,nj->n", z, matrix, z),
        A_ub=inequalities,
        b_ub=np.zeros(len(rows)),
        A_eq=np.ones((1, len(places))),
        b_eq=[1],
    )
    return found.fun


KINDS = {
    "add-remove": (Unit(1, 1), [(1, 0), (0, 1)]),
    "both cells": (Unit(1, 2), [(1, 0), (0, 1), (1, 1)]),
    "change-one": (Unit(1, 1, "change-one"), [(1, 0), (0, 1), (1, -1)]),
    "twice": (Unit(2, 1), [(1, 0), (0, 1), (2, 0), (0, 2)]),
}


@pytest.mark.parametrize(("kind", "offset"), [*zip(KINDS, cycle([(0, 0), (0.3, -0.1)]))])
def test_it_is_below_the_best_distribution_of_two_cells_by_a_linear_program(kind, offset):
    """Any distribution of errors, unbiased or not, for cells, their total and one of them; within 1.7 of the least."""
    unit, shifts = KINDS[kind]
    domain = Domain(x=bins(2))
    for weights in ({"x": 1}, {"x": 1, "": 1}, {"x": 1, "": 5}, {"x=1": 3, "": 1}):
        wanted = Workload(domain, weights)
        bounds = bounds_of(wanted, unit, 4)
        check_lower_bounds(bounds)
        least = least_distribution(wanted.gram(), 4.0, shifts, np.array(offset))
        assert bounds.per_answer.value <= bounds.any_mechanism.value <= least * (1 + 1e-4)
        if offset == (0, 0):
            assert least <= 1.7 * bounds.any_mechanism.value


def test_no_plan_is_below_it():
    """Random workloads of marginals, ranges and trees, and units of every kind."""
    random = np.random.default_rng(2)
    place = hierarchy({"A": ["a1", "a2"], "B": ["b1", "b2"]}, names=["state", "county"])
    domains = [SMALL, Domain(place=place), Domain(place=place, sex=["m", "w"]), Domain(only=["one"])]
    units = [ONE, Unit(1, 3), Unit(3, 1), Unit(1, 1, "change-one"), Unit(2, 2, "change-one")]
    units += [Unit(1, 2, "change-one", nonnegative=True), Unit(2, 3, in_total=3)]
    for place, unit in enumerate(units):
        for domain in domains[place % 2 :: 2]:
            marginals = list(domain.marginals())
            picked = random.choice(len(marginals), size=random.integers(1, len(marginals) + 1), replace=False)
            wanted = Workload(domain, {marginals[i]: int(random.integers(1, 50)) for i in picked})
            epsilon = Fraction(int(random.choice([1, 10, 40])), 10)
            bounds = bounds_of(wanted, unit, epsilon)
            check_lower_bounds(bounds)
            least = bounds.any_mechanism.value
            assert bounds.per_answer.value <= least <= choose_plan(wanted, unit, epsilon=epsilon).value * (1 + 1e-9)


def test_whole_steps_of_a_larger_sensitivity_count():
    """An individual who adds 0, 1 or 2 is bounded by the staircase, and one of halves by geometric noise alone."""
    wanted = Workload(Domain(x=bins(3)), {"x": 1, "": 1})
    single = bounds_of(wanted, ONE, 3).any_mechanism.value
    for sensitivity, whole in ((2, True), (Fraction(5, 2), False)):
        larger = bounds_of(wanted, Unit(sensitivity, 1), 3).any_mechanism.value
        least = answer_below(level(3), Fraction(sensitivity), whole) / variance_below(level(3))
        assert larger == pytest.approx(single * float(least), rel=1e-12)
    shared = Unit(2, 1, amount=Amount("spent", between=(0, 2)))
    assert bounds_of(wanted, shared, 3).any_mechanism.value == pytest.approx(4 * single, rel=1e-12)


def test_where_no_certificate_is_searched_it_is_that_of_each_answer():
    """4096 bins have no matrix; and who is in many cells of one sum moves it by many."""
    long = bounds_of(Workload.prefixes(Domain(age=bins(4096)), "age"), ONE, 1)
    check_lower_bounds(long)
    total = bounds_of(Workload.ranges(Domain(age=bins(9)), "age", weight=1), Unit(1, 9), 1)
    check_lower_bounds(total)
    for bounds in (long, total):
        assert bounds.any_mechanism.certificate is None
        assert bounds.any_mechanism.value == bounds.per_answer.value
        forged = replace(bounds.any_mechanism, value=bounds.per_answer.value * (1 + 1e-9))
        with pytest.raises(PromiseBroken, match="the bound"):
            check_lower_bounds(replace(bounds, any_mechanism=forged))


def test_nobody_adds_to_a_cell_where_totals_are_public():
    """A forged certificate for a unit of which everybody is in one cell proves nothing, of any class."""
    wanted = Workload(SMALL, {"a b": 1})
    public = bounds_of(wanted, Unit(1, 1, "change-one", nonnegative=True, exactly=True), 1)
    assert public.any_mechanism is None
    assert "any mechanism" in public.not_bounded
    check_lower_bounds(public)
    known = bounds_of(wanted, Unit(1, 1, "change-one", nonnegative=True), 1)
    for kind in ("any_mechanism", "any_unbiased", "any_integer_plan"):
        with pytest.raises(PromiseBroken, match="not public"):
            check_lower_bounds(replace(public, **{kind: getattr(known, kind)}))
    larger = replace(known.any_mechanism, certificate=Directions(2))
    with pytest.raises(PromiseBroken, match="possible"):
        check_lower_bounds(replace(known, any_mechanism=larger))
    assert answers_below(wanted, known.unit, known.level)


@pytest.mark.parametrize(
    ("unit", "epsilon"),
    [
        (Unit(1, 3, nonnegative=True), "1/10"),
        (Unit(1, 2, "change-one"), 3),
        (Unit(1, 4), "1/10"),
    ],
    ids=repr,
)
def test_whole_rows_have_bounds_of_their_own(unit, epsilon):
    """Of one row they are those of as many cells, of several rows larger; the plan is above them."""
    k = 3 if unit.cells == 3 else 2
    values = {}
    for rows in (1, 4):
        wanted = Workload(Domain(row=range(rows), kind=range(k)), {"row kind": 1})
        bounds = bounds_of(wanted, unit, epsilon, together="kind")
        check_lower_bounds(bounds)
        assert bounds.per_answer.value < bounds.any_mechanism.value
        values[rows] = bounds.any_mechanism.value
        for other in (None, "row", "nowhere"):
            with pytest.raises(PromiseBroken, match=r"possible for one individual|name an axis|whole rows"):
                check_lower_bounds(replace(bounds, together=other))
    plan = choose_plan(wanted, unit, epsilon=epsilon, together="kind")
    assert values[4] <= plan.value
    assert plan.lower_bounds.any_mechanism.value == values[4]
    several = unit.cells > k or unit.neighbours == "change-one"
    assert values[4] > 1.2 * values[1] if several else values[4] == pytest.approx(values[1], rel=1e-9)
    if unit.cells == k:
        alone = bounds_of(Workload(Domain(kind=range(k)), {"kind": 1}), unit, epsilon).any_mechanism
        assert values[1] == pytest.approx(alone.value, rel=1e-9)


@pytest.mark.parametrize(
    ("certificate", "within"),
    [
        (Directions(1, 0, 1), [(1, 0), (0, 1)]),
        (Directions(1, 1, 1), [(1, -1), (-1, 1)]),
        (Directions(1, 0, 1, 2), [(1, 0), (0, 1)]),
        (Directions(2, 0, 1, 2), [(1, 1)]),
        (Directions(1, 0, 1, 1, 1), [(1, 0), (0, 1)]),
        (Directions(1, 1, 1, 2, 1), [(1, -1), (-1, 1)]),
    ],
    ids=repr,
)
def test_directions_along_an_axis_bound_every_information(certificate, within):
    """The constant is the trace norm of dense matrices, and tr(M X^-1) is above it for all X with d'Xd <= 1."""
    domain = Domain(row=range(3), kind=range(2))
    wanted = Workload(domain, {"row kind": 1, "kind": 2, "": 3})
    blocks = VarianceComponents.of(domain, (), wanted.eigenspaces)
    random, matrix = np.random.default_rng(5), wanted.gram()
    bound = float(directions_below(blocks, exact_spectrum(wanted, blocks), certificate))
    up, down = certificate.rows, certificate.rows_down
    rows = set(permutations([1] * up + [-1] * down + [0] * (3 - up - down)))
    directions = np.array([np.kron(row, change) for row in rows for change in within])
    values, vectors = np.linalg.eigh(matrix)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    squares = np.linalg.eigvalsh(root @ (directions.T @ directions) @ root / len(directions))
    assert bound == pytest.approx(np.sqrt(np.maximum(squares, 0)).sum() ** 2, rel=1e-6)
    for _ in range(100):
        factor = random.normal(size=(6, 6))
        information = factor @ factor.T + 1e-6 * np.eye(6)
        information /= np.einsum("ki,ij,kj->k", directions, information, directions).max()
        assert np.trace(matrix @ np.linalg.inv(information)) >= bound


@pytest.mark.parametrize(
    ("together", "unit"), [("nowhere", Unit(1, 2)), ("kind", Unit(1, 3)), ("kind", Unit(1, 2, in_total=1))]
)
def test_rows_that_are_none_are_refused(together, unit):
    wanted = Workload(Domain(row=range(3), kind=range(2)), {"row kind": 1})
    with pytest.raises(OutOfRange):
        bounds_of(wanted, unit, 1, together=together)


@pytest.mark.parametrize("neighbours", ["add-remove", "change-one"])
@pytest.mark.parametrize("cells", [2, 4])
def test_a_direction_of_several_rows_is_what_one_individual_can_change(neighbours, cells):
    """Against all records of a table of three rows and two columns: every such change is one, or none is."""
    unit = Unit(1, cells, neighbours, nonnegative=True)
    records = [
        record
        for record in product((0, 1), repeat=6)
        if sum(any(record[at : at + 2]) for at in (0, 2, 4)) <= cells // 2
    ]
    changes, few = set(records), cells // 2
    if neighbours == "change-one":
        changes = {tuple(a - b for a, b in zip(new, old, strict=True)) for new in records for old in records}
    for up, down, rows, rows_down in product(range(3), range(3), range(4), range(4)):
        if not (1 <= up + down <= 2 and 1 <= rows + rows_down <= 3):
            continue
        patterns = set(permutations([1] * up + [-1] * down + [0] * (2 - up - down)))
        places = set(permutations([1] * rows + [-1] * rows_down + [0] * (3 - rows - rows_down)))
        directions = {tuple(np.kron(place, pattern)) for place in places for pattern in patterns}
        possible = is_possible(Directions(up, down, 1, rows, rows_down), unit, 2, few)
        if rows:
            assert possible == (directions <= changes), (up, down, rows, rows_down)


def test_individuals_in_several_rows_have_a_bound_of_several_rows():
    """Of two rows more than of one; no plan is below it; what nobody can change is refused."""
    wanted = Workload(Domain(row=range(4), kind=range(3)), {"row kind": 1, "kind": 1, "": 1})
    for unit in (
        Unit(1, 6, nonnegative=True),
        Unit(1, 6, "change-one", nonnegative=True),
        Unit(2, 6, nonnegative=True),
    ):
        bounds = bounds_of(wanted, unit, 1, together="kind")
        check_lower_bounds(bounds)
        single = bounds_of(wanted, replace(unit, cells=3), 1, together="kind")
        for kind, bound in bounds.by_class().items():
            assert bound.value > single.by_class()[kind].value * 1.3, kind
        assert bounds.any_mechanism.value <= choose_plan(wanted, unit, epsilon=1, together="kind").value
        with pytest.raises(PromiseBroken):
            check_lower_bounds(replace(single, any_unbiased=bounds.any_unbiased))
        with pytest.raises(PromiseBroken):
            check_lower_bounds(replace(single, per_answer=bounds.per_answer))
