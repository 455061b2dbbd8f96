"""R18 for encrypted copies: if a public fact is changed without the key, no changed fact is ever confirmed."""

import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import KeyRefused, UtmostError, WrongKind
from utmost.ledger import Ledger, read_sealed

KEY = bytes(range(32))
TABLE = {"who": ["a", "b", "c"], "income": [10.5, 20.25, 30.0], "rent": [1.0, 2.0, 3.0]}


def made(folder):
    """An encrypted ledger with two levels of two versions; its level keys and what each reads, by version and level."""
    with Ledger.open(folder / "l.db", create=True, key=KEY, witness=False) as ledger:
        for version in (1, 2):
            ledger.publish(
                "r",
                TABLE,
                ut.Promise(
                    columns=["income", "rent"],
                    public="who",
                    noise=ut.CellNoise(ut.Unit(1, 2), numbers="reals", grid="1/1024"),
                ),
                epsilon="1/2",
                dataset="d",
                version=version,
                request=f"q{version}",
            )
        ledger.relax("r", TABLE, epsilon=3)
        found = {}
        for version, epsilon in ((1, "1/2"), (2, "1/2"), (2, 3)):
            key = ledger.level_key("r", epsilon=epsilon, version=version)
            assert len(key) == 32
            found[version, epsilon] = key, ledger.view("r", epsilon=epsilon, version=version).table
        assert ledger.verify()
    return folder / "l.db", found


@pytest.fixture
def sealed(tmp_path):
    return made(tmp_path)


