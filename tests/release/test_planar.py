"""PlanarRelease: any levels in any order from one hidden path, rounded; margins that hold; no copies of the object."""

import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from utmost.errors import Infeasible, NotALevel, NotANumber, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import level
from utmost.gradual import EuclideanLaplace
from utmost.promises import PointNoise
from utmost.releases import PlanarRelease, planar_epsilon_for
from utmost.testing import SeededRandomness, seeded_planar_release

HOMES = [[651_300.0, 6_861_200.0], [652_900.5, 6_860_100.0], [0.0, -0.0]]


def test_answers_are_repeated_and_the_largest_level_is_spent():
    made = PlanarRelease(HOMES, per=200)
    assert (made.levels, made.spent) == ((), None)
    first = made.at(epsilon="1/2")
    made.at(epsilon=3), made.at(epsilon=level(alpha="1/3")), made.at(epsilon="1/10")
    assert (made.at(epsilon="1/2") == first).all()
    assert (made.at(epsilon=level(alpha=Fraction(1, 3))) == made.at(level(alpha="1/3"))).all()
    assert made.levels == tuple(sorted(map(level, ("1/10", "1/2", level(alpha="1/3"), 3))))
    assert made.spent == level(3)
    assert (first.shape, first.dtype) == ((3, 2), np.float64)
    assert repr(made) == "PlanarRelease(3 points, spent=epsilon=3)"


@pytest.mark.parametrize("shape", [(2,), (1, 3), (4, 1), (2, 3, 2), (0, 2)])
def test_points_of_every_shape(shape):
    made = PlanarRelease(np.zeros(shape), grid="1/8")
    found = made.at(epsilon=1)
    assert found.shape == shape
    assert (np.mod(found, 0.125) == 0).all()
    assert made.dimensions == shape[-1]


@pytest.mark.parametrize("kind", [float, int, Fraction, Decimal, np.float32, np.int16])
def test_one_point_in_every_kind_of_number(kind):
    """The same number in any type is the same point, and on the same path the same answer."""
    found = seeded_planar_release([[kind(1500), kind(-3)]], seed=1).at(epsilon=1)
    assert (found == seeded_planar_release([[1500, -3]], seed=1).at(epsilon=1)).all()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (2, 0, 1)], ids=["up", "down", "between"])
def test_every_order_of_requests_has_the_distribution_and_correlation(order):
    r"""R3: each level has its distribution, and two levels have the covariance of the path, E V_e1.V_e2 = E\|V_e2\|^2,
    e1 < e2."""
    levels, count = [level("1/2"), level(alpha="1/3"), level(3)], 8_000
    made = seeded_planar_release(np.full((count, 2), 7.5), seed=f"order {order}")
    noise: dict[int, np.ndarray] = {}
    for i in order:
        noise[i] = made.at(levels[i]) - 7.5
    for i, one in enumerate(levels):
        distribution = EuclideanLaplace(one)
        assert stats.kstest(np.linalg.norm(noise[i], axis=1), distribution.within).pvalue > 1e-5
    for i, j in ((0, 1), (0, 2), (1, 2)):
        wanted = EuclideanLaplace(levels[j]).mean_squared
        product = (noise[i] * noise[j]).sum(axis=1)
        assert abs(product.mean() - wanted) < 5.5 * product.std() / np.sqrt(count)


@pytest.mark.parametrize(
    ("dimensions", "grid", "confidence"), [(1, None, "0.95"), (2, None, "0.5"), (2, "1/2", "0.95"), (3, "3/10", "0.5")]
)
def test_the_error_bar_holds_and_is_short(dimensions, grid, confidence):
    """At least the stated fraction of answers lies within the margin of their points, wherever the points are on the
    grid."""
    count = 20_000
    at = np.random.default_rng(3).uniform(-50, 50, (count, dimensions))
    made = seeded_planar_release(at, seed="margin", grid=grid)
    off = np.linalg.norm(made.at(epsilon=1) - at, axis=1)
    sure = float(confidence)
    within = (off <= made.margin(confidence)).mean()
    assert within > sure - 4 * np.sqrt(sure * (1 - sure) / count)
    if grid is None:
        assert within < sure + 0.012
        assert made.margin(confidence) < 1.02 * EuclideanLaplace(level(1), dimensions).margin(confidence)


