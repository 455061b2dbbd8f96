"""Draw short reports of categories: a report is the index of a block, a set from a small balanced family."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import plain_array
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.integers import uniform_integers
from utmost.core.sampling.random_bits import Randomness
from utmost.design.local.bits import draw_bits
from utmost.design.local.block_families import BlockFamily, balanced_family, indicators
from utmost.design.local.categories import CategoryReport, best_size, chance_inside
from utmost.errors import OutOfRange

BlockNumbers = NDArray[np.int64]
"""Reports as the indices of blocks, shape (clients,)."""

_WORD_BITS = 16


@dataclass(frozen=True, slots=True, repr=False)
class BlockSelection(CategoryReport):
    """Reports that are blocks of a balanced family. A report contains the client's category with the largest
    probability that the level allows.

    Estimates have the variances of `SubsetSelection` with sets of the same size. With the best size, no kind of report
    at this level has a smaller variance. A report is one integer of about 2 log2(k) - 1 bits.

    Args:
        family: Blocks; clients and collector must use the same family.
        level: Level of one report.

    Attributes:
        categories: Number k of categories.
        size: Number d of categories in a block.

    >>> from utmost.local import balanced_family
    >>> how = BlockSelection(balanced_family(7, 3), "1/2")
    >>> how.categories, how.size, how.bits, how.family.block(20)
    (7, 3, 5, (2, 3, 5))
    """

    family: BlockFamily
    level: Level
    categories: int = field(init=False)
    size: int = field(init=False)

    _shown = ("categories", "size", "bits", "level")

    def __post_init__(self) -> None:
        instance(self.family, BlockFamily, "family")
        object.__setattr__(self, "level", level(self.level))
        object.__setattr__(self, "categories", self.family.categories)
        object.__setattr__(self, "size", self.family.size)

    @property
    def bits(self) -> int:
        """The length of a report, in bits."""
        return self.family.bits

    @property
    def is_complete(self) -> bool:
        """Always False, since not every set of d categories is a report."""
        return False

    def sets(self) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield the weight and the categories of every block."""
        return self.family.blocks()

    def read(self, reports: Any) -> BlockNumbers:
        """Return indices of blocks as an array, after a check.

        Raises:
            OutOfRange: if the reports are no list of indices of blocks.
        """
        sent, count = plain_array(reports, "list of reports"), self.family.count
        whole = sent.ndim == 1 and (sent.dtype.kind in "iu" or sent.size == 0)
        if not whole or (sent.size and not 0 <= sent.min() <= sent.max() < count):
            came = f"{sent.dtype} of shape {sent.shape}"
            if whole:
                came = f"integers from {sent.min()} to {sent.max()}"
            remedy = "Pass reports that were drawn with this family."
            required = f"reports must be a list of integers in 0..{count - 1}"
            raise OutOfRange(required, came=came, where="reports", remedy=remedy)
        return sent.astype(np.int64)

    def weights(self, reports: BlockNumbers) -> tuple[NDArray[np.int64], list[Fraction]]:
        """Return the index of the base of each report, and a list that has, for each base, the weight of one block of
        this base.
        """
        share = self.categories * len(self.family.multipliers)
        return reports // share, [weight / share for weight in self.family.weights]

    def members(self, reports: BlockNumbers) -> NDArray[np.int64]:
        """Return the categories of each block, (clients, size)."""
        base, unit, shift = self._parts(reports)
        return np.asarray((unit[:, None] * self._bases()[base] + shift[:, None]) % self.categories)

    def holds(self, reports: BlockNumbers, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether block reports[i] contains the category values[i], for each i."""
        base, unit, shift = self._parts(reports)
        inverse = _inverses(self.family)[unit]
        return np.asarray(indicators(self.family)[base, inverse * (values - shift) % self.categories])

    def drawn(self, values: NDArray[np.int64], randomness: Randomness) -> BlockNumbers:
        """Draw one report for each category in ``values``."""
        # Draw base and multiplier independently of the category, because the blocks of each contain every category
        # equally often. Then a bit decides whether the block contains the category, and a random residue, in the base
        # or outside, determines the shift.
        base, at = self._base_and_multiplier(len(values), randomness)
        inside = draw_bits(np.zeros(len(values), np.uint8), [chance_inside(self)], randomness)
        # Draw a residue in the base and one outside for each client, so that the work does not depend on the bit
        # ``inside``.
        members = self._bases()[base, uniform_integers(self.size, len(values), randomness)]
        rows = np.nonzero(~indicators(self.family))[1]
        others = rows.reshape(-1, self.categories - self.size).astype(np.int64)[
            base, uniform_integers(self.categories - self.size, len(values), randomness)
        ]
        unit = np.array(self.family.multipliers, np.int64)[at]
        shift = (values - unit * np.where(inside, members, others)) % self.categories
        return self._block_numbers(base, at, shift)

    def tightened(
        self, reports: BlockNumbers, higher: CategoryReport, stays: NDArray[np.bool_], randomness: Randomness
    ) -> BlockNumbers:
        """Return each report for which ``stays`` is true, and a random block in place of any other report."""
        base, at = self._base_and_multiplier(len(reports), randomness)
        blind = self._block_numbers(base, at, uniform_integers(self.categories, len(reports), randomness))
        return np.where(stays, reports, blind)

    def relaxed(
        self,
        fresh: BlockNumbers,
        reports: BlockNumbers,
        values: NDArray[np.int64],
        near: NDArray[np.bool_],
        keeps: NDArray[np.bool_],
        randomness: Randomness,
    ) -> BlockNumbers:
        """Return each report for which ``near`` is true, and the report in ``fresh`` in place of any other."""
        return np.where(near, reports, fresh)

    def at(self, other: Level) -> "BlockSelection":
        """Return the kind of report with the same blocks at another level."""
        return BlockSelection(self.family, other)

    def _base_and_multiplier(self, count: int, randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        base = _base_distribution(self.family).draw(count, randomness).astype(np.int64)
        return base, uniform_integers(len(self.family.multipliers), count, randomness)

    def _block_numbers(self, base: Any, at: Any, shift: Any) -> BlockNumbers:
        return np.asarray((base * len(self.family.multipliers) + at) * self.categories + shift, np.int64)

    def _parts(self, reports: BlockNumbers) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        base, at, shift = self.family.parts(reports)
        return base, np.array(self.family.multipliers, np.int64)[at], shift

    def _bases(self) -> NDArray[np.int64]:
        return np.array(self.family.bases, np.int64)


@progress_bar("Searching for a report")
def short_report(
    categories: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> BlockSelection:
    """Return a kind of report with the variance of `best_report` and fewer bits: a report is the index of a block of
    categories.

    Args:
        categories: Number k of categories, at least 2.
        epsilon, alpha: Level of a report, as epsilon or as alpha = exp(-epsilon).

    Raises:
        NotALevel, OutOfRange: if the level is invalid, or if there are fewer than two categories.
        Unsupported: if `balanced_family` finds no family.

    Cost: that of `balanced_family`. Clients and collector must use the same family, so save the family.

    Source: [pan2026], [park2023]; proofs/theory/local-protocols.md has the proof.

    >>> from utmost.local import best_report
    >>> how, sets = short_report(10, alpha="1/3"), best_report(10, alpha="1/3")
    >>> how.bits, sets.bits, how.variance == sets.variance == how.least_variance
    (6, 7, True)
    """
    k, at = natural(categories, "categories", least=2), level(epsilon, alpha)
    return BlockSelection(balanced_family(k, best_size(k, at)), at)


@lru_cache(maxsize=8)
def _base_distribution(family: BlockFamily) -> Categorical:
    ends = list(accumulate(family.weights))[:-1]
    return Categorical(lambda bits: [Interval.of(end, bits) for end in ends], word_bits=_WORD_BITS, lookup=True)


@lru_cache(maxsize=8)
def _inverses(family: BlockFamily) -> NDArray[np.int64]:
    """Return an array (k,) that has, at the index u, the inverse modulo k of each multiplier u."""
    inverses = np.zeros(family.categories, np.int64)
    for unit in family.multipliers:
        inverses[unit] = pow(unit, -1, family.categories)
    return inverses
