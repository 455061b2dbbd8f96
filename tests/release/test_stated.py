"""A statement is computed again: no leaf of it can be changed without being refused."""

import copy
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from asking import asked
from repeated_bits import repeated_bits
from utmost import CellNoise, Unit
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.promises import Promise
from utmost.statements import Statement, check_statement, stated_release

TABLE = {"department": ["A", "B"], "admitted": [601, 370], "seen": [9, 8]}
PROMISES = {
    "counts": {"epsilon": "1/2", "sensitivity": 1, "cells": 2},
    "alpha": {"epsilon": level(alpha="1/4"), "sensitivity": 1, "cells": 1},
    "staircase": {"epsilon": 1, "sensitivity": 5, "cells": 1, "cost": "squared", "neighbours": "change-one"},
    "reals": {"epsilon": 1, "sensitivity": 3, "cells": 1, "numbers": "reals", "grid": "1/8", "confidence": "0.9"},
    "relaxable": {"epsilon": 1, "sensitivity": 3, "cells": 1, "relaxable": True},
    "observed": {"epsilon": 1, "sensitivity": 1, "cells": 1, "rows": "observed"},
}

# What cannot be computed and is compared with nothing: the version that wrote it, and a ledger's account of the rest.
ON_TRUST = {("utmost",), ("name",), ("data_version",), ("levels",), ("together",)}
# The law chosen is the same for both costs, so that a statement with another cost says nothing untrue.
HARMLESS = {("counts", "cost"), ("alpha", "cost"), ("observed", "cost"), ("relaxable", "cost")}


def released(promise):
    made = ut.release(TABLE, **asked(columns="admitted", public="department", drop="seen", **promise), once=True)
    return made.table, json.loads(json.dumps(made.statement))


