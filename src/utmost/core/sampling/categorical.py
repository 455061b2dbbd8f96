"""Exact draws of an index: certified thresholds that a lazily drawn uniform number has passed or not."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import Interval
from utmost.core.sampling.random_bits import Randomness, Word

Cuts = Callable[[int], Sequence[Interval]]
"""The law of an index 0..k-1 by its k - 1 cumulative probabilities P(index < 1), ..., P(index < k-1), each known to any
precision: asked for b bits, intervals of some one precision, b bits or more, and some units of 2^-b wide at most."""

# Intervals this much finer than the cells leave hardly more than the one cell in which a threshold lies.
_THRESHOLD_GUARD = 16


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """The reals 0 <= T_1 <= ... <= T_(k-1) <= 1 that cut [0, 1) into the indices 0..k-1.

    For U uniform on [0, 1) the index is the number of thresholds that are at most U, so index j has the probability
    T_(j+1) - T_j. U is drawn bit by bit: with p bits it is known to lie in one of 2^p cells, and the interval around T
    shows for all but a few cells whether T has certainly been passed. In those few, U takes more bits and T more
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
        intervals = self.cuts(bits + _THRESHOLD_GUARD)
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


Indices = NDArray[Any]
"""An array of the smallest unsigned integers that hold the largest index."""

# The second stage asks for its law with this many bits more than a word has; so does the first, to evaluate it once.
_GUARD = 84
_LARGEST_WORD = (1 << 64) - 1
_FEW = 1 << 10


class Categorical:
    """A law on the indices 0..k-1, drawn exactly from words of ``word_bits`` random bits.

    The 2^b words are dealt out as cells of probability 2^-b. Index j takes n_j of them for its own, where n_j / 2^b is
    certainly at most p_j; these cells come first, in order. The few that are left over, fewer than k or so, carry what
    is still missing: hitting one of them, a draw takes 64 more bits, which `Thresholds` of the law

        r_j = (2^b p_j - n_j) / (2^b - n_0 - ... - n_(k-1))

    decide. Since p_j = n_j / 2^b + (share of the rest) r_j for whatever n_j, the law is exact and does not depend on
    how well the n_j were chosen.

    Args:
        cuts: the law.
        word_bits: 16, or 32 for fewer draws that need the second stage.
        lookup: read the index from a table of 2^word_bits entries; else count it by comparing with every bound, which
            does the same work whatever is drawn.

    Cost: about 1 ns a draw by lookup, 0.15 ns a draw for each index by scan.
    """

    __slots__ = ("_bounds", "_dtype", "_rest", "_table", "_whole", "_word_bits", "count")

    def __init__(self, cuts: Cuts, *, word_bits: int, lookup: bool) -> None:
        cuts = lru_cache(maxsize=1)(cuts)
        cells = whole_cells(cuts, word_bits)
        ends = list(accumulate(cells))
        self.count = len(cells)
        self._dtype = np.min_scalar_type(self.count - 1)
        self._word_bits = word_bits
        self._whole = ends[-1]
        bounds = [end for end in ends[:-1] if end < self._whole]
        self._bounds = np.array(bounds, f"u{word_bits // 8}")[:, None]
        self._table = None
        if lookup:
            self._table = np.zeros(1 << word_bits, self._dtype)
            self._table[: self._whole] = np.repeat(np.arange(self.count, dtype=self._dtype), cells)
        self._rest = None if self._whole == 1 << word_bits else _Rest(cuts, cells, word_bits)

    def draw(self, count: int, randomness: Randomness) -> Indices:
        """``count`` independent indices."""
        words = randomness.words(count, self._word_bits)
        index: Indices = self._scan(words) if self._table is None else self._table.take(words, mode="clip")
        if self._rest is not None:
            beyond = (words >= self._whole).nonzero()[0]
            if beyond.size:
                index[beyond] = self._rest.draw(beyond.size, randomness)
        return index

    def _scan(self, words: Indices) -> Indices:
        if words.size <= _FEW:  # a call of NumPy's takes longer than the comparisons
            few: Indices = np.add.reduce(words >= self._bounds, axis=0, dtype=self._dtype)
            return few
        index = np.zeros(words.shape, self._dtype)
        passed = np.empty(words.shape, np.uint8)
        for bound in self._bounds:
            np.greater_equal(words, bound, out=passed.view(np.bool_))
            np.add(index, passed, out=index)
        return index


class _Rest:
    """The law of the second stage, drawn from 64 bits, and more where these do not decide."""

    __slots__ = ("_first", "_last", "_thresholds")

    def __init__(self, cuts: Cuts, cells: list[int], word_bits: int) -> None:
        self._thresholds = Thresholds(rest(cuts, cells, word_bits))
        first, last = self._thresholds.cells(64)
        # A threshold at 0 or 1 does not fit the word; kept inside, it merely sends one cell on to be decided exactly.
        self._first = np.array([min(max(u, 0), _LARGEST_WORD) for u in first], np.uint64)
        self._last = np.array([min(max(u, 0), _LARGEST_WORD) for u in last], np.uint64)

    def draw(self, count: int, randomness: Randomness) -> NDArray[np.intp]:
        words = randomness.words(count, 64)
        index = np.searchsorted(self._first, words, side="right")
        unsure = np.flatnonzero((index > 0) & (words <= self._last[index - 1]))
        for place in unsure.tolist():
            index[place] = self._thresholds.decide(int(words[place]), 64, randomness.word)
        return index


def whole_cells(cuts: Cuts, word_bits: int) -> list[int]:
    """How many of ``2**word_bits`` cells each index takes for its own: n_j with n_j / 2^b certainly at most p_j.

    >>> from fractions import Fraction
    >>> whole_cells(lambda bits: [Interval.of(Fraction(1, 3), bits)], 8)
    [85, 170]
    """
    inner = cuts(word_bits + _GUARD)
    bits = inner[0].bits if inner else word_bits
    ends = [Interval.of(0, bits), *inner, Interval.of(1, bits)]
    return [max(0, (right.low - left.high) << word_bits >> bits) for left, right in pairwise(ends)]


def rest(cuts: Cuts, cells: list[int], word_bits: int) -> Cuts:
    """The law of what the whole cells leave over: thresholds (2^b T_j - n_0 - ... - n_(j-1)) / (2^b - n_0 - ...)."""
    taken = list(accumulate(cells))
    left = (1 << word_bits) - taken[-1]

    def of_the_rest(bits: int) -> list[Interval]:
        inner = cuts(bits + word_bits + 4)
        share = Interval.of(Fraction(1, left), inner[0].bits)
        return [(cut * (1 << word_bits) - before) * share for cut, before in zip(inner, taken, strict=False)]

    return of_the_rest
