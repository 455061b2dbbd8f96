"""Any cost on the reals where epsilon is large: one period is next to all of the law, and gamma may be next to 0.

With L_k(u) = L((k + u) D), b = e^-epsilon and g the share of the first step, M - V has the sign of phi - b psi:

    phi(g) = int_0^g (M(g) - M(u)) du = (1 - b) sum_k b^k phi_k(g),   phi_k(g) = int_0^g (L_k(g) - L_k(u)) du,
    psi(g) = int_g^1 (M(u) - M(g)) du = (1 - b) sum_k b^k psi_k(g),   psi_k(g) = int_g^1 (L_k(u) - L_k(g)) du.

No term is negative, so nothing cancels, and logarithms compare phi with b psi whatever underflows. phi never falls and
psi never rises with g: the optimum is where they meet, halved down to two floats that follow each other. Where the cost
jumps between these two, the lower one is taken: beyond the jump each bit of width costs what b weighs nothing against.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.errors import Unsupported
from utmost.exact import Floats, Level, nearest
from utmost.noise.costs import Cost, ReadCost, check_cost, read_cost
from utmost.noise.powers import FloatPowers
from utmost.noise.quadrature import integral

FEW_FROM = 10.0
"""The epsilon from which on few periods are enough; below, `utmost.noise.folded` sums them all."""

_NEGLIGIBLE = -40.0  # log of what a remainder may be beside what is known
_MOST_PERIODS = 300  # that are looked at, not counting those on which the cost is constant
_FARTHEST = 2.0**60  # in periods
_ROUGH = 1e-290  # a cost below it has lost digits to underflow
_COARSE = 1e-9  # a jump that matters, relative to the cost there
_UNITS = 5e-16  # about two units in the last place: what a difference that cancels makes of a smooth cost
_NOISE = 1e-9  # what a difference of costs may be, relative to them, and still be measured to its last digits only


@dataclass(frozen=True, slots=True, eq=False)
class FewPeriods:
    """A cost, period by period.

    Attributes:
        epsilon: of one period.
        period: D.
        cost: L.
    """

    epsilon: float
    period: Fraction
    cost: ReadCost

    @classmethod
    def of(cls, level: Level, period: Fraction, cost: Cost) -> "FewPeriods":
        """Read the cost.

        Raises:
            NotALoss, NotMonotone: as in `read_cost`.
            Unsupported: when the expectation is infinite, or the cost exceeds the floats within four periods.
        """
        epsilon = float(FloatPowers(level).epsilon.high)
        width = nearest(period)
        found = cls(epsilon, period, read_cost(cost, width, integers=False))
        sizes = np.arange(max(4, math.ceil(700 / epsilon)) + 2, dtype=np.float64) * np.float64(width)
        values = found.cost(sizes)
        check_cost(sizes, values)
        if not np.isfinite(values).all() or _log(values[-1]) >= _log(values[-3]) + 1.8 * epsilon > -math.inf:
            raise Unsupported(
                "the expected cost must be finite, and settled before exp(-epsilon k) underflows",
                came="a cost that grows about as fast as the law falls",
                remedy="Use a cost that grows more slowly.",
            )
        return found

    def crossing(self) -> tuple[float, float]:
        """The last float with M < V and the next one; (1/2, 1/2) where no gamma costs less than another.

        Raises:
            Unsupported: where the cost underflows before it tells one gamma from another.
        """
        if self._sign(0.5) == 0:
            return 0.5, 0.5
        low, high = 0, int(np.float64(1.0).view(np.int64))  # floats in their order, as the integers of their bits
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._sign(_float(middle)) < 0 else (low, middle)
        self._check_digits(_float(low), _float(high))
        return _float(low), _float(high)

    def expectation(self, gamma: float) -> float:
        """E L(X) for the staircase of this gamma; 0 where it underflows."""
        log_width = float(np.logaddexp(_log(gamma), _log(1 - gamma) - self.epsilon))
        total = -math.inf
        for k, rest in self._periods(0.0, all_after=True):
            inside = _log(gamma) + _log(self._mean(k, 0.0, gamma))
            outside = _log(1 - gamma) + _log(self._mean(k, gamma, 1.0)) - self.epsilon
            total = float(np.logaddexp(total, np.logaddexp(inside, outside) - k * self.epsilon))
            if rest <= total + _NEGLIGIBLE:
                break
        return math.exp(total - log_width + math.log1p(-math.exp(-self.epsilon)))

    def _check_digits(self, low: float, high: float) -> None:
        """Refuse a cost whose floats, not the cost itself, jump where gamma was found."""
        least, before, after, most = (self._at(0, g) for g in (0.0, low, high, 1.0))
        jump = after - before
        if 0 < after - least < _ROUGH or _COARSE * before < jump <= _UNITS * most:
            raise Unsupported(
                f"the cost of errors near {nearest(Fraction(high) * self.period)} must have digits to tell them apart",
                came=f"{before}, and then {after}",
                where="a cost given as a function",
                remedy="Write it so that nothing cancels or underflows near 0 (expm1, log1p), or lower epsilon.",
            )

    def _sign(self, g: float) -> int:
        """The sign of M(g) - V(g)."""
        phi = psi = -math.inf
        for k, rest in self._periods(self._at(0, 0.0)):
            here = self._at(k, g)
            before, beyond = self._mean(k, 0.0, g, here), self._mean(k, g, 1.0, here)
            phi = float(np.logaddexp(phi, _log(g) + _log(before) - k * self.epsilon))
            psi = float(np.logaddexp(psi, _log(1 - g) + _log(beyond) - k * self.epsilon))
            if rest <= max(phi, psi - self.epsilon) + _NEGLIGIBLE:
                break
        return (phi > psi - self.epsilon) - (phi < psi - self.epsilon)

    def _periods(self, base: float, *, all_after: bool = False) -> Iterator[tuple[int, float]]:
        """Periods from the first on with a cost above ``base``, and the log of what all that follow may add.

        Periods after it on which the cost is constant are left out, unless ``all_after``.
        """
        k = self._next_change(0, base)
        for _ in range(_MOST_PERIODS):
            if k is None:
                return
            # what follows is at most the sum of b^j L((j + 1) D) over j > k, a series that more than halves
            yield k, _log(self._at(k + 2, 0.0)) - (k + 1) * self.epsilon + 1
            k = k + 1 if all_after else self._next_change(k + 1, self._at(k + 1, 0.0, after=True))

    def _next_change(self, k: int, base: float) -> int | None:
        """The first period from k on in whose inside the cost exceeds ``base``; None where it never does."""
        stride = 1
        while self._at(k + stride, 0.0, before=True) <= base:
            stride *= 2
            if stride > _FARTHEST:
                return None
        low, high = k + stride // 2, k + stride  # the cost before the end of period high - 1 exceeds base
        while stride > 1 and high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._at(middle, 0.0, before=True) > base else (middle, high)
        return high - 1

    def _at(self, k: int, g: float, *, before: bool = False, after: bool = False) -> float:
        """L at the first float from (k + g) D on, so that no jump up to there is missed; or at its neighbour."""
        exact = (k + Fraction(g)) * self.period
        x = nearest(exact)
        if before or after:
            x = math.nextafter(x, 0.0 if before else math.inf)
        elif x < exact:
            x = math.nextafter(x, math.inf)
        return float(self.cost(np.array([x]))[0])

    def _mean(self, k: int, start: float, end: float, here: float | None = None) -> float:
        """The mean of L_k, or of its distance from ``here``, on the open interval from start to end."""
        if not start < end:
            return 0.0
        low, high = (nearest((k + Fraction(share)) * self.period) for share in (start, end))
        first, last = math.nextafter(low, math.inf), math.nextafter(high, 0.0)
        if not first < last:
            first = last = low

        def values(shares: Floats) -> Floats:
            found = self.cost(np.clip(low + shares * (high - low), first, last))
            return found if here is None else abs(found - here)

        scale = 0.0 if here is None else _NOISE * here
        return float(integral(values, [(0.0, 1.0)], scale=scale).value)


def _float(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
