"""The decision whether V_lower = V_higher + W: against plain deconvolution, and with verdicts known in advance."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import level
from utmost.gradual import BoundedSupport, LargerCharacteristic, NegativeMass, Tightening, losslessness
from utmost.noise import DiscreteStaircase, Geometric


def staircase(epsilon, D, r=None):
    return DiscreteStaircase(epsilon, D, step=r)


def deconvolved(lower, higher, size=1 << 14):
    """W by the quotient of two discrete Fourier transforms, and the smallest |characteristic function| divided by."""
    i = np.arange(size)
    away = np.minimum(i, size - i)
    one, two = np.fft.fft(lower.pmf(away)).real, np.fft.fft(higher.pmf(away)).real
    return np.fft.ifft(one / two).real, np.abs(two).min(), np.abs(one / two).max()


@given(st.integers(1, 6), st.data())
def test_the_verdict_agrees_with_plain_deconvolution(D, data):
    """Where floats can tell, they say the same."""
    steps = st.integers(1, D)
    e1, e2 = sorted(data.draw(st.lists(st.integers(4, 40), min_size=2, max_size=2, unique=True)))
    lower, higher = (staircase(Fraction(e, 10), D, data.draw(steps)) for e in (e1, e2))
    W, smallest, largest = deconvolved(lower, higher)
    verdict = losslessness(lower, higher)
    if isinstance(verdict.obstacle, LargerCharacteristic):
        assert largest > 1
        return
    assume(smallest > 1e-6)
    if verdict:
        assert W.min() > -1e-9
        assert [float(verdict.difference.pmf(k)) for k in range(-20, 40)] == pytest.approx(
            np.roll(W, 20)[:60], abs=1e-9
        )
    else:
        assert isinstance(verdict.obstacle, NegativeMass)
        assert verdict.obstacle.mass == pytest.approx(W[verdict.obstacle.at], abs=1e-8)


@given(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20), st.integers(2, 9))
def test_geometric_noise_is_lossless_with_the_tightening_distribution(b, power):
    a = Fraction(1) - (1 - b) / power
    verdict = losslessness(Geometric(alpha=a), Geometric(alpha=b))
    W = Tightening(lower=level(alpha=a), higher=level(alpha=b))
    assert [verdict.difference.pmf(k) for k in range(-7, 8)] == [W.pmf(k) for k in range(-7, 8)]


@pytest.mark.parametrize("D", [1, 3, 5, 9, 101])
@pytest.mark.parametrize("pair", [("1/2", "1/3"), ("9/10", "1/100")])
def test_the_half_step_staircase_is_lossless(D, pair):
    """D odd, r = (D+1)/2: W = D times the tightening distribution, in rationals."""
    a, b = pair
    verdict = losslessness(DiscreteStaircase.half_step(None, D, alpha=a), DiscreteStaircase.half_step(None, D, alpha=b))
    W = Tightening(lower=level(alpha=a), higher=level(alpha=b))
    for k in range(-3, 4):
        assert verdict.difference.pmf(D * k) == W.pmf(k)
        assert D == 1 or verdict.difference.pmf(D * k + 1) == 0
    irrational = losslessness(DiscreteStaircase.half_step(1, D), DiscreteStaircase.half_step("7/5", D))
    assert irrational.difference.pmf(D) == pytest.approx(Tightening(level(1), level("7/5")).pmf(1), rel=1e-14)


def test_a_half_step_of_a_divisor_is_lossless_too():
    """Blocks of 9 are blocks of 3 with 3 times a block of 3: periods may differ."""
    lower, higher = DiscreteStaircase.half_step(1, 9), DiscreteStaircase.half_step(2, 3)
    verdict = losslessness(lower, higher)
    assert verdict
    assert not losslessness(lower, DiscreteStaircase.half_step(1, 3))
    i = np.arange(-400, 401)
    W = np.array([float(verdict.difference.pmf(int(k))) for k in i])
    assert np.convolve(W, higher.pmf(i))[400:-400][300:-300] == pytest.approx(lower.pmf(i)[300:-300], abs=1e-12)


EPS0 = Fraction("0.0962437879995078627")  # rounded up: 0.09624378799950786264725...


def test_period_two_is_lossless_from_eps0_on():
    """The number eps0 of THEORY 4.3: rho (rho^2 - rho + 1)^2 = 1 - rho^2, eps0 = -ln(rho/(rho^2 - rho + 1))."""
    low, high = Fraction(1, 2), Fraction(1)
    for _ in range(90):
        rho = (low + high) / 2
        low, high = (rho, high) if rho * (rho**2 - rho + 1) ** 2 < 1 - rho**2 else (low, rho)
    found = level(alpha=low / (low**2 - low + 1)).epsilon_interval(100)
    assert Fraction("0.0962437879995078626") < Fraction(found.low, 1 << 100) < Fraction(found.high, 1 << 100) < EPS0
    step = Fraction(1, 1000)
    assert losslessness(staircase(EPS0, 2, 1), staircase(EPS0 + step, 2, 1))
    assert losslessness(staircase(4, 2, 1), staircase(4 + step, 2, 1))
    below = losslessness(staircase(EPS0 - 5 * step, 2, 1), staircase(EPS0 - 4 * step, 2, 1))
    assert isinstance(below.obstacle, NegativeMass)


KNOWN = [
    # period, lower epsilon and step, higher epsilon and step, verdict; steps are optimal for |x| unless remarked
    (2, "0.0211", 1, "0.05", 1, False),
    (3, "3/2", 1, 2, 1, False),
    (3, "3/2", 1, 3, 1, True),
    (3, 2, 1, 3, 1, True),
    (3, 1, 2, 2, 1, True),
    (3, 1, 2, "3/2", 1, False),
    (4, 1, 2, 2, 2, False),
    (6, 1, 3, 2, 2, False),
    (6, 2, 2, 3, 2, True),  # both divide by a common block of 3
    (8, 2, 3, 3, 2, False),
    (8, 2, 3, 4, 1, True),
    (3, 1, 3, 2, 3, False),  # r = D never
    (5, 2, 2, 1, 3, False),  # towards a higher level never
]


@pytest.mark.parametrize(("D", "e1", "r1", "e2", "r2", "expected"), KNOWN)
def test_known_verdicts(D, e1, r1, e2, r2, expected):
    assert bool(losslessness(staircase(e1, D, r1), staircase(e2, D, r2))) is expected


def test_the_known_smallest_masses():
    """THEORY 4.3 gives -.00141 and -.064 for two of them."""
    assert losslessness(staircase("0.0211", 2), staircase("0.05", 2)).obstacle.mass == pytest.approx(-0.00141, abs=5e-6)
    assert losslessness(staircase(1, 3), staircase("3/2", 3)).obstacle.mass == pytest.approx(-0.064, abs=5e-4)


@pytest.mark.parametrize("D", [3, 4, 5])
def test_at_large_epsilon_the_step_must_exceed_log_of_d_minus_one(D):
    """r_1 = r_2 = 1: lossless iff eps_2 - eps_1 >= ln(D - 1), in the limit."""
    gap = Fraction(math.log(D - 1)).limit_denominator(10**6)
    assert losslessness(staircase(12, D, 1), staircase(12 + gap + Fraction(1, 100), D, 1))
    assert not losslessness(staircase(12, D, 1), staircase(12 + gap - Fraction(1, 100), D, 1))


def test_lossless_steps_need_not_split():
    """(3/2 -> 3) is lossless, its halves (3/2 -> 2) and (2 -> 3) are not both: no continuum."""
    distributions = [staircase(e, 3, 1) for e in ("3/2", 2, 3)]
    assert losslessness(distributions[0], distributions[2])
    assert not (losslessness(distributions[0], distributions[1]) and losslessness(distributions[1], distributions[2]))


@pytest.mark.parametrize(("D", "r"), [(2, 1), (3, 1), (8, 3)])
def test_the_difference_leads_from_one_distribution_to_the_other(D, r):
    """V_higher + W has the distribution of V_lower, far into the tail."""
    lower, higher = staircase(2, D, r), staircase(4, D, 1)
    W = losslessness(lower, higher).difference
    i = np.arange(-600, 601)
    masses = np.array([float(W.pmf(int(k))) for k in i])
    sums = np.convolve(masses, higher.pmf(i))[600:-600]
    near = np.abs(i) < 100
    assert sums[near] == pytest.approx(lower.pmf(i[near]), rel=1e-9)
    assert masses.sum() == pytest.approx(1)


def test_a_larger_characteristic_function_is_checked_by_hand():
    """The obstacle is a point of the unit circle at which |E z^V1| > |E z^V2|."""
    lower, higher = staircase(1, 4, 2), staircase(2, 4, 2)
    w = losslessness(lower, higher).obstacle
    assert w.x**2 + w.y**2 == 1
    angle, k = math.atan2(w.y, w.x), np.arange(-800, 801)
    one, two = (abs((distribution.pmf(k) * np.cos(k * angle)).sum()) for distribution in (lower, higher))
    assert one / two == pytest.approx(w.ratio, rel=1e-6)
    assert w.ratio > 1


def test_tables():
    """Binomial distributions are sums; other tables are not, and the reason is named."""
    coin, two = {0: "1/2", 1: "1/2"}, {0: "1/4", 1: "1/2", 2: "1/4"}
    assert [losslessness(two, coin).difference.pmf(k) for k in range(-1, 3)] == [0, Fraction(1, 2), Fraction(1, 2), 0]
    third = {-1: "1/3", 0: "1/3", 1: "1/3"}
    assert isinstance(losslessness(third, coin).obstacle, LargerCharacteristic)
    assert isinstance(losslessness(two, Geometric(alpha="1/2")).obstacle, BoundedSupport)
    biased = {0: "3/4", 1: "1/4"}
    assert isinstance(losslessness(third, biased).obstacle, NegativeMass)
    shifted = losslessness({4: "1/2", 7: "1/2"}, {1: 1}).difference
    assert (shifted.pmf(3), shifted.pmf(6), shifted.pmf(4)) == (Fraction(1, 2), Fraction(1, 2), 0)
    assert losslessness(Geometric(alpha="1/2"), {0: 1}).difference.pmf(3) == Geometric(alpha="1/2").pmf(3)
    same = losslessness(third, third)
    assert (same.difference.pmf(0), same.difference.pmf(1)) == (1, 0)


def test_what_is_no_distribution_is_refused():
    for bad in ({0: "1/2"}, {0: "3/2", 1: "-1/2"}, [0.5, 0.5], "geometric"):
        with pytest.raises(OutOfRange):
            losslessness(bad, {0: 1})
    with pytest.raises(NotANumber):
        losslessness({0.5: 1}, {0: 1})
