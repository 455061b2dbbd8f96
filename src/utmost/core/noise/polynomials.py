"""Polynomials in alpha with rational coefficients: sums of powers, moments, and their exact sign.

Intervals of growing precision decide the sign of a nonzero value, and algebra decides whether the value is zero. An
alpha that is a power of e is transcendental, so only the zero polynomial vanishes there. Let alpha = u^t with a
rational u that is no perfect power. Powers u^(t n) whose exponents do not differ by an integer are linearly independent
over the rationals, so a polynomial is zero only if, for each class of exponents that differ by integers, the terms with
these exponents add up to zero.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level


def power_sum(order: int, n: int) -> int:
    """sum_{j=0}^{n-1} j^order, with 0^0 = 1, in closed form (Faulhaber) for n of any size."""
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
    """The Eulerian numbers e_0, e_1, ... >= 0 with sum_k k^order b^k = (e_0 + e_1 b + ...) / (1 - b)^(order + 1)."""
    row: tuple[int, ...] = (1,)
    for m in range(1, order + 1):
        row = (0, *(n * (row[n] if n < len(row) else 0) + (m + 1 - n) * row[n - 1] for n in range(1, m + 1)))
    return row


def geometric_moment(order: int, powers: Any) -> Any:
    """Return E[G^order] of a geometric variable, P(G = k) = (1 - b) b^k, in the number type of ``powers``.

    >>> from utmost.exact import level
    >>> from utmost.core.noise.powers import ExactPowers
    >>> geometric_moment(2, ExactPowers(level(alpha="1/2")))
    Fraction(3, 1)
    """
    total: Any = 0
    for coefficient in reversed(eulerian(order)):
        total = total * powers.b + coefficient
    return total / powers.complement**order if order else 1


Polynomial = Mapping[int, Fraction | int]
"""Exponents of b and their coefficients."""


def plus(p: Polynomial, q: Polynomial) -> Polynomial:
    return {n: p.get(n, 0) + q.get(n, 0) for n in p.keys() | q.keys()}


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    product: dict[int, Fraction | int] = {}
    for m, c in p.items():
        for n, d in q.items():
            product[m + n] = product.get(m + n, 0) + c * d
    return product


def scaled(p: Polynomial, factor: Fraction | int) -> Polynomial:
    return {n: c * factor for n, c in p.items()}


def geometric_moment_cleared(i: int, order: int) -> Polynomial:
    """E G^i times (1 - b)^order for i <= order, where P(G = k) = (1 - b) b^k."""
    complement = {n: (-1) ** n * math.comb(order - i, n) for n in range(order - i + 1)}
    return times(dict(enumerate(eulerian(i))), complement)


def shifted_moment_cleared(order: int, period: Fraction | int, shift: Fraction | int) -> Polynomial:
    """E (G D + y)^order times (1 - b)^order, for period D and shift y."""
    total: Polynomial = {}
    for i in range(order + 1):
        factor = math.comb(order, i) * period**i * shift ** (order - i)
        total = plus(total, scaled(geometric_moment_cleared(i, order), factor))
    return total


_PRIME = (1 << 61) - 1


def sign(level: Level, coefficients: Mapping[int, Fraction | int]) -> int:
    """The sign -1, 0 or 1 of ``sum(c * alpha**n for n, c in coefficients.items())``, for exponents n >= 0.

    >>> from utmost.exact import level
    >>> sign(level(alpha="1/4"), {0: -1, 1: 2, 2: 8}), sign(level(epsilon=1), {0: 19, 1: -51})
    (0, 1)
    """
    # Divide by alpha^least, which is positive and does not change the sign.
    least = min((n for n, c in coefficients.items() if c), default=0)
    terms = {n - least: Fraction(c) for n, c in coefficients.items() if c}
    bits, tested = 128, False
    while terms:
        value, power, reached = Interval.of(0, bits), Interval.of(1, bits), 0
        alpha = level.alpha_interval(bits)
        for n in sorted(terms):
            power = power * alpha ** (n - reached) if n - reached < 64 else level.scaled(n).alpha_interval(bits)
            value, reached = value + power * terms[n].numerator / terms[n].denominator, n
        if value.low > 0 or value.high < 0:
            return 1 if value.low > 0 else -1
        if bits > 128 and not tested:
            if is_zero(level, terms):
                return 0
            tested = True
        bits *= 2
    return 0


def is_zero(level: Level, coefficients: Mapping[int, Fraction]) -> bool:
    terms = {n: c for n, c in coefficients.items() if c}
    if level.base is None or not terms:
        return not terms
    classes: dict[Fraction, dict[int, Fraction]] = defaultdict(dict)
    for n, c in terms.items():
        exponent = level.power * n
        whole = exponent.numerator // exponent.denominator
        classes[exponent - whole][whole] = c
    u, v = level.base.numerator, level.base.denominator
    for part in classes.values():
        least, most = min(part), max(part)
        scale = math.prod(c.denominator for c in part.values())
        integers = {n: int(c * scale) for n, c in part.items()}
        # For large exponents, a nonzero residue shows quickly that the sum is not zero.
        if sum(c * pow(u, n - least, _PRIME) * pow(v, most - n, _PRIME) for n, c in integers.items()) % _PRIME:
            return False
        if sum(c * u ** (n - least) * v ** (most - n) for n, c in integers.items()):
            return False
    return True
