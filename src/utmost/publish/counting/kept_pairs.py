"""Which pairs of person and atom are kept where they are chosen together: in one part, or by rows of two columns."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from utmost.publish.tables.bounding import Pairs, least_hashed
from utmost.publish.workloads.sums_and_differences import PairAxis


def by_atom(pairs: Pairs, size: int) -> tuple[Pairs, NDArray[np.int64]]:
    """The pairs of person and atom of several tables as those of one, and of each pair the number of its atom's.

    Args:
        pairs: in which cell number m * size + a is atom a of table m.
        size: how many atoms a table has.

    Returns:
        Distinct pairs whose sums are their own numbers, and so a mark of which of them are chosen.
    """
    atoms = pairs.cells % size
    order = np.lexsort((atoms, pairs.persons))
    who, which = pairs.persons[order], atoms[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (who[1:] != who[:-1]) | (which[1:] != which[:-1])
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
    return Pairs(who[new], which[new], np.arange(np.count_nonzero(new))), numbers


def in_one_part(pairs: Pairs, atoms: int, persons: Sequence[str], key: bytes) -> Pairs:
    """The pairs of each person in the one of that person's parts that has the least hash."""
    parts = pairs.cells // atoms
    first = np.flatnonzero(np.r_[True, (parts[1:] != parts[:-1]) | (pairs.persons[1:] != pairs.persons[:-1])])
    first = first[first < len(parts)]
    runs = Pairs(pairs.persons[first], parts[first], pairs.sums[first])
    chosen = least_hashed(runs, 1, persons, key=key, purpose=b"part")
    return pairs.where(np.repeat(chosen, np.diff(first, append=len(parts))))


def in_rows(pairs: Pairs, pair: PairAxis, rows: int, persons: Sequence[str], key: bytes) -> NDArray[np.bool_]:
    """Which pairs of person and atom are kept: those in the so many rows of a person that have the least hashes."""
    after = prod(pair.domain.shape[pair.place + 1 :])
    row = pairs.cells // (2 * after) * after + pairs.cells % after
    order = np.lexsort((row, pairs.persons))
    who, which = pairs.persons[order], row[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (who[1:] != who[:-1]) | (which[1:] != which[:-1])
    first = np.flatnonzero(new)
    taken = least_hashed(
        Pairs(who[first], which[first], pairs.sums[order][first]), rows, persons, key=key, purpose=b"row"
    )
    chosen = np.empty(len(order), dtype=bool)
    chosen[order] = np.repeat(taken, np.diff(first, append=len(order)))
    return chosen
