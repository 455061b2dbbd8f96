"""Exact draws of geometric variables, one-sided and two-sided, from independent groups of binary digits.

K ~ Geom(a) has P(K = k) = (1-a) a^k. For any m, K = Q 2^m + D with Q ~ Geom(a^(2^m)) independent of D in 0..2^m-1. The
groups of binary digits of D are independent, and the group that starts at bit s has P(d) proportional to a^(d 2^s). And
Q given Q >= v is v + Geom(a^(2^m)): no tail is cut off.

A mark, independent of K, is drawn together with Q: the sign of two-sided noise, or the segment of a
staircase.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from utmost.core.exact.intervals import Interval
from utmost.core.sampling.categorical import Categorical, Cuts, OutcomeIndices, Thresholds
from utmost.core.sampling.integers import Integers, smallest_type
from utmost.core.sampling.random_bits import Randomness, WordSource

Real = Callable[[int], Interval]
"""A real number, as a function from b to an interval around the number, which becomes arbitrarily narrow as b grows."""


@dataclass(frozen=True, slots=True, eq=False)
class GeometricParts:
    """The distributions of the independent parts of a geometric variable that is drawn with a mark."""

    top: Cuts  # distribution of Q and the mark, see `marked`
    groups: tuple[tuple[int, Cuts], ...]  # bits and distribution of each group of digits, most significant first
    shift: int  # the number m of bits below the top, the sum of the bits of the groups


def geometric_parts(
    ratio: Real, marks: Sequence[Real], *, values: int, group_bits: int, tail_bits: int
) -> GeometricParts:
    """The distributions of the parts from which a Geom(ratio) is drawn, and of an independent mark.

    The m of the parts is the least one for which P(Q >= values) <= 2^-tail_bits.
    """
    # The least m for which intervals certify a^(2^m values) <= 2^-tail_bits.
    bits = 64 + tail_bits
    # For a small epsilon, few bits do not distinguish alpha from 1, and powers of 1 never decrease.
    while ratio(bits).high >> bits:  # until a is certainly below 1
        bits *= 2
    shift, a = 0, ratio(2 * bits)
    while (a**values).high > 1 << (2 * bits - tail_bits):
        shift, a = shift + 1, a * a
    number = -(-shift // group_bits)
    # The groups have nearly the same number of bits: each has a table, and the largest table decides the memory.
    sizes = [shift // number + (i < shift % number) for i in range(number)]
    starts = [shift - end for end in accumulate(sizes)]
    groups = tuple((size, digits(squared_often(ratio, start), size)) for size, start in zip(sizes, starts, strict=True))
    return GeometricParts(marked(squared_often(ratio, shift), marks, values), groups, shift)


def digits(ratio: Real, bits_of_digit: int) -> Cuts:
    """The distribution with P(d) proportional to a^d on 0..2^bits_of_digit - 1."""

    def cuts(bits: int) -> list[Interval]:
        inner = bits + 2 * bits_of_digit + 8
        terms = _powers(ratio(inner), 1 << bits_of_digit)
        sums = list(accumulate(terms))
        # Quotients of sums of positive terms lose no precision for a near 1. Only one division, by the sum, is needed.
        # The guard bits cover the width of the sum's interval.
        share = 1 / sums[-1]
        return [partial * share for partial in sums[:-1]]

    return cuts


def marked(ratio: Real, marks: Sequence[Real], values: int) -> Cuts:
    """The distribution of the index len(marks) q + mark, where q is the minimum of ``values`` and a Geom(ratio)
    variable.
    """

    # P(q, mark) = (1-a) a^q w_mark for q < values, and a^values w_mark for q = values.
    def cuts(bits: int) -> list[Interval]:
        inner = bits + 2 * values.bit_length() + 8
        a = ratio(inner)
        below = [Interval.of(0, inner), *accumulate(mark(inner) for mark in marks[:-1])]
        powers = _powers(a, values + 1)
        # The last value stands for the whole tail, of mass a^values.
        masses = [power * (1 - a) if q < values else power for q, power in enumerate(powers)]
        thresholds = [1 - power + mass * share for power, mass in zip(powers, masses, strict=True) for share in below]
        return thresholds[1:]

    return cuts


def squared_often(ratio: Real, doublings: int) -> Real:
    """ratio^(2^doublings)."""

    def powered(bits: int) -> Interval:
        # Each squaring doubles the relative error and so loses one bit; rounding loses some more.
        result = ratio(bits + doublings + 8)
        for _ in range(doublings):
            result = result * result
        return result.at(bits)

    return powered


def _powers(a: Interval, count: int) -> list[Interval]:
    """1, a, ..., a^(count-1)."""
    return list(accumulate([a] * (count - 1), lambda x, y: x * y, initial=Interval.of(1, a.bits)))


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """The parameters of a sampler of arrays."""

    word_bits: int  # bits of a first word; a few draws in 2^word_bits need more
    lookup: bool  # whether to read tables; otherwise each word is compared with every bound
    indices: int  # approximate number of indices of the top part
    group_bits: int  # largest number of bits in a group of digits
    tail_bits: int  # the tail beyond the indices is at most 2^-tail_bits


CONSTANT = SamplingPlan(word_bits=32, lookup=False, indices=8, group_bits=3, tail_bits=32)
"""The plan for constant time: every draw makes the same few comparisons. About one draw in 10^8 needs more bits."""

TABLE = SamplingPlan(word_bits=16, lookup=True, indices=128, group_bits=8, tail_bits=16)
"""The plan for speed: one table lookup gives eight binary digits. One draw in 80 to 6000 needs more bits."""

_ONE_INDICES, _ONE_GROUP_BITS = 64, 8


class MarkedGeometricSampler:
    """Draws arrays of independent (K, mark): K ~ Geom(ratio), and one of 2^i marks, independent of K."""

    __slots__ = ("_groups", "_mark_bits", "_shift", "_top", "_values")

    def __init__(self, ratio: Real, marks: Sequence[Real], plan: SamplingPlan) -> None:
        self._values = plan.indices // len(marks)
        self._mark_bits = len(marks).bit_length() - 1
        parts = geometric_parts(ratio, marks, values=self._values, group_bits=plan.group_bits, tail_bits=plan.tail_bits)
        self._shift = parts.shift
        self._top = Categorical(parts.top, word_bits=plan.word_bits, lookup=plan.lookup)
        self._groups = [
            (size, Categorical(distribution, word_bits=plan.word_bits, lookup=plan.lookup))
            for size, distribution in parts.groups
        ]

    def draw(self, count: int, randomness: Randomness) -> tuple[Integers, OutcomeIndices]:
        k, mark = self._tops(count, randomness)
        for size, distribution in self._groups:
            np.left_shift(k, size, out=k)
            digits = distribution.draw(count, randomness)
            np.bitwise_or(k, digits.view(np.int8) if k.dtype == np.int8 else digits.astype(k.dtype), out=k)
        return k, mark

    def _tops(self, count: int, randomness: Randomness) -> tuple[Integers, OutcomeIndices]:
        """Draw Q and the marks. The type of Q can also represent Q << shift."""
        # The mark and the top part are drawn from one word, which saves a word for each draw.
        index = self._top.draw(count, randomness)
        mark = index & ((1 << self._mark_bits) - 1)
        q: Integers = index >> self._mark_bits
        tail = (q == self._values).nonzero()[0]
        if not tail.size:
            return q.astype(smallest_type((self._values - 1).bit_length() + self._shift)), mark
        # Geometric variables have no memory: beyond the last value the top part is drawn again, and its mark is not
        # used.
        fresh, _ = self._tops(tail.size, randomness)
        q = q.astype(np.int64)
        q[tail] += fresh.astype(np.int64)
        return q.astype(smallest_type(int(q.max()).bit_length() + self._shift)), mark


class SingleGeometricSampler:
    """Draws single pairs (K, mark), for distributions that change from draw to draw. Times depend on outcomes."""

    # Each part takes one word of 64 bits, and a bisection whose time depends on the outcome. Do not use this class for
    # noise whose drawing time others can measure.
    __slots__ = ("_groups", "_mark_bits", "_mask", "_top", "_values")

    def __init__(self, ratio: Real, marks: Sequence[Real]) -> None:
        self._values = _ONE_INDICES // len(marks) - 1
        self._mark_bits = len(marks).bit_length() - 1
        self._mask = len(marks) - 1
        parts = geometric_parts(ratio, marks, values=self._values, group_bits=_ONE_GROUP_BITS, tail_bits=32)
        self._top = chooser(parts.top)
        self._groups = [(size, chooser(distribution)) for size, distribution in parts.groups]

    def draw(self, word: WordSource) -> tuple[int, int]:
        index = self._top(word)
        mark, q = index & self._mask, index >> self._mark_bits
        k = q
        # Geometric variables have no memory: beyond the last value a new top part is added.
        while q == self._values:
            q = self._top(word) >> self._mark_bits
            k += q
        for size, choose in self._groups:
            k = k << size | choose(word)
        return k, mark


def chooser(cuts: Cuts) -> Callable[[WordSource], int]:
    """Return a function that draws one index from the distribution ``cuts``."""
    thresholds = Thresholds(cuts)
    first, last = thresholds.cells(64)
    last.insert(0, -1)  # a first entry, so that last[index] belongs to the last threshold passed, if any

    def choose(word: WordSource) -> int:
        drawn = word()
        index = bisect_right(first, drawn)
        return index if drawn > last[index] else thresholds.decide(drawn, 64, word)

    return choose


def signs(ratio: Real) -> tuple[Real, Real]:
    """The probabilities 1/(1+a) of X = K and a/(1+a) of X = -1 - K."""

    def plain(bits: int) -> Interval:
        return 1 / (1 + ratio(bits))

    return plain, lambda bits: 1 - plain(bits)


class TwoSidedGeometricSampler:
    """Draws arrays of X with P(X = x) = (1-a)/(1+a) a^|x|."""

    # X = K if S = 0, else -1-K, where K ~ Geom(a) and S ~ Bernoulli(a/(1+a)) are independent; in bits, K xor -S.
    __slots__ = ("_marked",)

    def __init__(self, ratio: Real, plan: SamplingPlan) -> None:
        self._marked = MarkedGeometricSampler(ratio, signs(ratio), plan)

    def draw(self, count: int, randomness: Randomness) -> Integers:
        k, sign = self._marked.draw(count, randomness)
        # -1 - k is ~k, without a branch, whose time would reveal the sign.
        k ^= np.negative(sign).view(np.int8).astype(k.dtype, copy=False)
        return k
