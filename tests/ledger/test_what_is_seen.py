"""R17: whoever has a ledger without its key, or a view, sees the same for all data, except for the noise."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pytest

import utmost as ut
from asking import asked, promised
from postgres import fresh_database
from utmost.errors import BadTable, OutOfRange, UtmostError
from utmost.ledger import Ledger, read_sealed
from utmost.testing import seeded_ledger

KEY = bytes(range(32))
TABLES = {"events": "number, body, mac", "parts": "event, part, content", "head": "number, seal"}

# Neighbouring tables, and pairs that no noise could hide but for which a length must not differ either.
PAIRS = {
    "one bit more": (127, 128),
    "one byte more": (255, 256),
    "a sign": (-1, 0),
    "32 bits": (2**31 - 1, 2**31),
    "64 bits": (2**63 - 1, 2**63),
    "very wide": (0, 10**37),
}
MAKERS = {
    "list": lambda values: {"n": values},
    "array": lambda values: {"n": np.array(values)},
    "pandas": lambda values: pd.DataFrame({"n": values}),
    "polars": lambda values: pl.DataFrame({"n": values}),
    "arrow": lambda values: pa.table({"n": values}),
}


def shape(value):
    """The part of a stored value that is not noise: its type and length, and numbers."""
    return (type(value).__name__, len(value)) if isinstance(value, bytes | memoryview) else value


def body_shape(body):
    """An event in which everything random is replaced by its length."""
    event = json.loads(bytes(body))
    event["time"] = len(event["time"])
    facts = event["facts"]
    for name in {"commitment", "question", "root", "values", "identity"} & set(facts):
        facts[name] = len(facts[name])
    return len(body), json.dumps(event)


def rows_seen(place):
    """The rows of all tables, in order, without their random contents."""
    is_server = str(place).startswith("postgresql")
    with closing(psycopg.connect(place) if is_server else sqlite3.connect(place)) as connection, connection:
        found = {
            name: connection.execute(f"SELECT {columns} FROM utmost_{name} ORDER BY 1, 2").fetchall()
            for name, columns in TABLES.items()
        }
    connection.close()
    events = [(number, body_shape(body), shape(mac)) for number, body, mac in found["events"]]
    return events, [tuple(map(shape, row)) for name in ("parts", "head") for row in found[name]]


def said_shape(table):
    """A recipient's table without its numbers."""
    column = table["n"]
    return type(table).__name__, type(column).__name__, len(column), str(getattr(column, "dtype", type(column[0])))


def seen(folder, table, *, sealed=True, place=None, **promise):
    """Everything that a thief sees of a ledger through four levels, and a recipient in its views. The witness is a copy
    of the events, so only its size is added."""
    folder.mkdir()
    place = place or folder / "l.db"
    with Ledger.open(place, create=True, key=KEY, witness=folder / "w", sealed=sealed) as ledger:
        given = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": "1/100"} | promise
        said = [
            said_shape(ledger.publish("r", table, **asked(**given)).table),
            said_shape(ledger.relax("r", table, epsilon=12).table),
        ]
        said += [said_shape(ledger.view("r", epsilon=epsilon).table) for epsilon in ("1/1000", 1)]
        ledger.backup(folder / "b.db")
        if sealed:
            said.append(said_shape(read_sealed(folder / "b.db", "r", ledger.level_key("r", epsilon=1)).table))
        for call in (lambda: ledger.view("r", epsilon=13).table, lambda: ledger.view("s", epsilon=1).table):
            with pytest.raises(UtmostError) as caught:
                call()
            said.append(str(caught.value))
    files = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    stored = [rows_seen(path) for path in (place, folder / "b.db")]
    return said, files, stored


