"""Decide exactly whether a set of vertices is a kernel, and describe positions in a search for kernels."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval
from utmost.design.geometry.log_domain import Field, LogPowers
from utmost.design.geometry.vertex_search import Vertices
from utmost.errors import Undecided, Unsupported

T = TypeVar("T")

KernelNumber = Any
"""An int or an `AlphaPolynomial`."""

_PRIMES_ABOVE = (1 << 60, 1 << 61)
_MOST_BITS = 1 << 17


class SignUndecided(Exception):
    """The interval around a nonzero number contains zero, so the sign needs more bits."""


@dataclass(frozen=True, slots=True)
class AlphaPolynomial:
    """A polynomial in powers of alpha, stored as an interval around its value and as residues in two prime fields."""

    # If both residues are zero, the value counts as zero; this is wrong with probability below 2^-120. Otherwise the
    # interval gives the sign, or `certain_sign` raises `SignUndecided`.
    interval: Interval
    residues: tuple[int, int]
    fields: tuple[Field, Field]

    def __add__(self, other: "AlphaPolynomial") -> "AlphaPolynomial":
        return self._made(self.interval + other.interval, [a + b for a, b in self._pairs(other)])

    def __sub__(self, other: "AlphaPolynomial") -> "AlphaPolynomial":
        return self._made(self.interval - other.interval, [a - b for a, b in self._pairs(other)])

    def __mul__(self, other: "AlphaPolynomial") -> "AlphaPolynomial":
        return self._made(self.interval * other.interval, [a * b for a, b in self._pairs(other)])

    def __neg__(self) -> "AlphaPolynomial":
        return self._made(-self.interval, [-a for a in self.residues])

    def _pairs(self, other: "AlphaPolynomial") -> list[tuple[int, int]]:
        return list(zip(self.residues, other.residues, strict=True))

    def _made(self, interval: Interval, residues: list[int]) -> "AlphaPolynomial":
        first, second = (r % field.prime for r, field in zip(residues, self.fields, strict=True))
        return AlphaPolynomial(interval, (first, second), self.fields)


def certain_sign(x: KernelNumber) -> int:
    """Return the sign of a number, 1, 0 or -1; raise `SignUndecided` if the sign needs more bits."""
    if isinstance(x, int):
        return (x > 0) - (x < 0)
    if not any(x.residues):
        return 0
    if x.interval.low > 0:
        return 1
    if x.interval.high < 0:
        return -1
    raise SignUndecided


@lru_cache(maxsize=4)
def exact_columns(vertices: Vertices, bits: int) -> tuple[list[list[KernelNumber]], KernelNumber]:
    """Return the vertices as columns of exact numbers, each multiplied by a positive factor, and the number 1 as an
    exact number of the same class.
    """
    if vertices.is_exact:
        scales = [lcm(*(x.denominator for x in column)) for column in vertices.weights.T]
        return [[int(x * scale) for x in column] for column, scale in zip(vertices.weights.T, scales, strict=True)], 1
    columns = [
        [_alpha_polynomial(vertices.powers, tuple(exponent), bits) for exponent in vertex]
        for vertex in vertices.exponents.tolist()
    ]
    return columns, _alpha_polynomial(vertices.powers, (0,) * len(vertices.powers.roots), bits)


def with_enough_bits(compute: Callable[[int], T]) -> T:
    """Return ``compute(bits)`` for 256 bits. While ``compute`` raises `SignUndecided`, the number of bits is doubled.

    Raises:
        Undecided: if `_MOST_BITS` bits leave a sign open.
    """
    bits = 256
    while bits <= _MOST_BITS:
        try:
            return compute(bits)
        except SignUndecided:
            bits *= 2
    raise Undecided(
        "the sign of a sum of powers of alpha must be decided",
        came=f"a number that {_MOST_BITS} bits do not distinguish from 0",
        remedy='Give a smaller epsilon, or a rational alpha, such as alpha="1e-100".',
    )


def is_kernel_support(vertices: Vertices, support: Iterable[int]) -> bool:
    """Return whether the given vertices of a type form a kernel, decided with exact numbers."""
    chosen = list(support)

    def compute(bits: int) -> bool:
        columns, unit = exact_columns(vertices, bits)
        return is_kernel_set([columns[v] for v in chosen], unit)

    return with_enough_bits(compute)


def is_kernel_set(columns: list[list[KernelNumber]], unit: KernelNumber) -> bool:
    """Return whether columns are independent, and some combination with positive coefficients has equal entries."""
    # Apply Gauss-Jordan elimination without divisions to the columns, extended by the vector of ones.
    n, k = len(columns[0]), len(columns)
    if k > n:
        return False
    table = [[column[row] for column in columns] + [unit] for row in range(n)]
    for c in range(k):
        pivot = next((row for row in range(c, n) if certain_sign(table[row][c])), None)
        if pivot is None:
            return False
        table[c], table[pivot] = table[pivot], table[c]
        head = table[c][c]
        for row in range(n):
            if row != c and certain_sign(factor := table[row][c]):
                table[row] = [head * x - factor * y for x, y in zip(table[row], table[c], strict=True)]
    outside = any(certain_sign(table[row][k]) for row in range(k, n))
    return not outside and all(certain_sign(table[c][c]) * certain_sign(table[c][k]) > 0 for c in range(k))


@lru_cache(maxsize=1 << 14)
def _alpha_polynomial(powers: LogPowers, exponent: tuple[int, ...], bits: int) -> AlphaPolynomial:
    fields = _fields(powers)
    residues = (fields[0].power(exponent), fields[1].power(exponent))
    return AlphaPolynomial(powers.interval(exponent, bits), residues, fields)


@lru_cache(maxsize=64)
def _fields(powers: LogPowers) -> tuple[Field, Field]:
    first, second = (powers.field(start) for start in _PRIMES_ABOVE)
    return first, second


def as_masks(supports: Sequence[Collection[int]], columns: int) -> Any:
    """Return sets of columns as rows of 64-bit integers, in which bit k marks column k."""
    bits = np.zeros((len(supports), -(-columns // 64) * 64), dtype=np.uint8)
    rows = np.repeat(np.arange(len(supports)), [len(support) for support in supports])
    bits[rows, np.array([column for support in supports for column in support], dtype=np.intp)] = 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


# With twice this number of vertices, the pairs that complete one set to kernels would need a gigabyte.
_MOST_VERTICES = 5_000


@dataclass(frozen=True, slots=True, repr=False)
class WalkPosition(Display):
    """A position in the search for kernels, from which another process can continue."""

    orbit: int = 0  # index of the orbit of vertices that is searched
    coming: tuple[int, ...] = (0,)  # for each depth, the column to try next, as an index of the walk of the orbit


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KernelBlock(Display):
    """The kernels found by one part of the search for kernels."""

    supports: NDArray[np.int32]  # (m, n) the indices of the vertices of each kernel, ascending, filled up with -1
    position: WalkPosition | None  # position from which the walk continues; None at the end
    done: float  # finished fraction of the search, between 0 and 1


def check_searchable(vertices: int) -> None:
    """Raise Unsupported if a type has too many vertices for a search for kernels."""
    if vertices > _MOST_VERTICES:
        raise Unsupported(
            f"a search for kernels needs at most {_MOST_VERTICES} vertices",
            came=f"{vertices} or more",
            remedy="Estimate the number of kernels: estimate_kernels, or utmost research kernels --estimate.",
        )


def scaled_differences(vertices: Vertices) -> NDArray[np.float64]:
    """Return the rows v(0) and (v(x) - v(0)) / (1 - alpha) for x > 0, shape (n, N). Each entry is accurate to a few
    units in the last place.
    """
    powers = vertices.powers
    pairs = np.concatenate(
        [np.broadcast_to(vertices.exponents[:, :1], vertices.exponents.shape), vertices.exponents], 2
    )
    flat = pairs.reshape(-1, pairs.shape[-1])
    different, which = np.unique(flat, axis=0, return_inverse=True)
    half = different.shape[1] // 2
    gaps = np.array([powers.difference(tuple(map(int, d[half:])), tuple(map(int, d[:half]))) for d in different])
    table = gaps[which.reshape(-1)].reshape(pairs.shape[:2]).T.copy()
    table[0] = powers.floats(vertices.exponents[:, 0])
    return table
