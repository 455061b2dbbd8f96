"""The distribution of Euclidean noise: its density and transform, its least size, its tightening distribution."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from joint_transform import joint_transform
from utmost.errors import NotALevel, NotANumber, OutOfRange
from utmost.exact import level
from utmost.gradual import EuclideanLaplace, EuclideanTightening, LaplaceTightening


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_the_density_integrates_to_one_and_is_the_mixture_of_gaussians(n):
    """B(S), S ~ Gamma((n+1)/2, e^2), has the density c exp(-e|x|): the integral over the clock at five points."""
    e = 1.3
    distribution = EuclideanLaplace(level("13/10"), n)
    sphere = 2 * math.pi ** (n / 2) / math.gamma(n / 2)
    at = lambda r: float(distribution.density([r] + [0] * (n - 1)))  # noqa: E731
    assert sphere * integrate.quad(lambda r: r ** (n - 1) * at(r), 0, np.inf)[0] == pytest.approx(1, rel=1e-7)
    clock = stats.gamma((n + 1) / 2, scale=1 / e**2)
    for r in (0.3, 1.0, 2.5, 5.0, 9.0):
        mixed, _ = integrate.quad(
            lambda u, r=r: (
                math.exp(u)
                * clock.pdf(math.exp(u))
                * (4 * math.pi * math.exp(u)) ** (-n / 2)
                * math.exp(-(r**2) / 4 * math.exp(-u))
            ),
            -12,
            6,
            limit=200,
            epsabs=0,
            epsrel=1e-9,
        )
        assert mixed == pytest.approx(at(r), rel=1e-6)


@pytest.mark.parametrize("t", [0.2, 1.0, 3.0])
def test_the_transform_of_the_planar_density(t):
    """The Hankel transform of e^2/(2 pi) exp(-e r) is (1 + t^2/e^2)^(-3/2)."""
    distribution = EuclideanLaplace(level(2))
    found, _ = integrate.quad(lambda r: r * special.j0(t * r) * 4 * math.exp(-2 * r), 0, 40, limit=300)
    assert float(distribution.characteristic([t, 0.0])) == pytest.approx(found, rel=1e-8)


@given(st.integers(1, 6), st.lists(st.floats(0, 3), min_size=1, max_size=5), st.floats(0.1, 5))
def test_no_radial_noise_of_the_level_is_smaller(n, jumps, r):
    """f(r) exp(e r) nondecreasing makes |X| stochastically larger: for such step functions P(|X| <= r) is less."""
    places = np.linspace(0.3, 4, len(jumps))
    heights = np.concatenate([[1.0], 1 + np.cumsum(jumps)])
    edges = np.concatenate([[0.0], places, [np.inf]])
    distribution = stats.gamma(n)
    masses = heights * np.diff(distribution.cdf(edges))
    within = (heights * np.diff(distribution.cdf(np.minimum(edges, r)))).sum() / masses.sum()
    assert within <= float(EuclideanLaplace(level(1), n).within(r)) + 1e-12


@given(st.integers(1, 8), st.fractions("1/5", "19/20"))
def test_the_events_between_two_levels_are_negative_binomial(n, ratio):
    """They sum to 1, none with chance (e1/e2)^(n+1), and tightening adds what is missing of the variance."""
    made = EuclideanTightening(level(ratio), level(1), n)
    chances = np.array([made.events(m) for m in range(1500)])
    assert chances.sum() == pytest.approx(1, rel=1e-6)
    assert made.stay == pytest.approx(float(ratio) ** (n + 1)) == chances[0]
    mean = (chances * np.arange(chances.size)).sum()
    missing = EuclideanLaplace(made.lower, n).mean_squared - EuclideanLaplace(made.higher, n).mean_squared
    assert 2 * n * mean == pytest.approx(missing, rel=1e-5)  # E|W|^2 = 2 n E T, T of M exponential times of rate 1


def test_one_dimension_is_laplace():
    """In one dimension distribution, margin and tightening are those of Laplace noise."""
    lower, higher = level("1/2"), level(2)
    one, known = EuclideanTightening(lower, higher, 1), LaplaceTightening(lower, higher)
    assert one.stay == pytest.approx(float(known.stay))
    t = np.linspace(-4, 4, 9)
    assert np.allclose(one.characteristic(t[:, None]), known.characteristic(t))
    assert float(EuclideanLaplace(lower, 1).density([0.7])) == pytest.approx(0.25 * math.exp(-0.35))


def test_the_joint_transform_of_one_level_and_of_equal_ones():
    """One level gives its own transform; the order does not matter; the same level twice is one noise."""
    levels, t = [level(1), level("3/2")], [np.array([0.3, -1.0]), np.array([0.5, 0.2])]
    joint = joint_transform(t, levels)
    assert joint == pytest.approx(joint_transform(t[::-1], levels[::-1]))
    assert joint_transform(t[:1], levels[:1]) == pytest.approx(EuclideanLaplace(levels[0]).characteristic(t[0]))
    moved = EuclideanTightening(*levels).characteristic(t[0])
    assert joint == pytest.approx(moved * EuclideanLaplace(levels[1]).characteristic(t[0] + t[1]))
    twice = joint_transform(t, [levels[0]] * 2)
    assert twice == pytest.approx(EuclideanLaplace(levels[0]).characteristic(t[0] + t[1]))


def test_what_is_no_distribution():
    for bad in (0, -1, 1001, "x", 1.5):
        with pytest.raises((OutOfRange, NotANumber)):
            EuclideanLaplace(level(1), bad)
    with pytest.raises(OutOfRange, match="must be at most the"):
        EuclideanTightening(level(2), level(1))
    with pytest.raises(NotANumber):
        EuclideanLaplace(level(1)).density([1.0, 2.0, 3.0])
    with pytest.raises(NotALevel):
        EuclideanLaplace(level(0))
