r"""Sums of powers, finite and geometrically weighted, with positive terms only: nothing cancels."""

from fractions import Fraction
from functools import cache
from math import comb
from typing import Any


def power_sum(order: int, n: int) -> int:
    r"""sum_{j=0}^{n-1} j^order, with 0^0 = 1, in closed form (Faulhaber) for n of any size.

    >>> power_sum(0, 4), power_sum(1, 4), power_sum(2, 4)
    (4, 6, 14)
    """
    total = sum(comb(order + 1, i) * _bernoulli(i) * n ** (order + 1 - i) for i in range(order + 1))
    return int(total / (order + 1))


@cache
def _bernoulli(n: int) -> Fraction:
    """The Bernoulli number B_n, with B_1 = -1/2."""
    if n == 0:
        return Fraction(1)
    return -sum((comb(n + 1, i) * _bernoulli(i) for i in range(n)), Fraction(0)) / (n + 1)


@cache
def eulerian(order: int) -> tuple[int, ...]:
    r"""The coefficients e_0, e_1, ... with sum_k k^order b^k = (e_0 + e_1 b + ...) / (1 - b)^(order + 1).

    They are the Eulerian numbers, none negative, so that the right side is evaluated without cancellation.

    >>> eulerian(0), eulerian(1), eulerian(3)
    ((1,), (0, 1), (0, 1, 4, 1))
    """
    row: tuple[int, ...] = (1,)
    for m in range(1, order + 1):
        row = (0, *(n * (row[n] if n < len(row) else 0) + (m + 1 - n) * row[n - 1] for n in range(1, m + 1)))
    return row


def geometric_moment(order: int, powers: Any) -> Any:
    r"""E G^order for a geometric variable, P(G = k) = (1 - b) b^k, in the number world of ``powers``.

    >>> from utmost.exact import level
    >>> from utmost.noise.powers import ExactPowers
    >>> geometric_moment(2, ExactPowers(level(alpha="1/2")))
    Fraction(3, 1)
    """
    total: Any = 0
    for coefficient in reversed(eulerian(order)):
        total = total * powers.b + coefficient
    return total / powers.complement**order if order else 1
