"""The optimal gamma of a staircase on the reals, for any cost at large epsilon. Gamma may be nearly 0.

At large epsilon, one period has nearly all of the probability. Let L_k(u) = L((k + u) D) and b = e^-epsilon; the first
step has width g D. M - V (see folded.py) has the sign of phi - b psi:

    phi(g) = int_0^g (M(g) - M(u)) du = (1 - b) sum_k b^k phi_k(g),   phi_k(g) = int_0^g (L_k(g) - L_k(u)) du,
    psi(g) = int_g^1 (M(u) - M(g)) du = (1 - b) sum_k b^k psi_k(g),   psi_k(g) = int_g^1 (L_k(u) - L_k(g)) du.

No term is negative, so nothing cancels, and logarithms compare phi with b psi even if both underflow. As g grows, phi
never decreases and psi never increases. The optimum is where phi = b psi, found by bisection to two neighbouring
floats. If the cost jumps between these two floats, the lower float is the optimum: beyond the jump every width g costs
more than it can save.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.intervals import nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import first_integer
from utmost.core.noise.costs import Cost, ReadCost
from utmost.core.noise.period_series import (
    LOST,
    NEGLIGIBLE,
    LaterPeriods,
    Term,
    check_digits,
    counted_periods,
    first_rise,
    is_unit,
    log,
    log_ratio,
    read_epsilon_and_cost,
)
from utmost.core.noise.quadrature import integral

_COARSE = 1e-9  # least relevant jump, relative to the cost at that point
_NOISE = 1e-9  # below this relative size, rounding decides a difference of costs


@dataclass(frozen=True, slots=True, eq=False)
class FewPeriods:
    epsilon: float  # epsilon of one period
    period: Fraction  # the period D
    cost: ReadCost  # the cost L
    later: LaterPeriods  # bounds of the sums of later periods

    @classmethod
    def of(cls, level: Level, period: Fraction, cost: Cost) -> "FewPeriods":
        epsilon, read = read_epsilon_and_cost(level, nearest(period), cost, integers=False)
        return cls(epsilon, period, read, LaterPeriods(epsilon, nearest(period), read, {}))

    def crossing(self) -> tuple[float, float]:
        """The largest float gamma with M < V, and the next larger float; (1/2, 1/2) if all gammas cost the same."""
        if self._sign(0.5) == 0:
            return 0.5, 0.5
        # positive floats have the same order as their bits read as integers
        last = int(np.float64(1.0).view(np.int64))
        first = first_integer(0, last, lambda bits: self._sign(_float(bits)) >= 0)
        # Refuse a cost whose jump at gamma may be rounding, or that underflows before it distinguishes two gammas.
        high = _float(first)
        least, before, after, most = (self._at(0, g) for g in (0.0, _float(first - 1), high, 1.0))
        is_noise = _COARSE * before < after - before and is_unit(after - before, most)
        check_digits(nearest(Fraction(high) * self.period), least, before, after, is_noise=is_noise)
        return _float(first - 1), _float(first)

    def expectation(self, gamma: float) -> float:
        """E L(X) for the staircase of this gamma; 0 if the expectation underflows."""
        log_width = float(np.logaddexp(log(gamma), log(1 - gamma) - self.epsilon))
        total = -math.inf
        first = first_rise(self._end, 0, 0.0)
        if first is None or self.later.after(first - 1, 0.0) < first * self.epsilon - LOST:
            return 0.0
        for k, rest in self._periods(0.0, all_after=True):
            # Logarithms are used, since masses underflow while costs overflow.
            inside = log(gamma) + log(self._mean(k, 0.0, gamma))
            outside = log(1 - gamma) + log(self._mean(k, gamma, 1.0)) - self.epsilon
            total = float(np.logaddexp(total, np.logaddexp(inside, outside) - k * self.epsilon))
            if rest - (k + 1) * self.epsilon <= total + NEGLIGIBLE:
                break
        return math.exp(total - log_width + math.log1p(-math.exp(-self.epsilon)))

    def _sign(self, g: float) -> int:
        def terms() -> Iterator[Term]:
            # phi_k belongs to b^k, and psi_k to b^(k+1).
            for k, rest in self._periods(self._at(0, 0.0)):
                here = self._at(k, g)
                yield k, log(g) + log(self._mean(k, 0.0, g, here)), -math.inf, math.inf
                yield k + 1, -math.inf, log(1 - g) + log(self._mean(k, g, 1.0, here)), rest

        gain = log_ratio(terms(), self.epsilon)
        return (gain > 0) - (gain < 0)

    def _periods(self, base: float, *, all_after: bool = False) -> Iterator[tuple[int, float]]:
        """Yield each period from the first with a cost above ``base``, and the log of a bound on later periods' sum."""
        # Later periods of constant cost are left out, unless ``all_after`` is set.
        k = first_rise(self._end, 0, base)
        for _ in counted_periods(self.epsilon):
            if k is None:
                return
            yield k, self.later.after(k, base)
            k = k + 1 if all_after else first_rise(self._end, k + 1, self._at(k + 1, 0.0, after=True))

    def _end(self, k: int) -> float:
        return self._at(k + 1, 0.0, before=True)

    def _at(self, k: int, g: float, *, before: bool = False, after: bool = False) -> float:
        """L at the least float >= (k + g) D; with ``before`` or ``after``, at the float before or after (k + g) D."""
        exact = (k + Fraction(g)) * self.period
        x = nearest(exact)
        if before or after:
            x = math.nextafter(x, 0.0 if before else math.inf)
        elif x < exact:
            x = math.nextafter(x, math.inf)  # a cost may jump between the next lower float and the point
        return float(self.cost(np.array([x]))[0])

    def _mean(self, k: int, start: float, end: float, here: float | None = None) -> float:
        """The mean of L_k, or of |L_k - here|, on the open interval from ``start`` to ``end``."""
        if not start < end:
            return 0.0
        low, high = (nearest((k + Fraction(share)) * self.period) for share in (start, end))
        # The interval is open: a jump at its end belongs to the next interval.
        first, last = math.nextafter(low, math.inf), math.nextafter(high, 0.0)
        if not first < last:
            first = last = low

        def values(shares: Floats) -> Floats:
            costs = self.cost(np.clip(low + shares * (high - low), first, last))
            return costs if here is None else abs(costs - here)

        # A difference of two costs has the absolute error of the costs.
        scale = 0.0 if here is None else _NOISE * here
        return float(integral(values, [(0.0, 1.0)], scale=scale).value)


def _float(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))
