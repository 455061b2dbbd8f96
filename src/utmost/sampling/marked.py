"""Drawing a geometric variable with its mark: many at once, or one."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from utmost.sampling.bits import Randomness, Word
from utmost.sampling.categorical import Categorical, Indices
from utmost.sampling.geometric import Real, take_apart
from utmost.sampling.thresholds import Cuts, Thresholds
from utmost.sampling.wide import Integers, smallest_type


@dataclass(frozen=True, slots=True)
class Plan:
    """How draws by the array are made.

    Attributes:
        word_bits: the random bits of a first look: one draw in 2^word_bits, or a few of them, need a second.
        lookup: read tables, or compare with every bound.
        indices: about how many indices the top part may have.
        group_bits: the most bits in a group of digits.
        tail_bits: the top part starts as low as a tail of at most 2^-tail_bits allows.
    """

    word_bits: int
    lookup: bool
    indices: int
    group_bits: int
    tail_bits: int


CONSTANT = Plan(word_bits=32, lookup=False, indices=8, group_bits=3, tail_bits=32)
"""Few comparisons, each made for every draw. A second look happens about once in 10^8 draws."""

TABLE = Plan(word_bits=16, lookup=True, indices=128, group_bits=8, tail_bits=16)
"""One table lookup for each eight binary digits. A second look happens once in 80 to 6000 draws."""

_ONE_INDICES, _ONE_GROUP_BITS = 64, 8


class ManyMarked:
    """Arrays of independent (K, mark): K ~ Geom(ratio), and an independent mark.

    Args:
        ratio: a with 0 < a < 1.
        marks: the probabilities of the marks; how many there are is a power of two.
        plan: `CONSTANT` or `TABLE`.
    """

    __slots__ = ("_groups", "_mark_bits", "_shift", "_top", "_values")

    def __init__(self, ratio: Real, marks: Sequence[Real], plan: Plan) -> None:
        self._values = plan.indices // len(marks)
        self._mark_bits = len(marks).bit_length() - 1
        parts = take_apart(ratio, marks, values=self._values, group_bits=plan.group_bits, tail_bits=plan.tail_bits)
        self._shift = parts.shift
        self._top = Categorical(parts.top, word_bits=plan.word_bits, lookup=plan.lookup)
        self._groups = [
            (size, Categorical(law, word_bits=plan.word_bits, lookup=plan.lookup)) for size, law in parts.groups
        ]

    def draw(self, count: int, randomness: Randomness) -> tuple[Integers, Indices]:
        """``count`` variables and their marks."""
        k, mark = self._tops(count, randomness)
        for size, law in self._groups:
            np.left_shift(k, size, out=k)
            digits = law.draw(count, randomness)
            np.bitwise_or(k, digits.view(np.int8) if k.dtype == np.int8 else digits.astype(k.dtype), out=k)
        return k, mark

    def _tops(self, count: int, randomness: Randomness) -> tuple[Integers, Indices]:
        """Q and the marks, Q in a type that holds Q << shift as well."""
        index = self._top.draw(count, randomness)
        mark = index & ((1 << self._mark_bits) - 1)
        q: Integers = index >> self._mark_bits
        tail = np.flatnonzero(q == self._values)
        if not tail.size:
            return q.astype(smallest_type((self._values - 1).bit_length() + self._shift)), mark
        # Memoryless: beyond the last value the top part starts afresh. The mark stays; the fresh one is not used.
        fresh, _ = self._tops(tail.size, randomness)
        q = q.astype(np.int64)
        q[tail] += fresh.astype(np.int64)
        return q.astype(smallest_type(int(q.max()).bit_length() + self._shift)), mark


class OneMarked:
    """Single (K, mark), each part from one word of 64 bits, by bisection.

    For variables whose law changes from draw to draw, as a `ManyMarked` pays only for many draws. The time of a
    bisection tells a little of its outcome: it is not for noise that must not be told by time.
    """

    __slots__ = ("_groups", "_mark_bits", "_mask", "_top", "_values")

    def __init__(self, ratio: Real, marks: Sequence[Real]) -> None:
        self._values = _ONE_INDICES // len(marks) - 1
        self._mark_bits = len(marks).bit_length() - 1
        self._mask = len(marks) - 1
        parts = take_apart(ratio, marks, values=self._values, group_bits=_ONE_GROUP_BITS, tail_bits=32)
        self._top = chooser(parts.top)
        self._groups = [(size, chooser(law)) for size, law in parts.groups]

    def draw(self, word: Word) -> tuple[int, int]:
        """One variable and its mark."""
        index = self._top(word)
        mark, q = index & self._mask, index >> self._mark_bits
        k = q
        while q == self._values:
            q = self._top(word) >> self._mark_bits
            k += q
        for size, choose in self._groups:
            k = k << size | choose(word)
        return k, mark


def chooser(cuts: Cuts) -> Callable[[Word], int]:
    """A function that draws one index of a law."""
    thresholds = Thresholds(cuts)
    first, last = thresholds.cells(64)
    last.insert(0, -1)  # so that last[index] belongs to the last threshold passed, if any

    def choose(word: Word) -> int:
        drawn = word()
        index = bisect_right(first, drawn)
        return index if drawn > last[index] else thresholds.decide(drawn, 64, word)

    return choose
