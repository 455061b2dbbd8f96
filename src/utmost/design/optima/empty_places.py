"""Places without mass: nothing that is answered there costs anything, so that they are decided last.

Without them a program is smaller, and its optimum no larger: what proves a bound for the other places proves it for
all. A channel on the others goes on to them one by one. Beside rows that keep the level, a further row keeps it, too,
exactly where each of its entries lies between the largest a_j X[j, w] and the least X[j, w] / a_j, for a_j = alpha^d to
the place j; such a row sums to 1 wherever the lowest entries sum to no more, and the highest to no less. A place for
which they do not has a price, and is one that counts (`utmost.design.optima.column_generation`).
"""

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats

_SHARES = (2.0**-20, 2.0**-12, 2.0**-8, 2.0**-4, 0.25, 0.5)  # of a constant channel, for what cannot go on without


def highest(rows: Floats, factors: Floats) -> Floats:
    """(m, k): the most that m further places can have beside rows (t, k), by factors (m, t).

    >>> highest(np.array([[0.5], [0.3]]), np.array([[0.5, 0.25]])).tolist()
    [[1.0]]
    """
    return np.array([(rows / there[:, None]).min(axis=0) for there in factors]).reshape(len(factors), rows.shape[1])


def lowest(rows: Floats, factors: Floats) -> Floats:
    """(m, k): the least that m further places can have beside rows (t, k), by factors (m, t).

    >>> lowest(np.array([[0.5], [0.3]]), np.array([[0.5, 0.25]])).tolist()
    [[0.25]]
    """
    return np.array([(rows * there[:, None]).max(axis=0) for there in factors]).reshape(len(factors), rows.shape[1])


def short_places(rows: Floats, places: NDArray[np.intp], factors: Floats) -> NDArray[np.intp]:
    """Places that have too little beside rows (t, k) of some: those to count, too, so that the others have enough.

    Where a row is raised, so are those near it, in proportion to the factors: of what that makes up for none is named.

    Args:
        rows: Rows of a channel on ``places``.
        places: (t,) in order.
        factors: (n, n) that the channel keeps.
    """
    rest = np.setdiff1d(np.arange(len(factors)), places)
    most = highest(rows, factors[np.ix_(rest, places)]).sum(axis=1)
    named, raised = [], np.zeros(len(rest))
    for e in np.argsort(most, kind="stable"):
        if most[e] * (1 + raised[e]) < 1:
            named.append(rest[e])
            raised = np.maximum(raised, (1 / most[e] - 1) * factors[rest[e], rest])
    return np.array(sorted(named), dtype=np.intp)


def filled(rows: Floats, places: NDArray[np.intp], factors: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """A channel (n, k) with these rows (t, k) at some places that keeps all factors; and the places left out of it.

    The place that has least left to choose comes next. Its row lies as far between the lowest and the highest as its
    sum says. Where there is none, it is left out, with zeros.

    Cost: O((n - t)^2 k + (n - t) t k).

    >>> channel, left_out = filled(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 2]), 2.0 ** -np.abs(
    ...     np.arange(3)[:, None] - np.arange(3)))
    >>> channel.tolist(), left_out.tolist()
    ([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], [])
    """
    n = len(factors)
    whole, rest = np.zeros((n, rows.shape[1])), np.setdiff1d(np.arange(n), places)
    whole[places] = rows
    low, high = lowest(rows, factors[np.ix_(rest, places)]), highest(rows, factors[np.ix_(rest, places)])
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


def filled_at_a_loss(rows: Floats, places: NDArray[np.intp], factors: Floats) -> Floats:
    """`filled`, mixed with as much as it takes of the constant channel whose answer is the one that the rows give most.

    For a search that was ended before it knew which places count.
    """
    constant = np.zeros(rows.shape[1])
    constant[rows.sum(axis=0).argmax()] = 1.0
    for share in (0.0, *_SHARES):
        whole, left_out = filled((1 - share) * rows + share * constant, places, factors)
        if not len(left_out):
            return whole
    return np.repeat(constant[None], len(factors), axis=0)
