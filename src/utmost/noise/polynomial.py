r"""Polynomials in b = alpha with rational coefficients: what the optimality conditions of moments come down to."""

import math
from collections.abc import Mapping
from fractions import Fraction

from utmost.noise.sums import eulerian

Polynomial = Mapping[int, Fraction | int]
"""Exponents of b and their coefficients."""


def plus(p: Polynomial, q: Polynomial) -> Polynomial:
    """p + q."""
    return {n: p.get(n, 0) + q.get(n, 0) for n in p.keys() | q.keys()}


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """p q.

    >>> times({0: 1, 1: 1}, {0: 1, 1: -1})
    {0: 1, 1: 0, 2: -1}
    """
    product: dict[int, Fraction | int] = {}
    for m, c in p.items():
        for n, d in q.items():
            product[m + n] = product.get(m + n, 0) + c * d
    return product


def scaled(p: Polynomial, factor: Fraction | int) -> Polynomial:
    """p times a rational."""
    return {n: c * factor for n, c in p.items()}


def geometric_moment_cleared(i: int, order: int) -> Polynomial:
    """E G^i times (1 - b)^order for i <= order, where P(G = k) = (1 - b) b^k.

    >>> geometric_moment_cleared(1, 2)
    {0: 0, 1: 1, 2: -1}
    """
    complement = {n: (-1) ** n * math.comb(order - i, n) for n in range(order - i + 1)}
    return times(dict(enumerate(eulerian(i))), complement)


def shifted_moment_cleared(order: int, period: Fraction | int, shift: Fraction | int) -> Polynomial:
    """E (G D + y)^order times (1 - b)^order, for period D and shift y."""
    total: Polynomial = {}
    for i in range(order + 1):
        factor = math.comb(order, i) * period**i * shift ** (order - i)
        total = plus(total, scaled(geometric_moment_cleared(i, order), factor))
    return total
