"""Linear programs and their vertex solutions, as plain data.

A program is ``minimise c.x subject to lower <= A x <= upper and column_lower <= x <= column_upper``, in one kind of
numbers: float64 arrays, or object arrays of Fraction. An infinite bound is ``math.inf`` or ``-math.inf`` in both kinds
of numbers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.arrays import PickledByFields, frozen, is_exact, objects
from utmost.errors import NotANumber, OutOfRange

Vector = NDArray[Any]
AT_LOWER, BASIC, AT_UPPER, FREE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram(PickledByFields):
    """minimise c.x subject to lower <= A x <= upper, column_lower <= x <= column_upper.

    Attributes:
        cost: Vector c, shape (n,).
        starts, columns, values: Matrix A by rows (CSR): row i has the entries ``values[starts[i]:starts[i+1]]`` in the
            columns ``columns[starts[i]:starts[i+1]]``.
        lower, upper: Bounds of the rows, shape (m,); ``-inf`` or ``inf`` if there is no bound.
        column_lower, column_upper: Bounds of the variables, shape (n,).

    Raises:
        OutOfRange: if lengths do not match, or if a lower bound is above its upper bound.
        NotANumber: if a number is NaN, or if a cost or a coefficient is infinite.
    """

    cost: Vector
    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Vector
    lower: Vector
    upper: Vector
    column_lower: Vector
    column_upper: Vector

    def __post_init__(self) -> None:
        for name in ("starts", "columns"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=np.int64)))
        exact = any(is_exact(np.asarray(getattr(self, name))) for name in ("cost", "values", "lower", "upper"))
        for name in ("cost", "values", "lower", "upper", "column_lower", "column_upper"):
            is_bound, vector = name not in ("cost", "values"), np.asarray(getattr(self, name))
            if vector.ndim != 1:
                raise OutOfRange(f"{name} must have one dimension", came=vector.shape, where="LinearProgram")
            numbers: Vector = np.array(vector, dtype=np.float64)
            if np.isnan(numbers).any() or (not is_bound and np.isinf(numbers).any()):
                required = f"{name} must hold {'numbers' if is_bound else 'finite numbers'}"
                raise NotANumber(required, where="LinearProgram")
            if exact:
                pairs = zip(vector.tolist(), np.isfinite(numbers), strict=True)
                numbers = objects(Fraction(x) if is_finite else float(x) for x, is_finite in pairs)
            object.__setattr__(self, name, frozen(numbers))
        m, n = self.shape
        for name, length in {"starts": m + 1, "upper": m, "column_lower": n, "column_upper": n}.items():
            if len(getattr(self, name)) != length:
                raise OutOfRange(
                    f"{name} must have length {length}", came=len(getattr(self, name)), where="LinearProgram"
                )
        if (
            len(self.columns) != len(self.values)
            or self.starts[-1] != len(self.values)
            or (np.diff(self.starts) < 0).any()
        ):
            raise OutOfRange("starts, columns and values must describe one matrix by rows", where="LinearProgram")
        if self.columns.size and not (self.columns.min() >= 0 and self.columns.max() < n):
            raise OutOfRange(f"a column index must lie in 0..{n - 1}", where="LinearProgram")
        for low, high in ((self.lower, self.upper), (self.column_lower, self.column_upper)):
            if (low > high).any():
                raise OutOfRange("a lower bound must not exceed its upper bound", where="LinearProgram")

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, variables)."""
        return len(self.lower), len(self.cost)

    @property
    def is_exact(self) -> bool:
        """Whether the numbers are Fractions."""
        return self.cost.dtype == object

    def row(self, i: int) -> tuple[NDArray[np.int64], Vector]:
        """The columns and the coefficients of the stored entries of row i."""
        part = slice(self.starts[i], self.starts[i + 1])
        return self.columns[part], self.values[part]

    def entries(self, rows: NDArray[np.intp]) -> "Compressed":
        """The rows of A with these indices, in this order, in CSR form: starts, columns, values."""
        return selected((self.starts, self.columns, self.values), rows)

    def by_columns(self) -> "Compressed":
        """The matrix A stored by columns, in CSC form: starts, rows, values."""
        order = np.argsort(self.columns, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.columns, minlength=self.shape[1]))])
        return starts, self._row_of_entry()[order], self.values[order]

    def product(self, x: Vector) -> Vector:
        """The product A x, shape (rows,)."""
        return self._summed(self.values * np.asarray(x)[self.columns], self._row_of_entry(), self.shape[0])

    def transposed_product(self, y: Vector) -> Vector:
        """The product A' y, shape (variables,)."""
        return self._summed(self.values * np.asarray(y)[self._row_of_entry()], self.columns, self.shape[1])

    def least_by(self, duals: Vector) -> Any:
        """A lower bound of the cost of every feasible point, which weak duality gives for any multipliers ``duals`` of
        the rows.

        >>> LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], lower=[1], upper=[2]).least_by(np.array([1.0]))
        np.float64(1.0)
        """
        y = np.asarray(duals)
        reduced = self.cost - self.transposed_product(y)
        pairs = (y, self.lower, self.upper), (reduced, self.column_lower, self.column_upper)
        return sum(
            (slope[slope > 0] * low[slope > 0]).sum() + (slope[slope < 0] * high[slope < 0]).sum()
            for slope, low, high in pairs
        )

    @classmethod
    def of_triplets(
        cls,
        cost: ArrayLike,
        rows: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        column_lower: ArrayLike | None = None,
        column_upper: ArrayLike | None = None,
    ) -> "LinearProgram":
        """The program whose matrix has ``values[k]`` at ``(rows[k], columns[k])``; by default the variables are >= 0.

        >>> one = LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], lower=[1], upper=[np.inf])
        >>> one.shape, one.row(0)[1].tolist()
        ((1, 2), [1.0, 1.0])
        """
        at, n, m = np.asarray(rows, dtype=np.int64), len(np.asarray(cost)), len(np.asarray(lower))
        if at.size and not (at.min() >= 0 and at.max() < m):
            raise OutOfRange(f"a row index must lie in 0..{m - 1}", came=(int(at.min()), int(at.max())))
        order = np.argsort(at, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=m))])
        below = np.zeros(n) if column_lower is None else column_lower
        above = np.full(n, math.inf) if column_upper is None else column_upper
        triplets = (np.asarray(columns, dtype=np.int64)[order], _as_array(values)[order])
        return cls(
            _as_array(cost), starts, *triplets, _as_array(lower), _as_array(upper), _as_array(below), _as_array(above)
        )

    def _row_of_entry(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    def _summed(self, terms: Vector, where: NDArray[np.int64], size: int) -> Vector:
        if not self.is_exact:
            return np.bincount(where, terms, size)
        total = np.full(size, Fraction(0), dtype=object)
        np.add.at(total, where, terms)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Basis(PickledByFields):
    """The status of each variable and row: AT_LOWER, BASIC, AT_UPPER or FREE (at zero)."""

    columns: NDArray[np.int8]
    rows: NDArray[np.int8]

    def __post_init__(self) -> None:
        for name in ("columns", "rows"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=np.int8)))


