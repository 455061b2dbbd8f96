"""Persons counted a bucket at a time: the table is that of one machine, wherever the events waited."""

import os
import signal
import subprocess
import sys
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from counting_words import counted_with
from engine_tables import ENGINES, on_duckdb
from small_sizes import set_sizes
from utmost import Counting
from utmost.counting import count_keys, count_table
from utmost.errors import BadTable

# Where events wait, how many at a time and how ties of hashes are broken show in no public answer.
from utmost.publish.counting import bounding
from utmost.publish.counting.person_pairs import PersonsInBuckets
from utmost.workloads import Domain

duckdb = pytest.importorskip("duckdb")
KEY = b"k" * 32
DOMAIN = Domain(page=[f"p{i}" for i in range(6)], side=["s0", "s1"])


def random_events(rows=1500, persons=200, seed=3):
    """A person has 15 events on average; some lie outside the domain, and one person has a third of all."""
    rng = np.random.default_rng(seed)
    who = np.where(rng.random(rows) < 1 / 3, 0, rng.integers(0, persons, rows))
    return {
        "user": [f"üser {one}" for one in who],
        "page": [f"p{one}" for one in rng.integers(0, 7, rows)],
        "side": [f"s{one}" for one in rng.integers(0, 2, rows)],
        "amount": rng.integers(-5, 9, rows).tolist(),
    }


WAYS = {"in memory": (1 << 21, 1 << 20, 1 << 24), "on the disk": (0, 500, 1 << 24), "one bucket too large": (0, 50, 1)}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Where events wait, and how many at a time."""
    monkeypatch.setattr(PersonsInBuckets.__init__, "__defaults__", WAYS[request.param])
    return request.param


@pytest.fixture
def lazily(way):
    """An engine for each way: where events wait does not hang on whose they are."""
    return ENGINES["polars" if way == "in memory" else "duckdb"]


@pytest.mark.parametrize(
    "asked",
    [
        {"at_most": 3},
        {"at_most": 3, "values": "amount", "per_cell": (-2, 3)},
        {"at_most": 2, "part": {"side": ["s0", "s1"]}, "by": "page"},
        {"at_most": 4, "together": "side"},
        {"in_total": 5, "values": "amount", "per_cell": (-2, 3)},
        {"at_most": 2, "values": "amount", "step": "0.5", "each": (-1, 2), "most_events": 3},
        {"at_most": 2, "measures": {"n": ut.count(2), "paid": ut.sum("amount", per_cell=4)}},
        {"at_most": 2, "measures": {"pages": ut.distinct("page", of=["p0", "p1", "p2"], at_most=2)}, "by": "side"},
    ],
    ids=["events", "values", "parts", "together", "in all", "sums and counts", "measures", "distinct"],
)
def test_a_table_does_not_depend_on_where_events_waited(lazily, asked):
    """What is kept of a person is a function of the key and that person's rows alone."""
    say = {"person": "user", "domain": DOMAIN, "key": KEY, **asked}
    here, there = counted_with(random_events(), **say), counted_with(lazily(random_events()), **say)
    if not isinstance(here, dict):
        here, there = {"all": here}, {"all": there}
    assert {name: one.cells.tolist() for name, one in there.items()} == {
        name: one.cells.tolist() for name, one in here.items()
    }
    assert all(one.cells.any() for one in here.values())
    assert [str(one.report) for one in there.values()] == [str(one.report) for one in here.values()]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("rows", [[1, 2, 2**70, 4], [2**70, 1, 2, -(2**70)]], ids=["late", "early"])
def test_amounts_may_outgrow_64_bits_in_any_batch(rows, monkeypatch):
    """Batches before and behind hold theirs as machine integers, and wait in the same buckets."""
    set_sizes(monkeypatch, rows_of_a_batch=1)
    events = {"user": ["ann", "bob", "ann", "cyd"], "page": ["p0", "p1", "p0", "p1"]}
    decimals = pa.array([Decimal(amount) for amount in rows], pa.decimal128(38, 0))
    say = {"person": "user", "domain": {"page": ["p0", "p1"]}, "at_most": 2, "key": KEY}
    say |= {"values": "amount", "step": 1, "per_cell": (-(2**80), 2**80)}
    here = counted_with({**events, "amount": rows}, **say)
    for there in (pa.table({**events, "amount": decimals}), on_duckdb({**events, "amount": decimals})):
        assert counted_with(there, **say).cells.tolist() == here.cells.tolist()
    assert here.cells.tolist() == [rows[0] + rows[2], rows[1] + rows[3]]


def test_keys_do_not_depend_on_where_events_waited(lazily):
    say = {"person": "user", "column": "page", "at_most": 2, "key": KEY}
    assert count_keys(lazily(random_events()), **say) == count_keys(random_events(), **say)


