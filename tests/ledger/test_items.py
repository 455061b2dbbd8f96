"""Releases with noise keyed by identifier: the same answers for every order of the rows and at both entrances; a
changed table is refused, and its first changed block is named."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import utmost as ut
from asking import asked, publish_items
from utmost.errors import (
    AlreadyPublished,
    BadTable,
    BudgetExceeded,
    DataChanged,
    LedgerDamaged,
    LittleProtection,
    NeedsTable,
    NotPublished,
    OutOfRange,
    Unsupported,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.sampling import Identifiers
from utmost.testing import seeded_ledger

KEY = bytes(range(32))
N = 300
PROMISE = {"columns": ["n", "m"], "unit": ut.Unit(1, 2)}
BY_ITEM = PROMISE | {"id_column": "id", "public": "id", "keyed_by_id": True}


def table(order=None, ids=None):
    order = np.arange(N) if order is None else np.asarray(order)
    names = np.array([f"person {at}" for at in range(N)], object) if ids is None else ids
    return {"id": names[order].tolist(), "n": (np.arange(N) * 7 % 40)[order], "m": (np.arange(N) % 3)[order]}


def opened(place, **options):
    """A ledger with the same identity and key each time, as copies have."""
    return seeded_ledger(place / "l.db", 0, **{"key": KEY, "witness": None} | options)


def by_item(answer):
    """The answer by identifier."""
    return dict(zip(answer["id"], zip(answer["n"].tolist(), answer["m"].tolist(), strict=True), strict=True))


SHUFFLED, OTHER = np.random.default_rng(1).permutation(N), np.random.default_rng(2).permutation(N)


@pytest.mark.parametrize("derived", [False, True])
def test_the_order_of_the_rows_changes_no_answer(tmp_path, derived):
    """Publish, repeat, relax and view with rows in different orders: each identifier has the same values, in two
    ledgers."""
    said = []
    for at, (first, then) in enumerate([(np.arange(N), SHUFFLED), (OTHER, np.arange(N))]):
        (tmp_path / str(at)).mkdir()
        with opened(tmp_path / str(at), derived=derived) as ledger:
            lower = ledger.publish("r", table(first), ut.Promise(**BY_ITEM), epsilon="1/2").table
            assert lower["id"] == table(first)["id"], "the answer follows the table"
            again = ledger.publish("r", table(then), ut.Promise(**BY_ITEM), epsilon="1/2").table
            higher = ledger.relax("r", table(then), epsilon=2).table
            assert higher["id"] == again["id"] == table(then)["id"]
            viewed = {e: ledger.view("r", epsilon=e).table for e in (1, "1/4", "1/2")}
            middle = by_item(ledger.relax("r", table(then), epsilon=1).table)
            assert by_item({"id": lower["id"], **viewed[1]}) == middle
            assert by_item({"id": lower["id"], **viewed["1/2"]}) == by_item(again) == by_item(lower)
            said.append((by_item(lower), by_item(higher), middle, by_item({"id": lower["id"], **viewed["1/4"]})))
            assert ledger.verify().responses == 4
            assert str(ledger.spent("r")) == "epsilon=2"
    assert said[0] == said[1]
    assert len(set(map(str, said[0]))) == 4


def test_both_doors_give_the_same_values(tmp_path):
    """The workers' answers from the derived secret equal the answers that the ledger stores, at every level of one
    path."""
    path = ["1/2", 3, 1, "1/4"]
    (tmp_path / "a").mkdir()
    with opened(tmp_path / "a") as ledger:
        kept = [ledger.publish("r", table(), ut.Promise(**BY_ITEM), epsilon=path[0]).table]
        kept += [ledger.relax("r", table(SHUFFLED), epsilon=e).table for e in path[1:]]
        first_key = ledger.items.commitment_key("r")
        viewed = ledger.items.view("r", epsilon=3)
    with opened(tmp_path) as ledger:
        values, ids = {name: table()[name] for name in ("n", "m")}, [Identifiers.of(table()["id"])]
        key = ledger.items.commitment_key("r", ut.Promise(**PROMISE))
        assert key.secret == first_key.secret
        halves = [
            key.committed([Identifiers.of(table()["id"][at])], {n: v[at] for n, v in values.items()})
            for at in (slice(0, 100), slice(100, N))
        ]
        made = publish_items(ledger, "r", halves[1] + halves[0], ut.Promise(**BY_ITEM), epsilon=path[0])
        releases = [made, *(ledger.items.relax("r", halves[0] + halves[1], epsilon=e) for e in path[1:])]
        for one, answer in zip(releases, kept, strict=True):
            assert by_item({"id": table()["id"], **one.responses(ids, values)}) == by_item(answer)
        assert by_item({"id": table()["id"], **viewed.responses(ids, values)}) == by_item(kept[1])
        last = releases[-1]
        moved = last.moved(ids, releases[1].responses(ids, values), at=releases[1].level)
        assert by_item({"id": table()["id"], **moved}) == by_item(kept[-1])
        assert ledger.verify().events == 5
        assert ledger.levels("r") == tuple(sorted(last.path))


def test_no_event_is_written_at_a_level_that_has_no_error_bar(tmp_path):
    """Below 1e-50 for one step of the noise, workers could not draw noise that can be stored: refused before the
    event."""
    with opened(tmp_path) as ledger:
        committed = ledger.items.commitment_key("r", ut.Promise(**PROMISE)).committed(
            [Identifiers.of(table()["id"])], table()
        )
        with pytest.raises(OutOfRange, match="1e-50"):
            publish_items(ledger, "r", committed, ut.Promise(**PROMISE, id_column="id"), epsilon="1e-52")
        publish_items(ledger, "r", committed, ut.Promise(**PROMISE, id_column="id"), epsilon=1)
        for verb in (ledger.items.view, lambda *name, **at: ledger.items.relax(*name, committed, **at)):
            with pytest.raises(OutOfRange, match="1e-50"):
                verb("r", epsilon="1e-51")
        assert ledger.levels("r") == (level(1),)
        assert ledger.verify().events == 2


def test_the_version_that_is_relaxed_is_the_one_warned_of(tmp_path):
    """Without a version the newest is relaxed, and the warning is about it, although the first one protects more."""
    with opened(tmp_path) as ledger:
        for version, sensitivity in ((1, 10**9), (2, 1)):
            promise = PROMISE | {"unit": ut.Unit(sensitivity, 1)}
            key = ledger.items.commitment_key("r", ut.Promise(**promise), version=version)
            committed = key.committed([Identifiers.of(table()["id"])], table())
            publish_items(ledger, "r", committed, ut.Promise(**promise, id_column="id"), epsilon=1, version=version)
        with pytest.warns(LittleProtection):
            ledger.items.relax("r", committed, epsilon=8)
        assert ledger.levels("r", version=2) == (level(1), level(8))


def test_what_is_asked_again_is_the_same_and_spends_nothing(tmp_path):
    with opened(tmp_path) as ledger:
        ledger.budget("r", limit=2)
        key = ledger.items.commitment_key("r", ut.Promise(**PROMISE))
        committed = key.committed([Identifiers.of(table()["id"])], table())
        asks = PROMISE | {"id_column": ["id"], "request": "job 7"}
        first = publish_items(ledger, "r", committed, **asked(**asks, epsilon=1))
        assert publish_items(ledger, "r", committed, **asked(**asks, epsilon=1)).secret == first.secret
        for _ in range(2):
            assert ledger.items.relax("r", committed, epsilon=2).level.power == 2
            assert ledger.items.view("r", epsilon="1/2").level.power * 2 == 1
        assert ledger.verify().events == 5
        with pytest.raises(BudgetExceeded):
            ledger.items.relax("r", committed, epsilon=3)
        with pytest.raises(NeedsTable):
            ledger.items.view("r", epsilon=3)
        with pytest.raises(AlreadyPublished):
            publish_items(ledger, "r", committed, **asked(**asks, epsilon="1/3"))
        with pytest.raises(AlreadyPublished):
            publish_items(ledger, "r", committed, **asked(**(asks | {"columns": "n"}), epsilon=1))
        with pytest.raises(NotPublished):
            ledger.items.commitment_key("other")
        assert ledger.items.commitment_key("r", ut.Promise(**PROMISE), version=2).secret != key.secret
        with pytest.raises(OutOfRange):
            ledger.items.commitment_key("r", ut.Promise(**PROMISE), version=3)


@pytest.mark.parametrize("change", ["value", "exchange", "identifier", "type", "row", "twice"])
def test_a_changed_table_is_refused_by_its_item_block(tmp_path, change):
    """Both entrances refuse it; the message names no value and no identifier, and nothing is spent."""
    other = table(SHUFFLED)
    if change == "value":
        other["n"][5] += 1
    elif change == "exchange":
        at = np.flatnonzero(other["n"] != other["n"][0])[0]
        other["n"][[0, at]] = other["n"][[at, 0]]
    elif change == "identifier":
        other["id"][3] = "person 300"
    elif change == "type":
        other["id"] = list(range(N))
    elif change == "row":
        other = {name: column[:-1] for name, column in other.items()}
    else:
        other["id"][3] = other["id"][4]
    with opened(tmp_path) as ledger:
        ledger.publish("r", table(), ut.Promise(**BY_ITEM), epsilon=1)
        with pytest.raises(BadTable if change == "twice" else DataChanged) as refused:
            ledger.relax("r", other, epsilon=2)
        assert "item block" not in str(refused.value)
        if change not in ("row", "twice"):
            assert "item block" in ledger.difference("r", other)
        assert "person" not in str(refused.value)
        key = ledger.items.commitment_key("e", ut.Promise(**PROMISE))
        before, after = (key.committed([Identifiers.of(t["id"])], t) for t in (table(), other))
        publish_items(ledger, "e", before, ut.Promise(**PROMISE, id_column="id"), epsilon=1, independent=True)
        with pytest.raises(DataChanged):
            ledger.items.relax("e", after, epsilon=2)
        with pytest.raises(DataChanged):
            publish_items(ledger, "e", after, ut.Promise(**PROMISE, id_column="id"), epsilon=1)
        assert {str(ledger.spent(name)) for name in "re"} == {"epsilon=1"}
        assert ledger.verify()


def test_releases_do_not_share_noise(tmp_path):
    """The noise differs between names, versions, tables that differ in one value, keys, and ledgers of one key."""
    zeros = table() | {"n": np.zeros(N, int), "m": np.zeros(N, int)}
    one = zeros | {"n": np.eye(1, N, dtype=int)[0]}
    found = []
    ledgers = [seeded_ledger(tmp_path / f"{at}.db", 0, key=key) for at, key in enumerate((KEY, bytes(32), KEY))]
    ledgers.append(Ledger.open(tmp_path / "other.db", create=True, key=KEY))
    for made, first in zip(ledgers, (zeros, zeros, one, zeros), strict=True):
        with made as ledger:
            for name, version in (("r", 1), ("r", 2), ("s", 1)):
                asks = BY_ITEM | {"name": name, "version": version, "dataset": "d"}
                answer = ledger.publish(**asked(table=first, **asks, epsilon="1/10")).table
                found += [answer["n"] - first["n"], answer["m"]]
    for at, mine in enumerate(found):
        for other in found[:at]:
            assert abs(np.corrcoef(mine, other)[0, 1]) < 8 / N**0.5
            assert (mine == other).mean() < 0.3


def test_what_cannot_be_released_by_item_is_refused(tmp_path):
    with opened(tmp_path) as ledger:
        for changes, error in (
            ({"id_column": None, "drop": "id", "public": ()}, OutOfRange),
            ({"noise": "cells"}, OutOfRange),
        ):
            with pytest.raises(error):
                ledger.publish("r", table(), **asked(**(BY_ITEM | changes), epsilon=1))
        for ids, error in (([0.5, 1.5], WrongKind), ([None, "a"], BadTable), (["a", "a"], BadTable)):
            with pytest.raises(error):
                ledger.publish("r", {"id": ids, "n": [1, 2], "m": [1, 2]}, ut.Promise(**BY_ITEM), epsilon=1)
        none = ledger.items.commitment_key("r", ut.Promise(**PROMISE)).committed(
            [Identifiers.of([])], {"n": [], "m": []}
        )
        with pytest.raises(BadTable):
            publish_items(ledger, "r", none, ut.Promise(**PROMISE, id_column="id"), epsilon=1)
        with pytest.raises(OutOfRange):
            publish_items(ledger, "r", none, ut.Promise(**PROMISE, id_column="n"), epsilon=1)
        assert ledger.verify().events == 1


def test_a_release_stays_with_its_door_and_its_noise(tmp_path):
    with opened(tmp_path) as ledger:
        rows = {name: value for name, value in BY_ITEM.items() if name != "keyed_by_id"}
        ledger.publish("kept", table(), ut.Promise(**BY_ITEM), epsilon=1)
        ledger.publish("rows", table(), **asked(**rows, epsilon=1, dataset="kept"))
        key = ledger.items.commitment_key("engine", ut.Promise(**PROMISE))
        committed = key.committed([Identifiers.of(table()["id"])], table())
        publish_items(ledger, "engine", committed, ut.Promise(**PROMISE, id_column="id"), epsilon=1, dataset="kept")
        mine = ledger.items.commitment_key("kept").committed([Identifiers.of(table()["id"])], table())
        for call in (
            lambda: ledger.relax("engine", table(), epsilon=2).table,
            lambda: ledger.view("engine", epsilon=1).table,
            lambda: ledger.view("engine", epsilon="1/2").table,
            lambda: ledger.items.relax("kept", mine, epsilon=2),
            lambda: ledger.items.view("rows", epsilon=1),
            lambda: ledger.items.commitment_key("rows"),
        ):
            with pytest.raises(Unsupported):
                call()
        with pytest.raises(AlreadyPublished):
            ledger.publish("rows", table(), ut.Promise(**BY_ITEM), epsilon=1, dataset="kept")
        with pytest.raises(AlreadyPublished):
            ledger.publish("kept", table(), **asked(**rows, epsilon=1))
        assert ledger.verify().responses == 3


def test_changed_tags_are_found_out(tmp_path):
    with opened(tmp_path, witness=False) as ledger:
        ledger.publish("r", table(), ut.Promise(**BY_ITEM), epsilon=1)
    with closing(sqlite3.connect(tmp_path / "l.db")) as store, store:
        (tags,) = store.execute("SELECT content FROM utmost_parts WHERE event = 2 AND part = 1").fetchone()
        store.execute("UPDATE utmost_parts SET content = ? WHERE event = 2 AND part = 1", (tags[16:] + tags[:16],))
    store.close()
    with opened(tmp_path, witness=False) as ledger:
        with pytest.raises(LedgerDamaged):
            ledger.relax("r", table(), epsilon=2)
        with pytest.raises(LedgerDamaged):
            ledger.verify()


def test_many_blocks_of_rows_and_half_steps(tmp_path):
    """More rows than one block, a position in the uniform block that all levels share, and integers as identifiers."""
    n = 70_000
    big = {"id": np.arange(n), "n": np.arange(n) % 9}
    order = np.random.default_rng(3).permutation(n)
    asks = {"columns": "n", "id_column": "id", "public": "id", "keyed_by_id": True}
    promise = {"sensitivity": 3, "cells": 1, "half_step": True}
    with opened(tmp_path) as ledger:
        lower = ledger.publish("r", big, **asked(**asks, **promise, epsilon=1)).table
        higher = ledger.relax("r", {name: column[order] for name, column in big.items()}, epsilon=2).table
        assert not ((lower["n"][order] - higher["n"]) % 3).any()
        made = ledger.items.view("r", epsilon=2)
        assert (made.responses([Identifiers.of(big["id"])], big)["n"][order] == higher["n"]).all()
        assert ledger.verify().cells == 2 * n
