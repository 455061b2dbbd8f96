"""Draw an index exactly: a uniform number, drawn bit by bit, is compared with certified thresholds."""

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
from utmost.core.sampling.random_bits import Randomness, WordSource

Cuts = Callable[[int], Sequence[Interval]]
"""The distribution of an index 0..k-1, as a function from b to intervals around the k - 1 cumulative probabilities
P(index < 1), ..., P(index < k-1). All intervals have one precision of b bits or more, and are a few 2^-b wide."""

# If intervals are 2^16 times narrower than the cells, a threshold rarely leaves more than one cell undecided.
_THRESHOLD_GUARD = 16


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """The reals 0 <= T_1 <= ... <= T_(k-1) <= 1 that divide [0, 1) into the indices 0..k-1.

    The index of U, uniform on [0, 1), is the number of thresholds that are at most U, so index j has the probability
    T_(j+1) - T_j. U is drawn bit by bit: p bits give one of 2^p cells, and for all but a few cells the interval around
    T shows on which side of T the cell is. In the few other cells, U gets more bits and T more precision. An index is
    returned only when it is certain, so the distribution is exact. The procedure ends with probability one for any
    thresholds, since the probability of the undecided cells decreases like 2^-p.

    Args:
        cuts: Function from a number of bits to intervals around the thresholds.
    """

    cuts: Cuts

    def cells(self, bits: int) -> tuple[list[int], list[int]]:
        """The first and the last of the ``2**bits`` cells that may contain the threshold, for each threshold.

        Cell u stands for [u, u+1) / 2^bits. Cells before ``first`` are certainly below the threshold, and cells after
        ``last`` certainly above. A threshold that lies between two cells has ``last == first - 1``. Both lists ascend.

        >>> from fractions import Fraction
        >>> Thresholds(lambda bits: [Interval.of(Fraction(1, 3), bits), Interval.of(Fraction(1, 2), bits)]).cells(8)
        ([85, 128], [85, 127])
        """
        intervals = self.cuts(bits + _THRESHOLD_GUARD)
        first = [(interval.low << bits) >> interval.bits for interval in intervals]
        last = [-((-interval.high << bits) >> interval.bits) - 1 for interval in intervals]
        return list(accumulate(first, max)), list(accumulate(reversed(last), min))[::-1]

    def decide(self, prefix: int, bits: int, word: WordSource) -> int:
        """The index of a U whose first ``bits`` bits are ``prefix``; ``word`` draws more bits as needed."""
        while True:
            first, last = self.cells(bits)
            index = bisect_right(first, prefix)
            if index == 0 or prefix > last[index - 1]:
                return index
            prefix, bits = (prefix << 64) | word(), bits + 64


OutcomeIndices = NDArray[Any]
"""An array of the smallest unsigned integer type that can represent the largest index."""

# Both stages use the distribution with 84 bits more than a word has, so that it is evaluated only once.
_GUARD = 84
_LARGEST_WORD = (1 << 64) - 1
_FEW = 1 << 10


class Categorical:
    """Draws indices exactly from random integers ("words") of 16 or 32 bits. Few draws need a second stage."""

    # The 2^b words are cells of probability 2^-b. Index j gets n_j of them, where n_j / 2^b is certainly at most p_j;
    # these cells come first, in order. The few cells left over, about k, have the missing probability: a draw that hits
    # one of them takes 64 more bits, which `Thresholds` of the distribution
    #     r_j = (2^b p_j - n_j) / (2^b - n_0 - ... - n_(k-1))
    # decide. Any n_j satisfy p_j = n_j / 2^b + (fraction of the cells left over) r_j, so the distribution is exact and
    # does not depend on how well the n_j were chosen.
    # ``lookup`` reads the index from a table of 2^word_bits entries, in about 1 ns a draw. Otherwise each word is
    # compared with every bound, in 0.15 ns a draw for each index, whatever the result.
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
        self._rest = None if self._whole == 1 << word_bits else _SecondStage(cuts, cells, word_bits)

    def draw(self, count: int, randomness: Randomness) -> OutcomeIndices:
        words = randomness.words(count, self._word_bits)
        index: OutcomeIndices = self._scan(words) if self._table is None else self._table.take(words, mode="clip")
        if self._rest is not None:
            beyond = (words >= self._whole).nonzero()[0]
            if beyond.size:
                index[beyond] = self._rest.draw(beyond.size, randomness)
        return index

    def _scan(self, words: OutcomeIndices) -> OutcomeIndices:
        if words.size <= _FEW:  # NumPy's calls take longer than the comparisons
            few: OutcomeIndices = np.add.reduce(words >= self._bounds, axis=0, dtype=self._dtype)
            return few
        index = np.zeros(words.shape, self._dtype)
        passed = np.empty(words.shape, np.uint8)
        for bound in self._bounds:
            np.greater_equal(words, bound, out=passed.view(np.bool_))
            np.add(index, passed, out=index)
        return index


class _SecondStage:
    """Draws the index in the second stage, from 64 bits, or more if these do not decide."""

    __slots__ = ("_first", "_last", "_thresholds")

    def __init__(self, cuts: Cuts, cells: list[int], word_bits: int) -> None:
        self._thresholds = Thresholds(rest(cuts, cells, word_bits))
        first, last = self._thresholds.cells(64)
        # A threshold at 0 or 1 does not fit a word. If it is moved inside, one more cell is decided exactly, and
        # nothing else changes.
        self._first = np.array([min(max(u, 0), _LARGEST_WORD) for u in first], np.uint64)
        self._last = np.array([min(max(u, 0), _LARGEST_WORD) for u in last], np.uint64)

    def draw(self, count: int, randomness: Randomness) -> NDArray[np.intp]:
        words = randomness.words(count, 64)
        index = np.searchsorted(self._first, words, side="right")
        undecided = np.flatnonzero((index > 0) & (words <= self._last[index - 1]))
        for place in undecided.tolist():
            index[place] = self._thresholds.decide(int(words[place]), 64, randomness.word)
        return index


def whole_cells(cuts: Cuts, word_bits: int) -> list[int]:
    """For each index j, the number n_j of the 2^b cells that belong to no other index, with b = ``word_bits``; n_j /
    2^b is certainly at most the probability p_j of j.
    """
    inner = cuts(word_bits + _GUARD)
    bits = inner[0].bits if inner else word_bits
    ends = [Interval.of(0, bits), *inner, Interval.of(1, bits)]
    return [max(0, (right.low - left.high) << word_bits >> bits) for left, right in pairwise(ends)]


def rest(cuts: Cuts, cells: list[int], word_bits: int) -> Cuts:
    """The distribution on the remaining cells, with thresholds (2^b T_j - n_0 - ... - n_(j-1)) / (2^b - n_0 - ...)."""
    used = list(accumulate(cells))
    left = (1 << word_bits) - used[-1]

    def remaining(bits: int) -> list[Interval]:
        inner = cuts(bits + word_bits + 4)
        share = Interval.of(Fraction(1, left), inner[0].bits)
        return [(cut * (1 << word_bits) - before) * share for cut, before in zip(inner, used, strict=False)]

    return remaining
