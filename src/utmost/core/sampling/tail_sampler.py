"""A sampler for any noise on the integers, which needs only the tail probabilities.

The values -m..m are the indices of a `Categorical` distribution. The first index stands for all values up to -m, and
the last index for all values from m on. If the first or the last index is drawn, the size is drawn from the conditional
tails P(X >= i) / P(X >= m), in one window after the other. No tail is cut off.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from utmost.core.exact.intervals import Interval
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.powers import FloatPowers
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.geometric_draws import SamplingPlan, chooser
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.random_bits import Randomness, WordSource
from utmost.errors import Unsupported

_MOST_VALUES = 1 << 16


class TailSampler:
    """Draws arrays of noise on the integers with at most 2^16 likely values."""

    # Cost: preparation takes 10 us for each of the values -m..m. A draw takes 1 ns by table, and in constant time 0.3
    # ns for each value. Two draws in 2^tail_bits lie beyond these values, and take longer.
    __slots__ = ("_choosers", "_distribution", "_index", "_reach")

    def __init__(self, distribution: IntegerDistribution, plan: SamplingPlan) -> None:
        self._distribution, self._reach = distribution, _reach(distribution, 2.0**-plan.tail_bits)
        self._choosers: dict[int, Callable[[WordSource], int]] = {}

        def cuts(bits: int) -> list[Interval]:
            # P(X < k) for k = 1 - m, ..., m. For k > 0 it is 1 minus the tail P(X >= k), and for other k it is a tail
            # by symmetry.
            tails = distribution.tail_intervals(range(1, self._reach + 1), bits)
            return [*reversed(tails), *(1 - tail for tail in tails)]

        self._index = Categorical(cuts, word_bits=plan.word_bits, lookup=plan.lookup)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        values = self._index.draw(count, randomness).astype(np.int64) - self._reach
        beyond = (np.abs(values) == self._reach).nonzero()[0]
        if not beyond.size:
            return values
        sizes = [self._far(randomness.word) for _ in beyond]
        if max(sizes) >> 62:
            values = values.astype(object)
        for place, size in zip(beyond.tolist(), sizes, strict=True):
            values[place] = size if values[place] > 0 else -size
        return values

    def _far(self, word: WordSource) -> int:
        """Draw a size of at least m, in windows of m values."""

        def cuts(first: int, bits: int) -> list[Interval]:
            # P(X < first + k | X >= first) for k = 1, ..., m.
            inner = 2 * bits
            while (start := self._distribution.tail_interval(first, inner)).low >> (bits + 16) == 0:
                inner *= 2
            tails = self._distribution.tail_intervals(range(first + 1, first + self._reach + 1), inner)
            return [(1 - tail / start).at(bits) for tail in tails]

        first = self._reach
        while True:
            choose = self._choosers.get(first)
            if choose is None:
                choose = self._choosers[first] = chooser(partial(cuts, first))
            step = choose(word)
            if step < self._reach:
                return first + step
            first += self._reach


def _reach(distribution: IntegerDistribution, least: float) -> int:
    """An m >= 1 with P(X >= m) of at most about ``least``."""
    tails = np.asarray(distribution.tail(FloatPowers, np.arange(1, _MOST_VALUES)), np.float64)
    if tails[-1] > least:
        raise Unsupported(
            f"noise of this class must have at most {_MOST_VALUES} likely values",
            came=distribution,
            where="sample",
            remedy="If the probabilities fall geometrically, count in larger units or choose a larger epsilon.",
        )
    return int(np.argmax(tails <= least)) + 1
