"""Bounding what one person changes: for each person's cells, the few with the least hash, exactly so many of them.

What is kept of a person is a function of the key and of that person's own rows: see proofs/theory/counting.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import largest_size
from utmost.core.sampling.item_words import Identifiers, Tags, compound_tags, item_tags
from utmost.tables.cells.event_codes import TextsInArrow

_COMPACT = 1 << 22
_FITTING = 62
_FITS = 1 << _FITTING
_PERSONS = 1 << 16
_DENSE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Each person's sum in each cell with events of that person: distinct pairs, in ascending order.

    Attributes:
        persons: the code of each pair's person, ascending.
        cells: the number of its cell, ascending within the person.
        sums: the sum of its events: int64, or an object array of Python integers where that could overflow.
    """

    persons: NDArray[np.int64]
    cells: NDArray[np.int64]
    sums: NDArray[Any]

    def where(self, chosen: NDArray[np.bool_]) -> "Pairs":
        """The pairs that are kept."""
        return Pairs(self.persons[chosen], self.cells[chosen], self.sums[chosen])

    def clipped(self, low: int, high: int) -> "Pairs":
        """The pairs with their sums moved into [low, high]; those whose sum is then 0 change nothing and are left."""
        beyond = max(abs(low), abs(high)) >= _FITS
        sums = np.clip(self.sums.astype(object) if beyond else self.sums, low, high)
        clipped = Pairs(self.persons, self.cells, sums if beyond else sums.astype(np.int64))
        return clipped.where(clipped.sums != 0)


@dataclass(slots=True, eq=False)
class EventSums:
    """Sums of events by person and cell, gathered batch by batch; memory goes with the pairs, not with the events."""

    _parts: list[Pairs] = field(default_factory=list)
    _rows: int = 0
    _limit: int = _COMPACT

    def add(self, persons: NDArray[np.int64], cells: NDArray[np.int64], amounts: NDArray[Any] | None) -> None:
        """Take a batch in: for each event, its person, its cell (outside the domain where negative) and its amount."""
        inside = cells >= 0
        if not inside.all():
            persons, cells, amounts = persons[inside], cells[inside], None if amounts is None else amounts[inside]
        part = _summed(persons, cells, amounts)
        self._parts.append(part)
        self._rows += len(part.cells)
        if self._rows > self._limit:
            self._rows = len(self.pairs().cells)
            self._limit = 2 * self._rows + _COMPACT

    def pairs(self) -> Pairs:
        """All sums so far."""
        if len(self._parts) != 1:
            nothing = np.zeros(0, dtype=np.int64)
            parts = self._parts or [Pairs(nothing, nothing, nothing)]
            persons, cells = (np.concatenate([getattr(part, name) for part in parts]) for name in ("persons", "cells"))
            self._parts = [_summed(persons, cells, np.concatenate([part.sums for part in parts]))]
        return self._parts[0]


def _summed(persons: NDArray[np.int64], cells: NDArray[np.int64], amounts: NDArray[Any] | None) -> Pairs:
    """The sum of the amounts of each distinct pair, exactly; how often it comes where no amounts are given."""
    if len(cells) == 0:
        return Pairs(persons, cells, np.zeros(0, dtype=np.int64) if amounts is None else amounts)
    bits = int(cells.max()).bit_length()  # a key is taken apart by a shift, not by a division
    if int(persons.max()).bit_length() + bits >= _FITTING:
        used, codes = np.unique(cells, return_inverse=True)
        inner = _summed(persons, codes.astype(np.int64), amounts)
        return Pairs(inner.persons, used[inner.cells], inner.sums)
    keys = persons << bits | cells
    if amounts is None:
        keys.sort()
        starts = np.flatnonzero(begins(keys))
        distinct = keys[starts]
        return Pairs(distinct >> bits, distinct & ((1 << bits) - 1), np.diff(starts, append=len(keys)))
    order = np.argsort(keys)
    keys, amounts = keys[order], amounts[order]
    if amounts.dtype != object and largest_size(amounts) * len(amounts) >= _FITS:
        amounts = amounts.astype(object)
    starts = np.flatnonzero(begins(keys))
    distinct = keys[starts]
    return Pairs(distinct >> bits, distinct & ((1 << bits) - 1), np.add.reduceat(amounts, starts))


