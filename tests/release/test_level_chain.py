"""One level more: the neighbours that decide its law, and the laws themselves."""

from fractions import Fraction

import numpy as np
import pytest

from utmost.core.sampling.random_bits import SystemRandomness
from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.privacy import Unit
from utmost.publish.promises.lattice import lattice_of
from utmost.publish.promises.level_steps import Step

LEVELS = [level(alpha=alpha) for alpha in ("1/2", "1/3", "1/4", "1/5")]
UNIT = lattice_of("integers", Unit(1, 1))


@pytest.mark.parametrize(
    ("known", "to", "how"),
    [([], 1, "fresh"), ([0], 1, "relax"), ([2, 3], 1, "tighten"), ([0, 3], 1, "bridge"), ([0, 1, 3], 2, "bridge")],
)
def test_the_nearest_levels_decide(known, to, how):
    """Forward beyond the loosest, backward below the strictest, a bridge between the two nearest."""
    step = Step.from_known([LEVELS[at] for at in known], LEVELS[to])
    assert step.how == how
    assert step.strict == max((LEVELS[at] for at in known if at < to), default=None)
    assert step.loose == min((LEVELS[at] for at in known if at > to), default=None)


def test_a_level_that_is_known_is_no_step():
    with pytest.raises(OutOfRange, match="known already"):
        Step.from_known(LEVELS, LEVELS[1])


def test_each_law_sums_to_one_and_is_rational():
    """Of noise at alpha = 1/3, whatever is known."""
    for known in ([], [0], [3], [0, 3]):
        step = Step.from_known([LEVELS[at] for at in known], LEVELS[1])
        law = step.law(UNIT)
        given = (3,) if step.how in ("relax", "bridge") else ()
        assert isinstance(law.pmf(1, *given), Fraction)
        assert 1 - sum(law.pmf(k, *given) for k in range(-60, 61)) < Fraction(1, 10**20)


def test_shifted_neighbours_shift_the_result():
    """Below the loosest level responses do as well as noise: at epsilon = 60 all noise is zero."""
    near = [level(59), level(61), level(63)]
    above, below = np.full(50, 10**9), np.full(50, 10**9)
    for step in (Step(near[0], None, near[1]), Step(near[1], near[0], near[2])):
        assert (step.drawn(UNIT, below, above, 50, SystemRandomness(), "constant") == 10**9).all()
