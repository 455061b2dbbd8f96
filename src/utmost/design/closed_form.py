r"""Theorem 3.1 in closed form: the Bayes remap of the geometric mechanism, and the dual that proves it optimal.

With the scores S_y(r) = sum_i p_i alpha^|i-y| l(i, r), the remap is a(y) = argmin_r S_y(r), and the least loss is
sum_y c_y S_y(a(y)). If that is optimal at all, complementary slackness leaves one candidate for the dual mu of the
rows: sum_i mu_i g_iy = sum_i p_i g_iy l(i, a(y)) for every y, so mu = G^{-T} h with h_y = c_y S_y(a(y)), and G^{-1} is
tridiagonal:

    mu_y = p_y l(y, a(y)) + alpha / (1 - alpha^2) * sum over neighbours z of y of (S_z(a(y)) - S_z(a(z))).

The sum of mu is the loss, whatever the consumer. The remap is optimal exactly when every column of p l - mu is
nonnegative on all private columns, which `line_check` decides in O(n) a column. So the optimal dual is unique, ties or
not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.design.loss_rows import LossRows, float_rows, integer_rows
from utmost.design.scores import exact_scores, float_scores
from utmost.exact import Array, Level, objects
from utmost.spaces import Consumer

# Scores are sums of positive terms, good to some ulps: what is nearer than this is a tie, broken like any other.
_TIE = 2.0**-44


@dataclass(frozen=True, slots=True, eq=False)
class GeometricDesign:
    """A remap of the geometric mechanism on {0, ..., n}, and its candidate dual.

    Attributes:
        actions: (n+1,) the action for each response; the smallest of the best.
        ties: the responses for which another action is as good.
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
    actions, ties, regrets, _ = _swept(rows, swept, 0)
    s, t = alpha.numerator, alpha.denominator
    own = [Fraction(int(loss), rows.denominator) for loss in _diagonal(rows, actions)]
    dual = objects(
        here + Fraction(s * t * int(regret), scale * (t * t - s * s)) for here, regret in zip(own, regrets, strict=True)
    )
    return GeometricDesign(actions, ties, dual, np.zeros(len(own)))


def float_design(level: Level, consumer: Consumer) -> GeometricDesign:
    """The design in float64. Cost: O(n k) time and O(sqrt(n) k) memory."""
    rows = float_rows(consumer)
    actions, ties, regrets, best = _swept(rows, float_scores(level, consumer), _TIE)
    factor = float(level.alpha) / -np.expm1(-2 * level.epsilon_float)
    dual = np.array(_diagonal(rows, actions)) + factor * np.array(regrets)
    return GeometricDesign(actions, ties, dual, np.array(best))


def _swept(
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


def _diagonal(rows: LossRows, actions: Array) -> list[Any]:
    """p_y l(y, a(y)) for every y."""
    return [rows.prior[y] * rows.loss_row(y)[action] for y, action in enumerate(actions)]
