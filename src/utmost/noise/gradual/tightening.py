"""The tighten kernel: the noise W that turns a response at one level into a response at a stricter one."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise.gradual.quantity import Quantity
from utmost.noise.gradual.world import World, plain


@dataclass(frozen=True, slots=True)
class Tightening:
    r"""The law of W in V_to = V_start + W, with W independent of V_start.

    V_start and V_to are two-sided geometric noise; with b = start's alpha and a = to's alpha (b <= a)

    .. math:: W = 0 \text{ with probability } w = \frac{b}{a}\Big(\frac{1-a}{1-b}\Big)^2,
        \quad\text{else } P(k) = \frac{1-a}{1+a}\, a^{|k|}.

    Adding W needs no data, so anyone who holds a response can hand on a stricter one.

    Args:
        start: the looser level, per unit; None for epsilon = infinity, where V_start = 0 and W is V_to itself.
        to: the stricter level, per unit.

    Raises:
        OutOfRange: when ``to`` is looser than ``start``.

    Source: koufogiannis2015, equation (28), on the integers.

    >>> from utmost.exact import level
    >>> W = Tightening(start=level(alpha="1/4"), to=level(alpha="1/2"))
    >>> W.stay.number, W.pmf(0), W.pmf(2)
    (Fraction(2, 9), Fraction(13, 27), Fraction(7, 108))
    """

    start: Level | None
    to: Level

    def __post_init__(self) -> None:
        if self.start is not None and self.start < self.to:
            raise OutOfRange(
                f"to tighten, the new level must not be looser than {self.start}",
                came=self.to,
                mend="Swap the levels, or relax instead.",
            )

    @property
    def stay(self) -> Quantity:
        """w, the mass of the part that certainly keeps the response; it is the squared correlation of the two."""
        return Quantity(staying, (self.start, self.to))

    @property
    def change(self) -> Quantity:
        """1 - w, without cancellation."""
        return Quantity(changing, (self.start, self.to))

    def pmf(self, k: ArrayLike) -> Any:
        """P(W = k) for integers k: fractions for rational alphas where asked for, else floats."""
        world, (steps,) = World.of((self.start, self.to), k)
        spread = Quantity(lambda b, a: changing(b, a) * (1 - a) / (1 + a), (self.start, self.to))
        smooth = world.number(spread) * world.powers(self.to, np.abs(steps))
        return plain(smooth + world.where(steps == 0, world.number(self.stay)))

    def ccdf(self, k: ArrayLike) -> Any:
        """P(W > k), for integers k."""
        world, (steps,) = World.of((self.start, self.to), k)
        return plain(self._above(world, steps))

    def cdf(self, k: ArrayLike) -> Any:
        """P(W <= k), for integers k."""
        world, (steps,) = World.of((self.start, self.to), k)
        return plain(self._above(world, -1 - steps))

    def _above(self, world: World, steps: Any) -> Any:
        tail = world.number(Quantity(lambda b, a: changing(b, a) / (1 + a), (self.start, self.to)))
        above = tail * world.powers(self.to, np.where(steps >= 0, steps + 1, -steps))
        return np.where(steps >= 0, above, 1 - above)

    @property
    def mean_absolute(self) -> Fraction | float:
        """E|W|, the expected change of the response."""
        return Quantity(lambda b, a: changing(b, a) * 2 * a / (1 - a * a), (self.start, self.to)).number

    @property
    def variance(self) -> Fraction | float:
        """E[W^2]."""
        return Quantity(lambda b, a: changing(b, a) * 2 * a / (1 - a) ** 2, (self.start, self.to)).number


def staying(b: Any, a: Any) -> Any:
    """w = (b/a) ((1-a)/(1-b))^2 for alphas b <= a."""
    return b / a * ((1 - a) / (1 - b)) ** 2


def changing(b: Any, a: Any) -> Any:
    """1 - w = (1-ab)(a-b) / (a (1-b)^2)."""
    return (1 - a * b) * (a - b) / (a * (1 - b) ** 2)