@pytest.mark.parametrize("numbers", [(7, -3, 1 << 40), (1, 2, 3)])
def test_persons_who_are_integers_are_those_of_their_text(lazily, numbers):
    """7 and "7" are one person, so that tables of both say the same."""
    events = random_events(600) | {"user": [numbers[row % 3] for row in range(600)]}
    same = events | {"user": list(map(str, events["user"]))}
    say = {"person": "user", "domain": DOMAIN, "at_most": 3, "key": KEY}
    assert counted_with(lazily(events), **say).cells.tolist() == counted_with(same, **say).cells.tolist()


@pytest.mark.parametrize("nobody", [None, "\u2003\t"])
def test_an_event_of_nobody_is_refused_wherever_it_would_wait(lazily, nobody):
    events = random_events(900) | {"user": ["a"] * 899 + [nobody]}
    with pytest.raises(BadTable, match="its person"):
        count_table(lazily(events), DOMAIN, Counting("user", at_most=1))


@pytest.mark.parametrize("user", [1.5, True])
def test_persons_must_be_text_or_integers(lazily, user):
    with pytest.raises(BadTable, match="text or integers"):
        count_table(lazily(random_events(90) | {"user": [user] * 90}), DOMAIN, Counting("user", at_most=1))


KILLED = """
import os, signal, polars
from utmost import Counting, Domain, count_table
from utmost.publish.counting.person_pairs import PersonsInBuckets

def killed(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

PersonsInBuckets.__init__.__defaults__ = (0, 500, 1 << 24)
PersonsInBuckets._pairs = killed
events = polars.LazyFrame({"user": [f"person {i}" for i in range(3000)], "page": ["p1"] * 3000})
count_table(events, Domain(page=["p1"]), Counting("user", at_most=1))
"""


@pytest.mark.skipif(os.name == "nt", reason="there the system has no signal that nothing catches")
def test_a_killed_count_leaves_nobodys_events_on_the_disk(tmp_path):
    """The file has no name from the start: nothing need be tidied up, and nobody else can open it."""
    ended = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


def test_batches_add_up(monkeypatch):
    """However the events are cut into batches and however often sums are drawn together, the table is one."""
    events, steps = random_events(), []
    say = {"person": "user", "domain": DOMAIN, "at_most": 2, "per_cell": 9, "values": "amount", "key": KEY}
    whole = counted_with(events, **say).cells.tolist()
    set_sizes(monkeypatch, rows_of_a_batch=100)
    monkeypatch.setattr(bounding, "_COMPACT", 10)
    tally = bounding.EventSums(_limit=10)
    monkeypatch.setattr("utmost.publish.counting.person_pairs.EventSums", lambda: tally)
    assert counted_with(events, progress=lambda *step: steps.append(step), **say).cells.tolist() == whole
    assert steps == [(done, 1500) for done in range(100, 1501, 100)]


def test_a_constant_hash_keeps_exactly_k(monkeypatch):
    """Ties are broken, never kept together: the unit holds for the worst hash there is."""
    monkeypatch.setattr(
        bounding, "pair_marks", lambda secret, persons, counts, cells: np.full(len(cells), 7, np.uint64)
    )
    events = {"user": ["a"] * 6 + ["b"] * 2, "page": [f"p{i}" for i in range(6)] + ["p4", "p5"]}
    domain = Domain(page=[f"p{i}" for i in range(6)])
    assert count_table(events, domain, Counting("user", at_most=3)).cells.tolist() == [1, 1, 1, 0, 1, 1]


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("few", [2, 1 << 62])
def test_the_least_of_a_run_are_those_of_the_order(most, few):
    """Beside sorting by (run, mark, place): also with marks that are mostly equal, where the first ones are kept."""
    rng = np.random.default_rng(most)
    sizes = rng.integers(most + 1, most + 9, 300)
    marks = rng.integers(0, few, sizes.sum()).astype(np.uint64)
    runs, starts = np.repeat(np.arange(300), sizes), np.cumsum(sizes) - sizes
    order = np.lexsort((np.arange(len(marks)), marks, runs))
    expected = np.zeros(len(marks), dtype=bool)
    expected[order[np.arange(len(marks)) - np.repeat(starts, sizes) < most]] = True
    assert (bounding.least_in_runs(marks, starts, sizes, most) == expected).all()


@pytest.mark.parametrize("nobody", [" NA", "nan ", "NaN\u00a0", "NA", "\u2003"])
def test_a_missing_mark_between_blanks_is_no_person_in_any_container(nobody):
    """As one person, all who are not named would lose all but a few of their cells without a word."""
    events = {"user": ["ann", nobody], "page": ["p0", "p1"], "side": ["s0", "s1"]}
    marks = ut.Spelling(missing_marks=["NA"])
    for held in (events, pa.table(events), pl.DataFrame(events), pl.LazyFrame(events), on_duckdb(events)):
        with pytest.raises(BadTable, match="every event must name its person"):
            count_table(held, DOMAIN, Counting("user", at_most=1), spelling=marks)
