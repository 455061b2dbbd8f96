"""Opening: what may be named, and what is refused before anything is made."""

import pytest

from utmost.errors import AlreadyPublished, LedgerUnavailable, OutOfRange, Unsupported
from utmost.exact import level
from utmost.release.ledger import Ledger
from utmost.release.ledger.loss import loss
from utmost.release.ledger.noise import KeyedRandomness
from utmost.release.ledger.opening import store_at
from utmost.release.ledger.state import State

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "sensitivity": 1, "cells": 1}


@pytest.mark.parametrize("place", ["", 7, None, "mysql://host/db", "http://host"])
def test_a_place_must_be_a_path_or_an_address(place):
    with pytest.raises(OutOfRange):
        Ledger.open(place, key=KEY)


@pytest.mark.parametrize(
    "wrong",
    [{"sealed": 1}, {"derived": "yes"}]
    + [{"timeout": wrong} for wrong in (-1, True, float("nan"), "1")]
    + [{"witness": wrong} for wrong in (True, "", 3)],
    ids=str,
)
def test_options_are_read_strictly(tmp_path, wrong):
    with pytest.raises(OutOfRange):
        Ledger.open(tmp_path / "l.db", key=KEY, **wrong)
    assert list(tmp_path.iterdir()) == []


def test_without_psycopg_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unsupported, match=r"utmost\[postgres\]"):
        Ledger.open("postgresql://host/db", key=KEY)


def test_every_way_to_name_a_file_is_the_same_ledger(tmp_path):
    for place in (tmp_path / "l.db", f"{tmp_path}/l.db", f"sqlite:///{tmp_path}/l.db"):
        with Ledger.open(place, key=KEY) as ledger:
            ledger.publish("r", TABLE, epsilon=1, **PROMISE)
            assert len(ledger.releases) == 1
            assert ledger.status().place == str(tmp_path / "l.db")
    assert store_at("postgres://me:secret@host/db", 1).place == "postgresql://host/db"


def test_a_file_name_with_odd_characters_is_that_file(tmp_path):
    with Ledger.open(tmp_path / "a?b #1%.db", key=KEY) as ledger:
        ledger.publish("r", TABLE, epsilon=1, **PROMISE)
    assert (tmp_path / "a?b #1%.db").exists()


def test_how_a_ledger_was_made_stays(tmp_path):
    """Options for a new ledger do not change one that is there."""
    with Ledger.open(tmp_path / "l.db", key=KEY, sealed=False, derived=True) as ledger:
        assert (ledger.status().sealed, ledger.status().derived) == (False, True)
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        assert (ledger.status().sealed, ledger.status().derived) == (False, True)


def test_a_file_that_cannot_be_written_is_a_typed_error(tmp_path):
    with pytest.raises(LedgerUnavailable):
        Ledger.open(tmp_path, key=KEY)


def test_spent_is_asked_of_one_thing(tmp_path):
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        for wrong in ({}, {"name": "r", "dataset": "r"}):
            with pytest.raises(OutOfRange, match="exactly one"):
                ledger.spent(**wrong)


def test_history_is_told_by_release_and_by_dataset(tmp_path):
    """A dataset's history holds its releases, its limits and its losses."""
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        ledger.budget("d", limit=9)
        ledger.publish("r", TABLE, epsilon=1, dataset="d", **PROMISE)
        ledger.relax("r", TABLE, epsilon=2)
        ledger.publish("s", TABLE, epsilon=1, **PROMISE)
        assert [event.kind for event in ledger.history(dataset="d")] == ["budgeted", "published", "answered"]
        assert [event.number for event in ledger.history("r", dataset="d")] == [3, 4]
        assert [event.kind for event in ledger.history("s")] == ["published"]
        assert ledger.history("r", dataset="s") == ()


def test_a_version_stays_in_its_dataset(tmp_path):
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        ledger.publish("r", TABLE, epsilon=1, **PROMISE)
        with pytest.raises(OutOfRange, match="stay in its dataset"):
            ledger.publish("r", TABLE, epsilon=1, version=2, dataset="d", **PROMISE)
        with pytest.raises(AlreadyPublished):
            ledger.publish("r", {**TABLE, "who": ["a", "b", "c"]}, epsilon=1, id_column="who", drop="who", **PROMISE)


def test_a_loss_between_levels_of_other_bases_is_rounded_up(tmp_path):
    """From alpha = 1/2 to epsilon = 1: 1 - ln 2, and not less."""
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        ledger.publish("r", TABLE, alpha="1/2", **PROMISE)
        common = ledger._book.read(lambda page: page.state)
        ledger.relax("r", TABLE, epsilon=1)
        witness = ledger._book.read(lambda page: page.state)
    missing = loss(common, witness, common).missing["r"]
    assert len(missing) == 1
    assert 0.30685281944005469 <= float(missing[0].epsilon) < 0.3068528194400548
    assert loss(common, common, common).missing == {}
    assert loss(State(0, bytes(32)), witness, State(0, bytes(32))).missing == {"r": (level(1),)}


def test_derived_noise_with_half_steps_and_its_check(tmp_path):
    """The place in the block is derived, too; stored noise that the key does not give is refused."""
    options = {"columns": "n", "sensitivity": 5, "cells": 1, "half_step": True}
    with Ledger.open(tmp_path / "a.db", key=KEY, derived=True) as ledger:
        one = ledger.publish("r", TABLE, epsilon=1, **options)
        far = ledger.relax("r", TABLE, epsilon=300)
        assert ledger.view("r", epsilon=2)
    with Ledger.open(tmp_path / "b.db", key=KEY, derived=True) as ledger:
        assert ledger.publish("r", TABLE, epsilon=300, **options) == far
        assert ledger.view("r", epsilon=1) == one


def test_derived_noise_that_drifted_is_refused(tmp_path, monkeypatch):
    """Were the draws of a later version others, relaxing would not have the joint law."""
    from utmost.release.ledger import noise

    real = noise.KeyedRandomness
    with Ledger.open(tmp_path / "a.db", key=KEY, derived=True) as ledger:
        ledger.publish("r", {"n": list(range(50))}, epsilon="1/4", **PROMISE)
        monkeypatch.setattr(noise, "KeyedRandomness", lambda key: real(key[::-1]))
        with pytest.raises(Unsupported, match="the key gives"):
            ledger.relax("r", {"n": list(range(50))}, epsilon=1)


def test_keyed_randomness_is_a_source_like_any_other():
    source = KeyedRandomness(KEY)
    assert source.is_secure
    assert source.ahead == {}
    assert 0 <= source.word() < 1 << 64
    with pytest.raises(Unsupported):
        source.__reduce__()
