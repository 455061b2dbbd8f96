"""Least squares over x >= 0 from noisy sums along one axis, in rationals: exact at any size and for any weights.

Solve without bounds, set every negative cell to zero, and solve again until no cell is negative: the result is the
minimum. The reason is that the Hessian, the sum over groups v of q_v 1_v 1_v', is an ultrametric matrix, and so the
inverse of an M-matrix [martinez1994]. Then setting negative cells to zero makes no other cell larger and no gradient
smaller.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array
from utmost.publish.workloads.measuring.unequal_trees import UnequalTree
from utmost.tables.axes.domain import Marginal


def nearest_of_tree(
    tree: UnequalTree, weights: Mapping[Marginal, int], measured: Mapping[Marginal, NDArray[Any]]
) -> list[Fraction]:
    """Return the x >= 0 that minimises the sum of q_v (x_v - y_v)^2 over the measured groups v of a tree."""
    # `weights` has q for each measured level, `measured` has y. Some measured level must have as many groups as cells.
    sums = {
        level: np.array([Fraction(number) for number in of_level.ravel().tolist()], dtype=object)
        for (level,), of_level in measured.items()
    }
    free = np.array([Fraction(1)] * tree.groups[0], dtype=object)
    while True:
        cells = _least(tree, {level: Fraction(weight) for (level,), weight in weights.items()}, sums, free)
        if not (cells < 0).any():
            return [Fraction(cell) for cell in cells.tolist()]
        free[cells < 0] = Fraction(0)


def _least(tree: UnequalTree, weights: Mapping[int, Fraction], sums: Mapping[int, Array], free: Array) -> Array:
    """Return the cells of least squared error, if all cells that are not free are zero."""
    # Let p be the derivative, with respect to a group's sum, of the terms above the group. The group's sum is a - c p.
    # Compute a and c up the tree, then p down the tree.
    finest = min(weights)
    reach = [free / weights[finest]]
    at_no_price = [free * sums[finest]]
    levels = range(finest + 1, len(tree.groups))
    for level in levels:
        spread, added = (tree.added(below[-1], level) for below in (reach, at_no_price))
        weight = weights.get(level, Fraction(0))
        # Solve S = added - spread (p + q (S - y)) for S.
        reach.append(spread / (1 + spread * weight))
        at_no_price.append((added + spread * weight * sums.get(level, 0)) / (1 + spread * weight))
    price: Array = reach[-1] * 0
    for level in reversed(levels):
        off = at_no_price[level - finest] - reach[level - finest] * price - sums.get(level, 0)
        price = (price + weights.get(level, Fraction(0)) * off)[tree.parents[level - 1]]
    return np.asarray(at_no_price[0] - reach[0] * price)
