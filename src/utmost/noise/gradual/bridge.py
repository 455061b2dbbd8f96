"""The bridge: a response at a level between two levels already answered, given those two answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from utmost.errors import OutOfRange
from utmost.exact import Interval, Level
from utmost.noise.gradual.quantity import Quantity
from utmost.noise.gradual.tightening import staying
from utmost.noise.gradual.world import World, plain


@dataclass(frozen=True, slots=True)
class Bridge:
    r"""The law of K = V_at - V_loose given W = V_strict - V_loose, which are independent of V_loose.

    With a > m > b the alphas of strict, at and loose, and W', W'' the tighten kernels loose -> at and at -> strict,
    P(K = k | W = w) = P(W' = k) P(W'' = w - k) / P(W = w). For w != 0 it is a mixture that does not look at w until the
    last moment; with s the sign of w, J ~ Geom(am) and G ~ Geom(m/a):

    ========  =================================================  ==============================================
    home      (b/m) (1-am)(a-m) / ((1-ab)(a-b))                  K = 0
    across    a (1-mb)(m-b)(a-m) / ((1-m^2)(1-ab)(a-b))          K = -s (1 + J)
    stay      rest * m (1-a^2) / (a (1-am))                      K = s G if G < abs(w), else w
    leap      rest * (a-m) / (a (1-am))                          K = s G if G < abs(w), else w + s J
    ========  =================================================  ==============================================

    where rest = a (1-mb)(m-b)(1-am) / (m (1-m^2)(1-ab)(a-b)). At w = 0 (with s = +1) the mixture is preceded by
    K = 0 with probability w_0/(w_0 + t), for w_0 the atom of W at 0 and t = (1-w_0)(1-a)/(1+a).

    With ``loose`` None (epsilon = infinity, no noise) this is the relax kernel: K = V_at and W = V_strict.

    Args:
        strict, at, loose: levels per unit, strictly increasing in epsilon; ``loose`` may be None.

    Raises:
        OutOfRange: when ``at`` is not strictly between.

    Source: koufogiannis2015, Theorem 12 and Algorithm 1, on the integers.

    >>> from utmost.exact import level
    >>> B = Bridge(strict=level(alpha="1/2"), at=level(alpha="1/3"), loose=level(alpha="1/4"))
    >>> B.pmf(0, 2), B.pmf(1, 2), B.pmf(2, 2)
    (Fraction(215, 336), Fraction(55, 504), Fraction(11, 54))
    """

    strict: Level
    at: Level
    loose: Level | None

    def __post_init__(self) -> None:
        if not (self.strict < self.at and (self.loose is None or self.at < self.loose)):
            between = f"{self.strict} and {'infinity' if self.loose is None else self.loose}"
            raise OutOfRange(f"the level of a bridge must lie strictly between {between}", came=self.at)

    @property
    def home(self) -> Quantity:
        """Probability of K = 0 by the atom of W'."""
        return self._quantity(lambda a, m, b: _share(b, m) * (1 - a * m) * (a - m) / ((1 - a * b) * (a - b)))

    @property
    def across(self) -> Quantity:
        """Probability that K lies on the other side of 0 than W."""
        return self._quantity(_across)

    @property
    def stay(self) -> Quantity:
        """Probability of the third row of the table."""
        return self._quantity(lambda a, m, b: _rest(a, m, b) * m * (1 - a * a) / (a * (1 - a * m)))

    @property
    def leap(self) -> Quantity:
        """Probability of the fourth row of the table."""
        return self._quantity(lambda a, m, b: _rest(a, m, b) * (a - m) / (a * (1 - a * m)))

    @property
    def idle(self) -> Quantity:
        """Probability that K = 0 at once when W = 0."""
        return self._quantity(_idle)

    @property
    def fall(self) -> Quantity:
        """m/a, the ratio of the geometric law of G."""
        return self._quantity(lambda a, m, b: m / a)

    @property
    def rise(self) -> Quantity:
        """am, the ratio of the geometric law of J."""
        return self._quantity(lambda a, m, b: a * m)

    def pmf(self, k: ArrayLike, w: ArrayLike) -> Any:
        """P(K = k | W = w), for integers that broadcast: fractions for rational alphas where asked for, else floats."""
        world, (end, given) = World.of((self.strict, self.at, self.loose), k, w)
        ahead, size = end * np.where(given < 0, -1, 1), np.abs(given)
        inward = np.clip(ahead, 0, size)
        smooth = self._quantity(lambda a, m, b: _rest(a, m, b) * (a - m) / a)
        density = world.powers(self.fall, inward) * world.powers(self.rise, np.abs(ahead - inward))
        density = world.number(smooth) * density + world.where(ahead == 0, world.number(self.home))
        density = density + world.where(ahead == size, world.number(self.stay)) * world.powers(self.fall, size)
        idle = world.where(size == 0, world.number(self.idle))
        return plain((1 - idle) * density + idle * (ahead == 0))

    def _quantity(self, formula: Callable[[Any, Any, Any], Any]) -> Quantity:
        return Quantity(formula, (self.strict, self.at, self.loose))


def _across(a: Any, m: Any, b: Any) -> Any:
    return a * (1 - m * b) * (m - b) * (a - m) / ((1 - m * m) * (1 - a * b) * (a - b))


def _rest(a: Any, m: Any, b: Any) -> Any:
    return a * (1 - m * b) * (1 - _share(b, m)) * (1 - a * m) / ((1 - m * m) * (1 - a * b) * (a - b))


def _share(b: Any, m: Any) -> Any:
    """b/m, without dividing where b is 0: an m of e^-10000 would need as many digits to be told from 0."""
    is_zero = b.low == b.high == 0 if isinstance(b, Interval) else b == 0
    return b if is_zero else b / m


def _idle(a: Any, m: Any, b: Any) -> Any:
    atom = staying(b, a)
    return atom / (atom + (1 - atom) * (1 - a) / (1 + a))
