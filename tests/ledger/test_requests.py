"""A request to publish is checked when it is made, and both entrances of a ledger write the same facts of it."""

import inspect
import json
from dataclasses import fields, replace

import pytest

from asking import asked, publish_items
from utmost import Unit
from utmost.errors import NotANumber, OutOfRange, WrongKind
from utmost.exact import level
from utmost.ledger import Ledger, PublishRequest
from utmost.promises import Promise
from utmost.sampling import Identifiers

KEY = bytes(range(32))


REQUEST = PublishRequest(
    name="r",
    promise=Promise("n", unit=Unit(1, 1)),
    level=level("1/3"),
    dataset="r",
    version=None,
    request=None,
    independent=False,
)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": 7},
        {"dataset": " d"},
        {"request": "two\nlines"},
        {"independent": 1},
        {"version": "first"},
        {"promise": "n"},
        {"level": 1},
    ],
)
def test_what_is_no_request_is_refused_at_the_door(wrong):
    with pytest.raises((OutOfRange, NotANumber, WrongKind)):
        replace(REQUEST, **wrong)


def test_a_release_is_its_own_dataset_unless_it_says_another(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", {"n": [1]}, Promise(**WORDS), epsilon=1)
        ledger.publish("s", {"n": [2]}, Promise(**WORDS), epsilon=1, dataset="d")
        assert [release.dataset for release in ledger.releases] == ["r", "d"]


@pytest.mark.parametrize("changes", [{}, {"version": 3, "request": "q", "dataset": "d", "independent": True}])
def test_a_request_is_read_from_its_json_as_it_was(changes):
    """JSON has each field with a value; a field without a default is required, an unknown one refused."""
    request = replace(REQUEST, **changes)
    facts = json.loads(json.dumps(request.facts()))
    assert PublishRequest.of_facts(facts) == request
    assert set(facts) == {field.name for field in fields(PublishRequest) if getattr(request, field.name) is not None}
    for name in ("name", "promise", "level"):
        with pytest.raises(OutOfRange):
            PublishRequest.of_facts({other: fact for other, fact in facts.items() if other != name})
    with pytest.raises(OutOfRange, match="purpse"):
        PublishRequest.of_facts(facts | {"purpse": "x"})
    assert PublishRequest.of_facts({name: facts[name] for name in ("name", "promise", "level")}).dataset == "r"


def test_an_event_holds_all_of_a_request_but_what_may_tell_of_other_data(tmp_path):
    """`independent` is not stored: it is needed where another dataset has equal values, and would reveal this."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        words = {"epsilon": "1/3", "dataset": "d", "request": "q"}
        ledger.publish("r", {"n": [1]}, REQUEST.promise, **words)
        ledger.publish("s", {"n": [1]}, REQUEST.promise, **words | {"dataset": "e", "request": "p"}, independent=True)
        one, other = (event.facts for event in ledger.history() if event.kind == "published")
        kept = ledger.release("r").request
    assert set(REQUEST.facts()) - set(one) == {"independent"} == set(REQUEST.facts()) - set(other)
    assert kept == replace(REQUEST, dataset="d", request="q", version=1)


def test_both_doors_write_the_same_facts(tmp_path):
    """Events of stored answers and of an engine's answers differ only in the kind of table and in what is stored."""
    table, promise = {"id": ["a", "b"], "n": [1, 2]}, {"columns": "n", "unit": Unit(1, 1), "epsilon": 1}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish(
            "kept", table, **asked(**promise, drop="id", id_column="id", keyed_by_id=True, dataset="d", request="q")
        )
        key = ledger.items.commitment_key("answered", Promise(columns="n", unit=Unit(1, 1)))
        committed = key.committed([Identifiers.of(["a", "b"])], {"n": [1, 2]})
        publish_items(ledger, "answered", committed, **asked(**promise, id_column="id", dataset="d", request="p"))
        facts = [event.facts for event in ledger.history() if event.kind == "published"]
    differ = {name for name in facts[0] if facts[0][name] != facts[1][name]}
    assert differ == {"name", "commitment", "kind", "request", "values", "items", "promise", "parts", "root"}
    assert {name for name, fact in facts[0]["promise"].items() if fact != facts[1]["promise"].get(name)} == {
        "drop",
        "keyed_by_id",
    }


WORDS = {"columns": "n", "unit": Unit(1, 1)}
CALLS = {
    "publish": lambda ledger, **words: ledger.publish("s", {"n": [1]}, **asked(epsilon=1, **WORDS, **words)),
    "relax": lambda ledger, **words: ledger.relax("r", {"n": [1]}, epsilon=2, **words).table,
    "view": lambda ledger, **words: ledger.view("r", epsilon=1, **words).table,
    "level_key": lambda ledger, **words: ledger.level_key("r", epsilon=1, **words),
    "margin": lambda ledger, **words: ledger.margin("r", epsilon=1, **words),
    "rehearse": lambda ledger, **words: ledger.rehearse("r", epsilon=1, **words),
    "items.view": lambda ledger, **words: ledger.items.view("r", epsilon=1, **words),
    "items.publish": lambda ledger, **words: publish_items(ledger, "s", None, **asked(epsilon=1, **WORDS, **words)),
    "cells_on_demand.view": lambda ledger, **words: ledger.cells_on_demand.view("r", {}, None, epsilon=1, **words),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_word_that_no_call_knows_is_refused_by_its_name_and_spends_nothing(tmp_path, call):
    """No unknown argument is ignored: a misspelt version would be another version."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", {"n": [1]}, Promise(**WORDS), epsilon=1)
        with pytest.raises(TypeError, match="'versoin'"):
            call(ledger, versoin=1)
        assert [release.name for release in ledger.releases] == ["r"]
        assert ledger.levels("r") == (level(1),)


def test_every_verb_shows_its_words():
    """Each method's signature lists its arguments one by one."""
    for verb in (Ledger.publish, Ledger.relax, Ledger.view, Ledger.level_key):
        words = inspect.signature(verb).parameters
        assert {"epsilon", "version"} <= set(words)
    assert {"dataset", "independent", "request", "promise"} <= set(inspect.signature(Ledger.publish).parameters)
