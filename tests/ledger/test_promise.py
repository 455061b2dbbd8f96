"""A promise has one object, one JSON form and one digest, at every entrance."""

import copy
import inspect
import json
import pickle
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from asking import PROMISE_TEXTS, promised, publish_items
from utmost import CellNoise, PointNoise, SumNoise
from utmost.counting import CountedTable
from utmost.errors import OutOfRange, Unsupported, UtmostError, WrongKind
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.privacy import Unit
from utmost.promises import Promise
from utmost.sampling import Identifiers
from utmost.workloads import Domain, Plan

KEY = bytes(range(32))
DOMAIN = Domain(sex=["men", "women"], age=range(8))
PLAN = Plan(DOMAIN, Unit(1, 2, "change-one"), {"sex age": "1/2", "sex": "1/4", "": "1/4"})
REALS = CellNoise(Unit("1/3", 1, "change-one"), "reals")
KINDS = {
    "cells": {"columns": ["a", "b"], "public": "c", "drop": ["d"], "rows": "observed", "unit": Unit(2, 3)},
    "reals": {"columns": "a", "noise": REALS},
    "grid": {"columns": "a", "noise": CellNoise(Unit(1, 1), "reals", grid="1/8", largest="7/2")},
    "half step": {"columns": "a", "noise": CellNoise(Unit(3, 1), half_step=True, largest=10**9)},
    "plan": {"noise": SumNoise(PLAN, largest=100), "part": ("town", "Bern")},
    "points": {"columns": ["x", "y"], "noise": PointNoise(200, grid=8, largest=10**6)},
    "items": {"columns": "n", "id_column": ["b", "a"], "keyed_by_id": True, "unit": Unit(1, 1)},
    "amounts": {"columns": "paid", "unit": Unit(500, 2, amount={"name": "paid", "step": "0.01"})},
    "until": {"columns": "a", "public": "c", "unit": Unit(1, 1), "until": ut.within("10 %", {"c": "p"}, steps=3)},
    "texts": {"columns": "a", "unit": Unit(1, 1), **PROMISE_TEXTS},
    "huge": {"columns": "Ж☃", "noise": CellNoise(Unit(10**99, 10**9), largest=10**1000)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_its_json_is_the_whole_of_it(kind):
    made = Promise(**KINDS[kind])
    again = Promise.of_facts(json.loads(json.dumps(made.facts())))
    assert again == made
    assert (again.digest, hash(again), again.facts()) == (made.digest, hash(made), made.facts())
    assert again.noise.facts() == made.noise.facts()
    assert Promise.of_facts(again.facts() | {"part": None}).part is None
    assert ("by 200" if kind == "points" else "individual") in made.guarantee(level(1))


def test_two_spellings_are_one_promise_and_two_promises_have_two_digests():
    unit = {"unit": Unit(2, 3)}
    assert Promise("a", **unit) == Promise(["a"], unit=ut.Unit("2", 3.0)) != Promise("b", **unit)
    other = {
        "columns": "z", "public": "c", "drop": "c", "rows": "observed", "unit": Unit(2, 3, "change-one"),
        "numbers": "reals", "largest": 5, "id_column": "c", "part": ("p", "q"), "proved": True,
        "until": ut.within("10 %"), **PROMISE_TEXTS,
    }  # fmt: skip
    assert {each.name for each in fields(Promise)} - other.keys() == {"keyed_by_id", "noise"}
    digests = {promised(**{"columns": "a", **unit, name: word}).digest for name, word in other.items()}
    assert len(digests | {Promise("a", **unit).digest}) == len(other) + 1
    assert len({Promise(**words).digest for words in KINDS.values()}) == len(KINDS)


def test_the_fields_are_named_once():
    """The arguments of a promise, and the fields that its JSON may have."""
    taken = {*inspect.signature(Promise).parameters}
    said = {name for words in KINDS.values() for name in Promise(**words).facts()}
    said |= {*Promise("a", unit=Unit(1, 1), proved=True).facts()}
    assert said == taken - {"unit"}
    assert not taken & {*inspect.signature(Ledger.publish).parameters}


UNIT = Unit(1, 1)
WRONG = [
    {"columns": 3.5, "unit": UNIT},
    {"columns": "a", "unit": 1},
    {"columns": "a", "unit": UNIT, "rows": "guessed"},
    {"columns": "a", "unit": UNIT, "keyed_by_id": True},
    {"columns": "a", "unit": UNIT, "keyed_by_id": "yes", "id_column": "b"},
    {"columns": "a", "unit": UNIT, "id_column": ["b", "b"]},
    {"columns": "a", "unit": UNIT, "id_column": 7},
    {"noise": PLAN, "rows": "observed"},
    {"columns": "a", "unit": UNIT, "part": ("only",)},
    {"columns": "a", "unit": UNIT, "noise": CellNoise(UNIT)},
    {"columns": "a"},
    {"columns": "a", "noise": "items"},
    {"columns": ["x", "y"], "noise": PointNoise(200), "keyed_by_id": True, "id_column": "i"},
    {"columns": ["x", "y"], "noise": PointNoise(200, dimensions=3)},
    {"noise": PointNoise(200)},
    {"columns": "a", "unit": UNIT, "until": lambda table: True},
    {"columns": "a", "unit": UNIT, "until": "10 %"},
    {"columns": "a", "unit": UNIT, "until": ut.within("10 %", {"b": "x"})},
    {"columns": ["x", "y"], "noise": PointNoise(200), "until": ut.within("10 %")},
    *({"noise": PLAN, name: word} for name, word in (("columns", "a"), ("unit", UNIT), ("public", "a"))),
]


@pytest.mark.parametrize("arguments", WRONG)
def test_what_goes_not_together_is_refused(arguments):
    with pytest.raises(UtmostError):
        Promise(**arguments)


CELLS = {"kind": "cells", "sensitivity": 1, "cells": 1}
WRONG_FACTS = [
    [],
    {"columns": "a", "noise": CELLS, "no": 1},
    {"columns": "a", "noise": CELLS | {"no": 1}},
    {"columns": "a", "noise": CELLS | {"kind": "gaussian"}},
    {"columns": "a", "noise": {"sensitivity": 1, "cells": 1}},
    {"columns": "a", "noise": {"kind": "cells", "cells": 1}},
    {"columns": "a", "noise": CELLS | {"grid": {}}},
    {"noise": {"kind": "sums", "plan": "sex"}},
    {"columns": ["x", "y"], "noise": {"kind": "points", "per": 200, "sensitivity": 1}},
    {"columns": "a", "noise": CELLS, "until": {"share": "2", "steps": 3}},
    {"columns": "a", "noise": CELLS, "until": {"share": "1/10", "steps": 1}},
    {"columns": "a", "noise": CELLS, "until": {"share": "1/10", "steps": 3, "where": [1]}},
    {"columns": "a", "noise": CELLS, "until": {"share": "1/10"}},
    {"noise": {"kind": "keys", "sensitivity": 1, "cells": 1, "columns": ["word", "n"]}},
]


@pytest.mark.parametrize("facts", WRONG_FACTS)
def test_json_that_describes_no_promise_is_refused_by_type(facts):
    with pytest.raises(UtmostError):
        Promise.of_facts(facts)


@pytest.mark.parametrize("kind", ["cells", "half step", "grid", "points", "plan"])
def test_a_ledger_keeps_a_promise_as_its_words(tmp_path, kind):
    """Publish by the object and by its JSON: one event, and each call repeats the other."""
    words = KINDS[kind]
    table = {name: [3, 1] for name in ("a", "b", "x", "y")}
    names = words.get("columns", ())
    table = {name: table[name] for name in ((names,) if isinstance(names, str) else names)}
    table |= {name: ["p", "q"] for name in ("c", "d") if kind == "cells"}
    if kind == "plan":
        table = CountedTable(DOMAIN, np.ones((2, 8), dtype=int), Unit(1, 2, "change-one"), part=("town", "Bern"))
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        promise = Promise(**KINDS[kind])
        first = ledger.publish("r", table, promise, epsilon=1).table
        again = ledger.publish("r", table, Promise.of_facts(promise.facts()), epsilon=1).table
        if kind == "plan":
            assert first["sex"]["count"].tolist() == again["sex"]["count"].tolist()
        else:
            assert {name: list(cells) for name, cells in first.items()} == {n: list(c) for n, c in again.items()}
        (release,) = ledger.releases
        assert release.noise == promise.noise or release.noise.facts() == promise.noise.facts()
        assert (release.columns, release.public, release.part) == (promise.columns, promise.public, promise.part)


def test_nothing_stands_beside_a_promise(tmp_path):
    promise = ut.Promise("n", unit=Unit(1, 1))
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        with pytest.raises(TypeError, match="cells"):
            ledger.publish("r", {"n": [1]}, promise, epsilon=1, cells=1)
        with pytest.raises(WrongKind, match=r"^promise"):
            ledger.publish("r", {"n": [1]}, "n", epsilon=1)
        with pytest.raises(OutOfRange, match=r"^part"):
            ledger.publish("r", {"n": [1]}, replace(promise, part=("town", "Bern")), epsilon=1)
        assert ledger.releases == ()


def test_a_promise_says_all_that_a_counted_table_brings():
    """`of_counted` takes unit, labels and part from the table; any other promise must state them, or is refused."""
    counted = CountedTable(Domain(sex=["men", "women"]), np.array([3, 4]), Unit(2, 2), part=("town", "Bern"))
    made = Promise.of_counted(counted)
    assert (made.columns, made.public, made.unit, made.part) == (("count",), ("sex",), Unit(2, 2), ("town", "Bern"))
    made.check(counted)
    assert Promise.of_counted(counted, "n", drop="sex", unit=Unit(3, 2)).unit == Unit(3, 2)
    said = {"columns": "n", "public": "sex", "unit": Unit(2, 2), "part": ("town", "Bern")}
    Promise(**said).check(counted)
    for wrong in ({"public": ()}, {"unit": Unit(1, 2)}, {"unit": Unit(2, 1)}, {"part": None}, {"columns": ["n", "m"]}):
        with pytest.raises(OutOfRange):
            Promise(**said | wrong).check(counted)
    Promise(**said | {"public": (), "drop": "sex"}).check(counted)


def test_numbers_of_its_json_are_exact():
    made = Promise("a", noise=ut.CellNoise(ut.Unit("1/3", 1), numbers="reals", grid="1/1024"))
    assert (made.facts()["noise"]["sensitivity"], made.facts()["noise"]["grid"]) == ("1/3", "1/1024")
    assert Promise.of_facts(made.facts()).unit.sensitivity == Fraction(1, 3)
    with pytest.raises(OutOfRange, match="4200 digits"):
        Promise.of_facts(made.facts() | {"noise": made.noise.facts() | {"sensitivity": "1e-4300"}})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"columns": ["x", "y"], "noise": PointNoise(200), "id_column": "i"}, "points in the plane"),
        ({"noise": PLAN}, "the sums of a plan"),
        ({"columns": "n", "noise": CellNoise(Unit(1, 1), largest=9), "id_column": "i"}, "largest="),
        ({"columns": "n", "unit": Unit(1, 1)}, "needs id_column="),
    ],
)
def test_what_has_no_noise_by_item_is_not_published_by_item(tmp_path, words, why):
    """At every entrance and before any event: noise for one unit would be charged as noise for another."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        committed = ledger.items.commitment_key("v", ut.Promise(columns="n", unit=Unit(1, 1))).committed(
            [Identifiers.of(["a", "b"])], {"n": [1, 2]}
        )
        with pytest.raises((Unsupported, OutOfRange), match=why):
            publish_items(ledger, "v", committed, Promise(**words), epsilon=1)
        if why != "needs id_column=":
            with pytest.raises(Unsupported, match=why):
                ledger.items.commitment_key("v", Promise(**words))
        assert [event.kind for event in ledger.history()] == ["opened"]
        assert ledger.verify()


def test_a_promise_is_copied_and_pickled_whole():
    for words in KINDS.values():
        made = Promise(**words)
        assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