def changes(value, path=()):
    """Change every leaf of a document in turn, with its path; also reverse and shorten lists."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ((where, value | {name: other}) for where, other in changes(part, (*path, name)))
            yield (*path, name, "dropped"), {key: one for key, one in value.items() if key != name}
    elif isinstance(value, list):
        for how, other in (("turned", value[::-1]), ("cut", value[:-1])):
            if other != value:
                yield (*path, how), other
        for at, part in enumerate(value):
            yield from ((where, [*value[:at], other, *value[at + 1 :]]) for where, other in changes(part, (*path, at)))
    else:
        yield from ((path, other) for other in others(value) if other != value or type(other) is not type(value))


def others(value):
    """Values that may replace a leaf."""
    if isinstance(value, str):
        known = [
            "r", "s", "d", "income", "rent", "1/2", "3", "1", "1/1048576", "columns:aa", "fresh", "relax", "9" * 30,
        ]  # fmt: skip
        return [*known, value + "x", "", value[::-1], None, 7]
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, -1, 1 << 70, str(value), None, float(value)]
    return ["x", 0, True, "1/8"]


def same(one, other):
    return list(one) == list(other) and all(
        type(one[n]) is type(other[n]) and np.array_equal(one[n], other[n]) for n in one
    )


def with_bodies(place, copy, bodies):
    """A copy of the ledger with other events."""
    shutil.copy(place, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        for number, body in bodies.items():
            connection.execute("UPDATE utmost_events SET body = ? WHERE number = ?", (body, number))
    connection.close()
    return copy


def bodies_of(place):
    with closing(sqlite3.connect(place)) as connection, connection:
        rows = connection.execute("SELECT number, body FROM utmost_events").fetchall()
    connection.close()
    return {number: json.loads(body) for number, body in rows}


# What a reader of version and level may not notice in the events of its own response: facts that it is not reported.
UNTOLD = {"time", "request", "values", "how", "key", "sealed", "derived", "witness"}
OF_ANOTHER_LEVEL = {"level", "parts", "root", "label_key"}
OWN = {(1, "1/2"): (1, 2), (2, "1/2"): (1, 3), (2, 3): (1, 3, 4)}


@pytest.mark.parametrize("dose", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_every_leaf_that_is_changed_is_refused_or_irrelevant(sealed, tmp_path, dose):
    """Change every leaf of every event without the key: a recipient then reads the original answer, or gets an error.
    The small run changes each fact of each event once, so that a new fact is tested in the default run, too."""
    place, found = sealed
    reported, count, tried = 0, 0, set()
    for number, event in bodies_of(place).items():
        for path, changed in changes(event):
            count += 1
            fact = number, *path[:2]
            if (count + number) % dose and fact in tried:
                continue
            tried.add(fact)
            copy = with_bodies(place, tmp_path / "copy.db", {number: json.dumps(changed).encode()})
            for (version, level), (key, said) in found.items():
                try:
                    read = read_sealed(copy, "r", key, version=version).table
                except UtmostError:
                    reported += 1
                else:
                    assert same(read, said), (number, path)
                    untold = UNTOLD | (OF_ANOTHER_LEVEL if (level, number) == (3, 3) else set())
                    assert number not in OWN[version, level] or untold & set(path[:2]), (number, path)
    assert reported > 1000 // dose


BOUND = {
    "columns swapped": lambda facts: facts["promise"]["columns"].reverse(),
    "a column renamed": lambda facts: facts["promise"]["columns"].__setitem__(0, "wages"),
    "a grid scaled by 1024": lambda facts: facts["promise"].__setitem__("grid", "1/1048576"),
    "a sensitivity": lambda facts: facts["promise"].__setitem__("sensitivity", "9"),
    "cells": lambda facts: facts["promise"].__setitem__("cells", 1),
    "neighbours": lambda facts: facts["promise"].__setitem__("neighbours", "change-one"),
    "a bound": lambda facts: facts["promise"].__setitem__("largest", "7"),
    "another level": lambda facts: facts.__setitem__("level", "1/100"),
    "another name": lambda facts: facts.__setitem__("name", "s"),
    "a dataset": lambda facts: facts.__setitem__("dataset", "e"),
    "fewer rows": lambda facts: facts.__setitem__("rows", 2),
    "an identifier": lambda facts: facts["promise"].__setitem__("id_column", "who"),
    "another kind": lambda facts: facts.__setitem__("kind", "csv"),
    "a commitment": lambda facts: facts.__setitem__("commitment", "0" * 64),
    "the order of the columns": lambda facts: facts["labels"]["order"].reverse(),
    "the digest of the labels": lambda facts: facts["labels"].__setitem__("digest", "0" * 64),
}


@pytest.mark.parametrize("change", BOUND)
def test_a_bound_fact_that_is_changed_is_refused(sealed, tmp_path, change):
    """Issue 10: swapped columns, a scaled grid and a changed level were all accepted."""
    place, found = sealed
    bodies = bodies_of(place)
    event = bodies[2]
    BOUND[change](event["facts"])
    copy = with_bodies(place, tmp_path / "copy.db", {2: json.dumps(event).encode()})
    with pytest.raises((KeyRefused, UtmostError)):
        read_sealed(copy, event["facts"]["name"], found[1, "1/2"][0], version=1)


def test_the_key_of_the_labels_is_bound_to_its_response(sealed, tmp_path):
    """Replace the key of the labels by nothing, by that of another event, or flip one bit: only its own level is
    refused."""
    place, found = sealed
    own = {(1, "1/2"): 2, (2, "1/2"): 3, (2, 3): 4}
    bodies = bodies_of(place)
    kept = {number: bodies[number]["facts"]["label_key"] for number in own.values()}
    for number, key_there in kept.items():
        turned = f"{int(key_there[:2], 16) ^ 1:02x}{key_there[2:]}"
        for other in ({None, "", "00", turned, key_there[::-1]} | set(kept.values())) - {key_there}:
            event = bodies[number] | {"facts": bodies[number]["facts"] | {"label_key": other}}
            copy = with_bodies(place, tmp_path / "copy.db", {number: json.dumps(event).encode()})
            for (version, level), (key, said) in found.items():
                if own[version, level] == number:
                    with pytest.raises(KeyRefused, match="must decrypt an answered level"):
                        read_sealed(copy, "r", key, version=version)
                else:
                    assert same(read_sealed(copy, "r", key, version=version).table, said)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE utmost_parts SET part = CASE part WHEN 2 THEN 3 ELSE 2 END WHERE event = 2 AND part > 1",
        "UPDATE utmost_parts SET content = (SELECT content FROM utmost_parts WHERE event = 3 AND part = 2) "
        "WHERE event = 2 AND part = 2",
        "DELETE FROM utmost_parts WHERE event = 2 AND part = 3",
        "UPDATE utmost_parts SET content = x'00' WHERE event = 2 AND part = 2",
        "UPDATE utmost_parts SET content = x'00' WHERE event = 2 AND part = 1",
    ],
    ids=["swapped", "of another version", "dropped", "emptied", "labels"],
)
def test_blocks_are_bound_to_their_place(sealed, statement):
    place, found = sealed
    with closing(sqlite3.connect(place)) as connection, connection:
        if "CASE" in statement:
            connection.execute("UPDATE utmost_parts SET part = part + 100 WHERE event = 2 AND part > 1")
            statement = (
                "UPDATE utmost_parts SET part = CASE part WHEN 102 THEN 3 ELSE 2 END WHERE event = 2 AND part > 9"
            )
        connection.execute(statement)
    connection.close()
    with pytest.raises(KeyRefused):
        read_sealed(place, "r", found[1, "1/2"][0], version=1)


def test_the_key_of_a_level_has_32_bytes(tmp_path):
    place, found = made(tmp_path)
    key, said = found[1, "1/2"]
    assert same(read_sealed(place, "r", key, version=1).table, said)
    for wrong in (key[:31], key + b"x", key + bytes(32), b"", "text"):
        with pytest.raises((KeyRefused, WrongKind)):
            read_sealed(place, "r", wrong, version=1)


def test_ledgers_under_one_key_do_not_share_the_keys_of_levels(tmp_path):
    """A block of one ledger cannot be opened in another, even with equal name, version, level and key."""
    keys = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        keys.append(made(tmp_path / folder)[1][1, "1/2"][0])
    assert keys[0] != keys[1]


@pytest.mark.parametrize("word", ["nonnegative", "exactly"])
def test_what_is_taken_for_granted_of_individuals_is_bound(tmp_path, word):
    """A forger who restricts the promise to individuals who lower no cell, or to complete populations, is refused."""
    domain = ut.Domain(cell=["a", "b", "c"])
    unit = ut.Unit(1, 1, "change-one", nonnegative=word == "exactly")
    counted = CountedTable(domain, np.array([3, 4, 5]), unit)
    promise = ut.Promise(noise=ut.choose_plan(ut.Workload(domain, {"cell": 1}), unit, epsilon=1))
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, witness=False) as ledger:
        ledger.publish("r", counted, promise, epsilon=1, dataset="d")
        key = ledger.level_key("r", epsilon=1)
    ((number, event),) = [pair for pair in bodies_of(tmp_path / "l.db").items() if "promise" in pair[1]["facts"]]
    assert read_sealed(tmp_path / "l.db", "r", key).table.plan.unit == unit
    event["facts"]["promise"][word] = True
    forged = with_bodies(tmp_path / "l.db", tmp_path / "f.db", {number: json.dumps(event).encode()})
    with pytest.raises(UtmostError):
        read_sealed(forged, "r", key)
