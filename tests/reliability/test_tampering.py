"""R10: bits flipped, blocks swapped, files cut short, rows edited: each is found out, or has changed nothing."""

import contextlib
import random
import shutil
import sqlite3

import pytest

from reliability.clients import LEVELS, ask, first_level
from utmost.errors import LedgerDamaged, UtmostError
from utmost.ledger import Ledger


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A ledger with some releases, its bytes, and all that it says."""
    return filled(tmp_path_factory.mktemp("whole") / "l.db")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The same without a witness, which would tell what the chain, the seal and the parts are to tell."""
    return filled(tmp_path_factory.mktemp("alone") / "l.db", witness=False)


def filled(place, **options):
    with Ledger.open(place, create=True, **options) as ledger:
        for item in range(3):
            ask(ledger, item, first_level(item), "publish")
            ask(ledger, item, "4", "relax")
            ask(ledger, item, "1", "view")
        ledger.budget("all", 100)
        said = everything(ledger)
    return place, place.read_bytes(), said


def everything(ledger):
    """All that a ledger can be asked, without writing."""
    answers = {}
    for item in range(3):
        for level in LEVELS:
            if any(str(one) == f"epsilon={level}" for one in ledger.levels(f"item {item}")):
                answers[item, level] = ask(ledger, item, level, "view")
    status = ledger.status()
    events = [(event.number, event.time, event.kind, str(event.facts)) for event in ledger.history()]
    return answers, events, str(ledger.budget("all")), status.identity, status.events, status.quarantine