def leaves(value, path=()):
    """Every path to a leaf, to an empty list or to a complete list."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    else:
        yield path, value


def others(value):
    """Values to put in place of a leaf: near, far, of another type, and nothing."""
    near = {
        bool: lambda: [not value, 1],
        int: lambda: [value + 1, value - 1, 0, -1, 10**30, float(value), str(value), True],
        float: lambda: [value * (1 + 1e-12), value / 2, 0.0, int(value)],
        str: lambda: [value + " ", value[:-1], "1/100", "100", "declared", "observed", "integers", "reals", "squared"],
        list: lambda: [[], value[::-1], [*value, "more"], value[:-1], ["x"]],
    }
    return [
        other
        for other in [*near.get(type(value), list)(), None, {}, [], "", "1/3", 7]
        if other != value or type(other) is not type(value)
    ]


def changes(said, dose):
    """The document with other values in place of each leaf: a given number of them, in turn, or all."""
    for number, (path, value) in enumerate(leaves(said)):
        found = others(value)
        yield from ((path, other) for other in (found if dose is None else _turned(found, number)[:dose]))


def _turned(found, number):
    at = number % len(found)
    return found[at:] + found[:at]


def changed(said, path, value):
    said = copy.deepcopy(said)
    place = said
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return said


DOSES = pytest.mark.parametrize("dose", [2, pytest.param(None, marks=pytest.mark.slow)])


@DOSES
@pytest.mark.parametrize("kind", PROMISES)
def test_every_leaf_changed_is_refused(kind, dose):
    """Once accepted: epsilon 100 for each cell beside epsilon 1/100, format 99, and the statement of another column."""
    table, said = released(PROMISES[kind])
    assert check_statement(said, table).level == Statement.of_facts(said).level
    for path, other in changes(said, dose):
        if path[:1] in ON_TRUST and isinstance(other, str):
            continue
        if (kind, path[-1]) in HARMLESS and other == "squared":
            continue
        with pytest.raises((BadTable, Unsupported)):
            check_statement(changed(said, path, other), table)
    for name in said:
        with pytest.raises((BadTable, Unsupported)):
            check_statement({key: value for key, value in said.items() if key != name}, table)
    with pytest.raises(BadTable):
        check_statement(said | {"note": "by the way"}, table)


@DOSES
@pytest.mark.parametrize("grid", ["1/4", 1])
def test_half_step_reals_are_released_once_and_stated(grid, dose):
    """Their cells were once read as integers, and their statement as one of integers, which have no grid."""
    noise = CellNoise(Unit(3, 1), "reals", grid=grid, half_step=True)
    promise = Promise("admitted", public="department", drop="seen", noise=noise)
    counts = {**TABLE, "admitted": [60_000_001.5, 370.25]}
    release = ut.release(counts, promise, epsilon=8, once=True)
    assert promise.once().at(8).law == release.law
    assert all(
        abs(noisy - true) < 60 for noisy, true in zip(release.table["admitted"], counts["admitted"], strict=True)
    )
    said = json.loads(json.dumps(release.statement))
    assert check_statement(said, release.table).law == release.law
    for path, other in changes(said, dose):
        if path not in ON_TRUST:
            with pytest.raises((BadTable, Unsupported)):
                check_statement(changed(said, path, other), release.table)


def test_a_promised_largest_value_is_not_passed_over():
    """A ledger refuses larger values; a release without a ledger ignored the promise."""
    promise = Promise("admitted", public="department", drop="seen", noise=CellNoise(Unit(1, 1), largest=10))
    with pytest.raises(OutOfRange, match="largest"):
        ut.release(TABLE, promise, epsilon=1, once=True)


def ledger_statements(tmp_path):
    """Statements of a ledger: at two levels, of half-step noise, and on a grid."""
    unit = {"columns": "admitted", "public": "department", "drop": "seen", "cells": 1}
    promises = {
        "geometric": {"sensitivity": 3},
        "half-step": {"sensitivity": 3, "half_step": True},
        "reals": {"sensitivity": 3, "numbers": "reals", "grid": "1/4"},
        "reals in half steps": {"sensitivity": 3, "numbers": "reals", "grid": 1, "half_step": True},
    }
    with Ledger.open(tmp_path / "l.db", create=True, key=bytes(range(32))) as ledger:
        for name, promise in promises.items():
            ledger.publish(name, TABLE, **asked(**unit, **promise, epsilon="1/2", independent=True))
            answer = ledger.relax(name, TABLE, epsilon=1)
            yield answer.table, json.loads(json.dumps(answer.statement))


@pytest.mark.parametrize("dose", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_statements_of_a_ledger_are_computed_again(tmp_path, dose):
    for table, said in ledger_statements(tmp_path):
        assert check_statement(said, table).level == level(1)
        for path, other in changes(said, dose):
            if path[:1] not in ON_TRUST or path == ("together", "alpha"):
                with pytest.raises((BadTable, Unsupported)):
                    check_statement(changed(said, path, other), table)
        for levels in ([], ["1/2"], ["x", "1"], "1", [1]):
            with pytest.raises(BadTable):
                check_statement(said | {"levels": levels}, table)


def test_a_screen_shows_what_is_promised_and_one_error_bar_for_one_noise():
    _, said = released(PROMISES["counts"])
    first = {fact.label: fact.value for fact in stated_release(said).first}
    assert first["level"].startswith("epsilon = 0.5")
    assert first["margin"].endswith("at 95 % confidence")
    assert "margins" not in first
    assert [fact.value for fact in stated_release(said).rows if fact.label == "definition"] == [
        "pure differential privacy"
    ]


def test_a_table_that_was_changed_is_not_the_one_stated():
    table, said = released(PROMISES["counts"])
    for other in (
        table | {"admitted": [0, 0]},
        table | {"department": ["A", "C"]},
        {name: column for name, column in table.items() if name != "department"},
        table | {"more": [1, 2]},
        {name: column[:1] for name, column in table.items()},
        table | {"admitted_margin": [0, 0]},
        dict(reversed(table.items())),
    ):
        with pytest.raises(BadTable):
            check_statement(said, other)


@pytest.mark.parametrize("form", [0, 2, 99, -1, "1", 1.0, True, None, [1]], ids=repr)
def test_another_format_is_refused(form):
    _, said = released(PROMISES["counts"])
    with pytest.raises((BadTable, Unsupported), match="format"):
        Statement.of_facts(said | {"format": form})


def test_the_digest_is_that_of_the_cells_whatever_the_kind_of_table():
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {"who": ["a", "b"], "n": [1, -(2**40)], "x": [0.1, -2.5]}
    arrays = {"who": columns["who"], "n": np.array(columns["n"]), "x": np.array(columns["x"])}
    kinds = [columns, arrays, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    promise = Promise("n", public="who", drop="x", unit=Unit(1, 1))
    digests = set()
    for table in kinds:
        with repeated_bits("the same", "noise"):
            digests.add(ut.release(table, promise, epsilon=1, once=True).statement["table"]["sha256"])
    assert len(digests) == 1


def test_a_cost_without_a_name_cannot_be_computed_again():
    def cost(x):
        return abs(x) ** 1.5

    answer = ut.release({"n": [1, 2]}, Promise("n", unit=Unit(5, 1)).once(cost), epsilon=1, once=True)
    said = json.loads(json.dumps(answer.statement))
    with pytest.raises((BadTable, Unsupported)):
        Statement.of_facts(said)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4)


@given(st.lists(TEXTS, min_size=1, max_size=12, unique=True))
def test_the_digest_of_cells_is_what_its_definition_says(texts):
    """SHA-256 of one JSON list, written here cell by cell; this text never changes, however it is computed."""
    table = {'é"': texts, "n": list(range(100, 100 + len(texts)))}
    answer = ut.release(table, Promise("n", public='é"', unit=Unit(1, 1)), epsilon=1, once=True)
    cells = [[name, [str(cell) for cell in answer.table[name]]] for name in answer.table]
    defined = json.dumps(cells, separators=(",", ":"), ensure_ascii=False)
    assert answer.statement["table"] == {"of": "cells", "sha256": hashlib.sha256(defined.encode()).hexdigest()}
