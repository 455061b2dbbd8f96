r"""The sign of a polynomial in alpha with rational coefficients, decided exactly.

Intervals of growing precision decide it unless it is zero, and zero is decided by algebra: where alpha is a power of e
it is transcendental, so only the zero polynomial vanishes there; where alpha = u^t for a rational u that is no perfect
power, powers u^(t n) whose exponents differ by no integer are linearly independent over the rationals, so each class of
exponents must vanish by itself.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from utmost.exact import Interval, Level

_PRIME = (1 << 61) - 1


def sign(level: Level, coefficients: Mapping[int, Fraction | int]) -> int:
    """-1, 0 or 1: the sign of ``sum(c * alpha**n for n, c in coefficients.items())``.

    Args:
        level: gives alpha.
        coefficients: the exponents, at least 0 and of any size, and their rational coefficients.

    >>> from utmost.exact import level
    >>> sign(level(alpha="1/4"), {0: -1, 1: 2, 2: 8}), sign(level(epsilon=1), {0: 19, 1: -51})
    (0, 1)
    """
    least = min((n for n, c in coefficients.items() if c), default=0)  # alpha^least > 0 does not matter
    terms = {n - least: Fraction(c) for n, c in coefficients.items() if c}
    bits, tested = 128, False
    while terms:
        value = _value(level, terms, bits)
        if value.low > 0 or value.high < 0:
            return 1 if value.low > 0 else -1
        if bits > 128 and not tested:
            if is_zero(level, terms):
                return 0
            tested = True
        bits *= 2
    return 0


def is_zero(level: Level, coefficients: Mapping[int, Fraction]) -> bool:
    """Whether the polynomial vanishes at alpha."""
    terms = {n: c for n, c in coefficients.items() if c}
    if level.base is None or not terms:
        return not terms
    classes: dict[Fraction, dict[int, Fraction]] = defaultdict(dict)
    for n, c in terms.items():
        exponent = level.power * n
        whole = exponent.numerator // exponent.denominator
        classes[exponent - whole][whole] = c
    return all(_vanishes(level.base, terms) for terms in classes.values())


def _value(level: Level, terms: Mapping[int, Fraction], bits: int) -> Interval:
    total, power, reached = Interval.of(0, bits), Interval.of(1, bits), 0
    alpha = level.alpha_interval(bits)
    for n in sorted(terms):
        power = power * alpha ** (n - reached) if n - reached < 64 else level.scaled(n).alpha_interval(bits)
        total, reached = total + power * terms[n].numerator / terms[n].denominator, n
    return total


def _vanishes(base: Fraction, terms: Mapping[int, Fraction]) -> bool:
    """Whether sum c base^n is zero: a residue that is not zero decides at once, however large the exponents."""
    least, most = min(terms), max(terms)
    u, v = base.numerator, base.denominator
    scale = 1
    for c in terms.values():
        scale *= c.denominator
    whole = {n: int(c * scale) for n, c in terms.items()}
    residue = sum(c * pow(u, n - least, _PRIME) * pow(v, most - n, _PRIME) for n, c in whole.items())
    return residue % _PRIME == 0 and sum(c * u ** (n - least) * v ** (most - n) for n, c in whole.items()) == 0
