"""The best action for each outcome, with ties listed."""

import numpy as np

from utmost.channels import Remap
from utmost.exact import Array, is_exact, one_world, product

TIE = 2.0**-44


def scores(payments: Array, joint: Array) -> Array:
    """sum_x J[x, y] payments[x, w], shape (k, m): what action w brings at outcome y, times the outcome's probability.

    Args:
        payments: (n, k), gains or losses.
        joint: (n, m).

    Cost: O(n m k).
    """
    pay, J = one_world(payments, joint)
    return product(pay.T, J)


def least_actions(scored: Array, tie: float = TIE) -> Remap:
    """For each outcome the action with the least score; of several the smallest, with the outcome among the ties.

    Args:
        scored: (k, m).
        tie: in float64, how much more than the least a score may be, relative to it, and still count as equal: sums of
            positive terms are good to some units of 2^-53. Exact scores tie when they are equal.
    """
    least = scored.min(axis=0)
    equal = scored <= (least if is_exact(scored) else least + tie * abs(least))
    return Remap(equal.argmax(axis=0), len(scored), np.flatnonzero(equal.sum(axis=0) > 1))
