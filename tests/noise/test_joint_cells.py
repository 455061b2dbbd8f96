"""Noise of cells changed together: brute force, privacy by enumeration, and what cannot be relaxed."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.noise import Geometric, JointCells, RotatedPair

ratios = st.fractions(Fraction(1, 12), Fraction(4, 5), max_denominator=12)


def shell(k, r):
    """How many integer points of k dimensions have largest entry r."""
    return (2 * r + 1) ** k - (2 * r - 1) ** k if r else 1


def joint_by_sums(k, q, reach=400):
    """The normaliser, and P(X_1 = a) by adding up the shells of one dimension less, in floats."""
    total = math.fsum(shell(k, r) * q**r for r in range(reach))

    def marginal(a):
        return (
            math.fsum((2 * a + 1) ** (k - 1) * q**a if r == a else shell(k - 1, r) * q**r for r in range(a, reach))
            / total
        )

    return total, marginal


@given(st.integers(2, 6), ratios)
def test_the_joint_distribution_is_what_its_definition_adds_up_to(k, q):
    """Masses, marginal, tail, mean size and variance."""
    distribution = JointCells(alpha=q, cells=k)
    total, marginal = joint_by_sums(k, float(q))
    assert distribution.pmf([0] * k) == pytest.approx(1 / total)
    assert distribution.pmf([3, -1, *[0] * (k - 2)]) / distribution.pmf([0] * k) == q**3
    masses = [marginal(a) for a in range(150)]
    assert [float(distribution.marginal_pmf(a)) for a in range(0, 40, 7)] == pytest.approx(masses[0:40:7])
    assert float(distribution.tail(4)) == pytest.approx(2 * math.fsum(masses[5:]), rel=1e-6)
    assert float(distribution.mean_size) == pytest.approx(2 * math.fsum(a * p for a, p in enumerate(masses)), rel=1e-6)
    assert float(distribution.variance) == pytest.approx(
        2 * math.fsum(a * a * p for a, p in enumerate(masses)), rel=1e-6
    )


@given(st.integers(1, 5), ratios, st.fractions(Fraction(1, 2), Fraction(999, 1000), max_denominator=1000))
def test_the_margin_is_the_least_that_covers(k, q, confidence):
    """In rationals, ties included."""
    distribution = JointCells(alpha=q, cells=k)
    t = distribution.margin(confidence)
    assert distribution.tail(t) <= 1 - confidence
    assert t == 0 or distribution.tail(t - 1) > 1 - confidence
    exactly = JointCells(alpha=q, cells=k).margin(1 - distribution.tail(t))
    assert exactly == t


@given(ratios, st.integers(1, 4))
def test_the_tail_is_the_sum_of_the_marginal(q, k):
    """P(|X_1| > t) falls by 2 P(X_1 = t + 1), exactly."""
    distribution = JointCells(alpha=q, cells=k)
    for t in range(5):
        assert distribution.tail(t) - distribution.tail(t + 1) == 2 * distribution.marginal_pmf(t + 1)
    assert distribution.marginal_pmf(0) + distribution.tail(0) == 1


def test_one_cell_is_the_geometric_distribution():
    """k = 1."""
    for epsilon in ("1/10", 1, 3):
        joint, one = JointCells(epsilon, 1), Geometric(epsilon)
        assert joint.mean_size == pytest.approx(one.moment(1), rel=1e-14)
        assert joint.margin("0.95") == one.margin("0.95")
    assert JointCells(alpha="1/3", cells=1).marginal_pmf(2) == Geometric(alpha="1/3").pmf(2)


@pytest.mark.parametrize(
    ("epsilon", "joint", "rotated", "independent"),
    [
        ("1/4", (5.984, 63.9), (5.992, 63.9), (7.979, 127.8)),
        ("1/2", (2.968, 15.9), (2.984, 15.9), (3.959, 31.8)),
        (1, (1.429, 3.90), (1.468, 3.92), (1.919, 7.84)),
        (2, (0.583, 0.87), (0.684, 0.92), (0.851, 1.84)),
        (3, (0.254, 0.30), (0.400, 0.37), (0.470, 0.74)),
    ],
)
def test_mean_error_and_variance_of_two_cells(epsilon, joint, rotated, independent):
    """The table of proofs/theory/cells-together.md."""
    alone = Geometric(Fraction(epsilon) / 2)
    found = [
        (JointCells(epsilon, 2).mean_size, JointCells(epsilon, 2).variance),
        (RotatedPair(epsilon).mean_size, RotatedPair(epsilon).variance),
        (alone.moment(1), alone.moment(2)),
    ]
    for (size, square), (known, known_square) in zip(found, (joint, rotated, independent), strict=True):
        assert size == pytest.approx(known, abs=6e-4)
        assert square == pytest.approx(known_square, rel=2e-2)


@pytest.mark.parametrize(("epsilon", "mean"), [("1/2", 3.979), (1, 1.960), (2, 0.913)])
def test_mean_error_of_three_cells(epsilon, mean):
    """The same, k = 3."""
    assert JointCells(epsilon, 3).mean_size == pytest.approx(mean, abs=6e-4)


@pytest.mark.parametrize(("k", "s"), [(1, 1), (2, 1), (2, 2), (3, 1)])
def test_the_joint_distribution_keeps_its_level_and_no_less(k, s):
    """All responses in a box, all changes of at most s a cell, in rationals: the largest ratio is 1/alpha."""
    alpha = Fraction(1, 2) ** s
    pmf = cache(JointCells(alpha=alpha, cells=k, sensitivity=s).pmf)
    changes = list(product(range(-s, s + 1), repeat=k))
    worst = max(
        pmf(x) / pmf(tuple(a + d for a, d in zip(x, change, strict=True)))
        for x in product(range(-2, 3), repeat=k)
        for change in changes
    )
    assert worst == 1 / alpha


@pytest.mark.parametrize("s", [1, 2])
def test_the_rotated_pair_keeps_its_level_and_no_less(s):
    """The same, over all halves; where only one cell changes, too."""
    alpha = Fraction(1, 2) ** (2 * s)
    pmf = cache(RotatedPair(alpha=alpha, sensitivity=s).pmf)
    halves = [(Fraction(a + b, 2), Fraction(a - b, 2)) for a, b in product(range(-5, 6), repeat=2)]
    changes = list(product(range(-s, s + 1), repeat=2))
    assert max(pmf(x) / pmf((x[0] + d, x[1] + e)) for x in halves for d, e in changes) == 1 / alpha
    one_cell = max(pmf(x) / pmf((x[0] + d, x[1])) for x in halves for d in range(-s, s + 1))
    assert one_cell == 1 / alpha


@given(ratios)
def test_the_rotated_pair_is_half_the_sum_of_two_geometric_distributions(q):
    """Marginal by convolution; mean size and variance by sums."""
    distribution, one = RotatedPair(alpha=q * q), Geometric(alpha=q)
    for n in range(6):
        by_sum = float(np.sum(one.pmf(np.arange(-150, 151)) * one.pmf(n - np.arange(-150, 151))))
        assert float(distribution.marginal_pmf(Fraction(n, 2))) == pytest.approx(by_sum)
    masses = [float(distribution.marginal_pmf(Fraction(n, 2))) for n in range(200)]
    assert 2 * math.fsum(masses) - masses[0] == pytest.approx(1)
    assert float(distribution.mean_size) == pytest.approx(math.fsum(n * p for n, p in enumerate(masses)), rel=1e-6)
    assert float(distribution.variance) == pytest.approx(
        math.fsum(n * n * p for n, p in enumerate(masses)) / 2, rel=1e-6
    )
    assert distribution.marginal_pmf("1/3") == 0
    assert distribution.pmf(["1/2", 0]) == 0


def test_extreme_levels():
    """From nearly no privacy left to give to nearly none given."""
    lower, higher = JointCells("1/1000000", 4), JointCells(50, 4)
    assert lower.mean_size == pytest.approx(2.5e6, rel=1e-9)  # (k+1)/(2 epsilon), the distribution on the reals
    assert lower.variance == pytest.approx(1e13, rel=1e-9)  # (k+1)(k+2)/(3 epsilon^2)
    assert higher.margin("0.95") == 0
    assert higher.mean_size == pytest.approx(2 * 27 * math.exp(-50), rel=1e-12)
    assert RotatedPair("1/1000000").mean_size == pytest.approx(1.5e6, rel=1e-9)
    assert JointCells(1, 40).mean_size == pytest.approx(20.5, rel=0.01)


def quotient(lower, higher, k, size):
    """The only candidate for W between two draws of k cells, by discrete Fourier transforms on a torus."""
    axis = np.abs(np.fft.fftfreq(size, 1 / size))
    largest = np.max(np.meshgrid(*[axis] * k, indexing="ij"), axis=0)
    one, two = (np.exp(-epsilon * largest) for epsilon in (lower, higher))
    return np.fft.ifftn(np.fft.fftn(one / one.sum()) / np.fft.fftn(two / two.sum())).real


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3])
def test_two_joint_cells_are_not_relaxed_by_small_steps(epsilon):
    """W would need a negative mass at (2, 0), as the page proves; wide steps are lossless."""
    assert quotient(epsilon, epsilon * 1.05, 2, 256)[2, 0] < -1e-8
    assert quotient(epsilon, epsilon * 2.2, 2, 256).min() > -1e-15
