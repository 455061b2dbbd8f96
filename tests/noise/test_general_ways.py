"""Every general way of `IntegerDistribution` beside the closed forms where there are any: two routes to each answer."""

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from every_noise import ON_INTEGERS
from utmost.exact import level

# What another package is given; that package is not installed where these tests run.
from utmost.interfaces.interop.accounting import worst_pair
from utmost.noise import DiscreteStaircase, Geometric, IntegerDistribution, costs
from utmost.privacy_types import check_promise, delta, smallest_level, tradeoff


@dataclass(frozen=True)
class TwoFormulas(IntegerDistribution):
    """A distribution of which the library sees no more than its two formulas."""

    inner: IntegerDistribution

    @property
    def level(self):
        return self.inner.level

    @property
    def sensitivity(self):
        return self.inner.sensitivity

    @property
    def levels(self):
        return self.inner.levels

    def mass(self, arithmetic, i):
        return self.inner.mass(arithmetic, i)

    def tail(self, arithmetic, i):
        return self.inner.tail(arithmetic, i)

    # Formulas cannot tell that a ratio only tends to its supremum: such a class states it, and the limit.

    def is_attained(self, distance):
        return int(distance) == 0 or self.inner.worst_place(int(distance)) is not None

    def worst_place(self, distance):
        return super().worst_place(distance) if self.is_attained(distance) else None

    def worst_level(self, distance):
        return super().worst_level(distance) if self.is_attained(distance) else self.inner.worst_level(distance)

    def __repr__(self):
        return f"TwoFormulas({self.inner!r})"


@st.composite
def distributions(draw):
    """Any noise on the integers, rational or not."""
    make, width = draw(st.sampled_from(ON_INTEGERS)), draw(st.integers(1, 7))
    at = level(draw(st.sampled_from(["1/10", "0.37", 1, 3]))) if draw(st.booleans()) else None
    at = at or level(alpha=draw(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)))
    return make(at, width, draw(st.integers(0, 6)))


def test_costs_of_wide_noise_are_extrapolated():
    distribution = Geometric("1/1000000")
    for cost in (costs.absolute, costs.squared):
        assert TwoFormulas(distribution).expected_cost(cost) == pytest.approx(
            float(distribution.expected_cost(cost)), rel=1e-11
        )
    assert TwoFormulas(distribution).entropy() == pytest.approx(distribution.entropy(), rel=1e-11)


@settings(max_examples=5)
@given(distributions(), st.integers(1, 20))
def test_the_smallest_level(distribution, shift):
    general, closed = smallest_level(TwoFormulas(distribution), shift), smallest_level(distribution, shift)
    assert general.epsilon_float == pytest.approx(closed.epsilon_float, rel=1e-14)
    assert not general < closed
    check_promise(TwoFormulas(distribution))


@given(distributions(), st.integers(1, 20), st.sampled_from(["0", "0.05", "1/3", "1", "2.5"]))
def test_the_divergence(distribution, shift, epsilon):
    closed, general = float(delta(distribution, epsilon, shift)), delta(TwoFormulas(distribution), epsilon, shift)
    assert closed * (1 - 1e-15) <= general <= closed * (1 + 1e-13)


@given(distributions(), st.integers(1, 20), st.floats(1e-12, 1))
def test_the_curve(distribution, shift, false_alarm):
    found = tradeoff(TwoFormulas(distribution), false_alarm, shift)
    assert found == pytest.approx(float(tradeoff(distribution, false_alarm, shift)), rel=1e-9, abs=1e-13)


@given(distributions(), st.floats(0, 3))
def test_the_worst_pair(distribution, epsilon):
    """Of equal divergence at every level, though one has classes of outcomes and the other the outcomes themselves."""

    def excess(pair):
        lower, upper = pair
        return sum(max(0, math.exp(m) - math.exp(epsilon + lower.get(k, -math.inf))) for k, m in upper.items())

    assert excess(worst_pair(TwoFormulas(distribution))) == pytest.approx(
        excess(worst_pair(distribution)), rel=1e-9, abs=1e-13
    )


def test_the_worst_pair_of_wide_noise_errs_upwards():
    """More outcomes than are kept apart are joined at the largest loss: by a part in ten thousand at most."""
    distribution = Geometric("1/1000", 3)
    lower, upper = worst_pair(TwoFormulas(distribution))
    assert len(upper) < 70_000
    for epsilon in (0.0, 3e-4, 9e-4):
        factor, true = math.exp(epsilon), float(delta(distribution, str(epsilon)))
        found = sum(max(0, math.exp(m) - factor * math.exp(lower.get(k, -math.inf))) for k, m in upper.items())
        assert true * (1 - 1e-9) <= found <= true * 1.001


def test_lipschitz_levels():
    for distribution in (Geometric(1, 5), DiscreteStaircase(1, 5)):
        assert TwoFormulas(distribution).lipschitz_level.epsilon_float == pytest.approx(
            distribution.lipschitz_level.epsilon_float
        )
