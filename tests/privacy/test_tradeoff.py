from fractions import Fraction
from math import exp, expm1, isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.finite_pairs import integer_pair, real_pair
from privacy.strategies import alphas, distributions, integer_distributions, probabilities, staircases
from utmost.channels import geometric_channel
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.privacy_types import delta, frontier, total_variation, tradeoff

# ---- distributions


@given(integer_distributions(), st.integers(-14, 14), probabilities)
def test_the_curve_of_an_integer_distribution_is_the_one_neyman_and_pearson_find_outcome_by_outcome(
    distribution, shift, p
):
    """Exact equality at every shift: 0, negative, inside the sensitivity, and beyond it."""
    assert tradeoff(distribution, p, shift) == tradeoff(integer_pair(distribution, shift), p)


@given(staircases(), st.integers(0, 30), st.sampled_from([1, 2, 3, 5, 8]), probabilities)
def test_the_curve_of_a_real_staircase_is_the_one_neyman_and_pearson_find_cell_by_cell(distribution, n, q, p):
    """Exact equality for gamma from 0 to 1 and shifts from 0 to many sensitivities."""
    shift = Fraction(n, q) * distribution.sensitivity / 3
    assert tradeoff(distribution, p, shift) == tradeoff(real_pair(distribution, shift), p)


@given(distributions, st.sampled_from([0, 1, 2, 7]), probabilities, probabilities)
def test_curves_are_decreasing_convex_and_never_above_guessing(distribution, shift, p, q):
    """beta(p) <= 1 - p; beta falls; beta((p+q)/2) <= (beta(p) + beta(q))/2."""
    low, middle, high = tradeoff(distribution, np.array(sorted([float(p), float(p + q) / 2, float(q)])), shift)
    room = 1e-12
    assert high <= low + room
    assert middle <= (low + high) / 2 + room
    assert low <= 1 - float(min(p, q)) + room


@given(st.one_of(integer_distributions(), staircases()), st.sampled_from([0, 1, 2, 7]), probabilities)
def test_curves_of_symmetric_noise_are_symmetric(distribution, shift, p):
    """beta(beta(p)) = p wherever beta strictly falls, and X + s is distinguished from X as X is from X + s."""
    assert tradeoff(distribution, p, shift) == tradeoff(distribution, p, -shift)
    assert tradeoff(distribution, tradeoff(distribution, p, shift), shift) == p


@given(distributions, probabilities)
def test_no_distribution_goes_below_the_frontier_of_its_level(distribution, p):
    """e^epsilon p + beta >= 1 and p + e^epsilon beta >= 1, equations (10) and (11)."""
    assert tradeoff(distribution, p) >= frontier(p, distribution.level) * (1 - Fraction(1, 2**45))


@given(alphas, probabilities)
def test_the_frontier_is_what_equations_10_and_11_leave(alpha, p):
    """max(0, 1 - e^epsilon p, e^-epsilon (1 - p))."""
    assert frontier(p, alpha=alpha) == max(Fraction(0), 1 - p / alpha, alpha * (1 - p))


@given(alphas, probabilities)
def test_half_steps_and_geometric_noise_attain_the_frontier(alpha, p):
    """mu = 0: no outcome of the half-step staircase or of the geometric distribution is uninformative."""
    for distribution in (
        Staircase.half_step(alpha=alpha, sensitivity="2.5"),
        DiscreteStaircase.half_step(alpha=alpha, sensitivity=7),
        Geometric(alpha=alpha),
    ):
        assert tradeoff(distribution, p) == frontier(p, alpha=alpha)


@given(alphas, st.sampled_from([Fraction(1, 16), Fraction(1, 4), Fraction(3, 4), Fraction(1)]), probabilities)
def test_the_staircase_at_its_sensitivity_is_three_lines(b, gamma, p):
    """Slopes -e^epsilon, -1 on a stretch of length mu, and -e^-epsilon."""
    first, second = min(gamma, 1 - gamma), max(gamma, 1 - gamma)
    a = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    mu = a * (second - first) * (b if gamma <= Fraction(1, 2) else 1)
    t = b * (1 - mu) / (1 + b)
    line = 1 - p / b if p <= t else 1 - t / b - (p - t) if p <= t + mu else b * (1 - p)
    assert tradeoff(Staircase(alpha=b, gamma=gamma), p) == line


