"""Geometric noise on signed sums of cells, for cells that one individual changes together and never lowers.

Measure the integer sums a_i.x, each with geometric noise at the share r_i of the level. If one individual changes the
cells by d, 0 <= d_j <= s, the joint noise spends exactly

    s max over d in {0, 1}^k of sum_i r_i |a_i.d|

of the level (the sum is convex in d). An individual who raises x_1 cannot lower x_2 or x_3, so the sum x_1 - x_2 - x_3
changes little and uses little of the level. Each sum has independent noise, and the budget shares are the same at every
level: the noise can be relaxed without loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import lcm
from typing import Any

import numpy as np

from utmost.core.exact.arguments import sequence, truth, wrong_kind
from utmost.core.exact.arrays import Array, objects
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.linear_algebra import solve_lifted
from utmost.core.exact.numbers import Number, exact, exact_integer
from utmost.core.noise.combination import Combination
from utmost.core.noise.distribution import distribution_level, distribution_text, positive_integer
from utmost.errors import OutOfRange, SolverFailed

SignedRows = tuple[tuple[int, ...], ...]
"""Integer rows, each with one entry for every cell."""

MOST_CELLS, MOST_ROWS, MOST_ENTRY, FINEST = 12, 64, 1 << 20, 1 << 64
"""Largest numbers of cells and rows, the largest entry, and the largest common denominator of the shares."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SignedCells(Display):
    """Geometric noise on signed sums of cells that one individual changes together, and never lowers.

    Args:
        epsilon, alpha: Level of all cells together, as epsilon or as alpha = exp(-epsilon).
        rows: Integer rows over the k cells, of rank k.
        shares: Positive budget share of each row.
        sensitivity: Largest change of each cell by one individual, an integer >= 1.
        nonnegative: Whether one individual lowers no cell. If False, the same rows and shares spend more of the level.

    Raises:
        OutOfRange: if the rows do not determine the cells, if there are more than 12 cells or 64 rows, or if the shares
            spend more than the level on some change or have a common denominator above 2^64.

    Promise: epsilon-DP for k integers, each of which one individual changes by 0 to the sensitivity; and for no smaller
        epsilon if ``charge`` is 1. The noise can be relaxed.
    Source: proofs/theory/cells-together.md.

    >>> distribution = SignedCells(1, [[1, 0, 0], [1, -1, -1], [0, 1, -1]], ["267/500", "233/500", "233/500"])
    >>> distribution.charge, round(distribution.variance, 3), distribution.margins("0.95")
    (Fraction(1, 1), 6.44, (6, 5.0, 5.0))
    """

    level: Level
    rows: SignedRows
    shares: tuple[Fraction, ...]
    sensitivity: int
    nonnegative: bool

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        rows: Sequence[Any] = (),
        shares: Sequence[Any] = (),
        sensitivity: Number = 1,
        *,
        nonnegative: bool = True,
        alpha: Number | None = None,
    ) -> None:
        listed = read_rows(sequence(rows, "rows"))
        parts = tuple(exact(share, "share") for share in sequence(shares, "shares"))
        nonnegative = truth(nonnegative, "nonnegative")
        if len(parts) != len(listed) or min(parts) <= 0:
            raise OutOfRange("each row must have a positive share", came=f"{len(parts)} shares for {len(listed)} rows")
        if any(part.denominator > FINEST for part in parts) or lcm(*(part.denominator for part in parts)) > FINEST:
            remedy = "Round the shares, for example to multiples of 1/1000."
            raise OutOfRange("the shares must have a common denominator of at most 2^64", came="more", remedy=remedy)
        spent = charge_of_rows(listed, parts, nonnegative=nonnegative)
        if spent > 1:
            remedy = "Lower the shares, or pass nonnegative=True if no individual lowers a cell."
            raise OutOfRange(
                "the shares must not spend more than the level",
                came=f"{float(min(spent, Fraction(1000))):.6g} times the level",
                remedy=remedy,
            )
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "SignedCells"))
        object.__setattr__(self, "rows", listed)
        object.__setattr__(self, "shares", parts)
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "SignedCells"))
        object.__setattr__(self, "nonnegative", nonnegative)
        _estimate(listed, parts)  # refuses rows that do not determine the cells

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.rows[0])

    @property
    def charge(self) -> Fraction:
        """The largest fraction of the level that a change by one individual spends."""
        return charge_of_rows(self.rows, self.shares, nonnegative=self.nonnegative)

    @property
    def changes(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """The certificate of ``charge``: pairs of an extreme change by one individual and the fraction of the level
        that this change spends.
        """
        return changes_of_rows(self.rows, self.shares, nonnegative=self.nonnegative)

    @property
    def ratios(self) -> tuple[Level, ...]:
        """The level per unit of the sum of each row."""
        return tuple(self.level.scaled(share / self.sensitivity) for share in self.shares)

    @property
    def estimate(self) -> tuple[Array, int]:
        """The matrix B (cells, rows) and the denominator of the unbiased estimate B y / denominator of the cells from
        noisy sums y.

        The estimate minimises squared errors, weighted by the squares of the shares, and B is the same at every level.
        """
        return _estimate(self.rows, self.shares)

    def noise_of(self, cell: int) -> Combination:
        """The noise of the estimate of one cell."""
        gain, denominator = self.estimate
        coefficients = [Fraction(int(entry), denominator) for entry in gain[cell]]
        return Combination(coefficients, self.ratios)

    @property
    def variance(self) -> Fraction | float:
        """The mean of E noise^2 over the cells."""
        variances = [self.noise_of(cell).variance for cell in range(self.cells)]
        return sum(variances, Fraction(0)) / self.cells

    @property
    def mean_size(self) -> float:
        """The mean of E|noise| over the cells."""
        return sum(self.noise_of(cell).mean_size for cell in range(self.cells)) / self.cells

    def margins(self, confidence: Number = DEFAULT_CONFIDENCE) -> tuple[int | float, ...]:
        """The least r with a certificate that P(|noise| <= r) >= confidence, for each cell."""
        return tuple(self.noise_of(cell).margin(confidence) for cell in range(self.cells))

    def __repr__(self) -> str:
        shares = tuple(str(share) for share in self.shares)
        return distribution_text(self, rows=self.rows, shares=shares, nonnegative=self.nonnegative)


def charge_of_rows(rows: SignedRows, shares: Sequence[Fraction], *, nonnegative: bool) -> Fraction:
    """The largest sum of shares times |row . change| over changes in [0, 1]^k if nonnegative, else in [-1, 1]^k."""
    # The corners suffice, because the sum is convex.
    return max(spent for _, spent in changes_of_rows(rows, shares, nonnegative=nonnegative))


def changes_of_rows(
    rows: SignedRows, shares: Sequence[Fraction], *, nonnegative: bool
) -> list[tuple[tuple[int, ...], Fraction]]:
    """The certificate of a charge: pairs of an extreme change by one individual and the fraction of the level that this
    change spends.
    """
    common = lcm(*(share.denominator for share in shares))
    parts = np.array([int(share * common) for share in shares], dtype=object)
    corners = list(product((0, 1) if nonnegative else (-1, 1), repeat=len(rows[0])))[1 if nonnegative else 0 :]
    moved = np.abs(np.array(corners) @ np.array(rows).T).astype(object)
    return [(corner, Fraction(spent, common)) for corner, spent in zip(corners, moved.dot(parts), strict=True)]


def read_rows(rows: Sequence[Any], most: int = MOST_ROWS) -> SignedRows:
    """Read integer rows of one length, at most 12 entries; refuse more rows than ``most``."""
    if not isinstance(rows, Sequence | np.ndarray):
        raise wrong_kind("rows", "a list of rows of integers", rows)
    if not 1 <= len(rows) <= most or any(isinstance(row, str) or not np.iterable(row) for row in rows):
        raise OutOfRange(f"rows must be a list of 1 to {most} rows", came=len(rows))
    lengths = {len(list(row)) for row in rows}
    if len(lengths) != 1 or not 1 <= min(lengths) <= MOST_CELLS:
        raise OutOfRange(f"all rows must have the same number of entries, from 1 to {MOST_CELLS}", came=sorted(lengths))
    listed = tuple(tuple(exact_integer(entry, "row") for entry in row) for row in rows)
    if max(abs(entry) for row in listed for entry in row) > MOST_ENTRY:
        raise OutOfRange(f"the entries of rows must be at most {MOST_ENTRY}", came="more")
    return listed


@lru_cache(maxsize=256)
def _estimate(rows: SignedRows, shares: tuple[Fraction, ...]) -> tuple[Array, int]:
    """(A' W A)^-1 A' W over its common denominator, with A = ``rows`` and the squared shares on the diagonal of W."""
    A = objects((Fraction(entry) for row in rows for entry in row), (len(rows), len(rows[0])))
    weighed = A.T * objects(share**2 for share in shares)
    X = weighed.dot(A)
    try:
        gain = solve_lifted(X, weighed)
    except SolverFailed:
        raise OutOfRange("the rows must determine every cell", came=f"{len(rows)} rows", where="rows") from None
    denominator = lcm(*(entry.denominator for entry in gain.ravel()))
    whole = objects((int(entry * denominator) for entry in gain.ravel()), gain.shape)
    whole.setflags(write=False)
    return whole, denominator
