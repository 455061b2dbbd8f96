"""Certified bounds of P(|S| > r) for a sum of independent geometric variables, from its characteristic function.

S = sum of c_i G_i with P(G_i = x) proportional to exp(-e_i |x|) has the characteristic function and the moment
generating function

    phi(t) = product of 1 / (1 + sin^2(c_i t/2) / sinh^2(e_i/2)),
    M(s)   = product of 1 / (1 - sinh^2(c_i s/2) / sinh^2(e_i/2)).

Each of three bounds is certified: Chernoff's, P(|S| >= x) <= 2 M(s) e^(-s x) for any s; the probability that some G_i
is not 0, which is at least P(|S| > r); and the inversion of phi, whose error is a sum of four bounded parts (see
proofs/theory/error-bars.md).
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats

# The period ends where Chernoff's bound is e^-_BEYOND. The mass beyond it, which aliasing adds, is counted as exceeding
# r.
_BEYOND = math.log(1e14)
# At a larger epsilon, e^-epsilon is 0 in floats, and sinh overflows. A term with a larger epsilon is given this one,
# which means more noise.
_LARGEST_EPSILON = 600.0
# Relative error of one float operation, and the error of a NumPy function in multiples of it (four units in the last
# place).
_UNIT = 2.0**-53
_ULPS = 8.0
# Relative error of NumPy's pairwise sum, which adds blocks of about a hundred floats.
_OF_A_SUM = 64 * _UNIT
# Largest number of frequencies of an inversion, and largest number of sines (frequencies times groups).
_MOST_NODES = 1 << 20
_MOST_SINES = 1 << 26
# The series ends where the transform of the normal variable is exp(-_CUT^2/2).
_CUT = 8.0
# Slacks d, in standard deviations of the normal variable Z: P(|S| > r) <= P(|S + Z| > r - d) + P(|Z| > d).
_SLACKS = (3.9, 4.5, 5.2, 6.2, 7.4)
# The standard deviation of S over that of the normal variable, for sums with few terms and with many terms.
_FINEST, _COARSEST = 1000.0, 400.0
# The series ends where phi is below e^-_NOTHING: the weights 2/(pi k) add up to less than 10.
_NOTHING = 45.0
_SECTIONS = np.geomspace(1e-6, 1.0, 81)
# From 2^12 frequencies on, phi is first bounded on ranges of 32 frequencies, and a range where phi is below e^-_NOTHING
# is skipped.
_MANY_NODES, _STRETCH = 1 << 12, 32
# How many numbers one array operation computes.
_AT_ONCE = 1 << 18
_GROUPS_AT_ONCE, _FEW_AT_ONCE = 8, 1 << 12


@dataclass(frozen=True, eq=False)
class TermGroups:
    """The terms of a sum in groups of equal terms. The unit of S is chosen such that floats neither overflow nor
    underflow.
    """

    sizes: Floats  # positive coefficients (n,)
    epsilons: Floats  # levels of the terms (n,)
    counts: Floats  # numbers of terms (n,)
    residues: tuple[int, ...] | None  # the coefficients as integers, if S is an integer

    @cached_property
    def half_sinh(self) -> Floats:
        """sinh(e/2); the variance of G is 1 / (2 sinh^2(e/2))."""
        return np.sinh(np.minimum(self.epsilons, _LARGEST_EPSILON) / 2)

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of S."""
        return float(np.linalg.norm(self.sizes * np.sqrt(self.counts / 2) / self.half_sinh))

    @cached_property
    def slack(self) -> Floats:
        """The relative error of the logarithm of each factor, in units in the last place; shape (n,)."""
        return _ULPS + np.minimum(self.epsilons, _LARGEST_EPSILON)

    def log_characteristics(self, t: Floats) -> tuple[Floats, Floats]:
        """Return -log phi and its rounding errors at the frequencies t, which are multiples of t[0]."""
        # When -log phi exceeds 45 for the groups computed so far, the other groups are left out: their factors are at
        # most 1.
        logs, moved = np.zeros(t.size), np.zeros(t.size)
        steepest = 4 * self.counts / np.maximum(self.half_sinh * np.hypot(1.0, self.half_sinh), 1e-300)
        step = max(1, min(max(_GROUPS_AT_ONCE, _FEW_AT_ONCE // t.size), _AT_ONCE // t.size))
        nothing = np.zeros(t.size, np.bool_)
        if t.size >= _MANY_NODES:
            around = self._is_nothing_around(t[_STRETCH // 2 :: _STRETCH], (_STRETCH // 2 + 1) * float(t[0]))
            nothing[: around.size * _STRETCH] = np.repeat(around, _STRETCH)[: t.size]
            logs[nothing] = 2 * _NOTHING
        here = np.flatnonzero(~nothing)
        for start in range(0, len(self.sizes), step):
            chosen = slice(start, start + step)
            angles = (self.sizes[chosen] / 2)[:, None] * t[here]
            factors = self.counts[chosen, None] * np.log1p((np.sin(angles) / self.half_sinh[chosen, None]) ** 2)
            shaken = np.where(angles > 1, angles * steepest[chosen, None], 0.0)
            logs[here] += factors.sum(axis=0)
            # A matrix product is avoided: for such small matrices its threads cost more time than they save.
            moved[here] += np.einsum("i,ij->j", self.slack[chosen], factors) + shaken.sum(axis=0)
            here = here[logs[here] < _NOTHING]
            if not here.size:
                break
        return logs, _UNIT * (moved + len(self.sizes) * logs)

    def _is_nothing_around(self, middles: Floats, reach: float) -> NDArray[np.bool_]:
        """Whether phi(t) < e^-45 is certain for |t - middle| <= ``reach``: |sin(c t/2)| has a slope <= c/2."""
        logs = np.zeros(middles.size)
        here = np.arange(middles.size)
        for start in range(0, len(self.sizes), _GROUPS_AT_ONCE):
            chosen = slice(start, start + _GROUPS_AT_ONCE)
            halves = self.sizes[chosen, None] / 2
            angles = halves * middles[here]
            unsure = halves * reach * (1 + 1e-9) + 8 * _UNIT * (1 + angles)
            sines = np.maximum(np.abs(np.sin(angles)) - unsure, 0.0) / self.half_sinh[chosen, None]
            logs[here] += np.einsum("i,ij->j", self.counts[chosen], np.log1p(sines**2))
            here = here[logs[here] < _NOTHING * (1 + 1e-9)]
            if not here.size:
                break
        return logs >= _NOTHING * (1 + 1e-9)

    def frequency_beyond(self, last: float) -> float:
        """Return a t0 with phi < e^-45 on [t0, last]. The proof uses only terms whose sine increases."""
        # The factor of a term with c b <= pi falls on [a, b], so that it is at most its value at a.
        points = last * _SECTIONS
        logs = np.zeros(_SECTIONS.size - 1)
        step = max(1, _AT_ONCE // _SECTIONS.size)
        for start in range(0, len(self.sizes), step):
            chosen = slice(start, start + step)
            sizes, half_sinh = self.sizes[chosen, None], self.half_sinh[chosen, None]
            # A sine that decreases within the section is bounded by 0.
            terms = np.where(sizes * points[1:] <= math.pi, np.sin(sizes * (points[:-1] / 2)) / half_sinh, 0.0)
            logs += np.einsum("i,ij->j", self.counts[chosen], np.log1p(terms**2))
        small = np.flatnonzero(logs * (1 - 1e-9) < _NOTHING)
        return float(points[small[-1] + 1] if len(small) else points[0])

    def log_characteristic(self, group: int, half_angles: Floats, farthest: Floats) -> tuple[Floats, Floats]:
        """Return -log phi of one group and its rounding error, at K angles c t/2, which are reduced to one period if
        the reduction is exact.
        """
        # ``farthest`` has the size of the angles before they were rounded.
        half_sinh = self.half_sinh[group]
        logs = self.counts[group] * np.log1p((np.sin(half_angles) / half_sinh) ** 2)
        steepest = 1 / max(half_sinh * math.hypot(1.0, half_sinh), 1e-300)
        moved = np.where(farthest > 1, farthest * (4 * steepest * self.counts[group]), 0.0)
        return logs, _UNIT * (self.slack[group] * logs + moved)


@cache
def _fractions_below_1(points: int) -> Floats:
    """Fractions from 0.02 to almost 1, dense just below 1."""
    return np.asarray(1 - np.geomspace(1e-5, 0.98, points))


@dataclass(frozen=True, eq=False)
class Chernoff:
    """P(|S + Z| >= x) <= min over s of 2 M(s) e^(-s x), with Z normal and independent."""

    slopes: Floats  # values of s (k,)
    logs: Floats  # log 2 M(s), rounded up (k,)

    @classmethod
    def of(cls, groups: TermGroups, slopes_tried: int = 180) -> "Chernoff":
        """Chernoff's bound for S, without Z."""
        steepest = float(np.min(np.minimum(groups.epsilons, _LARGEST_EPSILON) / groups.sizes))
        gentle = min(0.3 / groups.deviation, 0.02 * steepest) if groups.deviation > 0 else 0.02 * steepest
        steep = steepest * _fractions_below_1(slopes_tried // 2)
        slopes: Floats = np.unique(np.concatenate([np.geomspace(gentle, 0.995 * steepest, slopes_tried // 2), steep]))
        # The factor 2 is for both tails.
        logs = np.full(slopes.shape, math.log(2.0))
        step = max(1, _AT_ONCE // slopes.size)
        for start in range(0, len(groups.sizes), step):
            chosen = slice(start, start + step)
            ratio = (np.sinh(groups.sizes[chosen, None] * slopes / 2) / groups.half_sinh[chosen, None]) ** 2
            rounding = _UNIT * 2 * groups.slack[chosen, None] * ratio / (1 - ratio)
            logs += (groups.counts[chosen, None] * (rounding - np.log1p(-ratio))).sum(axis=0)
        return cls(slopes, logs * (1 + len(groups.sizes) * _UNIT) + 1e-12)

    def smoothed(self, tau: float) -> "Chernoff":
        """The bound for S + Z, where Z has the standard deviation tau."""
        return Chernoff(self.slopes, self.logs + (self.slopes * tau) ** 2 / 2 + 1e-12)

    def tail(self, x: float) -> float:
        """An upper bound of P(|S + Z| >= x)."""
        least = float(np.min(self.logs - self.slopes * x * (1 - 1e-14)))
        return 1.0 if least >= 0 else math.exp(least) * (1 + 1e-12)

    def margin(self, log_miss: float) -> float:
        """An x with tail(x) <= exp(log_miss). The margin grows with each coefficient of S."""
        return float(np.min((self.logs - log_miss) / self.slopes)) * (1 + 1e-12)


@dataclass(frozen=True, eq=False)
class OnIntegers:
    """Bounds P(|S| > r) for an integer S, by inversion modulo N = ``points``. The series is neither smoothed nor
    truncated.
    """

    # (1/N) sum over k of phi(2 pi k/N) sin((2r+1) pi k/N) / sin(pi k/N) is P(|S mod N| <= r), which exceeds P(|S| <= r)
    # by at most P(|S| >= N - r).
    weights: Floats
    moved: Floats
    points: int
    chernoff: Chernoff

    @classmethod
    def of(cls, groups: TermGroups, chernoff: Chernoff) -> "OnIntegers | None":
        """The inversion, or None if S is on no lattice or the sum would need too many points."""
        reach = chernoff.margin(-_BEYOND)
        if groups.residues is None or not reach * len(groups.sizes) < min(_MOST_NODES, _MOST_SINES / 4):
            return None
        points = 2 * math.ceil(reach) + 3
        k = np.arange(1, points // 2 + 1)
        logs, moved = np.zeros(k.size), np.zeros(k.size)
        for group, residue in enumerate(groups.residues):
            angles = (residue % points * k % points).astype(np.float64) * (math.pi / points)
            group_logs, rounding = groups.log_characteristic(group, angles, np.zeros(k.size))
            logs += group_logs
            moved += rounding
        phi = np.exp(-logs)
        return cls(2 / points * phi, np.expm1(moved) + _ULPS * _UNIT, points, chernoff)

    def exceeded(self, margin: int) -> float:
        """An upper bound of P(|S| > margin), for an integer margin; at least 1e-14."""
        if 2 * margin + 1 >= self.points:
            return 1.0
        heights, unsure, rounding = self._heights
        turns = np.arange(1, heights.size + 1) * (2 * margin + 1) % (2 * self.points)
        terms = heights * np.sin(turns * (math.pi / self.points))
        inside = (2 * margin + 1) / self.points + float(terms.sum())
        rounding += float(np.abs(terms) @ unsure)
        return 1 - inside + rounding + self.chernoff.tail(self.points - margin) + 8 * _UNIT

    @cached_property
    def _heights(self) -> tuple[Floats, Floats, float]:
        """Return the factor of each sine in the series, the relative errors of the factors, and the error of all sines
        together.
        """
        heights = self.weights / np.sin(np.arange(1, self.weights.size + 1) * (math.pi / self.points))
        # The last sines, whose factors add up to less than a rounding error, are left out.
        last = int(np.count_nonzero(np.cumsum(heights[::-1]) >= _UNIT / 8))
        error = 4 * _ULPS * _UNIT * float(heights.sum()) + _UNIT / 4
        return heights[:last], 2 * self.moved[:last] + _OF_A_SUM, error


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Bounds P(|S| > r) for any S, by a Fourier series of period L for S + Z with a narrow normal variable Z."""

    # P(|S| <= r) >= P(|S + Z| <= r - d) - P(|Z| > d), and
    #     2x/L + sum over k of 2/(pi k) phi(2 pi k/L) e^(-tau^2 t^2/2) sin(2 pi k x/L)
    # exceeds P(|S + Z| <= x) by aliasing, at most P(|S + Z| >= L - x).
    weights: Floats
    moved: Floats
    period: float
    tau: float
    chernoff: Chernoff

    @classmethod
    def of(
        cls,
        groups: TermGroups,
        chernoff: Chernoff,
        most: int = _MOST_NODES,
        *,
        farthest: float = math.inf,
        aliased: float = 0,
    ) -> "Smoothed":
        """The inversion with as many frequencies as ``most`` allows. If ``most`` is below its default, the result is an
        estimate, not a bound.
        """
        # With ``farthest`` and ``aliased`` the period is shorter: it serves margins up to ``farthest``, whose bounds
        # are larger by at most ``aliased``.
        reach = chernoff.margin(-_BEYOND)
        each = _MOST_SINES / 8 / len(groups.sizes)
        fine = min(_FINEST, max(_COARSEST, each * 2 * math.pi / _CUT / (2.2 * reach / groups.deviation)))
        tau = max(groups.deviation / fine, 2.2 * reach * _CUT / (2 * math.pi * _MOST_NODES))
        beyond = min(reach, chernoff.margin(math.log(aliased))) if aliased > 0 else reach
        period = min(farthest, beyond) + beyond + 2 * _CUT * tau
        nodes = math.ceil(period * _CUT / (2 * math.pi * tau))
        last = groups.frequency_beyond(1.001 * nodes * 2 * math.pi / period)
        nodes = min(nodes, math.ceil(last * period / (2 * math.pi)), most)
        t = np.arange(1, nodes + 1) * (2 * math.pi / period)
        group_logs, rounding = groups.log_characteristics(np.asarray(t, dtype=np.float64))
        logs = (t * tau) ** 2 / 2 + group_logs
        # A rounding error of an exponent is a relative error of the weight.
        moved = 4 * _UNIT * (t * tau) ** 2 + rounding
        weights = np.exp(-logs) * 2 / (np.arange(1, t.size + 1) * math.pi)
        return cls(weights, np.expm1(np.minimum(moved, 50)) + _ULPS * _UNIT, period, tau, chernoff.smoothed(tau))

    def exceeded(self, margin: float, miss: float | None = None) -> float:
        """An upper bound of P(|S| > margin), at least 1e-13. If ``miss`` is passed, the bound is tightest for
        probabilities near it.
        """

        def bound(slack: float) -> float:
            x = margin - slack * self.tau
            if not 0 < x < self.period / 2:
                return 1.0
            k = np.arange(1, self.weights.size + 1)
            turn = x / self.period
            terms = self.weights * np.sin(k * (2 * math.pi * turn))
            inside = 2 * turn + float(terms.sum())
            angles = _ULPS * _UNIT * 2 * math.pi * turn * self._first_moment
            rounding = self._rounding + angles + 1e-15
            return 1 - inside + rounding + self.chernoff.tail(self.period - x) + math.erfc(slack / math.sqrt(2)) * 1.001

        return min(map(bound, _SLACKS if miss is None else (slack_for(miss),)))

    @cached_property
    def _rounding(self) -> float:
        """The rounding error of the series from its factors and its summation, without the error from its angles."""
        return float((self.weights * self.moved).sum()) + _OF_A_SUM * float(self.weights.sum())

    @cached_property
    def _first_moment(self) -> float:
        return float((np.arange(1, self.weights.size + 1) * self.weights).sum())


def slack_for(miss: float) -> float:
    """The least of the available slacks d with P(|Z| > d) <= miss / 50, for Z standard normal; the largest slack if
    none suffices.
    """
    return next((slack for slack in _SLACKS if math.erfc(slack / math.sqrt(2)) * 50 <= miss), _SLACKS[-1])


def not_zero(groups: TermGroups) -> float:
    """An upper bound of P(some G_i is not 0), which is at least P(|S| > r) for every r >= 0."""
    alphas = np.exp(-np.minimum(groups.epsilons, _LARGEST_EPSILON))
    log_zero = groups.counts * np.log1p(-2 * alphas / (1 + alphas)) * (1 + groups.slack * 4 * _UNIT)
    return min(1.0, -math.expm1(float(log_zero.sum()) * (1 + 1e-12)) * (1 + 1e-12))
