r"""The rows of a program whose columns keep bounded ratios: v_i >= a_ij v_j, held only where they have been met.

A private channel over n secrets has n^2 ratios in each column, and near an optimum few of them bind. So the rows are a
list that grows: it begins with the pairs that bind most, and takes in every other pair once a column comes near it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Floats

Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class RatioRows:
    """Rows ``v_w[low] - factor v_w[high] >= 0``, sorted by the column w.

    Attributes:
        size: the length n of a column.
        columns: how many columns there are.
        column, low, high: (N,) which column, and which two of its entries.
        factor: (N,) the factor a of the pair.
    """

    size: int
    columns: int
    column: Numbers
    low: Numbers
    high: Numbers
    factor: Floats

    @classmethod
    def everywhere(cls, columns: int, low: Numbers, high: Numbers, factors: Floats) -> "RatioRows":
        """The same pairs in every column."""
        pairs = len(low)
        column = np.repeat(np.arange(columns), pairs)
        low, high = np.tile(low, columns), np.tile(high, columns)
        return cls(len(factors), columns, column, low, high, factors[low, high])

    def __len__(self) -> int:
        return len(self.column)

    def slacks(self, values: Floats) -> Floats:
        """A v for columns (k, n): shape (N,)."""
        flat = values.ravel()
        start = self.column * self.size
        return np.asarray(flat[start + self.low] - self.factor * flat[start + self.high])

    def combined(self, multipliers: Floats) -> Floats:
        """A' z, shape (k, n)."""
        start, total = self.column * self.size, self.columns * self.size
        gains = np.bincount(start + self.low, weights=multipliers, minlength=total)
        gains -= np.bincount(start + self.high, weights=self.factor * multipliers, minlength=total)
        return np.asarray(gains.reshape(self.columns, self.size))

    def normal_matrix(self, w: int, weights: Floats) -> tuple[Floats, Floats]:
        """A_w' D A_w of column w for positive weights D, scaled to a unit diagonal, and the scale of each entry."""
        n, part = self.size, slice(*np.searchsorted(self.column, [w, w + 1]))
        low, high, factor, d = self.low[part], self.high[part], self.factor[part], weights[part]
        half: Floats = np.asarray(np.bincount(low * n + high, weights=-factor * d, minlength=n * n).reshape(n, n))
        off: Floats = np.asarray(half + half.T)
        diagonal = np.bincount(low, weights=d, minlength=n) + np.bincount(high, weights=factor**2 * d, minlength=n)
        scale = 1 / np.sqrt(diagonal)
        off *= scale[:, None]
        off *= scale[None, :]
        off.flat[:: n + 1] = 1.0
        return off, scale

    def codes(self) -> Numbers:
        """One number for each row."""
        return (self.column * self.size + self.low) * self.size + self.high

    def merged(self, more: "RatioRows") -> tuple["RatioRows", Numbers]:
        """These rows and more, sorted by column, and where each row of the two lists together has gone."""
        both = [
            np.concatenate([getattr(self, name), getattr(more, name)]) for name in ("column", "low", "high", "factor")
        ]
        order = np.argsort(both[0], kind="stable")
        return RatioRows(self.size, self.columns, *(part[order] for part in both)), order

    def without(self, dropped: NDArray[np.bool_]) -> tuple["RatioRows", NDArray[np.bool_]]:
        """The rows of the columns that are not dropped, renumbered, and which rows these are."""
        kept, number = ~dropped[self.column], np.cumsum(~dropped) - 1
        parts = (number[self.column[kept]], self.low[kept], self.high[kept], self.factor[kept])
        return RatioRows(self.size, int((~dropped).sum()), *parts), kept


def near_pairs(factors: Floats, neighbours: int = 4) -> tuple[Numbers, Numbers]:
    """Ordered pairs to begin with: each entry and its nearest ones, those with the largest factors, ties included."""
    n = len(factors)
    if n == 1:  # the one entry is only not negative: the pair with itself, whose factor is 0
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    if n - 1 <= neighbours:
        return tuple(np.nonzero(factors))  # type: ignore[return-value]
    least = np.sort(factors, axis=1)[:, -neighbours] * (1 - 1e-9)
    near = (factors >= least[:, None]) & (factors > 0)
    return tuple(np.nonzero(near | near.T))  # type: ignore[return-value]


def nearly_broken(values: Floats, factors: Floats, rows: RatioRows, within: float) -> tuple[RatioRows, Floats]:
    """For each entry of each column the pair nearest to being broken, if it is within a share of that and no row yet.

    Args:
        values: (k, n) the columns.
        factors: (n, n), 0 where a pair is implied by others.
        rows: the rows held already.
        within: how much of v_i the slack may be at most.

    Returns: the new rows, and by how much each column breaks its worst pair, (k,).

    Cost: O(k n^2), one multiplication for each.
    """
    product, entries, found = np.empty_like(factors), np.arange(rows.size), []
    worst = np.zeros(rows.columns)
    for w, v in enumerate(values):
        np.multiply(factors, v[None, :], out=product)
        high = product.argmax(axis=1)
        needed = product[entries, high]
        worst[w] = max(0.0, float((needed - v).max()))
        low = np.flatnonzero(needed > (1 - within) * v)
        found.append((np.full(len(low), w), low, high[low]))
    column, low, high = (np.concatenate(parts) for parts in zip(*found, strict=True))
    new = RatioRows(rows.size, rows.columns, column, low, high, factors[low, high])
    fresh = ~np.isin(new.codes(), rows.codes()) & (new.factor > 0)
    return RatioRows(rows.size, rows.columns, column[fresh], low[fresh], high[fresh], new.factor[fresh]), worst
