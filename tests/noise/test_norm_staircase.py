"""Staircases of a norm: masses against counted points, privacy by enumeration, the table of the note, relaxation."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

# A distribution of several cells that no name of the package gives: promises of cells that change together have it.
from utmost.core.noise.norm_staircase import NormStaircase, moment_of, norm_of, points_at, points_beyond, points_of
from utmost.errors import NotALevel, OutOfRange
from utmost.exact import level
from utmost.noise import JointCells, costs, optimal_noise

norms = st.sampled_from(["max", "range"])
ratios = st.fractions(Fraction(1, 12), Fraction(4, 5), max_denominator=12)


@pytest.mark.parametrize("norm", ["max", "range"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_balls_are_counted_out(norm, k):
    """Points, sums of |x_1| and x_1^2, points with x_1 = a and beyond t, for radii 0 to 4."""
    for n in range(5):
        ball = [x for x in product(range(-n, n + 1), repeat=k) if norm_of(norm, x) <= n]
        assert int(points_of(norm, k)(n)) == len(ball)
        for order in (1, 2):
            sums, below = moment_of(norm, k, order)
            assert Fraction(int(sums(n)), below) == sum(abs(x[0]) ** order for x in ball)
        for a in range(n + 1):
            assert int(points_at(norm, k, a)(n)) == sum(x[0] == a for x in ball) == sum(x[0] == -a for x in ball)
            if a < n:
                assert int(points_beyond(norm, k, a)(n)) == sum(abs(x[0]) > a for x in ball)


@given(norms, st.integers(1, 3), st.integers(1, 4), ratios, st.data())
def test_the_distribution_is_what_its_definition_adds_up_to(norm, k, s, q, data):
    """P(x) = c q^j in rationals; marginal and tail add up; moments and normaliser against a long sum in floats."""
    distribution = NormStaircase(alpha=q, cells=k, sensitivity=s, norm=norm, step=data.draw(st.integers(1, s)))
    for x in (
        [0] * k,
        [distribution.step - 1] + [0] * (k - 1),
        [distribution.step] + [0] * (k - 1),
        [-distribution.step - s] + [0] * (k - 1),
    ):
        size = norm_of(norm, x)
        steps = 0 if size < distribution.step else -(-(size - distribution.step + 1) // s)
        assert distribution.pmf(x) == distribution.pmf([0] * k) * q**steps
    assert distribution.marginal_pmf(0) + distribution.tail(0) == 1
    for t in range(4):
        assert distribution.tail(t) - distribution.tail(t + 1) == 2 * distribution.marginal_pmf(t + 1)
        assert distribution.marginal_pmf(t) == distribution.marginal_pmf(-t)
    far = min(400, int(60 / -math.log(q)) + 5)
    n = [distribution.step - 1 + j * s for j in range(far)]
    weights = np.array([int(points_of(norm, k)(radius)) * float(q) ** j for j, radius in enumerate(n)])
    assert 1 / float(distribution.pmf([0] * k)) == pytest.approx(weights.sum() * (1 - float(q)), rel=1e-9)
    for order, value in ((1, distribution.mean_size), (2, distribution.variance)):
        sums, below = moment_of(norm, k, order)
        total = sum(int(sums(radius)) * float(q) ** j for j, radius in enumerate(n)) / below
        assert float(value) == pytest.approx(total / weights.sum(), rel=1e-6)


@given(norms, st.integers(1, 4), st.integers(1, 5), ratios, st.fractions("1/2", "999/1000", max_denominator=1000))
def test_the_margin_is_the_least_that_covers(norm, k, s, q, confidence):
    """In rationals, ties included."""
    distribution = NormStaircase(alpha=q, cells=k, sensitivity=s, norm=norm, step=(s + 1) // 2)
    t = distribution.margin(confidence)
    assert distribution.tail(t) <= 1 - confidence
    assert t == 0 or distribution.tail(t - 1) > 1 - confidence
    assert distribution.margin(1 - distribution.tail(t)) == t


@pytest.mark.parametrize(("k", "s"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
@pytest.mark.parametrize("norm", ["max", "range"])
def test_the_distribution_keeps_its_level_and_no_less_for_every_step(norm, k, s):
    """All responses in a box, all changes of the unit, every first step, in rationals: the largest ratio is 1/alpha."""
    reach = 2 * s + 1 if k == 2 else s + 1
    changes = list(product(range(0 if norm == "range" else -s, s + 1), repeat=k))
    for step in range(1, s + 1):
        distribution = NormStaircase(alpha="1/2", cells=k, sensitivity=s, norm=norm, step=step)
        masses = {x: distribution.pmf(x) for x in product(range(-reach - s, reach + s + 1), repeat=k)}
        box = list(product(range(-reach, reach + 1), repeat=k))
        moved = [(x, tuple(a + b for a, b in zip(x, change, strict=True))) for x in box for change in changes]
        ratios_seen = {masses[x] / masses[y] for x, y in moved}
        assert max(ratios_seen) == 1 / min(ratios_seen) == 2


@pytest.mark.slow
def test_the_distribution_of_three_cells_and_sensitivity_three_keeps_its_level():
    """The same, k = 3 and s = 3."""
    test_the_distribution_keeps_its_level_and_no_less_for_every_step("range", 3, 3)


def test_the_range_does_not_protect_who_lowers_a_cell():
    """A change of (1, -1) has the range 2: the ratio is 1/alpha^2."""
    distribution = NormStaircase(alpha="1/2", cells=2, norm="range")
    assert distribution.pmf([0, 0]) / distribution.pmf([1, -1]) == 4


TABLE = [  # k, epsilon, s, mean size over s: range, and max with its step
    (2, "1/4", 2, 5.326, 5.995),
    (2, "1/4", 20, 5.333, 5.999),
    (2, 1, 1, 1.222, 1.429),
    (2, 1, 2, 1.301, 1.475),
    (2, 1, 5, 1.320, 1.487),
    (2, 1, 20, 1.324, 1.490),
    (2, 3, 1, 0.183, 0.254),
    (2, 3, 2, 0.318, 0.408),
    (2, 3, 5, 0.385, 0.438),
    (2, 3, 20, 0.390, 0.439),
    (3, "1/4", 2, 6.662, 7.997),
    (3, "1/4", 20, 6.667, 8.000),
    (3, 1, 1, 1.583, 1.960),
    (3, 1, 2, 1.645, 1.988),
    (3, 1, 20, 1.664, 1.998),
    (3, 3, 1, 0.307, 0.500),
    (3, 3, 2, 0.485, 0.607),
    (3, 3, 20, 0.525, 0.630),
]


@pytest.mark.parametrize(("k", "epsilon", "s", "of_range", "of_largest"), TABLE)
def test_the_table_of_mean_errors(k, epsilon, s, of_range, of_largest):
    """proofs/theory/cells-together.md; with the best step, found among all by closed forms."""
    for norm, expected in (("range", of_range), ("max", of_largest)):
        distribution = NormStaircase.optimal(level(epsilon), k, s, norm)
        assert float(distribution.mean_size) / s == pytest.approx(expected, abs=6e-4)
        sizes = [NormStaircase(epsilon, k, s, norm, step).mean_size for step in range(1, s + 1)]
        assert float(distribution.mean_size) <= float(min(sizes)) * (1 + 1e-12)


def test_the_step_is_sought_at_any_sensitivity():
    """A wide sensitivity has the step of the distribution on the reals; levels at both ends give a step at all."""
    narrow, wide = (NormStaircase.optimal(level(3), 2, s, "range") for s in (1000, 10**9))
    assert wide.step / 10**9 == pytest.approx(narrow.step / 1000, abs=2e-3)
    for epsilon in ("1e-9", "1e-40", 50, 900):
        for cost in ("absolute", "squared"):
            assert 1 <= NormStaircase.optimal(level(epsilon), 5, 10**40, "max", cost).step <= 10**40


@pytest.mark.parametrize("s", [1, 2, 7])
@pytest.mark.parametrize("epsilon", ["1/2", 2])
def test_one_cell_is_the_staircase_of_one_number(s, epsilon):
    """k = 1, either norm: Geng and Viswanath's distribution on the integers, with its optimal step."""
    for norm in ("max", "range"):
        distribution = NormStaircase.optimal(level(epsilon), 1, s, norm)
        least = optimal_noise(epsilon, s, costs.absolute).moment(1)
        assert float(distribution.mean_size) == pytest.approx(float(least), rel=1e-12)


