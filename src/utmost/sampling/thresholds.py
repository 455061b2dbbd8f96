"""Certified thresholds: which of several reals a lazily drawn uniform number has passed."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from utmost.exact import Interval
from utmost.sampling.bits import Word

Cuts = Callable[[int], Sequence[Interval]]
"""The law of an index 0..k-1 by its k - 1 cumulative probabilities P(index < 1), ..., P(index < k-1), each known to any
precision: asked for b bits, intervals of some one precision, b bits or more, and some units of 2^-b wide at most."""

# Intervals this much finer than the cells leave hardly more than the one cell in which a threshold lies.
_GUARD = 16


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """The reals 0 <= T_1 <= ... <= T_(k-1) <= 1 that cut [0, 1) into the indices 0..k-1.

    For U uniform on [0, 1) the index is the number of thresholds that are at most U, so index j has the probability
    T_(j+1) - T_j. U is drawn bit by bit: with p bits it is known to lie in one of 2^p cells, and the interval around T
    tells for all but a few cells whether T has certainly been passed. In those few, U takes more bits and T more
    precision. An index is returned only when it is the true one, so the law is exact; and the bits run out with
    probability zero whatever the thresholds are, for the few cells hold a share of U that shrinks with 2^-p. (A
    threshold such as 1/2 that is only ever known up to an interval is no trouble: U does not stay beside it.)

    Args:
        cuts: the law.
    """

    cuts: Cuts

    def cells(self, bits: int) -> tuple[list[int], list[int]]:
        """For each threshold the first and the last of the ``2**bits`` cells that are not certainly on one side of it.

        Cell u stands for [u, u+1) / 2^bits. Below ``first`` it lies wholly under the threshold, above ``last`` wholly
        past it; ``last`` is ``first - 1`` where the threshold is known to lie between two cells. Both lists ascend.

        >>> from fractions import Fraction
        >>> Thresholds(lambda bits: [Interval.of(Fraction(1, 3), bits), Interval.of(Fraction(1, 2), bits)]).cells(8)
        ([85, 128], [85, 127])
        """
        intervals = self.cuts(bits + _GUARD)
        first = [(interval.low << bits) >> interval.bits for interval in intervals]
        last = [-((-interval.high << bits) >> interval.bits) - 1 for interval in intervals]
        return list(accumulate(first, max)), list(accumulate(reversed(last), min))[::-1]

    def decide(self, drawn: int, bits: int, word: Word) -> int:
        """The index of U, of which the first ``bits`` bits were ``drawn``; the rest is drawn as it is needed."""
        while True:
            first, last = self.cells(bits)
            index = bisect_right(first, drawn)
            if index == 0 or drawn > last[index - 1]:
                return index
            drawn, bits = (drawn << 64) | word(), bits + 64
