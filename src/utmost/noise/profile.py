r"""The staircase on the integers, each formula once for fractions, intervals and floats.

With b = alpha, period D and step r,

    p(i) = a b^floor((|i| + D - r) / D),   a = (1 - b) / N,   N = (2r - 1) + b (2D - 2r + 1),

which is a on |i| < r, a b on r <= |i| < D, and falls by b from each period to the next. Its tail is the geometric
tail, interpolated linearly between the multiples of the period: for i >= 0, with |i| + D - r = k D + j, 0 <= j < D,

    T(i) = P(X >= i) = b^k ((D - j) + b j) / N.

Period 1 is the two-sided geometric law.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Level, log_interval
from utmost.noise.powers import FloatPowers, IntervalPowers, Powers, cleared_bits
from utmost.noise.sign import sign
from utmost.noise.sums import geometric_moment, power_sum

_SAFE = 1 << 61  # a sum of two such integers fits int64


@dataclass(frozen=True, slots=True)
class Profile:
    """A staircase on the integers: level of one period, period D >= 1, step r in 1..D.

    Source: [geng2012], (79)-(80); the tail is derived here.

    >>> from utmost.exact import level
    >>> from utmost.noise.powers import ExactPowers
    >>> half, p = ExactPowers(level(alpha="1/2")), Profile(level(alpha="1/2"), 3, 2)
    >>> [str(p.mass(half, i)) for i in range(5)], str(p.tail(half, 1))
    (['1/9', '1/9', '1/18', '1/18', '1/18'], '4/9')
    """

    level: Level
    period: int
    step: int

    def place(self, i: Any) -> tuple[Any, Any]:
        """(k, j) with i + D - r = k D + j and 0 <= j < D, in integers or arrays of integers."""
        if isinstance(i, np.ndarray) and self.period >= _SAFE:
            i = i.astype(object)
        shifted = i + (self.period - self.step)
        return shifted // self.period, shifted % self.period

    def normaliser(self, powers: Powers) -> Any:
        """N = (2r - 1) + b (2D - 2r + 1)."""
        return powers.b * (2 * (self.period - self.step) + 1) + (2 * self.step - 1)

    def mass(self, powers: Powers, i: Any) -> Any:
        """p(i) for i >= 0."""
        return powers.power(self.place(i)[0]) * (powers.complement / self.normaliser(powers))

    def tail(self, powers: Powers, i: Any) -> Any:
        """T(i) = P(X >= i) for i >= 0."""
        k, j = self.place(i)
        return powers.power(k) * (powers.b * j + (self.period - j)) / self.normaliser(powers)

    def moment(self, powers: Powers, order: int) -> Any:
        r"""E|X|^m = 2/N sum_i C(m, i) D^i E[G^i] (S(m-i, r) + b (S(m-i, D) - S(m-i, r))), G geometric with ratio b.

        S(p, n) is `power_sum`; every term is positive.
        """
        D, r, total = self.period, self.step, 0
        for i in range(order + 1):
            below, above = power_sum(order - i, r), power_sum(order - i, D)
            weight = powers.b * (above - below) + below
            total += geometric_moment(i, powers) * (math.comb(order, i) * D**i) * weight
        return total * 2 / self.normaliser(powers)

    def folded_cost(self, below: float, above: float, at_zero: float) -> float:
        r"""E L(X) from sums of the folded cost M(j) = E L(G D + j) over j < r and over r <= j < D, and from L(0)."""
        powers = FloatPowers(self.level)
        return float((2 * (below + powers.b * above) - powers.complement * at_zero) / self.normaliser(powers))

    def log_mass(self, i: Any) -> NDArray[np.float64]:
        """log p(i) for i >= 0, finite long after p(i) itself has underflowed."""
        powers, D, r = FloatPowers(self.level), self.period, self.step
        b = powers.b
        log_complement = np.log1p(-b) if b < 0.5 else np.log(powers.complement)
        log_normaliser = np.log1p(b * (2 * (D - r) + 1) + 2 * (r - 1))
        return np.asarray(powers.exponent(self.place(i)[0]) + (log_complement - log_normaliser))

    def compare_tail(self, i: int, q: Fraction) -> int:
        """The sign of T(i) - q, decided exactly."""
        D, r = self.period, self.step
        k, j = self.place(i)
        terms: dict[int, Fraction] = {}
        for n, c in ((k, D - j), (k + 1, j), (0, -q * (2 * r - 1)), (1, -q * (2 * (D - r) + 1))):
            terms[n] = terms.get(n, Fraction(0)) + c
        return sign(self.level, terms)

    def first_at_most(self, q: Fraction) -> int:
        """The least i >= 0 with T(i) <= q, for 0 < q < 1, decided exactly."""
        near = self._near(q)
        return _least(lambda i: self.compare_tail(i, q) <= 0, near)

    def last_at_least(self, q: Fraction) -> int:
        """The largest i >= 0 with T(i) >= q, for 0 < q <= T(0), decided exactly."""
        near = self._near(q)
        return _least(lambda i: self.compare_tail(i, q) < 0, near) - 1

    def _near(self, q: Fraction) -> int:
        """Where T is about q: solved in intervals fine enough for the last digit, so that the search is short."""
        D = self.period
        bits = 128 + 2 * (D.bit_length() + cleared_bits(self.level) + q.denominator.bit_length())
        powers = IntervalPowers(self.level, bits)
        scaled: Fraction = q * self.normaliser(powers).middle
        k = math.floor(log_interval(D / scaled, bits).middle / self.level.epsilon_interval(bits).middle)
        if k < 0:
            return 0
        j = (D - scaled / powers.power(k).middle) / powers.complement.middle
        return max(0, k * D + math.floor(j) - (D - self.step))


def _least(holds: Any, near: int) -> int:
    """The least i >= 0 at which a predicate holds that, once true, stays true; looked for around ``near``."""
    low, high, stride = near - 1, near, 1  # invariant sought: not holds(low), holds(high)
    while not holds(high):
        low, high, stride = high, high + stride, stride * 2
    while low >= 0 and holds(low):
        low, high, stride = low - stride, low, stride * 2
    low = max(low, -1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
