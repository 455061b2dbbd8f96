"""Tighten, relax and bridge: THEORY in exact rationals, each formula by two routes."""

import pickle
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from utmost.errors import NotANumber, OutOfRange, Unsupported
from utmost.exact import level
from utmost.gradual import Bridge, Relaxing, Tightening
from utmost.noise import Geometric

alphas = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50)
integers = st.integers(-6, 6)


def levels_of(*alphas):
    """Levels from the lowest to the highest."""
    return [level(alpha=a) for a in sorted(map(Fraction, alphas), reverse=True)]


@st.composite
def ordered_levels(draw, count):
    drawn = draw(st.lists(alphas, min_size=count, max_size=count, unique=True))
    return levels_of(*drawn)


def difference(p, b, k):
    """(1 + b^2) p(k) - b (p(k-1) + p(k+1)), which inverts convolution with two-sided geometric noise of ratio b."""
    return ((1 + b * b) * p(k) - b * (p(k - 1) + p(k + 1))) / (1 - b) ** 2


@given(ordered_levels(2), integers)
def test_tightened_noise_is_geometric_again(levels, k):
    """V_start + W has the geometric distribution: deconvolving that distribution gives W back."""
    lower, higher = levels
    W = Tightening(lower=lower, higher=higher)
    assert W.pmf(k) == difference(Geometric(alpha=lower.alpha).pmf, higher.alpha, k)


@given(ordered_levels(2), integers, integers)
def test_relaxing_is_bayes_rule_on_tightening(levels, x, y):
    """P(V_to = y | V_start = x) = P(V_to = y) P(W = x - y) / P(V_start = x)."""
    lower, higher = levels
    joint = Geometric(alpha=higher.alpha).pmf(y) * Tightening(lower, higher).pmf(x - y)
    assert Relaxing(lower, higher).pmf(y, x) == joint / Geometric(alpha=lower.alpha).pmf(x)


@given(ordered_levels(3), integers, integers)
def test_the_bridge_is_bayes_rule_on_two_tightenings(levels, w, k):
    lower, at, higher = levels
    joint = Tightening(at, higher).pmf(k) * Tightening(lower, at).pmf(w - k)
    assert Bridge(lower, at, higher).pmf(k, w) == joint / Tightening(lower, higher).pmf(w)


@given(ordered_levels(2), integers, integers)
def test_relaxing_is_the_bridge_to_no_noise(levels, x, y):
    lower, higher = levels
    assert Bridge(lower, higher, None).pmf(y, x) == Relaxing(lower, higher).pmf(y, x)


@given(ordered_levels(3), integers)
def test_every_mixture_sums_to_one(levels, x):
    lower, at, higher = levels
    assert sum(Relaxing(lower, higher).pieces(x)) == 1
    for bridge in (Bridge(lower, at, higher), Bridge(lower, at, None)):
        assert bridge.home.fraction() + bridge.across.fraction() + bridge.stay.fraction() + bridge.leap.fraction() == 1
    W = Tightening(lower, higher)
    assert W.stay.fraction() + W.change.fraction() == 1
    assert W.cdf(x) + W.ccdf(x) == 1
    assert W.cdf(x) - W.cdf(x - 1) == W.pmf(x)


@given(ordered_levels(3), st.integers(1, 5))
def test_the_table_of_the_bridge_is_its_pmf(levels, w):
    """Enumerating home, across, stay and leap (K = sG or -s(1 + J) or w + sJ) gives P(K = k | W = w)."""
    lower, at, higher = levels
    B = Bridge(lower, at, higher)
    q, rho = B.rise.fraction(), B.fall.fraction()
    for k in range(-4, w + 5):
        if k < 0:
            mass = B.across.fraction() * (1 - q) * q ** (-k - 1)
        elif k < w:
            mass = (B.stay.fraction() + B.leap.fraction()) * (1 - rho) * rho**k
        else:
            mass = rho**w * (B.leap.fraction() * (1 - q) * q ** (k - w) + B.stay.fraction() * (k == w))
        assert B.pmf(k, w) == mass + B.home.fraction() * (k == 0)
        assert B.pmf(-k, -w) == B.pmf(k, w)


@given(ordered_levels(2), integers)
def test_the_pieces_of_relaxing_are_its_pmf(levels, x):
    """Stay, across, inward and outward, enumerated, are the pmf; staying and coming back together are `keep`."""
    lower, higher = levels
    R = Relaxing(lower, higher)
    A, B, C, D = R.pieces(x)
    a, b, m, s = lower.alpha, higher.alpha, abs(x), -1 if x < 0 else 1
    for k in range(-4, m + 5):
        mass = A * (k == m)
        if k < 0:
            mass += B * (1 - a * b) * (a * b) ** (-k - 1)
        elif k < m:
            mass += C * (b / a) ** k / sum((b / a) ** i for i in range(m))
        else:
            mass += D * (1 - a * b) * (a * b) ** (k - m)
        assert R.pmf(s * k, x) == mass
    assert R.keep(x) == R.pmf(x, x)


