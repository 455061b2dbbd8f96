"""The public columns of a release are stored with it, bound by its seals, and appear in every view."""

import sqlite3
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost.errors import BadTable, KeyRefused, LedgerDamaged
from utmost.ledger import Ledger, read_sealed

KEY = bytes(range(32))
BLOCK = 1 << 16  # rows of labels that are kept as one part
PROMISE = {"sensitivity": 1, "cells": 1, "epsilon": 1}
CELLS = {
    "text": ["A", "é\ud800", ""],
    "numbers": [1, 2**200, -3],
    "floats": [0.1, float("inf"), 5e-324],
    "exact": [Decimal("0.10"), Fraction(1, 3), None],
    "days": [date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5, 6), b"\x00\xff"],
    "truth": [True, False, None],
}


def test_every_cell_is_read_as_it_was_written(tmp_path):
    """Text, integers of any size, floats to the bit, exact numbers, dates, bytes and what is missing."""
    table = {**CELLS, "nan": [float("nan"), 1.0, 2.0], "n": [1, 2, 4]}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", table, **asked(columns="n", public=[*CELLS, "nan"], **PROMISE))
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        seen = ledger.view("r", epsilon=1).table
        assert {name: list(seen[name]) for name in CELLS} == CELLS
        assert str(list(seen["nan"])) == "[nan, 1.0, 2.0]"


@pytest.mark.parametrize("label", [10**5000, -(10**5000), Fraction(1, 10**5000)], ids=["long", "negative", "fraction"])
def test_a_label_too_long_to_be_written_is_refused_by_name(tmp_path, label):
    """Refused before anything is drawn, without quoting it: Python converts integers of up to 4300 digits."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        with pytest.raises(BadTable, match="4300 digits"):
            ledger.publish("wide", {"k": [1, label], "n": [601, 370]}, **asked(columns="n", public="k", **PROMISE))
        assert ledger.releases == ()


@pytest.mark.parametrize("rows", [1, BLOCK, BLOCK + 1])
def test_labels_of_many_rows_come_in_blocks(rows, tmp_path):
    table = {"ward": [f"w{at}" for at in range(rows)], "n": np.zeros(rows, np.int64)}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", table, **asked(columns="n", public="ward", **PROMISE))
        assert ledger.release("r").labels.parts == -(-rows // BLOCK)
        seen = ledger.view("r", epsilon="1/2").table
        assert (
            seen["ward"].tolist() == table["ward"] if hasattr(seen["ward"], "tolist") else seen["ward"] == table["ward"]
        )
        assert ledger.verify()


def test_a_view_says_which_row_is_which(tmp_path):
    """Also for points and for noise keyed by identifier; in an encrypted copy, without the ledger's key."""
    table = {"x": [1, 2], "department": ["A", "B"], "y": [3, 4], "secret": ["s", "t"]}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        first = ledger.publish(
            "r", table, **asked(columns="x", public="department", drop=["y", "secret"], **PROMISE)
        ).table
        assert list(first) == ["x", "x_margin", "department"]
        assert ledger.view("r", epsilon=1).table == first
        more = {"id_column": "department", "keyed_by_id": True, "independent": True}
        ledger.publish("i", table, **asked(columns="y", public="department", drop=["x", "secret"], **PROMISE, **more))
        back = {name: cells[::-1] for name, cells in table.items()}
        assert ledger.relax("i", back, epsilon=2).table["department"] == ["B", "A"]
        seen = ledger.view("i", epsilon=2).table
        assert seen["department"] == ["A", "B"]
        assert seen["y"] == ledger.relax("i", table, epsilon=2).table["y"]
        say = {"columns": ["x", "y"], "public": "department", "drop": "secret", "epsilon": 1, "independent": True}
        ledger.publish("p", table, **asked(noise=ut.PointNoise(1), **say))
        assert list(ledger.view("p", epsilon=1).table) == ["x", "department", "y", "x_y_margin"]
        handed = ledger.level_key("r", epsilon=1)
        assert ledger.verify()
    assert read_sealed(tmp_path / "l.db", "r", handed).table == first


@pytest.mark.parametrize("sealed", [True, False])
def test_labels_that_were_changed_for_others_are_refused(tmp_path, sealed):
    """Even valid labels of another release of the same ledger are refused."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, sealed=sealed) as ledger:
        for name, wards in (("r", ["A", "B"]), ("q", ["B", "A"])):
            table = {"n": [1, 2], "ward": wards}
            ledger.publish(name, table, **asked(columns="n", public="ward", independent=True, **PROMISE))
        handed = ledger.level_key("r", epsilon=1) if sealed else None
    with closing(sqlite3.connect(tmp_path / "l.db")) as connection, connection:
        other = connection.execute("SELECT content FROM utmost_parts WHERE event = 3 AND part = 1").fetchone()
        connection.execute("UPDATE utmost_parts SET content = ? WHERE event = 2 AND part = 1", other)
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger, pytest.raises(LedgerDamaged):
        ledger.view("r", epsilon=1)
    if sealed:
        with pytest.raises(KeyRefused):
            read_sealed(tmp_path / "l.db", "r", handed)


def test_error_bars_need_names_of_their_own(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        with pytest.raises(BadTable, match="'n_margin'"):
            ledger.publish("r", {"n": [1], "n_margin": [2]}, **asked(columns="n", public="n_margin", **PROMISE))
        assert len(ledger.history()) == 1
        ledger.publish("r", {"n": [1], "n_margin": [2]}, **asked(columns="n", drop="n_margin", **PROMISE))
        assert ledger.view("r", epsilon=1).table["n_margin"] == [ledger.margin("r", epsilon=1)]
