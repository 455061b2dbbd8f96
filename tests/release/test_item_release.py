"""Noise keyed by identifier is a function of secret, path and identifiers, and has the joint distribution of the
process."""

import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import utmost as ut
from goodness import chi_square
from utmost.errors import BadTable, NotANumber, OutOfRange, WrongKind
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.noise import DiscreteStaircase, Geometric
from utmost.privacy import Unit

# A ledger shows of a commitment, and of the machines that make it, but whether a table is the published one.
from utmost.publish.releases import item_columns
from utmost.publish.releases.item_columns import BatchCommitter, RepeatedTags, arrow_numbers, gathered_commitment
from utmost.publish.releases.item_commitment import BLOCKS, CommitmentKey, first_difference, value_sums
from utmost.releases import ItemCommitment, ItemResponder
from utmost.sampling import Identifiers

SECRET = bytes(range(32))
ONE = Unit(sensitivity=1, cells=1, neighbours="add-remove")
COUNTS = ut.CellNoise(ONE).lattice
LEVELS = tuple(map(level, ("1/2", 1, 2)))


def release(path=LEVELS, lattice=COUNTS, columns=("n",), secret=SECRET, at=None):
    return ItemResponder(secret, columns, lattice, tuple(path), at or path[-1])


def noise(path, count, **changes):
    """The noise of many identifiers at each level of a path, from responses to zeros."""
    ids, zeros, made = [Identifiers.of(np.arange(count))], {"n": np.zeros(count, np.int64)}, release(path, **changes)
    return {at: made.responses(ids, zeros, at)["n"] for at in path}


# up, down, and the middle last, which is between two that are known
PATHS = [LEVELS, LEVELS[::-1], (*LEVELS[::2], LEVELS[1])]


@pytest.mark.parametrize("path", PATHS, ids=["up", "down", "between"])
def test_levels_in_any_order_have_the_joint_distribution(path):
    """Fresh, relaxed, tightened and bridged: chi-square test of three levels over their whole grid."""
    n, reach = 60_000, 3
    found = noise(path, n)
    inside = np.all([np.abs(found[at]) <= reach for at in LEVELS], axis=0)
    index = np.zeros(n, np.int64)
    for at in LEVELS:
        index = index * (2 * reach + 1) + found[at] + reach
    seen = np.bincount(index[inside], minlength=(2 * reach + 1) ** 3).astype(float)
    axis = np.arange(-reach, reach + 1)
    wanted = n * joint_pmf(np.meshgrid(axis, axis, axis, indexing="ij"), LEVELS).ravel()
    large = wanted >= 10
    seen = np.append(seen[large], n - seen[large].sum())
    wanted = np.append(wanted[large], n - wanted[large].sum())
    assert chi2.sf(((seen - wanted) ** 2 / wanted).sum(), wanted.size - 1) > 1e-5


@given(st.lists(st.text(max_size=8), unique=True, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_order_batch_and_partition_change_no_byte(identifiers, random):
    """In any order and any batches, each identifier has the same noise."""
    values = {name: random.getrandbits(30) for name in identifiers}
    made = release(tuple(map(level, (1, 3, 2))))

    def answers(names):
        table = {"n": np.array([values[name] for name in names], np.int64)}
        return made.responses([Identifiers.of(names)], table)["n"].tolist() if names else []

    whole = dict(zip(identifiers, answers(identifiers), strict=True))
    names = identifiers[:]
    random.shuffle(names)
    cut = random.randrange(len(names) + 1)
    assert answers(names[:cut]) + answers(names[cut:]) == [whole[name] for name in names]


def test_batches_beyond_a_chunk_and_a_pickled_release_change_no_byte():
    n = 70_000
    ids, values = np.arange(n), np.arange(n) % 11
    made = release()
    whole = made.responses([Identifiers.of(ids)], {"n": values})["n"]
    worker = pickle.loads(pickle.dumps(made))
    for cut in (1, 32_768, 32_769):
        parts = [
            worker.responses([Identifiers.of(ids[at])], {"n": values[at]})["n"] for at in (slice(cut), slice(cut, n))
        ]
        assert (np.concatenate(parts) == whole).all()


def test_responses_move_between_levels_without_values():
    ids, values = [Identifiers.of(np.arange(500))], {"n": np.arange(500), "m": [at * 2**70 for at in range(500)]}
    made = release(columns=("n", "m"))
    for at, to in product(LEVELS, LEVELS):
        moved = made.moved(ids, made.responses(ids, values, at), at, to)
        assert all((moved[name] == made.responses(ids, values, to)[name]).all() for name in values)


def test_an_earlier_level_does_not_change_when_another_is_answered():
    before, after = noise(LEVELS[:2], 1000), noise(LEVELS, 1000)
    assert all((before[at] == after[at]).all() for at in before)


def test_columns_releases_lattices_and_paths_are_apart():
    """If two releases differ in anything, their noise differs, and looks uncorrelated."""
    n = 20_000
    base = noise(LEVELS[:1], n)[LEVELS[0]]
    double = ut.CellNoise(Unit(sensitivity=1, cells=2, neighbours="add-remove")).lattice
    others = [
        noise(LEVELS[:1], n, secret=bytes(32))[LEVELS[0]],
        noise((level(1),), n, lattice=double)[level(1)],  # the same level of one step, of another release
        noise((LEVELS[1], LEVELS[0]), n)[LEVELS[1]],
        release(LEVELS[:1], columns=("m",)).responses([Identifiers.of(np.arange(n))], {"m": np.zeros(n, int)})["m"],
    ]
    for other in others:
        assert abs(np.corrcoef(base, other)[0, 1]) < 5 / n**0.5


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), 50])
def test_levels_at_the_ends_have_their_distribution(epsilon):
    found = noise((level(epsilon),), 50_000)[level(epsilon)]
    assert chi_square(found, Geometric(epsilon=epsilon).cdf) > 1e-5