@dataclass(frozen=True, slots=True, eq=False)
class LinearSolution(PickledByFields):
    """A vertex and its duals. The dual of a row is >= 0 if the row is at its lower bound, and <= 0 if it is at its
    upper bound.
    """

    value: Any  # c.x at the vertex
    primal: Vector  # vertex (n,)
    duals: Vector  # multipliers of the rows (m,)
    reduced_costs: Vector  # c - A' duals, the multipliers of the variables' bounds (n,)
    basis: Basis

    def __post_init__(self) -> None:
        for name in ("primal", "duals", "reduced_costs"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name))))


Compressed = tuple[NDArray[np.int64], NDArray[np.int64], Vector]
"""A sparse matrix by rows (or columns): the start of each row, the column of each entry, and the values (or vice
versa).
"""


def selected(matrix: Compressed, lines: NDArray[np.intp]) -> Compressed:
    """Select the rows ``lines`` of a matrix that is stored by rows, or the columns ``lines`` of a matrix stored by
    columns.
    """
    starts, others, values = matrix
    lengths = np.diff(starts)[lines]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    at = np.arange(ends[-1]) + np.repeat(starts[lines] - ends[:-1], lengths)
    return ends, others[at], values[at]


def _as_array(numbers: Any) -> Vector:
    if isinstance(numbers, np.ndarray):
        return numbers
    listed = list(numbers)
    return np.array(listed, dtype=object if any(isinstance(x, Fraction) for x in listed) else np.float64)
