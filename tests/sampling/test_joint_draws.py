"""Draws of cells changed together: the mixture of cubes is the distribution, exactly, and the draws have it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import LEVEL, chi_square

# Noise of several cells is drawn a hundred thousand times; promises draw it with their table.
from utmost.core.noise.norm_staircase import NormStaircase, norm_of, points_of
from utmost.core.sampling import joint_draws
from utmost.core.sampling.joint_draws import sample_joint_cells
from utmost.errors import OutOfRange
from utmost.noise import JointCells
from utmost.testing import SeededRandomness


@given(st.integers(1, 7), st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=20))
def test_a_part_and_geometric_variables_make_the_size_of_the_cube(k, q):
    """P(J = j) ~ B_j q^j and k + 1 geometric ones add up to P(N = n) ~ (2n + 1)^k q^n; cubes make q^max."""
    sizes = JointCells(alpha=q, cells=k).sizes()
    top = 12
    total = sum(b * q**j for j, b in enumerate(sizes))
    distribution = [Fraction(sizes[n] if n < len(sizes) else 0) * q**n / total for n in range(top)]
    for _ in range(k + 1):
        distribution = [sum(distribution[n - i] * (1 - q) * q**i for i in range(n + 1)) for n in range(top)]
    assert all(mass == (2 * n + 1) ** k * q**n * distribution[0] for n, mass in enumerate(distribution))


@pytest.mark.parametrize("distribution", [JointCells(alpha="1/3", cells=3), JointCells(1, 5), JointCells("1/1000", 2)])
def test_the_parts_are_cut_where_the_distribution_says(distribution):
    """The thresholds of J enclose its distribution function."""
    cuts = joint_draws._cuts(distribution.sizes(), distribution.ratio, 128)
    q = distribution.ratio.alpha_interval(200).middle
    weights = [b * q**j for j, b in enumerate(distribution.sizes())]
    for j, cut in enumerate(cuts):
        share = sum(weights[: j + 1]) / sum(weights)
        assert abs(cut.middle - share) < Fraction(1, 1 << 120)
        assert cut.width < Fraction(1, 1 << 120)


@pytest.mark.parametrize(
    ("distribution", "method"),
    [
        (JointCells(1, 2), "constant"),
        (JointCells(alpha="1/2", cells=3), "table"),
        (JointCells("1/50", 2), "table"),
        (JointCells(3, 6, 2), "constant"),
        (JointCells(1, 1), None),
    ],
)
def test_draws_have_the_distribution(distribution, method):
    """Largest entries against the shells, each cell against its marginal; and the cells are in no order."""
    draws = sample_joint_cells(distribution, 12_000, randomness=SeededRandomness(7), method=method)
    assert draws.shape == (12_000, distribution.cells)
    k, q = distribution.cells, float(distribution.ratio.alpha)
    n = np.arange(0, 6000)
    shells = np.where(n == 0, 1.0, (2.0 * n + 1) ** k - np.abs(2.0 * n - 1) ** k) * q**n
    below = np.cumsum(shells) / shells.sum()
    assert chi_square(np.abs(draws).max(axis=1), lambda r: below[r]) > LEVEL

    def marginal(x):
        return [
            float(1 - distribution.tail(int(t)) / 2) if t >= 0 else float(distribution.tail(int(-t - 1)) / 2) for t in x
        ]

    for cell in (0, k - 1):
        assert chi_square(draws[:, cell], marginal, least=200) > LEVEL


def test_pairs_of_cells_have_the_joint_distribution():
    """Four by four cells around zero."""
    distribution = JointCells(alpha="1/2", cells=2)
    draws = sample_joint_cells(distribution, 30_000, randomness=SeededRandomness(3))
    for x in ((0, 0), (1, 0), (1, 1), (-1, 1), (2, -1), (0, -2)):
        share = float(distribution.pmf(x))
        seen = (draws == x).all(axis=1).mean()
        assert abs(seen - share) < 5.5 * (share / 30_000) ** 0.5


def test_wide_noise_and_no_rows():
    """Beyond int64 as Python ints; none; and a million rows in parts."""
    wide = sample_joint_cells(JointCells("1e-22", 2), 3, randomness=SeededRandomness(1))
    assert wide.dtype == object
    assert max(abs(int(x)) for x in wide.reshape(-1)) > 1 << 63
    assert sample_joint_cells(JointCells(1, 2), 0).shape == (0, 2)
    narrow = sample_joint_cells(JointCells(60, 3), 100_000)
    assert narrow.dtype == np.int64
    assert not narrow.any()
    with pytest.raises(OutOfRange):
        sample_joint_cells(JointCells(1, 2), -1)


@given(
    st.sampled_from(["max", "range"]),
    st.integers(1, 5),
    st.integers(1, 4),
    st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=20),
    st.data(),
)
def test_a_part_and_geometric_variables_make_the_ball(norm, k, s, q, data):
    """Every step: P(I = i) ~ h_i q^i, none negative, and k + 1 geometric ones add up to P(j) ~ |ball j| q^j."""
    distribution = NormStaircase(alpha=q, cells=k, sensitivity=s, norm=norm, step=data.draw(st.integers(1, s)))
    sizes, top = distribution.sizes(), 8
    assert min(sizes) >= 0
    masses = [Fraction(sizes[n] if n < len(sizes) else 0) * q**n for n in range(top)]
    for _ in range(k + 1):
        masses = [sum(masses[n - i] * q**i for i in range(n + 1)) for n in range(top)]
    balls = points_of(norm, k)
    assert masses == [int(balls(distribution.first + n * s)) * q**n for n in range(top)]


@pytest.mark.parametrize("cells", [1, 2, 3])
@pytest.mark.parametrize("radius", [0, 1, 2])
def test_points_of_a_range_are_uniform(cells, radius):
    """All points of a ball, and no other, equally often."""
    rows = 20_000
    drawn = joint_draws._in_ranges(np.full(rows, radius), cells, SeededRandomness(5))
    points, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(points) == (radius + 1) ** (cells + 1) - radius ** (cells + 1)
    assert max(norm_of("range", point) for point in points.tolist()) == radius
    expected = rows / len(points)
    assert ((counts - expected) ** 2 / expected).sum() < len(points) + 6 * (2 * len(points)) ** 0.5


@pytest.mark.parametrize(
    "distribution",
    [
        NormStaircase(1, 2, norm="range"),
        NormStaircase(3, 3, 5, "range", 2),
        NormStaircase("1/50", 2, 7, "range", 3),
        NormStaircase(1, 4, 10, "max", 6),
    ],
)
def test_draws_of_staircases_have_the_distribution(distribution):
    """Each cell against its tail, and the mean size."""
    draws = sample_joint_cells(distribution, 10_000, randomness=SeededRandomness(11))
    assert np.abs(draws).mean() == pytest.approx(float(distribution.mean_size), rel=0.06)

    def marginal(x):
        return [
            float(1 - distribution.tail(int(t)) / 2) if t >= 0 else float(distribution.tail(int(-t - 1)) / 2) for t in x
        ]

    assert chi_square(draws[:, distribution.cells - 1], marginal, least=400) > LEVEL


def test_pairs_of_cells_have_the_distribution_of_the_range():
    """Points around zero, and those of which one coordinate is below and one above."""
    distribution = NormStaircase(alpha="1/2", cells=2, norm="range")
    draws = sample_joint_cells(distribution, 30_000, randomness=SeededRandomness(3))
    for x in ((0, 0), (1, 0), (1, 1), (-1, 1), (2, -1), (0, -2), (2, 1)):
        share = float(distribution.pmf(x))
        assert abs((draws == x).all(axis=1).mean() - share) < 5.5 * (share / 30_000) ** 0.5


def test_wide_staircases_are_python_integers():
    """Beyond int64, for either norm; strides that go beyond it."""
    for distribution in (NormStaircase("1e-22", 3, 2, "range"), NormStaircase(1, 2, 10**30, "range", 10**29)):
        wide = sample_joint_cells(distribution, 3, randomness=SeededRandomness(1))
        assert wide.dtype == object
        assert max(abs(int(x)) for x in wide.reshape(-1)) > 1 << 63


@pytest.mark.parametrize("distribution", [JointCells(1, 2), NormStaircase(1, 2, 2, "range")])
def test_wide_draws_have_the_distribution_too(distribution, monkeypatch):
    """What is drawn as Python ints, where it need not be: of the same distribution, and int64 where it fits."""
    monkeypatch.setattr(joint_draws, "_SUM_BITS", 0)
    draws = sample_joint_cells(distribution, 6_000, randomness=SeededRandomness(9))
    assert draws.dtype == np.int64
    for x in ((0, 0), (1, 0), (1, 1), (-1, 1), (2, -1), (0, -2)):
        share = float(distribution.pmf(x))
        assert abs((draws == x).all(axis=1).mean() - share) < 6 * (share / 6_000) ** 0.5
    assert abs(draws.mean()) < 6 * draws.std() / draws.size**0.5
