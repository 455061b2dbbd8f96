"""Branch and bound: certified figures, agreement with a grid, and no plan below the bound."""

from fractions import Fraction

import numpy as np
import pytest

from utmost.errors import NotANumber, OutOfRange, Unsupported
from utmost.exact import level
from utmost.privacy import Unit

# A box that leaves out shares makes a bound that is none, and a search from few starts may not meet them.
from utmost.publish.workloads.planning.branch_and_bound import Box
from utmost.workloads import Domain, Plan, Workload, certified_shares, charge_of, hierarchy
from workload_cases import precision

ONE = Unit(1, 1)
PLACES = Domain(
    place=hierarchy({f"r{i}": [f"r{i}d{j}" for j in range(25)] for i in range(8)}, names=["region", "district"])
)
TABLE = Domain(a=range(20), b=range(50))
GEOGRAPHY = Workload(PLACES, {"district": 1, "region": 1, "": 1})
ANSWERS = Workload(TABLE, {"a b": 1, "a": 1, "b": 1}, per_answer=True)
FOUR = Workload(TABLE, {"a b": 1, "a": 1, "b": 1, "": 1})


@pytest.mark.parametrize(
    ("wanted", "epsilon", "value", "bound"),
    [
        (GEOGRAPHY, "1/10", 24.2516, 23.776),
        (GEOGRAPHY, 3, 44.9441, 44.063),
        (ANSWERS, 1, 3000, 2941.17),
        (FOUR, 1, 64.510, 63.244),
        (FOUR, 3, 114.814, 112.562),
    ],
)
def test_known_optima_are_certified_within_two_percent(wanted, epsilon, value, bound):
    """A tree of 8 x 25, a table of 20 x 50: error and bound in units of the variance at the whole level."""
    found = certified_shares(wanted, ONE, epsilon)
    at = float(precision(float(Fraction(epsilon))))
    assert found.is_certified
    assert found.value * at == pytest.approx(value, abs=1e-3)
    assert found.bound * at >= bound - 5e-4
    assert sum(found.shares.values()) == pytest.approx(1)


def error(wanted, parts, epsilon, unit=ONE):
    """The error of a plan with shares in proportion to these numbers, which spend the level."""
    shares = {marginal: Fraction(part) for marginal, part in zip(wanted.domain.marginals(), parts, strict=True) if part}
    charge = charge_of(wanted.domain, unit, shares)
    shares = {marginal: share / charge for marginal, share in shares.items()}
    return Plan(wanted.domain, unit, shares, wanted, level(epsilon)).value


@pytest.mark.parametrize("epsilon", ["1/10", 3])
def test_the_bound_is_below_a_grid_and_the_value_is_not_above(epsilon):
    """All shares of three levels in steps of 1/12: within the tolerance, on both sides."""
    found = certified_shares(GEOGRAPHY, ONE, epsilon, tolerance="1/1000")
    least = min(error(GEOGRAPHY, (i, j, 12 - i - j), epsilon) for i in range(1, 12) for j in range(12 - i))
    assert found.bound <= found.value <= least * (1 + 1e-9)
    assert found.is_certified
    assert found.value <= found.bound * 1.001001


UNITS = [ONE, Unit(2, 1), Unit(1, 1, "change-one", nonnegative=True), Unit(1, 2, "change-one", nonnegative=True)]


@pytest.mark.parametrize(("unit", "seed"), [(unit, place % 3) for place, unit in enumerate(UNITS)])
def test_no_shares_are_below_the_bound_wherever_it_starts(unit, seed):
    """Random workloads of four marginals: from shares far off, the bound is below the best that another start finds."""
    random = np.random.default_rng(seed)
    domain = Domain(a=range(int(random.integers(2, 9))), b=range(int(random.integers(2, 9))))
    weights = dict(zip(["a b", "a", "b", ""], random.gamma(0.5, size=4) + 1e-3, strict=True))
    wanted, epsilon, marginals = Workload(domain, weights), ("0.01", "1", "6")[seed], list(domain.marginals())
    best = certified_shares(wanted, unit, epsilon, marginals, most_boxes=0).value
    for place in (0, 3):
        start = {marginal: 1 if at == place else "1/1000" for at, marginal in enumerate(marginals)}
        found = certified_shares(wanted, unit, epsilon, marginals, start=start, tolerance="1/100", most_boxes=8)
        assert 0 < found.bound <= best * (1 + 1e-9)
        assert found.within == pytest.approx(found.value / found.bound)
        assert found.within < 20
        assert "charged as Plan.charge says" not in found.holds_for, "the charge is exact"
        for parts in (random.dirichlet(np.full(4, 0.4), 5) * 1000 + 1).astype(int).tolist():
            assert error(wanted, parts, epsilon, unit) >= found.bound * (1 - 1e-12)


def test_a_box_keeps_all_shares_that_the_level_allows():
    """Shares within its first ends that spend the level, where two changes by an individual spend it differently."""
    random, spent, tried = np.random.default_rng(5), np.array([[0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 1.0, 0.0]]), 0
    for _ in range(100):
        low = random.dirichlet(np.ones(4)) * random.random()
        high = low + 2 * random.random(4)
        step = random.random(4) * (high - low)
        reach = ((1 - spent @ low) / (spent @ step)).min()
        if reach <= 1:
            box, tried = Box.of(low, high, spent), tried + 1
            assert box is not None
            assert (low + reach * step <= box.high + 1e-9).all()
    assert tried > 20


def test_a_bad_start_is_left_and_boxes_that_run_out_are_said():
    """From the total and the regions alone the same optimum; without boxes a bound that holds, and no certificate."""
    best = certified_shares(GEOGRAPHY, ONE, 1)
    bad = certified_shares(GEOGRAPHY, ONE, 1, start={"district": "1/100", "region": "98/100", "": "1/100"})
    assert bad.is_certified
    assert bad.bound <= best.value
    none = certified_shares(GEOGRAPHY, ONE, 1, tolerance="1/1000000", most_boxes=0)
    assert not none.is_certified
    assert 0 < none.bound <= best.value
    assert none.within > 1.000001


def test_progress_is_told():
    told = []
    found = certified_shares(FOUR, ONE, 1, tolerance="1/500", most_boxes=210, progress=lambda *seen: told.append(seen))
    assert [boxes for boxes, _ in told] == [100, 200][: len(told)]
    assert all(within >= 1 for _, within in told)
    assert found.within * (1 - 1e-9) <= told[-1][1] <= told[0][1] < 1.1


@pytest.mark.parametrize("epsilon", ["1e-6", 50, 5000])
def test_extreme_levels(epsilon):
    found = certified_shares(FOUR, Unit(2, 1), epsilon)
    assert found.is_certified
    assert 0 < found.bound <= found.value


def test_refusals():
    with pytest.raises(OutOfRange, match='tolerance="1/50"'):
        certified_shares(FOUR, ONE, 1, tolerance=0)
    with pytest.raises(NotANumber):
        certified_shares(FOUR, ONE, 1, tolerance="little")
    with pytest.raises(OutOfRange, match="every wanted answer"):
        certified_shares(FOUR, ONE, 1, ["a"])
    with pytest.raises(OutOfRange, match=r"^start"):
        certified_shares(FOUR, ONE, 1, start={"a b": 0})
    states = hierarchy({"A": ["a1"], "B": ["b1", "b2"]}, names=["state", "county"])
    with pytest.raises(Unsupported, match="the same size"):
        certified_shares(Workload(Domain(place=states), {"county": 1}), ONE, 1)