def test_margins_of_the_plane():
    """Margin 50/95/99 % at epsilon 1: 1.678, 4.744, 6.638; in one dimension log 1/(1 - c)."""
    distribution = EuclideanLaplace(level(1))
    assert [distribution.margin(c) for c in ("0.5", "0.95", "0.99")] == pytest.approx(
        [1.67835, 4.74386, 6.63835], abs=1e-5
    )
    assert EuclideanLaplace(level(2), 1).margin("0.95") == pytest.approx(np.log(20) / 2, rel=1e-9)
    for n in (1, 2, 3, 30):
        assert EuclideanLaplace(level("1/7"), n).margin("0.999") == pytest.approx(
            7 * stats.gamma(n).ppf(0.999), rel=1e-9
        )
    assert PlanarRelease([0, 0], per=200).margin(epsilon=1) == pytest.approx(200 * 4.74386, rel=3e-3)


@given(st.integers(1, 60), st.fractions("1/1000000", "999999/1000000", max_denominator=10**6))
def test_a_margin_is_never_too_short_and_hardly_too_long(n, confidence):
    distribution = EuclideanLaplace(level(1), n)
    margin = distribution.margin(confidence)
    assert stats.gamma(n).sf(margin) == pytest.approx(float(1 - confidence), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("per", "grid", "margin"), [(1, None, 10), (200, 1, 12.5), (200, None, 1000), (1, 1, 1000)])
def test_the_least_level_for_a_margin(per, grid, margin):
    """The returned level meets the margin, and the decimal before it does not."""
    found = planar_epsilon_for(margin, per=per, grid=grid)
    step = Fraction(10) ** (len(str(int(1 / found))) if found < 1 else 0) / 10**5
    made = PlanarRelease([0, 0], per=per, grid=grid)
    assert made.margin(epsilon=found) <= margin
    digits = planar_epsilon_for(margin, per=per, grid=grid, digits=5)
    assert digits <= found
    assert made.margin(epsilon=digits * (1 - Fraction(1, 5000))) > margin or step == 0


def test_margins_that_no_level_meets():
    with pytest.raises(Infeasible, match="diagonal"):
        planar_epsilon_for(1, grid=2)
    with pytest.raises(OutOfRange, match=r"1\.7"):
        planar_epsilon_for(2, grid=2)
    for bad in ({"margin": 0}, {"margin": -1}, {"margin": 5, "digits": 0}, {"margin": 5, "confidence": 1}):
        with pytest.raises(OutOfRange):
            planar_epsilon_for(**bad)


def test_a_grid_too_wide_for_the_level_is_refused_and_nothing_is_spent():
    made = PlanarRelease([[0, 0]], per=10, grid=17)
    assert made.at(epsilon=1).shape == (1, 2)
    with pytest.raises(OutOfRange, match=r"1\.7.*GradualRelease"):
        made.at(epsilon="1.001")
    assert made.spent == level(1)


@given(st.fractions("1/100000", "100000"), st.fractions("1/1000", "1000"))
def test_the_grid_that_is_chosen_is_fine_and_no_finer_than_needed(epsilon, per):
    """The largest power of two that is at most per/(64 epsilon): epsilon g <= 1/64, far below 1/2."""
    if epsilon == 0 or per == 0:
        return
    grid = PointNoise(per=per).at(level(epsilon)).distribution.grid
    assert grid * epsilon * 64 <= per < 2 * grid * epsilon * 64


def test_a_declared_grid_of_any_width():
    found = PlanarRelease(np.zeros((500, 2)), grid="0.1").at(epsilon=1)
    assert (found == np.rint(found * 10) / 10).all()
    assert len(np.unique(found)) > 50
    wide = PlanarRelease(np.zeros((50, 2)), per=10**12, grid=Fraction(10**11, 7)).at(epsilon=1)
    assert np.allclose(np.rint(wide * 7 / 10**11) * 10**11 / 7, wide, rtol=1e-15)


