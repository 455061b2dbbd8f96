"""The range-restricted geometric mechanism G on {0, ..., n}, as a channel and as a structure with a cheap inverse."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.errors import OutOfRange
from utmost.exact import Array, Level, Number, as_array, checked, frozen, is_exact, level, natural, to_floats


@checked
def geometric_channel(n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """The range-restricted geometric mechanism on {0, ..., n}: exact where alpha is rational, else float64.

    G[i, j] = c_j alpha^|i-j| with c = 1/(1+alpha) at both ends and (1-alpha)/(1+alpha) inside: two-sided geometric
    noise, clamped to the range. Float64 entries below the smallest float become 0.

    Args:
        n: the largest count, n >= 0.
        epsilon, alpha: the privacy level, one of them.

    Cost: O(n^2); see `GeometricMatrix` for work with G that does not form it.

    Source: [ghosh2009], section 5 (the matrix G).

    >>> geometric_channel(2, alpha="1/2").matrix[0].tolist()
    [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]
    """
    return stochastic(GeometricMatrix(natural(n, "n"), level(epsilon, alpha)).matrix())


@dataclass(frozen=True, slots=True)
class GeometricMatrix:
    r"""G of `geometric_channel` as a structure: products with G and with its inverse in O(n m), nothing stored.

    G = E diag(c) with E[i, j] = alpha^|i-j|, and E^{-1} = T / (1 - alpha^2) is tridiagonal: T has -alpha beside the
    diagonal, and on it 1 at both ends and 1 + alpha^2 inside. So G^{-1} = diag(1/c) T / (1 - alpha^2).

    Products are exact where alpha is rational and the other factor is exact, else float64.

    Attributes:
        n: the largest count.
        level: the privacy level.

    Source: [gupte2010] for the inverse.

    >>> g = GeometricMatrix(1, level(alpha="1/2"))
    >>> g.inverse_product(g.matrix()).tolist(), g.determinant()
    ([[Fraction(1, 1), Fraction(0, 1)], [Fraction(0, 1), Fraction(1, 1)]], Fraction(1, 3))
    """

    n: int
    level: Level

    @checked
    def scales(self, floats: bool = False) -> Array:
        """c, of shape (n+1,); as float64 if so asked, or where alpha is irrational."""
        ends, inside = self._scale(floats)
        c = np.full(self.n + 1, inside, dtype=np.float64 if isinstance(inside, float) else object)
        c[[0, -1]] = ends
        return frozen(c)

    @checked
    def powers(self, floats: bool = False) -> Array:
        """alpha^0, ..., alpha^n; as float64 if so asked, or where alpha is irrational."""
        if floats or not self.level.is_rational:
            return frozen(np.exp(-self.level.epsilon_float * np.arange(self.n + 1)))
        values = np.full(self.n + 1, Fraction(1), dtype=object)
        values[1:] = self.level.alpha_fraction()
        return frozen(np.multiply.accumulate(values))

    @checked
    def matrix(self, floats: bool = False) -> Array:
        """G as an (n+1, n+1) array. Cost: O(n^2)."""
        powers, (ends, inside) = self.powers(floats), self._scale(floats)
        i = np.arange(self.n + 1)
        gaps = np.abs(i[:, None] - i)
        matrix = (inside * powers)[gaps]  # only n+1 products: equal entries share one Fraction
        matrix[:, [0, -1]] = (ends * powers)[gaps[:, [0, -1]]]
        return frozen(matrix)

    def product(self, columns: Array) -> Array:
        """G @ columns, for (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._read(columns)
        return frozen(self._sweep(x * _beside(self._scales_like(x), x)))

    def transpose_product(self, columns: Array) -> Array:
        """G.T @ columns, for (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._read(columns)
        return frozen(self._sweep(x) * _beside(self._scales_like(x), x))

    def inverse_product(self, columns: Array) -> Array:
        """G^{-1} @ columns, for (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._read(columns)
        return frozen(self._tridiagonal(x) / _beside(self._scales_like(x), x))

    def inverse_transpose_product(self, columns: Array) -> Array:
        """(G.T)^{-1} @ columns, for (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._read(columns)
        return frozen(self._tridiagonal(x / _beside(self._scales_like(x), x)))

    def determinant(self) -> Fraction | float:
        """det G = (1-alpha)^(2n-1) / (1+alpha) for n >= 1; G = [1] for n = 0."""
        if self.n == 0:
            return Fraction(1)
        ends, inside = self._scale(floats=False)
        determinant: Fraction | float = ends**2 * inside ** (self.n - 1) * self._gap(floats=False) ** self.n
        return determinant

    def _scale(self, floats: bool) -> tuple[Any, Any]:
        """c at the ends and inside. For n = 0 both ends are one place, which catches everything."""
        if floats or not self.level.is_rational:
            e = self.level.epsilon_float
            ends, inside = float(1 / (1 + np.exp(-e))), float(np.tanh(e / 2))
            return (1.0 if self.n == 0 else ends), inside
        a = self.level.alpha_fraction()
        return (Fraction(1) if self.n == 0 else 1 / (1 + a)), (1 - a) / (1 + a)

    def _gap(self, floats: bool) -> Any:
        """1 - alpha^2, without cancellation."""
        if floats or not self.level.is_rational:
            return float(-np.expm1(-2 * self.level.epsilon_float))
        return 1 - self.level.alpha_fraction() ** 2

    def _alpha(self, x: Array) -> Any:
        return self.level.alpha_fraction() if is_exact(x) else float(np.exp(-self.level.epsilon_float))

    def _scales_like(self, x: Array) -> Array:
        return self.scales(floats=not is_exact(x))

    def _sweep(self, x: Array) -> Array:
        """E @ x by one pass down, adding up what comes from above, and one pass up."""
        a = self._alpha(x)
        down, up = x.copy(), np.zeros_like(x) if not is_exact(x) else x * Fraction(0)
        for i in range(1, self.n + 1):
            down[i] += a * down[i - 1]
        for i in range(self.n - 1, -1, -1):
            up[i] = a * (up[i + 1] + x[i + 1])
        return np.asarray(down + up)

    def _tridiagonal(self, x: Array) -> Array:
        """E^{-1} @ x = T @ x / (1 - alpha^2)."""
        if self.n == 0:
            return x.copy()
        a = self._alpha(x)
        t = (1 + a * a) * x
        t[[0, -1]] = x[[0, -1]]
        t[1:] -= a * x[:-1]
        t[:-1] -= a * x[1:]
        return np.asarray(t / self._gap(floats=not is_exact(x)))

    def _read(self, columns: Array) -> Array:
        columns = as_array(columns, "columns")
        if columns.ndim not in (1, 2) or len(columns) != self.n + 1:
            raise OutOfRange(f"columns must have {self.n + 1} rows", came=f"shape {columns.shape}")
        return columns if not is_exact(columns) or self.level.is_rational else to_floats(columns)


def _beside(scales: Array, x: Array) -> Array:
    return scales if x.ndim == 1 else scales[:, None]