@given(st.floats(1e-6, 50), st.floats(0, 1))
def test_the_laplace_curve_is_equation_15(epsilon, p):
    """1 - e^eps p, then e^-eps / (4p), then e^-eps (1 - p)."""
    a = exp(-epsilon)
    expected = 1 - p / a if p < a / 2 else a / (4 * p) if p < 0.5 else a * (1 - p)
    assert isclose(tradeoff(Laplace(epsilon=epsilon), p), expected, rel_tol=1e-12, abs_tol=1e-15)


# ---- agreement


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "10", "50"])
@pytest.mark.parametrize("shift", [Fraction(1, 3), 1, 3])
def test_fine_geometric_noise_has_the_laplace_curve(epsilon, shift):
    """Laplace noise is the limit of geometric noise on a finer and finer lattice; at 3e9 steps they agree."""
    D = 3 * 10**9
    p = np.concatenate([np.linspace(0, 1, 101), np.logspace(-300, -1, 50)])
    fine = tradeoff(Geometric(epsilon=epsilon, sensitivity=D), p, int(shift * D))
    assert np.allclose(fine, tradeoff(Laplace(epsilon=epsilon), p, shift), rtol=1e-6, atol=0)


def test_cells_of_laplace_noise_come_close_to_its_curve_from_above():
    """Post-processing can only help whoever hides: the curve of coarse cells lies above, and not far."""
    distribution, s, cell = Laplace(epsilon=1), 0.7, 0.01
    edges = np.arange(-3000, 3001) * cell
    rows = [np.diff(np.concatenate([[0], distribution.cdf(edges - shift), [1]])) for shift in (0, s)]
    p = np.linspace(0, 1, 57)
    coarse, fine = tradeoff(np.array(rows), p), tradeoff(distribution, p, s)
    assert (coarse >= fine - 1e-12).all()
    assert np.allclose(coarse, fine, atol=1e-2)


@given(
    st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(1, 10**8), Fraction(1, 10**21), 1 - Fraction(1, 10**6)]),
    st.fractions(0, 1, max_denominator=9),
    st.fractions(0, 6, max_denominator=50),
    st.one_of(st.floats(0, 1), st.floats(-300, 0).map(lambda x: 10**x)),
)
def test_floats_agree_with_rationals_up_to_rounding_of_the_false_alarm(b, gamma, shift, p):
    """The float answer lies between the exact ones at p (1 +- 2^-50), themselves widened by 2^-50."""
    distribution, unit = Staircase(alpha=b, gamma=gamma), Fraction(1, 2**50)
    found = Fraction(float(tradeoff(distribution, p, shift)))
    low = tradeoff(distribution, min(Fraction(p) * (1 + unit), Fraction(1)), shift) * (1 - unit)
    high = min(tradeoff(distribution, Fraction(p) * (1 - unit), shift) * (1 + unit), Fraction(1))
    assert low <= found <= high


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.data(), probabilities)
def test_rows_are_told_apart_by_trying_every_set_of_outcomes(weights, data, p):
    """The curve is the lower hull of the points of all deterministic tests, zero masses and ties included."""
    others = data.draw(st.lists(st.integers(0, 6), min_size=len(weights), max_size=len(weights)))
    if not sum(weights) or not sum(others):
        weights, others = [1, *weights], [1, *others]
    P, Q = ([Fraction(w, sum(row)) for w in row] for row in (weights, others))
    tests = [{y for y in range(len(P)) if n >> y & 1} for n in range(2 ** len(P))]
    cells = list(zip(P, Q, strict=True))
    points = [(sum(cells[y][0] for y in t), sum(q for y, (_, q) in enumerate(cells) if y not in t)) for t in tests]
    left = [point for point in points if point[0] <= p]
    right = [point for point in points if point[0] >= p]
    hull = min(u[1] if u[0] == v[0] else u[1] + (v[1] - u[1]) * (p - u[0]) / (v[0] - u[0]) for u in left for v in right)
    best = min(hull, min(point[1] for point in left))
    assert tradeoff((P, Q), p) == best
    assert isclose(tradeoff((np.array(P, float), np.array(Q, float)), float(p)), best, abs_tol=1e-9)


