"""Extend a channel to places (secrets) without mass: their prior probability is 0, so their rows do not change the
loss.

A program without these places is smaller, and its optimum is no larger, so a lower bound for the places with mass is a
lower bound for all places. A channel X on the places with mass is extended to one other place after another. The row of
the new place satisfies the level if and only if each entry w of the row lies between the largest a_j X[j, w] and the
least X[j, w] / a_j over all places j with mass, where a_j is alpha^d for the distance d from the new place to place j.
A row within these limits can sum to 1 if and only if the lower limits sum to at most 1 and the upper limits to at least
1. If no row within the limits sums to 1, the place must be in the program (`utmost.design.optima.column_generation`).
"""

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats

# If a channel cannot be extended, it is mixed with a constant channel. These weights of the constant channel are tried
# one after another.
_SHARES = (2.0**-20, 2.0**-12, 2.0**-8, 2.0**-4, 0.25, 0.5)


def upper_limits(rows: Floats, factors: Floats) -> Floats:
    """Return the upper limits of the entries of m new rows, (m, k), from the present rows (t, k) and factors (m, t)."""
    return np.array([(rows / there[:, None]).min(axis=0) for there in factors]).reshape(len(factors), rows.shape[1])


def lower_limits(rows: Floats, factors: Floats) -> Floats:
    """Return the lower limits of the entries of m new rows, (m, k), from the present rows (t, k) and factors (m, t)."""
    return np.array([(rows * there[:, None]).max(axis=0) for there in factors]).reshape(len(factors), rows.shape[1])


def places_to_add(rows: Floats, places: NDArray[np.intp], factors: Floats) -> NDArray[np.intp]:
    """Return places that the program must include, because their upper limits sum to less than 1."""
    # A returned place will get a row with sum 1, which increases the limits of the places near it, in proportion to the
    # factors. Places whose upper limits then sum to at least 1 are not returned. ``rows`` (t, k) belong to ``places``,
    # in this order; ``factors`` is (n, n).
    rest = np.setdiff1d(np.arange(len(factors)), places)
    most = upper_limits(rows, factors[np.ix_(rest, places)]).sum(axis=1)
    chosen, increase = [], np.zeros(len(rest))
    for e in np.argsort(most, kind="stable"):
        if most[e] * (1 + increase[e]) < 1:
            chosen.append(rest[e])
            increase = np.maximum(increase, (1 / most[e] - 1) * factors[rest[e], rest])
    return np.array(sorted(chosen), dtype=np.intp)


def extended(rows: Floats, places: NDArray[np.intp], factors: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Extend rows (t, k) at ``places`` to a channel (n, k); return it, and the places for which no row satisfies
    ``factors``.
    """
    # Each step takes the place with the smallest sum of upper limits. Its row is a mixture of the lower and the upper
    # limits with sum 1. If no mixture has sum 1, the place fails, and its row is 0. Cost: O((n - t)^2 k + (n - t) t k).
    n = len(factors)
    whole, rest = np.zeros((n, rows.shape[1])), np.setdiff1d(np.arange(n), places)
    whole[places] = rows
    low, high = lower_limits(rows, factors[np.ix_(rest, places)]), upper_limits(rows, factors[np.ix_(rest, places)])
    left_out, waits = [], np.ones(len(rest), dtype=bool)
    for _ in rest:
        most = np.where(waits, high.sum(axis=1), np.inf)
        e = int(most.argmin())
        least, waits[e] = float(low[e].sum()), False
        if not least <= 1 <= most[e]:
            left_out.append(rest[e])
            continue
        share = (1 - least) / (most[e] - least) if most[e] > least else 0.0
        row = whole[rest[e]] = low[e] + share * (high[e] - low[e])
        there = factors[rest[e], rest[waits], None]
        low[waits], high[waits] = np.maximum(low[waits], row * there), np.minimum(high[waits], row / there)
    return whole, np.array(sorted(left_out), dtype=np.intp)


def extended_with_loss(rows: Floats, places: NDArray[np.intp], factors: Floats) -> Floats:
    """Extend ``rows`` to a private channel (n, k), if necessary after mixing the rows with a constant channel."""
    # If a search ended before it knew which places must be included, mix with the channel that always gives the most
    # frequent answer.
    constant = np.zeros(rows.shape[1])
    constant[rows.sum(axis=0).argmax()] = 1.0
    for share in (0.0, *_SHARES):
        whole, left_out = extended((1 - share) * rows + share * constant, places, factors)
        if not len(left_out):
            return whole
    return np.repeat(constant[None], len(factors), axis=0)
