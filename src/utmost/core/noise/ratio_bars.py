"""Intervals for ratios U/V of two noisy sums that may share noise: Fieller's set with exact noise distributions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, read_confidence
from utmost.core.noise.combination import Combination
from utmost.core.noise.distribution import distribution_level
from utmost.core.noise.inversion import Chernoff, Smoothed, TermGroups, not_zero
from utmost.errors import OutOfRange

# The ends of an interval are computed to within 1/_STEPS of their distance from the estimate.
_STEPS = 1 << 14
_FARTHEST = 120
# Number of printed digits of an end, which is rounded outward.
_SHOWN = 4
_PLAIN = 16  # an end of more digits is printed with an exponent
_HARDLY = Fraction(1, 1 << 50)
# An end is first searched with estimates from _GUESSING frequencies and _SLOPES slopes. The point _PADS steps farther
# out is then checked by a proof.
_GUESSING, _SLOPES, _PADS = 1 << 10, 24, (0, 16, 64, 256)
# With at least this number of noise terms, the estimated end is usually the proved one.
_MANY = 16
_ALIKE = 2.0**44


@dataclass(frozen=True, slots=True)
class RatioBar(Display):
    """An interval that contains the true ratio of two sums with probability ``confidence`` or more.

    Attributes:
        estimate: Noisy numerator over noisy denominator, or None if the noisy denominator is 0.
        lower: Lower end, rounded down; -infinity if the ratio is not determined.
        upper: Upper end, rounded up; infinity if the ratio is not determined.
        confidence: Probability, before the noise is drawn, that the interval contains the true ratio.
    """

    estimate: float | None
    lower: float
    upper: float
    confidence: Fraction

    @property
    def determined(self) -> bool:
        """Whether both ends are finite, as they are if the noisy denominator is far enough from 0."""
        return math.isfinite(self.lower) and math.isfinite(self.upper)

    @property
    def interval(self) -> tuple[float, float]:
        """The pair (lower, upper), under the name that other results use.

        >>> bar = fieller(17, 25, u=[1, 0], v=[1, 1], levels=1)
        >>> bar.interval == (bar.lower, bar.upper)
        True
        """
        return self.lower, self.upper

    def between(self, low: Fraction, high: Fraction) -> "RatioBar":
        """Cut the interval to [low, high], if the true ratio is known to lie there. The confidence stays the same.

        If the whole interval lies outside [low, high], the ratio is not determined.

        >>> bar = fieller(17, 25, u=[1, 0], v=[1, 1], levels=1).between(Fraction(0), Fraction(3, 4))
        >>> bar.upper, bar.between(Fraction(2), Fraction(3)).determined
        (0.75, False)
        """
        lower, upper = max(self.lower, round_down(low)), min(self.upper, round_up(high))
        if not self.determined or self.estimate is None or lower > upper:
            return self.undetermined(self.confidence)
        return RatioBar(min(max(self.estimate, lower), upper), lower, upper, self.confidence)

    @classmethod
    def undetermined(cls, confidence: Fraction) -> "RatioBar":
        """The interval from minus infinity to infinity, for a ratio that is not determined."""
        return cls(None, -math.inf, math.inf, confidence)

    def __str__(self) -> str:
        if not self.determined:
            return "not determined"
        below, above = (Context(prec=_SHOWN, rounding=mode) for mode in (ROUND_FLOOR, ROUND_CEILING))
        ends = below.create_decimal(self.lower), above.create_decimal(self.upper)
        low, high = (f"{end:f}" if end.is_zero() or -_PLAIN < end.adjusted() < _PLAIN else str(end) for end in ends)
        return f"{low} to {high}"


def ratio_of_margins(top: Fraction, up: Fraction, bottom: Fraction, down: Fraction, confidence: Fraction) -> RatioBar:
    """The interval of all quotients x/y with |x - top| <= up and |y - bottom| <= down; not determined if y may be 0.

    >>> ratio_of_margins(Fraction(8), Fraction(1), Fraction(4), Fraction(1), Fraction(9, 10)).upper
    3.0
    """
    estimate = round_up(top / bottom) if bottom else None
    if abs(bottom) <= down:  # the noise may be larger than the denominator: the ratio is not determined
        return RatioBar(estimate, -math.inf, math.inf, confidence)
    corners = [(top + x * up) / (bottom + y * down) for x in (-1, 1) for y in (-1, 1)]
    return RatioBar(estimate, round_down(min(corners)), round_up(max(corners)), confidence)


def fieller(
    numerator: Number,
    denominator: Number,
    u: Sequence[Number] | Any,
    v: Sequence[Number] | Any,
    levels: Number | Level | Sequence[Number | Level] | Any,
    *,
    counts: int | Sequence[int] | Any = 1,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> RatioBar:
    r"""An interval that contains the true ratio with probability ``confidence`` or more, for any true sums.

    The noisy sums are U = U0 + sum u_i G_i and V = V0 + sum v_i G_i. For the true ratio rho = U0/V0, the difference
    U - rho V is the noise sum (u_i - rho v_i) G_i. So the set {rho: |U - rho V| <= the margin of that noise} contains
    the true ratio with the confidence of the margin. The returned interval contains this set. Let eta be at least
    P(|sum v_i G_i| >= |V|). A point b above the estimate with P(|noise of U - b V| > |U - b V|) <= 1 - confidence - eta
    proves that *every* point beyond b is outside the set. Likewise, a point b below the estimate that satisfies this
    inequality proves that every point below b is outside. If eta is above (1 - confidence)/2, the ratio is not
    determined.

    Args:
        numerator, denominator: Noisy sums U and V.
        u, v: Coefficients of each noise term in U and in V, two lists of the same length; 0 if a sum does not contain
            the term.
        levels, counts: Levels and counts of the noise terms, as for `Combination`.
        confidence: Number strictly between 0 and 1.

    Returns:
        The interval, which is not cut to [0, 1], even for a share; see `RatioBar.between`.

    Raises:
        NotANumber, NotALevel, OutOfRange, WrongKind: if an argument is invalid, or if lists have different lengths.

    Cost: 0.05 s, about as much as the margins of four sums. The interval is wider than necessary by about 1/1 000 of
        its width at each end, and for few noise terms by up to 1/100.
    Source: [fieller1954], with the distributions of proofs/theory/error-bars.md in place of the normal distribution.

    >>> bar = fieller(17, 25, u=[1, 0], v=[1, 1], levels=1)
    >>> bar.determined, 0.595 < bar.lower < 0.605, 0.77 < bar.upper < 0.78
    (True, True, True)
    >>> print(fieller(1, 2, u=[1, 0], v=[1, 1], levels=1))
    not determined
    """
    return FiellerSet.of(numerator, denominator, u, v, levels, counts, confidence).bar()


@dataclass(frozen=True, eq=False, repr=False)
class FiellerSet:
    """The set of ratios that two noisy sums do not reject."""

    top: Fraction  # noisy sum U
    bottom: Fraction  # noisy sum V
    noises: "_Noises"  # noise terms of both sums
    miss: Fraction  # largest probability that the true ratio is not in the set

    @classmethod
    def of(
        cls, numerator: Number, denominator: Number, u: Any, v: Any, levels: Any, counts: Any, confidence: Number
    ) -> "FiellerSet":
        sums = exact(numerator, "numerator"), exact(denominator, "denominator")
        return cls(*sums, _Noises.of(u, v, levels, counts), 1 - read_confidence(confidence))

    @cached_property
    def estimate(self) -> Fraction | None:
        return self.top / self.bottom if self.bottom else None

    @cached_property
    def _allowed_miss(self) -> Fraction | None:
        """1 - confidence - eta, the largest allowed P(|noise of U - rho V| > margin), or None if the ratio is not
        determined.
        """
        # P(|S| > a number slightly below x) is at least P(|S| >= x).
        x = abs(self.bottom)
        lost = Fraction(self.noises.of_ratio(None).tail(x - x / (1 << 60) if x else Fraction(-1)))
        return None if self.estimate is None or 2 * lost > self.miss else self.miss - lost

    def is_beyond(self, ratio: Fraction) -> bool:
        """Whether this ratio, and every ratio farther from the estimate on the same side, is proved to be outside the
        set.
        """
        return self._allowed_miss is not None and self.noises.of_ratio(ratio).rejects(
            self.top - ratio * self.bottom, self._allowed_miss
        )

    def bar(self) -> RatioBar:
        near = math.inf if self.estimate is None else round_up(self.estimate)
        shown, sure = near if math.isfinite(near) else None, 1 - self.miss
        lower, upper = (self.end(side) for side in (-1, 1))
        if lower is None or upper is None:
            return RatioBar(shown, -math.inf, math.inf, sure)
        return RatioBar(shown, round_down(lower), round_up(upper), sure)

    def end(self, side: int) -> Fraction | None:
        """A point below (``side`` -1) or above (``side`` 1) the estimate, outside the set and close to its end; None
        without a proof.
        """
        # The search uses estimates, and then a proof confirms the point found. If the proof fails there, it is tried a
        # few steps farther out. If all these proofs fail, the search is repeated with a proof at each point.
        if self._allowed_miss is None or self.estimate is None:
            return None
        width, chance = side * self._width, round_down(self._allowed_miss)

        def depth(ratio: Fraction) -> float:
            """Return the estimated distance of a ratio from the end of the set. The distance is positive for ratios
            inside the set, and nearly linear in the ratio for nearly normal noise.
            """
            guess = self.noises.guess(ratio, float(abs(self.top - ratio * self.bottom)), chance)
            # An estimate that underflows is replaced by the least positive float.
            return math.sqrt(-math.log(chance)) - math.sqrt(-math.log(min(1.0, max(guess, 5e-324))))

        single = len(self.noises.u) == 1  # one term: its exact tail is computed as fast as an estimate
        before, guessed = (self.estimate, None) if single else _nearest(depth, self.estimate, width)
        if guessed is not None:
            step = guessed - before
            for pad in _PADS if self.noises.are_many else _PADS[1:]:
                if self.is_beyond(guessed + pad * step):
                    return guessed + pad * step
        return _nearest(lambda ratio: -1 if self.is_beyond(ratio) else 1, self.estimate, width)[1]

    @cached_property
    def _width(self) -> Fraction:
        """The approximate distance of the ends from the estimate."""
        assert self.estimate is not None, "determined"
        near = self.noises.of_ratio(_dyadic(self.estimate)).quick_margin(self.miss)
        # A width of 0 means that the noise is almost certainly 0.
        return _dyadic(Fraction(near) / abs(self.bottom)) or max(_dyadic(abs(self.estimate)), Fraction(1)) * _HARDLY


@dataclass(frozen=True, eq=False)
class _Noises:
    """The noise terms of two sums."""

    u: list[Fraction]
    v: list[Fraction]
    levels: Any
    counts: Any

    @classmethod
    def of(cls, u: Any, v: Any, levels: Any, counts: Any) -> "_Noises":
        of_top, of_bottom = Combination.signed(u), Combination.signed(v)
        if len(of_top) != len(of_bottom):
            raise OutOfRange(
                "u and v must have one coefficient for each noise term",
                came=f"{len(of_top)} and {len(of_bottom)}",
                where="fieller",
            )
        return cls(of_top, of_bottom, levels, counts)

    def of_ratio(self, ratio: Fraction | None) -> Combination:
        """Return the noise of U - ratio V; of V alone if ``ratio`` is None."""
        if ratio is None:
            return Combination(self.v, self.levels, self.counts)
        return Combination([a - ratio * b for a, b in zip(self.u, self.v, strict=True)], self.levels, self.counts)

    @cached_property
    def are_many(self) -> bool:
        """Whether there are so many noise terms that an estimated end is usually right. With few terms the tail has
        jumps.
        """
        return len(self.u) >= _MANY

    @cached_property
    def _floats(self) -> tuple[Floats, ...]:
        """Return u, v, epsilon and count of each group of equal noise terms, as floats."""
        size = len(self.u)
        levels = self.levels if np.ndim(self.levels) else [self.levels]
        epsilons = [distribution_level(of, None, "fieller").epsilon_float for of in levels]
        counts = np.broadcast_to(np.asarray(self.counts, dtype=np.float64), size)
        columns = np.array([self.u, self.v, np.broadcast_to(epsilons, size)], dtype=np.float64)
        alike, group = np.unique(columns, axis=1, return_inverse=True)
        return *alike, np.bincount(group, counts).astype(np.float64)

    def guess(self, ratio: Fraction, margin: float, miss: float) -> float:
        """An estimate of P(|noise of U - ratio V| > margin), as in `Combination` with a thousand frequencies."""
        u, v, epsilons, counts = self._floats
        sizes = np.abs(u - float(ratio) * v)
        unit = float(sizes.max(initial=0.0))
        if not unit:
            return 0.0
        # Coefficients that differ only by rounding form one group: the accuracy depends on the number of groups.
        # Pairs of a size and a level are complex numbers here, which NumPy sorts ten times as fast as two columns.
        alike, group = np.unique(np.rint(sizes / unit * _ALIKE) + 1j * epsilons, return_inverse=True)
        whole, levels = alike.real, alike.imag
        there, many = whole > 0, np.bincount(group, counts).astype(np.float64)
        groups = TermGroups(whole[there] / _ALIKE, levels[there], many[there], None)
        if (hardly := not_zero(groups)) <= miss:
            return hardly
        return Smoothed.of(groups, Chernoff.of(groups, _SLOPES), _GUESSING).exceeded(margin / unit, miss)


def _nearest(
    depth: Callable[[Fraction], float], estimate: Fraction, width: Fraction
) -> tuple[Fraction, Fraction | None]:
    """Return two neighbouring points, the first with depth > 0 and the second with depth <= 0."""
    # The next point is the zero of the line through both ends. If an end stays the same twice, its value is halved
    # (Illinois rule).
    far, inner, outer = 1, 1.0, depth(estimate + width)
    while outer > 0:
        if far >> _FARTHEST:
            return estimate, None
        far, inner = 2 * far, outer
        outer = depth(estimate + far * width)
    # After a doubling, the first half of the width is known to be inside the set.
    step, low, high, moved = far * width / _STEPS, 0 if far == 1 else _STEPS // 2, _STEPS, 0
    while high - low > 1:
        middle = low + round((high - low) * inner / (inner - outer))
        middle = min(max(middle, low + 1), high - 1)
        value = depth(estimate + middle * step)
        if value > 0:
            low, inner, outer, moved = middle, value, outer / (2 if moved > 0 else 1), 1
        else:
            high, outer, inner, moved = middle, value, inner / (2 if moved < 0 else 1), -1
    return estimate + low * step, estimate + high * step


def _dyadic(x: Fraction) -> Fraction:
    """A rational near x whose denominator is a power of two."""
    scale = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 30)
    return round(x / scale) * scale if x else x
