"""The gain over Laplace noise, against epsilon: Figure 2 of Geng and Viswanath."""

import math

import pytest

from utmost.noise import costs, gain_curve


def test_figure_2():
    """At epsilon = 10 Laplace noise costs 14.84 times as much in absolute and 23.61 times as much in squared error."""
    assert gain_curve([10], costs.absolute) == pytest.approx([14.8406421], rel=1e-8)
    assert gain_curve([10], costs.squared) == pytest.approx([23.6068930], rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2, 7])
def test_the_closed_form(epsilon):
    """The absolute gain is 2 sinh(epsilon/2) / epsilon, by Theorem 4."""
    assert gain_curve([epsilon], costs.absolute) == pytest.approx([2 * math.sinh(epsilon / 2) / epsilon], rel=1e-12)


@pytest.mark.parametrize("cost", [costs.absolute, costs.squared, costs.moment(3)])
@pytest.mark.parametrize("numbers", ["integers", "reals"])
def test_it_grows_from_one(cost, numbers):
    gains = gain_curve([0, 0.01, 0.1, 1, 2, 5, 10], cost, sensitivity=4, numbers=numbers)
    assert gains[0] == 1
    assert gains == sorted(gains)
    assert gains[1] < 1.001
