"""Dense rational linear systems, solved exactly: modulo a prime first, then modulo its powers, then as fractions."""

from itertools import islice
from math import gcd, isqrt, lcm

import numpy as np

from utmost.errors import SolverFailed
from utmost.exact.arrays import Array, frozen
from utmost.exact.limbs import (
    LIMB_BITS,
    by_integers,
    compact,
    denominators,
    integer_product,
    largest,
    limb_product,
    limbs,
    numerators,
    over,
)
from utmost.exact.residues import Residues, inverse, primes, residues

_FIRST_DIGITS = 3  # a prime to the third fits into 60 bits: numbers of few digits are found without big integers
_TRIED_PRIMES = 20


def solve_lifted(matrix: Array, right: Array) -> Array:
    """The X with matrix @ X = right, for a square nonsingular matrix; all in Fractions.

    Modulo p the system is solved by the inverse; what is left over is divided by p and solved again, digit by digit
    of X in base p, until numerators and denominators can be told from the digits. The answer is multiplied out before
    it is returned. The cost is that of the digits it has, not of those it might have.

    Args:
        matrix: (n, n) Fractions, n up to 8192. right: (n, k) Fractions.

    Raises:
        SolverFailed: where the matrix is singular.

    Cost: O(n^3 + n^2 k digits).

    >>> from utmost.exact import as_array
    >>> solve_lifted(as_array([[2, 1], [1, 1]]), as_array([["1/2"], ["1/3"]])).tolist()
    [[Fraction(1, 6)], [Fraction(1, 6)]]
    """
    if right.size == 0:
        return frozen(np.empty(right.shape, dtype=object))
    rows, scales = by_integers(matrix)
    sides, shares = _scaled_by_columns(right, scales)
    for prime in islice(primes(), _TRIED_PRIMES):
        start = inverse(residues(rows, prime), prime)
        if start is not None and all(share % prime for share in shares):
            return frozen(_System(rows, sides, shares, prime, start).solution())
    raise SolverFailed("a linear system must be nonsingular", came=f"a matrix singular modulo {_TRIED_PRIMES} primes")


def _scaled_by_columns(right: Array, scales: Array) -> tuple[Array, list[int]]:
    """Integers sides and shares with right[i, j] scales[i] = sides[i, j] / shares[j]."""
    below = denominators(right)
    common = np.gcd(below, scales)
    tops, below = numerators(right) * (scales // common), below // common
    shares = np.lcm.reduce(below, axis=0)
    return tops * (shares // below), shares.tolist()


class _System:
    """rows @ X = sides / shares in integers, shares by columns, and the inverse of the rows modulo a prime."""

    def __init__(self, rows: Array, sides: Array, shares: list[int], prime: int, start: Residues) -> None:
        self.rows, self.sides, self.shares, self.prime = rows, compact(sides), shares, prime
        self.start = start.astype(np.float64)
        self.limbs = limbs(compact(rows))

    def solution(self) -> Array:
        """X, from as few digits as determine it."""
        modulus = self.prime**_FIRST_DIGITS
        found = self._told(self._digits(self.sides % modulus, _FIRST_DIGITS)[0], modulus)
        digits, known, rest, power = _FIRST_DIGITS, np.zeros(1, dtype=object), self.sides, 1
        while found is None:
            if power > self._bound():
                raise SolverFailed("digits up to Hadamard's bound must determine a solution", came=f"{digits} digits")
            more, rest = self._digits(rest, digits)
            known = known + more.astype(object) * power
            power *= self.prime**digits
            found = self._told(known, power)
            digits = max(_FIRST_DIGITS, (power.bit_length() // LIMB_BITS) // 2)
        return found

    def _digits(self, rest: Array, count: int) -> tuple[Array, Array]:
        """The X modulo prime^count with rows @ X = rest, and what is then left of rest, over prime^count."""
        rest, digits = compact(rest), []
        for _ in range(count):
            low = residues(rest, self.prime).astype(np.float64)
            digit = self.start @ low % self.prime
            digits.append(digit.astype(np.int64))
            rest = compact((rest - limb_product(self.limbs, [digit])) // self.prime)
        return _joined(digits, self.prime), rest

    def _told(self, residue: Array, modulus: int) -> Array | None:
        """The solution if it can be told from its residues (before division by the shares), and is one."""
        backs = _row_of([pow(share, -1, modulus) for share in self.shares])
        told = _tops_and_denominators(residue, backs, modulus)
        if told is None:
            return None
        tops, below = told
        common = lcm(*set(below))
        weights = compact(self.rows * _row_of([common // d for d in below]))
        multiplied = integer_product(weights, compact(tops)) * _row_of(self.shares)
        sides = self.sides if common == 1 else self.sides.astype(object) * common
        return over(tops, below) if (multiplied == sides).all() else None

    def _bound(self) -> int:
        """Residues modulo a larger number determine every entry: Cramer's rule and Hadamard's bound."""
        bits = sum(sum(abs(int(x)) for x in row).bit_length() for row in self.rows)
        return 1 << (2 * bits + largest(self.sides).bit_length() + 2 * lcm(*self.shares).bit_length() + 8)


def _joined(digits: list[Array], base: int) -> Array:
    """sum_i digits[i] base^i, pair by pair."""
    while len(digits) > 1:
        if base >= 1 << 30:
            digits = [digit.astype(object) for digit in digits]
        pairs = [low + high * base for low, high in zip(digits[::2], digits[1::2], strict=False)]
        digits = [*pairs, *digits[2 * len(pairs) :]]
        base *= base
    return digits[0]


def _tops_and_denominators(residue: Array, backs: Array, modulus: int) -> tuple[Array, list[int]] | None:
    """Small numerators, and small denominators of the rows, that leave residue * backs; None where there are none.

    Entries of one row tend to share denominators, and so do rows.
    """
    bound = isqrt(modulus // 2)
    tops, below = np.empty(residue.shape, dtype=object), []
    shared = 1
    for y, held in enumerate(residue):
        row = held.astype(object) * backs % modulus
        tops[y] = _centred(row * shared, modulus)
        if largest(tops[y]) > bound:
            start = _denominator(row, modulus, bound)
            if start is None:
                return None
            shared = start
            tops[y] = _centred(row * shared, modulus)
        below.append(shared)
    return tops, below


def _denominator(row: Array, modulus: int, bound: int) -> int | None:
    """A number up to the bound that makes all residues of a row small."""
    shared = 1
    while True:
        large = np.flatnonzero(abs(_centred(row * shared, modulus)) > bound)
        if not large.size:
            return shared
        below = _denominator_of(int(row[large[0]]) * shared % modulus, modulus, bound)
        shared *= below
        if below == 1 or shared > bound:
            return None


def _denominator_of(residue: int, modulus: int, bound: int) -> int:
    """The denominator of the fraction that leaves this residue and has a small numerator (Wang's algorithm)."""
    before, after, s, t = modulus, residue, 0, 1
    while after > bound:
        quotient, rest = divmod(before, after)
        before, after, s, t = after, rest, t, s - quotient * t
    return abs(t) // gcd(t, after)


def _centred(row: Array, modulus: int) -> Array:
    half = modulus // 2
    return np.asarray((row + half) % modulus - half)


def _row_of(integers: list[int]) -> Array:
    return np.array([*integers, None], dtype=object)[:-1]
