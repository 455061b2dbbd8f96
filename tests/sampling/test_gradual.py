"""Draws between levels have exactly the distribution of the transitions."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from goodness import LEVEL, kolmogorov_smirnov, mass_chi_square
from utmost.exact import level
from utmost.gradual import Bridge, Relaxing, Tightening, jump_count_pmf
from utmost.noise import Geometric
from utmost.releases import bridge, path, relax, tighten
from utmost.sampling import sample

N = 30_000
TRIPLES = [
    (level(epsilon="1/2"), level(epsilon=1), level(alpha="1/10")),
    (level(alpha="9/10"), level(alpha="1/2"), level(alpha="1/4")),
    (level(alpha="1/2").scaled("1/2"), level(alpha="1/2").scaled("3/2"), level(epsilon=3)),
    (level(epsilon=2), level(epsilon="2.001"), level(epsilon=30)),
]
at_levels = pytest.mark.parametrize("levels", TRIPLES, ids=str)
by_methods = pytest.mark.parametrize("method", ["constant", "table"])


@at_levels
@pytest.mark.parametrize("w", [0, 1, -4])
def test_bridges_and_relaxations_have_their_distribution(levels, w):
    lower, at, higher = levels
    for method in ("constant", "table"):
        drawn = relax(np.full(N, w), lower, at, method=method)
        assert mass_chi_square(drawn, lambda k: Bridge(lower, at, None).pmf(k, w)) > LEVEL
    for count in (N, *[1_000_001] * (w == 1)):  # so many go by table
        drawn = bridge(np.full(count, w), np.zeros(count, int), lower, at, higher)
        assert mass_chi_square(drawn, lambda k: Bridge(lower, at, higher).pmf(k, w)) > LEVEL


@by_methods
@at_levels
def test_tightenings_have_their_distribution(method, levels):
    lower, _, higher = levels
    assert (
        mass_chi_square(tighten(np.zeros(N, int), higher, lower, method=method), Tightening(lower, higher).pmf) > LEVEL
    )


@at_levels
def test_relaxed_noise_has_the_distribution_of_its_level(levels):
    """Draw at the lower level, relax to the higher one, bridge to the one between: each margin is geometric."""
    lower, at, higher = levels
    x = sample(Geometric(lower), N)
    y = relax(x, lower, higher)
    between = bridge(x, y, lower, at, higher)
    assert mass_chi_square(y, Geometric(higher).pmf) > LEVEL
    assert mass_chi_square(between, Geometric(at).pmf) > LEVEL
    assert mass_chi_square(x - y, Tightening(lower, higher).pmf) > LEVEL
    assert mass_chi_square(x - between, Tightening(lower, at).pmf) > LEVEL
    assert mass_chi_square(between - y, Tightening(at, higher).pmf) > LEVEL


def test_relaxed_noise_has_the_joint_distribution():
    lower, higher = level(epsilon="1/2"), level(epsilon=1)
    x = sample(Geometric(lower), N)
    drawn, transition = relax(x, lower, higher), Relaxing(lower, higher)
    for given in (-3, -1, 0, 1, 2):
        assert mass_chi_square(drawn[x == given], partial(lambda k, g: transition.pmf(k, g), g=given)) > LEVEL


@by_methods
def test_far_and_wide(method):
    """Noise beyond int64, at both ends of the levels, and empty arrays."""
    lower = level(epsilon=1).scaled(Fraction(1, 10**25))
    higher = lower.scaled(2)
    given = np.array([10**25, -(10**25), 3 * 10**25, 0, 1], dtype=object)
    drawn = relax(given, lower, higher, method=method)
    assert drawn.dtype == object
    assert max(abs(int(k)) for k in drawn) < 10**27
    wide = tighten(np.zeros(N, int), higher, lower, method=method)
    distribution = Tightening(lower, higher)
    hundredths = np.array([int(k) // 10**23 for k in wide])
    assert kolmogorov_smirnov(hundredths, lambda x: distribution.cdf((np.asarray(x) + 1) * 1e23 - 1e9)) > LEVEL
    near = relax(np.array([2**63 - 1, -(2**63)]), "1e-3", "2e-3", method=method)
    assert (np.abs(near.astype(object)) < 10**6).all(), "what is so far out comes home"
    assert (bridge(np.full(1000, 2), np.zeros(1000, int), 1, 50, 51) == 0).all()
    none = np.array([], np.int64)
    assert relax(none, lower, higher, method=method).shape == tighten(none, higher, lower, method=method).shape == (0,)


@pytest.mark.parametrize("levels", TRIPLES[:3], ids=str)
def test_paths_have_the_joint_distribution(levels):
    """V at each level of a drawn path is geometric, its moves are tightenings, its jumps Poisson in number."""
    paths = [path(levels[0]) for _ in range(800)]
    noise = np.array([[path.at(one) for one in levels] for path in paths])
    for i, one in enumerate(levels):
        assert mass_chi_square(noise[:, i], Geometric(one).pmf) > LEVEL
    for i, k in ((0, 1), (0, 2), (1, 2)):
        assert mass_chi_square(noise[:, i] - noise[:, k], Tightening(levels[i], levels[k]).pmf) > LEVEL
    jumps = np.array([len(path.jumps) for path in paths])
    assert mass_chi_square(jumps, lambda n: jump_count_pmf(n, levels[0])) > LEVEL


@pytest.mark.parametrize("x", [0, 2, -5])
def test_paths_from_a_given_noise_are_relaxations(x):
    lower, higher, _ = TRIPLES[0]
    paths = [path(lower, noise=x) for _ in range(4000)]
    assert {path.at(lower) for path in paths} == {x}
    assert (
        mass_chi_square(np.array([path.at(higher) for path in paths]), lambda k: Relaxing(lower, higher).pmf(k, x))
        > LEVEL
    )


def test_a_path_at_a_tiny_level():
    found = path("1e-12")
    assert found.at(40) in (-1, 0, 1)
    assert abs(found.at("1e-12")) < 10**14
    assert 10 < len(found.jumps) < 200


@by_methods
def test_levels_so_high_that_everything_is_certain(method):
    """Probabilities such as e^-700 and 1 - e^-700 are drawn without fuss."""
    given = np.arange(-3, 4)
    assert not relax(given, 600, 700, method=method).any()
    assert not bridge(given, np.zeros(7, int), 600, 700, 800).any()
    assert not tighten(np.zeros(100, int), 800, 600, method=method).any()
