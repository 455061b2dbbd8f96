from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.design.optima.periodic_noise import discounted
from utmost.errors import OutOfRange, Unsupported
from utmost.noise import costs

ratios = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)])


@given(st.integers(-9, 9), st.sampled_from([-3, -1, 1, 2, 5]), ratios, st.sampled_from([1, 2, 3, 4]))
def test_moments_satisfy_the_recursion_of_a_geometric_tail(x, stride, ratio, m):
    """S(x) = L(x) + ratio S(x + stride), exactly, from either side of zero."""
    cost = costs.moment(m)
    here, there = (discounted(cost, place, stride, ratio) for place in (x, x + stride))
    assert isinstance(here, Fraction)
    assert here == cost(x) + ratio * there


@given(st.integers(-9, 9), st.sampled_from([-3, -1, 1, 2, 5]), ratios, st.integers(0, 7))
def test_closed_forms_agree_with_the_sum_in_floats(x, stride, ratio, top):
    def capped(n):
        return min(abs(n), top)

    exact = discounted(capped, x, stride, ratio, settled=top)
    assert exact == pytest.approx(discounted(lambda n: float(capped(n)), x, stride, float(ratio)), rel=1e-12)
    squares = discounted(costs.squared, x, stride, ratio)
    assert squares == pytest.approx(discounted(lambda n: float(n * n), x, stride, float(ratio)), rel=1e-12)


def test_without_a_tail_only_the_first_place_counts():
    assert discounted(costs.squared, -3, 1, Fraction(0)) == 9
    assert discounted(lambda x: float(x), 3, 1, 0.0) == 3.0


def test_ratios_and_costs_are_checked():
    with pytest.raises(OutOfRange, match="ratio"):
        discounted(costs.absolute, 0, 1, 1.0)
    with pytest.raises(OutOfRange, match="finite"):
        discounted(lambda x: float("inf"), 0, 1, 0.5)
    with pytest.raises(Unsupported, match="million"):
        discounted(lambda x: 1.0, 0, 1, 1 - 1e-9)
