"""The Lipschitz constant of log f, against ratios of the masses and densities themselves."""

import math
from fractions import Fraction

import pytest

from utmost.errors import UtmostError
from utmost.exact import level
from utmost.noise import (
    DiscreteStaircase,
    Geometric,
    Laplace,
    Staircase,
    is_lipschitz_private,
    lipschitz_level,
    optimal_noise,
)


@pytest.mark.parametrize(
    "distribution",
    [
        Geometric(alpha="1/2"),
        Geometric(3, 3),
        DiscreteStaircase(alpha="1/3", sensitivity=4),
        DiscreteStaircase(alpha="1/2", sensitivity=2),
        DiscreteStaircase.half_step(2, 5),
    ],
    ids=repr,
)
def test_no_shift_of_an_integer_distribution_shows_more_than_its_length_and_one_shows_as_much(distribution):
    """max over x and d of |log p(x + d) - log p(x)| / d, over several periods, is the level stated."""
    masses = [
        distribution.log_pmf(x) if hasattr(distribution, "log_pmf") else math.log(float(distribution.pmf(x)))
        for x in range(-24, 25)
    ]
    steepest = max(abs(masses[j] - masses[i]) / (j - i) for i in range(49) for j in range(i + 1, 49))
    assert steepest == pytest.approx(lipschitz_level(distribution).epsilon_float, rel=1e-9)
    assert is_lipschitz_private(distribution, lipschitz_level(distribution))
    assert not is_lipschitz_private(distribution, lipschitz_level(distribution).scaled(Fraction(99, 100)))


def test_laplace_noise_is_lipschitz_private_and_the_staircase_is_at_no_level():
    distribution = Laplace(1, 5)
    slopes = [
        abs(math.log(distribution.pdf(x + 0.25) / distribution.pdf(x))) / 0.25 for x in (-9.0, -1.0, 0.0, 2.0, 30.0)
    ]
    assert max(slopes) == pytest.approx(0.2)
    assert lipschitz_level(distribution) == level("1/5")
    for staircase in (Staircase(1, 5), optimal_noise(1, 1, numbers="reals")):
        assert lipschitz_level(staircase) is None
        assert not is_lipschitz_private(staircase, 1000)
    assert lipschitz_level({0: "1/2", 1: "1/2"}) is None


def test_what_is_no_distribution_is_refused():
    for call in (
        lambda: lipschitz_level(3),
        lambda: lipschitz_level("laplace"),
        lambda: is_lipschitz_private(Laplace(1)),
    ):
        with pytest.raises(UtmostError):
            call()
