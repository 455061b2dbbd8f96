"""The algebra of losses: sums, multiples, losses on fewer and on more secrets. Matrices in, matrices out.

Of a named loss the matrix is ``losses.binary.matrix(n)``, say.
"""

from collections.abc import Sequence

import numpy as np

from utmost.errors import NotALoss, NotANumber, OutOfRange, quoted
from utmost.exact import Array, as_array, checked, fractions, frozen, indices, is_exact, natural, one_world
from utmost.spaces.losses import loss_matrix


def joint_loss(one: object, two: object) -> Array:
    """The sum of two losses with an action for each: l((v, w), x) = l1(v, x) + l2(w, x).

    The two actions are chosen apart, so the uncertainties add up: U_l = U_l1 + U_l2, for every prior and channel. And a
    mechanism that is universally optimal for both is so for their sum.

    Args:
        one: (n, k).
        two: (n, m).

    Returns:
        (n, k m); action (v, w) has the number v m + w.

    Source: [fernandes2022], equation (13).

    >>> joint_loss([[0, 1]], [[0, 2]]).tolist()
    [[Fraction(0, 1), Fraction(2, 1), Fraction(1, 1), Fraction(3, 1)]]
    """
    first, second = one_world(loss_matrix(one), loss_matrix(two))
    if len(first) != len(second):
        raise OutOfRange(f"both losses must have {len(first)} rows", came=len(second))
    return frozen((first[:, :, None] + second[:, None, :]).reshape(len(first), -1))


def scaled_loss(weights: object, loss: object) -> Array:
    """(v l)(w, x) = v(x) l(w, x): errors about secret x weigh v(x) times as much.

    It amounts to another prior: U_vl[p, C] = s U_l[q, C] with q_x = p_x v(x) / s and s = sum_x p_x v(x).

    Args:
        weights: (n,), nonnegative; or one number for all secrets.
        loss: (n, k).

    Source: [fernandes2022], equation (14).

    >>> scaled_loss([1, 2], [[0, 1], [1, 0]]).tolist()[1]
    [Fraction(2, 1), Fraction(0, 1)]
    """
    table = loss_matrix(loss)
    try:
        v = as_array(weights, "weights")
    except NotANumber as error:
        raise NotALoss(error.required, came=error.came, mend=error.mend) from None
    if v.shape not in ((), (len(table),)):
        raise NotALoss(f"there must be {len(table)} weights, one for each secret, or one", came=f"shape {v.shape}")
    if (v < 0).any():
        raise NotALoss("weights must not be negative", came=str(v.min()))
    scale, table = one_world(np.broadcast_to(v, len(table)), table)
    return frozen(np.asarray(scale[:, None] * table))


@checked
def restricted_loss(loss: object, secrets: Sequence[int]) -> Array:
    """A loss on some of its secrets only, in the order given: (n, k) to (len(secrets), k).

    Source: [fernandes2022], section IV-C (the loss l restricted to X').

    >>> restricted_loss([[0, 1], [2, 3], [4, 5]], [2, 0]).tolist()[0]
    [Fraction(4, 1), Fraction(5, 1)]
    """
    table = loss_matrix(loss)
    kept = np.asarray(secrets)
    if kept.dtype.kind not in "iu" or kept.ndim != 1 or kept.size == 0 or kept.min() < 0 or kept.max() >= len(table):
        raise OutOfRange(f"secrets must be numbers in 0..{len(table) - 1}, at least one", came=quoted(secrets))
    return frozen(table[kept])


@checked
def lifted_loss(loss: object, secrets: Sequence[int], size: int) -> Array:
    """A loss on some secrets as one on all, 0 beyond them.

    If a mechanism restricted to the secrets is universally optimal among the mechanisms on them, then it is so
    for the lifted loss among all; the converse fails.

    Args:
        loss: (k, actions). secrets: k different ones of 0, ..., size - 1. size: the number of all secrets.

    Source: [fernandes2022], section IV-C, and theorem 6(5), the direction that holds.

    >>> lifted_loss([[0, 1], [1, 0]], (0, 2), 3).tolist()[1]
    [Fraction(0, 1), Fraction(0, 1)]
    """
    table, size = loss_matrix(loss), natural(size, "size", least=1)
    places = indices(secrets, size, "secrets")
    if places.ndim != 1 or len(places) != len(table) or np.unique(places).size != len(table):
        raise OutOfRange(f"secrets must be {len(table)} different numbers below {size}", came=secrets)
    zeros = np.zeros((size, table.shape[1]), dtype=np.int64)
    lifted = fractions(zeros) if is_exact(table) else zeros.astype(np.float64)
    lifted[places] = table
    return frozen(lifted)
