"""Perfect powers of integers and rationals."""

from collections.abc import Iterator
from fractions import Fraction


def integer_root(n: int, k: int) -> int:
    """The largest integer r with ``r**k <= n``, for n >= 0 and k >= 1.

    >>> integer_root(26, 3), integer_root(27, 3)
    (2, 3)
    """
    if n < 2 or k == 1:
        return n
    root = 1 << -(-n.bit_length() // k)  # not below the answer; Newton's step then only descends
    while True:
        step = ((k - 1) * root + n // root ** (k - 1)) // k
        if step >= root:
            return root
        root = step


def primitive_root(x: Fraction) -> tuple[Fraction, int]:
    """The base r and the largest k with ``x == r**k``, for a rational x > 0 other than 1.

    >>> primitive_root(Fraction(1, 16)), primitive_root(Fraction(8, 27)), primitive_root(Fraction(2, 3))
    ((Fraction(1, 2), 4), (Fraction(2, 3), 3), (Fraction(2, 3), 1))
    """
    power = 1
    for prime in _primes(max(x.numerator.bit_length(), x.denominator.bit_length())):
        while (root := _rational_root(x, prime)) is not None:
            x, power = root, power * prime
    return x, power


def _rational_root(x: Fraction, k: int) -> Fraction | None:
    above, below = integer_root(x.numerator, k), integer_root(x.denominator, k)
    return Fraction(above, below) if above**k == x.numerator and below**k == x.denominator else None


def _primes(largest: int) -> Iterator[int]:
    for n in range(2, largest + 1):
        if all(n % d for d in range(2, int(n**0.5) + 1)):
            yield n
