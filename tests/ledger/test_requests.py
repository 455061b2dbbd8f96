"""A request to publish is checked when it is made, and both entrances of a ledger write the same facts of it."""

import json
import re
from dataclasses import fields, replace

import pytest

import utmost as ut
from asking import asked, publish_items
from utmost import Unit
from utmost.errors import NotANumber, OutOfRange, WrongKind
from utmost.exact import level
from utmost.ledger import Ledger, PublishRequest
from utmost.promises import Promise
from utmost.sampling import Identifiers
from utmost.workloads import Domain, Workload

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
        {"name": ""}, {"name": 7}, {"dataset": " d"}, {"request": "two\nlines"}, {"independent": 1},
        {"version": "first"}, {"promise": "n"}, {"level": 1},
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_at_the_door(wrong):
    with pytest.raises((OutOfRange, NotANumber, WrongKind)):
        replace(REQUEST, **wrong)


def test_a_release_is_its_own_dataset_unless_it_says_another(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", {"n": [1]}, Promise("n", unit=Unit(1, 1)), epsilon=1)
        ledger.publish("s", {"n": [2]}, Promise("n", unit=Unit(1, 1)), epsilon=1, dataset="d")
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
    assert differ == {
        "name",
        "commitment",
        "question",
        "kind",
        "request",
        "values",
        "items",
        "promise",
        "parts",
        "root",
    }
    assert {name for name, fact in facts[0]["promise"].items() if fact != facts[1]["promise"].get(name)} == {
        "drop",
        "keyed_by_id",
    }


def test_the_remedy_of_a_plan_in_place_of_a_promise_works():
    unit = ut.Unit(1, 1)
    plan = ut.choose_plan(Workload(Domain({"region": ["N", "S"]}), {"region": 1}), unit, epsilon=1)
    for given in (plan, unit):
        with pytest.raises(WrongKind) as caught:
            PublishRequest("a", given, level(1), "d")
        promise = eval(re.search(r"Pass(?:, for example,)? (.*\))[.,]", str(caught.value))[1], {"ut": ut, "plan": plan})
        assert PublishRequest("a", promise, level(1), "d").promise == promise
