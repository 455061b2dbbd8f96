r"""The staircase on the reals, each formula once for intervals and floats.

With b = alpha, period D and gamma g in [0, 1],

    f(x) = a b^floor(|x|/D + 1 - g),   a = (1 - b) / (2 D (g + b (1 - g))),

which is a on |x| < g D and falls by b at every (n + g) D. Its tail interpolates the exponential one linearly: for
x >= 0, with x/D + 1 - g = k + t, 0 <= t < 1,

    T(x) = P(X > x) = b^k ((1 - t) + b t) / (2 (g + b (1 - g))).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Level, log_interval, nearest
from utmost.noise.doubled import Doubled
from utmost.noise.powers import FloatPowers, IntervalPowers, Powers, cleared_bits
from utmost.noise.sums import geometric_moment

_FARTHEST = 2.0**200  # in periods; every probability there is 0


@dataclass(frozen=True, slots=True)
class RealProfile:
    """A staircase on the reals: level of one period, period D > 0, first step g in [0, 1], a rational.

    Source: [geng2012], (25)-(26); the tail is derived here.

    >>> from utmost.exact import level
    >>> from utmost.noise.powers import ExactPowers
    >>> half, f = ExactPowers(level(alpha="1/2")), RealProfile(level(alpha="1/2"), Fraction(3), Fraction(1, 3))
    >>> k, t = f.place(Fraction(2))
    >>> str(f.density(half, k)), str(f.tail(half, k, 1 - t, t))
    ('1/16', '5/16')
    """

    level: Level
    period: Fraction
    gamma: Fraction

    def place(self, x: Fraction) -> tuple[int, Fraction]:
        """(k, t) with x/D + 1 - g = k + t and 0 <= t < 1, for a rational x >= 0."""
        u = x / self.period + 1 - self.gamma
        k = math.floor(u)
        return k, u - k

    def steps(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """k for an array of floats x >= 0, where x is past an edge from the float nearest to that edge on."""
        return self._located(x, lambda edge: edge.high <= x)

    def places(self, x: NDArray[np.float64]) -> tuple[Any, Any, Any]:
        """(k, 1 - t, t) for an array of floats x >= 0, with 1 - t and t right to the last bits beside the edges too."""
        here, period = Doubled.of(np.minimum(x, self._farthest())), nearest(self.period)
        k = self._located(x, lambda edge: (here - edge).high >= 0)
        up, low = self._edge(k) - here, here - self._edge(k - 1)
        return k, np.maximum(up.high / period, 0.0), np.maximum(low.high / period, 0.0)

    def _located(self, x: NDArray[np.float64], is_past: Callable[[Doubled], Any]) -> NDArray[np.float64]:
        """How many edges x is past: a quotient of floats, which may be one off, and a look at the edges around it."""
        quotient = np.minimum(x, self._farthest()) / nearest(self.period)
        k = np.maximum(np.floor(quotient + (1.0 - nearest(self.gamma))), 0.0)
        k = np.where(is_past(self._edge(k)), k + 1, k)
        return np.where((k > 0) & ~is_past(self._edge(k - 1)), k - 1, k)

    def _farthest(self) -> float:
        return nearest(self.period) * _FARTHEST

    def _edge(self, k: NDArray[np.float64]) -> Doubled:
        """(k + g) D to twice the working precision."""
        return (Doubled.of(k) + Doubled.of(self.gamma)) * Doubled.of(self.period)

    def normaliser(self, powers: Powers) -> Any:
        """g + b (1 - g)."""
        return powers.b * (1 - self.gamma) + self.gamma

    def narrow_bits(self) -> int:
        """How many bits of g + b (1 - g) are leading zeros: what a division by it costs in precision."""
        return max(0, 2 - math.frexp(float(self.normaliser(FloatPowers(self.level))))[1])

    def density(self, powers: Powers, k: Any) -> Any:
        """f on the k-th step."""
        return powers.power(k) * (powers.complement / (self.normaliser(powers) * (2 * self.period)))

    def tail(self, powers: Powers, k: Any, up: Any, low: Any) -> Any:
        """T at the place k, t, with up = 1 - t and low = t."""
        return powers.power(k) * (powers.b * low + up) / (self.normaliser(powers) * 2)

    def inverse_tail(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The x >= 0 with T(x) = q, for 0 < q <= 1/2."""
        powers, period, gamma = FloatPowers(self.level), nearest(self.period), nearest(self.gamma)
        normaliser, epsilon = float(self.normaliser(powers)), float(powers.epsilon.high)
        first = (0.5 - q) * (2 * normaliser / powers.complement)
        k = np.maximum(np.floor(-np.log(2 * normaliser * q) / epsilon), 1.0)
        t = np.clip((1 - 2 * normaliser * q / powers.power(k)) / powers.complement, 0.0, 1.0)
        return np.asarray(period * np.where(2 * normaliser * q >= powers.b, first, (k - 1) + (gamma + t)))

    def radius(self, confidence: Fraction) -> Fraction:
        """The t with P(|X| <= t) = confidence, to the precision of a float and more."""
        bits = 192 + self.narrow_bits() + cleared_bits(self.level) + 2 * confidence.denominator.bit_length()
        powers, missed = IntervalPowers(self.level, bits), 1 - confidence
        normaliser: Fraction = self.normaliser(powers).middle
        complement = powers.complement.middle
        first = confidence * normaliser / complement
        if first <= self.gamma:
            return first * self.period
        depth = log_interval(1 / (normaliser * missed), bits).middle / self.level.epsilon_interval(bits).middle
        k = max(math.floor(depth), 1)
        t = (1 - normaliser * missed / powers.power(k).middle) / complement
        return (k - 1 + self.gamma + t) * self.period

    def moment(self, powers: Powers, order: int) -> Any:
        r"""E|X|^m = D^m / ((m + 1)(g + b(1 - g))) sum_i C(m+1, i) E[G^i] (b + (1 - b) g^(m+1-i)), G geometric."""
        m, total = order, 0
        for i in range(m + 1):
            weight = powers.complement * self.gamma ** (m + 1 - i) + powers.b
            total += geometric_moment(i, powers) * math.comb(m + 1, i) * weight
        return total * (self.period**m / (m + 1)) / self.normaliser(powers)

    def log_density(self, k: NDArray[np.float64]) -> NDArray[np.float64]:
        """log f on the k-th step."""
        powers = FloatPowers(self.level)
        scale = self.normaliser(powers) * 2 * nearest(self.period)
        return np.asarray(powers.exponent(k) + (math.log(powers.complement) - math.log(scale)))
