"""Distributions as OpenDP's measurements: maps that are right and tight, releases distributed as they say, queryables.

The map of a measurement is asked without the package that it is for.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.core.exact.intervals import round_up
from utmost.core.sampling.draw import on_grid
from utmost.core.sampling.grid import snapped
from utmost.errors import UtmostError
from utmost.gradual import correlation

# The numbers behind a neighbour's object are compared without that package.
from utmost.interfaces.interop.measurements import level_within

DISTRIBUTIONS = [
    ut.noise.Geometric("1/2", 3),
    ut.noise.DiscreteStaircase(1, 5, step=2),
    ut.noise.Laplace("1/3", 2),
    ut.noise.Staircase(1, 1, gamma="1/4"),
]


@pytest.fixture
def dp():
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib", "honest-but-curious")
    yield prelude
    prelude.disable_features("contrib", "honest-but-curious")


@pytest.mark.parametrize(
    "distribution", [distribution for distribution in DISTRIBUTIONS if distribution.numbers == "integers"], ids=repr
)
@pytest.mark.parametrize("distance", [1, 2, 3, 5, 6, 11])
def test_the_map_is_the_least_epsilon_at_each_distance(distribution, distance):
    """No x has a log-ratio above the map; at whole multiples of the sensitivity some x attains it."""
    far = 60
    attained = max(distribution.logpmf(float(x)) - distribution.logpmf(float(x + distance)) for x in range(-far, far))
    assert attained <= level_within(distribution, distance) * (1 + 1e-12)
    if isinstance(distribution, ut.noise.Geometric) or distance % distribution.sensitivity == 0:
        assert attained == pytest.approx(level_within(distribution, distance))


def test_the_map_rounds_up():
    """The float is never below the exact rational."""
    for d in range(1, 50):
        assert Fraction(level_within(ut.noise.Geometric("1/3", 7), d)) >= Fraction(d, 21)
    assert level_within(ut.noise.Laplace(1), math.inf) == math.inf
    assert level_within(ut.noise.Laplace(1), 0.0) == 0


@pytest.mark.parametrize("noise", [ut.noise.Laplace("1/3", 2), ut.noise.Laplace(1), ut.noise.Staircase(1, 3)], ids=repr)
@pytest.mark.parametrize("distance", [2.0**-50, 1e-9, 0.1, 0.75, 1.0, 3.0, 7.3])
def test_the_map_of_reals_is_that_of_the_noise_that_is_drawn(noise, distance):
    """Two reals on both sides of the middle of two grid points are rounded away from each other."""
    lattice, exponent = on_grid(noise)
    low = math.nextafter(2.0 ** -(exponent + 1), 0)
    high = low + distance  # rounded, so that the exact distance is another one
    apart = int(snapped(np.array([high]), exponent)[0] - snapped(np.array([low]), exponent)[0])
    assert apart >= 1
    attained = Fraction(lattice.worst_level(Fraction(apart)).epsilon_interval().lower)
    assert attained <= Fraction(level_within(noise, Fraction(high) - Fraction(low)))
    assert level_within(noise, float(noise.sensitivity)) == round_up(noise.level.epsilon_interval().upper)


@pytest.mark.oracle
@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_a_measurement_maps_and_releases(dp, distribution):
    measurement = ut.interop.opendp_measurement(distribution)
    one = int(distribution.sensitivity) if distribution.numbers == "integers" else float(distribution.sensitivity)
    assert measurement.map(one) == pytest.approx(distribution.level.epsilon_float)
    assert measurement.map(2 * one) == pytest.approx(2 * distribution.level.epsilon_float)
    released = [measurement(1000 * one) for _ in range(200)]
    centre = sum(released) / len(released)
    assert abs(centre - 1000 * one) < 8 * distribution.std() / math.sqrt(len(released))


@pytest.mark.oracle
def test_released_integers_stay_in_64_bits(dp):
    assert -(1 << 63) <= ut.interop.opendp_measurement(ut.noise.Geometric("1/1000000"))((1 << 63) - 1) < 1 << 63


@pytest.mark.oracle
def test_it_composes_with_opendps_own(dp):
    """Chained behind a count of OpenDP's, the map is the product of both."""
    count = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance(), TO="i64")
    chained = count >> ut.interop.opendp_measurement(ut.noise.Geometric(1))
    assert chained.map(2) == pytest.approx(2)
    assert isinstance(chained([1, 2, 3]), int)


@pytest.mark.oracle
def test_a_queryable_answers_at_any_level_and_costs_the_highest_level(dp):
    distribution = ut.noise.Geometric(2)
    measurement = ut.interop.gradual_measurement(distribution)
    assert measurement.map(1) == pytest.approx(2)
    asked = measurement(100)
    lower, higher = asked("1/10"), asked(2)
    assert asked("1/10") == lower
    assert asked(2) == higher
    assert abs(higher - 100) < 60
    with pytest.raises(Exception, match="at most"):
        asked(3)


@pytest.mark.oracle
def test_answers_of_a_queryable_are_those_of_one_process(dp):
    """Joint distribution of two levels: the lower is the other plus noise; their correlation is ours."""
    levels = [ut.level("1/2"), ut.level(2)]
    pairs = []
    for _ in range(400):
        asked = ut.interop.gradual_measurement(ut.noise.Geometric(2))(0)
        pairs.append((asked("1/2"), asked(2)))
    mean = sum(a * b for a, b in pairs) / len(pairs)
    assert mean == pytest.approx(float(ut.noise.Geometric(2).variance()), abs=1.5)
    assert correlation(*levels) > 0


def test_only_geometric_noise_is_gradual():
    with pytest.raises(UtmostError):
        ut.interop.gradual_measurement(ut.noise.DiscreteStaircase(1, 3, step=1))
