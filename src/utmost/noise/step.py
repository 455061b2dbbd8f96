r"""The optimal step of the staircase on the integers.

Going from step r to r + 1, the expected cost becomes a weighted mean of itself and M(r) = E L(G D + r), where G is
geometric with ratio b. M grows with r, so the cost falls exactly while M(r) < V(r), and the optimal step is the least r
with M(r) >= V(r).
"""

import math
from collections.abc import Callable
from fractions import Fraction

from utmost.errors import Unsupported
from utmost.exact import Level
from utmost.noise.costs import Cost, Moment
from utmost.noise.sign import sign
from utmost.noise.sums import eulerian, power_sum

Polynomial = dict[int, Fraction | int]


def optimal_step(level: Level, sensitivity: int, cost: Cost) -> int:
    """The least r in 1..D whose staircase has the least expected cost.

    Cost: O(log D) sign decisions for a moment of integer order, each exact.
    Source: [geng2012], Theorem 12; the rule by the sign of M(r) - V(r) is derived.

    >>> from utmost.exact import level
    >>> from utmost.noise.costs import absolute, squared
    >>> optimal_step(level(epsilon=1), 5, absolute), optimal_step(level(epsilon="1/10"), 10**9, squared)
    (2, 491666668)
    """
    if isinstance(cost, Moment) and cost.is_integer:
        order = int(cost.order)
        return _least(sensitivity, lambda r: _gains_nothing(level, sensitivity, r, order))
    raise Unsupported("the optimal step is known for moments", came=cost)


def _gains_nothing(level: Level, D: int, r: int, order: int) -> bool:
    """Whether M(r) >= V(r) for the cost |x|^order: a polynomial in b, after multiplying by N (1 - b)^order."""
    above = _times(_scaled_moment(order, D, r), {0: 2 * r - 1, 1: 2 * (D - r) + 1})
    below: Polynomial = {}
    for i in range(order + 1):
        low, high = power_sum(order - i, r), power_sum(order - i, D)
        factor = 2 * math.comb(order, i) * D**i
        part = _times(_geometric(i, order), {0: factor * low, 1: factor * (high - low)})
        below = _plus(below, part)
    return sign(level, _plus(above, {n: -c for n, c in below.items()})) >= 0


def _scaled_moment(order: int, D: int, r: int) -> Polynomial:
    """E (G D + r)^order times (1 - b)^order."""
    total: Polynomial = {}
    for i in range(order + 1):
        factor = math.comb(order, i) * D**i * r ** (order - i)
        total = _plus(total, {n: c * factor for n, c in _geometric(i, order).items()})
    return total


def _geometric(i: int, order: int) -> Polynomial:
    """E G^i times (1 - b)^order, as a polynomial in b, for i <= order."""
    complement = {n: (-1) ** n * math.comb(order - i, n) for n in range(order - i + 1)}
    return _times(dict(enumerate(eulerian(i))), complement)


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for m, c in p.items():
        for n, d in q.items():
            product[m + n] = product.get(m + n, 0) + c * d
    return product


def _plus(p: Polynomial, q: Polynomial) -> Polynomial:
    return {n: p.get(n, 0) + q.get(n, 0) for n in p.keys() | q.keys()}


def _least(D: int, gains_nothing: Callable[[int], bool]) -> int:
    """The least r in 1..D at which a predicate holds that, once true, stays true; D where it holds nowhere below."""
    low, high = 0, D
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if gains_nothing(middle) else (middle, high)
    return high
