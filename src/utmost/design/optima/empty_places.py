"""Places of prior probability 0 (without mass), whose rows cost nothing and are computed last.

Without these places a program is smaller, and its optimum is no larger: a lower bound for the other places is a lower
bound for all. A channel on the other places is extended to the places without mass one by one. A further row satisfies
the level if and only if each of its entries lies between the largest a_j X[j, w] and the least X[j, w] / a_j, with
a_j = alpha^d for the distance to place j. Such a row can sum to 1 if and only if the lower limits sum to at most 1 and
the upper limits to at least 1. If not, the place has a price, and must be in the program
(`utmost.design.optima.column_generation`).
"""

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats

# Weights of a constant channel, tried in turn if a channel cannot be extended otherwise.
_SHARES = (2.0**-20, 2.0**-12, 2.0**-8, 2.0**-4, 0.25, 0.5)


def upper_limits(rows: Floats, factors: Floats) -> Floats:
    """Return (m, k) upper limits of the entries of m further places, given rows (t, k) and factors (m, t)."""
    return np.array([(rows / there[:, None]).min(axis=0) for there in factors]).reshape(len(factors), rows.shape[1])


def lower_limits(rows: Floats, factors: Floats) -> Floats:
    """Return (m, k) lower limits of the entries of m further places, given rows (t, k) and factors (m, t)."""
    return np.array([(rows * there[:, None]).max(axis=0) for there in factors]).reshape(len(factors), rows.shape[1])


def places_to_add(rows: Floats, places: NDArray[np.intp], factors: Floats) -> NDArray[np.intp]:
    """Return places whose upper limits sum to less than 1. With their rows, the limits of the others should suffice."""
    # A returned place gets a row of its own with sum 1, which raises the limits of the places near it, in proportion to
    # the factors. Places whose limits are large enough by then are not returned. ``rows`` (t, k) belong to ``places``,
    # in order; ``factors`` is (n, n).
    rest = np.setdiff1d(np.arange(len(factors)), places)
    most = upper_limits(rows, factors[np.ix_(rest, places)]).sum(axis=1)
    named, raised = [], np.zeros(len(rest))
    for e in np.argsort(most, kind="stable"):
        if most[e] * (1 + raised[e]) < 1:
            named.append(rest[e])
            raised = np.maximum(raised, (1 / most[e] - 1) * factors[rest[e], rest])
    return np.array(sorted(named), dtype=np.intp)


def extended(rows: Floats, places: NDArray[np.intp], factors: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Extend rows (t, k) at some places to a channel (n, k) that satisfies all factors; return it and failed places."""
    # The place with the smallest sum of upper limits comes next. Its row lies between the lower and the upper limits,
    # in the proportion that makes its sum 1. If there is no such row, the place fails and has zeros. Cost: O((n - t)^2
    # k + (n - t) t k).
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
    """Return `extended` of the rows, mixed with the constant channel of the most frequent answer as much as needed."""
    # Used after a search that ended before it knew which places matter.
    constant = np.zeros(rows.shape[1])
    constant[rows.sum(axis=0).argmax()] = 1.0
    for share in (0.0, *_SHARES):
        whole, left_out = extended((1 - share) * rows + share * constant, places, factors)
        if not len(left_out):
            return whole
    return np.repeat(constant[None], len(factors), axis=0)
