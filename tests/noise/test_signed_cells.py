"""Signed sums of cells that one individual changes together: charge, privacy and distribution by brute force."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange
from utmost.noise import Combination, Geometric, SignedCells

THREE = [[1, 0, 0], [1, -1, -1], [0, 1, -1]]
PARTS = ["8/15", "7/15", "7/15"]


def largest_log_ratio(rows, steps, changes):
    """log_q of the largest ratio of joint geometric noises q^m, over changes and responses nearby."""
    largest = 0
    for change in changes:
        moved = [sum(a * d for a, d in zip(row, change, strict=True)) for row in rows]
        largest = max(
            largest,
            sum(
                m * max(abs(y - move) - abs(y) for y in range(-abs(move) - 1, abs(move) + 2))
                for m, move in zip(steps, moved, strict=True)
            ),
        )
    return largest


@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(
            st.tuples(st.lists(st.integers(-2, 2), min_size=k, max_size=k), st.integers(1, 3)), min_size=1, max_size=5
        )
    ),
    st.integers(1, 2),
    st.booleans(),
)
def test_the_charge_is_the_largest_ratio_over_all_that_one_individual_changes(listed, s, nonnegative):
    """Every whole change of up to s, enumerated, not its corners alone: shares that just keep the level are taken,
    and what they list; larger ones are refused."""
    cells = len(listed[0][0])
    unit = [([int(i == k) for i in range(cells)], 1) for k in range(cells)]  # so that the rows determine the cells
    rows, steps = tuple(tuple(row) for row, _ in listed + unit), [m for _, m in listed + unit]
    changes = list(product(range(0 if nonnegative else -s, s + 1), repeat=cells))
    charge = Fraction(largest_log_ratio(rows, steps, changes), s)
    say = {"sensitivity": s, "nonnegative": nonnegative}
    distribution = SignedCells(1, rows, [m / charge for m in steps], **say)
    assert max(spent for _, spent in distribution.changes) == 1
    with pytest.raises(OutOfRange, match="nonnegative=True"):
        SignedCells(1, rows, [m / charge * Fraction(100, 99) for m in steps], **say)


def test_the_joint_distribution_of_three_cells_keeps_its_level_and_no_less():
    """P(response | counts) of the noisy sums, in rationals: the largest ratio is exactly 1/alpha for counts."""
    q = Fraction(1, 2)  # shares 8/15 and 7/15 of the level: alpha = q^15
    distributions = [Geometric(alpha=q**m) for m in (8, 7, 7)]

    def worst(changes):
        return max(
            math.prod(
                (distribution.pmf(y) / distribution.pmf(y - sum(a * d for a, d in zip(row, change, strict=True))))
                for distribution, row, y in zip(distributions, THREE, response, strict=True)
            )
            for change in changes
            for response in product((-3, 0, 3), repeat=3)
        )

    assert worst(product((0, 1), repeat=3)) == 1 / q**15
    assert worst(product((-1, 0, 1), repeat=3)) == 1 / q**29  # where a cell may be lowered they are no such release


def test_what_is_read_off_is_unbiased_exactly():
    """B A = 1 in rationals, for as many sums as cells and for more."""
    for rows, shares in (
        (THREE, PARTS),
        ([[1, 0], [0, 1], [1, 1]], ["1/7", "1/7", "2/7"]),
        ([[0, 1, -1, -1], [1, -1, -1, 0], [1, -1, 1, -1], [1, 0, -1, 1], [1, 1, 0, -1]], ["1/4"] * 5),
    ):
        distribution = SignedCells(1, rows, shares)
        gain, denominator = distribution.estimate
        assert (gain.dot(np.array(rows, dtype=object)) == denominator * np.eye(distribution.cells, dtype=int)).all()


@pytest.mark.parametrize("epsilon", ["1/10", 1, 3, 50])
def test_mean_size_and_variance_are_those_of_the_noises_counted_out(epsilon):
    """Against convolutions of the three geometric distributions."""
    distribution = SignedCells(epsilon, THREE, PARTS)
    reach = min(4000, int(40 * 2 / float(Fraction(epsilon))) + 5)
    x = np.arange(-reach, reach + 1)
    p, r, t = (np.asarray(Geometric(of).pmf(x), dtype=float) for of in distribution.ratios)
    doubled = np.convolve(np.convolve(p, r, "full"), t, "full")  # 2 x_2 = y_1 - y_2 + y_3
    wide = np.abs(np.arange(len(doubled)) - len(doubled) // 2) / 2
    sizes = [float(np.abs(x) @ p), float(wide @ doubled), float(wide @ doubled)]
    squares = [float(x**2 @ p), float(wide**2 @ doubled), float(wide**2 @ doubled)]
    assert distribution.mean_size == pytest.approx(sum(sizes) / 3, rel=1e-9)
    assert float(distribution.variance) == pytest.approx(sum(squares) / 3, rel=1e-9)


@given(st.lists(st.tuples(st.integers(1, 6), st.fractions("1/20", 3)), min_size=1, max_size=4))
def test_the_mean_size_of_a_combination_is_that_of_its_tails(terms):
    """E|S| = sum over t of P(|S| > t), whose certified values are a little above."""
    distribution = Combination([c for c, _ in terms], [e for _, e in terms])
    by_tails = math.fsum(distribution.tail(t) for t in range(400)) if float(distribution.variance) < 900 else None
    if by_tails is not None:
        assert distribution.mean_size == pytest.approx(by_tails, rel=1e-6, abs=1e-9)


def test_mean_sizes_at_the_ends():
    """A single noise of any level; where the lattice is too fine, it is the noise on the reals."""
    for epsilon in ("1e-9", "1e-6", "1/1000", 1, 40):
        assert Combination([1], epsilon).mean_size == pytest.approx(float(Geometric(epsilon).moment(1)), rel=1e-9)
    assert Combination([0], 1).mean_size == 0
    near = [Combination([1, 1], [e, "2/1"]).mean_size for e in ("3.9e-5", "3.7e-5")]
    assert near[0] / near[1] == pytest.approx(3.7 / 3.9, rel=1e-6)


def test_the_certificate_lists_what_every_change_spends():
    """The corners of D; the three rows spend the level on three of seven."""
    spent = SignedCells(1, THREE, PARTS).changes
    assert len(spent) == 7
    assert max(part for _, part in spent) == 1
    assert sum(part == 1 for _, part in spent) >= 3


def test_rows_at_their_limits():
    """One row of one cell is the distribution of one number; entries up to 2^20, and their certificate."""
    for entry in (1, -(1 << 20)):
        distribution = SignedCells(1, [[entry]], [Fraction(1, abs(entry))])
        assert distribution.changes == [((1,), Fraction(1))]
        assert distribution.noise_of(0).variance == pytest.approx(
            float(Geometric(Fraction(1, abs(entry))).variance()) / entry**2
        )
    with pytest.raises(OutOfRange, match="at most 1048576"):
        SignedCells(1, [[(1 << 20) + 1]], [1])


def test_refusals():
    """Shares that are too many; rows that do not determine the cells; entries that are no integers."""
    for rows, shares, required in (
        (THREE, ["1/2", "1/2", "2/3"], "more than the level"),
        (THREE, PARTS[:2], "share"),
        (THREE, ["8/15", "7/15", 0], "positive"),
        ([[1, 1], [2, 2]], ["1/8", "1/8"], "determine"),
        ([[1, 1], [2]], ["1/8", "1/8"], "entries"),
        ([], [], "rows"),
        ([[1] * 13], ["1/13"], "12"),
        ([[1 << 30]], ["1/2"], "entries"),
    ):
        with pytest.raises(OutOfRange, match=required):
            SignedCells(1, rows, shares)
    with pytest.raises(OutOfRange, match="nonnegative"):
        SignedCells(1, THREE, PARTS, nonnegative=False)


def test_shares_of_endless_digits_are_refused_at_once():
    """64 rows with coprime denominators of 200 digits took minutes, in a promise that a service reads."""
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(OutOfRange, match="common denominator"):
        SignedCells(1, rows, [Fraction(1, 10**40), Fraction(1, 3), Fraction(1, 3)])
    with pytest.raises(OutOfRange, match="common denominator"):
        SignedCells(1, rows, [Fraction(1, 2**40), Fraction(1, 3**30), Fraction(1, 5)])
    SignedCells(1, rows, [Fraction(1, 2**64), Fraction(1, 4), Fraction(1, 4)])