def test_cubes_of_every_radius_are_the_joint_distribution():
    """Sensitivity 1, the largest entry: the distribution that falls with every unit."""
    for epsilon in ("1/10", 2):
        stairs, joint = NormStaircase(epsilon, 3), JointCells(epsilon, 3)
        assert stairs.pmf([2, -1, 0]) == joint.pmf([2, -1, 0])
        assert (stairs.variance, stairs.margin()) == (joint.variance, joint.margin())


def test_extreme_levels():
    """(k + 2)/(3 epsilon) for the range at small levels, where the cube has (k + 1)/(2 epsilon)."""
    for k in (2, 3, 8):
        assert NormStaircase("1e-6", k, norm="range").mean_size * 1e-6 == pytest.approx((k + 2) / 3, rel=1e-5)
        assert NormStaircase("1e-6", k).mean_size * 1e-6 == pytest.approx((k + 1) / 2, rel=1e-5)
    assert NormStaircase(50, 4, 3, "range").margin("0.95") == 0
    assert NormStaircase(1, 12, 10**9, "range", 10**8).margin("0.999") > 10**9


def folded(alpha, norm, k, size):
    """P folded onto a torus of size^k points, in rationals: of each class the sum of q^|x|, by the period of counts.

    How many x of norm n lie in a class is, for n = size m + i and m >= 1, a polynomial in m of degree k - 1 at most
    for each i; it is counted out at k + 1 of them, and added up in closed form.
    """
    q, reach = Fraction(alpha), size * (k + 2)
    axis = np.arange(-reach, reach + 1)
    grids = np.meshgrid(*[axis] * k, indexing="ij")
    highest, lowest = np.maximum(0, np.max(grids, axis=0)), np.minimum(0, np.min(grids, axis=0))
    sizes = np.max(np.abs(grids), axis=0) if norm == "max" else highest - lowest
    classes = sum(grid % size * size**at for at, grid in enumerate(grids))
    counts = np.zeros((size**k, reach + 1), dtype=np.int64)
    inside = sizes <= reach
    np.add.at(counts, (classes[inside], sizes[inside]), 1)
    masses = []
    for row in counts.tolist():
        total = sum((row[n] * q**n for n in range(size)), Fraction(0))
        for i in range(size):
            values = [Fraction(row[size * (m + 1) + i]) for m in range(k + 1)]
            for order in range(k):  # by Newton's differences: sum of binomial(m, order) z^m = z^order/(1 - z)^(order+1)
                total += values[0] * q ** (size + i) * (q**size) ** order / (1 - q**size) ** (order + 1)
                values = [after - before for before, after in pairwise(values)]
            assert values == [0], "a polynomial of degree k - 1"
        masses.append(total)
    whole = sum(masses)
    return [mass / whole for mass in masses]


