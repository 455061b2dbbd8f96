"""Exact noise keyed by identifier: geometric noise, and transitions between levels, as functions of an item's random
integers.

**Inversion.** Each draw is the index of a uniform number among ascending thresholds: the number of thresholds that are
at most the uniform number. An item (a row with an identifier) has uniform numbers, which are read word by word: the
first 32 bits give one of 2^32 cells, and thresholds rounded outward to integers show that all but a few cells lie
certainly between two thresholds. In the few other cells, further bits of the item's number are read until they decide.
So a draw depends only on the item's words and the distribution, and not on floats, precision or other items. The
distribution is exact.

**Geometric variables.** K ~ Geom(a) is K = Q 2^m + D with Q ~ Geom(a^(2^m)) and independent binary digits of D. The
digits are drawn in groups of eight; the group that starts at bit s has P(d) proportional to a^(d 2^s). m is the least
number with 2^m log(1/a) >= 1/2, so that tables stay small at every level.

The time of a draw is not constant: it depends slightly on the random words. Nobody who must not know the noise may be
able to measure this time.
"""

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.gradual.steps import Bridge, Tightening
from utmost.core.sampling.categorical import Cuts, Thresholds
from utmost.core.sampling.geometric_draws import Real, digits, signs, squared_often
from utmost.core.sampling.integers import Integers, add, narrowed

Selection = NDArray[np.intp]
_GROUP_BITS, _GUIDE_BITS, _ROOM, _KEPT = 8, 12, 62, 256
_HOME, _ACROSS, _STAY, _LEAP = range(4)
_UNSURE, _WIDEST = -1, (1 << 15) - 1


class OwnWords(Protocol):
    """Uniform numbers of items, one number for each slot, which are read word by word; `ItemWords` is an example."""

    word_bits: int

    def __len__(self) -> int: ...

    def first(self, slot: int, some: Selection | None = None) -> NDArray[Any]:
        """The first word of a slot, for all items or for the items ``some``."""

    def more(self, item: int, slot: int, extension: int) -> tuple[int, int]:
        """Further bits of an item's uniform number, and how many bits these are."""