def test_half_step_noise_keeps_its_place_at_all_levels():
    """The staircase distribution at each level; noise at two levels differs by multiples of the block."""
    lattice = ut.CellNoise(Unit(sensitivity=5, cells=1, neighbours="add-remove"), half_step=True).lattice
    found = noise(LEVELS, 50_000, lattice=lattice)
    for at in LEVELS:
        assert chi_square(found[at], DiscreteStaircase.half_step(at, 5).cdf) > 1e-5
    assert not ((found[LEVELS[0]] - found[LEVELS[1]]) % 5).any()


def test_reals_are_snapped_and_written_on_their_grid():
    lattice = ut.CellNoise(ONE, "reals", grid="1/16").lattice
    made = release(LEVELS, lattice)
    ids = [Identifiers.of(["a", "b"])]
    found = made.responses(ids, {"n": np.array([0.1, 1e6])})["n"]
    assert found.dtype == np.float64
    assert not (found * 16 % 1).any()
    with pytest.raises(NotANumber):
        made.responses(ids, {"n": np.array([0.1, np.nan])})


def test_huge_values_and_huge_noise_are_integers():
    wide = release((level(Fraction(1, 10**30)),))
    found = wide.responses([Identifiers.of([1, 2])], {"n": [2**200, -(2**63)]})["n"]
    assert found.dtype == object
    assert found[0] != 2**200
    one = Unit(sensitivity=10**45, cells=1, neighbours="add-remove")
    assert release((level(1),), ut.CellNoise(one).lattice).responses([Identifiers.of([1])], {"n": [0]})["n"][0] != 0
    with pytest.raises(OutOfRange, match="1e-50"):
        release((level(Fraction(1, 10**60)),)).responses([Identifiers.of([1])], {"n": [0]})


def test_what_does_not_fit_is_refused():
    made, ids = release(), [Identifiers.of([1, 2])]
    for values, error in (({}, BadTable), ({"n": [1]}, BadTable), ({"n": [1, None]}, NotANumber)):
        with pytest.raises(error):
            made.responses(ids, values)
    with pytest.raises(OutOfRange):
        made.responses(ids, {"n": [1, 2]}, level(5))
    for path, at in (((), level(1)), ((level(1), level(1)), level(1)), ((level(1),), level(2))):
        with pytest.raises(OutOfRange):
            ItemResponder(SECRET, ("n",), COUNTS, path, at)
    assert made.responses([Identifiers.of([])], {"n": []})["n"].size == 0


def test_each_part_of_a_release_is_of_its_kind():
    for words in ({"lattice": None}, {"columns": ("n", 1)}, {"path": (1,), "at": level(1)}, {"secret": SECRET[1:]}):
        with pytest.raises(WrongKind):
            release(**words)


def test_true_values_are_known_again_from_each_answer():
    ids, values, made = [Identifiers.of(["a", "b"])], {"n": np.array([5, -7])}, release()
    for at in LEVELS:
        assert made.without_noise(ids, made.responses(ids, values, at), at)["n"].tolist() == [5, -7]


