"""Triggers, rules and other additions that act between a statement and its table are refused by every writing
transaction, and by verify."""

import sqlite3
from contextlib import suppress

import psycopg
import pytest

import utmost as ut
from ledger.crash_points import nobody_looks_at_the_tables
from postgres import fresh_database
from utmost.errors import LedgerDamaged, UtmostError
from utmost.ledger import Ledger

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}

SQLITE = {
    "a trigger that swallows events": "CREATE TRIGGER t BEFORE INSERT ON utmost_events BEGIN SELECT RAISE(IGNORE); END",
    "a trigger on the head": "CREATE TRIGGER t BEFORE DELETE ON utmost_head BEGIN SELECT RAISE(IGNORE); END",
    "a view in the place of a table": "ALTER TABLE utmost_parts RENAME TO kept; "
    "CREATE VIEW utmost_parts AS SELECT * FROM kept",
    "a column more": "ALTER TABLE utmost_events ADD COLUMN more TEXT",
    "an index more": "CREATE INDEX i ON utmost_events (mac)",
    "another table": "CREATE TABLE other (a)",
    "a table without its key": "DROP TABLE utmost_parts; CREATE TABLE utmost_parts (event, part, content)",
}
POSTGRES = {
    "a rule that swallows events": "CREATE RULE r AS ON INSERT TO utmost_events DO INSTEAD NOTHING",
    "a rule on parts": "CREATE RULE r AS ON INSERT TO utmost_parts DO ALSO NOTHING",
    "a trigger": "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
    "CREATE TRIGGER t BEFORE INSERT ON utmost_events FOR EACH ROW EXECUTE FUNCTION f()",
    "row security": "ALTER TABLE utmost_events ENABLE ROW LEVEL SECURITY",
    "a policy": "CREATE POLICY p ON utmost_parts USING (false)",
    "a table that is not logged": "ALTER TABLE utmost_parts SET UNLOGGED",
    "a view in the place of a table": "ALTER TABLE utmost_head RENAME TO kept; "
    "CREATE VIEW utmost_head AS SELECT * FROM kept",
    "a child table": "CREATE TABLE child () INHERITS (utmost_events)",
    "a column more": "ALTER TABLE utmost_events ADD COLUMN more text",
    "a default": "ALTER TABLE utmost_head ALTER COLUMN number SET DEFAULT 1",
    "a null allowed": "ALTER TABLE utmost_head ALTER COLUMN seal DROP NOT NULL",
    "a condition": "ALTER TABLE utmost_events ADD CHECK (number < 3)",
    "no key": "ALTER TABLE utmost_events DROP CONSTRAINT utmost_events_pkey",
    "an index more": "CREATE INDEX ON utmost_events (mac)",
    "a table gone": "DROP TABLE utmost_parts",
}


def refuses_to_go_on(ledger):
    """No new answer is given, nothing is written, and verify reports the change."""
    with pytest.raises(LedgerDamaged):
        ledger.relax("r", TABLE, epsilon=2)
    with pytest.raises(LedgerDamaged):
        ledger.budget("r", limit=3)
    with pytest.raises(LedgerDamaged):
        ledger.verify()
    assert [event.kind for event in ledger.history()] == ["opened", "published"]


@pytest.mark.parametrize("change", SQLITE)
def test_a_changed_file_is_refused(tmp_path, change):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        first = ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table
        other = sqlite3.connect(tmp_path / "l.db")
        other.executescript(SQLITE[change])
        other.close()
        refuses_to_go_on(ledger)
        if "without" not in change:
            assert ledger.view("r", epsilon=1).table["n"] == first["n"]
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        refuses_to_go_on(ledger)


@pytest.mark.parametrize("change", POSTGRES)
def test_a_changed_database_is_refused(tmp_path, change):
    place, options = fresh_database(), {"key": KEY, "witness": tmp_path / "w"}
    with Ledger.open(place, create=True, **options) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    with psycopg.connect(place) as other:
        other.execute(POSTGRES[change])
    with Ledger.open(place, **options) as ledger:
        refuses_to_go_on(ledger)


def test_a_search_path_that_hides_the_catalog_or_the_tables_is_refused(tmp_path):
    """A schema before pg_catalog may define operators; a temporary table hides a table of the same name."""
    place, options = fresh_database(), {"key": KEY, "witness": tmp_path / "w"}
    schema = place.rpartition("%3D")[2]
    with Ledger.open(place, create=True, **options) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    with Ledger.open(f"{place}%2Cpg_catalog", **options) as ledger:
        refuses_to_go_on(ledger)
    with Ledger.open(place, **options) as ledger:
        (connection,) = ledger._log.store._idle_here()
        connection.execute(f"CREATE TEMP TABLE utmost_parts AS SELECT * FROM {schema}.utmost_parts")
        with pytest.raises(LedgerDamaged, match="utmost_parts"):
            ledger.relax("r", TABLE, epsilon=2)


def swallowing(place):
    """The attack: somebody who may write the database, but has neither key nor data, makes the store drop each new
    event."""
    other = sqlite3.connect(place)
    for table, event in (("events", "INSERT"), ("parts", "INSERT"), ("head", "INSERT"), ("head", "DELETE")):
        other.execute(
            f"CREATE TRIGGER {table}_{event} BEFORE {event} ON utmost_{table} BEGIN SELECT RAISE(IGNORE); END"
        )
    other.commit()
    other.close()


@pytest.mark.parametrize("blind", [False, True], ids=["as it is", "nobody looks at the tables"])
def test_a_store_that_swallows_events_gets_no_second_answer(tmp_path, monkeypatch, blind):
    """Even without the check of the tables: written events are read back, and the noise is drawn once."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/10")
    swallowing(tmp_path / "l.db")
    if blind:
        nobody_looks_at_the_tables(monkeypatch)
    answers = set()
    for _ in range(20):
        with suppress(UtmostError), Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
            answers.add(tuple(ledger.relax("r", TABLE, epsilon="1/2").table["n"]))
    assert answers == set()


def test_a_database_that_swallows_events_gets_no_second_answer(tmp_path, monkeypatch):
    place, options = fresh_database(), {"key": KEY, "witness": tmp_path / "w"}
    with Ledger.open(place, create=True, **options) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/10")
    with psycopg.connect(place) as other:
        other.execute(POSTGRES["a rule that swallows events"])
    nobody_looks_at_the_tables(monkeypatch)
    answers = set()
    for _ in range(5):
        with Ledger.open(place, **options) as ledger, suppress(UtmostError):
            answers.add(tuple(ledger.relax("r", TABLE, epsilon="1/2").table["n"]))
    assert answers == set()
    with psycopg.connect(place) as other:
        other.execute("DROP RULE r ON utmost_events")
    with Ledger.open(place, **options) as ledger:
        first = ledger.relax("r", TABLE, epsilon="1/2").table
        assert ledger.relax("r", TABLE, epsilon="1/2").table == first
        assert ledger.verify().events == 3
