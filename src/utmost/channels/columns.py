"""Columns of a channel that say the same: proportional ones, which lead every prior to one posterior."""

from collections.abc import Hashable

import numpy as np

from utmost.exact import Array, is_exact


def merged_columns(matrix: Array, tolerance: float) -> tuple[Array, list[list[int]]]:
    """The sums of proportional columns, zero columns left out, and which columns went into each.

    Args:
        matrix: (n, m), nonnegative.
        tolerance: for float64: how far two columns, each divided by its sum, may differ entry by entry.

    Returns:
        The (n, m') matrix in order of first appearance, and m' lists of column numbers.

    >>> from utmost.exact import as_array
    >>> merged_columns(as_array([["1/2", "1/4", 0, "1/4"], ["1/3", "1/6", 0, "1/2"]]), 0)[1]
    [[0, 1], [3]]
    """
    sums = matrix.sum(axis=0)
    groups = _equal_directions(matrix, sums) if is_exact(matrix) else _near_directions(matrix, sums, tolerance)
    merged = np.empty((matrix.shape[0], len(groups)), dtype=matrix.dtype)
    for k, group in enumerate(groups):
        merged[:, k] = matrix[:, group].sum(axis=1)
    return merged, groups


def _equal_directions(matrix: Array, sums: Array) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for y in np.flatnonzero(sums != 0).tolist():
        groups.setdefault(tuple(matrix[:, y] / sums[y]), []).append(y)
    return list(groups.values())


def _near_directions(matrix: Array, sums: Array, tolerance: float) -> list[list[int]]:
    """Columns are compared with the first column of each group, so that no group drifts.

    Their mean rows are compared before: a near column has a near mean, and few others do.
    """
    groups: list[list[int]] = []
    firsts, means = np.empty((matrix.shape[1], matrix.shape[0])), np.empty(matrix.shape[1])
    rows = np.arange(matrix.shape[0])
    for y in np.flatnonzero(sums > 0).tolist():
        direction = matrix[:, y] / sums[y]
        mean, count = float(direction @ rows), len(groups)
        likely = np.flatnonzero(abs(means[:count] - mean) <= (tolerance + 1e-15) * rows.sum())
        near = likely[(abs(firsts[likely] - direction) <= tolerance).all(axis=1)]
        if near.size:
            groups[near[0]].append(y)
        else:
            firsts[count], means[count] = direction, mean
            groups.append([y])
    return groups
