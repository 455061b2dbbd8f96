"""The format and how it evolves: older ledgers open, later ones are refused, nothing unknown is passed over."""

import json
import sqlite3

import pytest

from utmost.errors import LedgerDamaged, OutOfRange, Unsupported
from utmost.exact import level
from utmost.ledger import Event, Ledger
from utmost.publish.ledger.events import event_bytes, read_event
from utmost.publish.ledger.state import State, folded
from utmost.publish.ledger.store import STEPS, missing_steps
from utmost.publish.promises import cell_noise
from utmost.publish.promises.noise_kinds import noise_of_facts

KEY = bytes(range(32))
PUBLISHED = (
    "name version dataset columns rows id_column promise commitment kind request level how parts root seal values "
    "public rows_from part items labels label_key"
)


def body(**changes):
    facts = {"dataset": "d", "limit": "1"}
    return json.dumps({"format": 1, "kind": "budgeted", "time": "t", "facts": facts} | changes).encode()


def test_an_event_is_read_as_it_was_written():
    event = Event(3, "2026-01-01T00:00:00Z", "budgeted", {"dataset": "\ud800 é", "limit": "1/2"})
    assert read_event(3, event_bytes(event)) == event


def test_older_events_are_read_through_every_upgrade():
    """From format 1 to 3, each step a function of the facts."""
    upgrades = {1: lambda facts: {**facts, "two": True}, 2: lambda facts: {**facts, "three": True}}
    assert read_event(1, body(), upgrades).facts == {"dataset": "d", "limit": "1", "two": True, "three": True}
    assert read_event(1, body(format=2), upgrades).facts == {"dataset": "d", "limit": "1", "three": True}
    assert read_event(1, body(format=3), upgrades).facts == {"dataset": "d", "limit": "1"}
    with pytest.raises(Unsupported):
        read_event(1, body(format=4), upgrades)


@pytest.mark.parametrize("changes", [{"format": 9}, {"format": 0}, {"format": True}, {"format": "1"}, {"kind": "sold"}])
def test_an_event_of_another_kind_or_format_is_refused(changes):
    with pytest.raises(Unsupported, match="later version"):
        read_event(1, body(**changes))


@pytest.mark.parametrize("text", [b"", b"7", b"{}", b"\xff", b'{"format":1}', b"[1,2]"])
def test_what_is_no_event_is_damage(text):
    with pytest.raises(LedgerDamaged):
        read_event(1, text)


@pytest.mark.parametrize(
    ("number", "kind", "facts"),
    [
        (2, "opened", {}),
        (1, "budgeted", {"dataset": "d", "limit": "1"}),
        (2, "published", {"name": "r"}),
        (2, "answered", {"name": "r", "version": 1}),
        (2, "budgeted", {"dataset": "d", "limit": "none"}),
        (2, "resumed", {"missing": {}, "closed": [["r", 1]]}),
    ],
)
def test_facts_that_make_no_state_are_damage(number, kind, facts):
    with pytest.raises(LedgerDamaged):
        folded(State(number - 1, bytes(32)), [(Event(number, "t", kind, facts), bytes(32))])


def test_tables_are_brought_up_to_date_step_by_step():
    """Each missing step once, in order, and the version after them."""
    steps = (("one",), ("two", "three"), ("four",))
    assert missing_steps(0, steps) == ["one", "two", "three", "four", "UPDATE utmost_schema SET version = 3"]
    assert missing_steps(2, steps) == ["four", "UPDATE utmost_schema SET version = 3"]
    assert missing_steps(3, steps) == []
    with pytest.raises(Unsupported, match="version 3 or older"):
        missing_steps(4, steps)


def test_a_ledger_of_a_later_version_is_refused(tmp_path):
    """Before anything is read or written."""
    Ledger.open(tmp_path / "l.db", create=True, key=KEY).close()
    with sqlite3.connect(tmp_path / "l.db") as connection:
        connection.execute(f"UPDATE utmost_schema SET version = {len(STEPS) + 1}")
    connection.close()
    with pytest.raises(Unsupported, match="later"):
        Ledger.open(tmp_path / "l.db", key=KEY)