@given(ordered_levels(2), st.integers(-40, 40))
def test_the_mean_of_relaxing(levels, x):
    """E[V_to | V_start = x] by its closed form and by its pieces, in rationals."""
    lower, higher = levels
    R = Relaxing(lower, higher)
    A, B, C, D = R.pieces(x)
    q, rho, m, s = lower.alpha * higher.alpha, higher.alpha / lower.alpha, abs(x), -1 if x < 0 else 1
    inner = sum(k * rho**k for k in range(m)) / sum(rho**k for k in range(m)) if m else 0
    assert R.mean(x) == s * (A * m - B / (1 - q) + C * inner + D * (m + q / (1 - q)))


@given(ordered_levels(2))
def test_moments_of_the_tightening(levels):
    """Var V_to = Var V_start + Var W; E|W| from the tails; w is the squared correlation."""
    lower, higher = levels
    W = Tightening(lower, higher)
    a, b = lower.alpha, higher.alpha
    assert 2 * b / (1 - b) ** 2 + W.variance == 2 * a / (1 - a) ** 2
    assert W.mean_absolute == 2 * W.ccdf(0) / (1 - a)
    assert W.stay.fraction() == (b / (1 - b) ** 2) / (a / (1 - a) ** 2)


@given(ordered_levels(3))
def test_tightening_in_two_steps_is_tightening_in_one(levels):
    """W(higher -> lower) = W(higher -> at) + W(at -> lower) in distribution, by deconvolving both of them."""
    lower, at, higher = levels
    w = {(1, 2): Tightening(at, higher), (0, 1): Tightening(lower, at), (0, 2): Tightening(lower, higher)}
    for t in (0.3, 1.0, 3.0):
        assert cf(w[0, 2], t) == pytest.approx(cf(w[0, 1], t) * cf(w[1, 2], t), rel=1e-12)


def cf(W, t):
    stay, a = float(W.stay.number), float(W.lower.alpha)
    return stay + (1 - stay) * (1 - a) ** 2 / (1 - 2 * a * np.cos(t) + a * a)


@given(alphas)
def test_from_no_noise_tightening_is_the_noise_itself(a):
    W, distribution = Tightening(level(alpha=a), None), Geometric(alpha=a)
    assert all(W.pmf(k) == distribution.pmf(k) for k in range(-5, 6))
    assert W.stay.fraction() == 0
    same = Tightening(level(alpha=a), level(alpha=a))
    assert (same.stay.fraction(), same.pmf(0), same.pmf(1)) == (1, 1, 0)


PAIRS = [
    (level(epsilon="1e-6"), level(epsilon="2e-6")),
    (level(epsilon="1/2"), level(epsilon=1)),
    (level(epsilon=1), level(alpha="1/100")),
    (level(alpha="1/2").scaled("1/2"), level(alpha="1/2").scaled("3/2")),
    (level(epsilon=1).scaled("1e-9"), level(epsilon=50).scaled("1e-9")),
    (level(epsilon=1), level(epsilon=50)),
]


@pytest.mark.parametrize(("lower", "higher"), PAIRS, ids=str)
def test_floats_agree_with_rationals_near_by(lower, higher):
    """A rational alpha within 1e-40 of an irrational one gives the same answer to a float's last digits."""
    near = [level(alpha=one.alpha_interval(400).lower) for one in (lower, higher)]
    assert [one.alpha for one in near] == pytest.approx([lower.alpha, higher.alpha])
    for x in (0, 1, -3):
        for y in (0, 1, 2, -3):
            exact, floats = Relaxing(*near), Relaxing(lower, higher)
            assert floats.pmf([y], x) == pytest.approx([float(exact.pmf(y, x))], rel=1e-13, abs=0)
            assert floats.mean(x) == pytest.approx(float(exact.mean(x)), rel=1e-12)
        assert Tightening(lower, higher).pmf(x) == pytest.approx(float(Tightening(*near).pmf(x)), rel=1e-13, abs=0)


@pytest.mark.parametrize(("lower", "higher"), PAIRS, ids=str)
def test_bridge_in_floats_sums_to_one(lower, higher):
    at = level(epsilon=(lower.epsilon_float + higher.epsilon_float) / 2)
    for end in (higher, None):
        B = Bridge(lower, at, end)
        total = B.home.number + B.across.number + B.stay.number + B.leap.number
        assert total == pytest.approx(1, rel=1e-13, abs=0)
        assert min(B.across.number, B.stay.number, B.leap.number) > 0
    assert Bridge(lower, at, None).home.number == 0