def quotient(lower, higher, k, size):
    """The only W on the torus with P_lower = P_higher * W, solved in rationals."""
    points = list(product(range(size), repeat=k))
    index = {point: sum(c * size**at for at, c in enumerate(point)) for point in points}
    matrix = [higher[index[tuple((a - b) % size for a, b in zip(x, y, strict=True))]] for x in points for y in points]
    n = len(points)
    right = fmpq_mat(n, 1, [fmpq(lower[index[x]].numerator, lower[index[x]].denominator) for x in points])
    solution = fmpq_mat(n, n, [fmpq(of.numerator, of.denominator) for of in matrix]).solve(right)
    return {x: Fraction(int(w.p), int(w.q)) for x, w in zip(points, solution.entries(), strict=True)}


@pytest.mark.parametrize(
    ("norm", "k", "lower", "higher", "size"),
    [
        ("range", 2, "3/8", "7/20", 6),  # epsilon .98 to 1.05
        ("max", 2, "3/8", "7/20", 6),
        ("range", 2, "3/5", "4/7", 9),  # .51 to .56
        ("range", 3, "3/8", "7/20", 4),
        ("range", 3, "3/8", "2/9", 4),  # .98 to 1.5
        ("max", 3, "3/8", "2/9", 4),
    ],
)
def test_small_steps_of_a_staircase_of_a_norm_are_not_lossless(norm, k, lower, higher, size):
    """Certificate: a distribution W would be one folded onto a torus, too; there it is unique, with a negative mass."""
    w = quotient(folded(lower, norm, k, size), folded(higher, norm, k, size), k, size)
    assert sum(w.values()) == 1
    assert min(w.values()) < 0


