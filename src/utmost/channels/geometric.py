"""The range-restricted geometric mechanism G on {0, ..., n}, as a structure and as a channel."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels.channel import Channel
from utmost.errors import OutOfRange
from utmost.exact import Array, Level, Number, exact_integer, frozen, is_exact, level, to_floats


@dataclass(frozen=True, slots=True)
class GeometricMatrix:
    r"""G[i, j] = c_j alpha^|i-j| on {0, ..., n}, with c = 1/(1+alpha) at both ends and (1-alpha)/(1+alpha) inside.

    Two-sided geometric noise added to a count and clamped to {0, ..., n}. Its inverse is tridiagonal, so products with
    G and with its inverse cost O(n m) for m columns, and G itself need not be stored.

    Attributes:
        n: the largest count.
        level: the privacy level; exact arithmetic when its alpha is rational.

    Source: [ghosh2009], section 5 (the matrix G).
    """

    n: int
    level: Level

    @property
    def is_exact(self) -> bool:
        """Whether entries are Fractions: exactly when alpha is rational."""
        return self.level.is_rational

    @property
    def alpha(self) -> Any:
        """alpha in the number world of the matrix."""
        return self.level.alpha

    def scales(self) -> Array:
        """c, of shape (n+1,)."""
        ends: Any
        inside: Any
        if self.is_exact:
            a = self.level.alpha_fraction()
            ends, inside = 1 / (1 + a), (1 - a) / (1 + a)
        else:
            ends, inside = 1 / (1 + self.alpha), float(np.tanh(self.level.epsilon_float / 2))
        c = np.full(self.n + 1, inside, dtype=object if self.is_exact else np.float64)
        c[[0, -1]] = ends if self.n > 0 else ends / ends
        return frozen(c)

    def powers(self) -> Array:
        """alpha^0, ..., alpha^n."""
        if not self.is_exact:
            return frozen(np.exp(-self.level.epsilon_float * np.arange(self.n + 1)))
        a, power = self.level.alpha_fraction(), Fraction(1)
        values = np.empty(self.n + 1, dtype=object)
        for k in range(self.n + 1):
            values[k] = power
            power *= a
        return frozen(values)

    def matrix(self) -> Array:
        """G as an (n+1, n+1) array."""
        i = np.arange(self.n + 1)
        return frozen(self.powers()[np.abs(i[:, None] - i)] * self.scales())

    def product(self, columns: Array) -> Array:
        """G @ columns by one sweep down and one sweep up, for an (n+1, m) array. Cost: O(n m)."""
        a, scaled = self.alpha, self._same_world(columns) * self.scales()[:, None]
        down, up = scaled.copy(), np.zeros_like(scaled)
        if self.is_exact and is_exact(scaled):
            up[:] = Fraction(0)
        for i in range(1, self.n + 1):
            down[i] += a * down[i - 1]
        for i in range(self.n - 1, -1, -1):
            up[i] = a * (up[i + 1] + scaled[i + 1])
        return frozen(down + up)

    def inverse_product(self, columns: Array) -> Array:
        r"""G^{-1} @ columns, for an (n+1, m) array; G^{-1} = diag(1/c) T / (1 - alpha^2), T tridiagonal.

        T has -alpha beside the diagonal, and on it 1 at both ends and 1 + alpha^2 inside. Cost: O(n m).
        """
        x = self._same_world(columns)
        if self.n == 0:
            return frozen(x.copy())
        a = self.alpha
        t = (1 + a * a) * x
        t[[0, -1]] = x[[0, -1]]
        t[1:] -= a * x[:-1]
        t[:-1] -= a * x[1:]
        return frozen(t / (self.scales()[:, None] * (1 - a * a)))

    def determinant(self) -> Any:
        """det G = (1-alpha)^(2n-1) / (1+alpha) for n >= 1."""
        if self.n == 0:
            return 1
        return (1 - self.alpha) ** (2 * self.n - 1) / (1 + self.alpha)

    def _same_world(self, columns: Array) -> Array:
        if columns.ndim != 2 or len(columns) != self.n + 1:
            raise OutOfRange(f"columns must have {self.n + 1} rows", came=f"shape {columns.shape}")
        return to_floats(columns) if is_exact(columns) and not self.is_exact else columns


def geometric_channel(n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """The range-restricted geometric mechanism on {0, ..., n}: exact where alpha is rational, else float64.

    Args:
        n: the largest count, n >= 0.
        epsilon, alpha: the privacy level, one of them.

    Source: [ghosh2009], section 5. Cost: O(n^2).

    >>> geometric_channel(2, alpha="1/2").matrix[0].tolist()
    [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]
    """
    return Channel(GeometricMatrix(largest_count(n), level(epsilon, alpha)).matrix())


def largest_count(n: object) -> int:
    """n as an int, at least 0."""
    size = exact_integer(n, "n")
    if size < 0:
        raise OutOfRange("n must be at least 0", came=n)
    return size
