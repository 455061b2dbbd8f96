"""Kernels among sets of vertices, decided exactly; and the position of a search for them."""

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
from utmost.errors import Unsupported

T = TypeVar("T")

KernelNumber = Any
"""An int or a `AlphaPolynomial`: whatever adds, subtracts, multiplies and has a `sign`."""

_PRIMES_ABOVE = (1 << 60, 1 << 61)


class SignUndecided(Exception):
    """An interval around a nonzero number holds zero: more bits are needed."""


@dataclass(frozen=True, slots=True)
class AlphaPolynomial:
    """A polynomial in powers of alpha, as an interval around it and its residues in two prime fields.

    It is zero exactly when both residues are (but for a chance below 2^-120 for each test); otherwise the interval
    gives the sign, or raises `SignUndecided`.
    """

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
    """1, 0 or -1.

    Raises:
        SignUndecided: where more bits are needed.
    """
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
    """The vertices as columns of exact numbers, each up to a positive factor, and the number one.

    Args:
        vertices: N of them.
        bits: Precision of intervals, where alpha to some distance is irrational.
    """
    if vertices.is_exact:
        return [_integer_column(column) for column in vertices.weights.T], 1
    columns = [
        [_alpha_polynomial(vertices.powers, tuple(exponent), bits) for exponent in vertex]
        for vertex in vertices.exponents.tolist()
    ]
    return columns, _alpha_polynomial(vertices.powers, (0,) * len(vertices.powers.roots), bits)


def with_enough_bits(compute: Callable[[int], T], bits: int = 256) -> T:
    """``compute(bits)`` with as many bits as it takes to decide every sign."""
    while True:
        try:
            return compute(bits)
        except SignUndecided:
            bits *= 2


def is_kernel_support(vertices: Vertices, support: Iterable[int]) -> bool:
    """Whether some of a type's vertices form a kernel, by exact numbers; cheap for many questions on the same list."""
    chosen = list(support)

    def compute(bits: int) -> bool:
        columns, unit = exact_columns(vertices, bits)
        return is_kernel_set([columns[v] for v in chosen], unit)

    return with_enough_bits(compute)


def is_kernel_set(columns: list[list[KernelNumber]], unit: KernelNumber) -> bool:
    """Whether columns are independent and a positive combination of all of them has equal entries.

    Division-free Gauss-Jordan elimination of the columns with the vector of ones beside them.
    """
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


def _integer_column(column: Any) -> list[KernelNumber]:
    scale = lcm(*(x.denominator for x in column))
    return [int(x * scale) for x in column]


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
    """Supports as rows of 64-bit words."""
    bits = np.zeros((len(supports), -(-columns // 64) * 64), dtype=np.uint8)
    rows = np.repeat(np.arange(len(supports)), [len(support) for support in supports])
    bits[rows, np.array([column for support in supports for column in support], dtype=np.intp)] = 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


# Twice as many would take a gigabyte for the completions of one set.
_MOST_VERTICES = 5_000


@dataclass(frozen=True, slots=True, repr=False)
class WalkPosition(Display):
    """A place in the walk, from which it can go on in another process.

    Attributes:
        orbit: Number of the orbit of vertices at work.
        coming: Column to try next at each depth, numbered as in that orbit's walk.
    """

    orbit: int = 0
    coming: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KernelBlock(Display):
    """The kernels that one part of the walk has found.

    Attributes:
        supports: (m, n) kernels as ascending vertex numbers, filled up with -1.
        position: Position at which the walk continues; None when it is finished.
        done: Share of all sets of vertices that are done with, between 0 and 1.
    """

    supports: NDArray[np.int32]
    position: WalkPosition | None
    done: float


def check_searchable(vertices: int) -> None:
    """Check that the sets of so many vertices can be searched.

    Raises:
        Unsupported: for more than 5000 vertices, whose sets no search comes through.
    """
    if vertices > _MOST_VERTICES:
        raise Unsupported(
            f"a search for kernels takes at most {_MOST_VERTICES} vertices",
            came=f"{vertices} or more",
            remedy="Use estimate_kernels (--estimate).",
        )


def scaled_differences(vertices: Vertices) -> NDArray[np.float64]:
    """v(0) and (v(x) - v(0)) / (1 - alpha), (n, N), each number from intervals wide enough to keep its digits."""
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
