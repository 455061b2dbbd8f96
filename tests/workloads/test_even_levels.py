"""Trees of groups of several sizes beside other axes: wanted by any level, measured by the even ones."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, check_lower_bounds, choose_plan, hierarchy

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights_domain.json"
SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=4).filter(lambda sizes: len(set(sizes)) > 1)


def crossed(sizes, others):
    """A tree with so many airports in each state, crossed with another axis."""
    branches = {f"S{i}": [f"S{i}.{j}" for j in range(size)] for i, size in enumerate(sizes)}
    return Domain(place=hierarchy(branches, names=["state", "airport"]), hour=range(others))


def test_flights_are_planned_and_released():
    """105 airports in 46 states by 24 hours; the plan's deviations are those of the release's own errors."""
    domain = Domain.of_facts(json.loads(FLIGHTS.read_text(encoding="utf-8")))
    wanted = Workload(domain, {"airport": 1, "state": 1, "hour": 1, "": 1})
    plan = choose_plan(wanted, Unit(1, 2), epsilon=1)
    equal = Plan(domain, Unit(1, 2), {"airport": "1/3", "hour": "1/3", "": "1/3"}, wanted, level(1))
    assert all(level_ in (0, 2) for level_, _ in plan.shares), "states are not measured"
    assert plan.value <= equal.value * (1 + 1e-12)
    released = ut.release(np.zeros(domain.shape, dtype=int), plan, epsilon=1, once=True).table
    for marginal, states in (("airport", 105), ("state", 46)):
        variances = [noise.variance for noise in released.distributions(domain.marginal(marginal)).values()]
        counts = np.unique(released.reconstruction.kinds(domain.marginal(marginal)), return_counts=True)[1]
        assert sum(counts) == states
        assert float(np.average([float(v) for v in variances], weights=counts)) == pytest.approx(
            plan.variances[marginal], rel=1e-4
        )
    assert "standard deviations" in str(plan.alternatives({"states": {"state": 1}}))


def test_the_finest_alternative_measures_what_may_be_measured():
    """Where only states are wanted, the cells alone are the airports, not the states."""
    domain = crossed([1, 3], 2)
    chosen = choose_plan(Workload(domain, {"state": 1, "hour": 1}), Unit(1, 1), epsilon=1)
    assert list(chosen.alternatives().plans["cells alone"].shares) == [domain.marginal("airport hour")]
    assert all(times >= 1 for times in chosen.lower_bounds.ratios(chosen.value).values())


def test_uneven_levels_are_measured_nowhere_beside_other_axes():
    domain = crossed([1, 3], 2)
    wanted = Workload(domain, {"state": 1})
    with pytest.raises(Unsupported, match="Measure 'airport' instead"):
        Plan(domain, Unit(1, 1), {"state": 1}, wanted)
    with pytest.raises(Unsupported, match=r"must have the same size|must have one size"):
        choose_plan(wanted, Unit(1, 1), epsilon=1, candidates=["state hour"])
    with pytest.raises(OutOfRange, match="every wanted answer"):
        Plan(domain, Unit(1, 1), {"hour": 1}, wanted)


@settings(max_examples=6)
@given(SIZES, st.integers(2, 3), st.integers(0, 2**32))
def test_crossed_trees_are_bounded_over_the_marginals_that_may_be_measured(sizes, others, seed):
    """The chord bound over even marginals is proved again from its certificate, and below 12 random plans."""
    domain = crossed(sizes, others)
    wanted = Workload(domain, {"state hour": 1, "airport": 1, "hour": 2})
    chosen = choose_plan(wanted, Unit(1, 1), epsilon=1)
    bounds = chosen.lower_bounds
    check_lower_bounds(bounds)
    assert "groups of one size" in bounds.given_marginals.holds_for
    random, names = np.random.default_rng(seed), ["airport hour", "airport", "hour", ""]
    for _ in range(12):
        parts = random.integers(1, 50, 4).tolist()
        shares = {name: Fraction(part, sum(parts)) for name, part in zip(names, parts, strict=True)}
        made = Plan(domain, Unit(1, 1), shares, wanted, level(1))
        assert bounds.given_marginals.ratio(made.value) >= 1
    assert 1 <= bounds.ratios(chosen.value)["given marginals"] < 6
