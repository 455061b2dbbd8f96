"""Add, scale, restrict and extend losses; check whether a loss on counts is monotone.

The functions of this module take and return matrices; ``losses.binary.matrix(n)`` is the matrix of a named loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arguments import integer, sequence_of, truth
from utmost.core.exact.arrays import Array, as_array, fractions, frozen, indices, is_exact, same_numbers
from utmost.core.exact.numbers import natural, refused_as
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.losses import loss_matrix
from utmost.errors import NotALoss, NotMonotone, OutOfRange, quoted


def joint_loss(one: object, two: object) -> Array:
    """Return the sum of two losses with a pair of actions, one for each loss: l(x, (v, w)) = l1(x, v) + l2(x, w).

    A consumer chooses both actions independently, so the least expected losses (uncertainties U) add up for every prior
    and channel: U_l = U_l1 + U_l2. A mechanism that is universally optimal for both losses is universally optimal for
    their sum.

    Args:
        one: Loss (n, k).
        two: Loss (n, m).

    Returns:
        Matrix (n, k m), in which the pair (v, w) is action v m + w.

    Source: [fernandes2022], equation (13).

    >>> joint_loss([[0, 1]], [[0, 2]]).tolist()
    [[Fraction(0, 1), Fraction(2, 1), Fraction(1, 1), Fraction(3, 1)]]
    """
    first, second = same_numbers(loss_matrix(one), loss_matrix(two))
    if len(first) != len(second):
        raise OutOfRange(f"both losses must have {len(first)} rows", came=len(second))
    return frozen((first[:, :, None] + second[:, None, :]).reshape(len(first), -1))


def scaled_loss(weights: object, loss: object) -> Array:
    """Return the loss multiplied by a weight for each secret: errors about secret x cost v(x) times as much.

    Weighting the loss has the same effect as changing the prior: U_vl[p, C] = s U_l[q, C] with q_x = p_x v(x) / s
    and s = sum_x p_x v(x).

    Args:
        weights: Nonnegative weight of each of the n secrets; or one number for all secrets.
        loss: Matrix (n, k), for n secrets and k actions.

    Source: [fernandes2022], equation (14).

    >>> scaled_loss([1, 2], [[0, 1], [1, 0]]).tolist()[1]
    [Fraction(2, 1), Fraction(0, 1)]
    """
    table = loss_matrix(loss)
    with refused_as(NotALoss):
        v = as_array(weights, "weights")
    if v.shape not in ((), (len(table),)):
        raise NotALoss(
            f"weights must be one number, or {len(table)} numbers, one for each secret",
            came=f"shape {v.shape}",
            remedy="Pass a list of weights, or one number.",
        )
    if (v < 0).any():
        raise NotALoss("weights must not be negative", came=str(v.min()), remedy="Pass weights of at least 0.")
    scale, table = same_numbers(np.broadcast_to(v, len(table)), table)
    return frozen(np.asarray(scale[:, None] * table))


def restricted_loss(loss: object, secrets: Sequence[int]) -> Array:
    """Return the rows of a loss (n, k) for the given secrets only, in the given order, (len(secrets), k).

    Source: [fernandes2022], section IV-C (the loss l restricted to X').

    >>> restricted_loss([[0, 1], [2, 3], [4, 5]], [2, 0]).tolist()[0]
    [Fraction(4, 1), Fraction(5, 1)]
    """
    sequence_of(secrets, integer, "secrets")
    table = loss_matrix(loss)
    rows = np.asarray(secrets)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or rows.size == 0 or rows.min() < 0 or rows.max() >= len(table):
        raise OutOfRange(f"secrets must be at least one index in 0..{len(table) - 1}", came=quoted(secrets))
    return frozen(table[rows])


def lifted_loss(loss: object, secrets: Sequence[int], size: int) -> Array:
    """Return the extension of a loss on some secrets to all secrets; the extension is 0 for the other secrets.

    If a mechanism restricted to ``secrets`` is universally optimal for the loss among the mechanisms on ``secrets``,
    then the mechanism is universally optimal for the extended loss among the mechanisms on all secrets. The converse is
    false.

    Args:
        loss: Matrix (k, actions).
        secrets: Indices of k different secrets, in 0, ..., size - 1.
        size: Number of all secrets.

    Source: [fernandes2022], section IV-C, and theorem 6(5), of which only this direction is true.

    >>> lifted_loss([[0, 1], [1, 0]], (0, 2), 3).tolist()[1]
    [Fraction(0, 1), Fraction(0, 1)]
    """
    sequence_of(secrets, integer, "secrets")
    size = integer(size, "size")
    table, size = loss_matrix(loss), natural(size, "size", least=1)
    rows = indices(secrets, size, "secrets")
    if rows.ndim != 1 or len(rows) != len(table) or np.unique(rows).size != len(table):
        raise OutOfRange(
            f"secrets must be {len(table)} different indices below {size}",
            came=secrets,
            remedy="For each row of the loss, pass the index of its secret.",
        )
    zeros = np.zeros((size, table.shape[1]), dtype=np.int64)
    lifted = fractions(zeros) if is_exact(table) else zeros.astype(np.float64)
    lifted[rows] = table
    return frozen(lifted)


# Number of entries that are checked together, so that a consumer on 10 000 counts needs no full matrix.
_ENTRIES = 1 << 18


@dataclass(frozen=True, slots=True)
class Breach:
    """A violation of monotonicity: for one secret, the farther of two actions costs too little."""

    secret: int
    nearer: int
    farther: int
    nearer_loss: Fraction | float
    farther_loss: Fraction | float

    def __str__(self) -> str:
        i, near, far = self.secret, self.nearer, self.farther
        return f"l({i}, {far}) = {self.farther_loss} but l({i}, {near}) = {self.nearer_loss}"


def check_monotone(loss: object, strict: bool = False, *, each_side: bool = False) -> None:
    """Check that a loss does not decrease as the distance |i - r| of the answer r from the true result i grows.

    Args:
        loss: `Consumer`, or a loss matrix (results 0..n, answers 0, 1, ...).
        strict: Whether a farther answer must cost strictly more than a nearer one.
        each_side: Whether to compare only answers on the same side of i. If False, l(i, r) must be nondecreasing in
            |i - r|, as Ghosh et al. require, so answers equally far above and below i must cost the same.

    Raises:
        NotMonotone: if the loss violates the condition. The message names the first entry, row by row, that violates
            the condition.

    Cost: O(n k).

    Source: [ghosh2009], section 2.2.

    >>> check_monotone([[0, 2, 1], [1, 0, 1], [2, 1, 0]])
    Traceback (most recent call last):
    utmost.errors.NotMonotone: the loss must not decrease with |i - r|; got l(0, 2) = 1 but l(0, 1) = 2.
    """
    breach = first_breach(loss, strict, each_side=each_side)
    if breach is not None:
        sides = " on each side of i" if each_side else ""
        what = "must increase" if strict else "must not decrease"
        raise NotMonotone(f"the loss {what} with |i - r|{sides}", came=str(breach))


def is_monotone(loss: object, strict: bool = False, *, each_side: bool = False) -> bool:
    """Return whether `check_monotone` passes.

    >>> is_monotone([[0, 1], [1, 0]]), is_monotone([[1, 0], [0, 1]])
    (True, False)
    """
    return first_breach(loss, strict, each_side=each_side) is None


def first_breach(loss: object, strict: bool = False, *, each_side: bool = False) -> Breach | None:
    """Return the first violation of monotonicity, row by row; None if the loss is monotone."""
    strict, each_side = truth(strict, "strict"), truth(each_side, "each_side")
    if not isinstance(loss, Consumer):
        return _first_breach_of_rows(loss_matrix(loss), 0, strict, each_side)
    if loss.rule is not None and loss.rule.of_difference:
        n, k = loss.secrets, loss.actions
        # Every difference r - i, without repetitions.
        middle_row = loss.rule.block(np.array([n - 1]), np.arange(n + k - 1))
        if _first_breach_of_rows(middle_row, n - 1, strict, each_side) is None:
            return None
    step = max(1, _ENTRIES // loss.actions)
    for start in range(0, loss.secrets, step):
        breach = _first_breach_of_rows(
            loss.loss_block(slice(start, start + step), slice(None)), start, strict, each_side
        )
        if breach is not None:
            return breach
    return None


def _first_breach_of_rows(rows: Array, first: int, strict: bool, each_side: bool) -> Breach | None:
    """Return the first violation of monotonicity in rows for the secrets first, first + 1, ...; else None."""
    # It is enough to compare neighbours on each side, and answers equally far above and below: other comparisons
    # follow. A candidate is a triple (row, farther, nearer).
    candidates: list[tuple[int, int, int]] = []
    growth = rows[:, 1:] - rows[:, :-1]
    i, r = np.indices(growth.shape)
    away: Array = np.asarray(r >= i + first)  # the step from r to r + 1 leads away from i
    fall = (growth <= 0) & away | (growth >= 0) & ~away if strict else (growth < 0) & away | (growth > 0) & ~away
    for row, col in np.argwhere(fall)[:1].tolist():
        candidates.append((row, col + 1, col) if away[row, col] else (row, col, col + 1))
    if not each_side:
        i, r = np.indices(rows.shape)
        opposite: Array = np.asarray(2 * (i + first) - r)
        inside = (opposite >= 0) & (opposite < rows.shape[1])
        other = np.take_along_axis(rows, np.where(inside, opposite, r), axis=1)
        for row, col in np.argwhere(rows < other)[:1].tolist():
            candidates.append((row, col, int(opposite[row, col])))
    if not candidates:
        return None
    row, farther, nearer = min(candidates)
    near, far = (rows[row, r].item() if rows.dtype != object else rows[row, r] for r in (nearer, farther))
    return Breach(first + row, nearer, farther, near, far)