def harm(content, rng):
    """The bytes after one harm: which, and where."""
    size, kind = len(content), rng.choice(["flip", "flip", "flip", "swap", "cut", "blank", "copy", "add"])
    whole = bytearray(content)
    if kind == "flip":
        whole[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del whole[rng.randrange(size) :]
    elif kind == "add":
        whole += rng.randbytes(rng.choice([1, 100, 4096]))
    else:
        block = rng.choice([16, 512, 4096])
        one, other = (rng.randrange(size // block) * block for _ in range(2))
        here, there = bytes(whole[one : one + block]), bytes(whole[other : other + block])
        whole[one : one + block] = bytes(block) if kind == "blank" else there
        if kind == "swap":
            whole[other : other + block] = here
    return kind, bytes(whole)


def found_out(place, said, **options):
    """Whether the harm is refused by a typed error, or has changed nothing that the ledger says."""
    try:
        with Ledger.open(place, create=True, **options) as ledger:
            ledger.verify()
            assert everything(ledger) == said, "silently changed"
        return False
    except UtmostError:
        return True


def harmed(tmp_path, whole, count, seed):
    """How many harms of so many were found, and how many had changed nothing."""
    place, content, said = whole
    copy, rng, found, harmless = tmp_path / "l.db", random.Random(seed), 0, 0
    for name in (".key", ".witness"):
        shutil.copy(f"{place}{name}", f"{copy}{name}")
    for _ in range(count):
        _, changed = harm(content, rng)
        copy.write_bytes(changed)
        found_now = found_out(copy, said)
        found, harmless = found + found_now, harmless + (not found_now)
        for stale in tmp_path.glob("l.db-journal"):
            stale.unlink()
    return found, harmless


def test_harms(tmp_path, whole):
    found, harmless = harmed(tmp_path, whole, 60, seed=1)
    assert found > 12, "the rest fell on free space of the database's pages"
    assert found + harmless == 60


@pytest.mark.slow
def test_ten_thousand_harms(tmp_path, whole):
    found, harmless = harmed(tmp_path, whole, 10_000, seed=2)
    print(f"{found} harms found, {harmless} that changed nothing")


EDITS = {
    "the last event is dropped": ["DELETE FROM utmost_events WHERE number = (SELECT MAX(number) FROM utmost_events)"],
    "the last event is dropped, and the head moved back": [
        "UPDATE utmost_head SET number = number - 1",
        "DELETE FROM utmost_events WHERE number = (SELECT MAX(number) FROM utmost_events)",
    ],
    "an event in the middle is dropped": ["DELETE FROM utmost_events WHERE number = 3"],
    "events are renumbered": [
        "DELETE FROM utmost_events WHERE number = 3",
        "UPDATE utmost_events SET number = -number WHERE number > 3",
        "UPDATE utmost_events SET number = -number - 1 WHERE number < 0",
    ],
    "two events change places": [
        "UPDATE utmost_events SET number = -1 WHERE number = 3",
        "UPDATE utmost_events SET number = 3 WHERE number = 4",
        "UPDATE utmost_events SET number = 4 WHERE number = -1",
    ],
    "a level is edited": ["UPDATE utmost_events SET body = CAST(REPLACE(body, '\"4\"', '\"2\"') AS BLOB)"],
    "a limit is edited": ["UPDATE utmost_events SET body = CAST(REPLACE(body, '100', '900') AS BLOB)"],
    "a time is edited": [
        "UPDATE utmost_events SET body = CAST(REPLACE(body, 'Z\"}', '0\"}') AS BLOB) WHERE number = 2"
    ],
    "responses change places": [
        "UPDATE utmost_parts SET event = -1 WHERE event = 2",
        "UPDATE utmost_parts SET event = 2 WHERE event = 5",
        "UPDATE utmost_parts SET event = 5 WHERE event = -1",
    ],
    "a response is dropped": ["DELETE FROM utmost_parts WHERE rowid = (SELECT MAX(rowid) FROM utmost_parts)"],
    "a response is added": [
        "INSERT INTO utmost_parts SELECT event, part + 9, content FROM utmost_parts WHERE part = 0"
    ],
    "a response is emptied": ["UPDATE utmost_parts SET content = '' WHERE event = 3"],
    "a response is text": ["UPDATE utmost_parts SET content = 'abc' WHERE event = 3"],
    "the head is dropped": ["DELETE FROM utmost_head"],
    "there are two heads": ["INSERT INTO utmost_head SELECT * FROM utmost_head"],
    "the schema is of the future": ["UPDATE utmost_schema SET version = 99"],
    "the schema is no number": ["UPDATE utmost_schema SET version = 'one'"],
    "the schema is gone": ["DELETE FROM utmost_schema"],
    "the head is another event's": ["UPDATE utmost_head SET number = number - 1"],
    "the seal of the head is edited": [
        "UPDATE utmost_head SET seal = (SELECT mac FROM utmost_events WHERE number = 2)"
    ],
    "the chain is edited": ["UPDATE utmost_events SET mac = (SELECT seal FROM utmost_head) WHERE number = 2"],
    "an event is repeated": [
        "INSERT INTO utmost_events SELECT (SELECT MAX(number) FROM utmost_events) + 1, body, mac"
        " FROM utmost_events WHERE number = 4"
    ],
    "a commitment is edited": [
        "UPDATE utmost_parts SET content = (SELECT seal FROM utmost_head) WHERE event = 2 AND part = 0"
    ],
    "a part is moved": ["UPDATE utmost_parts SET part = 5 WHERE event = 3"],
    "the events are gone": ["DELETE FROM utmost_events"],
    "the table of events is gone": ["DROP TABLE utmost_events"],
    "an event is of an unknown kind": [
        "UPDATE utmost_events SET body = CAST(REPLACE(body, 'published', 'publicity') AS BLOB)"
    ],
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_rows(tmp_path, whole, edit):
    """Whoever can write the database and lacks the key: every edit is found out."""
    place, content, said = whole
    copy = copied(tmp_path, place, content)
    shutil.copy(f"{place}.witness", f"{copy}.witness")
    edited(copy, edit)
    assert copy.read_bytes() != content
    assert found_out(copy, said)


def copied(folder, place, content):
    """A ledger with this content beside a copy of its key."""
    copy = folder / "l.db"
    copy.write_bytes(content)
    shutil.copy(f"{place}.key", f"{copy}.key")
    return copy


def edited(place, edit):
    with contextlib.closing(sqlite3.connect(place)) as connection, connection:
        for statement in EDITS[edit]:
            connection.execute(statement)


@pytest.mark.parametrize("edit", EDITS)
def test_edits_are_told_without_a_witness_too(tmp_path, alone, edit):
    """All but the ledger put back as a whole, which only a witness or a receipt can tell."""
    place, content, said = alone
    copy = copied(tmp_path, place, content)
    assert not found_out(copy, said, witness=False)
    edited(copy, edit)
    assert found_out(copy, said, witness=False)


CUT = [edit for edit in EDITS if "dropped" in edit and "response" not in edit] + ["the head is another event's"]


@pytest.mark.parametrize("edit", CUT)
def test_a_cut_chain_is_refused_before_anything_is_asked(tmp_path, alone, edit):
    """Without a witness too: what was cut off would be drawn again. It is told of a ledger that is open as well."""
    place, content, _ = alone
    copy = copied(tmp_path, place, content)
    with Ledger.open(copy, key=f"{place}.key", witness=False) as ledger:
        edited(copy, edit)
        if "middle" not in edit:  # an open ledger has read that
            with pytest.raises(UtmostError):
                ask(ledger, 1, "4", "relax")
    with pytest.raises(LedgerDamaged), Ledger.open(copy, key=f"{place}.key", witness=False):
        pass


# What SQL says alike on both stores.
COMMON = [
    edit for edit, statements in EDITS.items() if not any("CAST" in s or "rowid" in s or "'" in s for s in statements)
]


@pytest.mark.parametrize("edit", COMMON)
def test_edited_rows_on_a_server(postgresql, edit):
    import psycopg

    place, options = postgresql
    with Ledger.open(place, create=True, **options) as ledger:
        for item in range(3):
            ask(ledger, item, first_level(item), "publish")
            ask(ledger, item, "4", "relax")
    with psycopg.connect(place) as connection:
        for statement in EDITS[edit]:
            connection.execute(statement)
    with pytest.raises(UtmostError), Ledger.open(place, **options) as ledger:
        ledger.verify()
