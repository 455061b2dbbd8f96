"""Exact draws of two-sided geometric noise: a one-sided variable and a sign, with no double zero."""

import numpy as np

from utmost.exact import Interval
from utmost.sampling.bits import Randomness
from utmost.sampling.geometric import Real
from utmost.sampling.marked import ManyMarked, Plan
from utmost.sampling.wide import Integers


def signs(ratio: Real) -> tuple[Real, Real]:
    """The probabilities 1/(1+a) and a/(1+a) of a plain and of a turned draw."""

    def plain(bits: int) -> Interval:
        return 1 / (1 + ratio(bits))

    return plain, lambda bits: 1 - plain(bits)


class ManyTwoSided:
    """Arrays of X with P(X = x) = (1-a)/(1+a) a^|x|.

    X = K if S = 0, else -1-K, where K ~ Geom(a) and S ~ Bernoulli(a/(1+a)) are independent; in bits, K xor -S.
    """

    __slots__ = ("_marked",)

    def __init__(self, ratio: Real, plan: Plan) -> None:
        self._marked = ManyMarked(ratio, signs(ratio), plan)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        """``count`` independent draws."""
        k, sign = self._marked.draw(count, randomness)
        k ^= np.negative(sign).view(np.int8).astype(k.dtype, copy=False)
        return k
