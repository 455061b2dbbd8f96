"""The optimal step of a staircase on the integers, for any cost at large epsilon, from sums over single periods.

Let L_k(j) = L(k D + j), b = e^-epsilon, and let r be the step. M - V (see folded.py) has the sign of phi - b psi:

    phi = (1 - b) sum_k b^k phi_k,   phi_k = L_k(r) - L_k(0) + 2 sum_{0<j<r} (L_k(r) - L_k(j)),
    psi = (1 - b) sum_k b^k psi_k,   psi_k = L_k(D) - L_k(r) + 2 sum_{r<j<D} (L_k(j) - L_k(r)).

The quotient (phi - b psi) / (1 - b) is a power series in b with the coefficients c_k = phi_k - psi_{k-1}. The series
has the sign of its first nonzero coefficient, unless a later term is larger in absolute value, which logarithms decide.
As r grows, phi never decreases and psi never increases, so bisection finds the least step with M >= V.

In a period of at most some thousand integers, each c_k is the exact sum of the cost's floats, rounded once: its sign is
certain, and ties are detected. Longer periods are summed by extrapolation, between bounds that use only that the cost
never decreases.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import first_integer
from utmost.core.noise.costs import Cost, ReadCost
from utmost.core.noise.folded import Folded, integer_edges
from utmost.core.noise.period_series import (
    FEW_FROM,
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
from utmost.core.noise.quadrature import integer_sum
from utmost.errors import Unsupported

_EXACT = 4096  # integers of a period that are added one by one
_MARGIN = 1e-10  # a difference of logarithms above this decides; sums are accurate to 1e-13
_LARGEST_PERIOD = 1 << 60  # four periods of this length fit NumPy's integers

Coefficient = Callable[[int, int], float]
"""A function from k and a step r to c_k, or to a bound of c_k."""


@dataclass(frozen=True, slots=True, eq=False)
class IntegerPeriods:
    epsilon: float  # epsilon of one period
    period: int  # the period D
    cost: ReadCost  # the cost L
    later: LaterPeriods  # bounds of the sums of later periods

    @classmethod
    def of(cls, level: Level, period: int, cost: Cost) -> "IntegerPeriods":
        epsilon, read = read_epsilon_and_cost(level, float(period), cost, integers=True)
        return cls(epsilon, period, read, LaterPeriods(epsilon, float(period), read, {}))

    def step(self) -> int:
        """The least step with M >= V; a cost that underflows before it distinguishes two steps raises `Unsupported`."""
        low, high = self.bracket()
        coefficient = self._summed if self.period <= _EXACT else self._extrapolated
        # phi never decreases and psi never increases with r, so that the condition is monotone.
        step = first_integer(low - 1, high, lambda r: self._gain(coefficient, r) >= 0)
        if step > 1:
            least, before, after, most = (self._at(x) for x in (0, step - 1, step, self.period))
            # A rise of the cost by one unit in the last place of its largest value may be only rounding.
            is_noise = before == least and is_unit(after - before, most)
            check_digits(step, least, before, after, is_noise=is_noise)
        return step

    def bracket(self) -> tuple[int, int]:
        """Two steps between which the least step with M >= V certainly lies."""
        least, most = (self._summed, self._summed) if self.period <= _EXACT else (self._least, self._most)
        low = first_integer(0, self.period, lambda r: self._gain(most, r) >= -_MARGIN)
        high = first_integer(low - 1, self.period, lambda r: self._gain(least, r) >= _MARGIN)
        return low, high

    def expectation(self, step: int) -> float:
        """E L(X) for the staircase of this step; 0 if the expectation underflows."""
        total, first = -math.inf, first_rise(lambda k: self._at((k + 1) * self.period - 1), 0, 0.0)
        if first is None or self.later.after(first - 1, 0.0) + math.log(2 * self.period) < first * self.epsilon - LOST:
            return 0.0
        for n in counted_periods(self.epsilon):
            k = first + n
            rest = self.later.after(k, 0.0) + math.log(2 * self.period)
            # Each error other than 0 counts twice, once for each sign.
            inside = (2 * self._sum(k, 1, step) if step > 1 else 0.0) + self._at(k * self.period) * (2 if k else 1)
            outside = 2 * self._sum(k, step, self.period)
            both = np.logaddexp(log(inside), log(outside) - self.epsilon)
            total = float(np.logaddexp(total, both - k * self.epsilon))
            if rest - (k + 1) * self.epsilon <= total + NEGLIGIBLE:
                break
        width = np.logaddexp(math.log(2 * step - 1), math.log(2 * (self.period - step) + 1) - self.epsilon)
        return math.exp(total - float(width) + math.log1p(-math.exp(-self.epsilon)))

    def _gain(self, coefficient: Coefficient, r: int) -> float:
        """The log of phi / (b psi), with the sign of M(r) - V(r); bounds of c_k from ``coefficient`` bound it on their
        side.
        """

        def terms() -> Iterator[Term]:
            # For each k with a c_k that may be nonzero: the term, and log(bound of the sum of all later terms / b^k).
            base = self._at(0)
            k = first_rise(self._end, 0, base)
            for _ in counted_periods(self.epsilon):
                if k is None:
                    return
                weight = coefficient(k, r)
                rest = self.later.after(k, base) + math.log(2 * self.period) - self.epsilon
                yield k, log(weight), log(-weight), rest
                # Periods in which the cost is constant contribute nothing.
                is_changing = self._end(k) > self._at(k * self.period)
                k = k + 1 if is_changing else first_rise(self._end, k + 1, self._at((k + 1) * self.period))

        return log_ratio(terms(), self.epsilon)

    def _end(self, k: int) -> float:
        return self._at((k + 1) * self.period)

    def _at(self, x: int) -> float:
        return float(self._costs(np.array([float(x)]))[0])

    def _costs(self, x: Floats) -> Floats:
        values = self.cost(x)
        if not np.isfinite(values).all():
            raise _too_large()
        return values

    def _summed(self, k: int, r: int) -> float:
        """c_k: the sum of the cost's floats is exact, and rounded once."""
        D = self.period
        here = self._costs(float(k * D) + np.arange(r + 1, dtype=np.float64))
        # Each cost is listed as often as it occurs in the sum, so that fsum rounds only once.
        parts = [here[r]] * (2 * r - 1) + [-here[0]] + [*-here[1:r]] * 2
        if k and r < D:
            last = self._costs(float((k - 1) * D) + np.arange(r, D + 1, dtype=np.float64))
            parts += [last[0]] * (2 * (D - r) - 1) + [-last[-1]] + [*-last[1:-1]] * 2
        try:
            return math.fsum(parts)
        except OverflowError as error:
            raise _too_large() from error

    def _extrapolated(self, k: int, r: int) -> float:
        return self._coefficient(k, r, self._sum, self._sum)

    def _least(self, k: int, r: int) -> float:
        """A lower bound of c_k, for a cost that never decreases."""
        return self._coefficient(k, r, lambda *part: self._bounds(*part)[0], lambda *part: self._bounds(*part)[1])

    def _most(self, k: int, r: int) -> float:
        """An upper bound of c_k, for a cost that never decreases."""
        return self._coefficient(k, r, lambda *part: self._bounds(*part)[1], lambda *part: self._bounds(*part)[0])

    def _coefficient(self, k: int, r: int, counted: Callable[..., float], against: Callable[..., float]) -> float:
        """c_k = phi_k - psi_{k-1}. The function ``counted`` sums the differences in phi_k, and ``against`` those in
        psi_{k-1}.
        """
        D, here = self.period, self._at(k * self.period + r)
        over = here - self._at(k * D) + 2 * counted(k, 1, r, here)
        if k and r < D:
            last = self._at((k - 1) * D + r)
            over -= self._at(k * D) - last + 2 * against(k - 1, r + 1, D, last)
        return over

    def _sum(self, k: int, low: int, high: int, here: float = 0.0) -> float:
        """The sum of |L_k(j) - here| over low <= j < high."""

        def distances(j: Floats) -> Floats:
            return abs(self._costs(float(k * self.period) + j) - here)

        return float(integer_sum(distances, [(low, high)]).value) if low < high else 0.0

    def _bounds(self, k: int, low: int, high: int, here: float) -> tuple[float, float]:
        """Return bounds of `_sum` from the costs at the ends of cells. All costs must lie on the same side of
        ``here``.
        """
        if low >= high:
            return 0.0, 0.0
        edges = np.clip(integer_edges(self.cost, self.period), low, high)
        edges = np.unique(np.append(edges, [low, high]))
        # A cost that never decreases lies between its values at the two ends of a cell, and so does its mean over the
        # cell.
        sizes, points = np.diff(edges), edges.astype(np.float64) + float(k * self.period)
        first, last = (abs(self._costs(part) - here) for part in (points[:-1], points[1:] - 1))
        return float(sizes @ np.minimum(first, last)), float(sizes @ np.maximum(first, last))


def folded_integers(level: Level, period: int, cost: Cost) -> Folded | IntegerPeriods:
    """The cost folded over all periods; at large epsilon, where few periods matter, the cost of each single period."""
    if period > _LARGEST_PERIOD:
        raise Unsupported(
            "a cost that is a function needs a sensitivity of at most 2^60",
            came=period,
            remedy="Count in larger units, or use a moment of integer order.",
        )
    if level.epsilon_float < FEW_FROM:
        folded = Folded.of(level, period, cost, integers=True)
        if not folded.is_lost():
            return folded
    return IntegerPeriods.of(level, period, cost)


def _too_large() -> Unsupported:
    remedy = "Use a cost that grows more slowly."
    return Unsupported("the expected cost must be finite, and at most the largest float", remedy=remedy)
