"""Sums and differences of two columns that one individual changes together: privacy, error, estimates, the choice."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import OutOfRange, Unsupported
from utmost.exact import level
from utmost.noise import Geometric, RotatedPair
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bins, check_lower_bounds, choose_plan, hierarchy

PLACES = Domain(row=list("ABC"), column=["visits", "nights"])
WANTED = Workload(PLACES, {"row column": 1, "column": 1, "row": 1, "": 1})
SHARES = {"row column": "3/4", "column": "1/4", "row": "1/3", "": "2/3"}
ROTATED = Plan(PLACES, Unit(1, 2), SHARES, WANTED, level(1), together="column")


def rows_of(made):
    """The measured numbers as rows of coefficients on the cells, with the level of each."""
    n = made.domain.size
    units = [made.sums(np.eye(n, dtype=int)[j].reshape(made.domain.shape)) for j in range(n)]
    return {marginal: np.array([one[marginal].ravel() for one in units]).T for marginal in made.shares}


def moves(made, rows, s):
    """All changes of the cells of so many rows along the axis, each by at most s."""
    pair = made.pair
    places = np.arange(made.domain.size).reshape(made.domain.shape)
    lines = np.moveaxis(places, pair.place, -1).reshape(-1, 2)
    for chosen in itertools.combinations(range(len(lines)), rows):
        for change in itertools.product(range(-s, s + 1), repeat=2 * rows):
            d = np.zeros(made.domain.size, dtype=int)
            d[lines[list(chosen)].ravel()] = change
            yield d


@pytest.mark.parametrize(("unit", "rows"), [(Unit(1, 2), 1), (Unit(2, 2), 1), (Unit(1, 4), 2)])
def test_the_load_of_every_change_is_at_most_the_level_and_one_attains_it(unit, rows):
    """sum of level times |row . d|, over all changes d of whole rows, by enumeration in rationals."""
    made = Plan(PLACES, unit, SHARES, together="column")
    parts = [
        (matrix, made.levels(level(1))[marginal].epsilon / unit.sensitivity)
        for marginal, matrix in rows_of(made).items()
    ]
    loads = [
        sum(int(abs(matrix @ d).sum()) * at for matrix, at in parts) for d in moves(made, rows, int(unit.sensitivity))
    ]
    assert max(loads) == 1


def test_two_cells_of_different_rows_would_cost_more():
    """What is taken for granted is needed: one cell in each of two rows costs twice the level."""
    parts = [(matrix, ROTATED.levels(level(1))[marginal].epsilon) for marginal, matrix in rows_of(ROTATED).items()]
    d = np.array([1, 0, 1, 0, 0, 0])
    assert sum(int(abs(matrix @ d).sum()) * at for matrix, at in parts) == 2


def test_the_joint_distribution_of_what_is_measured_has_exactly_the_ratio():
    """P(y | x) / P(y | x + d) over a box of responses y is at most exp(epsilon) = 4, and attains it; in rationals."""
    made = Plan(Domain(column=["a", "b"]), Unit(1, 2), {"column": 1, "": 1}, together="column")
    distributions = {marginal: Geometric(at) for marginal, at in made.levels(level(alpha="1/4")).items()}
    matrices = rows_of(made)
    worst = Fraction(0)
    for d in itertools.product((-1, 0, 1), repeat=2):
        moved = [int((matrices[marginal] @ np.array(d)).item()) for marginal in distributions]
        for y in itertools.product(range(-3, 4), repeat=2):
            pairs = zip(distributions.values(), y, moved, strict=True)
            worst = max(
                worst,
                math.prod(
                    Fraction(distribution.pmf(z)) / Fraction(distribution.pmf(z - m)) for distribution, z, m in pairs
                ),
            )
    assert worst == 4


def dense(made, at):
    """The covariance of least squares for the cells, from the rows themselves."""
    parts = [(matrix, float(made.levels(at)[marginal].epsilon)) for marginal, matrix in rows_of(made).items()]
    information = sum((math.cosh(e) - 1) * matrix.T @ matrix for matrix, e in parts)
    return np.linalg.inv(information)


@given(
    st.sampled_from([(2, 3), (3, 2), (4, 2)]),
    st.booleans(),
    st.lists(st.integers(1, 9), min_size=8, max_size=8),
    st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(3)]),
)
def test_variances_are_those_of_dense_least_squares(shape, first, weights, epsilon):
    """The closed form of both sides against the inverse of the whole information matrix, every marginal wanted."""
    axes = {"a": range(shape[0]), "pair": ["x", "y"], "b": bins(4) if shape[1] == 3 else range(2)}
    domain = Domain({name: axes[name] for name in (("pair", "a", "b") if first else ("a", "b", "pair"))})
    place = domain.columns.index("pair")
    marginals = [marginal for marginal in domain.marginals() if marginal[place] in (0, 1)]
    parts, shares = dict(zip(marginals, itertools.cycle(weights), strict=False)), {}
    for side in (0, 1):  # differences of the pair, and sums
        of_side = {marginal: part for marginal, part in parts.items() if marginal[place] == side}
        shares |= {marginal: Fraction(part, sum(of_side.values())) for marginal, part in of_side.items()}
    wanted = Workload(domain, dict.fromkeys(marginals, 1)) + Workload.sums(domain, [{"pair": "x", "a": 0}])
    made = Plan(domain, Unit(1, 2), shares, wanted, level(epsilon), together="pair")
    covariance, found = dense(made, level(epsilon)), made.variances
    for part in wanted.parts:
        matrix = part.matrix(domain)
        assert found[part.name] == pytest.approx(np.einsum("ij,jk,ik->i", matrix, covariance, matrix).mean(), rel=1e-9)


def test_a_pair_has_half_the_variance_of_independent_noise():
    """Each cell that of the rotated pair, 3.918 at epsilon 1 against 7.835; every choice the better one."""
    wanted = Workload(PLACES, {"row column": 1})
    chosen = choose_plan(wanted, Unit(1, 2), epsilon=1, together="column")
    assert chosen.together == "column"
    assert chosen.variances["row column"] == pytest.approx(float(RotatedPair(1).variance))
    assert chosen.independent_times == pytest.approx(2)
    assert "2 times the error without differences" in chosen.summary()
    check_lower_bounds(chosen.lower_bounds)
    assert all(times >= 1 for times in chosen.lower_bounds.ratios(chosen.value).values())


@pytest.mark.parametrize("epsilon", ["1/10", 1, 3])
def test_no_plan_for_whole_rows_is_below_its_bound(epsilon):
    """Plans of sums, differences and cells with random shares, and the chosen one; near at small levels."""
    random = np.random.default_rng(3)
    chosen = choose_plan(WANTED, Unit(1, 2), epsilon=epsilon, together="column")
    bound = chosen.rows_bound
    assert chosen.value >= bound
    for _ in range(8):
        one, other = (Fraction(int(random.integers(1, 100)), 100) for _ in range(2))
        turned = {"row column": one, "column": 1 - one, "row": other, "": 1 - other}
        shares = {name: share for name, share in turned.items() if share}
        made = Plan(PLACES, Unit(1, 2), shares, WANTED, level(epsilon), together="column")
        assert made.value >= bound
        alone = {name: share for name, share in {"row column": one, "row": 1 - one}.items() if share}
        assert Plan(PLACES, Unit(1, 2), alone, WANTED, level(epsilon)).value >= bound


def test_the_bound_for_whole_rows_is_near_for_cells_at_a_small_level():
    cells = choose_plan(Workload(PLACES, {"row column": 1}), Unit(1, 2), epsilon="1/100", together="column")
    assert cells.value == pytest.approx(cells.rows_bound, rel=1e-4)
    one_column = Workload(PLACES, {"row column=nights": 1})
    assert choose_plan(one_column, Unit(1, 2), epsilon=1, together="column").rows_bound is None


def test_the_plainer_plan_is_taken_where_differences_do_not_help():
    """Only sums over the axis are wanted: nothing is gained, and nothing need be taken for granted."""
    sums = choose_plan(Workload(PLACES, {"row": 1, "": 1}), Unit(1, 2), epsilon=1, together="column")
    assert sums.together is None
    assert sums.independent_times == 1
    forbidden = choose_plan(WANTED, Unit(1, 2), epsilon=1, together="column", method="independent")
    assert forbidden.together is None
    rotated = choose_plan(WANTED, Unit(1, 2), epsilon=1, together="column", method="rotated")
    assert rotated.shares == choose_plan(WANTED, Unit(1, 2), epsilon=1, together="column").shares


@settings(max_examples=6)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), st.sampled_from(["1/10", 1, 3]))
def test_the_chosen_plan_is_never_worse_than_independent_noise(weights, epsilon):
    """2 times better at least where each wanted sum is of one column; never worse."""
    names = [name for name, weight in zip(("row column", "column", "row", ""), weights, strict=True) if weight]
    wanted = Workload(
        PLACES,
        {name: weight for name, weight in zip(("row column", "column", "row", ""), weights, strict=True) if weight},
    )
    alone = choose_plan(wanted, Unit(1, 2), epsilon=epsilon)
    chosen = choose_plan(wanted, Unit(1, 2), epsilon=epsilon, together="column")
    assert chosen.value <= alone.value * (1 + 1e-9)
    if all("column" in name for name in names):
        assert chosen.value <= alone.value / 2 * 1.001


def test_more_columns_in_pairs():
    """Four columns as pairs of two: one individual changes the four cells of one place, two rows of a pair."""
    domain = Domain(place=["a", "b", "c"], pair=[1, 2], side=["x", "y"])
    wanted = Workload(domain, {"place pair side": 1})
    chosen = choose_plan(wanted, Unit(1, 4), epsilon=1, together="side")
    assert chosen.independent_times == pytest.approx(2)
    assert chosen.variances["place pair side"] == pytest.approx(float(RotatedPair("1/2").variance))


def test_beside_levels_of_several_sizes():
    """Districts in uneven regions: regions are wanted, and made of districts' sums and differences."""
    place = hierarchy({"N": ["n1"], "S": ["s1", "s2"]}, names=["region", "district"])
    domain = Domain(place=place, column=["x", "y"])
    wanted = Workload(domain, {"region column": 1, "region": 1})
    chosen = choose_plan(wanted, Unit(1, 2), epsilon=1, together="column")
    covariance = dense(chosen, level(1))
    for part in wanted.parts:
        matrix = part.matrix(domain)
        assert chosen.variances[part.name] == pytest.approx(np.einsum("ij,jk,ik->i", matrix, covariance, matrix).mean())


