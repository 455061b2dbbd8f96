"""Hidden paths: both routes the same cells, every distribution the integral, one path in whatever order it is asked
for."""

import math
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats
from scipy.special import erf, gammaln

from joint_transform import joint_transform
from utmost.core.exact.intervals import ball_between, working_precision

# Floats and intervals are compared bit by bit, and a release shows only the cells that both give.
from utmost.core.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits, _prefix, normal_move, start_clock
from utmost.exact import Level, level
from utmost.gradual import EuclideanLaplace, EuclideanTightening

FINE = Fraction(1, 1 << 20)


def paths(seed, anchor=1, dimensions=2):
    return HiddenPaths(PathBits(bytes([seed]) * 32), anchor if isinstance(anchor, Level) else level(anchor), dimensions)


def at_zero(count, dimensions=2, grid=FINE):
    return GridPoints(np.zeros(count * dimensions), dimensions, Fraction(grid))


def noise(made, epsilon, count, grid=FINE):
    return made.cells(at_zero(count, made.dimensions, grid), level(epsilon)) * float(grid)


@pytest.mark.parametrize("dimensions", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [1, "1/20", "7/2", Level.of_alpha(Fraction(1, 5))], ids=str)
def test_both_routes_give_the_same_cells(dimensions, epsilon):
    """Where floats are certain, the intervals agree, from the same bits, at points and grids of all kinds."""
    made = paths(3, dimensions=dimensions)
    rng = np.random.default_rng(1)
    for grid in (Fraction(1, 3), FINE, Fraction(10) ** -11):
        points = GridPoints(rng.uniform(-1e4, 1e4, 24 * dimensions), dimensions, grid)
        target = made.target(points, level(epsilon))
        cells, sure = made.float_cells(points, target, 0, points.count)
        exactly = np.array([made.exact_cell(points, target, place) for place in range(points.count)])
        assert sure.mean() > (0.9 if grid >= FINE else -1)
        assert (cells[sure] == exactly[sure]).all()
        assert (made.cells(points, level(epsilon)) == exactly).all()


@pytest.mark.parametrize("epsilon", [1, "1/5", 4])
def test_the_balls_of_floats_contain_the_noise(epsilon):
    """Every ball contains the noise of 300 digits, also where the first digits of a uniform number are nearly all 0."""
    made, count = paths(7, dimensions=3), 200_000
    target = made.target(at_zero(1, 3), level(epsilon))
    smallest = made.bits.floats(0, 0, 0, np.arange(count, dtype=np.uint64)).middle.argsort()[:60]
    points = np.concatenate([smallest, np.arange(60)]).astype(np.uint64)
    with np.errstate(all="ignore"):
        noise, _ = made._float_noise(target, points)
    goal = target.goal(400)
    with working_precision(400):
        for at, point in enumerate(points.tolist()):
            for axis, true in enumerate(made._exact_noise(target.stage, point, ball_between(*goal), 300)):
                off = abs(true - arb(float(noise[axis].middle[at])))
                assert off <= arb(float(noise[axis].radius[at]))
                assert noise[axis].radius[at] < 1e-6


@pytest.mark.parametrize("higher", [True, False])
def test_a_level_next_to_an_event_is_told_from_it(higher):
    """At levels 2^-60 before and after an event floats are not certain; by intervals one has happened, one has not."""
    made, points = paths(19), at_zero(1)
    stage = 1 if higher else 2
    with working_precision(300):
        uniform = [made.bits.ball(stage, 0, place, 0, 200) for place in (0, 1)]
        clock = start_clock(lambda place: made.bits.ball(0, 0, place, 0, 200), 2)
        event = 1 - uniform[0].log() / clock if higher else (uniform[1].log() * 2 / 3).exp()
        root = Fraction(int((event.sqrt() * arb((1, 62))).mid().floor().unique_fmpz()), 1 << 62)
    before, after = (level(root + Fraction(sign, 1 << 61)) for sign in ((-1, 1) if higher else (1, -1)))
    for one in (before, after):
        target = made.target(points, one)
        assert not made.float_cells(points, target, 0, 1)[1][0]
        assert made._exact_rest(target, 0, [Fraction(0)] * 2, 32) is None
    still, moved, anchor = (made.cells(points, one).tolist() for one in (before, after, level(1)))
    assert still == anchor != moved


