"""The unnormalised posterior losses of geometric responses: S_y(r) = sum_i p_i alpha^|i-y| l(i, r), for all y and r.

Two sweeps give them all: D_y = alpha D_{y-1} + p_y l(y, .) from the left and U_y = alpha (U_{y+1} + p_{y+1} l(y+1, .))
from the right, S = D + U. With alpha = s/t the integers t^n S_y stay integers, so exact consumers need no fractions.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from flint import fmpz

from utmost.design.loss_rows import LossRows, float_rows, integer_rows
from utmost.exact import Array, Level
from utmost.spaces import Consumer


def float_scores(level: Level, consumer: Consumer) -> Iterator[Array]:
    """S_y in float64 for y = 0, ..., n in turn. Cost: O(n k) time, O(sqrt(n) k) memory."""
    alpha = float(level.alpha)
    return _scores(float_rows(consumer), lambda v: alpha * v, 1.0)


def exact_scores(level: Level, consumer: Consumer) -> tuple[Iterator[Array], int]:
    """S_y in integers for y = 0, ..., n in turn, and the integer that they have been multiplied by.

    Cost: O(n k) products of long and short integers, and memory for O(sqrt(n) k) long ones.

    >>> from utmost.exact import level
    >>> from utmost.spaces import losses, priors
    >>> swept, scale = exact_scores(level(alpha="1/2"), Consumer(priors.uniform(2), losses.absolute))
    >>> [[int(x) for x in score] for score in swept], scale
    ([[1, 2], [2, 1]], 4)
    """
    alpha, rows = level.alpha_fraction(), integer_rows(consumer)
    s, t = fmpz(alpha.numerator), fmpz(alpha.denominator)
    scale = t ** (rows.secrets - 1)
    return _scores(rows, lambda v: v * s // t, scale), int(scale) * rows.denominator


def _scores(rows: LossRows, faded: Callable[[Array], Array], scale: Any) -> Iterator[Array]:
    """scale * S_y; ``faded`` multiplies by alpha. Every sqrt(n)-th U is kept, the stretches between are repeated."""
    n = rows.secrets - 1
    stride = max(1, math.isqrt(n))
    kept = _kept(rows, faded, scale, stride)
    left = 0 * rows.row(0)
    for start in range(0, n + 1, stride):
        right = _stretch(rows, faded, scale, kept.pop(), range(start, min(start + stride, n + 1)))
        for y in range(start, min(start + stride, n + 1)):
            left = faded(left) + scale * rows.row(y)
            yield left + right.pop()


def _kept(rows: LossRows, faded: Callable[[Array], Array], scale: Any, stride: int) -> list[Array]:
    """U at the last y of each stretch, the leftmost stretch last."""
    n = rows.secrets - 1
    up, kept = 0 * rows.row(n), []
    for y in range(n, -1, -1):
        if y == n or (y + 1) % stride == 0:
            kept.append(up)
        up = faded(up + scale * rows.row(y))
    return kept


def _stretch(rows: LossRows, faded: Callable[[Array], Array], scale: Any, last: Array, where: range) -> list[Array]:
    """U_y for the y of a stretch, the first of them last."""
    values = [last]
    for y in reversed(where[1:]):
        values.append(faded(values[-1] + scale * rows.row(y)))
    return values
