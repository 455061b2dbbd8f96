"""Symmetries of a space that are known without a search: those of a lattice."""

import numpy as np
from numpy.typing import NDArray

from utmost.spaces import EuclideanGridMetric, ManhattanGridMetric, Space


def known_symmetries(space: Space) -> NDArray[np.intp]:
    """Permutations of the secrets that keep all distances, (g, n), a group: of a lattice its reflections and turns.

    >>> from utmost.spaces import counts, grid
    >>> len(known_symmetries(grid(3, 3))), len(known_symmetries(grid(2, 3))), len(known_symmetries(counts(3)))
    (8, 4, 1)
    """
    metric = space.metric
    if not isinstance(metric, EuclideanGridMetric | ManhattanGridMetric):
        return np.arange(space.size)[None, :]
    points = np.arange(space.size).reshape(metric.rows, metric.cols)
    sheets = [points, points[::-1], points[:, ::-1], points[::-1, ::-1]]
    if metric.rows == metric.cols:
        sheets += [sheet.T for sheet in sheets]
    return np.unique([sheet.ravel() for sheet in sheets], axis=0)
