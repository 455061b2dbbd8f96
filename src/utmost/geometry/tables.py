"""The numbers that the compiled walk starts from: vertices in floating point and in prime fields."""

from dataclasses import dataclass
from math import isqrt, lcm

import numpy as np
from numpy.typing import NDArray

from utmost.geometry.compiled_tableau import ROUNDING, Walk
from utmost.geometry.differences import scaled_differences
from utmost.geometry.orbits import Indices
from utmost.geometry.vertices import Vertices

_PRIMES_ABOVE = 3 << 29


@dataclass(frozen=True, slots=True, eq=False)
class WalkTables:
    """The system sum_j lambda_j v_j = 1 with its first row taken from the others: rows v(0), v(x) - v(0).

    The differences are divided by 1 - alpha, so that levels near alpha = 1 lose no digits; the target becomes
    (1, 0, ..., 0). For rational alpha there are as many primes as it takes to tell zero for certain: every number that
    is tested is a minor of the vertices scaled to integers, and a minor below Hadamard's bound that vanishes modulo
    all the primes is zero. For irrational alpha there are two primes, and a nonzero number passes for zero with a
    chance below 2^-60, and only if it is also below the rounding error.

    Attributes:
        floats: (n, N), right to 4 units of 2^-52.
        residues: (F, n, N). primes: (F,).
    """

    floats: NDArray[np.float64]
    residues: NDArray[np.uint64]
    primes: NDArray[np.uint64]

    @classmethod
    def of(cls, vertices: Vertices) -> "WalkTables":
        """The tables of a complete list of vertices."""
        fields, above = [], _PRIMES_ABOVE
        for _ in range(_fields_needed(vertices)):
            fields.append(vertices.powers.field(above))
            above = fields[-1].prime
        residues = [
            _differences(vertices.powers.residues(vertices.exponents, field).T % field.prime) % field.prime
            for field in fields
        ]
        primes = np.array([field.prime for field in fields], dtype=np.uint64)
        return cls(scaled_differences(vertices), np.array(residues, dtype=np.uint64), primes)

    def walk(self, columns: Indices, lead: int, rows: int) -> Walk:
        """A walk over some vertices, in the order given, that has not begun; ``rows`` is 0 for counting only."""
        n, m, count = len(self.floats), len(columns), len(self.primes)
        tableau = np.zeros((n - 1, n, m + 1))
        tableau[0, :, :m] = self.floats[:, columns]
        tableau[0, 0, m] = 1
        residues = np.zeros((n - 1, count, n, m + 1), dtype=np.uint64)
        residues[0, :, :, :m] = self.residues[:, :, columns]
        residues[0, :, 0, m] = 1
        size = np.abs(tableau).max(axis=1)
        pairs = m * (m + 1) // 2 + 1  # what one set of n - 2 can be completed by
        inverses = [-pow(int(p), -1, 1 << 32) % (1 << 32) for p in self.primes]
        return Walk(
            tableau=tableau,
            error=np.full((n - 1, m + 1), 4 * ROUNDING) * np.maximum(size[0], 1),
            size=size,
            residues=residues,
            primes=self.primes,
            inverses=np.array(inverses, dtype=np.uint64),
            chosen=np.zeros(n, dtype=np.int64),
            rows=np.zeros(n + 1, dtype=np.int64),
            used=np.zeros(n, dtype=np.bool_),
            coming=np.zeros(n, dtype=np.int64),
            level=np.zeros(1, dtype=np.int64),
            rays=np.zeros((m, n)),
            fog=np.zeros((m, 2)),
            sizes=np.zeros((n + 1, n + 1), dtype=np.int64),
            found=np.zeros((rows + pairs if rows else 0, n), dtype=np.int16),
            doubt=np.zeros((rows + pairs, n), dtype=np.int16),
            filled=np.zeros(2, dtype=np.int64),
            lead=lead,
            keep=rows > 0,
        )


def _differences(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.vstack([columns[:1], columns[1:] - columns[:1]])


def _fields_needed(vertices: Vertices) -> int:
    if not vertices.is_exact:
        return 2
    squares = []
    for column in vertices.weights.T:
        scale = lcm(*(x.denominator for x in column))
        squares.append(sum(int(x * scale) ** 2 for x in column))
    largest = 1
    for square in sorted(squares)[-vertices.distances.size :]:
        largest *= isqrt(square) + 1
    # Rows of differences have the same minors up to sign; 2 for the two signs of a residue.
    return -(-(2 * largest).bit_length() // 30)
