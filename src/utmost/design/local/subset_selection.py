"""Draw reports by subset selection, where a report is a set of d of k categories; d = 1 is randomised response."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import plain_array
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, natural
from utmost.core.sampling.integers import uniform_integers
from utmost.core.sampling.random_bits import Randomness
from utmost.design.local.bits import draw_bits
from utmost.design.local.categories import CategoryReport, best_size, chance_inside
from utmost.errors import OutOfRange

Sets = NDArray[np.int64]
"""Reports as an array (clients, size). Each row contains the categories of one set, ascending."""


@dataclass(frozen=True, slots=True, repr=False)
class SubsetSelection(CategoryReport):
    """Reports that are sets of d of k categories. A report contains the client's category with the largest probability
    that the level allows.

    Args:
        categories: Number k of categories, at least 2.
        size: Number d of categories in a report, from 1 (randomised response) to k - 1.
        level: Level of one report.

    Raises:
        OutOfRange: if the size is outside 1..k - 1, or if there are fewer than two categories.

    >>> best = best_report(4, alpha="1/3")
    >>> best, best.inside, best.outside
    (SubsetSelection(categories=4, size=1, level=level(alpha='1/3')), Fraction(1, 2), Fraction(1, 6))
    """

    categories: int
    size: int
    level: Level

    _shown = ("categories", "size", "level")

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", natural(self.categories, "categories", least=2))
        object.__setattr__(self, "size", natural(self.size, "size", 1, self.categories - 1))
        object.__setattr__(self, "level", level(self.level))

    @property
    def bits(self) -> int:
        """The length of a report, in bits, if the client sends the index of the set among all sets."""
        return (comb(self.categories, self.size) - 1).bit_length()

    @property
    def is_complete(self) -> bool:
        """Always True, since every set of d categories is a report."""
        return True

    def sets(self) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield the weight and the categories of every set; all weights are equal."""
        weight = Fraction(1, comb(self.categories, self.size))
        return ((weight, some) for some in combinations(range(self.categories), self.size))

    def read(self, reports: Any) -> Sets:
        """Return reports with ascending categories, after a check.

        Raises:
            OutOfRange: if a report is no set of d categories.
        """
        sent = plain_array(reports, "list of reports")
        if sent.ndim != 2 or sent.shape[1] != self.size or sent.dtype.kind not in "iu":
            raise OutOfRange(
                f"reports must be integers of shape (clients, {self.size})",
                came=f"{sent.dtype} of shape {sent.shape}",
                where="reports",
            )
        sets = np.sort(sent.astype(np.int64), axis=1)
        if sets.size and (sets.min() < 0 or sets.max() >= self.categories or (sets[:, 1:] == sets[:, :-1]).any()):
            required = f"a report must contain {self.size} different categories in 0..{self.categories - 1}"
            repeats = (sets[:, 1:] == sets[:, :-1]).any(axis=1)
            at = int(np.argmax((sets < 0).any(axis=1) | (sets >= self.categories).any(axis=1) | repeats))
            remedy = "Pass reports that were drawn with these categories and this size."
            raise OutOfRange(required, came=sets[at].tolist(), where=f"report {at}", remedy=remedy)
        return sets

    def weights(self, reports: Sets) -> tuple[NDArray[np.int64], list[Fraction]]:
        """Return the index 0 for each report, and a list with one weight, which all reports have."""
        return np.zeros(len(reports), np.int64), [Fraction(1, comb(self.categories, self.size))]

    def members(self, reports: Sets) -> Sets:
        """Return the reports unchanged: they are arrays of categories."""
        return reports

    def holds(self, reports: Sets, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether reports[i] contains the category values[i], for each i."""
        return np.asarray((reports == values[:, None]).any(axis=1))

    def drawn(self, values: NDArray[np.int64], randomness: Randomness) -> Sets:
        """Draw one report for each category in ``values``."""
        # Draw d of the other k - 1 categories in random order; replace the last of them by the client's category if the
        # report is to contain it.
        k = self.categories
        others = _random_members(_rows_of_all(len(values), k - 1), self.size, randomness)
        others += others >= values[:, None]
        own = draw_bits(np.zeros(len(values), np.uint8), [chance_inside(self)], randomness)
        others[own, -1] = values[own]
        return np.sort(others, axis=1)

    def tightened(
        self, reports: Sets, higher: CategoryReport, stays: NDArray[np.bool_], randomness: Randomness
    ) -> Sets:
        """Return a random superset or subset of each report for which ``stays`` is true, and a random set for any other
        report.
        """
        k, d1, d2 = self.categories, self.size, higher.size
        sets = _random_members(_rows_of_all(len(reports), k), d1, randomness)
        near, extra = reports[stays], _others(reports[stays], k)
        if d2 <= d1:
            sets[stays] = np.concatenate([near, _random_members(extra, d1 - d2, randomness)], axis=1)
        else:
            sets[stays] = _random_members(near, d1, randomness)
        return np.sort(sets, axis=1)

    def relaxed(
        self,
        fresh: Sets,
        reports: Sets,
        values: NDArray[np.int64],
        near: NDArray[np.bool_],
        keeps: NDArray[np.bool_],
        randomness: Randomness,
    ) -> Sets:
        """Return a random superset or subset of each report for which ``near`` is true, and the report in ``fresh`` for
        any other.
        """
        k, d1, d2 = self.categories, reports.shape[1], self.size
        own = self.holds(reports, values)
        for has in (False, True):
            rows = np.flatnonzero(near & (own == has))
            sets, x, kept_value = reports[rows], values[rows], keeps[rows]
            if d2 <= d1:
                base, pool, wanted = sets[:, :0], _without_members(sets, x) if has else sets, d2
                may_keep = has
            else:
                rest = _others(sets, k)
                base, pool, wanted = sets, rest if has else _without_members(rest, x), d2 - d1
                may_keep = not has
            completed = np.empty((len(rows), wanted), np.int64)
            drawn = min(wanted, pool.shape[1])
            completed[:, :drawn] = _random_members(pool, drawn, randomness)
            if may_keep and wanted:
                completed[kept_value, -1] = x[kept_value]
            fresh[rows] = np.concatenate([base, completed], axis=1)
        return np.sort(fresh, axis=1)

    def at(self, other: Level) -> "SubsetSelection":
        """Return the kind of report with sets of the same size at another level."""
        return SubsetSelection(self.categories, self.size, other)


def best_report(
    categories: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> SubsetSelection:
    """Return the kind of report of one of k categories with which the estimated counts have the least variance.

    If each client independently sends one report at the level, and the estimates of the k counts are unbiased, no
    mechanism has a smaller sum of the k variances for the worst categories of the clients. The optimality of the report
    is exact, and holds for any number of clients. The number of categories in a report is one of the two integers next
    to k alpha/(1 + alpha), the smaller integer if both are equally good.

    Args:
        categories: Number k of categories, at least 2.
        epsilon, alpha: Level of a report, as epsilon or as alpha = exp(-epsilon).

    Raises:
        NotALevel, OutOfRange: if the level is invalid, or if there are fewer than two categories.

    Source: [ye2018], [pan2026]; the proof is in proofs/theory/local-protocols.md.

    >>> [best_report(k, epsilon=1).size for k in (2, 4, 10, 1000)]
    [1, 1, 3, 269]
    >>> best_report(10, alpha="1/3").variance, best_report(10, alpha="1/3").verify()
    (Fraction(333, 14), True)
    """
    k, at = natural(categories, "categories", least=2), level(epsilon, alpha)
    return SubsetSelection(k, best_size(k, at), at)


def _rows_of_all(count: int, size: int) -> Sets:
    return np.tile(np.arange(size, dtype=np.int64), (count, 1))


def _others(sets: Sets, categories: int) -> Sets:
    """Return, for each set, the categories that it does not contain, ascending."""
    inside = np.zeros((len(sets), categories), np.bool_)
    np.put_along_axis(inside, sets, True, axis=1)
    return np.nonzero(~inside)[1].reshape(len(sets), categories - sets.shape[1]).astype(np.int64)


def _without_members(sets: Sets, values: NDArray[np.int64]) -> Sets:
    """Return sets[i] without its member values[i], for each i."""
    return np.asarray(sets[sets != values[:, None]]).reshape(len(sets), max(sets.shape[1] - 1, 0))


def _random_members(pool: Sets, size: int, randomness: Randomness) -> Sets:
    """Return ``size`` random members of each row of ``pool``, in uniformly random order."""
    # The first ``size`` steps of a shuffle suffice.
    rows, shuffled = np.arange(len(pool)), pool.copy()
    for at in range(size):
        other = at + uniform_integers(pool.shape[1] - at, len(pool), randomness)
        shuffled[rows, at], shuffled[rows, other] = shuffled[rows, other], shuffled[rows, at].copy()
    return shuffled[:, :size]
