"""The relax kernel: the noise at a looser level, given the noise at a stricter one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise.gradual.quantity import Quantity
from utmost.noise.gradual.world import World, plain


class Pieces(NamedTuple):
    """Probabilities of the four pieces of the relax kernel: Fractions or floats, or arrays of them."""

    stay: Any
    across: Any
    inward: Any
    outward: Any


@dataclass(frozen=True, slots=True)
class Relaxing:
    r"""The law of V_to given V_start = x, for V_start = V_to + W with the tighten kernel's independent W.

    With a = start's alpha, b = to's alpha (b < a), m the size and s the sign of x (sign +1 at 0), rho = b/a,
    d = a(1-b^2):

    ========  ===============================  ===========================================
    stay      b(1-a^2)/d rho^m                 V_to = x
    across    ab(a-b)/d                        V_to = -s(1 + Geom(ab))
    inward    a(1-ab)(1-rho^m)/d               V_to = sk, k in 0..m-1, with P(k) ~ rho^k
    outward   (a-b)/d rho^m                    V_to = s(m + Geom(ab))
    ========  ===============================  ===========================================

    so P(V_to = y) = stay [y = x] + (1-ab)(a-b)/d b^{|y|} a^{|x-y|-|x|}.

    Args:
        start: the stricter level, per unit.
        to: the looser level, per unit.

    Raises:
        OutOfRange: when ``to`` is not looser than ``start``.

    Source: koufogiannis2015, equation (25) and Algorithm 1, on the integers (where sgn(0) must be +1).

    >>> from utmost.exact import level
    >>> R = Relaxing(start=level(alpha="1/2"), to=level(alpha="1/4"))
    >>> R.pieces(1)
    Pieces(stay=Fraction(1, 5), across=Fraction(1, 15), inward=Fraction(7, 15), outward=Fraction(4, 15))
    >>> R.pmf(-1, 1), R.pmf(0, 1), R.pmf(1, 1)
    (Fraction(7, 120), Fraction(7, 15), Fraction(13, 30))
    """

    start: Level
    to: Level

    def __post_init__(self) -> None:
        if not self.start < self.to:
            raise OutOfRange(
                f"to relax, the new level must be looser than {self.start}",
                came=self.to,
                mend="Swap the levels, or tighten instead.",
            )

    def pieces(self, x: ArrayLike) -> Pieces:
        """Probabilities of the four pieces given V_start = x, for integers x."""
        world, (given,) = self._world(x)
        return Pieces(*map(plain, self._pieces(world, np.abs(given))))

    def pmf(self, y: ArrayLike, x: ArrayLike) -> Any:
        """P(V_to = y | V_start = x), for integers that broadcast: fractions for rational alphas where asked for."""
        world, (end, given) = self._world(y, x)
        ahead, size = end * np.where(given < 0, -1, 1), np.abs(given)
        inward = np.clip(ahead, 0, size)
        smooth = self._quantity(lambda a, b: (1 - a * b) * (a - b) / (a * (1 - b * b)))
        density = world.powers(self._fall, inward) * world.powers(self._rise, np.abs(ahead - inward))
        return plain(world.number(smooth) * density + world.where(end == given, self._pieces(world, size).stay))

    def keep(self, x: ArrayLike) -> Any:
        """P(V_to = x | V_start = x) = rho^m (1 - 2ab + b^2)/(1 - b^2): the response stays as it is."""
        world, (given,) = self._world(x)
        kept = world.number(self._quantity(lambda a, b: (1 - 2 * a * b + b * b) / (1 - b * b)))
        return plain(kept * world.powers(self._fall, np.abs(given)))

    def mean(self, x: ArrayLike) -> Any:
        """E[V_to | V_start = x]; about a tenth of a millisecond for each x."""
        world, (given,) = self._world(x)
        means = [_sign(x) * world.number(self._quantity(partial(_mean, abs(x)))) for x in np.ravel(given).tolist()]
        return plain(np.array(means, dtype=object if world.exact else float).reshape(given.shape))

    def _pieces(self, world: World, size: Any) -> Pieces:
        kept = world.powers(self._fall, size)
        stay = world.number(self._quantity(lambda a, b: b * (1 - a * a) / (a * (1 - b * b))))
        across = world.number(self._quantity(lambda a, b: b * (a - b) / (1 - b * b)))
        inward = world.number(self._quantity(lambda a, b: (1 - a * b) / (1 - b * b)))
        outward = world.number(self._quantity(lambda a, b: (a - b) / (a * (1 - b * b))))
        return Pieces(stay * kept, across + 0 * kept, inward * (1 - kept), outward * kept)

    def _world(self, *points: ArrayLike) -> tuple[World, list[Any]]:
        return World.of((self.start, self.to), *points)

    @property
    def _fall(self) -> Quantity:
        return Quantity(lambda a, b: b / a, (self.start, self.to))

    @property
    def _rise(self) -> Quantity:
        return Quantity(lambda a, b: a * b, (self.start, self.to))

    def _quantity(self, formula: Callable[[Any, Any], Any]) -> Quantity:
        return Quantity(formula, (self.start, self.to))


def _mean(m: int, a: Any, b: Any) -> Any:
    """E[V_to | V_start = m] for m >= 0, from the four pieces."""
    rho, q, d = b / a, a * b, a * (1 - b * b)
    kept = rho**m
    at_m = b * (1 - a * a) / d * kept + (a - b) / d * kept
    tails = (a - b) / d * q / (1 - q) * (kept - 1)
    inside = (1 - q) / d * a * a / (a - b) * (rho - kept * (m - (m - 1) * rho))
    return at_m * m + tails + inside


def _sign(x: int) -> int:
    return -1 if x < 0 else 1
