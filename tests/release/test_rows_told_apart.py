"""Rows on many machines are told apart on the way: how many have an identifier that another row has, exactly."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.privacy import Unit
from utmost.publish.promises.lattice import lattice_of
from utmost.publish.releases import item_columns
from utmost.publish.releases.item_columns import CommittingRows, TellingApart, gathered_commitment
from utmost.publish.releases.item_commitment import CommitmentKey

LATTICE = lattice_of("integers", Unit(sensitivity=1, cells=1, neighbours="add-remove"))
KEY = CommitmentKey(bytes(32), ("n",), LATTICE)


def batch(ids):
    return pa.record_batch({"id": pa.array(ids, pa.string()), "n": pa.array([1] * len(ids), pa.int64())})


def gathered(workers, parts):
    """Each list in a worker of its own, in batches of three; then each part in one worker, in batches of two."""
    work, met = CommittingRows(KEY, ("id",), parts=parts), {}
    made = [row for ids in workers for row in work(batch(ids[at : at + 3]) for at in range(0, len(ids), 3))]
    if not parts:
        return gathered_commitment(iter(made))
    rows = pa.Table.from_batches(made)
    for block in rows["block"].unique().to_pylist():
        met.setdefault(block % 2, []).append(rows.filter(pc.equal(rows["block"], block)))
    told = [one for some in met.values() for one in TellingApart()(pa.concat_tables(some).to_batches(max_chunksize=2))]
    return gathered_commitment(iter(told))


@pytest.mark.parametrize("together", [1, 4, 1 << 20])
@pytest.mark.parametrize("parts", [1, 3])
@given(ids=st.lists(st.sampled_from([f"person {at}" for at in range(30)]), max_size=40), cut=st.integers(0, 40))
def test_as_many_are_twice_as_there_are_beyond_the_distinct_ones(together, parts, ids, cut):
    """Whichever workers have them, in however many pieces and parts: brute force is the set of identifiers."""
    twice, before = len(ids) - len(set(ids)), item_columns._TOGETHER
    item_columns._TOGETHER = together
    try:
        commitment, told = gathered([ids[:cut], ids[cut:]], parts)
        assert (told, commitment.rows) == (twice, len(ids))
        assert commitment.content == gathered([ids], parts=0)[0].content
    finally:
        item_columns._TOGETHER = before


def test_rows_that_are_all_alike_are_a_few_bytes():
    """A worker hands on eight bytes a row; of one identifier a million times it hands on one of them."""
    work, alike = CommittingRows(KEY, ("id",), parts=64), batch(["a"] * 4096)
    for rows, bytes_a_row in ((alike, 0), (batch([f"person {at}" for at in range(4096)]), 8)):
        pieces = pa.Table.from_batches(work(iter([rows]))).column("tags").drop_null()
        assert sum(map(len, pieces.to_pylist())) // rows.num_rows == bytes_a_row


def test_rows_that_come_again_are_not_told_apart():
    """What is compared with a release is known to be distinct if it is equal; so nothing is held of its rows."""
    assert gathered([["a", "a"]], parts=0)[0].rows == 2


@pytest.mark.parametrize("first", [(1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1)])
def test_another_table_has_the_same_sum_for_one_digest_in_all(first):
    """The theorem of proofs/theory/item-noise.md, enumerated: digests of 3 bits, every table of as many rows.

    The rows of the first are distinct; the other may have any of them any number of times. A first table with a row
    twice would have one that agrees more often, which shows what the hypothesis is for.
    """
    digests = np.stack(np.meshgrid(*[np.arange(8)] * 4), -1).reshape(-1, 4)

    def agree(one, other):
        return int((digests @ np.subtract(one, other) % 8 == 0).sum())

    others = [m for m in np.ndindex(*[5] * 4) if sum(m) == sum(first) and m != first]
    assert {agree(first, other) for other in others} <= {len(digests) // 8}
    assert agree((2, 0, 0, 0), (0, 2, 0, 0)) == len(digests) // 4