def test_the_lengths_of_blocks_tell_nothing_of_responses_at_higher_levels(tmp_path):
    """The attack of issue 10: 127 or 128, published at 1/100 and relaxed to 12, read from the file without the key."""
    lengths = {truth: set() for truth in (127, 128)}
    for truth, found in lengths.items():
        for seed in range(10):
            place = tmp_path / f"{truth}-{seed}.db"
            with seeded_ledger(place, f"{truth} {seed}") as ledger:
                ledger.publish("r", {"n": [truth]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/100")
                ledger.relax("r", {"n": [truth]}, epsilon=12)
            found.add(str(rows_seen(place)))
    assert len(lengths[127] | lengths[128]) == 1


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_that_is_seen_depends_on_the_size_of_a_value(tmp_path, pair):
    """Encrypted or not: files, rows, lengths, types, names, order, errors, copies and views."""
    for sealed in (True, False):
        one, other = (
            seen(tmp_path / f"{sealed} {at}", {"n": [5, value, 7]}, sealed=sealed)
            for at, value in enumerate(PAIRS[pair])
        )
        assert one == other


@pytest.mark.parametrize("draws", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", MAKERS)
def test_every_adapter_shows_the_same_of_neighbours(tmp_path, make, draws):
    """In every draw, both tables show the same, except for the noise."""
    looks = [
        seen(tmp_path / f"{draw} {at}", MAKERS[make](values))
        for draw in range(draws)
        for at, values in enumerate(([3, 127], [3, 128]))
    ]
    assert all(look == looks[0] for look in looks)


def test_reals_show_the_same_whatever_their_size(tmp_path):
    promise = {"numbers": "reals", "grid": "1/1024"}
    found = [seen(tmp_path / f"{x}", {"n": [0.5, x]}, **promise) for x in (0.0, 1e-300, -1.0, 1e16, 1e34)]
    assert all(one == found[0] for one in found)


def test_a_server_shows_the_same(tmp_path):
    one, other = (seen(tmp_path / f"{n}", {"n": [n, 3]}, place=fresh_database())[2][0] for n in (2**15 - 1, 2**15))
    assert one == other


def test_a_large_table_shows_the_same(tmp_path):
    """More than one block, and words whose width follows from a declared bound."""
    rows = (1 << 16) + 5
    spread = [np.zeros(rows, np.int64), np.arange(rows) << 40]
    for promise in ({}, {"largest": 2**60}):
        one, other = (seen(tmp_path / f"{len(promise)} {at}", {"n": n}, **promise) for at, n in enumerate(spread))
        assert one == other


def test_equal_columns_are_not_seen_to_be_equal(tmp_path):
    """Without the key, the digests by which the ledger recognises data, and the commitments, look random."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        for version, values in enumerate(([1, 2, 3], [1, 2, 3], [9, 9, 9]), start=1):
            ledger.publish(
                "r",
                {"n": values},
                ut.Promise(columns="n", unit=ut.Unit(1, 1)),
                epsilon=1,
                version=version,
                dataset="d",
            )
        facts = [event.facts for event in ledger.history("r")]
    for name in ("values", "commitment", "question", "root"):
        assert len({fact[name] for fact in facts}) == 3
        assert len({len(fact[name]) for fact in facts}) == 1
    assert not {facts[0]["values"][i : i + 32] for i in range(0, 200, 8)} & {facts[1]["values"][24:56]}


def test_confirming_independence_leaves_no_trace(tmp_path):
    """It is needed only if values agree, so storing it would reveal that they do."""
    found = []
    for independent in (True, False):
        with Ledger.open(tmp_path / f"{independent}.db", create=True, key=KEY) as ledger:
            ledger.publish(
                "r", {"n": [1, 2]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, independent=independent
            )
        found.append(rows_seen(tmp_path / f"{independent}.db"))
    assert found[0] == found[1]


def test_a_value_beyond_the_declared_size_is_refused_before_anything_is_drawn(tmp_path):
    """The error names the place and not the value; the bound is public, and there is always one."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        promise = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": 1}
        with pytest.raises(BadTable, match=r"row 2 .index 1., column 'n'.* 100;.*largest=") as caught:
            ledger.publish("r", {"n": [100, 8128]}, **asked(largest=100, **promise))
        assert "8128" not in str(caught.value)
        with pytest.raises(BadTable, match=r"row 7 .*largest="):
            ledger.publish("r", {"n": [0] * 6 + [-(10**40)] + [0] * 5000}, **asked(**promise))
        assert len(ledger.history()) == 1
        for wrong in (0, -1, "much", float("nan"), 1 << 4096, f"1/{1 << 4096}", 10**5000):
            with pytest.raises(ValueError, match="largest"):
                ledger.publish("r", {"n": [100]}, **asked(largest=wrong, **promise))
        assert ledger.publish("r", {"n": [-100, 100]}, **asked(largest=100, **promise)).table
        assert ledger.publish("s", {"n": [10**40] * 5000}, **asked(largest=10**41, **promise)).table
        assert [release.noise.largest for release in ledger.releases] == [100, 10**41]


def test_words_are_as_long_as_public_facts_make_them():
    """The width depends only on the bound, the level, the sensitivity and the grid."""
    from utmost.exact import level

    def word(epsilon, **promise):
        return promised(**{"unit": ut.Unit(1, 1)} | promise).lasting_noise.word(level(epsilon))

    assert [word(epsilon) for epsilon in (1, 50, "1/1000000")] == [16, 16, 16]
    assert [word(1, largest=n) for n in (1, 10**4, 10**6, 10**12, 10**20)] == [2, 2, 4, 8, 16]
    assert [word(epsilon, largest=1) for epsilon in (10**4, "1/1000", "1/10000000000")] == [1, 4, 8]
    assert word(1, largest=1, sensitivity=10**15) == 8
    assert word(1, largest=1, sensitivity=1, numbers="reals", grid="1/1048576") == 4
    with pytest.raises(OutOfRange):
        word(1, largest="-1/2")