def test_kinds_of_numbers():
    """Integers are answered in fractions, numeric arrays in floats, object arrays in fractions."""
    lower, higher = levels_of("1/2", "1/4")
    R = Relaxing(lower, higher)
    assert isinstance(R.pmf(0, 1), Fraction)
    assert R.pmf([0, 1], 1).dtype == np.float64
    assert R.pmf(np.array([0, 1], dtype=object), 1).tolist() == [R.pmf(0, 1), R.pmf(1, 1)]
    assert R.pmf(np.arange(3)[:, None], np.arange(2)).shape == (3, 2)
    assert R.pmf([], 0).shape == (0,)
    irrational = Relaxing(level(epsilon=1), level(epsilon=2))
    assert isinstance(irrational.pmf(0, 1), float)
    with pytest.raises(Unsupported, match="rational alpha"):
        irrational.pmf(np.array([0, 1], dtype=object), 1)
    with pytest.raises(NotANumber, match="integers"):
        R.pmf(0.5, 1)
    with pytest.raises(NotANumber):
        Tightening(lower, higher).pmf(True)


def test_far_away():
    """The transitions are exact however large the noise is."""
    lower, higher = level(epsilon=1).scaled("1e-9"), level(epsilon=2).scaled("1e-9")
    x = 3 * 10**9
    assert Relaxing(lower, higher).keep(x) == pytest.approx(np.exp(-3) / 2, rel=1e-6)
    assert Tightening(lower, higher).ccdf(10**11) == pytest.approx(0.75 / 2 * np.exp(-100), rel=1e-6)
    assert Relaxing(lower, higher).pmf(10**30, x) == 0.0


def test_transitions_are_values():
    lower, at, higher = levels_of("1/2", "1/3", "1/4")
    for transition in (Tightening(lower, higher), Relaxing(lower, higher), Bridge(lower, at, higher)):
        assert pickle.loads(pickle.dumps(transition)) == transition
        assert hash(transition) == hash(pickle.loads(pickle.dumps(transition)))


@given(ordered_levels(3))
def test_the_wrong_order_is_refused(levels):
    lower, at, higher = levels
    for one, other in pairwise(levels):
        with pytest.raises(OutOfRange, match="tighten"):
            Tightening(lower=other, higher=one)
        with pytest.raises(OutOfRange, match="relax"):
            Relaxing(lower=other, higher=one)
    for wrong in ((lower, lower, higher), (lower, higher, higher), (at, lower, higher), (lower, higher, at)):
        with pytest.raises(OutOfRange, match="between"):
            Bridge(*wrong)
    with pytest.raises(OutOfRange, match="relax"):
        Relaxing(lower, lower)


@given(st.lists(alphas, min_size=2, max_size=2, unique=True), integers, integers)
def test_the_distributions_differ_from_a_fresh_draw(drawn, x, y):
    """The transition depends on x: a draw of fresh noise at the higher level would be independent of it."""
    lower, higher = levels_of(*drawn)
    assume(x != 0)
    assert Relaxing(lower, higher).pmf(x, x) > Geometric(alpha=higher.alpha).pmf(x)


@pytest.mark.parametrize(("first", "gap"), [("1", "1e-9"), ("1e-12", "1e-13"), ("30", "1e-9")])
@pytest.mark.parametrize("x", [0, 1, -100])
def test_levels_that_are_close_lose_no_digits(first, gap, x):
    """At gaps of 1e-9 floats of bridges and of pieces had eight digits, of mpmath's."""
    lower, middle, higher = (level(Fraction(first) + k * Fraction(gap)) for k in range(3))
    with mpmath.workdps(60):
        a, m, b = (mpmath.exp(-mpmath.mpf(at.power.numerator) / at.power.denominator) for at in (lower, middle, higher))
        power, d = (b / a) ** abs(x), a * (1 - b * b)
        inward = a * (1 - a * b) * (1 - power) / d
        pieces = [b * (1 - a * a) / d * power, a * b * (a - b) / d, inward, (a - b) / d * power]
        assert Relaxing(lower, higher).pieces(x) == pytest.approx([float(piece) for piece in pieces], rel=1e-14, abs=0)
        bridge = Bridge(lower, middle, higher)
        for k in (0, 1, -3, 20):
            known = difference_of(m, b, k) * difference_of(a, m, x - k) / difference_of(a, b, x)
            assert bridge.pmf(k, x) == pytest.approx(float(known), rel=1e-13, abs=0)


def difference_of(p, b, k):
    """P(W = k) from the definition, in the numbers of p and b."""
    atom = b / p * ((1 - p) / (1 - b)) ** 2
    return (1 - atom) * (1 - p) / (1 + p) * p ** abs(k) + (atom if k == 0 else 0)
