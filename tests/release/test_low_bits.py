"""Every possible output is possible for each neighbour; this is not so for noise in floats."""

import math
from fractions import Fraction

import numpy as np
import pytest

from utmost.noise import Laplace, Staircase
from utmost.releases import add_noise
from utmost.sampling import on_grid

REALS = Laplace(epsilon=1, sensitivity=2.5)


def float_laplace(values, rng):
    """Planted fault: the textbook sampler in floats."""
    u = rng.random(len(values)) - 0.5
    return values - 2.5 * np.sign(u) * np.log1p(-2 * np.abs(u))


def float_staircase(values, rng):
    """Planted fault: Algorithm 1 of Geng and Viswanath in floats."""
    sign, k = rng.choice([-1, 1], len(values)), rng.geometric(1 - np.exp(-1), len(values)) - 1
    return values + sign * (k + rng.random(len(values)) * 0.4) * 2.5


def low_bit_attack(release_from, low=0.0, high=2.5, rounds=4000):
    """Find outputs that only one of two neighbours can have given, by their last bits. Between 0 and the sensitivity, a
    float sum `high + noise` is a multiple of a coarse unit in the last place, but a float noise alone is not: an output
    that is finer than every output of the other neighbour reveals its origin."""
    from_low = release_from(np.full(rounds, low))
    from_high = release_from(np.full(rounds, high))
    between = [{Fraction(x).denominator for x in found if low < x < high} for found in (from_low, from_high)]
    finest = [max(found) for found in between]
    return sum(Fraction(x).denominator > finest[1] for x in from_low) + sum(
        Fraction(x).denominator > finest[0] for x in from_high
    )


@pytest.mark.parametrize(
    "distribution", [REALS, Staircase(epsilon=1, sensitivity=2.5), Laplace(epsilon=1, sensitivity="5/2")]
)
def test_the_low_bit_attack_finds_nothing(distribution):
    assert low_bit_attack(lambda values: add_noise(values, distribution)) == 0


@pytest.mark.parametrize("planted", [float_laplace, float_staircase])
def test_the_low_bit_attack_finds_float_noise(planted):
    rng = np.random.default_rng(1)
    assert low_bit_attack(lambda values: planted(values, rng)) > 10


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -2.7, 1e6 + 0.1, 5e-324])
@pytest.mark.parametrize("distribution", [REALS, Laplace(epsilon=1, sensitivity=0.1), Staircase(epsilon=3)], ids=repr)
def test_outputs_of_neighbours_are_points_of_one_grid(value, distribution):
    """Each output is a grid point, and each grid point has positive probability from every true value."""
    lattice, exponent = on_grid(distribution)
    neighbour = float(np.nextafter(value + float(distribution.sensitivity), value))
    for origin in (value, neighbour):
        points = np.ldexp(add_noise(np.full(500, origin), distribution), exponent)
        assert (points == np.floor(points)).all()
        for other in (value, neighbour):
            shift = points - math.floor(Fraction(other) * 2**exponent)
            assert (lattice.logpmf(shift) > -np.inf).all()


def test_neighbours_are_told_apart_by_the_level_at_most():
    """The largest ratio of exact output probabilities around both values is exp(epsilon), and it is attained."""
    distribution = Laplace(alpha="1/2", sensitivity="0.3")
    lattice, _ = on_grid(distribution, "1/16")
    width = Fraction(1, 16)
    worst = Fraction(0)
    for x, y in ((0.1, 0.4), (0.0, 0.3), (-0.25, 0.05), (0.99, 1.28)):
        a, b = (math.floor(Fraction(v) / width) for v in (x, y))
        ratios = [
            Fraction(lattice.pmf_interval(n - a).lower) / lattice.pmf_interval(n - b).upper for n in range(-30, 50)
        ]
        assert max(ratios) <= 2
        worst = max(worst, max(ratios))
    assert worst > 2 - Fraction(1, 10**6)
