"""Certified best budget shares of integer rows over a few cells that one individual changes together.

With rows a_i at the levels e_i, the precision matrix is X = sum of p(e_i) a_i a_i', and the error tr(M X^-1) is a
convex function of the precisions p(e_i). Let D be all changes that one individual may make. The levels satisfy epsilon
E if sum_i e_i |a_i d| <= E for every d in D. The sum is convex in d, so it suffices to check the corners of D. The
search of `branch_and_bound` then applies, with this polytope of levels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, sequence
from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.signed_cells import read_rows
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.variance_components import precision, relative_precision
from utmost.publish.workloads.planning.branch_and_bound import (
    CertifiedShares,
    Search,
    largest_share,
    read_tolerance,
)

_MOST_CELLS, _MOST_ROWS = 6, 1000


@dataclass(frozen=True, slots=True, eq=False)
class _ErrorOfRows:
    """The error tr(M X^-1) by the rows' precisions, which are relative to the precision at the largest share."""

    rows: Floats
    gram: Floats
    level: float

    def precisions(self, shares: Floats) -> Floats:
        return np.asarray(relative_precision(shares, self.level))

    def values(self, precisions: Floats) -> Floats:
        X = np.einsum("...i,ij,ik->...jk", precisions, self.rows, self.rows)
        # If the least eigenvalue is negligible beside the largest precision, some combination of cells is not measured.
        known = np.linalg.eigvalsh(X)[..., 0] > 1e-12 * precisions.max(axis=-1)
        inverses = np.linalg.inv(np.where(known[..., None, None], X, np.eye(self.rows.shape[1])))
        return np.where(known, (inverses * self.gram).sum(axis=(-2, -1)), np.inf)

    def slopes(self, precisions: Floats) -> Floats:
        inverse = np.linalg.inv(np.einsum("i,ij,ik->jk", precisions, self.rows, self.rows))
        across = self.rows @ inverse
        return np.asarray(-((across @ self.gram) * across).sum(axis=1))


@progress_bar("Certifying rows")
def certified_rows(
    rows: Sequence[Any],
    unit: Unit,
    epsilon: Number | Level,
    *,
    weights: Sequence[Number] | None = None,
    start: Sequence[Number] | None = None,
    tolerance: Number = "1/50",
    most_boxes: int = 20_000,
    progress: Callable[[int, float], None] | None = None,
) -> CertifiedShares:
    """Search for the best budget shares of integer rows over a few cells, with a lower bound on the error.

    Args:
        rows: Rows of integer coefficients of 1 to 6 cells; (rows, cells).
        unit: Unit of privacy. ``unit.cells`` is the number of these cells that one individual changes. If
            ``unit.cells`` is larger than the number of cells, it must be a multiple of this number: one individual then
            changes all cells of several rows of a table.
        epsilon: Privacy level of the whole release.
        weights: Weight of the variance of each cell; None for 1/cells each.
        tolerance: Largest allowed (error / bound) - 1, > 0.
        start: Shares to begin with, one for each row; None for equal shares.
        most_boxes: Number of boxes after which the search stops; `CertifiedShares.is_certified` is then False.
        progress: Function that is called every hundred boxes with the number of halved boxes and the ratio error /
            bound.

    Returns:
        The budget share of each row, and the weighted variance of the cells.

    Raises:
        OutOfRange: if the rows do not determine the cells, or if weights, shares or tolerance are invalid.
        Unsupported: if the unit has ``in_total`` or ``exactly``.

    Cost: a second for all 13 rows with entries up to 1 over three cells, 45 seconds for all 40 rows over four cells;
        the number of boxes grows exponentially with the rows.
    Source: proofs/theory/workload-bounds.md.

    >>> counts = Unit(1, 3, nonnegative=True)
    >>> found = certified_rows([[0, 0, 1], [1, -1, 0], [1, 1, -1]], counts, 1)
    >>> round(found.value, 2), found.is_certified
    (6.44, True)
    """
    instance(unit, Unit, "unit")
    listed = read_rows(sequence(rows, "rows", or_text=True), _MOST_ROWS)
    matrix = np.array(listed, dtype=float)
    cells = matrix.shape[1]
    if cells > _MOST_CELLS or np.linalg.matrix_rank(matrix) < cells or not np.abs(matrix).sum(axis=1).all():
        required = f"rows must be over at most {_MOST_CELLS} cells and determine them all, and no row may be all zeros"
        raise OutOfRange(required, came=f"{len(listed)} rows over {cells} cells", where="rows")
    gram = np.diag(_positive(weights, cells, "weights") if weights is not None else np.full(cells, 1 / cells))
    at = level(epsilon)
    spent = np.abs(changes_of(unit, cells) @ matrix.T) * float(unit.sensitivity)
    spent = np.unique(spent, axis=0)
    largest = largest_share(spent)
    error = _ErrorOfRows(matrix, gram, float(at.epsilon_float) * largest)
    first = _positive(start, len(listed), "start") if start is not None else np.ones(len(listed))
    search = Search(error, spent * largest, [first])
    gap = read_tolerance(tolerance)
    most = natural(most_boxes, "most_boxes")
    bound, boxes = search.certify(gap, most, progress)
    variance = 1 / float(precision(error.level))
    shares = dict(zip(listed, (largest * search.shares).tolist(), strict=True))
    holds_for = "levels of these rows, geometric noise on the integers, linear unbiased estimates"
    return CertifiedShares(shares, search.value * variance, bound * variance, boxes, gap, holds_for)


def changes_of(unit: Unit, cells: int) -> NDArray[np.int64]:
    """Return the extreme changes of these cells by one individual, in units of the sensitivity; (changes, cells)."""
    if unit.in_total is not None or unit.exactly or unit.is_shared:
        raise Unsupported(
            "rows can be certified only for a unit without in_total=, exactly= and between=",
            came=repr(unit),
            where="unit",
        )
    if unit.cells > cells and unit.cells % cells:
        required = f"unit.cells must be at most {cells}, the number of cells in a row, or a multiple of {cells}"
        raise OutOfRange(required, came=repr(unit), where="unit")
    # If `unit.cells` is a multiple, several whole rows of a table change alike, which spends a multiple.
    several, present = max(1, unit.cells // cells), min(unit.cells, cells)
    records = [np.zeros(cells, dtype=np.int64)]
    # List only corners: if both signs are possible, a change of fewer cells is the mean of two changes of more cells.
    for size in range(1 if unit.nonnegative else present, present + 1):
        for chosen in combinations(range(cells), size):
            for signs in product((1,) if unit.nonnegative else (-1, 1), repeat=size):
                record = np.zeros(cells, dtype=np.int64)
                record[list(chosen)] = signs
                records.append(record)
    changes = np.array(records[1:])
    if unit.neighbours == "change-one":
        both = np.array(records)
        changes = np.unique((both[:, None] - both).reshape(-1, cells), axis=0)
    # A change and its negative spend the same, so list only the one with a positive first entry.
    first = changes[np.arange(len(changes)), (changes != 0).argmax(axis=1)]
    return np.asarray(several * np.unique(changes[first > 0], axis=0))


def _positive(numbers: Sequence[Number], count: int, name: str) -> Floats:
    read = np.array([float(exact(number, name)) for number in sequence(numbers, name)])
    if len(read) != count or not (read > 0).all():
        raise OutOfRange(f"there must be {count} numbers, all positive", came=str(read.tolist()), where=name)
    return read
