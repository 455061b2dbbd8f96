"""Branch and bound: certified figures, agreement with a grid, and no plan below the bound."""

from fractions import Fraction

import numpy as np
import pytest

from utmost.errors import NotANumber, OutOfRange, Unsupported
from utmost.privacy import Unit

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.publish.workloads.planning.branch_and_bound import Box, Search
from utmost.publish.workloads.planning.share_exchange import WeighedError
from utmost.workloads import Domain, Workload, bins, certified_shares, hierarchy
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
        (GEOGRAPHY, 1, 26.0783, 25.567),
        (GEOGRAPHY, 3, 44.9441, 44.063),
        (ANSWERS, 1, 3000, 2941.17),
        (FOUR, "1/10", 59.750, 58.577),
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


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_bound_is_below_a_grid_and_the_value_is_not_above(epsilon):
    """All shares of three levels in steps of 1/200, by closed form: within the tolerance, on both sides."""
    found = certified_shares(GEOGRAPHY, ONE, epsilon, tolerance="1/1000")
    blocks = VarianceComponents.of(PLACES, eigenspaces=GEOGRAPHY.eigenspaces)
    error = WeighedError.of(blocks, [GEOGRAPHY.spectrum(blocks)], epsilon)
    grid = np.array([(i, j, 200 - i - j) for i in range(201) for j in range(201 - i)]) / 200
    least = float(error(grid).min()) / float(precision(epsilon))
    assert found.bound <= found.value <= least * (1 + 1e-9)
    assert found.is_certified
    assert found.value <= found.bound * 1.001001


def test_no_shares_are_below_the_bound():
    """Random workloads of up to four families, random shares, levels that spread and levels that do not."""
    random = np.random.default_rng(1)
    for _ in range(8):
        domain = Domain(a=range(int(random.integers(1, 9))), b=range(int(random.integers(1, 9))))
        weights = dict(zip(["a b", "a", "b", ""], random.gamma(0.5, size=4) + 1e-3, strict=True))
        wanted, epsilon = Workload(domain, weights), float(random.choice([0.01, 1.0, 6.0]))
        found = certified_shares(wanted, ONE, epsilon, domain.families(), tolerance="1/10", most_boxes=50)
        blocks = VarianceComponents.of(domain, sorted(found.shares), wanted.eigenspaces)
        error = WeighedError.of(blocks, [wanted.spectrum(blocks)], epsilon)
        shares = random.dirichlet(np.full(4, 0.4), 300)
        assert (error(shares) / float(precision(epsilon)) >= found.bound).all()
        assert found.value <= error(np.eye(4)).min() / float(precision(epsilon)) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0])
def test_the_bound_of_a_box_is_below_every_error_in_it(epsilon):
    """Random boxes of every size, random shares in them; and for small boxes the bound is near the least of these."""
    random = np.random.default_rng(4)
    blocks = VarianceComponents.of(TABLE, eigenspaces=FOUR.eigenspaces)
    error, spent = WeighedError.of(blocks, [FOUR.spectrum(blocks)], epsilon), np.ones((1, 4))
    for size in (1, 0.3, 0.1, 0.03):
        for _ in range(20):
            middle = random.dirichlet(np.ones(4))
            box = Box.of(np.maximum(middle - size * random.uniform(size=4), 0), np.minimum(middle + size / 2, 1), spent)
            shares = box.low + (box.high - box.low) * random.uniform(size=(2000, 4))
            shares /= shares.sum(axis=1, keepdims=True)
            inside = shares[((box.low <= shares) & (shares <= box.high)).all(axis=1)]
            least = min(error(inside).min(initial=np.inf), float(error(middle)))
            bound = Search(error, spent, [middle]).bound(box, 1e-12)
            assert bound <= least
            assert size > 0.03 or bound >= 0.5 * least


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
    certified_shares(FOUR, ONE, 1, tolerance="1/500", most_boxes=210, progress=lambda *seen: told.append(seen))
    assert [boxes for boxes, _ in told] == [100, 200][: len(told)]
    assert all(within >= 1 for _, within in told)
    assert told[-1][1] <= told[0][1]


@pytest.mark.parametrize("epsilon", ["1e-6", 50, 5000])
def test_extreme_levels(epsilon):
    found = certified_shares(FOUR, Unit(2, 1), epsilon)
    assert found.is_certified
    assert 0 < found.bound <= found.value


def test_ranges_over_few_levels():
    """The sizes 1, 16 and 128 of 1024 bins at epsilon 1/10: 77.31 a range, as found by search, certified."""
    domain = Domain(age=bins(1024))
    names = ["age", "age/16", "age/128"]
    found = certified_shares(Workload.ranges(domain, "age"), ONE, "1/10", names)
    assert found.is_certified
    assert found.value * float(precision(0.1)) == pytest.approx(77.312, abs=2e-3)


def test_refusals():
    with pytest.raises(OutOfRange, match="tolerance must be positive"):
        certified_shares(FOUR, ONE, 1, tolerance=0)
    with pytest.raises(NotANumber):
        certified_shares(FOUR, ONE, 1, tolerance="little")
    with pytest.raises(OutOfRange, match="determine every wanted answer"):
        certified_shares(FOUR, ONE, 1, ["a"])
    with pytest.raises(OutOfRange, match="shares to start with"):
        certified_shares(FOUR, ONE, 1, start={"a b": 0})
    states = hierarchy({"A": ["a1"], "B": ["b1", "b2"]}, names=["state", "county"])
    with pytest.raises(Unsupported, match="one size"):
        certified_shares(Workload(Domain(place=states), {"county": 1}), ONE, 1)