def begins(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Beginnings of runs of equal rows, of rows in an order in which equal ones are neighbours.

    >>> begins(np.array([3, 3, 7]), np.array([1, 2, 2])).tolist()
    [True, True, True]
    """
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = reduce(np.logical_or, (column[1:] != column[:-1] for column in columns))
    return new


def least_hashed(
    pairs: Pairs, most: int, names: Sequence[str], *, key: bytes, purpose: bytes, runs: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Which pairs are kept: for each person, the ``most`` with the least hash, all where there are no more.

    Args:
        pairs: distinct, ordered by person.
        most: Number of rows kept of one person, >= 1.
        names: each person's text, by code.
        key, purpose: Input of the hash, beside the person and the number of the cell.
        runs: ascending numbers, each of pairs of one person, so many of which are kept; a person's when left out.

    Returns:
        (n,) booleans; of a person, or run, with c pairs exactly min(c, most) are true, whatever the hash: ties go to
        the pair that comes first.

    Cost: one mark for each pair of a person with more than ``most``, see `pair_marks`.
    """
    numbers = pairs.persons if runs is None else runs
    counts = np.bincount(numbers)
    # Who has no more than may be kept is not hashed: nearly everybody, as a rule.
    many = counts[numbers] > most if len(counts) else np.zeros(0, dtype=bool)
    rows = np.flatnonzero(many)
    numbers, persons, cells = numbers[rows], pairs.persons[rows], pairs.cells[rows]
    starts = np.flatnonzero(begins(numbers)) if len(rows) else rows
    sizes = np.diff(starts, append=len(rows))
    marks, secret = np.empty(len(rows), dtype=np.uint64), marking_secret(purpose, key)
    for first in range(0, len(starts), _PERSONS):
        last = min(first + _PERSONS, len(starts))
        who = identified(names, persons[starts[first:last]])
        end = int(starts[last]) if last < len(starts) else len(rows)
        some = slice(int(starts[first]), end)
        # A hash of person and cell under the key: the choice depends on the person's own rows and on nobody else's.
        marks[some] = pair_marks(secret, who, sizes[first:last], cell_tags(secret, cells[some]))
    chosen = ~many
    chosen[rows] = least_in_runs(marks, starts, sizes, most)
    return chosen


def least_in_runs(
    marks: NDArray[np.uint64], starts: NDArray[np.int64], sizes: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """Which marks are among the ``most`` least of their run; of equal marks the first ones are.

    Args:
        marks: Marks in runs, one behind the other.
        starts, sizes: First place of each run, and its length, above ``most``.

    >>> marks = np.array([3, 1, 2, 5, 5, 5], dtype=np.uint64)
    >>> least_in_runs(marks, np.array([0, 3]), np.array([3, 3]), 2).tolist()
    [False, True, True, True, True, False]
    """
    is_least = np.zeros(len(marks), dtype=np.bool_)
    order = np.argsort(sizes, kind="stable")
    ends = np.flatnonzero(np.r_[sizes[order][1:] != sizes[order][:-1], True]) + 1 if len(order) else order
    for runs in np.split(order, ends[:-1]):  # runs of one length are the rows of a matrix
        if not len(runs):
            continue
        at = starts[runs, None] + np.arange(sizes[runs[0]])
        rows = marks[at]
        edge = np.partition(rows, most - 1, axis=1)[:, most - 1 : most]
        chosen = rows <= edge
        if np.count_nonzero(chosen) > most * len(runs):
            below, equal = rows < edge, rows == edge
            chosen = below | (equal & (equal.cumsum(axis=1) <= most - below.sum(axis=1)[:, None]))
        is_least[at] = chosen
    return is_least


def identified(names: Sequence[str], codes: NDArray[np.int64]) -> Identifiers:
    """The texts of some persons, as identifiers."""
    if isinstance(names, TextsInArrow):
        return names.identifiers(codes)
    # Files can hold halves of surrogate pairs, which no text of Unicode has.
    return Identifiers.of_bytes([names[code].encode("utf-8", "surrogatepass") for code in codes.tolist()])


def cell_tags(secret: bytes, cells: NDArray[np.int64]) -> Tags:
    """The tag of the number of each cell; made once for each number where there are few."""
    width = int(cells.max(initial=0)) + 1
    if 4 * width > len(cells):
        return item_tags(secret, [Identifiers.of(cells)])
    return item_tags(secret, [Identifiers.of(np.arange(width))])[cells]


def marking_secret(purpose: bytes, key: bytes) -> bytes:
    """The 32 bytes under which the marks for one purpose are made, of a key of any length."""
    # Each behind its length, so that no two pairs of purpose and key give the same bytes.
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in (purpose, key))).digest()


def pair_marks(secret: bytes, persons: Identifiers, counts: NDArray[np.int64], cells: Tags) -> NDArray[np.uint64]:
    """A mark of 64 bits for each pair of a person and a cell: what a person's cells are ordered by.

    It is the first half of the tag of the compound identifier (person's text, cell), see `item_tags`: a function of
    these two and the secret alone.

    Args:
        persons: texts; each has so many pairs as ``counts`` says, in a row.
        cells: Tag of each pair's cell under the secret: of its number, or of its text.

    Cost: 10 to 23 ns a pair, and 320 ns a person, as measured; the tags of the cells, 3 to 12 ns each, come before.
    """
    return compound_tags(secret, [item_tags(secret, [persons]), cells], counts)[:, 0]


def added_by_cell(pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The cells that have pairs, ascending, and the sum of each over all persons, exactly."""
    cells, sums = pairs.cells, pairs.sums
    width = int(cells.max(initial=-1)) + 1
    if sums.dtype != object and width <= _DENSE * len(cells) and largest_size(sums) * len(cells) < _FITS:
        there, totals = np.flatnonzero(np.bincount(cells, minlength=width)), np.zeros(width, dtype=np.int64)
        np.add.at(totals, cells, sums)
        return there, totals[there]
    nobody = np.zeros(len(pairs.cells), dtype=np.int64)
    summed = _summed(nobody, pairs.cells, pairs.sums)
    return summed.cells, summed.sums
