"""Losslessness of distributions of one's own: geometric tails, against known ones and Fourier transforms."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotALevel, OutOfRange, Unsupported
from utmost.gradual import TailedTable, losslessness
from utmost.noise import DiscreteStaircase, Geometric, JointCells

REACH = 1 << 11


def own(distribution):
    """A known distribution as a table with tails."""
    reach = range(-distribution.sensitivity, distribution.sensitivity + 1)
    return TailedTable({k: distribution.pmf(k) for k in reach}, distribution.level.alpha, distribution.sensitivity)


def masses(table):
    """The probabilities from -REACH to REACH - 1, in floats."""
    known, b, D = {k: float(p) for k, p in table.masses.items()}, float(table.alpha), table.period
    for k in range(max(known) + 1, REACH):
        known[k] = b * known[k - D]
    for k in range(min(known) - 1, -REACH - 1, -1):
        known[k] = b * known[k + D]
    listed = np.array([known[k] for k in range(-REACH, REACH)])
    return listed / listed.sum()


@pytest.mark.parametrize(("D", "r"), [(1, 1), (2, 1), (3, 2), (5, 2)])
@pytest.mark.parametrize(("a", "b"), [("1/4", "1/64"), ("1/8", "1/27"), ("1/2", "1/3")])
def test_a_staircase_by_its_masses_has_the_verdict_of_the_staircase(D, r, a, b):
    lower, higher = (DiscreteStaircase(None, D, step=r, alpha=alpha) for alpha in (a, b))
    known, found = losslessness(lower, higher), losslessness(own(lower), own(higher))
    assert bool(known) == bool(found) == bool(losslessness(own(lower), higher))
    if known:
        assert [known.difference.pmf(k) for k in range(9)] == [found.difference.pmf(k) for k in range(9)]
    else:
        assert type(known.obstacle) is type(found.obstacle)


def test_a_table_beside_a_geometric_distribution_is_the_difference():
    """X + T with T on {-1, 0, 1}, written by its masses: W is T."""
    geometric = Geometric(alpha="1/3")
    table = {-1: Fraction(1, 6), 0: Fraction(1, 2), 1: Fraction(1, 3)}
    reach = range(-6, 7)
    both = {k: sum(p * geometric.pmf(k - t) for t, p in table.items()) for k in reach}
    verdict = losslessness(TailedTable(both, "1/3"), geometric)
    assert [verdict.difference.pmf(k) for k in range(-2, 3)] == [0, *table.values(), 0]


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.sampled_from(["2/3", "1/2", "2/5"]),
    st.sampled_from(["1/3", "1/5", "1/10"]),
)
def test_the_verdict_is_that_of_the_fourier_quotient(lower, higher, a, b):
    """Where neither is near the boundary: a negative coefficient, and a distribution, are seen by both."""
    first = TailedTable(dict(enumerate([*reversed(lower), *lower[1:]], 1 - len(lower))), a)
    second = TailedTable(dict(enumerate([*reversed(higher), *higher[1:]], 1 - len(higher))), b)
    top, bottom = (np.fft.fft(np.fft.ifftshift(masses(table))) for table in (first, second))
    if np.abs(bottom).min() < 1e-6:
        return
    quotient = np.real(np.fft.ifft(top / bottom))
    if abs(quotient.min()) < 1e-9 < quotient.max() * 1e-3 and quotient.min() < 0:
        return
    try:
        verdict = losslessness(first, second)
    except Unsupported:
        return
    if verdict:
        assert quotient.min() > -1e-9
        assert [float(verdict.difference.pmf(k)) for k in range(4)] == pytest.approx(quotient[:4], abs=1e-9)
    else:
        assert quotient.min() < 1e-12 or np.abs(top / bottom).max() > 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: TailedTable({}, "1/2"), OutOfRange),
        (lambda: TailedTable({0: 0}, "1/2"), OutOfRange),
        (lambda: TailedTable({0: 1, 1: -1}, "1/2"), OutOfRange),
        (lambda: TailedTable({0: 1}, "1/2", 2), OutOfRange),
        (lambda: TailedTable({0: 1}, 1), NotALevel),
        (lambda: losslessness("a distribution", Geometric(1)), OutOfRange),
    ],
)
def test_what_is_no_distribution_is_refused(call, error):
    with pytest.raises(error):
        call()


def test_a_distribution_without_a_known_function_names_the_table():
    with pytest.raises((Unsupported, OutOfRange), match=r"ut\.gradual\.TailedTable"):
        losslessness(JointCells(1, 2), Geometric(1))