def test_points_that_floats_cannot_tell_go_to_the_intervals():
    """On a grid of 10^-13 most cells are not certain by floats: they are found, and are those of the fine path."""
    made, points = paths(5), at_zero(200, grid=Fraction(10) ** -14)
    target = made.target(points, level(2))
    assert made.float_cells(points, target, 0, 200)[1].mean() < 0.5
    cells = made.cells(points, level(2))
    assert np.allclose(cells * 1e-14, noise(made, 2, 200), atol=2**-19)


def test_far_points_on_a_dyadic_grid_stay_with_the_floats():
    """x/g is exact there: at 10^15 and steps of 2^-6 no point needs the intervals, and the cells are theirs."""
    made, points = paths(53), GridPoints(np.full(400, 1e15 + 0.125), 2, Fraction(1, 64))
    target = made.target(points, level(1))
    cells, sure = made.float_cells(points, target, 0, 200)
    assert sure.all()
    assert cells.tolist() == [made.exact_cell(points, target, place) for place in range(200)]


def test_more_bits_never_change_a_cell():
    """A cell settled by 64 bits is that of 4096 bits, and of another grid of which it is a part."""
    made, points = paths(6), at_zero(40, grid=Fraction(1, 10))
    target = made.target(points, level("5/2"))
    for place in range(40):
        found = made.exact_cell(points, target, place)
        assert made._exact_rest(target, place, [Fraction(0)] * 2, 4096) == found
    deep = made.exact_cell(
        at_zero(40, grid=Fraction(10) ** -300), made.target(at_zero(40, grid=Fraction(10) ** -300), level("5/2")), 7
    )
    assert [math.floor(Fraction(one, 10**299) + Fraction(1, 2)) for one in deep] == made.exact_cell(points, target, 7)


def test_the_digits_of_a_number_are_one_sequence():
    """52, 64, 128, 200 and 1000 digits of a number begin alike: the balls are nested."""
    bits = PathBits(bytes(range(32)))
    many = bits.floats(1, 4, 2, np.arange(9, dtype=np.uint64))
    for point in range(9):
        balls = [bits.ball(1, 4, 2, point, m) for m in (64, 128, 200, 1000)]
        assert all(wide.contains(narrow) for wide, narrow in pairwise(balls))
        assert abs(float(balls[0].mid()) - many.middle[point]) <= 2**-53
    other = [bits.ball(*name, 64) for name in ((1, 4, 2, 0), (2, 4, 2, 0), (1, 5, 2, 0), (1, 4, 3, 0), (1, 4, 2, 1))]
    assert len({float(one.mid()) for one in other}) == 5


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_three_levels_in_total_six_orders_are_one_path(order):
    """R3: a path is a function of the key; what was target before, at whatever grid, changes nothing."""
    target = [level("1/2"), level(alpha="1/3"), level(3)]
    made = paths(9, anchor=target[1])
    found = {i: made.cells(at_zero(500), target[i]).tolist() for i in order}
    fresh = {i: paths(9, anchor=target[1]).cells(at_zero(500), target[i]).tolist() for i in range(3)}
    assert found == fresh


