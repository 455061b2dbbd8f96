"""Two channels without the outcomes that say the same, and remaps between them carried back to all outcomes."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import merged_columns
from utmost.exact import Array, Floats, is_exact, product, to_floats

_SURELY_APART = 1e-9
_SAME = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MergedPair:
    """B and A with proportional columns merged and zero columns dropped. B refines to A exactly if they do.

    Attributes:
        coarse, fine: the merged matrices of B and A, (n, m') and (n, k').
        near: the nearest floats of both.
        rows: for each column of B the merged column that it went into; 0 for a zero column; (m,).
        shares: (k', k): how a merged column of A divides into the columns of A; None where none was merged.
    """

    coarse: Array
    fine: Array
    near: tuple[Floats, Floats]
    rows: Array
    shares: Array | None

    @classmethod
    def of(cls, B: Array, A: Array) -> "MergedPair":
        """The pair of two matrices with as many rows, in one number world."""
        near = to_floats(B), to_floats(A)
        groups, parts = _groups(B, near[0]), _groups(A, near[1])
        rows = np.zeros(B.shape[1], dtype=np.intp)
        for k, group in enumerate(groups):
            rows[group] = k
        coarse, fine = _merged(B, groups), _merged(A, parts)
        shares = None if len(parts) == A.shape[1] else _shares(A, parts)
        return cls(coarse, fine, (_merged(near[0], groups), _merged(near[1], parts)), rows, shares)

    def unmerged(self, remap: Array) -> Array:
        """A remap (m', k') of the merged pair as one of the pair; impossible outcomes take the first row of it."""
        return (remap if self.shares is None else product(remap, self.shares))[self.rows]


def _groups(matrix: Array, near: Floats) -> list[list[int]]:
    """Proportional columns; exact ones are compared only where floats do not tell all of them apart."""
    if not is_exact(matrix):
        return merged_columns(matrix, _SAME)[1]
    groups = merged_columns(near, _SURELY_APART)[1]
    return groups if len(groups) == matrix.shape[1] else merged_columns(matrix, 0)[1]


def _merged(matrix: Array, groups: list[list[int]]) -> Array:
    if len(groups) == matrix.shape[1]:
        return matrix
    return np.stack([matrix[:, group].sum(axis=1) for group in groups], axis=1)


def _shares(A: Array, parts: list[list[int]]) -> Array:
    shares = np.full((len(parts), A.shape[1]), Fraction(0) if is_exact(A) else 0.0, dtype=A.dtype)
    for w, part in enumerate(parts):
        sums = A[:, part].sum(axis=0)
        shares[w, part] = sums / sums.sum()
    return shares