def test_what_is_refused():
    """An axis of three values, half a row, shares that add up otherwise, sums that nothing determines."""
    three = Domain(row=["A", "B"], column=["a", "b", "c"])
    with pytest.raises(OutOfRange, match="multiple of"):
        choose_plan(Workload(three, {"column": 1}), Unit(1, 2), epsilon=1, together="column")
    with pytest.raises(Unsupported, match="nonnegative=True"):
        choose_plan(Workload(three, {"column": 1}), Unit(1, 3), epsilon=1, together="column")
    with pytest.raises(OutOfRange, match="multiple of"):
        choose_plan(WANTED, Unit(1, 3), epsilon=1, together="column")
    with pytest.raises(OutOfRange, match="and so must the shares of differences"):
        Plan(PLACES, Unit(1, 2), {"row column": "1/2", "row": "1/2"}, together="column")
    with pytest.raises(OutOfRange, match="determine"):
        Plan(PLACES, Unit(1, 2), {"row": 1}, WANTED, together="column")
    with pytest.raises(Unsupported, match="rotated sums"):
        choose_plan(WANTED, Unit(1, 2), epsilon=1, method="rotated")
    with pytest.raises(Unsupported, match="searched only without"):
        choose_plan(WANTED, Unit(1, 2), epsilon=1, together="column", aim="largest")
