"""Noise at several levels in n dimensions: its density falls by the factor exp(-epsilon) per unit of distance from 0.

The noise at all levels is one Brownian motion B (variance 2 for each coordinate and unit of time) stopped by a clock:

    V_e = B(S_v),  v = e^2,  S_v ~ Gamma(a, rate v),  a = (n + 1)/2,

so that E exp(i t.V_e) = E exp(-|t|^2 S_v) = (1 + |t|^2/e^2)^(-a), which is the Fourier transform of c exp(-e|x|).

S_v1 = S_v2 + T with T >= 0 independent of S_v2, for v1 < v2: as v decreases, events come at rate a/v dv, and each adds
an exponential time of rate v. Relaxing (a larger epsilon) shortens the time S_v, and tightening lengthens it. Proofs:
proofs/theory/planar.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from utmost.core.exact.arguments import instance
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import Interval, exp_interval, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, natural, read_confidence
from utmost.errors import NotANumber, OutOfRange

MOST_DIMENSIONS = 1000
"""Largest number of coordinates. Each coordinate adds to the time of a draw."""


@dataclass(frozen=True, slots=True)
class EuclideanLaplace:
    r"""The distribution with density c exp(-e |x|) on R^n: for n = 1 Laplace noise, for n = 2 planar Laplace noise.

    Among all densities on R^n with |log f(x) - log f(y)| <= e |x - y|, this one has the stochastically smallest |x|.

    Args:
        level: Level for one unit of Euclidean distance.
        dimensions: Number n of dimensions, at least 1.

    >>> from utmost.exact import level
    >>> noise = EuclideanLaplace(level(epsilon=2))
    >>> noise.mean_absolute, noise.mean_squared, float(noise.within(1.0))
    (1.0, 1.5, 0.593994...)
    """

    level: Level
    dimensions: int = 2

    def __post_init__(self) -> None:
        natural(self.dimensions, "dimensions", least=1, most=MOST_DIMENSIONS)

    @property
    def mean_absolute(self) -> float:
        """E|V| = n/e."""
        return self.dimensions / self.level.epsilon_float

    @property
    def mean_squared(self) -> float:
        """E|V|^2 = n(n+1)/e^2, the sum over the coordinates."""
        return self.dimensions * (self.dimensions + 1) / self.level.epsilon_float**2

    def density(self, x: ArrayLike) -> Any:
        """The density at points, shape (..., n)."""
        points = self._points(x)
        n, e = self.dimensions, self.level.epsilon_float
        # |S^(n-1)| (n-1)! / e^n is the integral of exp(-e|x|).
        log_c = n * math.log(e) - math.lgamma(n) - math.log(2) - n / 2 * math.log(math.pi) + math.lgamma(n / 2)
        return np.exp(log_c - e * np.sqrt((points**2).sum(axis=-1)))

    def characteristic(self, t: ArrayLike) -> Any:
        """E exp(i t.V) = (1 + |t|^2/e^2)^(-(n+1)/2) at frequencies, shape (..., n)."""
        squared = (self._points(t) ** 2).sum(axis=-1) / self.level.epsilon_float**2
        return (1 + squared) ** (-(self.dimensions + 1) / 2)

    def within(self, radius: ArrayLike) -> Any:
        """P(|V| <= r), where e|V| has the distribution Gamma(n, 1)."""
        t = np.asarray(radius, np.float64) * self.level.epsilon_float
        term, total = np.ones_like(t), np.ones_like(t)
        for k in range(1, self.dimensions):
            term = term * t / k
            total = total + term
        return np.where(t > 0, 1 - np.exp(-t) * total, 0.0)[()]

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> float:
        """The least r with P(|V| <= r) >= confidence, to one part in 10^9, rounded up.

        >>> from utmost.exact import level
        >>> EuclideanLaplace(level(epsilon=1)).margin("0.95")
        4.743864...
        """
        return round_up(self.margin_fraction(read_confidence(confidence)))

    def margin_fraction(self, confidence: Fraction) -> Fraction:
        """A rational r with P(|V| <= r) >= confidence; `margin` rounds this r up to a float."""
        bits = 128 + self.level.power.denominator.bit_length()
        return gamma_quantile(self.dimensions, 1 - confidence) / self.level.epsilon_interval(bits).lower

    def _points(self, x: ArrayLike) -> Any:
        points = np.asarray(x)
        if points.dtype.kind not in "iuf" or points.ndim == 0 or points.shape[-1] != self.dimensions:
            raise NotANumber(f"points must be numbers of shape (..., {self.dimensions})", came=points.shape)
        return points.astype(np.float64)


_PLACES = 40
"""The relative error of the quantile is at most 2^-40."""


@lru_cache(maxsize=256)
def gamma_quantile(shape: int, tail: Fraction) -> Fraction:
    """A t with P(Gamma(n, 1) > t) = exp(-t) (1 + ... + t^(n-1)/(n-1)!) <= tail. The result is at most 1 + 2^-40 times
    the least such t.

    >>> float(gamma_quantile(1, Fraction(1, 20)))
    2.995732...
    """
    high = Fraction(1)
    while not _tail_is_at_most(shape, high, tail):
        high *= 2
    low = Fraction(0) if high == 1 else high / 2
    if high == 1:
        while _tail_is_at_most(shape, high / 2, tail):
            high /= 2
        low = high / 2
    for _ in range(_PLACES):
        middle = (low + high) / 2
        low, high = (low, middle) if _tail_is_at_most(shape, middle, tail) else (middle, high)
    return high


def _tail_is_at_most(shape: int, t: Fraction, tail: Fraction) -> bool:
    bits = 128 + tail.denominator.bit_length() + 2 * math.ceil(t)
    at = Interval.of(t, bits)
    term = total = Interval.of(1, bits)
    for k in range(1, shape):
        term = term * at / k
        total = total + term
    return (exp_interval(-t, bits) * total).upper <= tail


@dataclass(frozen=True, slots=True)
class EuclideanTightening:
    r"""The distribution of W in V_lower = V_higher + W, with W independent of V_higher, in n dimensions.

    W = B(T), where T is a sum of M exponential times of rate e_2^2, and M is negative binomial:

    .. math:: P(M = m) = \frac{\Gamma(a + m)}{\Gamma(a) m!} p^a (1-p)^m, \quad p = (e_1/e_2)^2, \ a = (n+1)/2.

    Args:
        lower, higher: Levels with the smaller and the larger epsilon, for one unit of distance.
        dimensions: Number n of dimensions.

    Raises:
        OutOfRange: if the epsilon of ``lower`` is larger than that of ``higher``.

    >>> from utmost.exact import level
    >>> W = EuclideanTightening(level(epsilon=1), level(epsilon=2))
    >>> W.stay, W.events(0), W.expected_events
    (0.125, 0.125, 2.0794...)
    """

    lower: Level
    higher: Level
    dimensions: int = 2

    def __post_init__(self) -> None:
        natural(self.dimensions, "dimensions", least=1, most=MOST_DIMENSIONS)
        instance(self.lower, Level, "lower")
        instance(self.higher, Level, "higher")
        if self.higher < self.lower:
            raise OutOfRange(
                f"to tighten, the new epsilon must be at most the present one, {self.higher}", came=self.lower
            )

    @property
    def stay(self) -> float:
        """P(W = 0) = (e_1/e_2)^(n+1), the probability that both responses are equal before rounding."""
        return self._ratio ** (self.dimensions + 1)

    def events(self, m: int) -> float:
        """P(M = m) for the number M of exponential times that are added to the clock."""
        a, p = (self.dimensions + 1) / 2, self._ratio**2
        if m == 0 or p == 1:
            return p**a if m == 0 else 0.0
        return math.exp(math.lgamma(a + m) - math.lgamma(a) - math.lgamma(m + 1) + a * math.log(p) + m * math.log1p(-p))

    @property
    def expected_events(self) -> float:
        """(n+1) log(e_2/e_1), the expected number of events on the path between the levels."""
        return -(self.dimensions + 1) * math.log(self._ratio)

    def characteristic(self, t: ArrayLike) -> Any:
        """E exp(i t.W) at frequencies, shape (..., n): the characteristic function of V_lower divided by that of
        V_higher.
        """
        lower, higher = (EuclideanLaplace(level, self.dimensions) for level in (self.lower, self.higher))
        return lower.characteristic(t) / higher.characteristic(t)

    @property
    def _ratio(self) -> float:
        return self.lower.epsilon_float / self.higher.epsilon_float