@pytest.mark.parametrize("dimensions", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", ["1", "1/3", "4"])
def test_the_noise_at_every_level_has_its_distribution_by_floats(dimensions, epsilon):
    """e |V_e| has the distribution Gamma(n, 1), and no direction is preferred."""
    count, e = 10_000, float(Fraction(epsilon))
    drawn = noise(paths(11, dimensions=dimensions), epsilon, count)
    assert stats.kstest(e * np.linalg.norm(drawn, axis=1), stats.gamma(dimensions).cdf).pvalue > 1e-5
    assert (np.abs(drawn.mean(axis=0)) < 5 * np.sqrt((dimensions + 1) / count) / e).all()
    assert stats.chisquare(np.bincount((drawn > 0) @ (1 << np.arange(dimensions)))).pvalue > 1e-5


@pytest.mark.parametrize(("anchor", "epsilon"), [("1", "1"), ("1/2", "2"), ("2", "1/2"), ("1/2", "3/5")])
def test_the_cells_by_intervals_have_the_integrated_distribution(anchor, epsilon):
    """Chi-square of cells of width 1 against the density integrated over them, for the interval route alone."""
    made, count, e = paths(13, anchor), 600, float(Fraction(epsilon))
    points = at_zero(count, grid=1)
    target = made.target(points, level(epsilon))
    cells = np.array([made.exact_cell(points, target, place) for place in range(count)])
    expected = cell_masses(e, 5)
    fits(cells, expected, count)


def test_the_chi_square_can_fail():
    """The same comparison refuses the distribution of another level."""
    cells = paths(13).cells(at_zero(20_000, grid=1), level(1))
    fits(cells, cell_masses(1.0, 5), 20_000)
    with pytest.raises(AssertionError):
        fits(cells, cell_masses(1.06, 5), 20_000)


def cell_masses(e, reach):
    """P(round(V) = cell) for cells of width 1 in the square of this reach, by quadrature of eighths of cells."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    places = ((np.arange(8)[:, None] + (nodes + 1) / 2) / 8 - 0.5).ravel()
    weight = np.tile(weights / 16, 8)
    found = {}
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            x, y = i + places[:, None], j + places[None, :]
            found[i, j] = float(weight @ (e**2 / (2 * np.pi) * np.exp(-e * np.hypot(x, y))) @ weight)
    return found


def fits(cells, expected, count):
    names, often = np.unique(cells, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, names.tolist()), often.tolist(), strict=True))
    pairs = [(seen.get(cell, 0), count * mass) for cell, mass in expected.items() if count * mass >= 8]
    observed, wanted = map(list, zip(*pairs, strict=True))
    observed.append(count - sum(observed))
    wanted.append(count - sum(wanted))
    assert stats.chisquare(observed, wanted).pvalue > 1e-5


def test_the_joint_distribution_of_three_levels_is_the_closed_form():
    """E exp(i sum t_j.V_j) of draws is the product of the tightening distributions, for 40 random frequencies."""
    levels = [level("1/2"), level(1), level("5/2")]
    count = 15_000
    made = paths(17)
    drawn = [noise(made, one, count) for one in levels]
    rng = np.random.default_rng(2)
    for _ in range(40):
        t = [rng.normal(scale=0.7, size=2) for _ in levels]
        found = np.exp(1j * sum(v @ s for v, s in zip(drawn, t, strict=True))).mean()
        assert abs(found - joint_transform(t, levels)) < 5.5 / math.sqrt(count)
    independent = [noise(paths(20 + i), one, count) for i, one in enumerate(levels)]
    t = [np.array([1.0, 0.0]), np.array([-1.0, 0.0]), np.zeros(2)]
    apart = np.exp(1j * sum(v @ s for v, s in zip(independent, t, strict=True))).mean()
    assert abs(apart - joint_transform(t, levels)) > 20 / math.sqrt(count)


def test_what_is_added_to_tighten_is_independent_of_the_noise_there_and_often_nothing():
    """W = V_lower - V_higher: W = 0 with chance (e1/e2)^3; given that it is not,
    |W| and |V_higher| are uncorrelated."""
    count = 15_000
    for anchor in ("1", "2"):
        made = paths(23, anchor)
        lower, higher = noise(made, "1", count), noise(made, "2", count)
        moved = np.linalg.norm(lower - higher, axis=1)
        stay = EuclideanTightening(level(1), level(2)).stay
        assert abs((moved == 0).mean() - stay) < 5 * math.sqrt(stay / count)
        assert stats.spearmanr(moved, np.linalg.norm(higher, axis=1)).pvalue > 1e-5


def test_the_gain_over_two_independent_coordinates():
    """At equal level in l2, mean error -12.9 %, squared -25 %: 2/e against sqrt 2 times the mean of |Laplace pair|."""
    product = integrate.dblquad(lambda y, x: math.hypot(x, y) * math.exp(-x - y), 0, 50, 0, 50)[0] * math.sqrt(2)
    assert 2 / product - 1 == pytest.approx(-0.1288, abs=5e-5)
    variances = 6, 2 * (2 * math.sqrt(2) ** 2)  # of a pair of Laplace numbers of rate e/sqrt 2, 2/(e/sqrt 2)^2 each
    assert variances[0] / variances[1] - 1 == pytest.approx(-0.25)
    drawn = noise(paths(29), 1, 100_000)
    sizes = np.linalg.norm(drawn, axis=1)
    assert sizes.mean() == pytest.approx(2, abs=5 * math.sqrt(2 / 100_000))
    assert (sizes**2).mean() == pytest.approx(6, rel=0.03)
    distribution = EuclideanLaplace(level(1))
    assert (distribution.mean_absolute, distribution.mean_squared) == (2, 6)


@pytest.mark.parametrize("value", [0, 10**30, -(10**17), Fraction(1, 3), 2**-1074, 1e308, -1e15])
def test_points_of_every_size_are_rounded_exactly(value):
    """The cell is floor((x + V)/g + 1/2) of the exact x: far points lose no digit of their noise."""
    made = paths(31)
    flat = np.array([value] * 20, object if isinstance(value, int | Fraction) else float)
    near = made.cells(at_zero(10, grid=Fraction(1, 1024)), level(1))
    cells = made.cells(GridPoints(flat, 2, Fraction(1, 1024)), level(1))
    shift = Fraction(value) * 1024
    moved = {int(one) - int(zero) - math.floor(shift) for one, zero in zip(cells.ravel(), near.ravel(), strict=True)}
    assert moved <= {0, 1}
    if shift.denominator == 1:
        assert moved == {0}


@pytest.mark.parametrize(("anchor", "epsilon"), [("1e-6", "50"), ("50", "1e-6"), ("1e-300", "2e-300"), ("1e9", "3e9")])
def test_levels_of_every_size(anchor, epsilon):
    """Only the ratio of levels and the level of a grid step matter: from 1e-300 on."""
    e = Fraction(epsilon) if "e" not in epsilon else level(epsilon).power
    drawn = paths(37, level(anchor)).cells(at_zero(3000, grid=1 / (1024 * e)), level(epsilon))
    sizes = np.linalg.norm(drawn.astype(float), axis=1) / 1024
    assert stats.kstest(sizes, stats.gamma(2).cdf).pvalue > 1e-5


def joint_cells(lower, higher, shift, reach, parts=3, nodes=6):
    """P(cell at lower, cell at higher) of x + V in cells of width 1, for x = shift, by quadrature.

    The density of V_higher over its cell, times the chance that W = B(T) leads from there into the cell of the lower
    one: error functions given T, integrated over the distribution of T, and the atom at T = 0 besides.
    """
    v1, v2, a = lower**2, higher**2, 1.5
    p, m = v1 / v2, np.arange(1, 200)
    events = np.exp(gammaln(a + m) - gammaln(a) - gammaln(m + 1) + a * np.log(p) + m * np.log1p(-p))
    nodes_s, weights_s = np.polynomial.legendre.leggauss(300)
    width = np.log(300 / v1 / 1e-14)
    s = 1e-14 * np.exp((nodes_s + 1) / 2 * width)
    density = np.exp(m[:, None] * np.log(v2 * s) - v2 * s - gammaln(m)[:, None])  # times s: for d log s
    weight = weights_s / 2 * width * (events @ density)
    places, weights = np.polynomial.legendre.leggauss(nodes)
    z = ((np.arange(parts)[:, None] + (places + 1) / 2) / parts - 0.5).ravel()
    w = np.tile(weights / (2 * parts), parts)
    offsets = np.arange(-2 * reach, 2 * reach + 1)
    reached = offsets[:, None, None] - z[None, :, None]
    into = (erf((reached + 0.5) / (2 * np.sqrt(s))) - erf((reached - 0.5) / (2 * np.sqrt(s)))) / 2
    kernel = np.einsum("ais,bjs->abij", into * weight, into, optimize=True)
    kernel[2 * reach, 2 * reach] += p**a
    cells = np.arange(-reach, reach + 1)
    found = np.zeros([cells.size] * 4)
    for i, x in enumerate(cells):
        for j, y in enumerate(cells):
            far = np.hypot(x + z[:, None] - shift[0], y + z[None, :] - shift[1])
            mass = v2 / (2 * np.pi) * np.exp(-higher * far) * w[:, None] * w[None, :]
            near = kernel[cells - x + 2 * reach][:, cells - y + 2 * reach]
            found[:, :, i, j] = np.einsum("abij,ij->ab", near, mass)
    return found


def test_two_rounded_levels_tell_neighbours_apart_by_the_higher_one_and_no_more():
    """The joint chances of cells at levels 1/2 and 1, at points a distance of 1 apart: log ratios up to 1, attained."""
    one, other = (joint_cells(0.5, 1.0, shift, 3) for shift in ((0.0, 0.0), (0.6, 0.8)))
    ratio = np.abs(np.log(one / other))
    assert 0.99 < ratio.max() < 1 + 1e-9


def test_two_rounded_levels_have_the_integrated_joint_distribution():
    """Chi-square of pairs of cells of one path at two levels, whichever came first, against the integral."""
    count, reach = 60_000, 3
    expected = joint_cells(0.5, 1.0, (0.3, 0.1), reach)
    for anchor in ("1", "1/2"):
        made = paths(47, anchor)
        points = GridPoints(np.tile([0.3, 0.1], count), 2, Fraction(1))
        both = np.concatenate([made.cells(points, level("1/2")), made.cells(points, level(1))], axis=1)
        both = both[(np.abs(both) <= reach).all(axis=1)] + reach
        seen = np.zeros(expected.shape)
        np.add.at(seen, tuple(both.T), 1)
        often = expected * count >= 8
        observed, wanted = seen[often], expected[often] * count
        observed, wanted = np.append(observed, count - observed.sum()), np.append(wanted, count - wanted.sum())
        assert often.sum() > 200
        assert stats.chisquare(observed, wanted).pvalue > 1e-5


@pytest.mark.slow
def test_neighbours_are_told_apart_by_no_more_than_the_level():
    """A million draws at two points a step apart: no joint cell at two levels is more than e^(e d) times likelier."""
    count, shift, e = 1_000_000, np.array([0.6, 0.8]), 1.0
    cells = []
    for seed, at in ((41, np.zeros(2)), (43, shift)):
        made = paths(seed)
        points = GridPoints(np.tile(at, count), 2, Fraction(1))
        both = np.concatenate([made.cells(points, level(1)), made.cells(points, level("1/2"))], axis=1)
        both = both[(np.abs(both) <= 7).all(axis=1)]
        cells.append(np.bincount(((both + 7) @ 15 ** np.arange(4)).astype(np.int64), minlength=15**4))
    one, other = (np.asarray(c, float) for c in cells)
    often = (one + other) > 400
    ratio = np.log(np.maximum(one[often], 1) / np.maximum(other[often], 1))
    error = np.sqrt(1 / np.maximum(one[often], 1) + 1 / np.maximum(other[often], 1))
    assert often.sum() > 300
    assert (np.abs(ratio) < e + 5 * error).all()
    assert np.abs(ratio).max() > 0.8


def test_names_of_numbers_share_no_bit_and_have_an_end():
    """Stage, event, place and part fill 64 bits side by side; a name beyond its room would be another's."""
    parts = (2, 24, 20, 18)
    assert sum(parts) == 64
    most = [(1 << bits) - 1 for bits in parts]
    assert _prefix(*most) == (1 << 64) - 1
    alone = [_prefix(*(each * (at == place) for at, each in enumerate(most))) for place in range(4)]
    assert sum(alone) == (1 << 64) - 1
    assert alone == sorted(alone, reverse=True)
    for place in (1, 2, 3):
        beyond = [each + (at == place) for at, each in enumerate(most)]
        with pytest.raises(AssertionError, match="room"):
            _prefix(*beyond)


def test_a_move_asks_for_numbers_by_places_that_stay_as_they_are():
    """Two places a pair of coordinates, one pair after the other: other places would be other noise of a kept path."""
    for dimensions, places in ((1, [7, 8]), (2, [7, 8]), (3, [7, 8, 9, 10]), (5, [7, 8, 9, 10, 11, 12])):
        drawn = []

        def uniform(place, drawn=drawn):
            drawn.append(place)
            return arb("0.25")

        assert len(normal_move(uniform, arb(1), dimensions, 7)) == dimensions
        assert drawn == places