def test_the_file_is_kept_as_it_must_be(tmp_path):
    """A rollback journal, not a write-ahead log; and every commit synced with its directory."""
    from utmost.publish.ledger.sqlite_store import in_transaction

    Ledger.open(tmp_path / "l.db", create=True, key=KEY).close()

    def pragmas(connection):
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]

    assert in_transaction(tmp_path / "l.db", pragmas, 1, write=True) == ["delete", 3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.db", "l.db.witness"]


def test_every_fact_is_there(tmp_path):
    """The names that this version writes are written for ever."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.budget("d", limit=3)
        ledger.publish("r", {"n": [1]}, columns="n", sensitivity=1, cells=1, epsilon=1, dataset="d")
        ledger.relax("r", {"n": [1]}, epsilon=2)
        kinds = {event.kind: sorted(event.facts) for event in ledger.history()}
    assert kinds == {
        "opened": ["derived", "identity", "key", "sealed", "witness"],
        "budgeted": ["dataset", "limit"],
        "published": sorted(PUBLISHED.split()),
        "answered": ["how", "label_key", "level", "name", "parts", "root", "seal", "version"],
    }


@pytest.fixture
def before_there_was_a_choice(monkeypatch):
    """What an event of the first format is read as: values snapped by floor."""

    def published(ledger, *args, **options):
        with monkeypatch.context() as old:
            real = cell_noise.CellNoise.facts
            old.setattr(cell_noise.CellNoise, "facts", lambda self: real(self) | {"snapping": "floor"})
            make = cell_noise.cell_noise
            old.setattr(cell_noise, "cell_noise", lambda **words: make(**words).snapped_by("floor"))
            return ledger.publish(*args, **options).table

    return published


@pytest.mark.parametrize("derived", [False, True])
def test_a_release_of_the_first_format_keeps_its_own_rule_of_snapping(tmp_path, before_there_was_a_choice, derived):
    """Relaxed, published again and viewed by floor, as it was published; a new version is rounded to the nearest."""
    data = {"n": [0.9, -0.9, 7.75, 3.5]}
    options = {"columns": "n", "epsilon": 1, "sensitivity": 1, "cells": 1, "numbers": "reals", "grid": 1}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, derived=derived) as ledger:
        first = before_there_was_a_choice(ledger, "r", data, **options)
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        assert ledger.verify()
        assert ledger.releases[-1].noise.lattice.snapping == "floor"
        assert ledger.publish("r", data, **options).table == first, "asked again as it was"
        assert ledger.relax("r", data, epsilon=900)["n"] == [0.0, -1.0, 7.0, 3.0]
        old = ledger.releases[-1].noise.margin(level(900), "0.95")
        ledger.publish("r", data, **options, version=2)
        assert ledger.releases[-1].noise.lattice.snapping == "nearest"
        assert ledger.relax("r", data, epsilon=900)["n"] == [1.0, -1.0, 8.0, 4.0]
        assert (old, ledger.releases[-1].noise.margin(level(900), "0.95")) == (1.0, 0.5)
        kept = [event.facts["promise"].get("snapping") for event in ledger.history() if event.kind == "published"]
    assert kept == ["floor", "nearest"]


def test_a_rule_of_snapping_that_is_none_is_damage(tmp_path):
    facts = {"sensitivity": "1", "cells": 1, "neighbours": "add-remove", "half_step": False, "grid": "1"}
    facts |= {"largest": None, "strategy": None, "points": None}
    assert noise_of_facts(facts | {"snapping": "floor"}).lattice.snapping == "floor"
    assert noise_of_facts(facts | {"snapping": "nearest"}).lattice.snapping == "nearest"
    with pytest.raises(OutOfRange, match="snapping"):
        noise_of_facts(facts | {"snapping": "up"})


def test_the_text_from_which_noise_is_derived_does_not_change():
    """Old ledgers derive their noise from it."""
    made = cell_noise.cell_noise(sensitivity=1, cells=1, numbers="reals", grid="1/4")
    assert made.lattice.name_in_keys == "Unit(sensitivity=4, cells=1, block=1, exponent=2)"
    assert made.snapped_by("floor").lattice.name_in_keys == made.lattice.name_in_keys
