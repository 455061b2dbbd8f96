"""Transitions between levels on the integers: tighten, bridge, relax."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.gradual.quantities import NumberKind, Quantity, plain
from utmost.errors import OutOfRange


@dataclass(frozen=True, slots=True)
class Tightening:
    r"""The distribution of W in V_lower = V_higher + W, with W independent of V_higher.

    V_lower and V_higher are two-sided geometric noise. With a and b their alphas, b <= a,

    .. math:: W = 0 \text{ with probability } w = \frac{b}{a}\Big(\frac{1-a}{1-b}\Big)^2,
        \quad\text{else } P(k) = \frac{1-a}{1+a}\, a^{|k|}.

    Adding W needs no data: anyone who holds a response can compute one at a smaller epsilon.

    Args:
        lower: Level with the smaller epsilon, per unit.
        higher: Level with the larger epsilon, per unit, or None for epsilon = infinity, where V_higher = 0 and W =
            V_lower.

    Raises:
        OutOfRange: if the epsilon of ``lower`` is larger than that of ``higher``.

    Source: [koufogiannis2015], equation (28), on the integers.

    >>> from utmost.exact import level
    >>> W = Tightening(lower=level(alpha="1/2"), higher=level(alpha="1/4"))
    >>> W.stay.number, W.pmf(0), W.pmf(2)
    (Fraction(2, 9), Fraction(13, 27), Fraction(7, 108))
    """

    lower: Level
    higher: Level | None

    def __post_init__(self) -> None:
        if self.higher is not None and self.higher < self.lower:
            raise OutOfRange(
                f"to tighten, the new epsilon must be at most the present one, {self.higher}",
                came=self.lower,
                remedy="Swap the levels, or relax instead.",
            )

    @property
    def stay(self) -> Quantity:
        """w, the squared correlation of V_lower and V_higher. (P(W = 0) is larger: see `pmf`.)"""
        return Quantity(staying, (self.higher, self.lower))

    @property
    def change(self) -> Quantity:
        """1 - w, without cancellation."""
        return Quantity(changing, (self.higher, self.lower))

    def pmf(self, k: ArrayLike) -> Any:
        """P(W = k) for integers k: Fractions for rational alphas, floats for arrays of numbers."""
        kind, (steps,) = NumberKind.of((self.higher, self.lower), k)
        spread = Quantity(lambda b, a: changing(b, a) * (1 - a) / (1 + a), (self.higher, self.lower))
        smooth = kind.number(spread) * kind.powers(self.lower, np.abs(steps))
        return plain(smooth + kind.where(steps == 0, kind.number(self.stay)))

    def ccdf(self, k: ArrayLike) -> Any:
        """P(W > k), for integers k."""
        kind, (steps,) = NumberKind.of((self.higher, self.lower), k)
        return plain(self._above(kind, steps))

    def cdf(self, k: ArrayLike) -> Any:
        """P(W <= k), for integers k."""
        kind, (steps,) = NumberKind.of((self.higher, self.lower), k)
        return plain(self._above(kind, -1 - steps))

    def _above(self, kind: NumberKind, steps: Any) -> Any:
        # By symmetry the tail on the side of k is computed: no small number is then a difference of large ones.
        tail = kind.number(Quantity(lambda b, a: changing(b, a) / (1 + a), (self.higher, self.lower)))
        above = tail * kind.powers(self.lower, np.where(steps >= 0, steps + 1, -steps))
        return np.where(steps >= 0, above, 1 - above)

    @property
    def mean_absolute(self) -> Fraction | float:
        """E|W|, the expected change of the response."""
        return Quantity(lambda b, a: changing(b, a) * 2 * a / (1 - a * a), (self.higher, self.lower)).number

    @property
    def variance(self) -> Fraction | float:
        """E[W^2]."""
        return Quantity(lambda b, a: changing(b, a) * 2 * a / (1 - a) ** 2, (self.higher, self.lower)).number


def staying(b: Any, a: Any) -> Any:
    """w = (b/a) ((1-a)/(1-b))^2 for alphas b <= a."""
    return b / a * ((1 - a) / (1 - b)) ** 2


def changing(b: Any, a: Any) -> Any:
    """1 - w = (1-ab)(a-b) / (a (1-b)^2) for alphas b <= a, without cancellation."""
    return (1 - a * b) * (a - b) / (a * (1 - b) ** 2)


@dataclass(frozen=True, slots=True)
class Bridge:
    r"""The distribution of K = V_middle - V_higher given W = V_lower - V_higher. K and W are independent of V_higher.

    With a > m > b the alphas of lower, middle and higher, W' the tightening noise from higher to middle, and W'' the
    tightening noise from middle to lower, P(K = k | W = w) = P(W' = k) P(W'' = w - k) / P(W = w). For w != 0 the
    distribution of K is a mixture. With s the sign of w, J ~ Geom(am) and G ~ Geom(m/a):

    ========  =================================================  ==============================================
    home      (b/m) (1-am)(a-m) / ((1-ab)(a-b))                  K = 0
    across    a (1-mb)(m-b)(a-m) / ((1-m^2)(1-ab)(a-b))          K = -s (1 + J)
    stay      rest * m (1-a^2) / (a (1-am))                      K = s G if G < abs(w), else w
    leap      rest * (a-m) / (a (1-am))                          K = s G if G < abs(w), else w + s J
    ========  =================================================  ==============================================

    where rest = a (1-mb)(m-b)(1-am) / (m (1-m^2)(1-ab)(a-b)). At w = 0 (with s = +1), K = 0 with
    probability w_0/(w_0 + t), and else K has the mixture; w_0 is `Tightening.stay`, and t = (1-w_0)(1-a)/(1+a).

    With ``higher`` None (epsilon = infinity, no noise) the distribution is that of `Relaxing`: K = V_middle and W =
    V_lower.

    Args:
        lower, middle, higher: Levels per unit, strictly increasing in epsilon; ``higher`` may be None.

    Raises:
        OutOfRange: if ``middle`` is not strictly between ``lower`` and ``higher``.

    Source: [koufogiannis2015], Theorem 12 and Algorithm 1, on the integers.

    >>> from utmost.exact import level
    >>> B = Bridge(lower=level(alpha="1/2"), middle=level(alpha="1/3"), higher=level(alpha="1/4"))
    >>> B.pmf(0, 2), B.pmf(1, 2), B.pmf(2, 2)
    (Fraction(215, 336), Fraction(55, 504), Fraction(11, 54))
    """

    lower: Level
    middle: Level
    higher: Level | None

    def __post_init__(self) -> None:
        if not (self.lower < self.middle and (self.higher is None or self.middle < self.higher)):
            between = f"{self.lower} and {'infinity' if self.higher is None else self.higher}"
            raise OutOfRange(
                f"the level of a bridge must lie strictly between {between}",
                came=self.middle,
                remedy="Pass a level between these two.",
            )

    @property
    def home(self) -> Quantity:
        """Probability of the first row of the table in `Bridge`: K = 0."""
        return self._quantity(lambda a, m, b: _quotient(b, m) * (1 - a * m) * (a - m) / ((1 - a * b) * (a - b)))

    @property
    def across(self) -> Quantity:
        """Probability of the second row of the table in `Bridge`: K and W lie on opposite sides of 0."""
        return self._quantity(
            lambda a, m, b: a * (1 - m * b) * (m - b) * (a - m) / ((1 - m * m) * (1 - a * b) * (a - b))
        )

    @property
    def stay(self) -> Quantity:
        """Probability of the third row of the table in `Bridge`."""
        return self._quantity(lambda a, m, b: _rest(a, m, b) * m * (1 - a * a) / (a * (1 - a * m)))

    @property
    def leap(self) -> Quantity:
        """Probability of the fourth row of the table in `Bridge`."""
        return self._quantity(lambda a, m, b: _rest(a, m, b) * (a - m) / (a * (1 - a * m)))

    @property
    def idle(self) -> Quantity:
        """Probability w_0/(w_0 + t) of K = 0 without the mixture, when W = 0."""
        return self._quantity(lambda a, m, b: _quotient(b, a) * (1 - a * a) / (1 - 2 * a * b + b * b))

    @property
    def moves(self) -> Quantity:
        """1 - idle, without cancellation."""
        return self._quantity(lambda a, m, b: (1 - a * b) * (1 - _quotient(b, a)) / (1 - 2 * a * b + b * b))

    @property
    def fall(self) -> Quantity:
        """m/a, the ratio of the geometric distribution of G."""
        return self._quantity(lambda a, m, b: m / a)

    @property
    def rise(self) -> Quantity:
        """am, the ratio of the geometric distribution of J."""
        return self._quantity(lambda a, m, b: a * m)

    def pmf(self, k: ArrayLike, w: ArrayLike) -> Any:
        """P(K = k | W = w), for integers that broadcast: Fractions for rational alphas, or floats."""
        kind, (end, gap) = NumberKind.of((self.lower, self.middle, self.higher), k, w)
        ahead, size = end * np.where(gap < 0, -1, 1), np.abs(gap)
        # Each step between 0 and w on the way to K has the ratio m/a, and every other step am.
        inward = np.clip(ahead, 0, size)
        smooth = self._quantity(lambda a, m, b: _rest(a, m, b) * (a - m) / a)
        density = kind.powers(self.fall, inward) * kind.powers(self.rise, np.abs(ahead - inward))
        density = kind.number(smooth) * density + kind.where(ahead == 0, kind.number(self.home))
        density = density + kind.where(ahead == size, kind.number(self.stay)) * kind.powers(self.fall, size)
        # At w = 0, K is 0 with probability `idle`, and else has the distribution of the mixture.
        idle = kind.where((size == 0) & (ahead == 0), kind.number(self.idle))
        moves = kind.where(size == 0, kind.number(self.moves)) + (size != 0)
        return plain(moves * density + idle)

    def _quantity(self, formula: Callable[[Any, Any, Any], Any]) -> Quantity:
        return Quantity(formula, (self.lower, self.middle, self.higher))


def _rest(a: Any, m: Any, b: Any) -> Any:
    return a * (1 - m * b) * (1 - _quotient(b, m)) * (1 - a * m) / ((1 - m * m) * (1 - a * b) * (a - b))


def _quotient(b: Any, m: Any) -> Any:
    """Return b / m; 0 without a division if b = 0, since an interval around m = e^-10000 may contain 0."""
    is_zero = b.low == b.high == 0 if isinstance(b, Interval) else b == 0
    return b if is_zero else b / m


class Pieces(NamedTuple):
    """Probabilities of the four rows of the table in `Relaxing`: Fractions or floats, or arrays of either."""

    stay: Any
    across: Any
    inward: Any
    outward: Any


@dataclass(frozen=True, slots=True)
class Relaxing:
    r"""The distribution of V_higher given V_lower = x, where V_lower = V_higher + W with the W of `Tightening`.

    With a the alpha of ``lower``, b the alpha of ``higher`` (b < a), m = |x|, s the sign of x (+1 at 0), rho = b/a,
    d = a(1-b^2):

    ========  ===============================  ===========================================
    stay      b(1-a^2)/d rho^m                 V_higher = x
    across    ab(a-b)/d                        V_higher = -s(1 + Geom(ab))
    inward    a(1-ab)(1-rho^m)/d               V_higher = sk, k in 0..m-1, with P(k) ~ rho^k
    outward   (a-b)/d rho^m                    V_higher = s(m + Geom(ab))
    ========  ===============================  ===========================================

    so P(V_higher = y) = stay [y = x] + (1-ab)(a-b)/d b^{|y|} a^{|x-y|-|x|}.

    Args:
        lower, higher: The two levels, per unit.

    Raises:
        OutOfRange: if the epsilon of ``higher`` is not larger than that of ``lower``.

    Source: [koufogiannis2015], equation (25) and Algorithm 1, on the integers (where sgn(0) must be +1).

    >>> from utmost.exact import level
    >>> R = Relaxing(lower=level(alpha="1/2"), higher=level(alpha="1/4"))
    >>> R.pieces(1)
    Pieces(stay=Fraction(1, 5), across=Fraction(1, 15), inward=Fraction(7, 15), outward=Fraction(4, 15))
    >>> R.pmf(-1, 1), R.pmf(0, 1), R.pmf(1, 1)
    (Fraction(7, 120), Fraction(7, 15), Fraction(13, 30))
    """

    lower: Level
    higher: Level

    def __post_init__(self) -> None:
        if not self.lower < self.higher:
            raise OutOfRange(
                f"to relax, the new epsilon must be larger than the present one, {self.lower}",
                came=self.higher,
                remedy="Swap the levels, or tighten instead.",
            )

    def pieces(self, x: ArrayLike) -> Pieces:
        """Probabilities of the four rows of the table in `Relaxing`, given V_lower = x, for integers x."""
        kind, (start,) = self._number_kind(x)
        return Pieces(*map(plain, self._pieces(kind, np.abs(start))))

    def pmf(self, y: ArrayLike, x: ArrayLike) -> Any:
        """P(V_higher = y | V_lower = x), for integers that broadcast: Fractions for rational alphas, or floats."""
        kind, (end, start) = self._number_kind(y, x)
        ahead, size = end * np.where(start < 0, -1, 1), np.abs(start)
        # Each step between 0 and x on the way to y has the ratio b/a, and every other step ab.
        inward = np.clip(ahead, 0, size)
        smooth = self._quantity(lambda a, b: (1 - a * b) * (a - b) / (a * (1 - b * b)))
        rise = self._quantity(lambda a, b: a * b)
        density = kind.powers(self._fall, inward) * kind.powers(rise, np.abs(ahead - inward))
        return plain(kind.number(smooth) * density + kind.where(end == start, self._pieces(kind, size).stay))

    def keep(self, x: ArrayLike) -> Any:
        """P(V_higher = x | V_lower = x) = rho^m (1 - 2ab + b^2)/(1 - b^2), the probability of an unchanged response."""
        kind, (start,) = self._number_kind(x)
        stay = kind.number(self._quantity(lambda a, b: (1 - 2 * a * b + b * b) / (1 - b * b)))
        return plain(stay * kind.powers(self._fall, np.abs(start)))

    def mean(self, x: ArrayLike) -> Any:
        """E[V_higher | V_lower = x]. Cost: about 0.1 ms for each x."""
        kind, (start,) = self._number_kind(x)
        means = [
            (-1 if x < 0 else 1) * kind.number(self._quantity(partial(_mean, abs(x)))) for x in np.ravel(start).tolist()
        ]
        return plain(np.array(means, dtype=object if kind.exact else float).reshape(start.shape))

    def _pieces(self, kind: NumberKind, size: Any) -> Pieces:
        power = kind.powers(self._fall, size)
        stay = kind.number(self._quantity(lambda a, b: b * (1 - a * a) / (a * (1 - b * b))))
        across = kind.number(self._quantity(lambda a, b: b * (a - b) / (1 - b * b)))
        inward = kind.number(self._quantity(lambda a, b: (1 - a * b) / (1 - b * b)))
        outward = kind.number(self._quantity(lambda a, b: (a - b) / (a * (1 - b * b))))
        return Pieces(stay * power, across + 0 * power, inward * kind.complements(self._fall, size), outward * power)

    def _number_kind(self, *points: ArrayLike) -> tuple[NumberKind, list[Any]]:
        return NumberKind.of((self.lower, self.higher), *points)

    @property
    def _fall(self) -> Quantity:
        return self._quantity(lambda a, b: b / a)

    def _quantity(self, formula: Callable[[Any, Any], Any]) -> Quantity:
        return Quantity(formula, (self.lower, self.higher))


def _mean(m: int, a: Any, b: Any) -> Any:
    """E[V_higher | V_lower = m] for m >= 0, from the four rows of the table in `Relaxing`."""
    rho, q, d = b / a, a * b, a * (1 - b * b)
    power = rho**m
    at_m = b * (1 - a * a) / d * power + (a - b) / d * power
    tails = (a - b) / d * q / (1 - q) * (power - 1)
    inside = (1 - q) / d * a * a / (a - b) * (rho - power * (m - (m - 1) * rho))
    return at_m * m + tails + inside