def test_folding_adds_up_the_distribution():
    """The folded masses against a sum over many translates, in floats."""
    for norm, k, size in (("range", 2, 5), ("max", 2, 4), ("range", 3, 3)):
        distribution = NormStaircase(alpha="1/3", cells=k, norm=norm)
        masses = folded("1/3", norm, k, size)
        assert sum(masses) == 1
        near = range(-7, 8) if k == 2 else range(-5, 6)
        for x in ([0] * k, [1] + [0] * (k - 1), [2 % size] + [1] * (k - 1)):
            by_sum = math.fsum(
                float(distribution.pmf([a + size * m for a, m in zip(x, move, strict=True)]))
                for move in product(near, repeat=k)
            )
            assert float(masses[sum(c * size**at for at, c in enumerate(x))]) == pytest.approx(by_sum, rel=1e-5)


def test_refusals():
    """Cells, sensitivity, norm, step; no level or two; points of another length."""
    for wrong in ({"cells": 0}, {"sensitivity": 0}, {"norm": "l1"}, {"step": 2}, {"step": 0}):
        with pytest.raises(OutOfRange):
            NormStaircase(1, **{"cells": 2, "sensitivity": 1, **wrong})
    with pytest.raises(NotALevel):
        NormStaircase()
    with pytest.raises(OutOfRange):
        NormStaircase(1, 2).pmf([1, 2, 3])
    with pytest.raises(OutOfRange, match="cost"):
        NormStaircase.optimal(level(1), 2, 3, "max", "cubed")


@pytest.mark.parametrize(
    ("s", "epsilon", "means", "variances"),
    [
        (1, 1, (1.222, 1.222), (3.163, 3.163)),
        (2, 1, (1.301, 1.282), (3.278, 3.173)),
        (5, 3, (0.385, 0.361), (0.313, 0.291)),
    ],
)
def test_the_range_is_not_the_least_from_a_sensitivity_of_two_on(s, epsilon, means, variances):
    """Rises and falls with steps of their own keep the level and cost less; at sensitivity 1 both are the same."""
    far = int(40 * s / epsilon)
    x, y = np.meshgrid(np.arange(-far, far + 1), np.arange(-far, far + 1), indexing="ij")
    up, down = np.maximum(np.maximum(x, y), 0), np.maximum(np.maximum(-x, -y), 0)

    def steps(size, r):
        return np.where(size < r, 0, (size - r) // s + 1)

    found = []
    for distribution in (lambda r: steps(up + down, r), lambda r: steps(up, r) + steps(down, r)):
        errors = []
        for r in range(1, s + 1):
            height = distribution(r)
            for a, b in product(range(s + 1), repeat=2):  # whoever is added raises both cells by up to s
                moved = height[a:, b:] - height[: height.shape[0] - a, : height.shape[1] - b]
                assert np.abs(moved).max() <= 1
            mass = np.exp(-epsilon * height)
            mass /= mass.sum()
            errors.append(((mass * abs(x)).sum() / s, (mass * x * x).sum() / s**2))
        found.append([min(values) for values in zip(*errors, strict=True)])
    assert [row[0] for row in found] == pytest.approx(means, abs=6e-4)
    assert [row[1] for row in found] == pytest.approx(variances, abs=6e-4)
    distributions = [
        NormStaircase(epsilon=epsilon, cells=2, sensitivity=s, norm="range", step=r) for r in range(1, s + 1)
    ]
    assert min(float(distribution.variance) for distribution in distributions) / s**2 == pytest.approx(
        variances[0], abs=6e-4
    )
