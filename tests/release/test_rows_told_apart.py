"""Rows on many machines are told apart on the way: how many have an identifier that another row has, exactly."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import BadTable
from utmost.laws.privacy import Unit
from utmost.publish.promises.lattice import lattice_of
from utmost.publish.releases import item_columns
from utmost.publish.releases.item_columns import CommittingRows, gathered_commitment
from utmost.publish.releases.item_commitment import CommitmentKey

LATTICE = lattice_of("integers", Unit(sensitivity=1, cells=1, neighbours="add-remove"))
KEY = CommitmentKey(bytes(32), ("n",), LATTICE)


def batch(ids):
    return pa.record_batch({"id": pa.array(ids, pa.string()), "n": pa.array([1] * len(ids), pa.int64())})


def gathered(parts, apart=True):
    """Each part in a worker of its own, in batches of three."""
    work = CommittingRows(KEY, ("id",), apart=apart)
    sums = [one for part in parts for one in work(batch(part[at : at + 3]) for at in range(0, len(part), 3))]
    return gathered_commitment(iter(sums), ("id",))


@pytest.mark.parametrize("held", [1, 4, 1 << 23])
@given(ids=st.lists(st.sampled_from([f"person {at}" for at in range(30)]), max_size=60))
def test_as_many_are_twice_as_there_are_beyond_the_distinct_ones(held, ids):
    """However few rows are held at a time; all rows of one identifier come to one part, whichever that is."""
    parts = [[one for one in ids if Counter(one.encode())[ord("1")] % 2 == side] for side in (0, 1)]
    twice, before = len(ids) - len(set(ids)), item_columns._HELD
    item_columns._HELD = held
    try:
        if not twice:
            assert gathered(parts).content == gathered([ids], apart=False).content
            assert gathered(parts).rows == len(ids)
        else:
            with pytest.raises(BadTable, match=f"distinct; got {twice} of {len(ids)} rows with"):
                gathered(parts)
    finally:
        item_columns._HELD = before


def test_half_a_tag_is_no_identifier():
    """Two that agree in half of their tags alone are two."""
    seen = item_columns._Seen()
    seen.add(np.array([[7, 1], [9, 2], [7, 3]], np.uint64))
    assert seen.twice() == 0
    seen.add(np.array([[7, 3], [7, 1], [8, 0]], np.uint64))
    assert [seen.twice(), seen.twice()] == [2, 2]


def test_rows_that_come_again_are_not_told_apart():
    """What is compared with a release is known to be distinct if it is equal; so nothing is held of its rows."""
    assert gathered([["a", "a"]], apart=False).rows == 2


@pytest.mark.parametrize("first", [(1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1)])
def test_another_table_has_the_same_sum_for_one_digest_in_all(first):
    """The theorem of docs/theory/item-noise.md, enumerated: digests of 3 bits, every table of as many rows.

    The rows of the first are distinct; the other may have any of them any number of times. A first table with a row
    twice would have one that agrees more often, which shows what the hypothesis is for.
    """
    digests = np.stack(np.meshgrid(*[np.arange(8)] * 4), -1).reshape(-1, 4)

    def agree(one, other):
        return int((digests @ np.subtract(one, other) % 8 == 0).sum())

    others = [m for m in np.ndindex(*[5] * 4) if sum(m) == sum(first) and m != first]
    assert {agree(first, other) for other in others} <= {len(digests) // 8}
    assert agree((2, 0, 0, 0), (0, 2, 0, 0)) == len(digests) // 4
