"""Transitions between levels for Laplace noise on the reals: tighten, relax, bridge."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.levels import Level
from utmost.core.gradual.quantities import plain
from utmost.core.gradual.steps import Pieces
from utmost.errors import NotANumber, OutOfRange


@dataclass(frozen=True, slots=True)
class LaplaceTightening:
    r"""The distribution of W in V_lower = V_higher + W for Laplace noise of rates e_1 <= e_2.

    .. math:: W = 0 \text{ with probability } (e_1/e_2)^2, \quad\text{else density } \tfrac{e_1}{2} e^{-e_1|x|}.

    Args:
        lower, higher: The two levels, which may be equal.

    Raises:
        OutOfRange: if the epsilon of ``lower`` is larger than that of ``higher``.

    Source: [koufogiannis2015], equation (28).

    >>> from utmost.exact import level
    >>> W = LaplaceTightening(lower=level(epsilon=1), higher=level(epsilon=2))
    >>> W.stay, W.density(0.0), W.cdf(0)
    (Fraction(1, 4), 0.375, 0.625)
    """

    lower: Level
    higher: Level

    def __post_init__(self) -> None:
        instance(self.lower, Level, "lower")
        instance(self.higher, Level, "higher")
        if self.higher < self.lower:
            raise OutOfRange(
                f"to tighten, the new epsilon must be at most the present one, {self.higher}", came=self.lower
            )

    @property
    def stay(self) -> Fraction | float:
        """P(W = 0) = (e_1/e_2)^2, the squared correlation of V_lower and V_higher."""
        return _ratio(self.lower, self.higher) ** 2

    def density(self, x: ArrayLike) -> Any:
        """The density of W for W != 0. (W = 0 has the probability `stay`.)"""
        e = self.lower.epsilon_float
        return plain((1 - float(self.stay)) * e / 2 * np.exp(-e * np.abs(_reals(x))))

    def cdf(self, x: ArrayLike) -> Any:
        """P(W <= x)."""
        points, e = _reals(x), self.lower.epsilon_float
        tail = (1 - float(self.stay)) / 2 * np.exp(-e * np.abs(points))
        return plain(np.where(points >= 0, 1 - tail, tail))

    def characteristic(self, t: ArrayLike) -> Any:
        """E[exp(itW)] = e_1^2 (e_2^2 + t^2) / (e_2^2 (e_1^2 + t^2)), real since W is symmetric."""
        squared, e = _reals(t) ** 2, self.lower.epsilon_float
        return plain(float(self.stay) + (1 - float(self.stay)) * e**2 / (e**2 + squared))

    @property
    def mean_absolute(self) -> float:
        """E|W| = (1 - (e_1/e_2)^2)/e_1."""
        return (1 - float(self.stay)) / self.lower.epsilon_float


@dataclass(frozen=True, slots=True)
class LaplaceRelaxing:
    r"""The distribution of V_higher given V_lower = x, for Laplace noise of epsilons e_1 < e_2 per unit.

    With m = |x|, s the sign of x (+1 at 0) and E = exp(-(e_2 - e_1) m):

    ========  ==================================  =================================================
    stay      (e_1/e_2) E                         V_higher = x
    across    (e_2 - e_1)/(2 e_2)                 V_higher = -s Exp(e_1 + e_2)
    inward    (e_1 + e_2)/(2 e_2) (1 - E)         V_higher = s Exp(e_2 - e_1), conditioned to [0, m]
    outward   (e_2 - e_1)/(2 e_2) E               V_higher = s (m + Exp(e_1 + e_2))
    ========  ==================================  =================================================

    Args:
        lower, higher: The two levels.

    Raises:
        OutOfRange: if the epsilon of ``higher`` is not larger than that of ``lower``.

    Source: [koufogiannis2015], equation (25) and Algorithm 1.

    >>> from utmost.exact import level
    >>> R = LaplaceRelaxing(lower=level(epsilon=1), higher=level(epsilon=2))
    >>> R.pieces(0.0), R.density(0.0, 0.0)
    (Pieces(stay=0.5, across=0.25, inward=0.0, outward=0.25), 0.75)
    """

    lower: Level
    higher: Level

    def __post_init__(self) -> None:
        instance(self.lower, Level, "lower")
        instance(self.higher, Level, "higher")
        if not self.lower < self.higher:
            raise OutOfRange(
                f"to relax, the new epsilon must be larger than the present one, {self.lower}", came=self.higher
            )

    def pieces(self, x: ArrayLike) -> Pieces:
        """Probabilities of the four cases in the table of `LaplaceRelaxing`, given V_lower = x."""
        size, ratio, gap = np.abs(_reals(x)), float(_ratio(self.lower, self.higher)), self._gap
        half = gap / (2 * self.higher.epsilon_float)
        balls = np.exp(-gap * size)
        # 1 - E by expm1, since E is nearly 1 for levels near each other.
        rows = (ratio * balls, half + 0 * balls, (1 + ratio) / 2 * -np.expm1(-gap * size), half * balls)
        return Pieces(*map(plain, rows))

    def density(self, y: ArrayLike, x: ArrayLike) -> Any:
        """The density of V_higher given V_lower = x, for V_higher != x. (V_higher = x has the probability `stay`.)"""
        end, start = np.broadcast_arrays(_reals(y), _reals(x))
        e1, e2 = self.lower.epsilon_float, self.higher.epsilon_float
        height = self._gap * (1 + float(_ratio(self.lower, self.higher))) / 2
        return plain(height * np.exp(e1 * (np.abs(start) - np.abs(end - start)) - e2 * np.abs(end)))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Any:
        """P(V_higher <= y | V_lower = x)."""
        end, start = np.broadcast_arrays(_reals(y), _reals(x))
        y, m = np.where(start < 0, -end, end), np.abs(start)
        gap, total = self._gap, self.lower.epsilon_float + self.higher.epsilon_float
        stay, across, _, outward = self.pieces(m)
        inside = total / (2 * self.higher.epsilon_float) * -np.expm1(-gap * np.clip(y, 0, m))
        # A negative x is mirrored, which turns "at most" into "less than", so that the atom at x does not count.
        past = (y > m) | ((start >= 0) & (y == m))
        beyond = np.where(y > m, -np.expm1(-total * np.maximum(y - m, 0)), 0.0) * outward
        behind = across * np.exp(total * np.minimum(y, 0))
        up = np.asarray(behind + inside + np.where(past, stay, 0.0) + beyond)
        return plain(np.where(start < 0, 1 - up, up))

    def mean(self, x: ArrayLike) -> Any:
        """E[V_higher | V_lower = x]."""
        start = _reals(x)
        size, sign, gap = np.abs(start), np.where(start < 0, -1.0, 1.0), self._gap
        stay, across, _, outward = self.pieces(start)
        total = self.lower.epsilon_float + self.higher.epsilon_float
        balls = np.exp(-gap * size)
        inside = total / (2 * self.higher.epsilon_float) * (-np.expm1(-gap * size) / gap - size * balls)
        return plain(sign * (inside - across / total + (stay + outward) * size + outward / total))

    @property
    def _gap(self) -> float:
        # Cancellation: the precision grows until the difference has 64 bits.
        bits = 256
        while (gap := self.higher.epsilon_interval(bits) - self.lower.epsilon_interval(bits)).low >> 64 == 0:
            bits *= 2
        return float((gap.lower + gap.upper) / 2)


@dataclass(frozen=True, slots=True)
class LaplaceBridge:
    r"""The distribution of K = V_middle - V_higher given V_lower - V_higher = w, for Laplace rates e_1 < e < e_2.

    K = 0 with probability h = (e^2 - e_1^2)/(e_2^2 - e_1^2). With probability 1 - h, K is distributed as the noise at
    ``middle``, relaxed from the noise w at ``lower``. At w = 0 all three responses are equal, and K = 0.

    Args:
        lower, middle, higher: Levels per unit, strictly increasing in epsilon.

    Raises:
        OutOfRange: if ``middle`` is not strictly between ``lower`` and ``higher``.

    Source: [koufogiannis2015], Theorem 12, with equation (28) applied twice.

    >>> from utmost.exact import level
    >>> B = LaplaceBridge(lower=level(1), middle=level(2), higher=level(3))
    >>> B.home, B.stay(0.5), B.cdf(0.5, 0.5)
    (0.375, 0.189540..., 0.905229...)
    """

    lower: Level
    middle: Level
    higher: Level

    def __post_init__(self) -> None:
        instance(self.lower, Level, "lower")
        instance(self.higher, Level, "higher")
        instance(self.middle, Level, "middle")
        if not self.lower < self.middle < self.higher:
            raise OutOfRange(
                f"the level of a bridge must lie strictly between {self.lower} and {self.higher}", came=self.middle
            )

    @property
    def home(self) -> float:
        """h, the probability of K = 0 given a w other than 0."""
        near, far = (1 - float(_ratio(self.lower, other)) ** 2 for other in (self.middle, self.higher))
        return float(_ratio(self.middle, self.higher)) ** 2 * near / far

    def stay(self, w: ArrayLike) -> Any:
        """P(K = w), the probability that the responses at ``middle`` and ``lower`` are equal; 1 for w = 0."""
        gap = _reals(w)
        return plain(np.where(gap == 0, 1.0, (1 - self.home) * self._relaxing.pieces(gap).stay))

    def density(self, k: ArrayLike, w: ArrayLike) -> Any:
        """The density of K given w, for K other than 0 and w; 0 for w = 0."""
        end, gap = np.broadcast_arrays(_reals(k), _reals(w))
        return plain(np.where(gap == 0, 0.0, (1 - self.home) * self._relaxing.density(end, gap)))

    def cdf(self, k: ArrayLike, w: ArrayLike) -> Any:
        """P(K <= k | W = w)."""
        end, gap = np.broadcast_arrays(_reals(k), _reals(w))
        passed = (end >= 0).astype(np.float64)
        moved = self.home * passed + (1 - self.home) * self._relaxing.cdf(end, gap)
        return plain(np.where(gap == 0, passed, moved))

    @property
    def _relaxing(self) -> LaplaceRelaxing:
        return LaplaceRelaxing(self.lower, self.middle)


def laplace_jump_intensity(level: Level) -> Fraction | float:
    """2/epsilon, the expected number of jumps of the Laplace process per unit of epsilon, as epsilon decreases.

    A jump at epsilon has density (epsilon/2) exp(-epsilon |x|).
    """
    instance(level, Level, "level")
    return 2 / level.epsilon if isinstance(level.epsilon, Fraction) else 2 / level.epsilon_float


def laplace_expected_jumps(lower: Level, higher: Level) -> float:
    """2 ln(e_2/e_1), the mean of the Poisson number of jumps between two levels. P(no jump) = (e_1/e_2)^2.

    >>> from utmost.exact import level
    >>> laplace_expected_jumps(level(epsilon=1), level(epsilon=3))
    2.1972245773362196
    """
    instance(lower, Level, "lower")
    instance(higher, Level, "higher")
    if higher < lower:
        required = f"the first epsilon must be at most the second, {higher}"
        raise OutOfRange(required, came=lower, remedy="Swap the levels.")
    return float(2 * np.log(float(_ratio(higher, lower))))


def laplace_correlation(first: Level, second: Level) -> Fraction | float:
    """Pearson's correlation e_1/e_2 of the Laplace noise at two levels e_1 <= e_2; exact if the quotient is rational.

    Source: [koufogiannis2015], after Theorem 1.

    >>> from utmost.exact import level
    >>> laplace_correlation(level(epsilon=1), level(epsilon=3))
    Fraction(1, 3)
    """
    instance(first, Level, "first")
    instance(second, Level, "second")
    return _ratio(min(first, second), max(first, second))


def _ratio(first: Level, second: Level) -> Fraction | float:
    """The quotient of two epsilons, rational if both levels have the same base."""
    if first.base == second.base:
        return first.power / second.power
    return first.epsilon_float / second.epsilon_float


def _reals(x: ArrayLike) -> NDArray[np.float64]:
    points = np.asarray(x)
    if points.dtype.kind not in "iuf" or np.isnan(points).any():
        raise NotANumber("points must be numbers", came=x)
    return points.astype(np.float64)
