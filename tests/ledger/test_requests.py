"""A request to publish is read once: what it says is sound from then on, and both doors write the same facts of it."""

import pytest

from utmost.errors import NotANumber, OutOfRange
from utmost.laws.exact import level
from utmost.laws.sampling import Identifiers
from utmost.publish.ledger import Ledger
from utmost.publish.ledger.requests import Brought, Publishing
from utmost.publish.ledger.state import State
from utmost.publish.promises import Promise

KEY = bytes(range(32))


def read(name="r", numbers="integers", **said):
    promise = Promise("n", sensitivity=1, cells=1, numbers=numbers)
    return Publishing.read(name, Brought({"n": [1]}, level(1), promise, **said))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": 7},
        {"dataset": " d"},
        {"request": "two\nlines"},
        {"independent": 1},
        {"version": "first"},
    ],
)
def test_what_is_no_request_is_refused_at_the_door(wrong):
    with pytest.raises((OutOfRange, NotANumber)):
        read(**wrong)


def test_a_release_is_its_own_dataset_unless_it_says_another():
    assert (read().dataset, read(dataset="d").dataset) == ("r", "d")


def test_on_the_integers_no_state_is_looked_at():
    """There is no rule of snapping to keep."""
    asked = read()
    assert asked.as_published(None) is asked
    again = read(numbers="reals").as_published(lambda work: work(State(0, b"")))
    assert again.promise == read(numbers="reals").promise


def test_both_doors_write_the_same_facts(tmp_path):
    """What the ledger keeps and what an engine answers differ in the kind and in what is kept, and in nothing else."""
    table, promise = {"id": ["a", "b"], "n": [1, 2]}, {"columns": "n", "sensitivity": 1, "cells": 1, "epsilon": 1}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("kept", table, **promise, drop="id", id_column="id", noise="items", dataset="d", request="q")
        key = ledger.items.commitment_key("answered", columns="n", sensitivity=1, cells=1)
        committed = key.committed([Identifiers.of(["a", "b"])], {"n": [1, 2]})
        ledger.items.publish("answered", committed, **promise, id_column="id", dataset="d", request="p")
        facts = [event.facts for event in ledger.history() if event.kind == "published"]
    differ = {name for name in facts[0] if facts[0][name] != facts[1][name]}
    assert differ == {"name", "commitment", "kind", "request", "values", "items", "parts", "root"}
