"""From what a float solver returns to what can be promised: an exactly private channel, and a feasible dual."""

from fractions import Fraction

import numpy as np

from utmost.design.checker import edge_slacks
from utmost.design.levels import alpha_above
from utmost.exact import Array
from utmost.privacy import PrivacyType
from utmost.spaces import Consumer

_GRID = 1 << 60


def private_matrix(ptype: PrivacyType, near: Array) -> Array:
    r"""An exactly private channel of Fractions next to a float matrix that is nearly one.

    Entries are rounded to multiples of 2^-60, and each row's largest entry makes its sum 1. If column r then breaks
    privacy by delta_r, the answer is (1 - theta) X + theta times the constant channel with outcome r in proportion to
    delta_r, where theta = D / (D + 1 - alpha), D = sum_r delta_r, and alpha is the largest factor of an edge: a
    constant column of height 1 has the slack 1 - alpha.

    Cost: O(edges * k) operations on short Fractions.
    """
    matrix = _rounded(near)
    edges, breaks, largest = ptype.space.edges, [Fraction(0)] * matrix.shape[1], Fraction(0)
    for x, y in edges.tolist():
        factor = alpha_above(ptype, x, y)
        largest = max(largest, factor)
        worst = np.maximum(factor * matrix[y] - matrix[x], factor * matrix[x] - matrix[y])
        breaks = [max(old, new) for old, new in zip(breaks, worst, strict=True)]
    total = sum(breaks, Fraction(0))
    if total == 0:
        return matrix
    theta = total / (total + 1 - largest)
    share = np.array([*(delta / total for delta in breaks), None], dtype=object)[:-1]
    return np.asarray((1 - theta) * matrix + theta * share)


def feasible_dual(ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array) -> tuple[Array, Array]:
    """The dual with negative multipliers raised to 0, and mu lowered until it is certainly feasible."""
    kept, mu = np.maximum(multipliers, 0.0), np.array(dual)
    for _ in range(20):
        slack = edge_slacks(ptype, consumer, mu, kept, exactly=False).min(axis=1)
        if (slack >= 0).all():
            break
        mu = np.where(slack >= 0, mu, mu + 2 * slack - 2.0**-52 * abs(mu))
    return mu, kept


def _rounded(near: Array) -> Array:
    units = np.rint(np.maximum(near, 0.0) * _GRID).astype(object)
    for x, row in enumerate(units):
        whole = [int(u) for u in row]
        whole[int(np.argmax(near[x]))] += _GRID - sum(whole)
        units[x] = [Fraction(u, _GRID) for u in whole]
    return np.asarray(units)
