"""Exact distances as sums of square roots, and powers of alpha with such exponents."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import gcd, isqrt, lcm
from typing import Any

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, frozen
from utmost.core.exact.intervals import Interval, exp_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact
from utmost.core.exact.surds import Surd
from utmost.design.spaces.space import Space
from utmost.errors import Unsupported

_MOST_BITS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """The exact distances d(x, y) = unit * sum_k coefficients[x, y, k] sqrt(roots[k])."""

    # Square roots of distinct square-free integers are linearly independent over the rationals, so two distances are
    # equal if and only if their coefficients are equal.
    coefficients: Array  # (n, n, K), int64, or Python integers if int64 is too small
    roots: tuple[int, ...]  # K distinct square-free integers, ascending
    unit: Fraction

    @classmethod
    def of(cls, space: Space) -> "Distances":
        """Return the distances of a space; floats are read as the decimals that they print."""
        table = space.metric.length_table().astype(object)
        entries = table.ravel().tolist()
        # The coefficient of each square root in a distance.
        terms: dict[Any, dict[int, Fraction]] = {}
        for d in set(entries):
            if isinstance(d, Surd):
                terms[d] = dict(d.terms)
            else:
                terms[d] = {1: exact(d)} if d else {}
        roots = tuple(sorted({root for known in terms.values() for root in known})) or (1,)
        scale = lcm(*(c.denominator for known in terms.values() for c in known.values()))
        common = gcd(*(int(c * scale) for known in terms.values() for c in known.values())) or 1
        whole = {d: [int(known.get(r, Fraction(0)) * scale) // common for r in roots] for d, known in terms.items()}
        coefficients = np.array([whole[d] for d in entries], dtype=object).reshape(*table.shape, len(roots))
        return cls(frozen(_narrowed(coefficients, 4 * space.size)), roots, Fraction(common, scale))

    @property
    def size(self) -> int:
        return int(self.coefficients.shape[0])

    @property
    def is_rational(self) -> bool:
        return self.roots == (1,)

    def integers(self) -> Array:
        """Return an (n, n) integer metric with the same order and the same ties of sums of distances."""
        # The map c -> sum_k c_k floor(2^s sqrt(root_k)) is additive, and for |c_k| <= B it has the sign of
        # x = sum_k c_k sqrt(root_k) if 2^s is large enough: x != 0 is an algebraic integer of degree D, all its
        # conjugates are at most A = B sum_k sqrt(root_k), and their product is a nonzero integer, so |x| >= A^(1-D).
        if self.is_rational:
            return self.coefficients[..., 0]
        bound = 2 * self.size * int(np.abs(self.coefficients).max())
        largest = bound * sum(isqrt(root) + 1 for root in self.roots)
        bits = (self.degree - 1) * largest.bit_length() + (bound * len(self.roots)).bit_length() + 1
        if bits > _MOST_BITS:
            raise Unsupported(
                "distances must be sums of few different square roots",
                came=f"{len(self.roots)} square roots, which generate a field of degree {self.degree}",
                remedy="Give distances in fewer square roots, or as rationals.",
            )
        scaled = [isqrt(root << 2 * bits) for root in self.roots]
        values = self.coefficients.astype(object) @ np.array(scaled, dtype=object)
        return frozen(_narrowed(values, 4 * self.size))

    @property
    def degree(self) -> int:
        """The degree of the number field that contains every distance: 2 to the rank of the roots modulo squares."""
        independent: list[set[int]] = []
        for root in self.roots:
            odd = {int(prime) for prime, _ in fmpz(root).factor()}
            for other in independent:
                if max(other) in odd:
                    odd ^= other
            if odd:
                independent.append(odd)
        return 1 << len(independent)


def _narrowed(values: Array, headroom: int) -> Array:
    """Return the entries as int64 if sums of ``headroom`` entries fit, else as Python integers."""
    largest = int(np.abs(values).max()) if values.size else 0
    return values.astype(np.int64) if largest * headroom < 2**62 else values.astype(object)


@dataclass(frozen=True, slots=True)
class LogPowers:
    """The numbers exp(-epsilon * sum_k c_k sqrt(roots[k])) for integers c, with the epsilon of one unit of distance."""

    level: Level  # level of one unit of distance
    roots: tuple[int, ...]  # square-free integers

    @classmethod
    def of(cls, level: Level, distances: Distances) -> "LogPowers":
        """Return the powers that occur in channels of this level on these distances."""
        return cls(level.scaled(distances.unit), distances.roots)

    @property
    def is_rational(self) -> bool:
        """Whether every power is rational."""
        return self.roots == (1,) and self.level.is_rational

    def fraction(self, exponent: tuple[int, ...]) -> Fraction:
        """Return a rational power."""
        return self.level.alpha_fraction() ** int(exponent[0])

    def interval(self, exponent: tuple[int, ...], bits: int) -> Interval:
        """Return an interval around the power, about ``2**-bits`` wide, for a nonnegative real exponent."""
        if not any(exponent):
            return Interval.of(1, bits)
        guard = bits + 16 + sum(abs(c) for c in exponent).bit_length()
        total = Interval.of(0, guard)
        for c, root in zip(exponent, self.roots, strict=True):
            low = isqrt(root << 2 * guard)
            total = total + Interval(low, low + (low * low != root << 2 * guard), guard) * c
        return exp_interval(-(total * self.level.epsilon_interval(guard)), bits)

    def number(self, exponent: tuple[int, ...]) -> float:
        """Return the power with an error of at most one unit in the last place."""
        bits = 64
        while (near := self.interval(exponent, bits)).low < 1 << 60:
            bits *= 2
            if bits > 1 << 12:
                return 0.0
        return nearest(near)

    def difference(self, first: tuple[int, ...], second: tuple[int, ...]) -> float:
        """Return (alpha^first - alpha^second) / (1 - alpha) with an error of at most two units in the last place."""
        if first == second:
            return 0.0
        unit = (1,) + (0,) * (len(self.roots) - 1)
        bits = 128
        while True:
            gap = self.interval(first, bits) - self.interval(second, bits)
            below = 1 - self.interval(unit, bits)
            if min(abs(gap.low), abs(gap.high), below.low) >> 64:
                return nearest(gap / below)
            if bits > 1 << 12:
                return 0.0
            bits *= 2

    def floats(self, exponents: Array) -> NDArray[np.float64]:
        """Return the powers of an (..., K) array of exponents."""
        return self._per_exponent(exponents, self.number, np.float64)

    def fractions(self, exponents: Array) -> Array:
        """Return the powers of an (..., K) array of exponents, exactly."""
        return self._per_exponent(exponents, self.fraction, object)

    def residues(self, exponents: Array, field: "Field") -> NDArray[np.int64]:
        """Return the images of the powers in a prime field; every combination that is zero is zero there."""
        return self._per_exponent(exponents, field.power, np.int64)

    def field(self, prime_above: int) -> "Field":
        """Return a prime field with an image of each generator of the powers."""
        # alpha has its residue if it is rational or a root of a rational; every other generator gets a random residue.
        # Reason: exp(-epsilon sqrt(r)) for rational epsilon and different r are algebraically independent
        # (Lindemann and Weierstrass); for rational alpha a single alpha^sqrt(r) is transcendental (Gelfond and
        # Schneider), and the independence of several is believed and unproved.
        base, power = self.level.base, self.level.power
        p, rational = prime_above, None
        while True:
            # The next prime p = 3 modulo 4 such that (p - 1) / 2 and the degree of the root have no common factor: the
            # squares then form a group of odd order, in which roots are unique.
            p += (3 - p) % 4 or 4
            while gcd((p - 1) // 2, power.denominator) > 1 or not fmpz(p).is_prime():
                p += 4
            if base is None:
                break
            half, exponent = (p - 1) // 2, power.numerator
            residue = base.numerator * pow(base.denominator, -1, p) % p
            if power.denominator == 1 or pow(residue, half, p) == 1:
                if power.denominator > 1:
                    exponent *= pow(power.denominator, -1, half)
                rational = pow(residue, exponent, p)
                break
        free = [int.from_bytes(sha256(f"{p} {root}".encode()).digest()) % p for root in self.roots]
        if rational is not None and self.roots[0] == 1:
            free[0] = rational
        return Field(p, tuple(free))

    def _per_exponent(self, exponents: Array, value: Callable[[tuple[int, ...]], Any], dtype: Any) -> Array:
        flat = exponents.reshape(-1, exponents.shape[-1])
        different, which = np.unique(flat, axis=0, return_inverse=True)
        values = np.array([value(tuple(int(c) for c in row)) for row in different], dtype=dtype)
        table: Array = values[which.reshape(-1)].reshape(exponents.shape[:-1])
        return table


@dataclass(frozen=True, slots=True)
class Field:
    """A prime field, and the images of the generators of the powers in it."""

    prime: int
    generators: tuple[int, ...]

    def power(self, exponent: tuple[int, ...]) -> int:
        value = 1
        for c, generator in zip(exponent, self.generators, strict=True):
            value = value * pow(generator, c, self.prime) % self.prime
        return value
