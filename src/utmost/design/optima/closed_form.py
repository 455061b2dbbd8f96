"""Compute the Bayes remap of the geometric mechanism G, and a dual that proves that the remapped mechanism is optimal
(Theorem 3.1).

**The scores** S_y(r) = sum_i p_i alpha^|i-y| l(i, r) are the posterior losses of action r after response y, not
normalised. Two sweeps compute S = D + U: D_y = alpha D_{y-1} + p_y l(y, .) for ascending y, and U_y = alpha (U_{y+1} +
p_{y+1} l(y+1, .)) for descending y. With alpha = s/t the numbers t^n S_y are integers, so exact consumers need no
fractions.

**The losses to which Theorem 3.1 applies** are more than those in its statement.

Theorem 3.1 of [ghosh2009] is stated for losses that are nondecreasing in |i - r|. The proof of the theorem needs less:
each row l(i, .) decreases to a smallest entry and increases after it, and the column of the smallest entry, the mode of
the row, does not decrease with i. Only Lemma 5.5 uses the loss. In the proof of this lemma, l < m are consecutive
nonzero columns, with C(i, l) not "down" and C(i, m) not "up", where C is the `constraint_matrix` of the mechanism. Mass
can move from m to l on the rows up to i, or from l to m on the rows after i, or (this is new) from both columns to a
column k between them: from m on the rows up to i, and from l on the rows after i. The move from m to l does not
increase the loss if the mode of row i is at most l, and the move from l to m does not increase it if the mode of row i
+ 1 is at least m; in any other case, the move to column k does not increase the loss for some k between these two
modes. The numbers of rows and actions may differ: the rest of the proof counts only nonzero columns and responses of G.

**The dual.**

With the scores S_y(r) = sum_i p_i alpha^|i-y| l(i, r), the remap is a(y) = argmin_r S_y(r), and the least loss is
sum_y c_y S_y(a(y)), where c_y normalises column y of G. If the remap is optimal, complementary slackness determines the
dual mu of the row sums: sum_i mu_i g_iy = sum_i p_i g_iy l(i, a(y)) for every y. So mu = G^{-T} h with
h_y = c_y S_y(a(y)), and G^{-1} is tridiagonal:

    mu_y = p_y l(y, a(y)) + alpha / (1 - alpha^2) * sum over neighbours z of y of (S_z(a(y)) - S_z(a(z))).

The sum of mu equals the loss for every consumer. The remap is optimal if and only if every column of p l - mu has a
nonnegative product with every private column; `dual_bound` decides this condition in O(n) for each column. So the
optimal dual is unique, even if several actions are best for a response.
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
    """Yield S_y in float64 for y = 0, ..., n, in O(n k) time and O(sqrt(n) k) memory."""
    alpha = float(level.alpha)
    return _scores(float_rows(consumer), lambda v: alpha * v, 1.0)


def exact_scores(level: Level, consumer: Consumer) -> tuple[Iterator[Array], int]:
    """Return an iterator of S_y, times a factor that makes them integers, for y = 0, ..., n; and this factor."""
    alpha, rows = level.alpha_fraction(), integer_rows(consumer)
    s, t = fmpz(alpha.numerator), fmpz(alpha.denominator)
    scale = t ** (rows.secrets - 1)
    return _scores(rows, lambda v: v * s // t, scale), int(scale) * rows.denominator


def _scores(rows: LossRows, times_alpha: Callable[[Array], Array], scale: Any) -> Iterator[Array]:
    """Yield scale * S_y for y = 0, ..., n."""
    n = rows.secrets - 1
    stride = max(1, math.isqrt(n))
    # To save memory, divide the y into stretches of length sqrt(n). First store U at the last y of each stretch, from
    # the rightmost stretch to the leftmost; later compute U again at the other y of each stretch.
    up, restarts = 0 * rows.row(n), []
    for y in range(n, -1, -1):
        if y == n or (y + 1) % stride == 0:
            restarts.append(up)
        up = times_alpha(up + scale * rows.row(y))
    left = 0 * rows.row(0)
    for start in range(0, n + 1, stride):
        stretch = range(start, min(start + stride, n + 1))
        # Compute U at every y of the stretch, from right to left.
        right = [restarts.pop()]
        for y in reversed(stretch[1:]):
            right.append(times_alpha(right[-1] + scale * rows.row(y)))
        for y in stretch:
            left = times_alpha(left) + scale * rows.row(y)
            yield left + right.pop()


THEOREM = "Theorem 3.1 of Ghosh, Roughgarden and Sundararajan (2009)"
EXTENDED = "Theorem 3.1 of Ghosh, Roughgarden and Sundararajan (2009), extended to unimodal losses with ordered modes"


def theorem_for(consumer: Consumer) -> tuple[str, tuple[str, ...]] | None:
    """Return the name of the theorem that proves a remap of the geometric mechanism optimal, and its hypotheses; None
    if no theorem applies.
    """
    if consumer.actions == consumer.secrets and is_monotone(consumer):
        return THEOREM, ("the loss of each secret i does not decrease in |i - r|",)
    exactly = consumer.is_exact and consumer.table is not None
    if is_unimodal(integer_rows(consumer) if exactly else float_rows(consumer)):
        return EXTENDED, ("the loss of each secret falls to a mode and rises after it", "the modes do not decrease")
    return None


def is_unimodal(rows: LossRows) -> bool:
    """Return whether every row of losses decreases to a mode and then increases, and the mode does not decrease from
    row to row.
    """
    # If a row has several modes, choose the smallest one that is at least the mode of the previous row.
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


# Float scores are sums of positive terms with errors of some units of 2^-53. Scores with a smaller relative difference
# are tied.
_TIE = 2.0**-44


@dataclass(frozen=True, slots=True, eq=False)
class GeometricDesign:
    """A remap of the geometric mechanism on {0, ..., n}, and the only dual that can prove it optimal."""

    actions: Array  # (n+1,) the best action for each response; the smallest one if several are best
    ties: tuple[int, ...]  # responses with other equally good actions
    dual: Array  # (n+1,) mu, whose sum is the loss
    error: Array  # (n+1,) best scores, the scale of the rounding errors of `dual`; 0 if exact


def exact_design(level: Level, consumer: Consumer) -> GeometricDesign:
    """Return the remap and dual for a rational alpha and an exact consumer, computed in integers."""
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
    """Return the remap and dual in float64, in O(n k) time and O(sqrt(n) k) memory."""
    rows = float_rows(consumer)
    actions, ties, regrets, best = _best_actions(rows, float_scores(level, consumer), _TIE)
    factor = float(level.alpha) / -np.expm1(-2 * level.epsilon_float)
    dual = np.array(_own_losses(rows, actions)) + factor * np.array(regrets)
    return GeometricDesign(actions, ties, dual, np.array(best))


def _best_actions(
    rows: LossRows, swept: Iterator[Array], tolerance: float
) -> tuple[Array, tuple[int, ...], list[Any], list[Any]]:
    """Return the best action of each response y, the responses with ties, and the regret and best score of each y."""
    # The regret at y is the sum over its neighbours z of S_z(a(y)) - S_z(a(z)), the excess of the score of a(y) at z.
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
    """Return p_y l(y, a(y)) for every y."""
    return [rows.prior[y] * rows.loss_row(y)[action] for y, action in enumerate(actions)]
