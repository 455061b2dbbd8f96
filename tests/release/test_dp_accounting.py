"""Google's dp-accounting judges the responses of a gradual release: together they cost what the highest level costs."""

import math

import numpy as np
import pytest

from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.noise import Geometric
from utmost.privacy_types import delta

pytestmark = pytest.mark.oracle
accounting = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

LADDERS = [
    [level(epsilon="1/2"), level(epsilon=1)],
    [level(alpha="2/3"), level(alpha="1/2"), level(epsilon=1)],
    [level(epsilon="3/4"), level(epsilon=1), level(epsilon=2), level(epsilon=3)],
]
EPSILONS = [0, 0.1, 0.25, 0.5, 0.75, 0.99, 1.5, 2.5, 2.99, 3.2]


def logs(mass):
    """Outcomes by number with the logarithms of their probabilities; everything outside the range is one more
    outcome."""
    flat = np.append(mass.ravel(), max(0.0, 1 - mass.sum()))
    return {i: math.log(p) for i, p in enumerate(flat.tolist()) if p > 1e-18}


def judged(here, there):
    return accounting.from_two_probability_mass_functions(logs(there), logs(here), value_discretization_interval=1e-5)


def responses(count):
    """Every likely response at each of several levels: a response at the highest level, and differences to the
    others."""
    reach = {2: 60, 3: 32, 4: 14}[count]
    moves = np.meshgrid(*[np.arange(-reach, reach + 1)] * count, indexing="ij")
    return list(np.cumsum(moves[::-1], axis=0))[::-1]


@pytest.mark.parametrize("levels", LADDERS, ids=str)
def test_the_joint_profile_is_the_single_one(levels):
    """Equal to 1e-4 at every epsilon, by the package's own accounting of the highest level and by ours."""
    v = responses(len(levels))
    here, there = joint_pmf(v, levels), joint_pmf([one - 1 for one in v], levels)
    assert here.sum() > 1 - 2e-5
    highest, k = Geometric(levels[-1]), np.arange(-60, 61)
    together, alone = judged(here, there), judged(highest.pmf(k), highest.pmf(k - 1))
    for epsilon in EPSILONS:
        found = together.get_delta_for_epsilon(epsilon)
        assert found == pytest.approx(alone.get_delta_for_epsilon(epsilon), abs=1e-4)
        assert found == pytest.approx(float(delta(highest, epsilon)), abs=1e-4)


def test_fresh_noise_at_each_level_is_judged_to_cost_the_sum():
    """The judge can reject: with independent answers delta(2) is far above 0, its value for the highest level."""
    levels, k = LADDERS[2][:3], np.meshgrid(*[np.arange(-20, 21)] * 3, indexing="ij")
    distributions = [Geometric(one) for one in levels]
    here, there = (
        np.prod([distribution.pmf(x - s) for distribution, x in zip(distributions, k, strict=True)], axis=0)
        for s in (0, 1)
    )
    assert judged(here, there).get_delta_for_epsilon(2) > 0.1
