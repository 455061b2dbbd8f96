"""From a required margin to the level: the returned decimal meets the margin, and no smaller decimal does."""

import math
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import Unit
from utmost.errors import Infeasible, NotANumber, OutOfRange, UtmostError
from utmost.noise import DiscreteStaircase, Geometric, costs
from utmost.releases import cell_noise_at, epsilon_for

confidences = st.sampled_from(["0.5", "0.8", "0.95", "0.999"])


def decimals_below(found, digits):
    """The decimals with a given number of digits below one, downwards through two powers of ten."""
    power = Fraction(1)
    while power * 10 <= found:
        power *= 10
    while power > found:
        power /= 10
    for step in (power, power / 10):
        for whole in range(10**digits - 1, 10 ** (digits - 1) - 1, -1):
            decimal = whole * step / 10 ** (digits - 1)
            if decimal < found:
                yield decimal


@settings(max_examples=12)
@given(st.integers(0, 40), confidences, st.integers(1, 6), st.integers(1, 3))
def test_no_smaller_decimal_meets_the_wanted_margin(margin, confidence, sensitivity, cells):
    """The returned level meets the margin; every decimal of two digits from half of it up to it does not."""
    found = epsilon_for(margin, confidence, unit=Unit(sensitivity, cells), digits=2)

    def reached(epsilon):
        return cell_noise_at(epsilon, unit=Unit(sensitivity, cells), confidence=confidence).margin

    assert reached(found) <= margin
    assert all(reached(decimal) > margin for decimal in list(decimals_below(found, 2))[:25])


@given(st.fractions("1/20", 5), st.integers(1, 9), st.data())
def test_no_noise_concentrates_more_than_the_lower_bound_allows(epsilon, sensitivity, data):
    r"""P(\|X\| <= t) <= tanh(m e / 2), for the distribution in the derivation of the bound, for every step."""
    step = data.draw(st.integers(1, sensitivity))
    t = data.draw(st.integers(0, 30))
    distribution = DiscreteStaircase(epsilon, sensitivity, step=step)
    overlapping = math.ceil((2 * t + 1) / sensitivity)
    assert 1 - 2 * distribution.ccdf(t) <= math.tanh(overlapping * epsilon / 2) + 1e-12


def test_an_error_bar_that_jumps_up_is_not_jumped_over():
    """For sensitivity 5 and confidence 0.8, margin 1 is met at 2.7 with step 2, and only again at 3.4 with step 1."""
    plans = {e: cell_noise_at(e, unit=Unit(5, 1), confidence="0.8") for e in ("2.7", "3.4", "3.5")}
    assert [(plan.distribution.step, plan.margin) for plan in plans.values()] == [(2, 1), (1, 2), (1, 1)]
    assert epsilon_for(1, "0.8", unit=Unit(5, 1), digits=2) == Fraction("2.7")


@pytest.mark.parametrize(
    "promise",
    [
        {"numbers": "reals"},
        {"numbers": "reals", "relaxable": True},
        {"numbers": "reals", "grid": "1/4"},
        {"cost": "squared"},
        {"relaxable": True},
        {"unit": Unit(5, 2, "change-one")},
    ],
    ids=str,
)
def test_the_promise_is_searched_as_it_will_be_kept(promise):
    arguments = {"unit": Unit(5, 2), "confidence": 0.9, **promise}
    found = epsilon_for(12, **arguments)
    assert cell_noise_at(found, **arguments).margin <= 12 < cell_noise_at(found * Fraction(98, 100), **arguments).margin


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"margin": -1}, OutOfRange),
        ({"margin": 0, "numbers": "reals"}, OutOfRange),
        ({"margin": "wide"}, NotANumber),
        ({"confidence": 1}, OutOfRange),
        ({"digits": 0}, OutOfRange),
        ({"margin": "1/4", "numbers": "reals", "grid": 1}, Infeasible),
        ({"margin": 0, "unit": Unit(3, 1), "confidence": 1 - Fraction(1, 10**900)}, Infeasible),
    ],
    ids=lambda value: getattr(value, "__name__", None) or "-".join(value),
)
def test_what_cannot_be_solved_is_refused(arguments, error):
    with pytest.raises(error):
        epsilon_for(**({"margin": 10, "unit": Unit(1, 1)} | arguments))


def test_a_confidence_whose_odds_are_a_fraction():
    """Odds of 5/2: the least epsilon that meets the margin is found, and not one above it."""
    found = epsilon_for(margin=5, unit=Unit(1, 1), confidence="3/7")
    assert Geometric(found).margin("3/7") <= 5 < Geometric(found * Fraction(99, 100)).margin("3/7")


BY_STEPS = [(10, 7, 2, "absolute"), (3, 13, 2, "absolute"), (25, 6, 2, "squared"), (2, 5, 2, "absolute")]


@pytest.mark.parametrize(("margin", "sensitivity", "digits", "cost"), BY_STEPS)
def test_bisection_within_steps_finds_what_trying_every_decimal_does(margin, sensitivity, digits, cost):
    """The margin jumps up where the step changes; the search still finds the least decimal."""
    chosen = {"cost": getattr(costs, cost), "unit": Unit(sensitivity, 1)}
    found = epsilon_for(margin, digits=digits, **chosen)
    assert cell_noise_at(found, **chosen).margin <= margin
    assert all(cell_noise_at(decimal, **chosen).margin > margin for decimal in decimals_below(found, digits))


def test_five_digits_take_no_longer_than_a_moment():
    """The next smaller decimal of five digits does not meet the margin."""
    found = epsilon_for(10, unit=Unit(7, 1), digits=5)
    assert cell_noise_at(found, unit=Unit(7, 1)).margin <= 10
    assert cell_noise_at(found - Fraction(1, 10_000), unit=Unit(7, 1)).margin > 10


@pytest.mark.parametrize("promise", [{}, {"numbers": "reals"}, {"relaxable": True}])
def test_a_confidence_near_zero_has_an_epsilon_or_a_typed_refusal(promise):
    for confidence in ("1e-17", "1e-20", "1e-300", "1e-400"):
        for margin in (1, "1e50", "1e99"):
            with suppress(UtmostError):
                assert epsilon_for(margin, confidence, unit=Unit(1, 1), **promise) > 0