def test_allowed_places():
    """The number of the allowed place nearest to each answer: a function of the answer, the same each time."""
    places = [[0, 0], [100, 0], [0, 100], [0, 100]]
    made = seeded_planar_release([[1, 2], [99, -1], [3, 97]], seed=2)
    assert made.at(epsilon=5, places=places).tolist() == [0, 1, 2]
    answers = made.at(epsilon="1/50")
    nearest = [int(np.linalg.norm(np.array(places) - one, axis=1).argmin()) for one in answers]
    assert made.at(epsilon="1/50", places=places).tolist() == nearest
    assert PlanarRelease([3, 4]).at(epsilon=1, places=[[0, 0]]).tolist() == 0
    for bad in ([], [[1, 2, 3]], [0, 0], [["a", 1]]):
        with pytest.raises(NotANumber):
            made.at(epsilon=7, places=bad)
    assert level(7) not in made.levels


@pytest.mark.parametrize(
    ("points", "options", "error"),
    [
        ([[1, None]], {}, NotANumber),
        ([[1.0, float("nan")]], {}, NotANumber),
        ([[True, 1]], {}, NotANumber),
        ([["1", "2"]], {}, NotANumber),
        (3.5, {}, NotANumber),
        (np.zeros((3, 0)), {}, NotANumber),
        ([[1, 2], [3]], {}, NotANumber),
        (np.zeros((1, 1001)), {}, OutOfRange),
        ([[1, 2]], {"per": 0}, OutOfRange),
        ([[1, 2]], {"per": "x"}, NotANumber),
        ([[1, 2]], {"grid": -1}, OutOfRange),
        ([[1, 2]], {"randomness": SeededRandomness(1)}, PromiseBroken),
        ([[1, 2]], {"randomness": 1}, Unsupported),
    ],
)
def test_what_cannot_be_released(points, options, error):
    with pytest.raises(error) as refusal:
        PlanarRelease(points, **options)
    assert "651" not in str(refusal.value)


def test_a_refusal_names_the_place_and_not_the_point():
    with pytest.raises(NotANumber, match=r"values\[1, 0\]") as refusal:
        PlanarRelease([[123456.5, 1.0], [float("inf"), 2.0]])
    assert "123456" not in str(refusal.value)


def test_a_level_that_is_none_spends_nothing():
    made = PlanarRelease([1, 2])
    for bad in (0, -1, "x", True, float("nan"), [1, 2]):
        with pytest.raises(NotALevel):
            made.at(epsilon=bad)
    with pytest.raises(NotALevel, match="exactly one"):
        made.at()
    with pytest.raises(NotALevel, match="first answer"):
        made.margin()
    assert made.spent is None


def test_the_points_are_copied():
    points = np.array([[1.0, 2.0]])
    made = PlanarRelease(points)
    points[:] = 1e6
    assert np.abs(made.at(epsilon=50)).max() < 100


def test_two_releases_share_no_path():
    """R8: every release has a separate key from the operating system."""
    one, other = (PlanarRelease(np.zeros((200, 2)), grid=1).at(epsilon="1e-12") for _ in range(2))
    assert not (one == other).any()


@pytest.mark.slow
def test_a_million_points_take_seconds():
    """Less than ten seconds at the first level and at a level four times as high, on one slow core."""
    made = PlanarRelease(np.random.default_rng(1).uniform(0, 1e6, (1_000_000, 2)), per=200)
    start = time.process_time()
    first, second = made.at(epsilon=1), made.at(epsilon=4)
    assert time.process_time() - start < 10
    assert first.shape == second.shape == (1_000_000, 2)


def test_points_and_noise_beyond_the_floats_are_answered_by_the_largest():
    largest = np.finfo(float).max
    assert PlanarRelease([[10**400, -(10**400)]]).at(1).tolist() == [[largest, -largest]]
    assert np.isfinite(PlanarRelease([[1, 2]]).at("1e-320")).all()
