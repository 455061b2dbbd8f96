"""Choose the (person, cell) pairs that count: pairs in one part, in few rows of cells, and with a bounded sum."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.item_words import item_tags
from utmost.publish.counting.bounding import Pairs, begins, identified, least_hashed, marking_secret
from utmost.publish.workloads.row_unit import WholeRows


def by_cell(pairs: Pairs, size: int) -> tuple[Pairs, NDArray[np.int64]]:
    """Return the distinct (person, cell) pairs of several tables, and for each given pair its index among them."""
    # Cell number m * size + a is cell a of table m. `sums` of the result holds the indices of the distinct pairs.
    cells = pairs.cells % size
    fits = int(pairs.persons.max(initial=0)) < (1 << 62) // size
    order = np.argsort(pairs.persons * size + cells, kind="stable") if fits else np.lexsort((cells, pairs.persons))
    who, which = pairs.persons[order], cells[order]
    new = begins(who, which)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
    return Pairs(who[new], which[new], np.arange(np.count_nonzero(new))), numbers


def joined_pairs(parts: Sequence[Pairs]) -> Pairs:
    columns = ([getattr(part, name) for part in parts] for name in ("persons", "cells", "sums"))
    return Pairs(*map(np.concatenate, columns))


def least_in_total(pairs: Pairs, most: int, persons: Sequence[str], *, key: bytes) -> NDArray[Any]:
    """Return the reduced size of each pair, such that each person's sizes add up to at most ``most``."""
    # Evenly spread events of a person are kept, so that every cell loses in proportion: systematic sampling, in which
    # v_1, v_2, ... are a person's sizes in the order of the cells, C_i is the sum of the first
    # i, T the sum of all. For T > most, `most` points at equal distances T/most select the units in which they lie; the
    # start depends on u, a hash of key and person with 0 <= u < T: v'_i = floor((most C_i + u)/T) - floor((most C_(i-1)
    # + u)/T). Exactly `most` units are kept, and over all u the mean of v'_i is v_i most/T.
    left = pairs.sums
    starts = np.flatnonzero(begins(pairs.persons))
    kind = np.dtype(np.int64) if most < 1 << 62 else left.dtype
    if not len(starts):
        return left.astype(kind)
    counts = np.diff(starts, append=len(left))
    wide = int(left.max()) * len(left)  # an upper bound on every sum of sizes
    sizes = left.astype(object) if wide * max(most, 1) >= 1 << 62 else left.astype(np.int64)
    totals = np.add.reduceat(sizes, starts)
    many = totals > most
    rows, repeats = np.flatnonzero(np.repeat(many, counts)), counts[many]
    if not len(rows):
        return left.astype(kind)
    ends = np.cumsum(sizes[rows])
    ends = ends - np.repeat(ends[np.cumsum(repeats) - 1] - totals[many], repeats)
    who = identified(persons, pairs.persons[starts[many]])
    marks = item_tags(marking_secret(b"in all", key), [who])[:, 0].astype(object)
    shifts = np.repeat((marks * totals[many].astype(object) >> 64).astype(sizes.dtype), repeats)
    all_of = np.repeat(totals[many], repeats)
    teeth = (most * ends + shifts) // all_of
    left = sizes.copy()
    left[rows] = teeth - (most * (ends - sizes[rows]) + shifts) // all_of
    return left.astype(kind)


def in_one_part(pairs: Pairs, cells: int, persons: Sequence[str], key: bytes) -> Pairs:
    """Keep each person's pairs in one part only (such as one country), the part with the least hash."""
    parts = pairs.cells // cells
    first = np.flatnonzero(begins(parts, pairs.persons))
    runs = Pairs(pairs.persons[first], parts[first], pairs.sums[first])
    chosen = least_hashed(runs, 1, persons, key=key, purpose=b"part")
    return pairs.where(np.repeat(chosen, np.diff(first, append=len(parts))))


def in_rows(pairs: Pairs, whole: WholeRows, rows: int, persons: Sequence[str], key: bytes) -> NDArray[np.bool_]:
    """For each pair, return whether its row of cells is kept: of a person's rows, the ``rows`` with the least hash."""
    after = prod(whole.domain.shape[whole.place + 1 :])
    row = pairs.cells // (whole.values * after) * after + pairs.cells % after
    order = np.lexsort((row, pairs.persons))
    who, which = pairs.persons[order], row[order]
    first = np.flatnonzero(begins(who, which))
    # A row has one hash, no matter how many of its cells have events of the person.
    taken = least_hashed(
        Pairs(who[first], which[first], pairs.sums[order][first]), rows, persons, key=key, purpose=b"row"
    )
    chosen = np.empty(len(order), dtype=bool)
    chosen[order] = np.repeat(taken, np.diff(first, append=len(order)))
    return chosen
