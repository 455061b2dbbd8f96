"""Sums and differences of two columns that one individual changes together: privacy, error, estimates, the choice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import OutOfRange, Unsupported
from utmost.exact import level
from utmost.noise import RotatedPair
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, check_lower_bounds, choose_plan

PLACES = Domain(row=list("ABC"), column=["visits", "nights"])
WANTED = Workload(PLACES, {"row column": 1, "column": 1, "row": 1, "": 1})


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
