"""GradualRelease: any levels in any order with one joint distribution; a failed call spends nothing, and no level has
two answers."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from goodness import LEVEL, chi_square, joint_chi_square
from utmost.errors import NotALevel, NotANumber, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Laplace
from utmost.releases import GradualRelease
from utmost.testing import SeededRandomness, seeded_gradual_release

N = 60_000
LEVELS = [level(epsilon="1/2"), level(alpha="1/2"), level(epsilon=2)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (2, 0, 1)], ids=["up", "down", "between"])
def test_every_order_of_requests_has_the_joint_distribution(order):
    """R3 by draws: three levels in turn, each order compared with the joint distribution of triples."""
    values = np.arange(N)
    answer = seeded_gradual_release(values, 1, seed=f"order {order}")
    noise = np.empty((3, N), np.int64)
    for i in order:
        noise[i] = answer.at(LEVELS[i]) - values
    assert joint_chi_square(noise, LEVELS) > LEVEL
    assert answer.levels == tuple(LEVELS)
    assert answer.spent == LEVELS[2]


def test_an_array_of_no_dimension_is_no_level():
    with pytest.raises(NotALevel):
        GradualRelease(5, 1).at(np.array(0.5))


def test_asked_again_the_answer_is_the_same():
    answer = GradualRelease([[5, 6], [7, 8]], sensitivity=1)
    first = answer.at(epsilon=1)
    answer.at(epsilon=3), answer.at(epsilon="1/3"), answer.at(epsilon=level(alpha="1/2"))
    assert (answer.at(epsilon=1) == first).all()
    assert (answer.at(level(epsilon=1)) == first).all()
    assert (answer.at(epsilon=level(alpha=0.5)) == answer.at(epsilon=level(alpha="1/2"))).all()
    assert first.shape == (2, 2)
    assert len(answer.levels) == 4


def test_a_release_that_was_never_asked_has_spent_nothing():
    answer = GradualRelease(3, sensitivity=1)
    assert (answer.levels, answer.spent) == ((), None)
    assert isinstance(answer.at(epsilon=1), int)
    assert answer.spent == level(epsilon=1)


def test_at_a_huge_level_the_answer_is_the_value():
    assert GradualRelease([10, -20], sensitivity=1).at(epsilon=200).tolist() == [10, -20]
    assert GradualRelease(0.5, sensitivity=1, numbers="reals", grid="1/4").at(epsilon=2000) == 0.5


@pytest.mark.parametrize(
    ("values", "numbers", "kind"),
    [
        (7, "integers", int),
        (7.0, "integers", int),
        (7, "reals", float),
        (0.25, "reals", float),
        ([1, 2], "integers", np.int64),
        ([1, 2.0], "integers", np.int64),
        (np.array([1.0, 2.0]), "integers", np.int64),
        ([1, 2], "reals", np.float64),
        ([0.5, 2.0], "reals", np.float64),
        (np.array([], np.int64), "integers", np.int64),
        (np.zeros((2, 0)), "reals", np.float64),
        (10**30, "integers", int),
        ([Fraction(1, 3)], "reals", np.float64),
        (np.array([250], np.uint8), "integers", np.int64),
    ],
)
def test_the_numbers_declared_decide_the_kind(values, numbers, kind):
    given = GradualRelease(values, sensitivity=1, numbers=numbers).at(epsilon=1)
    if isinstance(given, np.ndarray):
        assert given.dtype == kind
        assert given.shape == np.shape(values)
    else:
        assert isinstance(given, kind)


def test_integers_beyond_int64():
    answer = seeded_gradual_release(np.array([2**63 - 1, -(2**63)] * 9), 1, seed="edge")
    wide, higher, between = answer.at(epsilon="1/1000000"), answer.at(epsilon=300), answer.at(epsilon="1/1000")
    assert wide.dtype == between.dtype == object
    assert max(abs(w - v) for w, v in zip(wide, higher.tolist(), strict=True)) < 10**8
    assert higher.tolist() == [2**63 - 1, -(2**63)] * 9
    far = seeded_gradual_release(10**30, 10**25, seed="far")
    assert 10**20 < abs(far.at(epsilon=1) - 10**30) < 10**27
    assert abs(far.at(epsilon=500) - 10**30) < 10**24


def test_sensitivity_and_cells_scale_the_noise():
    """Sensitivity s and k cells: geometric noise of ratio exp(-epsilon/(s k))."""
    noise = seeded_gradual_release(np.zeros(N, int), 5, seed="scale", cells=2).at(epsilon=1)
    assert np.abs(noise).mean() == pytest.approx(float(Geometric(1, 10).expected_cost(abs)), rel=0.03)


def test_reals_are_laplace_noise_on_a_grid():
    noise = seeded_gradual_release(np.zeros(N), "5/2", seed="reals", numbers="reals")
    higher, lower = noise.at(epsilon=2), noise.at(epsilon="1/2")
    for drawn, epsilon in ((higher, 2), (lower, "1/2")):
        distribution = Laplace(epsilon, "5/2")
        assert stats.kstest(drawn, distribution.cdf).pvalue > 1e-6
    assert np.corrcoef(higher, lower)[0, 1] == pytest.approx(1 / 4, abs=0.03)
    assert (higher == lower).mean() == pytest.approx(1 / 16, abs=0.01)
    on_quarters = seeded_gradual_release([0.3, 1.9], 1, seed="grid", numbers="reals", grid="1/4").at(epsilon=1)
    assert (np.mod(on_quarters, 0.25) == 0).all()


def test_half_step_noise_has_the_staircase_distribution_at_every_level():
    """A uniform block plus 5 times the geometric process: at each level this is the half-step staircase."""
    answer = seeded_gradual_release(np.zeros(N, int), 5, seed="half", half_step=True)
    answers = {e: answer.at(epsilon=e) for e in (1, 3, 2, "1/2")}
    for e, noise in answers.items():
        assert chi_square(noise, DiscreteStaircase.half_step(e, 5).cdf) > LEVEL
    moves = answers[1] - answers[3]
    assert (moves % 5 == 0).all(), "the block never moves"
    wide = seeded_gradual_release(0, 10**19 + 1, seed="wide", half_step=True)
    assert abs(wide.at(epsilon=1)) < 10**22
    real = seeded_gradual_release([0.0], "1/2", seed="real", numbers="reals", half_step=True)
    assert abs(real.at(epsilon=30)[0]) < 0.6


def test_levels_by_cell():
    """Each cell is answered at a different level, and all answers belong to one history."""
    values = np.zeros(6, int)
    answer = seeded_gradual_release(values, 1, seed="cells")
    mixed = answer.at(epsilon=["1/2", 1, 1, 60, "1/2", 60])
    assert mixed[[3, 5]].tolist() == [0, 0]
    half, one = answer.at(epsilon="1/2"), answer.at(epsilon=1)
    assert half[[0, 4]].tolist() == mixed[[0, 4]].tolist()
    assert one[[1, 2]].tolist() == mixed[[1, 2]].tolist()
    assert answer.spent == level(epsilon=60)
    assert answer.at(epsilon=[1] * 6).tolist() == one.tolist()
    swapped = answer.at(epsilon=[60, 60, "1/2", 1, 1, "1/2"])
    assert swapped[[0, 1]].tolist() == [0, 0]
    assert swapped[2:6].tolist() == [half[2], one[3], one[4], half[5]]


def test_levels_by_cell_have_the_joint_distribution():
    """Cells that reach the same levels by different orders have the same joint distribution."""
    answer = seeded_gradual_release(np.zeros(N, int), 1, seed="ways")
    first = np.array([LEVELS[i % 3] for i in range(N)], dtype=object)
    second = np.array([LEVELS[(i + 1) % 3] for i in range(N)], dtype=object)
    answer.at(epsilon=first), answer.at(epsilon=second)
    noise = np.array([answer.at(one) for one in LEVELS])
    assert joint_chi_square(noise, LEVELS) > LEVEL
    assert all(joint_chi_square(noise[:, i::3], LEVELS) > LEVEL for i in range(3))


def test_alpha_and_epsilon_of_mixed_kinds():
    """Levels of rational alpha, of rational epsilon, and of powers of both, in one release."""
    answer = seeded_gradual_release(np.zeros(N, int), 2, seed="mixed")
    asked = [level(alpha="1/2"), level(epsilon=1), level(alpha="1/10").scaled("1/3"), level(epsilon="1/10")]
    for one in asked:
        noise = answer.at(one)
        wanted = float(Geometric(one, 2).variance())
        assert noise.var() == pytest.approx(wanted, rel=0.1)
    assert answer.levels == tuple(sorted(asked))


def test_a_level_that_is_none_spends_nothing():
    answer = GradualRelease([1, 2], sensitivity=1)
    for bad in (0, -1, "x", True, float("nan"), [1, 0]):
        with pytest.raises((NotALevel, OutOfRange)):
            answer.at(epsilon=bad)
    with pytest.raises(NotALevel):
        answer.at()
    with pytest.raises(NotALevel):
        answer.at(epsilon={"a": 1})
    with pytest.raises(OutOfRange, match="shape"):
        answer.at(epsilon=[1])
    assert answer.spent is None


@pytest.mark.parametrize(
    ("values", "options", "error"),
    [
        ([1, None], {}, NotANumber),
        ([1.0, float("nan")], {}, NotANumber),
        ([True], {}, NotANumber),
        (["1"], {}, NotANumber),
        ([1], {"sensitivity": 0}, OutOfRange),
        ([1], {"sensitivity": 1.5}, NotANumber),
        ([1.5], {}, NotANumber),
        ([1, 2.5], {}, NotANumber),
        ([1.0], {"sensitivity": 0, "numbers": "reals"}, OutOfRange),
        ([1], {"numbers": "counts"}, OutOfRange),
        ([1], {"grid": "1/4"}, OutOfRange),
        ({"a": [1]}, {}, NotANumber),
        ([1], {"cells": 0}, OutOfRange),
        ([1], {"sensitivity": 4, "half_step": True}, OutOfRange),
        ([1.0], {"numbers": "reals", "grid": "1/3"}, OutOfRange),
        ([1], {"randomness": SeededRandomness(1)}, PromiseBroken),
        ([1], {"randomness": 1}, Unsupported),
    ],
)
def test_what_cannot_be_released(values, options, error):
    with pytest.raises(error):
        GradualRelease(values, **{"sensitivity": 1, **options})


def test_the_values_are_copied():
    values = np.array([1, 2])
    answer = GradualRelease(values, sensitivity=1)
    values[:] = 100
    assert answer.at(epsilon=300).tolist() == [1, 2]
