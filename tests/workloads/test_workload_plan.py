"""The planner: published figures, loss of fixed shares, choices, refusals."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from utmost.errors import NotALevel, OutOfRange, Unsupported, UtmostError, WrongKind
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, hierarchy
from workload_cases import (
    BERKELEY,
    TWO_WAY,
    berkeley,
    dense_variance,
    geography,
    precision,
    tree_of,
    two_way,
)

ONE = Unit(1, 1)
FEW_RANGES = Workload.ranges(Domain(t=bins(64)), "t")
RANGES = Workload.ranges(Domain(t=bins(1024)), "t")
PREFIXES = Workload.prefixes(Domain(t=bins(1024)), "t")
THREE_WAY = Workload(
    Domain(a=range(20), b=range(20), c=range(25)),
    dict.fromkeys(("a b c", "a b", "a c", "b c", "a", "b", "c", ""), 1),
)


def in_units(found):
    """The weighted error, in units of the variance of noise at the whole level."""
    return found.value * float(precision(found.level.epsilon_float))


@pytest.mark.parametrize("epsilon", ["0.1", "3"])
@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (Workload(BERKELEY, {"department sex outcome=admitted": 12, "department sex": 12}), 36),
        (berkeley(per_answer=True), 144),
        (berkeley(), 63),
    ],
)
def test_berkeley_by_cells_alone(wanted, error, epsilon):
    """Three weightings at two levels: the cells alone in 5 of 6 settings."""
    found = choose_plan(wanted, ONE, epsilon=epsilon, aim="mean")
    if (error, epsilon) == (63, "0.1"):
        assert in_units(found) == pytest.approx(61.286, abs=1e-3)
        assert [float(share) for share in found.shares.values()] == pytest.approx([0.533, 0.467], abs=2e-3)
        assert [BERKELEY.marginal_name(marginal) for marginal in found.shares] == [
            "department sex outcome",
            "sex outcome",
        ]
    else:
        assert found.shares == {(0, 0, 0): 1}
        assert in_units(found) == pytest.approx(error, rel=1e-9)


FIGURES = [
    (two_way("a", "b", per_answer=True), (258.008, 427.381)),
    (THREE_WAY, (445.98, 864.96)),
    (RANGES, (77.312, 137.534)),
    (PREFIXES, (59.523, 110.170)),
]


@pytest.mark.parametrize(("wanted", "errors"), FIGURES)
def test_errors_of_the_best_found(wanted, errors):
    """20 x 50, 20 x 20 x 25, ranges and prefixes of 1024 bins, at epsilon 0.1 and 3, from marginals."""
    for epsilon, error in zip(("0.1", "3"), errors, strict=True):
        found = choose_plan(wanted, ONE, epsilon=epsilon, aim="mean", method="marginals")
        assert in_units(found) == pytest.approx(error, abs=1e-3, rel=2e-5)


def test_shares_are_tuned_at_the_highest_level_planned():
    found = choose_plan(berkeley(), ONE, epsilon="0.1", up_to=3)
    assert found.shares == {(0, 0, 0): 1}
    assert (found.level, found.tuned_at) == (level("0.1"), level(3))
    assert "shares tuned at epsilon=3" in str(found)
    with pytest.raises(NotALevel, match="up_to"):
        choose_plan(berkeley(), ONE, epsilon=2, up_to=1)


def test_the_usual_alternatives():
    wanted = Workload(Domain(place=tree_of(3, 5)), {"l0": 1, "l1": 1, "": 1})
    shown = choose_plan(wanted, ONE, epsilon=1).alternatives()
    assert list(shown.plans) == [
        "these shares",
        "every part alike",
        "every answer alike",
        "l0 above all",
        "l1 above all",
        "total above all",
        "least largest error",
        "cells alone",
    ]
    assert shown["cells alone"].shares == {(0,): 1}
    assert max(shown["least largest error"].variances.values()) == min(
        max(one.variances.values()) for one in shown.plans.values()
    )
    assert str(shown).splitlines()[0].split() == ["standard", "deviations", "l0", "l1", "total"]
    ranges = Workload.ranges(Domain(t=bins(64)), "t")
    assert list(choose_plan(ranges, ONE, epsilon=3).alternatives({}).plans) == ["these shares"]


def test_the_least_largest_error_of_geography():
    """16.045 for all three levels at epsilon 1, before shares are rounded: found, and not proved to be the least."""
    found = choose_plan(geography(), ONE, epsilon=1, aim="largest")
    assert max(found.variances.values()) == pytest.approx(16.045, rel=3e-3)
    assert max(found.variances.values()) >= 16.045 - 1e-3
    with pytest.raises(OutOfRange, match="mean, largest"):
        choose_plan(geography(), ONE, epsilon=1, aim="median")


def test_extreme_levels_have_plans():
    """epsilon 10^-6 and 50: at 50 nothing is spread that need not be."""
    assert choose_plan(geography(), ONE, epsilon="1e-6").value == pytest.approx(24.23517 * 2e12, rel=1e-3)
    assert choose_plan(geography(), ONE, epsilon=50).shares == {(0,): 1}
    marginals = choose_plan(two_way("a", "b"), ONE, epsilon=50)
    assert marginals.shares == {(0, 0): 1}
    only = choose_plan(two_way("a", "b"), ONE, epsilon=50, candidates=["a", "b"])
    assert only.shares == {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    alone = Workload(TWO_WAY, {"a b": 1})
    assert Plan(TWO_WAY, ONE, {"a b": 1}, alone, level(5000)).variances["a b"] < 1e-200
    assert Plan(TWO_WAY, ONE, {"a b": 1}, alone, level("1e-9")).variances["a b"] == pytest.approx(2e18)


def test_answers_that_are_not_determined_are_refused():
    for wrong in (
        lambda: Plan(TWO_WAY, ONE, {"a": 1}, two_way("a", "b")),
        lambda: Plan(TWO_WAY, ONE, {"a": "1/2", "b": "1/2"}, two_way("a b")),
        lambda: choose_plan(two_way("a b"), ONE, epsilon=1, candidates=["a", "b", ""]),
    ):
        with pytest.raises(OutOfRange, match="or a finer table; or"):
            wrong()
    assert Plan(TWO_WAY, ONE, {"a": 1}, two_way("a", "")).workload is not None


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: Plan(TWO_WAY, ONE, {"c": 1}), OutOfRange, "level of the given name"),
        (lambda: Plan(TWO_WAY, ONE, {(0, 5): 1}), OutOfRange, "level of the given name"),
        (lambda: Plan(TWO_WAY, ONE, {"a": "1/2", "b": "1/3"}), OutOfRange, "add up to 1"),
        (lambda: Plan(TWO_WAY, ONE, {"a": "3/2", "b": "-1/2"}), OutOfRange, "positive"),
        (lambda: Plan(TWO_WAY, ONE, {"a": 1}, geography()), OutOfRange, "must have the same domain"),
        (lambda: Plan(TWO_WAY, ONE, {"a": 1}).variances_at(level(1)), OutOfRange, "are known only for a workload"),
        (lambda: Plan(TWO_WAY, ONE, {"a": 1}, two_way("a")).variances, OutOfRange, "are known only at a level"),
        (lambda: choose_plan(two_way("a"), ONE, epsilon=-1), NotALevel, "positive"),
        (lambda: choose_plan(two_way("a"), ONE, epsilon=1, candidates=[]), OutOfRange, "at least one table"),
        (lambda: choose_plan(two_way("a"), ONE, epsilon=1, candidates=["d"]), OutOfRange, "level of the given name"),
        (lambda: choose_plan(TWO_WAY, ONE, epsilon=1), WrongKind, "Workload"),
        (lambda: choose_plan(two_way("a"), 1, epsilon=1), WrongKind, "Unit"),
    ],
)
def test_wrong_use_is_refused(wrong, error, says):
    with pytest.raises(error, match=says) as caught:
        wrong()
    assert isinstance(caught.value, UtmostError)


UNEVEN = Domain(
    place=hierarchy({"N": [f"n{i}" for i in range(9)], "S": ["s1"], "W": ["w1", "w2"]}, names=["region", "district"])
)


def test_a_tree_of_groups_of_several_sizes_has_a_plan():
    """The variances that it states are those of dense least squares, and it is refused what it cannot do."""
    wanted = Workload(UNEVEN, {"district": 1, "region": 3, "region=N": 2, "": 1})
    found = choose_plan(wanted, ONE, epsilon=1)
    levels = {marginal: float(share) for marginal, share in found.shares.items()}
    for part in wanted.parts:
        dense = np.mean([dense_variance(UNEVEN, levels, row) for row in part.matrix(UNEVEN)])
        assert found.variances[part.name] == pytest.approx(dense, rel=1e-9)
    assert found.value <= Plan(UNEVEN, ONE, {"district": 1}, wanted, level(1)).value
    assert list(found.alternatives({"districts": {"district": 1}}).plans) == ["these shares", "districts"]
    assert found.lower_bounds.ratios(found.value)["per answer"] >= 1
    with pytest.raises(OutOfRange, match="or a finer table; or"):
        Plan(UNEVEN, ONE, {"region": 1}, wanted)
    with pytest.raises(Unsupported, match="candidates= and aim="):
        choose_plan(wanted, ONE, epsilon=1, aim="largest")


@pytest.mark.parametrize("wanted", [berkeley(), geography(), two_way("a b", "a", "b", ""), FEW_RANGES])
def test_a_plan_is_above_its_lower_bounds(wanted):
    found = choose_plan(wanted, ONE, epsilon=1)
    assert all(times >= 1 for times in found.lower_bounds.ratios(found.value).values())


def test_a_plan_travels():
    found = choose_plan(geography(), ONE, epsilon=level(alpha="1/2"), up_to=3)
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found)
    assert again.variances == found.variances
    assert (again.level, again.tuned_at) == (level(alpha="1/2"), level(3))


def test_tables_of_a_hundred_thousand_cells_are_planned_at_once():
    """300 x 400 and 40 x 50 x 50 cells: nothing but the marginals is touched."""
    two = Workload(Domain(a=range(300), b=range(400)), {"a b": 1, "a": 1, "b": 1, "": 1})
    three = Workload(
        Domain(a=range(40), b=range(50), c=range(50)), dict.fromkeys(("a b c", "a b", "a", "b", "c", ""), 1)
    )
    for wanted in (two, three):
        cells = Plan(wanted.domain, ONE, {wanted.domain.finest: 1}, wanted, level(1))
        assert choose_plan(wanted, ONE, epsilon=1).value < cells.value / 50