@given(integer_distributions(), st.integers(0, 8), probabilities, st.integers(1, 4))
def test_post_processing_raises_the_curve(distribution, shift, p, width):
    """Rounding the outcomes to multiples of a width cannot help the test."""
    rows = integer_pair(distribution, shift)
    rounded = [[sum(row[k : k + width]) for k in range(0, len(row), width)] for row in rows]
    assert tradeoff(rounded, p) >= tradeoff(distribution, p, shift)


def test_neighbouring_rows_of_the_geometric_channel_lie_on_the_frontier():
    """Clamping geometric noise to {0..n} loses nothing between neighbours."""
    C = geometric_channel(5, alpha="1/3")
    for x in range(4):
        p = np.array([Fraction(k, 20) for k in range(21)], dtype=object)
        assert (tradeoff(C.restrict([x, x + 1]), p) == frontier(p, alpha="1/3")).all()


# ---- corners


@pytest.mark.parametrize(
    "distribution",
    [
        Geometric(epsilon=50, sensitivity=10**9),
        DiscreteStaircase(epsilon="1e-6", sensitivity=10**9),
        Staircase(epsilon=50),
        Laplace(epsilon=50),
    ],
)
@pytest.mark.parametrize("shift", [0, 1, 10**9, 10**12, 10**30])
def test_every_size_is_answered_at_once_and_stays_a_probability(distribution, shift):
    p = np.concatenate([[0.0, 1.0, 5e-324], np.logspace(-300, 0, 200), 1 - np.logspace(-16, 0, 100)])
    curve = tradeoff(distribution, p, shift)
    assert ((curve >= 0) & (curve <= 1 - p + 1e-15)).all()
    assert curve[0] == 1
    assert curve[1] == 0


def test_no_probability_exceeds_one_by_rounding():
    """Sums near 1 that round up are cut: here the uncut sums are 1 + 2^-52."""
    p = np.array([1e-300, 5.9e-23, 1.3618391623242133e-20, 6.3e-24])
    for b, gamma, shift in ((Fraction(9, 10), Fraction(1, 7), 4), (Fraction(1, 7), Fraction(3, 5), 2)):
        assert (tradeoff(Staircase(alpha=b, gamma=gamma), p, shift) <= 1).all()


def test_beyond_the_sensitivity_there_are_more_slopes():
    """At shift 2 geometric noise of alpha 1/2 has likelihood ratios 4, 1, 1/4: the middle outcome reveals nothing."""
    p = [Fraction(n, 12) for n in range(13)]
    found = [tradeoff(Geometric(alpha="1/2"), x, shift=2) for x in p]
    assert found == [max(1 - 4 * x, Fraction(1, 2) - x, (1 - x) / 4) for x in p]


def test_answers_stay_in_the_number_kind_of_the_question():
    distribution = Geometric(alpha="1/2")
    assert isinstance(tradeoff(distribution, Fraction(1, 7)), Fraction)
    assert isinstance(tradeoff(distribution, 0), Fraction)
    assert isinstance(tradeoff(distribution, 0.25), float)
    assert isinstance(tradeoff(Geometric(epsilon=1), "1/7"), float)
    assert tradeoff(distribution, [["1/7", "1/2"]]).dtype == object
    assert tradeoff(distribution, np.zeros((2, 3))).shape == (2, 3)
    assert tradeoff(distribution, []).shape == (0,)
    assert not tradeoff(distribution, np.zeros(3)).flags.writeable
    assert tradeoff(Laplace(alpha="1/4"), "1/8") == Fraction(1, 2)
    assert tradeoff(Laplace(alpha="1/4"), "1/8", shift="1/2") == Fraction(3, 4)


# ---- extreme levels


@pytest.mark.parametrize("epsilon", [300, 700, 800, 1000])
def test_the_profile_of_a_staircase_holds_where_no_float_holds_its_smallest_mass(epsilon):
    """All but e^(-epsilon/2) or so of the mass loses epsilon: delta at e is 1 - e^(e - epsilon), rounded up."""
    distribution = Staircase(epsilon, 1)
    for at in (0, 1, epsilon / 2, 0.99 * epsilon):
        assert delta(distribution, at) == pytest.approx(-expm1(at - epsilon), abs=1e-15)
    assert total_variation(distribution) == 1.0
