"""The transitions of Laplace noise: equations (20), (25) and (28), and the limit of the transitions on the integers."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import level
from utmost.gradual import (
    Bridge,
    LaplaceBridge,
    LaplaceRelaxing,
    LaplaceTightening,
    Relaxing,
    Tightening,
    laplace_correlation,
    laplace_expected_jumps,
    laplace_jump_intensity,
)
from utmost.noise import Laplace

PAIRS = [
    (level(epsilon=1), level(epsilon=2)),
    (level(epsilon="1/10"), level(epsilon="1/9")),
    (level(alpha="1/2"), level(epsilon=5)),
]
POINTS = np.array([-3.0, -1.0, -0.25, 0.0, 0.5, 2.0])


@pytest.mark.parametrize(("lower", "higher"), PAIRS, ids=str)
def test_tightening_and_relaxing_are_one_joint_distribution(lower, higher):
    """l_1(x) P(V_2 = y | x) = l_2(y) P(V_1 = x | y), as densities off the diagonal and as densities on it."""
    e1, e2 = lower.epsilon_float, higher.epsilon_float
    R, W = LaplaceRelaxing(lower, higher), LaplaceTightening(lower, higher)
    x, y = POINTS[:, None], POINTS
    one, two = stats.laplace(scale=1 / e1), stats.laplace(scale=1 / e2)
    assert one.pdf(x) * R.density(y, x) == pytest.approx(two.pdf(y) * W.density(x - y))
    assert one.pdf(POINTS) * R.pieces(POINTS).stay == pytest.approx(two.pdf(POINTS) * float(W.stay))


@pytest.mark.parametrize(("lower", "higher"), PAIRS, ids=str)
@pytest.mark.parametrize("x", [0.0, 1.5, -2.0])
def test_distribution_functions_integrate_the_densities(lower, higher, x):
    R, W = LaplaceRelaxing(lower, higher), LaplaceTightening(lower, higher)
    assert sum(R.pieces(x)) == pytest.approx(1)
    for y in (-2.5, -0.5, 0.0, 0.75, 3.0):
        marks = sorted({-60 / lower.epsilon_float, *(p for p in (0.0, x) if p < y), y})
        area = sum(integrate.quad(R.density, a, b, args=(x,), epsabs=1e-12)[0] for a, b in pairwise(marks))
        assert R.cdf(y, x) == pytest.approx(area + R.pieces(x).stay * (y >= x), abs=1e-9)
        assert W.cdf(y) - W.cdf(-y) == pytest.approx(
            integrate.quad(W.density, -y, y, points=[0])[0] + float(W.stay) * ((y >= 0) - (-y >= 0)), abs=1e-9
        )
    assert R.cdf(x, x) - R.cdf(np.nextafter(x, -9), x) == pytest.approx(R.pieces(x).stay)


@pytest.mark.parametrize(("lower", "higher"), PAIRS, ids=str)
def test_tightened_noise_is_laplace_again(lower, higher):
    """The characteristic function of W is the quotient of the two; moments follow."""
    e1, e2 = lower.epsilon_float, higher.epsilon_float
    W, t = LaplaceTightening(lower, higher), np.linspace(-9, 9, 7)
    assert W.characteristic(t) * (e2**2 / (e2**2 + t**2)) == pytest.approx(e1**2 / (e1**2 + t**2))
    assert W.mean_absolute == pytest.approx((1 - (e1 / e2) ** 2) / e1)
    assert float(W.stay) == pytest.approx((e1 / e2) ** 2)


@pytest.mark.parametrize(("lower", "higher"), PAIRS)
@pytest.mark.parametrize("x", [0.0, 0.5, -3.0, 40.0])
def test_the_mean_of_relaxing(lower, higher, x):
    R = LaplaceRelaxing(lower, higher)
    far = 100 / higher.epsilon_float
    marks = sorted({-far - 3, -far / 9, 0.0, x, x + far / 9, x + far})
    area = sum(integrate.quad(lambda y: y * R.density(y, x), a, b, epsabs=1e-12)[0] for a, b in pairwise(marks))
    assert R.mean(x) == pytest.approx(area + x * R.pieces(x).stay, abs=1e-9)


def test_the_transitions_on_a_fine_lattice_tend_to_these():
    lower, higher = PAIRS[0]
    unit = 10**6
    R, W = LaplaceRelaxing(lower, higher), LaplaceTightening(lower, higher)
    fine = [one.scaled(1 / level(epsilon=unit).epsilon) for one in (lower, higher)]
    r, w = Relaxing(*fine), Tightening(*fine)
    for x in (0.0, 1.5, -2.0):
        assert list(r.pieces(round(x * unit))) == pytest.approx(list(R.pieces(x)), rel=1e-5, abs=1e-6)
        assert r.pmf(unit // 2, round(x * unit)) * unit == pytest.approx(R.density(0.5, x), rel=1e-5)
        assert w.cdf(round(x * unit)) == pytest.approx(W.cdf(x), rel=1e-5)
        assert r.mean(round(x * unit)) / unit == pytest.approx(R.mean(x), abs=1e-5)


def test_jumps():
    """2/epsilon d epsilon integrates to 2 ln(e_2/e_1), and no jump has the chance (e_1/e_2)^2 of the atom."""
    one, three = level(epsilon=1), level(epsilon=3)
    assert laplace_jump_intensity(one) == 2
    area = integrate.quad(lambda e: laplace_jump_intensity(level(epsilon=e)), 1, 3)[0]
    assert laplace_expected_jumps(one, three) == pytest.approx(area)
    assert math.exp(-laplace_expected_jumps(one, three)) == pytest.approx(float(LaplaceTightening(one, three).stay))
    assert laplace_jump_intensity(level(alpha="1/2")) == pytest.approx(2 / math.log(2))


def test_correlation():
    """The squared correlation is the chance that the noise stays; Cov(V_1, V_2) = Var(V_2) since V_1 = V_2 + W."""
    one, three, half = level(epsilon=1), level(epsilon=3), level(alpha="1/2")
    assert laplace_correlation(one, three) == laplace_correlation(three, one) == Fraction(1, 3)
    assert laplace_correlation(one, one) == 1
    for lower, higher in ((one, three), (half, one), (half, level(alpha="1/4"))):
        assert laplace_correlation(lower, higher) ** 2 == LaplaceTightening(lower, higher).stay
        shared, whole = Laplace(higher).variance(), Laplace(lower).variance()
        assert float(laplace_correlation(lower, higher)) == pytest.approx(math.sqrt(float(shared / whole)))


def test_refusals():
    one, three = level(epsilon=1), level(epsilon=3)
    with pytest.raises(OutOfRange, match="tighten"):
        LaplaceTightening(lower=three, higher=one)
    for start, to in ((three, one), (one, one)):
        with pytest.raises(OutOfRange, match="relax"):
            LaplaceRelaxing(lower=start, higher=to)
    with pytest.raises(OutOfRange, match="must be at most the"):
        laplace_expected_jumps(three, one)
    for bad in (math.nan, "1", True):
        with pytest.raises(NotANumber):
            LaplaceTightening(lower=one, higher=three).density(bad)


TRIPLES = [("1", "2", "3"), ("1/10", "1/9", "5"), ("1/2", "3", "4")]


@pytest.mark.parametrize("epsilons", TRIPLES, ids="-".join)
@pytest.mark.parametrize("w", [0.7, -2.0])
def test_the_bridge_is_bayes_rule_on_two_tightenings(epsilons, w):
    """Its atoms and its density are those of W' given W' + W'' = w, for the two tightening distributions."""
    lower, at, higher = map(level, epsilons)
    bridge, whole = LaplaceBridge(lower, at, higher), LaplaceTightening(lower, higher)
    near, far = LaplaceTightening(at, higher), LaplaceTightening(lower, at)
    assert bridge.home == pytest.approx(float(near.stay) * far.density(w) / whole.density(w))
    assert bridge.home == pytest.approx(float((at.power**2 - lower.power**2) / (higher.power**2 - lower.power**2)))
    assert bridge.stay(w) == pytest.approx(near.density(w) * float(far.stay) / whole.density(w))
    k = POINTS
    assert bridge.density(k, w) == pytest.approx(near.density(k) * far.density(w - k) / whole.density(w))
    smooth = integrate.quad(lambda x: bridge.density(x, w), -150, 150, points=[0, w], limit=200)[0]
    assert bridge.home + bridge.stay(w) + smooth == pytest.approx(1, abs=1e-7)
    below = integrate.quad(lambda x: bridge.density(x, w), -150, 0.3, points=sorted({0, min(w, 0.2)}), limit=200)[0]
    assert bridge.cdf(0.3, w) == pytest.approx(below + bridge.home + bridge.stay(w) * (w <= 0.3), abs=1e-7)


def test_where_nothing_moved_the_bridge_moves_nothing():
    bridge = LaplaceBridge(*map(level, (1, 2, 3)))
    assert (bridge.stay(0), bridge.density(1.0, 0.0)) == (1, 0)
    assert bridge.cdf([-1.0, 0.0, 1.0], 0.0).tolist() == [0, 1, 1]


def test_the_bridge_on_a_fine_lattice_tends_to_this():
    fine = 4000
    levels = [level(e).scaled(f"1/{fine}") for e in (1, 2, 3)]
    lattice, reals = Bridge(*levels), LaplaceBridge(*map(level, (1, 2, 3)))
    w = 1.5
    steps = np.arange(-20 * fine, 20 * fine)
    masses = lattice.pmf(steps, np.full(steps.shape, int(w * fine)))
    for k in (-0.75, 0.25, 1.25, 2.0):
        assert masses[steps <= k * fine].sum() == pytest.approx(reals.cdf(k, w), abs=2e-3)


@pytest.mark.parametrize("epsilons", [(1, 1, 2), (1, 3, 2), (2, 1, 3)])
def test_a_bridge_lies_between(epsilons):
    with pytest.raises(OutOfRange, match="strictly between"):
        LaplaceBridge(*map(level, epsilons))
