"""Exact draws of discrete staircase noise, at a cost that does not depend on the period."""

from fractions import Fraction

import numpy as np

from utmost.exact import Interval, objects
from utmost.sampling.geometric_draws import DrawPlan, ManyMarked, Real
from utmost.sampling.integers import Integers, one_below, uniform_below
from utmost.sampling.random_bits import Randomness

_LARGEST = (1 << 63) - 1


class Segments:
    r"""The discrete staircase of period D, step r and ratio b as a geometric variable, a segment and a uniform place.

    p(i) = a on 0 <= i < r, a b on r <= i < D, b^k p(i - kD) beyond, and p(-i) = p(i). Then X = Y if the sign is plain,
    else -1-Y, with Y = J + k D, k ~ Geom(b) independent of the sign and of J, which is uniform on one of

        plain   0..r-1, weight r          r..D-1, weight b (D-r)
        turned  0..r-2, weight r-1        r-1..D-1, weight b (D-r+1)

    in parts of their sum N = 2r-1 + b (2D-2r+1): the 2D values -D..D-1 carry a N = 1 - b in all, and k shifts them out.

    Attributes:
        starts, lengths: of the four segments; a segment of weight zero has length zero and is never met.

    Source: [geng2012], (79)-(80); the segments are derived here.
    """

    __slots__ = ("_ratio", "lengths", "starts")

    def __init__(self, ratio: Real, period: int, step: int) -> None:
        self._ratio = ratio
        self.starts = (0, step, 0, step - 1)
        self.lengths = (step, period - step, step - 1, period - step + 1)

    def probabilities(self) -> tuple[Real, ...]:
        """Of each segment: its weight over the sum of the four."""
        return tuple(self._probability(segment) for segment in range(4))

    def _probability(self, segment: int) -> Real:
        plain, period = self.lengths[0], self.lengths[0] + self.lengths[1]

        def probability(bits: int) -> Interval:
            # Weights are divided by the period first, so that wide periods cost no precision.
            b = self._ratio(bits)
            near, far = Fraction(2 * plain - 1, period), Fraction(2 * (period - plain) + 1, period)
            share = Fraction(self.lengths[segment], period)
            return (b * share if segment % 2 else Interval.of(share, b.bits)) / (near + b * far)

        return probability


class ManyStaircase:
    """Arrays of discrete staircase draws.

    Cost: at epsilon = 1 about 12 ns a draw by table and 16 ns constant-time, for any period up to 2^32.
    """

    __slots__ = ("_lengths", "_marked", "_period", "_starts")

    def __init__(self, ratio: Real, period: int, step: int, plan: DrawPlan) -> None:
        segments = Segments(ratio, period, step)
        self._period = period
        self._marked = ManyMarked(ratio, segments.probabilities(), plan)
        self._starts = np.array(segments.starts, np.int64 if period <= _LARGEST else object)
        self._lengths = np.array(segments.lengths, np.uint64 if period <= _LARGEST else object)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        """``count`` independent draws."""
        k, segment = self._marked.draw(count, randomness)
        place = self._places(segment, randomness)
        wide = (int(k.max(initial=0)) + 1) * self._period > _LARGEST
        y: Integers = k.astype(object if wide else np.int64)
        y *= self._period
        y += place
        y ^= np.negative(segment >> 1).view(np.int8).astype(y.dtype)
        return y

    def _places(self, segment: Integers, randomness: Randomness) -> Integers:
        lengths = self._lengths.take(segment)
        places: Integers
        if lengths.dtype == np.uint64:
            places = uniform_below(lengths, randomness).view(np.int64)
        else:
            places = objects(one_below(n, randomness.word) for n in lengths)
        places += self._starts.take(segment)
        return places
