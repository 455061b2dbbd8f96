"""Sums of independent geometric noises: certified bounds, against exact sums in rationals and simulated draws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.exact import Level, level
from utmost.noise import Combination, Geometric, simultaneous_margins

LEVELS = (0.05, 0.1, 0.5, 1, 2, 3, 5)
CONFIDENCES = ("0.5", "0.8", "0.95", "0.99", "0.999")


@pytest.mark.parametrize("epsilon", LEVELS)
def test_one_term_has_the_exact_margin_of_one_geometric(epsilon):
    distribution = Geometric(epsilon)
    for confidence in CONFIDENCES:
        assert Combination([-1], epsilon).margin(confidence) == distribution.margin(confidence)


@pytest.mark.parametrize(
    ("epsilon", "margins"), [("0.1", [30, 41, 57, 69, 97, 136]), (1, [3, 4, 5, 7, 9, 13]), (3, [1, 1, 1, 2, 2, 3])]
)
def test_the_margins_of_the_berkeley_sums(epsilon, margins):
    """Sums of 1, 2, 4, 6, 12 and 24 cells with noise of their own, at 95 %."""
    assert [Combination([1], epsilon, [n]).margin() for n in (1, 2, 4, 6, 12, 24)] == margins


def test_the_margins_of_long_sums():
    """200, 1000 and a million cells at epsilon 1."""
    assert [Combination([1], 1, [n]).margin("0.95") for n in (200, 1000, 10**6)] == [38, 84, 2660]


def exact_distribution(terms, reach):
    """P(S = s) of sum c G on |G| <= reach, in rationals, by convolution; what is missing is at most the rest."""
    distribution = {Fraction(0): Fraction(1)}
    for c, alpha in terms:
        mass = {c * x: (1 - alpha) / (1 + alpha) * alpha ** abs(x) for x in range(-reach, reach + 1)}
        after: dict[Fraction, Fraction] = {}
        for s, p in distribution.items():
            for t, q in mass.items():
                after[s + t] = after.get(s + t, 0) + p * q
        distribution = after
    return distribution


coefficients = st.sampled_from([Fraction(1), Fraction(-2), Fraction(3), Fraction(1, 2), Fraction(2, 3)])
alphas = st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)])


@settings(max_examples=8)
@given(st.lists(st.tuples(coefficients, alphas), min_size=2, max_size=2), st.integers(0, 20))
def test_bounds_on_a_lattice_are_the_exact_chances(terms, margin):
    """coverage <= P(|S| <= r), and not below it by more than 1e-12; every margin, also between two lattice points."""
    distribution = exact_distribution(terms, 45)
    found = Combination([c for c, _ in terms], [Level.of_alpha(a) for _, a in terms])
    inside = sum(p for s, p in distribution.items() if abs(s) <= Fraction(margin, 2))
    missing = 1 - sum(distribution.values())
    assert inside - Fraction(1, 10**12) <= Fraction(found.coverage(Fraction(margin, 2))) <= inside + missing
    assert 1 - inside - missing <= Fraction(found.tail(Fraction(margin, 2))) <= 1 - inside + Fraction(1, 10**12)
    assert found.variance == sum(c * c * 2 * a / (1 - a) ** 2 for c, a in terms)


@settings(max_examples=8)
@given(st.lists(st.tuples(coefficients, alphas), min_size=2, max_size=2), st.sampled_from(CONFIDENCES))
def test_a_margin_on_a_lattice_is_the_least(terms, confidence):
    distribution = exact_distribution(terms, 45)
    margin = Combination([c for c, _ in terms], [Level.of_alpha(a) for _, a in terms]).margin(confidence)
    below = [abs(s) for s in distribution if abs(s) < Fraction(margin) - Fraction(1, 10**9)]
    assert sum(p for s, p in distribution.items() if abs(s) <= Fraction(margin)) >= Fraction(confidence) - Fraction(
        1, 10**12
    )
    if below:
        assert sum(p for s, p in distribution.items() if abs(s) <= max(below)) < Fraction(confidence)


def real_quantile(sizes, epsilons, confidence, reach=150):
    """The least r with P(|S| <= r) >= confidence, for two or three real coefficients, by listing all values of S."""
    values, chances = np.zeros(1), np.ones(1)
    for c, e in zip(sizes, epsilons, strict=True):
        x = np.arange(-reach, reach + 1)
        mass = np.tanh(e / 2) * np.exp(-e * np.abs(x))
        values = np.add.outer(values, c * x).ravel()
        chances = np.multiply.outer(chances, mass).ravel()
    order = np.argsort(np.abs(values))
    place = np.searchsorted(np.cumsum(chances[order]), confidence)
    return abs(values[order][place])


@pytest.mark.parametrize(
    ("sizes", "epsilons"),
    [([1, math.sqrt(2)], [1, 1]), ([0.3, math.pi], [0.5, 2]), ([1, math.e], [0.2, 0.3]), ([1e-3, math.pi], [1, 1])],
)
def test_margins_of_real_coefficients_are_safe_and_near(sizes, epsilons):
    """Never below the exact quantile, and above it by less than 1.6 % of a standard deviation."""
    found = Combination(sizes, epsilons)
    for confidence in (0.5, 0.8, 0.95, 0.99, 0.999):
        exact = real_quantile(sizes, epsilons, confidence)
        assert exact * (1 - 1e-9) <= found.margin(confidence) <= exact + 0.016 * math.sqrt(found.variance)


def test_equal_terms_are_one_group_whatever_their_signs():
    one = Combination([1, -1, 2, "0.5", 0.5, 0], [1, 1, 1, 1, level(1), 1], [3, 4, 1, 1, 2, 9])
    assert one.coefficients == (1, 2, Fraction(1, 2))
    assert one.counts == (7, 1, 3)
    assert repr(one) == "Combination of 11 terms in 3 groups"
    assert one.step == Fraction(1, 2)


def test_integer_coefficients_have_integer_margins_and_fractions_points_of_their_lattice():
    assert type(Combination([2, 4], 1).margin()) is int
    assert Combination([2, 4], 1).margin() % 2 == 0
    assert Combination(["1/3", "1/2"], 1).margin() * 6 == pytest.approx(round(Combination(["2", "3"], 1).margin()))
    assert Combination(["1/3", "1/2"], 1).coverage(Combination(["1/3", "1/2"], 1).margin()) >= 0.95


def test_nothing_added_is_no_noise():
    for none in (Combination([], 1), Combination([0, 0], 1), Combination([1], 1, [0])):
        assert (none.margin(), none.tail(0), none.coverage(0), none.variance, none.coverage(-1)) == (0, 0, 1, 0, 0)


def test_noise_that_is_hardly_there_has_margin_nought():
    """Epsilon 50: some noise is not 0 with a chance of 4e-22 each."""
    assert Combination([1, 7], 50).margin("0.999999") == 0
    assert Combination([1, math.pi], 50).margin("0.999999") == 0
    assert Combination([1, math.pi], 10**5).margin("0.999999") == 0
    assert Combination([1], 50, [10**24]).margin("0.95") > 0


def test_noise_without_end():
    """Epsilon 1e-6: a sum of two is within 1.6 % of a standard deviation of the margin of two Laplace variables."""
    two = Combination([1, 1], "1e-6")
    exact = 4.1128e6  # P(|X + Y| > r) = (1 + r e/2) exp(-r e) of two Laplace variables
    assert (1 + 2.0564) * math.exp(-4.1128) == pytest.approx(0.05, rel=1e-3)
    assert exact - 1e3 <= two.margin() <= exact + 0.016 * 2e6
    assert Combination([1], "1e-6").margin() == Geometric("1e-6").margin("0.95")


def test_coefficients_of_wildly_different_sizes():
    """A term of 1 beside one of a thousand million changes the margin by next to nothing."""
    alone = Combination([10**9], 1).margin()
    both = Combination([1, 10**9], 1)
    assert alone == 3 * 10**9
    assert alone <= both.margin() <= alone + 0.016 * 10**9 * 1.357
    assert Combination(["1e-90", "1e90"], 1).margin() >= 3e90
    assert Combination([1], 1, [10**18]).margin() == pytest.approx(1.96 * 1.35696e9, rel=0.01)


def test_a_chance_far_below_what_floats_add_up_is_bounded():
    """P(|G + H| > r) for two equal terms, in closed form by convolution: the bound is above it, by 10 r at most."""
    two, alpha = Combination([1, 1], 1), math.exp(-1)
    for margin in (50, 100, 500):
        exact = math.fsum(
            2 * (1 - alpha) ** 2 / (1 + alpha) ** 2 * alpha**s * (s + (1 + alpha**2) / (1 - alpha**2))
            for s in range(margin + 1, margin + 60)
        )
        assert exact * (1 - 1e-9) <= two.tail(margin) <= 10 * margin * exact
    assert two.margin_for_miss(Fraction(1, 10**40)) < 110


def test_variance_is_rounded_up_or_exact():
    assert Combination([2], Level.of_alpha("1/2")).variance == 16
    found = Combination([2, "1/3"], [1, "1e-6"], [5, 7])
    interval = found.variance_interval(200)
    assert isinstance(found.variance, float)
    assert interval.upper <= Fraction(found.variance) <= interval.upper * (1 + Fraction(1, 1 << 50))
    assert interval.width < Fraction(1, 1 << 180)


def test_simultaneous_margins_of_independent_cells():
    """The exact product: m cells keep r together with the chance (1 - 2 alpha^(r+1)/(1 + alpha))^m."""
    one, alpha = Combination([1], 1), math.exp(-1)
    for m in (1, 2, 24, 200, 1000, 100_000):
        exact = next(r for r in range(99) if (1 - 2 * alpha ** (r + 1) / (1 + alpha)) ** m >= 0.95)
        product = simultaneous_margins([one] * m, 0.95, independent=True)
        union = simultaneous_margins([one] * m, 0.95)
        assert product == (exact,) * m
        assert union[0] in (exact, exact + 1)
    assert [simultaneous_margins([one] * m)[0] for m in (1, 24, 200, 1000, 100_000)] == [3, 6, 8, 10, 14]


def test_simultaneous_margins_of_sums_that_share_cells_hold_together():
    """A total and its two parts: the union bound, checked over all noises."""
    parts, total = Combination([1], 1), Combination([1, 1], 1)
    a, b, c = simultaneous_margins([parts, parts, total], "0.9")
    x = np.arange(-60, 61)
    mass = np.tanh(0.5) * np.exp(-np.abs(x))
    kept = (abs(x)[:, None] <= a) & (abs(x)[None, :] <= b) & (abs(x[:, None] + x) <= c)
    assert (np.outer(mass, mass) * kept).sum() >= 0.9


def test_confidence_near_0_asks_for_no_margin():
    """1 - confidence is 1 to the nearest float; its logarithm is taken of the rational."""
    one = Combination([1], 1)
    assert simultaneous_margins([one] * 2, "1e-17", independent=True) == (0, 0)
    assert simultaneous_margins([one], "1e-300", independent=True) == (0,)


def test_simultaneous_margins_at_small_confidence_are_the_exact_product():
    """Below 1/2 the logarithm of the confidence is taken of the rational."""
    one, alpha = Combination([1], "1/5"), math.exp(-0.2)
    for confidence in ("0.4", "0.1", "0.01"):
        for m in (1, 3, 50):
            kept = (1 - 2 * alpha ** (r + 1) / (1 + alpha) for r in range(99))
            exact = next(r for r, chance in enumerate(kept) if chance**m >= float(confidence))
            assert simultaneous_margins([one] * m, confidence, independent=True) == (exact,) * m


def test_a_value_is_rejected_by_the_chance_of_its_own_size_or_more():
    """The value 0 never is, not even where the noise is hardly ever another."""
    one = Combination([1], level(alpha="1/2"))
    at_least = 2 * Fraction(1, 2) ** 3 / Fraction(3, 2)  # P(|G| >= 3)
    assert one.rejects(3, at_least + Fraction(1, 10**9))
    assert one.rejects(-3, at_least + Fraction(1, 10**9))
    assert not one.rejects(3, at_least - Fraction(1, 10**9))
    assert not Combination([1], 100).rejects(0, "0.05")
