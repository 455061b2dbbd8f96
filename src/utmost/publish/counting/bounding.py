"""Bound how much one person changes a table: keep at most a fixed number of the person's cells, chosen by a hash.

The kept cells of a person depend on the key and on the person's own rows only: see proofs/theory/counting.md.
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

_COMPACT = 1 << 22  # stored pairs beyond which equal pairs are added up
_FITTING = 62  # bits of a key of person and cell, and of a sum in int64
_FITS = 1 << _FITTING
_PERSONS = 1 << 16  # persons that are hashed at a time
_DENSE = 4  # with at most this many cells for each pair, an array of all cells is faster than sorting


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """One sum for each person and each cell in which the person has events, sorted by person, then by cell."""

    persons: NDArray[np.int64]  # code of the person, ascending
    cells: NDArray[np.int64]  # number of the cell, ascending within a person
    sums: NDArray[Any]  # int64, or an object array of Python integers where that could overflow

    def where(self, chosen: NDArray[np.bool_]) -> "Pairs":
        return Pairs(self.persons[chosen], self.cells[chosen], self.sums[chosen])


EventCells = tuple[NDArray[np.int64], Sequence[NDArray[Any]]]
"""The cell of each event (-1: outside the domain), and the amounts of the events, one array for each sum."""

PairSums = Sequence[Pairs]
"""One `Pairs` for the number of events and one for the sum of each amount; all have the same persons and cells."""


@dataclass(slots=True, eq=False)
class EventSums:
    """Adds up events by person and cell, batch by batch; memory grows with the pairs, not with the events."""

    _parts: list[PairSums] = field(default_factory=list)
    _rows: int = 0
    _limit: int = _COMPACT

    def add(self, persons: NDArray[np.int64], cells: NDArray[np.int64], amounts: Sequence[NDArray[Any]]) -> None:
        """Add a batch, given by person, cell and amounts of each event; a negative cell is outside the domain."""
        inside = cells >= 0
        if not inside.all():
            persons, cells, amounts = persons[inside], cells[inside], [of[inside] for of in amounts]
        part = _summed(persons, cells, amounts)
        self._parts.append(part)
        self._rows += len(part[0].cells)
        if self._rows > self._limit:
            self._rows = len(self.pairs()[0].cells)
            self._limit = 2 * self._rows + _COMPACT

    def pairs(self) -> PairSums:
        """Return the sums of all batches; there must be at least one batch."""
        if len(self._parts) > 1:
            persons, cells = (
                np.concatenate([getattr(part[0], name) for part in self._parts]) for name in ("persons", "cells")
            )
            sums = [np.concatenate([of.sums for of in column]) for column in zip(*self._parts, strict=True)]
            self._parts = [_summed(persons, cells, sums)[1:]]
        return self._parts[0]


def _summed(persons: NDArray[np.int64], cells: NDArray[np.int64], amounts: Sequence[NDArray[Any]]) -> list[Pairs]:
    """Add up rows by (person, cell): return for each pair the number of rows, and the exact sum of each amount."""
    if len(cells) == 0:
        return [Pairs(persons, cells, of) for of in (np.zeros(0, dtype=np.int64), *amounts)]
    bits = int(cells.max()).bit_length()  # keys are split by a shift, which is faster than a division
    key_bits, row_bits = int(persons.max()).bit_length() + bits, len(cells).bit_length()
    if key_bits >= _FITTING:
        used, codes = np.unique(cells, return_inverse=True)
        inner = _summed(persons, codes.astype(np.int64), amounts)
        cells = used[inner[0].cells]
        return [Pairs(of.persons, cells, of.sums) for of in inner]
    keys = persons << bits | cells
    order: Any = slice(None)
    if not amounts:
        keys.sort()
    elif (
        key_bits + row_bits <= _FITTING
    ):  # sorting keys together with their rows is two to four times as fast as an argsort
        keys = keys << row_bits | np.arange(len(keys))
        keys.sort()
        order = keys & ((1 << row_bits) - 1)
        keys >>= row_bits
    else:
        order = np.argsort(keys)
        keys = keys[order]
    starts = np.flatnonzero(begins(keys))
    distinct = keys[starts]
    persons, cells = distinct >> bits, distinct & ((1 << bits) - 1)
    pairs = [Pairs(persons, cells, np.diff(starts, append=len(keys)))]
    for of in amounts:
        overflows = of.dtype != object and largest_size(of) * len(of) >= _FITS
        pairs.append(Pairs(persons, cells, np.add.reduceat((of.astype(object) if overflows else of)[order], starts)))
    return pairs


def begins(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """For each row, return whether it differs from the row before it, and so begins a run of equal rows."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = reduce(np.logical_or, (column[1:] != column[:-1] for column in columns))
    return new


