"""A statement is compared with its table, and its digest is that of the cells."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from repeated_bits import repeated_bits
from utmost import CellNoise, Unit
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.exact import level
from utmost.promises import Promise
from utmost.statements import Statement, check_statement, stated_release

TABLE = {"department": ["A", "B"], "admitted": [601, 370], "seen": [9, 8]}


def released():
    promise = Promise("admitted", public="department", drop="seen", unit=Unit(1, 2))
    made = ut.release(TABLE, promise, epsilon="1/2", once=True)
    return made.table, json.loads(json.dumps(made.statement))


def test_a_promised_largest_value_is_not_passed_over():
    """A ledger refuses larger values; a release without a ledger ignored the promise."""
    promise = Promise("admitted", public="department", drop="seen", noise=CellNoise(Unit(1, 1), largest=10))
    with pytest.raises(OutOfRange, match="largest"):
        ut.release(TABLE, promise, epsilon=1, once=True)


def test_levels_of_a_ledger_are_those_that_it_can_have():
    promise = Promise("n", unit=Unit(3, 1))
    answer = ut.release({"n": [1, 2]}, promise, epsilon="1/2").release.relax({"n": [1, 2]}, epsilon=1)
    said = json.loads(json.dumps(answer.statement))
    assert check_statement(said, answer.table).level == level(1)
    for levels in ([], ["1/2"], ["x", "1"], "1", [1]):
        with pytest.raises(BadTable):
            check_statement(said | {"levels": levels}, answer.table)


def test_a_screen_shows_what_is_promised_and_one_error_bar_for_one_noise():
    _, said = released()
    first = {fact.label: fact.value for fact in stated_release(said).first}
    assert first["level"].startswith("epsilon = 0.5")
    assert first["margin"].endswith("at 95 % confidence")
    assert "margins" not in first
    assert [fact.value for fact in stated_release(said).rows if fact.label == "definition"] == [
        "pure differential privacy"
    ]


def test_a_table_that_was_changed_is_not_the_one_stated():
    table, said = released()
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
    _, said = released()
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