def test_no_repr_shows_a_secret():
    key = CommitmentKey(SECRET, ("n",), COUNTS)
    assert not any(str(SECRET) in text or SECRET.hex() in text for text in (repr(release()), repr(key)))


# ------------------------------------------------------------ commitments


def committed(table, secret=SECRET, ids=None):
    names = tuple(table)
    items = [Identifiers.of(np.arange(len(table[names[0]])) if ids is None else ids)]
    return CommitmentKey(secret, names, COUNTS).committed(items, table)


@given(st.lists(st.tuples(st.text(max_size=6), st.integers()), unique_by=lambda row: row[0], max_size=40),
       st.randoms(use_true_random=False))  # fmt: skip
def test_a_commitment_is_a_sum_over_any_partition(rows, random):
    def of(some):
        key = CommitmentKey(SECRET, ("n",), COUNTS)
        return key.committed([Identifiers.of([name for name, _ in some])], {"n": [value for _, value in some]})

    whole, shuffled = of(rows), rows[:]
    random.shuffle(shuffled)
    cut = random.randrange(len(rows) + 1)
    parts = of(shuffled[:cut]), of(shuffled[cut:])
    assert (parts[0] + parts[1]).content == whole.content
    blocks = np.concatenate([np.arange(BLOCKS), np.arange(BLOCKS)])
    assert ItemCommitment.of_sums(blocks, np.concatenate([part.sums for part in parts])).content == whole.content
    assert whole.rows == len(rows)


def test_any_change_is_seen_in_its_block():
    """A changed value or identifier, two exchanged values, a row more, less or twice, and values in another column."""
    table = {"n": [5, 7, 9], "m": [1, 2, 3]}
    before = committed(table)
    changes = [
        ({"n": [5, 7, 10], "m": [1, 2, 3]}, None),
        ({"n": [7, 5, 9], "m": [1, 2, 3]}, None),
        (table, [0, 1, 3]),
        (table, ["0", "1", "2"]),
        ({"n": [1, 2, 3], "m": [5, 7, 9]}, None),
        ({"n": [5, 7], "m": [1, 2]}, None),
        ({"n": [5, 7, 9, 9], "m": [1, 2, 3, 3]}, [0, 1, 2, 2]),
    ]
    for other, ids in changes:
        after = committed(other, ids=ids)
        assert first_difference(before.content, after.content) > 0
        assert not np.array_equal(before.sums, after.sums)
    assert first_difference(before.content, committed(table).content) == 0
    assert committed(table, bytes(32)).content != before.content


def test_a_number_has_one_digest_however_it_is_written():
    """Integers, quarters, fractions and floats: digests are of numbers."""
    ways = [
        (np.array([24, -12]), 2),
        (np.array([Fraction(6), Fraction(-3)], object), None),
        (np.array([6.0, -3.0]), None),
    ]
    for column, exponent in ways:
        assert value_sums(SECRET, column, exponent).tolist() == value_sums(SECRET, np.array([6, -3]), None).tolist()
    halves = [(np.array([13, 1]), 1), (np.array([6.5, 0.5]), None)]
    assert len({tuple(value_sums(SECRET, *way).tolist()) for way in halves}) == 1


def test_a_column_of_arrow_in_pieces_is_one():
    arrow = pytest.importorskip("pyarrow")
    assert arrow_numbers(arrow.chunked_array([[1], [2]]), "n").tolist() == [1, 2]


def test_a_key_for_commitments_has_a_secret_of_32_bytes():
    for secret in (SECRET[:-1], bytearray(SECRET), None):
        with pytest.raises(WrongKind, match="32 bytes"):
            CommitmentKey(secret, ("n",), COUNTS)


def test_blocks_are_counted_from_1_and_are_those_of_a_table():
    """An error names the block; numbers beyond the blocks of 65 536 columns are refused."""
    content = bytes(3 * 24)
    changed = [content[:at] + b"1" + content[at + 1 :] for at in (0, 23, 24, 71)]
    assert [first_difference(content, other) for other in changed] == [1, 1, 2, 3]
    with pytest.raises(OutOfRange, match="indices of blocks"):
        ItemCommitment.of_sums([BLOCKS + (1 << 16)], np.zeros((1, 9), np.int64))