def least_hashed(
    pairs: Pairs, most: int, names: Sequence[str], *, key: bytes, purpose: bytes, runs: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """For each pair, return whether it is kept: of each person, the ``most`` pairs with the least hash are kept, and
    among equal hashes the first.
    """
    # `pairs` are distinct, ordered by person; `names` has each person's text by code. `runs` may number groups of one
    # person's pairs, ascending: then `most` pairs of each group are chosen. From c pairs exactly min(c, most) are
    # chosen.
    numbers = pairs.persons if runs is None else runs
    counts = np.bincount(numbers)
    # Persons with at most `most` pairs, usually nearly all, are not hashed.
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
        # A hash of person and cell under the key: the choice depends on this person's rows only.
        marks[some] = pair_marks(secret, who, sizes[first:last], cell_tags(secret, cells[some]))
    chosen = ~many
    chosen[rows] = least_in_runs(marks, starts, sizes, most)
    return chosen


def least_in_runs(
    marks: NDArray[np.uint64], starts: NDArray[np.int64], sizes: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """For each mark, return whether it is among the ``most`` smallest of its run (of equal marks, the first)."""
    # Every run must be longer than `most`.
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
    """Convert the texts of persons with these codes to identifiers."""
    if isinstance(names, TextsInArrow):
        return names.identifiers(codes)
    # Files may have unpaired surrogates, which strict UTF-8 refuses.
    return Identifiers.of_bytes([names[code].encode("utf-8", "surrogatepass") for code in codes.tolist()])


def cell_tags(secret: bytes, cells: NDArray[np.int64]) -> Tags:
    """Return the tag (a keyed hash) of each cell number; if there are few different numbers, each is hashed once."""
    width = int(cells.max(initial=0)) + 1
    if 4 * width > len(cells):
        return item_tags(secret, [Identifiers.of(cells)])
    return item_tags(secret, [Identifiers.of(np.arange(width))])[cells]


def marking_secret(purpose: bytes, key: bytes) -> bytes:
    """Return a secret of 32 bytes for one purpose, from a key of any length."""
    # Each part follows its length, so that different pairs of purpose and key give different bytes.
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in (purpose, key))).digest()


def pair_marks(secret: bytes, persons: Identifiers, counts: NDArray[np.int64], cells: Tags) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each (person, cell) pair, computed from the person's text, the cell and the secret."""
    # The hash is the first half of the tag of the compound identifier (person's text, cell), see `item_tags`. A
    # person's pairs are neighbours; `counts` has the number of pairs of each person. Measured: 10 to 23 ns a pair, 320
    # ns a person, and 3 to 12 ns for the tag of a cell.
    return compound_tags(secret, [item_tags(secret, [persons]), cells], counts)[:, 0]


def added_by_cell(pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Add up pairs over all persons: return the distinct cells, ascending, and the exact sum of each cell."""
    cells, sums = pairs.cells, pairs.sums
    width = int(cells.max(initial=-1)) + 1
    if sums.dtype != object and width <= _DENSE * len(cells) and largest_size(sums) * len(cells) < _FITS:
        there, totals = np.flatnonzero(np.bincount(cells, minlength=width)), np.zeros(width, dtype=np.int64)
        np.add.at(totals, cells, sums)
        return there, totals[there]
    nobody = np.zeros(len(pairs.cells), dtype=np.int64)
    summed = _summed(nobody, pairs.cells, [pairs.sums])[1]
    return summed.cells, summed.sums
