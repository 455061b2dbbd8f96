"""Build channels on counts: geometric noise (clamped, unbounded or renormalised), Laplace noise, the fair mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import sequence, truth
from utmost.core.exact.arrays import Array, as_array, frozen, is_exact, to_floats
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, log_interval, round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.sampling.draw import DrawMethod
from utmost.core.sampling.random_bits import Randomness
from utmost.design.channels.channel import Channel, stochastic
from utmost.design.channels.channel_draws import NamedMechanism, drawn_by_noise
from utmost.errors import OutOfRange


@fitting_memory("geometric_channel")
def geometric_channel(size: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """Return the geometric mechanism on the counts 0, ..., n: two-sided geometric noise, clamped to the range.

    G[i, j] = c_j alpha^|i-j| with c = 1/(1+alpha) at both ends and (1-alpha)/(1+alpha) inside. Entries are exact if
    alpha is rational, else float64; float64 entries below the smallest float become 0.

    Args:
        size: Number of counts, n + 1 >= 1.
        epsilon, alpha: Privacy level, as epsilon or as alpha.

    Cost: O(n^2); `GeometricMatrix` computes with G without forming the matrix.

    Source: [ghosh2009], section 5 (the matrix G).

    >>> geometric_channel(3, alpha="1/2").matrix[0].tolist()
    [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]
    """
    return stochastic(GeometricMatrix(size, level(epsilon, alpha)).matrix())


@dataclass(frozen=True, slots=True, repr=False)
class GeometricMatrix(Display):
    r"""The matrix G of `geometric_channel`, without stored entries: products of G or its inverse with m columns take
    O(n m).

    G = E diag(c) with E[i, j] = alpha^|i-j|, and E^{-1} = T / (1 - alpha^2) is tridiagonal: T has -alpha beside the
    diagonal; on the diagonal it has 1 at both ends and 1 + alpha^2 elsewhere. So G^{-1} = diag(1/c) T / (1 - alpha^2).

    Products are exact if alpha is rational and the other factor is exact, else float64.

    Attributes:
        size: Number of counts, n + 1.
        level: Privacy level.

    Source: [gupte2010] for the inverse.

    >>> g = GeometricMatrix(2, level(alpha="1/2"))
    >>> g.inverse_product(g.matrix()).tolist(), g.determinant()
    ([[Fraction(1, 1), Fraction(0, 1)], [Fraction(0, 1), Fraction(1, 1)]], Fraction(1, 3))
    """

    size: int
    level: Level

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", natural(self.size, "size", least=1))

    def scales(self, floats: bool = False) -> Array:
        """Return the factors c of the columns (n+1,): Fractions, or float64 if ``floats`` or if alpha is irrational."""
        floats = truth(floats, "floats")
        ends, inside = self._scale(floats)
        c = np.full(self.size, inside, dtype=np.float64 if isinstance(inside, float) else object)
        c[[0, -1]] = ends
        return frozen(c)

    def powers(self, floats: bool = False) -> Array:
        """Return alpha^0, ..., alpha^n: Fractions, or float64 if ``floats`` or if alpha is irrational."""
        floats = truth(floats, "floats")
        if floats or not self.level.is_rational:
            return frozen(np.exp(-self.level.epsilon_float * np.arange(self.size)))
        values = np.full(self.size, Fraction(1), dtype=object)
        values[1:] = self.level.alpha_fraction()
        return frozen(np.multiply.accumulate(values))

    @fitting_memory("matrix")
    def matrix(self, floats: bool = False) -> Array:
        """Return G as an (n+1, n+1) array. Cost: O(n^2)."""
        floats = truth(floats, "floats")
        powers, (ends, inside) = self.powers(floats), self._scale(floats)
        i = np.arange(self.size)
        gaps = np.abs(i[:, None] - i)
        matrix = (inside * powers)[gaps]  # only n+1 products; equal entries share one Fraction
        matrix[:, [0, -1]] = (ends * powers)[gaps[:, [0, -1]]]
        return frozen(matrix)

    def product(self, columns: Array) -> Array:
        """Return G @ columns, for columns (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._checked_columns(columns)
        return frozen(self._sweep(x * _as_column(self._scales_like(x), x)))

    def transpose_product(self, columns: Array) -> Array:
        """Return G.T @ columns, for columns (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._checked_columns(columns)
        return frozen(self._sweep(x) * _as_column(self._scales_like(x), x))

    def inverse_product(self, columns: Array) -> Array:
        """Return G^{-1} @ columns, for columns (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._checked_columns(columns)
        return frozen(self._tridiagonal(x) / _as_column(self._scales_like(x), x))

    def inverse_transpose_product(self, columns: Array) -> Array:
        """Return (G.T)^{-1} @ columns, for columns (n+1, m) or (n+1,). Cost: O(n m)."""
        x = self._checked_columns(columns)
        return frozen(self._tridiagonal(x / _as_column(self._scales_like(x), x)))

    def draw(
        self,
        secrets: Any,
        shape: int | tuple[int, ...] = (),
        *,
        randomness: Any = None,
        method: DrawMethod | None = None,
    ) -> Any:
        """Draw a noisy count for each true count, exactly and at any level. The arguments are those of
        `Channel.draw`.
        """
        return self._drawing().draw(secrets, shape, randomness, method)

    def _drawing(self) -> NamedMechanism:
        return NamedMechanism(self)

    @property
    def _secret_count(self) -> int:
        return self.size

    def _numbers(self, rows: NDArray[np.intp], bits: Randomness, method: DrawMethod | None) -> NDArray[np.intp]:
        return drawn_by_noise(self.level, self.size, rows, bits, method)

    def determinant(self) -> Fraction | float:
        """Return det G = (1-alpha)^(2n-1) / (1+alpha) for n >= 1, and 1 for n = 0."""
        if self.size == 1:
            return Fraction(1)
        ends, inside = self._scale(floats=False)
        determinant: Fraction | float = ends**2 * inside ** (self.size - 2) * self._gap(floats=False) ** (self.size - 1)
        return determinant

    def _scale(self, floats: bool) -> tuple[Fraction | float, Fraction | float]:
        """Return the factor c of both outermost columns (1 for a single count), and that of all other columns."""
        if floats or not self.level.is_rational:
            e = self.level.epsilon_float
            ends, inside = float(1 / (1 + np.exp(-e))), float(np.tanh(e / 2))
            return (1.0 if self.size == 1 else ends), inside
        a = self.level.alpha_fraction()
        return (Fraction(1) if self.size == 1 else 1 / (1 + a)), (1 - a) / (1 + a)

    def _gap(self, floats: bool) -> Fraction | float:
        """Return 1 - alpha^2, computed without cancellation of digits."""
        if floats or not self.level.is_rational:
            return float(-np.expm1(-2 * self.level.epsilon_float))
        return 1 - self.level.alpha_fraction() ** 2

    def _alpha(self, x: Array) -> Fraction | float:
        return self.level.alpha_fraction() if is_exact(x) else float(np.exp(-self.level.epsilon_float))

    def _scales_like(self, x: Array) -> Array:
        return self.scales(floats=not is_exact(x))

    def _sweep(self, x: Array) -> Array:
        """Return E @ x for E[i, j] = alpha^|i-j|, in one pass over ascending and one over descending rows."""
        a = self._alpha(x)
        down, up = x.copy(), np.zeros_like(x) if not is_exact(x) else x * Fraction(0)
        for i in range(1, self.size):
            down[i] += a * down[i - 1]
        for i in range(self.size - 2, -1, -1):
            up[i] = a * (up[i + 1] + x[i + 1])
        return np.asarray(down + up)

    def _tridiagonal(self, x: Array) -> Array:
        """Return E^{-1} @ x = T @ x / (1 - alpha^2)."""
        if self.size == 1:
            return x.copy()
        a = self._alpha(x)
        t = (1 + a * a) * x
        t[[0, -1]] = x[[0, -1]]
        t[1:] -= a * x[:-1]
        t[:-1] -= a * x[1:]
        gap: Any = self._gap(floats=not is_exact(x))
        return np.asarray(t / gap)

    def _checked_columns(self, columns: Array) -> Array:
        columns = as_array(columns, "columns")
        if columns.ndim not in (1, 2) or len(columns) != self.size:
            raise OutOfRange(f"columns must have {self.size} rows", came=f"shape {columns.shape}")
        return columns if not is_exact(columns) or self.level.is_rational else to_floats(columns)


def _as_column(scales: Array, x: Array) -> Array:
    return scales if x.ndim == 1 else scales[:, None]


@fitting_memory("unbounded_geometric_channel")
def unbounded_geometric_channel(
    size: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> Channel:
    """Return the channel that adds two-sided geometric noise to a count in 0, ..., n, with one outcome for all results
    below 0 and one for all above n.

    C[i, j] = (1-alpha)/(1+alpha) alpha^|i-j| for responses j in 0..n. All responses below 0 are merged into one
    outcome, with probability alpha^(i+1)/(1+alpha); all responses above n into another, with probability
    alpha^(n-i+1)/(1+alpha). The columns of all responses below 0 are proportional to the column of 0, so merging them
    changes no posterior. If proportional columns are merged, the result is `geometric_channel`, so both channels give
    the same posteriors with the same probabilities.

    Args:
        size: Number of counts, n + 1 >= 1.
        epsilon, alpha: Privacy level, as epsilon or as alpha.

    Returns:
        Channel (n+1, n+3), with the outcomes named "< 0", 0, ..., n, "> n"; exact if alpha is rational, else float64.

    Source: [ghosh2009], example 2.1; [fernandes2022], section VI-A.

    >>> unbounded_geometric_channel(2, alpha="1/2").matrix[0].tolist()
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 6), Fraction(1, 6)]
    """
    n = natural(size, "size", least=1) - 1
    g = GeometricMatrix(n + 3, level(epsilon, alpha))
    wide = g.matrix()[1:-1]  # noise clamped to -1, ..., n+1, for true counts 0, ..., n
    return stochastic(wide, outcomes=("< 0", *range(n + 1), f"> {n}"))


def renormalised_geometric_channel(
    size: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> Channel:
    """Return the channel on the counts 0, ..., n with rows proportional to alpha^|i-j|; it does not satisfy the given
    level.

    **This channel does not satisfy its nominal level for n >= 2**, because the rows of powers have different sums. The
    true epsilon of the channel is `renormalised_epsilon`. Use `geometric_channel`, which clamps noise and satisfies the
    level.

    >>> renormalised_geometric_channel(3, alpha="1/2").matrix[:, 0].tolist()
    [Fraction(4, 7), Fraction(1, 4), Fraction(1, 7)]
    """
    g = GeometricMatrix(size, level(epsilon, alpha))
    i = np.arange(g.size)
    weights = g.powers()[np.abs(i[:, None] - i)]
    return stochastic(frozen(weights / weights.sum(axis=1)[:, None]))


def renormalised_epsilon(size: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> float:
    """Return the true epsilon of `renormalised_geometric_channel`, rounded up.

    The true epsilon is the logarithm of (1/alpha) (1 + (alpha - alpha^n) (1 - alpha) / (1 - alpha^(n+1))), where the
    second factor is the ratio of the sums of powers in rows 1 and 0. For n = 1 the true epsilon is the nominal one, for
    n = 0 it is 0.

    >>> renormalised_epsilon(3, alpha="1/2"), renormalised_epsilon(2, epsilon=1)  # log(16/7) is above log(2)
    (0.8266785731844..., 1.0)
    """
    n, at = natural(size, "size", least=1) - 1, level(epsilon, alpha)
    if n < 2:
        return round_up(at.epsilon_interval()) if n else 0.0
    bits = 256 + 2 * at.power.denominator.bit_length()
    a = at.alpha_interval(bits)
    unit = Interval.of(1, bits)
    surplus = (a - a**n) * (unit - a) / (unit - a ** (n + 1))
    return round_up(at.epsilon_interval(bits).upper + log_interval((unit + surplus).upper, bits).upper)


@fitting_memory("laplace_channel")
def laplace_channel(
    size: int,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    thresholds: Sequence[Number] | None = None,
) -> Channel:
    """Return the channel that adds Laplace noise of density (epsilon/2) exp(-epsilon |x|) to a count in 0, ..., n, and
    outputs the interval into which the sum falls.

    Let F be the distribution function of the noise and t_1 < ... < t_k the thresholds, with t_0 = -infinity and t_{k+1}
    = infinity. Outcome j is the interval from t_j to t_{j+1}, and C[i, j] = F(t_{j+1} - i) - F(t_j - i).

    Posteriors under Laplace noise vary within every interval inside [0, n], so this finite channel loses information
    there. Below 0 and above n, posteriors are constant, and no information is lost.

    Args:
        size: Number of counts, n + 1 >= 1.
        epsilon, alpha: Privacy level, as epsilon or as alpha.
        thresholds: Increasing numbers; when left out, they are 1/2, 3/2, ..., n - 1/2, so that the response is rounded
            to the nearest count in the range.

    Returns:
        Channel (n+1, k+1), exact if alpha^|t - i| is rational for every threshold t and count i, else float64.

    Raises:
        OutOfRange: if the thresholds do not increase.

    Source: [ghosh2009], section 6.1.

    >>> laplace_channel(2, alpha="1/4").matrix.tolist()
    [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    """
    if thresholds is not None:
        sequence(thresholds, "thresholds")
    rows, at = natural(size, "size", least=1), level(epsilon, alpha)
    read_thresholds = [Fraction(2 * j + 1, 2) for j in range(rows - 1)] if thresholds is None else thresholds
    cuts = [exact(t, "thresholds") for t in read_thresholds]
    if any(s >= t for s, t in pairwise(cuts)):
        raise OutOfRange(
            "thresholds must increase strictly",
            came=", ".join(map(str, cuts)),
            where="laplace_channel",
            remedy="Sort them, and remove repeated ones.",
        )
    if at.is_rational and all(at.scaled(abs(t)).is_rational for t in cuts if t):
        tail = cache(lambda gap: (at.scaled(gap).alpha_fraction() if gap else Fraction(1)) / 2)
        masses = []
        for i in range(rows):
            # The masses are differences of F, where F(x) is tail(|x|) for x < 0 and 1 - tail(|x|) for x >= 0.
            below = [tail(i - t) if t < i else 1 - tail(t - i) for t in cuts]
            masses.append([b - a for a, b in zip([Fraction(0), *below], [*below, Fraction(1)], strict=True)])
        return stochastic(np.array(masses, dtype=object).reshape(rows, -1))
    # A power is irrational: use floats.
    rate, ends = at.epsilon_float, np.array([-np.inf, *map(float, cuts), np.inf]) - np.arange(rows)[:, None]
    low, high = ends[:, :-1], ends[:, 1:]
    # Compute P(low < X < high) without cancellation: if 0 is outside the interval, it is P(X beyond the near end) times
    # 1 - e^(-rate width).
    one_side: Any = np.exp(-rate * np.minimum(abs(low), abs(high))) / 2 * -np.expm1(-rate * (high - low))
    across = 1 - (np.exp(rate * np.minimum(low, 0)) + np.exp(-rate * np.maximum(high, 0))) / 2
    return stochastic(np.asarray(np.where((low < 0) & (high > 0), across, one_side)))


@fitting_memory("fair_channel")
def fair_channel(size: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    r"""Return the fair mechanism on the counts 0, ..., n: C[x, r] = y alpha^e(x, r), with the same y for every count.

    The exponents e in every row are 0, 1, 1, 2, 2, ... in some order. Let m be the distance of x from the nearer end.
    Then e = |x - r| if |x - r| <= m; otherwise e = ceil(r / 2) for x in the lower half and e = ceil((n - r) / 2) for x
    in the upper half. All rows have the same sum 1/y of powers:

        1/y = (1 + alpha - 2 alpha^(n/2 + 1)) / (1 - alpha)              for even n,
        1/y = (1 + alpha) (1 - alpha^((n + 1)/2)) / (1 - alpha)          for odd n.

    The mechanism is honest, fair, symmetric and monotone in rows and columns (see `Constraint`). No fair mechanism of
    this level gives the true count a larger probability.

    Args:
        size: Number of counts, n + 1 >= 1.
        epsilon, alpha: Privacy level, as epsilon or as alpha. The channel is exact if alpha is rational.

    Source: [cormode2018], the mechanism EM.

    >>> fair_channel(3, alpha="1/2").matrix.tolist()[0]
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    size, at = natural(size, "size", least=1), level(epsilon, alpha)
    a: Any = at.alpha_fraction() if at.is_rational else at.alpha
    x, r = np.arange(size)[:, None], np.arange(size)[None, :]
    gap, room = np.abs(x - r), np.minimum(x, size - 1 - x)
    far = np.where(2 * x < size - 1, (r + 1) // 2, (size - r) // 2)
    exponents = np.where(gap <= room, gap, far)
    powers = np.array([a**e for e in range(size + 1)], dtype=object)[exponents]
    joint = powers if isinstance(a, Fraction) else powers.astype(np.float64)
    return stochastic(np.asarray(joint / joint.sum(axis=1)[:, None]))
