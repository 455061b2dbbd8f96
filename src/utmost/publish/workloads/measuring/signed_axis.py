"""Signed rows along an axis, for individuals who change all cells of a row together.

Let the shares f_i of the rows a_i satisfy: the maximum over d in {0, 1}^k of sum_i f_i |a_i d| is 1. If the rows along
each other axis are charged the full level, all products of rows together cost as much as independent noise of the k
cells of a row, that is k times the level of one cell. The attribute `shares` has k f_i: fractions of the level of one
cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.arrays import Array, Floats, frozen, objects
from utmost.core.exact.linear_algebra import independent, solve_lifted
from utmost.core.exact.numbers import exact
from utmost.core.noise.signed_cells import SignedRows, charge_of_rows, read_rows
from utmost.errors import OutOfRange, WrongKind
from utmost.tables.axes.axes import Axis, label_text

_DIGITS = 60  # binary digits of estimates


@dataclass(frozen=True, slots=True, eq=False)
class SignedAxis:
    """Signed sums over the values of an axis, for individuals who enlarge cells and lower none.

    Args:
        signed: Rows of integers, (rows, values), of full column rank.
        parts_of_level: Budget share of each row of integers, as a fraction of the level of all cells that change
            together. The sum over the rows of share times |row . d| must be at most 1 for every 0-1 vector d, and
            exactly 1 for at least one d.

    Raises:
        OutOfRange: if the rows do not determine the values, or if the sum of share times |row . d| has another maximum
            than 1.

    >>> axis = SignedAxis([[1, 0, 0], [1, -1, -1], [0, 1, -1]], ["8/15", "7/15", "7/15"])
    >>> [(str(share), places.tolist()) for share, places in zip(axis.shares, axis.places, strict=True)]
    [('8/5', [0]), ('7/5', [1, 2])]
    """

    signed: Any
    parts_of_level: Any
    places: tuple[NDArray[np.intp], ...] = field(init=False, repr=False)
    shares: tuple[Fraction, ...] = field(init=False, repr=False)
    level: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        rows: SignedRows = read_rows(self.signed)
        if not isinstance(self.parts_of_level, Sequence | np.ndarray):
            raise wrong_kind("parts_of_level", "a list of shares", self.parts_of_level)
        parts = tuple(exact(share, "share") for share in self.parts_of_level)
        if len(parts) != len(rows) or min(parts) <= 0:
            raise OutOfRange("each signed row must have a positive share of the level", came=f"{len(parts)} shares")
        spent = charge_of_rows(rows, parts, nonnegative=True)
        if spent != 1:
            raise OutOfRange(
                "the shares of signed rows must add up to exactly the level",
                came=f"{float(min(spent, Fraction(1000))):.6g} of the level",
            )
        if len(independent(objects((Fraction(x) for row in rows for x in row), (len(rows), len(rows[0]))))[0]) < len(
            rows[0]
        ):
            raise OutOfRange("the signed rows must determine every value of the axis", came=f"{len(rows)} rows")
        steps = sorted(set(parts), reverse=True)
        places = tuple(frozen(np.array([at for at, part in enumerate(parts) if part == step])) for step in steps)
        object.__setattr__(self, "signed", rows)
        object.__setattr__(self, "parts_of_level", parts)
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "shares", tuple(step * len(rows[0]) for step in steps))

    def __reduce__(self) -> tuple[Any, ...]:
        return SignedAxis, (self.signed, self.parts_of_level)

    @property
    def values(self) -> int:
        """The number of values of the axis."""
        return len(self.signed[0])

    @property
    def entries(self) -> int:
        """The number of measured sums along the axis, which is the number of rows."""
        return len(self.signed)

    @property
    def largest(self) -> int:
        """The largest sum of a row's absolute entries."""
        return int(max(sum(map(abs, row)) for row in self.signed))

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The rows as a matrix; (rows, values)."""
        return np.array(self.signed, dtype=np.int64)

    def loaded(self, spent: NDArray[Any]) -> NDArray[Any]:
        """For each change of a row by one individual, return its charge as a fraction of the level of the row's cells.

        Args:
            spent: Array of shares; the first axis has one entry for each class.
        """
        corners = np.array([change for change in product((0, 1), repeat=self.values) if any(change)])
        moved = np.abs(corners @ self.matrix.T)
        by_class = np.stack([moved[:, places].sum(axis=1) for places in self.places], axis=1).astype(object)
        return np.asarray(np.tensordot(by_class, spent, axes=1) * Fraction(1, self.values))

    def measured(self, sums: NDArray[Any], place: int) -> NDArray[Any]:
        """Apply the rows to an array that has a number for each value along the axis ``place``."""
        moved = np.moveaxis(sums, place, 0)
        return np.moveaxis(np.tensordot(self.matrix.astype(moved.dtype), moved, axes=1), 0, place)

    def float_estimates(self, weights: Sequence[float] | Floats) -> Floats:
        """Return the matrix B of least squares, with estimates B y from measured sums y; (values, rows)."""
        of_rows = np.empty(self.entries)
        for places, weight in zip(self.places, weights, strict=True):
            of_rows[places] = weight / max(weights)
        weighed = self.matrix.T * of_rows
        try:
            return np.asarray(np.linalg.solve(weighed @ self.matrix, weighed))
        except np.linalg.LinAlgError:  # the weights differ too much for floats
            least = Fraction(min(weights)) / 1000
            gain, denominator = self.exact_estimates([round(Fraction(weight) / least) for weight in weights])
            return np.asarray(gain / denominator, dtype=float)

    def exact_estimates(self, classes: Sequence[int]) -> tuple[Array, int]:
        """Return a matrix B of exactly unbiased estimates, near least squares, as integers over a denominator.

        Let L be a left inverse of the rows A. Then B = L + R (1 - A L) has B A = 1 for *every* R, so the best R may be
        rounded.

        Args:
            classes: Weight of each class.
        """
        A = self.matrix.astype(object)
        chosen, _ = independent(objects((Fraction(int(x)) for x in A.ravel()), A.shape))
        chosen = chosen[: self.values]
        square = objects((Fraction(int(x)) for x in A[chosen].ravel()), (self.values, self.values))
        unit = objects((Fraction(int(i == j)) for i in range(self.values) for j in range(self.values)), square.shape)
        inverse = solve_lifted(square, unit)
        below = int(np.lcm.reduce([entry.denominator for entry in inverse.ravel()], dtype=object))
        left = np.zeros((self.values, self.entries), dtype=object)
        left[:, chosen] = objects((int(entry * below) for entry in inverse.ravel()), inverse.shape)
        if self.entries == self.values:
            return left, below
        weights = np.zeros(self.entries, dtype=object)
        for places, weight in zip(self.places, classes, strict=True):
            weights[places] = Fraction(weight)
        weighed = A.T * weights
        gain = solve_lifted(weighed.dot(A), weighed)
        rounded = objects((round(entry * (1 << _DIGITS)) for entry in gain.ravel()), gain.shape)
        off = np.eye(self.entries, dtype=int).astype(object) * below - A.dot(left)
        return left * (1 << _DIGITS) + rounded.dot(off), below << _DIGITS

    def words(self, axis: Axis, number: int) -> str:
        """Describe a class in words, such as "'a' - 'b' of kind"."""
        labels = [repr(str(label_text(label))) for label in axis.labels[0]]
        sums = []
        for place in self.places[number].tolist():
            terms = [(factor, label) for factor, label in zip(self.signed[place], labels, strict=True) if factor]
            words = " ".join(
                f"{'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor)} '}{label}"
                for factor, label in terms
            )
            sums.append(words[2:] if words.startswith("+ ") else words)
        return f"{'; '.join(sums)} of {axis.levels[0]}"

    def facts(self, axis: Axis) -> dict[str, Any]:
        """Return the rows and their shares as JSON values."""
        del axis
        return {"signed": [list(row) for row in self.signed], "shares": [str(share) for share in self.parts_of_level]}


def signed_axis_of(axis: Axis, facts: Mapping[str, Any]) -> SignedAxis:
    """Read the signed rows that `SignedAxis.facts` wrote."""
    if set(facts) != {"signed", "shares"} or not all(isinstance(facts[name], list) for name in facts):
        raise wrong_kind("rows", 'a mapping with "signed" and "shares"', facts)
    if not all(isinstance(row, list) and all(type(entry) is int for entry in row) for row in facts["signed"]):
        raise WrongKind("the entries of signed rows must be integers", came="other entries")
    signed = SignedAxis(facts["signed"], facts["shares"])
    if signed.values != axis.size:
        raise OutOfRange("signed rows must have an entry for each value", came=signed.values, where=axis.levels[0])
    return signed
