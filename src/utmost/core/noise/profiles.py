"""The staircase on the integers and on the reals. Each formula is written once, for fractions, intervals and floats.

**The staircase on the integers** with b = alpha, period D and step r is

    p(i) = a b^floor((|i| + D - r) / D),   a = (1 - b) / N,   N = (2r - 1) + b (2D - 2r + 1),

which is a on |i| < r, a b on r <= |i| < D, and is multiplied by b from each period to the next. The tail is linear in i
within each period: for i >= 0, with |i| + D - r = k D + j, 0 <= j < D,

    T(i) = P(X >= i) = b^k ((D - j) + b j) / N.

Period 1 is the two-sided geometric distribution.

**The staircase on the reals** with b = alpha, period D and g = gamma in [0, 1] is

    f(x) = a b^floor(|x|/D + 1 - g),   a = (1 - b) / (2 D (g + b (1 - g))),

which is a on |x| < g D and is multiplied by b at every (n + g) D. The tail is linear in x within each period: for x >=
0, with x/D + 1 - g = k + t, 0 <= t < 1,

    T(x) = P(X > x) = b^k ((1 - t) + b t) / (2 (g + b (1 - g))).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import log_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import first_integer
from utmost.core.noise.polynomials import geometric_moment, power_sum, sign
from utmost.core.noise.powers import Doubled, FloatPowers, IntervalPowers, Powers, cleared_bits

_SAFE = 1 << 61  # the sum of two such integers fits int64


@dataclass(frozen=True, slots=True)
class Profile:
    """A staircase on the integers: level of one period, period D >= 1, step r in 1..D [geng2012, (79)-(80)].

    >>> from utmost.exact import level
    >>> from utmost.core.noise.powers import ExactPowers
    >>> half, p = ExactPowers(level(alpha="1/2")), Profile(level(alpha="1/2"), 3, 2)
    >>> [str(p.mass(half, i)) for i in range(5)], str(p.tail(half, 1))
    (['1/9', '1/9', '1/18', '1/18', '1/18'], '4/9')
    """

    level: Level
    period: int
    step: int

    def place(self, i: Any) -> tuple[Any, Any]:
        """(k, j) with i + D - r = k D + j and 0 <= j < D, for an integer or an array of integers."""
        if isinstance(i, np.ndarray) and self.period >= _SAFE:
            # If an int64 sum overflowed, a very large i would get a small k.
            i = i.astype(object)
        shifted = i + (self.period - self.step)
        return shifted // self.period, shifted % self.period

    def normaliser(self, powers: Powers) -> Any:
        """N = (2r - 1) + b (2D - 2r + 1), with p(0) = (1 - b) / N."""
        return powers.b * (2 * (self.period - self.step) + 1) + (2 * self.step - 1)

    def mass(self, powers: Powers, i: Any) -> Any:
        """p(i) for i >= 0."""
        return powers.power(self.place(i)[0]) * (powers.complement / self.normaliser(powers))

    def tail(self, powers: Powers, i: Any) -> Any:
        """T(i) = P(X >= i) for i >= 0."""
        k, j = self.place(i)
        return powers.power(k) * (powers.b * j + (self.period - j)) / self.normaliser(powers)

    def moment(self, powers: Powers, order: int) -> Any:
        """E|X|^m = 2/N sum_i C(m, i) D^i E[G^i] (S(m-i, r) + b (S(m-i, D) - S(m-i, r))), G geometric with ratio b."""
        # S(p, n) is `power_sum`. Every term is positive.
        D, r, total = self.period, self.step, 0
        for i in range(order + 1):
            below, above = power_sum(order - i, r), power_sum(order - i, D)
            weight = powers.b * (above - below) + below
            total += geometric_moment(i, powers) * (math.comb(order, i) * D**i) * weight
        return total * 2 / self.normaliser(powers)

    def folded_cost(self, below: float, above: float, at_zero: float) -> float:
        """E L(X) from sums of the folded cost M(j) = E L(G D + j) over j < r and over r <= j < D, and from L(0)."""
        powers = FloatPowers(self.level)
        return float((2 * (below + powers.b * above) - powers.complement * at_zero) / self.normaliser(powers))

    def log_mass(self, i: Any) -> NDArray[np.float64]:
        """log p(i) for i >= 0, finite also if p(i) underflows."""
        powers, D, r = FloatPowers(self.level), self.period, self.step
        b = powers.b
        # Near b = 1, the float 1 - b is more accurate than b; and log1p is more accurate than log for small arguments.
        log_complement = np.log1p(-b) if b < 0.5 else np.log(powers.complement)
        log_normaliser = np.log1p(b * (2 * (D - r) + 1) + 2 * (r - 1))
        return np.asarray(powers.exponent(self.place(i)[0]) + (log_complement - log_normaliser))

    def compare_tail(self, i: int, q: Fraction) -> int:
        """The sign of T(i) - q, decided exactly."""
        D, r = self.period, self.step
        k, j = self.place(i)
        terms: dict[int, Fraction] = {}
        # (T(i) - q) N is a polynomial in alpha, and its sign is decided exactly.
        for n, c in ((k, D - j), (k + 1, j), (0, -q * (2 * r - 1)), (1, -q * (2 * (D - r) + 1))):
            terms[n] = terms.get(n, Fraction(0)) + c
        return sign(self.level, terms)

    def first_at_most(self, q: Fraction) -> int:
        """The least i >= 0 with T(i) <= q, for 0 < q < 1, decided exactly."""
        near = self._near(q)
        return least_near(lambda i: self.compare_tail(i, q) <= 0, near)

    def last_at_least(self, q: Fraction) -> int:
        """The largest i >= 0 with T(i) >= q, for 0 < q <= T(0), decided exactly."""
        near = self._near(q)
        return least_near(lambda i: self.compare_tail(i, q) < 0, near) - 1

    def _near(self, q: Fraction) -> int:
        """An i with T(i) near q, computed in intervals."""
        D = self.period
        # Enough bits for a guess within one or two of the solution: each exact comparison costs more than the guess.
        bits = 128 + 2 * (D.bit_length() + cleared_bits(self.level) + q.denominator.bit_length())
        powers = IntervalPowers(self.level, bits)
        scaled: Fraction = q * self.normaliser(powers).middle
        k = math.floor(log_interval(D / scaled, bits).middle / self.level.epsilon_interval(bits).middle)
        if k < 0:
            return 0
        j = (D - scaled / powers.power(k).middle) / powers.complement.middle
        return max(0, k * D + math.floor(j) - (D - self.step))


def least_near(holds: Callable[[int], bool], near: int) -> int:
    """The least i >= 0 at which a monotone condition holds. The search begins at ``near``."""
    low, high, stride = near - 1, near, 1  # invariant: the condition is false at low and true at high
    # Strides double, so that the number of tries is the logarithm of the guess's error.
    while not holds(high):
        low, high, stride = high, high + stride, stride * 2
    while low >= 0 and holds(low):
        low, high, stride = low - stride, low, stride * 2
    return first_integer(max(low, -1), high, holds)


_FARTHEST = 2.0**200  # from this number of periods on, every probability is 0 in floats


@dataclass(frozen=True, slots=True)
class RealProfile:
    """A staircase on the reals: level of one period, period D > 0, and rational g = gamma in [0, 1] [geng2012,
    (25)-(26)].

    >>> from utmost.exact import level
    >>> from utmost.core.noise.powers import ExactPowers
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
        """The index k of the step that contains each float x >= 0. A step begins at the float nearest to its exact
        edge.
        """
        # The exact edge (k + g) D is in general no float: the float nearest to it is counted as the first one past the
        # edge.
        return self._edges_passed(x, lambda edge: edge.high <= x)

    def places(self, x: NDArray[np.float64]) -> tuple[Any, Any, Any]:
        """(k, 1 - t, t) for an array of floats x >= 0. Both 1 - t and t are accurate to a few units in the last place,
        also near the edges.
        """
        here, period = Doubled.of(np.minimum(x, self._farthest())), nearest(self.period)
        k = self._edges_passed(x, lambda edge: (here - edge).high >= 0)
        up, low = self._edge(k) - here, here - self._edge(k - 1)
        return k, np.maximum(up.high / period, 0.0), np.maximum(low.high / period, 0.0)

    def _edges_passed(self, x: NDArray[np.float64], is_past: Callable[[Doubled], Any]) -> NDArray[np.float64]:
        """The number of edges below each x: a quotient of floats, corrected by comparison with the neighbouring
        edges.
        """
        quotient = np.minimum(x, self._farthest()) / nearest(self.period)
        k = np.maximum(np.floor(quotient + (1.0 - nearest(self.gamma))), 0.0)
        # The quotient is right up to rounding, so the true step is this one or a neighbour.
        k = np.where(is_past(self._edge(k)), k + 1, k)
        return np.where((k > 0) & ~is_past(self._edge(k - 1)), k - 1, k)

    def _farthest(self) -> float:
        return nearest(self.period) * _FARTHEST

    def _edge(self, k: NDArray[np.float64]) -> Doubled:
        """(k + g) D, the edge after step k, to twice the working precision."""
        return (Doubled.of(k) + Doubled.of(self.gamma)) * Doubled.of(self.period)

    def normaliser(self, powers: Powers) -> Any:
        """g + b (1 - g), the factor in the denominator of the density."""
        return powers.b * (1 - self.gamma) + self.gamma

    def narrow_bits(self) -> int:
        """The number of leading zeros of g + b (1 - g): the bits that a division by that number loses."""
        return max(0, 2 - math.frexp(float(self.normaliser(FloatPowers(self.level))))[1])

    def density(self, powers: Powers, k: Any) -> Any:
        """f on the k-th step."""
        return powers.power(k) * (powers.complement / (self.normaliser(powers) * (2 * self.period)))

    def tail(self, powers: Powers, k: Any, up: Any, low: Any) -> Any:
        """T(x) for the x with x/D + 1 - g = k + t, where up = 1 - t and low = t."""
        return powers.power(k) * (powers.b * low + up) / (self.normaliser(powers) * 2)

    def inverse_tail(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The x >= 0 with T(x) = q, for 0 < q <= 1/2."""
        powers, period, gamma = FloatPowers(self.level), nearest(self.period), nearest(self.gamma)
        normaliser, epsilon = float(self.normaliser(powers)), float(powers.epsilon.high)
        first = (0.5 - q) * (2 * normaliser / powers.complement)
        # Logarithms give k, since q may be 10^-300: a loop over the steps would take too long.
        k = np.maximum(np.floor(-np.log(2 * normaliser * q) / epsilon), 1.0)
        t = np.clip((1 - 2 * normaliser * q / powers.power(k)) / powers.complement, 0.0, 1.0)
        return np.asarray(period * np.where(2 * normaliser * q >= powers.b, first, (k - 1) + (gamma + t)))

    def margin(self, confidence: Fraction) -> Fraction:
        """The t with P(|X| <= t) = confidence, to more than the precision of a float."""
        bits = 192 + self.narrow_bits() + cleared_bits(self.level) + 2 * confidence.denominator.bit_length()
        powers, missed = IntervalPowers(self.level, bits), 1 - confidence
        normaliser: Fraction = self.normaliser(powers).middle
        complement = powers.complement.middle
        first = confidence * normaliser / complement
        # Within the first step the density is flat.
        if first <= self.gamma:
            return first * self.period
        depth = log_interval(1 / (normaliser * missed), bits).middle / self.level.epsilon_interval(bits).middle
        k = max(math.floor(depth), 1)
        t = (1 - normaliser * missed / powers.power(k).middle) / complement
        return (k - 1 + self.gamma + t) * self.period

    def moment(self, powers: Powers, order: int) -> Any:
        """E|X|^m = D^m / ((m + 1)(g + b(1 - g))) sum_i C(m+1, i) E[G^i] (b + (1 - b) g^(m+1-i)), G geometric."""
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
