"""The relax kernel: the noise at a looser level, given the noise at a stricter one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise.gradual.powers import integers, plain, powers
from utmost.noise.gradual.quantity import Quantity


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
    >>> R.pmf([-1, 0, 1], 1).tolist()
    [Fraction(7, 120), Fraction(7, 15), Fraction(13, 30)]
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
        """Probabilities of the four pieces given V_start = x, for integers x of any shape."""
        kept = powers(self._fall, np.abs(integers(x, "x")))
        stay = self._number(lambda a, b: b * (1 - a * a) / (a * (1 - b * b)))
        across = self._number(lambda a, b: b * (a - b) / (1 - b * b))
        inward = self._number(lambda a, b: (1 - a * b) / (1 - b * b))
        outward = self._number(lambda a, b: (a - b) / (a * (1 - b * b)))
        rows = (stay * kept, across + 0 * kept, inward * (1 - kept), outward * kept)
        return Pieces(*map(plain, rows))

    def pmf(self, y: ArrayLike, x: ArrayLike) -> Any:
        """P(V_to = y | V_start = x), for integers that broadcast: Fractions for rational alphas, else floats."""
        end, given = np.broadcast_arrays(integers(y, "y"), integers(x, "x"))
        ahead, size = end * np.where(given < 0, -1, 1), np.abs(given)
        inward = np.clip(ahead, 0, size)
        smooth = self._number(lambda a, b: (1 - a * b) * (a - b) / (a * (1 - b * b)))
        density = smooth * powers(self._fall, inward) * powers(self._rise, np.abs(ahead - inward))
        return plain(density + np.where(end == given, self.pieces(given).stay, 0 * smooth))

    def keep(self, x: ArrayLike) -> Any:
        """P(V_to = x | V_start = x) = rho^m (1 - 2ab + b^2)/(1 - b^2): the response stays as it is."""
        kept = powers(self._fall, np.abs(integers(x, "x")))
        return plain(self._number(lambda a, b: (1 - 2 * a * b + b * b) / (1 - b * b)) * kept)

    def mean(self, x: ArrayLike) -> Any:
        """E[V_to | V_start = x]."""
        given = integers(x, "x")
        size, sign = np.abs(given), np.where(given < 0, -1, 1)
        pieces = self.pieces(given)
        beyond = self._number(lambda a, b: a * b / (1 - a * b))
        rho = self._fall.number
        kept = powers(self._fall, size)
        slope = self._number(lambda a, b: (1 - a * b) * a / ((a - b) * (1 - b * b)))
        inner = slope * (rho - kept * (size - (size - 1) * rho))
        return plain(
            sign
            * (
                inner
                + (pieces.stay + pieces.outward) * size
                + (pieces.outward - pieces.across) * beyond
                - pieces.across
            )
        )

    @property
    def _fall(self) -> Quantity:
        return Quantity(lambda a, b: b / a, (self.start, self.to))

    @property
    def _rise(self) -> Quantity:
        return Quantity(lambda a, b: a * b, (self.start, self.to))

    def _number(self, formula: Callable[[Any, Any], Any]) -> Any:
        return Quantity(formula, (self.start, self.to)).number
