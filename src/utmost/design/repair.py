"""From what a float solver returns to what can be promised: an exactly private channel, and a feasible dual."""

from fractions import Fraction
from math import ceil

import numpy as np

from utmost.design.checker import edge_slacks
from utmost.design.levels import alphas_above
from utmost.design.multipliers import Multipliers
from utmost.design.near_ties import doubtful_ratios
from utmost.exact import Array
from utmost.privacy import PrivacyType
from utmost.spaces import Consumer

_GRID = 1 << 60


def private_matrix(ptype: PrivacyType, near: Array) -> Array:
    r"""An exactly private channel of Fractions next to a float matrix that is nearly one.

    Entries are rounded to multiples of 2^-60, and each row's largest entry makes its sum 1. If column r then breaks
    privacy by delta_r, the constant c_r = delta_r / (1 - alpha) is added to all its entries, where alpha is the largest
    factor of an edge: a constant column of height 1 has the slack 1 - alpha. Last, everything is divided by
    1 + sum_r c_r, which changes no ratio.

    Cost: O(edges k) float operations, and exact ones where floats leave doubt.
    """
    matrix = _rounded(near)
    breaks: dict[int, Fraction] = {}
    for x, y, r, factor in doubtful_ratios(ptype, matrix):
        breaks[r] = max(breaks.get(r, Fraction(0)), factor * matrix[y, r] - matrix[x, r])
    if not any(breaks.values()):
        return matrix
    room = 1 - max(alphas_above(ptype, ptype.space.edges).tolist())
    raised = np.zeros(matrix.shape[1], dtype=object)
    for r, broken in breaks.items():
        raised[r] = ceil(_GRID * broken / room)
    whole = _GRID + int(raised.sum())
    units = [[Fraction(int(_GRID * v) + up, whole) for v, up in zip(row, raised, strict=True)] for row in matrix]
    return np.array(units, dtype=object)


def feasible_dual(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers
) -> tuple[Array, Array | Multipliers]:
    """The dual with negative multipliers raised to 0, and mu lowered until it is certainly feasible."""
    kept = multipliers if isinstance(multipliers, Multipliers) else np.maximum(multipliers, 0.0)
    mu = np.array(dual)
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