class Inversion:
    """Draws an index: the number of thresholds that are at most an item's uniform number."""

    # If there are more thresholds than the listed ones, the last interval reaches up to 1. A number beyond its
    # beginning then needs more bits, and with more bits more thresholds are listed.
    __slots__ = ("_first", "_guide", "_last", "_shift", "_thresholds")

    def __init__(self, cuts: Cuts, word_bits: int) -> None:
        self._thresholds = Thresholds(cuts)
        first, last = self._thresholds.cells(word_bits)
        top = (1 << word_bits) - 1
        inside = [(min(max(a, 0), top), min(b, top)) for a, b in zip(first, last, strict=True) if a <= top]
        self._first = np.array([a for a, _ in inside], np.int64)
        self._last = np.array([b for _, b in inside], np.int64)
        self._shift = max(word_bits - _GUIDE_BITS, 0)
        starts = np.arange((1 << word_bits - self._shift) + 1, dtype=np.int64) << self._shift
        low, high = self._indices(starts[:-1]), self._indices(starts[1:] - 1)
        clear = (low == high) & ~self._near(starts[:-1], low)
        # The first 12 bits decide most words: a table of 4096 entries stays in the cache, unlike the data of a
        # bisection.
        self._guide = np.where(clear, low, _UNSURE).astype(np.int16)

    def drawn(self, words: OwnWords, slot: int, some: Selection | None = None) -> Integers:
        """Draw an index for each item, or for the items ``some``."""
        first = words.first(slot, some)
        index: Integers = self._guide.take(first >> self._shift)
        at = np.flatnonzero(index == _UNSURE)
        if at.size:
            close = first[at].astype(np.int64)
            close_indices = self._indices(close)
            index[at] = close_indices
            # One word in many thousands is in a cell with a threshold: further bits of the item decide, in Python.
            for place in at[self._near(close, close_indices)].tolist():
                exact = self._decided(words, slot, place if some is None else int(some[place]), int(first[place]))
                if exact > _WIDEST:
                    index = index.astype(object)
                index[place] = exact
        return index

    def _indices(self, first: NDArray[np.int64]) -> NDArray[np.intp]:
        return np.searchsorted(self._first, first, side="right")

    def _near(self, first: NDArray[np.int64], index: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether it is uncertain that each number has reached the last of the ``index`` thresholds counted for it."""
        if not self._last.size:
            return np.zeros(first.size, np.bool_)
        return (index > 0) & (first <= self._last[index - 1])

    def _decided(self, words: OwnWords, slot: int, item: int, drawn: int) -> int:
        bits, extension = words.word_bits, 0
        while True:
            extension += 1
            further, count = words.more(item, slot, extension)
            drawn, bits = drawn << count | further, bits + count
            first, last = self._thresholds.cells(bits)
            index = bisect_right(first, drawn)
            if index == 0 or drawn > last[index - 1]:
                return index


class _Geometric:
    """Draws K ~ Geom(a) from ``slots`` consecutive slots of an item: Q, then the groups of digits, lowest first."""

    __slots__ = ("_groups", "_shift", "_top", "slots")

    def __init__(self, ratio: Real, doublings: int, word_bits: int) -> None:
        starts = range(0, doublings, _GROUP_BITS)
        self._shift = doublings
        self._top = Inversion(geometric_cuts(squared_often(ratio, doublings)), word_bits)
        self._groups = [
            (start, Inversion(digits(squared_often(ratio, start), min(_GROUP_BITS, doublings - start)), word_bits))
            for start in starts
        ]
        self.slots = 1 + len(self._groups)

    def drawn(self, words: OwnWords, slot: int, some: Selection | None = None) -> Integers:
        top = self._top.drawn(words, slot, some)
        # int64 if top 2^m + digits certainly fits, and Python's integers otherwise.
        fits = top.dtype != object and self._shift + 16 <= _ROOM
        k = top.astype(np.int64 if fits else object) << self._shift
        for place, (start, group) in enumerate(self._groups, start=slot + 1):
            k += group.drawn(words, place, some).astype(k.dtype) << start
        return k


def geometric_cuts(ratio: Real) -> Cuts:
    """The thresholds 1 - a^j of Geom(a) for j = 1, 2, ..., up to the last one that the number of bits distinguishes
    from 1.
    """

    # The last interval contains its own threshold and all further ones.
    def cuts(bits: int) -> list[Interval]:
        inner = bits + 2 * bits.bit_length() + 8
        a = ratio(inner)
        power, thresholds = a, [1 - a]
        while power.high >> (inner - bits):  # the loop ends when a^j < 2^-bits
            power = power * a
            thresholds.append(1 - power)
        # The last interval reaches 1, so that no number is beyond all intervals. For a number in the last interval,
        # more bits are read.
        return [*thresholds[:-1], Interval(thresholds[-1].low, max(thresholds[-1].high, 1 << inner), inner)]

    return cuts


def doublings(terms: Sequence[tuple[Level, int]]) -> int:
    """The least m >= 0 with 2^m d >= 1/2, where d > 0 is the sum of sign times epsilon over the pairs (level, sign) in
    ``terms``.
    """
    # A rational d is compared exactly. An irrational d has 2^m d != 1/2 by Lindemann's theorem, so that intervals of
    # growing precision decide.
    if all(level.base is None for level, _ in terms):
        d = sum((sign * level.power for level, sign in terms), Fraction(0))
        return _least_doublings(d, d)[0]
    bits = 128
    while True:
        total = sum((level.epsilon_interval(bits) * sign for level, sign in terms), Interval.of(0, bits))
        # The sum of logarithms is 0 only for equal levels, which are excluded: with more bits its sign becomes certain.
        if total.low > 0:
            low, high = _least_doublings(total.lower, total.upper)
            if low == high:
                return low
        bits *= 2


def _least_doublings(*bounds: Fraction) -> tuple[int, ...]:
    """The least m with 2^m d >= 1/2, that is 2^(m+1) >= 1/d, for each d."""
    return tuple(max((-(-d.denominator // d.numerator) - 1).bit_length() - 1, 0) for d in bounds)


def item_geometric(level: Level, words: OwnWords) -> Integers:
    """Draw X with P(x) = (1-a)/(1+a) a^|x|: slot 0 chooses K or -1 - K, and the other slots give K ~ Geom(a)."""
    sign, size = _fresh(level, words.word_bits)
    k = size.drawn(words, 1)
    return narrowed(k ^ -sign.drawn(words, 0).astype(k.dtype))


def item_tightening(transition: Tightening, words: OwnWords) -> Integers:
    """Draw the tightening noise W: slot 0 chooses K, -1 - K or 0, and the other slots give K ~ Geom(a)."""
    mark, size = _tightened(transition, words.word_bits)
    drawn = mark.drawn(words, 0)
    some = np.flatnonzero(drawn < 2)
    k = size.drawn(words, 1, some)
    moved: Integers = np.zeros(len(words), k.dtype)
    moved[some] = k ^ -drawn[some].astype(k.dtype)
    return narrowed(moved)


def item_bridge(transition: Bridge, difference: Integers, words: OwnWords) -> Integers:
    """Draw the K of `Bridge`, or of `Relaxing`, for each item, given its W in ``difference``."""
    # Slot 0 chooses the row of the table of `Bridge`. If W = 0, slot 1 decides whether K = 0 or the table is used. G ~
    # Geom(m/a) and J ~ Geom(am) follow. Variables that the row does not use are not drawn.
    marks, idle, fall, rise = _bridged(transition, words.word_bits)
    mark, size = marks.drawn(words, 0), np.abs(difference)
    if idle is not None:
        at_zero = np.flatnonzero(size == 0)
        # At W = 0, K has an additional probability of being 0: `Bridge.idle`.
        mark[at_zero[idle.drawn(words, 1, at_zero) == 0]] = _HOME
    within = np.flatnonzero(mark >= _STAY)
    inward = fall.drawn(words, 2, within)
    reached = inward >= size[within]
    leaping = within[reached & (mark[within] == _LEAP)]
    beyond = np.flatnonzero(mark == _ACROSS)
    outward = rise.drawn(words, 2 + fall.slots, np.concatenate([leaping, beyond]))
    ahead = np.zeros(difference.size, object if object in (difference.dtype, inward.dtype, outward.dtype) else np.int64)
    ahead[within] = np.minimum(inward, size[within])
    ahead[leaping] = add(ahead[leaping], outward[: leaping.size])
    ahead[beyond] = ~outward[leaping.size :]
    return narrowed(np.where(difference < 0, -ahead, ahead))


def item_uniform(bound: int, words: OwnWords) -> Integers:
    """floor(U n) for the number U of slot 0: uniform on 0..n-1, int64 or Python ints."""
    # If the product of word and bound does not fit 64 bits, Python's integers are used.
    if bound.bit_length() + words.word_bits > _ROOM:
        return narrowed(np.array([*(_scaled(bound, words, item) for item in range(len(words)))], object))
    first = words.first(0).astype(np.int64)
    drawn: Integers = first * bound >> words.word_bits
    # If a later bit could change the result, this word does not decide, and further bits are read. Unlike a modulus,
    # this has no bias.
    for item in np.flatnonzero((first + 1) * bound - 1 >> words.word_bits != drawn).tolist():
        drawn[item] = _scaled(bound, words, item)
    return drawn


def _scaled(bound: int, words: OwnWords, item: int) -> int:
    drawn, bits, extension = int(words.first(0, np.array([item]))[0]), words.word_bits, 0
    while drawn * bound >> bits != (drawn + 1) * bound - 1 >> bits:
        extension += 1
        further, count = words.more(item, 0, extension)
        drawn, bits = drawn << count | further, bits + count
    return drawn * bound >> bits


def _sums(*pieces: Real) -> Cuts:
    """The thresholds of an index with these probabilities; the last index has the remaining probability."""

    def cuts(bits: int) -> list[Interval]:
        inner = bits + 8
        sums = accumulate(piece(inner) for piece in pieces)
        return [Interval(max(total.low, 0), min(max(total.high, 0), 1 << inner), inner) for total in sums]

    return cuts


@lru_cache(maxsize=_KEPT)
def _fresh(level: Level, word_bits: int) -> tuple[Inversion, _Geometric]:
    ratio = level.alpha_interval
    return Inversion(_sums(signs(ratio)[0]), word_bits), _Geometric(ratio, doublings([(level, 1)]), word_bits)


@lru_cache(maxsize=_KEPT)
def _tightened(transition: Tightening, word_bits: int) -> tuple[Inversion, _Geometric]:
    change, ratio = transition.change, transition.lower.alpha_interval
    plain = lambda bits: change(bits) / (1 + ratio(bits))  # noqa: E731
    turned = lambda bits: change(bits) * ratio(bits) / (1 + ratio(bits))  # noqa: E731
    size = _Geometric(ratio, doublings([(transition.lower, 1)]), word_bits)
    return Inversion(_sums(plain, turned), word_bits), size


@lru_cache(maxsize=_KEPT)
def _bridged(transition: Bridge, word_bits: int) -> tuple[Inversion, Inversion | None, _Geometric, _Geometric]:
    lower, middle = transition.lower, transition.middle
    # The tables are cached for each transition: they take milliseconds, and a draw takes a hundred nanoseconds.
    marks = Inversion(_sums(transition.home, transition.across, transition.stay), word_bits)
    idle = None if transition.higher is None else Inversion(_sums(transition.idle), word_bits)
    fall = _Geometric(transition.fall, doublings([(middle, 1), (lower, -1)]), word_bits)
    rise = _Geometric(transition.rise, doublings([(middle, 1), (lower, 1)]), word_bits)
    return marks, idle, fall, rise
