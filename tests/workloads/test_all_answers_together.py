"""The bound for all answers together, of any mechanism: attained, below the best noise of two cells, and checked."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from utmost.errors import OutOfRange, PromiseBroken
from utmost.exact import level
from utmost.privacy import Amount, Unit

# An inequality holds for every certificate, and a bound shows one of them.
from utmost.publish.workloads.bounds.bound_inequalities import (
    Directions,
    answer_below,
    directions_below,
    variance_below,
)
from utmost.publish.workloads.bounds.workload_evidence import answers_below, exact_spectrum, is_possible
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.workloads import Domain, Workload, bins, bounds_of, check_lower_bounds, choose_plan, hierarchy

ONE = Unit(1, 1)
TABLE = Domain(a=range(4), b=range(3))


@pytest.mark.parametrize("epsilon", ["1e-6", "1/10", 1, 50])
@pytest.mark.parametrize(
    "wanted",
    [
        Workload(TABLE, {"a b": 1}),
        Workload(TABLE, {"a": 3}),
        Workload(TABLE, {"": 1}),
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", [(0, 0), (0.3, -0.1)], ids=str)
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


def test_turned_coordinates_add_up_to_it():
    """The proof by hand: directions of the polar factor, in each the bound for one number, for any weights of cells."""
    random = np.random.default_rng(1)
    for wanted in (Workload.ranges(Domain(x=bins(6)), "x"), Workload(TABLE, {"a b": 1, "a": 2, "": 1})):
        bound = bounds_of(wanted, ONE, 1).any_mechanism.value / float(variance_below(level(1)))
        values, vectors = np.linalg.eigh(wanted.gram())
        answers = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T  # any root of M: its rows are answers turned
        best = 0.0
        for trial in range(200):
            n = len(values)
            y = random.dirichlet(np.full(n, 5.0)) if trial else np.full(n, 1 / n)
            left, singular, right = np.linalg.svd(answers * np.sqrt(y), full_matrices=False)
            turned = left @ right
            assert np.linalg.eigvalsh(turned @ turned.T).max() <= 1 + 1e-9
            moved = np.einsum("rj,rj->j", turned, answers)
            assert (moved**2).sum() >= singular.sum() ** 2 * (1 - 1e-9)
            best = max(best, singular.sum() ** 2)
        assert best * 0.98 <= bound
        assert bound <= best * 1.1


def test_no_plan_is_below_it():
    """Random workloads of marginals, ranges and trees, and units of every kind."""
    random = np.random.default_rng(2)
    place = hierarchy({"A": ["a1", "a2"], "B": ["b1", "b2"]}, names=["state", "county"])
    domains = [TABLE, Domain(place=place), Domain(place=place, sex=["m", "w"]), Domain(only=["one"])]
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
    wanted = Workload(TABLE, {"a b": 1})
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
        (Unit(1, 2), 3),
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
