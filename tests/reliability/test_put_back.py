"""R7: a ledger that was put back to an earlier state is found out, and says nothing new."""

import random
import shutil

import pytest

from reliability.clients import LEVELS, NEEDED, ask, first_level, random_request, table
from utmost.errors import Quarantined, UtmostError
from utmost.ledger import Ledger


def live(ledger, rng, requests):
    """So many requests; the answers given."""
    given = {}
    for _ in range(requests):
        item, level, how = random_request(rng, items=4)
        try:
            given[item, level] = ask(ledger, item, level, how)
        except NEEDED:
            continue
    return given


def lived_on(tmp_path, seed, **options):
    """A ledger, a copy of it from some moment (a plain file copy or a backup), and what was said before and since."""
    rng = random.Random(seed)
    place, copy = tmp_path / f"{seed}.db", tmp_path / f"{seed}.copy"
    with Ledger.open(place, create=True, **options) as ledger:
        ask(ledger, 0, first_level(0), "publish")
        before = live(ledger, rng, rng.randint(0, 12))
        before[0, first_level(0)] = ask(ledger, 0, first_level(0), "view")
        receipt = ledger.receipt()
        if seed % 2:
            shutil.copy(place, copy)
        else:
            ledger.backup(copy)
        events, since = ledger.status().events, {}
        while ledger.status().events == events:
            since |= live(ledger, rng, rng.randint(1, 12))
        last = ledger.receipt()
    return place, copy, before, since, receipt, last


def says_nothing_new(ledger, before, since):
    """Old answers are repeated; every other request is refused, and draws nothing."""
    assert ledger.status().quarantine
    events = len(ledger.history())
    for (item, level), values in before.items():
        assert ask(ledger, item, level, "view") == values
    for item in range(5):
        for level in LEVELS:
            if (item, level) in before:
                continue
            for how in ("publish", "relax", "view"):
                if how == "publish" and level != first_level(item):
                    continue
                with pytest.raises((Quarantined, *NEEDED)):
                    ask(ledger, item, level, how)
    assert len(ledger.history()) == events
    return True


def check_put_back(tmp_path, seed):
    """With the witness still there, a ledger that is put back is quarantined until it is resumed, and then charged."""
    place, copy, before, since, _, _ = lived_on(tmp_path, seed)
    with Ledger.open(place, create=True) as ledger:
        spent = ledger.budget("all").spent
    shutil.copy(copy, place)
    with Ledger.open(place) as ledger:
        assert says_nothing_new(ledger, before, since)
        ledger.resume("the disk was replaced")
        assert ledger.verify()
        assert ledger.budget("all").spent >= spent
        for (item, level), values in before.items():
            assert ask(ledger, item, level, "view") == values
        for item, level in since:
            stored = [LEVELS.index(one) for known, one in before if known == item]
            if LEVELS.index(level) > max(stored, default=-1):  # what needs the data is never drawn a second time
                with pytest.raises(UtmostError):
                    ledger.relax(f"item {item}", table(item), epsilon=level)


@pytest.mark.slow
def test_a_hundred_copies_put_back(tmp_path):
    for seed in range(100, 200):
        check_put_back(tmp_path, seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_where_the_witness_is_put_back_too_a_receipt_tells(tmp_path, seed):
    """Everything is put back together: only what was kept elsewhere can tell."""
    place, copy, before, since, old, new = lived_on(tmp_path, seed, witness=False)
    shutil.copy(copy, place)
    with Ledger.open(place, create=True, witness=False) as ledger:
        ledger.check(old)
        with pytest.raises(Quarantined):
            ledger.check(new)
        assert says_nothing_new(ledger, before, since)
    with Ledger.open(place, witness=False) as ledger:
        assert says_nothing_new(ledger, before, since)


TABLES = ("utmost_schema", "utmost_events", "utmost_head", "utmost_parts")


def copied(connection):
    """Keep the tables of a ledger as they are now, in another schema."""
    (schema,) = connection.execute("SELECT current_schema() || '_copy'").fetchone()
    connection.execute(f"CREATE SCHEMA {schema}")
    for kept in TABLES:
        connection.execute(f"CREATE TABLE {schema}.{kept} AS TABLE {kept}")
    return schema


def put_back(connection, schema):
    for kept in TABLES:
        connection.execute(f"DELETE FROM {kept}")
        connection.execute(f"INSERT INTO {kept} SELECT * FROM {schema}.{kept}")


@pytest.mark.parametrize("seed", [7, 8])
def test_a_database_put_back_is_found_out(tmp_path, postgresql, seed):
    """The same on a server: the database is put back, the witness on the curator's machine is not."""
    import psycopg

    (place, options), rng = postgresql, random.Random(seed)
    options = options | {"witness": str(tmp_path / "witness")}
    with Ledger.open(place, create=True, **options) as ledger:
        ask(ledger, 0, "1/4", "publish")
        before = {(0, "1/4"): ask(ledger, 0, "1/4", "view")}
        with psycopg.connect(place) as connection:
            copy = copied(connection)
        since = {(0, "4"): ask(ledger, 0, "4", "relax")} | live(ledger, rng, 5)
        spent = ledger.budget("all").spent
    with psycopg.connect(place) as connection:
        put_back(connection, copy)
    with Ledger.open(place, **options) as ledger:
        assert says_nothing_new(ledger, before, since)
        ledger.resume("the server was restored")
        assert ledger.budget("all").spent >= spent
