"""Theorem 3.1 in closed form: the Bayes remap of the geometric mechanism, and the dual that proves it optimal.

**The unnormalised posterior losses of geometric responses: S_y(r) = sum_i p_i alpha^|i-y| l(i, r), for all y and r.**

Two sweeps give them all: D_y = alpha D_{y-1} + p_y l(y, .) from the left and U_y = alpha (U_{y+1} + p_{y+1} l(y+1, .))
from the right, S = D + U. With alpha = s/t the integers t^n S_y stay integers, so exact consumers need no fractions.

**What Theorem 3.1 asks of a loss, and how far it reaches beyond what it asks.**

The theorem is stated for losses that do not decrease in |i - r|. Its proof needs less: each row l(i, .) falls to a
smallest entry and rises after it, and that place, the row's mode, does not move left as i grows. Lemma 5.5 is the only
step that uses the loss. There, two columns l < m next to each other among those in use, with C(i, l) not "down" and
C(i, m) not "up", let mass move from m to l on the rows up to i, or from l to m on the rows after i, or, new, from both
to a column k between them: from m on the rows up to i and from l on the others. The first is no loss when the mode of
row i is at most l, the second when that of row i + 1 is at least m, and otherwise k between these two modes serves.
Rows and actions need not be equally many: the rest of the proof counts columns in use and responses of G only.

With the scores S_y(r) = sum_i p_i alpha^|i-y| l(i, r), the remap is a(y) = argmin_r S_y(r), and the least loss is
sum_y c_y S_y(a(y)). If that is optimal at all, complementary slackness leaves one candidate for the dual mu of the
rows: sum_i mu_i g_iy = sum_i p_i g_iy l(i, a(y)) for every y, so mu = G^{-T} h with h_y = c_y S_y(a(y)), and G^{-1} is
tridiagonal:

    mu_y = p_y l(y, a(y)) + alpha / (1 - alpha^2) * sum over neighbours z of y of (S_z(a(y)) - S_z(a(z))).

The sum of mu is the loss, whatever the consumer. The remap is optimal exactly when every column of p l - mu is
nonnegative on all private columns, which `dual_bound` decides in O(n) a column. So the optimal dual is unique, ties or
not.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz

from utmost.core.exact.arrays import Array, objects
from utmost.core.exact.levels import Level
from utmost.design.optima.checker_on_counts import LossRows, float_rows, integer_rows
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.loss_algebra import is_monotone


def float_scores(level: Level, consumer: Consumer) -> Iterator[Array]:
    """S_y in float64 for y = 0, ..., n in turn. Cost: O(n k) time, O(sqrt(n) k) memory."""
    alpha = float(level.alpha)
    return _scores(float_rows(consumer), lambda v: alpha * v, 1.0)


def exact_scores(level: Level, consumer: Consumer) -> tuple[Iterator[Array], int]:
    """S_y in integers for y = 0, ..., n in turn, and the integer that they have been multiplied by.

    Cost: O(n k) products of long and short integers, and memory for O(sqrt(n) k) long ones.

    >>> from utmost.exact import level
    >>> from utmost.design.spaces import losses, priors
    >>> swept, scale = exact_scores(level(alpha="1/2"), Consumer(priors.uniform(2), losses.absolute))
    >>> [[int(x) for x in score] for score in swept], scale
    ([[1, 2], [2, 1]], 4)
    """
    alpha, rows = level.alpha_fraction(), integer_rows(consumer)
    s, t = fmpz(alpha.numerator), fmpz(alpha.denominator)
    scale = t ** (rows.secrets - 1)
    return _scores(rows, lambda v: v * s // t, scale), int(scale) * rows.denominator


def _scores(rows: LossRows, times_alpha: Callable[[Array], Array], scale: Any) -> Iterator[Array]:
    """scale * S_y for every y. Every sqrt(n)-th U is kept, and the stretches between are computed again."""
    n = rows.secrets - 1
    stride = max(1, math.isqrt(n))
    restarts = _restarts(rows, times_alpha, scale, stride)
    left = 0 * rows.row(0)
    for start in range(0, n + 1, stride):
        right = _stretch(rows, times_alpha, scale, restarts.pop(), range(start, min(start + stride, n + 1)))
        for y in range(start, min(start + stride, n + 1)):
            left = times_alpha(left) + scale * rows.row(y)
            yield left + right.pop()


def _restarts(rows: LossRows, times_alpha: Callable[[Array], Array], scale: Any, stride: int) -> list[Array]:
    """U at the last y of each stretch, the leftmost stretch last."""
    n = rows.secrets - 1
    up, restarts = 0 * rows.row(n), []
    for y in range(n, -1, -1):
        if y == n or (y + 1) % stride == 0:
            restarts.append(up)
        up = times_alpha(up + scale * rows.row(y))
    return restarts


def _stretch(
    rows: LossRows, times_alpha: Callable[[Array], Array], scale: Any, last: Array, where: range
) -> list[Array]:
    """U_y for the y of a stretch, the first of them last."""
    values = [last]
    for y in reversed(where[1:]):
        values.append(times_alpha(values[-1] + scale * rows.row(y)))
    return values


THEOREM = "Theorem 3.1 of Ghosh, Roughgarden and Sundararajan (2009)"
EXTENDED = "Theorem 3.1 of Ghosh, Roughgarden and Sundararajan (2009), extended to unimodal losses with ordered modes"


def theorem_for(consumer: Consumer) -> tuple[str, tuple[str, ...]] | None:
    """The theorem that makes a remap of the geometric mechanism optimal for this consumer, its hypotheses, or None.

    Cost: O(n k).

    >>> from utmost.design.spaces import losses, priors
    >>> theorem_for(Consumer(priors.uniform(4), losses.nib)) is None
    True
    """
    if consumer.actions == consumer.secrets and is_monotone(consumer):
        return THEOREM, ("the loss of each secret i does not decrease in |i - r|",)
    exactly = consumer.is_exact and consumer.table is not None
    if is_unimodal(integer_rows(consumer) if exactly else float_rows(consumer)):
        return EXTENDED, ("the loss of each secret falls to a mode and rises after it", "the modes do not decrease")
    return None


def is_unimodal(rows: LossRows) -> bool:
    """Whether every row falls and then rises, at modes that do not decrease from row to row.

    A row may have a plateau of modes; the leftmost that is not left of the last row's is taken.
    """
    mode = 0
    for i in range(rows.secrets):
        row = rows.loss_row(i)
        steps = np.diff(row)
        falls, rises = np.flatnonzero(steps < 0), np.flatnonzero(steps > 0)
        first = int(falls[-1]) + 1 if falls.size else 0
        last = int(rises[0]) if rises.size else len(row) - 1
        mode = max(mode, first)
        if mode > last:
            return False
    return True


# Scores are sums of positive terms, good to some ulps: what is nearer than this is a tie, broken like any other.
_TIE = 2.0**-44


@dataclass(frozen=True, slots=True, eq=False)
class GeometricDesign:
    """A remap of the geometric mechanism on {0, ..., n}, and its candidate dual.

    Attributes:
        actions: (n+1,) the action for each response; the smallest of the best.
        ties: Responses for which another action is as good.
        dual: (n+1,) mu, whose sum is the loss.
        error: (n+1,) the size of the rounding errors in play at each secret; zeros where all is exact.
    """

    actions: Array
    ties: tuple[int, ...]
    dual: Array
    error: Array


def exact_design(level: Level, consumer: Consumer) -> GeometricDesign:
    """The design for a rational alpha and an exact consumer, in integers throughout.

    Cost: O(n k) products of integers of O(n) digits.
    """
    alpha, rows = level.alpha_fraction(), integer_rows(consumer)
    swept, scale = exact_scores(level, consumer)
    actions, ties, regrets, _ = _best_actions(rows, swept, 0)
    s, t = alpha.numerator, alpha.denominator
    own = [Fraction(int(loss), rows.denominator) for loss in _own_losses(rows, actions)]
    dual = objects(
        here + Fraction(s * t * int(regret), scale * (t * t - s * s)) for here, regret in zip(own, regrets, strict=True)
    )
    return GeometricDesign(actions, ties, dual, np.zeros(len(own)))


def float_design(level: Level, consumer: Consumer) -> GeometricDesign:
    """The design in float64. Cost: O(n k) time and O(sqrt(n) k) memory."""
    rows = float_rows(consumer)
    actions, ties, regrets, best = _best_actions(rows, float_scores(level, consumer), _TIE)
    factor = float(level.alpha) / -np.expm1(-2 * level.epsilon_float)
    dual = np.array(_own_losses(rows, actions)) + factor * np.array(regrets)
    return GeometricDesign(actions, ties, dual, np.array(best))


def _best_actions(
    rows: LossRows, swept: Iterator[Array], tolerance: float
) -> tuple[Array, tuple[int, ...], list[Any], list[Any]]:
    """The best actions, the ties, the neighbours' regrets at each other's action, and the best scores."""
    actions, ties, best = np.zeros(rows.secrets, dtype=np.intp), [], []
    regrets = [0 * rows.prior[0]] * rows.secrets
    last: Array | None = None
    for y, score in enumerate(swept):
        least = score.min()
        equal = np.flatnonzero(score <= least + tolerance * least)
        actions[y] = equal[0]
        if len(equal) > 1:
            ties.append(y)
        if last is not None:
            here, before = actions[y], actions[y - 1]
            regrets[y - 1] = regrets[y - 1] + (score[before] - score[here])
            regrets[y] = regrets[y] + (last[here] - last[before])
        best.append(score[actions[y]])
        last = score
    return actions, tuple(ties), regrets, best


def _own_losses(rows: LossRows, actions: Array) -> list[Any]:
    """p_y l(y, a(y)) for every y."""
    return [rows.prior[y] * rows.loss_row(y)[action] for y, action in enumerate(actions)]