def test_sums_are_those_of_rows_modulo_2_to_128():
    """Compared with Python integers, one row at a time, where limbs carry."""
    n = 300
    whole = committed({"n": np.arange(n)})
    total = sum(
        sum(int(limb) << 16 * i for i, limb in enumerate(row[1:]))
        for at in range(n)
        for row in committed({"n": [at]}, ids=[at]).sums
        if row[0]
    )
    mine = sum(sum(int(limb) << 16 * i for i, limb in enumerate(row[1:])) for row in whole.sums)
    assert (total - mine) % 2**128 == 0
    assert total >= 2**128, "so that something was carried out"
    assert pickle.loads(pickle.dumps(whole)).content == whole.content


@pytest.mark.parametrize(("rows", "blocks"), [(0, 1), (1, 1), (3, 4), (1024, 1024), (5000, 1024)])
def test_a_small_table_has_few_blocks(rows, blocks):
    found = committed({"n": np.arange(rows)})
    assert (found.blocks, len(found.content)) == (blocks, 24 * blocks)


def test_sums_that_are_none_are_refused():
    for blocks, sums in (([1024], np.zeros((1, 9))), ([-1], np.zeros((1, 9))), ([0], np.zeros((1, 8)))):
        with pytest.raises(OutOfRange):
            ItemCommitment.of_sums(blocks, sums)


# ------------------------------------------------------------ rows on many machines


KEY = CommitmentKey(bytes(32), ("n",), COUNTS)


def batch(ids):
    return pa.record_batch({"id": pa.array(ids, pa.string()), "n": pa.array([1] * len(ids), pa.int64())})


def gathered(workers, parts):
    """Each list is read by a separate worker in batches of three; then each part by one worker in batches of two."""
    work, met = BatchCommitter(KEY, ("id",), parts=parts), {}
    made = [row for ids in workers for row in work(batch(ids[at : at + 3]) for at in range(0, len(ids), 3))]
    if not parts:
        return gathered_commitment(iter(made))
    rows = pa.Table.from_batches(made)
    for block in rows["block"].unique().to_pylist():
        met.setdefault(block % 2, []).append(rows.filter(pc.equal(rows["block"], block)))
    told = [one for some in met.values() for one in RepeatedTags()(pa.concat_tables(some).to_batches(max_chunksize=2))]
    return gathered_commitment(iter(told))


@pytest.mark.parametrize("together", [1, 4, 1 << 20])
@pytest.mark.parametrize("parts", [1, 3])
@given(ids=st.lists(st.sampled_from([f"person {at}" for at in range(30)]), max_size=40), cut=st.integers(0, 40))
def test_as_many_are_twice_as_there_are_beyond_the_distinct_ones(together, parts, ids, cut):
    """For every split into workers and parts, compared with the set of identifiers."""
    twice, before = len(ids) - len(set(ids)), item_columns._TOGETHER
    item_columns._TOGETHER = together
    try:
        commitment, told = gathered([ids[:cut], ids[cut:]], parts)
        assert (told, commitment.rows) == (twice, len(ids))
        assert commitment.content == gathered([ids], parts=0)[0].content
    finally:
        item_columns._TOGETHER = before


def test_rows_that_are_all_alike_are_a_few_bytes():
    """A worker passes on eight bytes a row; for a million equal identifiers it passes on one of them."""
    work, alike = BatchCommitter(KEY, ("id",), parts=64), batch(["a"] * 4096)
    for rows, bytes_a_row in ((alike, 0), (batch([f"person {at}" for at in range(4096)]), 8)):
        pieces = pa.Table.from_batches(work(iter([rows]))).column("tags").drop_null()
        assert sum(map(len, pieces.to_pylist())) // rows.num_rows == bytes_a_row


def test_rows_that_come_again_are_not_told_apart():
    """A table that equals the release has distinct rows, as the published table had; so no rows are remembered."""
    assert gathered([["a", "a"]], parts=0)[0].rows == 2


@pytest.mark.parametrize("first", [(1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0), (1, 1, 1, 1)])
def test_another_table_has_the_same_sum_for_one_digest_in_total(first):
    """The theorem of proofs/theory/item-noise.md, enumerated: digests of 3 bits, and every table with as many rows. The
    rows of the first table are distinct; the other may repeat rows. For a first table with a repeated row, more digests
    agree, which shows why the hypothesis is needed."""
    digests = np.stack(np.meshgrid(*[np.arange(8)] * 4), -1).reshape(-1, 4)

    def agree(one, other):
        return int((digests @ np.subtract(one, other) % 8 == 0).sum())

    others = [m for m in np.ndindex(*[5] * 4) if sum(m) == sum(first) and m != first]
    assert {agree(first, other) for other in others} <= {len(digests) // 8}
    assert agree((2, 0, 0, 0), (0, 2, 0, 0)) == len(digests) // 4
