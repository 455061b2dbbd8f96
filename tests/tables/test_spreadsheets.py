"""Excel files: every digit comes back, the bytes follow from what is published, what Excel cannot hold is refused."""

import hashlib
import io
import json
import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from xml.etree import ElementTree
from zipfile import ZipFile

import openpyxl
import pytest

import utmost as ut
from asking import asked
from running import new_ledger
from small_sizes import set_sizes
from utmost.errors import BadTable

# Columns that no release has are written, and a sheet of few rows instead of a million.
from utmost.tables.files import files, spreadsheets

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SAID = {"epsilon": "1", "unit": {"sensitivity": "1", "cells": 1}, "columns": ["n", "m"]}
FLOATS = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5, 0.30000000000000004]


def written(columns, statement=SAID):
    file = io.BytesIO()
    spreadsheets.write(columns, file, statement)
    return file.getvalue()


def read_back(folder, columns, statement=SAID):
    path = folder / "t.xlsx"
    path.write_bytes(written(columns, statement))
    return files.read(path)


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (FLOATS, FLOATS),
        ([1, None, -3], [1, None, -3]),
        ([True, False, None], [True, False, None]),
        (["=1+1", " a ", "Köln 😀"], ["=1+1", " a ", "Köln 😀"]),
        (["", "-", None], ["", "-", None]),
        ([10**15 - 1, 0], [10**15 - 1, 0]),
        ([10**15, None, 3], ["1000000000000000", None, "3"]),
        ([float("nan"), float("inf"), 1.5], [None, "inf", 1.5]),
        ([Fraction(1, 3), Decimal("0.10"), date(2013, 1, 31)], ["1/3", "0.10", "2013-01-31"]),
    ],
)
def test_cells_come_back_with_every_digit(column, cells, tmp_path):
    """The second route to the digits is the XML itself, read without openpyxl."""
    assert read_back(tmp_path, {"n": column}) == {"n": cells}
    sheet = ElementTree.fromstring(ZipFile(tmp_path / "t.xlsx").read("xl/worksheets/sheet1.xml"))
    numbers = [cell[0].text for cell in sheet.iter(f"{MAIN}c") if cell.get("t", "n") == "n" and len(cell)]
    whole = [cell for cell in cells if isinstance(cell, float | int) and not isinstance(cell, bool)]
    assert [float(text) for text in numbers] == whole


def test_the_file_is_a_function_of_what_is_published():
    """The same table, the same bytes; no author, and no time but 1980."""
    content = written({"n": [1, 2]})
    assert content == written({"n": [1, 2]})
    with ZipFile(io.BytesIO(content)) as packed:
        assert {part.date_time for part in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = packed.read("docProps/core.xml").decode()
    assert core.count("1980-01-01T00:00:00Z") == 2
    assert "<dc:creator></dc:creator><cp:lastModifiedBy></cp:lastModifiedBy>" in core


def test_a_release_has_its_statement_as_a_sheet_and_beside_it(run, tmp_path):
    """The sheet says what the file beside it says, but for the digest, which no file can hold of itself."""
    table = {"ward": ["A", "B"], "n": [5, 7]}
    said = ut.release(table, ut.Promise(columns="n", public="ward", unit=ut.Unit(1, 1)), epsilon=1, once=True).save(
        tmp_path / "r.xlsx"
    )
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    assert book.sheetnames == ["Values", "Statement"]
    lines = dict(list(book["Statement"].iter_rows(values_only=True))[1:])
    assert set(lines) == set(said) - {"table"}
    assert lines["guarantee"] == said["guarantee"]
    assert json.loads((tmp_path / "r.xlsx.json").read_text()) == said
    assert run("verify", tmp_path / "r.xlsx")[0] == 0


def test_a_request_made_again_finds_its_file(run, tmp_path):
    """The bytes are compared, statement sheet and all; a file of another release is not taken for it."""
    (tmp_path / "t.csv").write_text("ward,n\nA,5\nB,7\n")
    promise = ["--columns", "n", "--public", "ward", "--sensitivity", "1", "--cells", "1"]
    ledger = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "t", "--request", "r", "--epsilon", "1"]
    asked = ["release", tmp_path / "t.csv", *promise, *ledger, "--out", tmp_path / "o.xlsx"]
    assert run(*asked)[0] == run(*asked)[0] == 0
    (tmp_path / "o.xlsx").write_bytes(written({"ward": ["A", "B"], "n": [5, 7]}))
    code, _, err = run(*asked)
    assert (code, "Move the file away and run again" in err) == (2, True)


def test_rows_beyond_a_sheet_go_on_in_another(tmp_path, monkeypatch):
    set_sizes(monkeypatch, sheet_rows=3)
    cells = {"a": list(range(7)), "b": [None, "x", None, None, None, None, "y"]}
    assert read_back(tmp_path, cells) == cells
    assert openpyxl.load_workbook(tmp_path / "t.xlsx").sheetnames == ["Values", "Values 2", "Values 3", "Statement"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({f"c{k}": [] for k in range((1 << 14) + 1)}, "at most 16384 columns"),
        ({"a": ["x" * 32_768]}, "at most 32767 characters"),
    ],
)
def test_what_excel_cannot_hold_is_refused(columns, words):
    with pytest.raises(BadTable, match=words):
        written(columns)


def test_a_long_fact_is_said_whole(tmp_path):
    """Cell by cell below one another: nothing of the statement is cut off, and no word of it stops the file."""
    long = "".join(chr(97 + k % 26) for k in range(70_001))
    said = {"short": "x", "long": long, "listed": [long, {"part": long}], "odd": "a\x00b _x000D_ c", "last": ""}
    (tmp_path / "t.xlsx").write_bytes(written({"n": [1]}, said))
    facts, last = {}, ""
    for name, text in list(openpyxl.load_workbook(tmp_path / "t.xlsx")["Statement"].iter_rows(values_only=True))[1:]:
        facts[name or last] = facts.get(name or last, "") + (text or "")
        last = name or last
    assert facts["long"] == long
    assert facts["listed"] == f"{long}, part: {long}"
    assert facts["odd"] == r"a\x00b _ x000D_ c"
    assert list(facts) == list(said)


@pytest.mark.parametrize(
    ("columns", "public", "words"),
    [
        (["a", "b", "c"], [], "at most 5 columns"),
        (["n"], ["ward"], "at most 32767 characters"),
        (["n_x000D_"], [], "no control characters"),
    ],
)
@pytest.mark.parametrize("way", ["once", "ledger"])
def test_what_excel_cannot_hold_is_refused_before_the_draw(run, tmp_path, monkeypatch, columns, public, words, way):
    """Once and in a ledger: no noise is drawn, nothing is spent, no file is there. A margin is a column, too."""
    set_sizes(monkeypatch, sheet_columns=5)
    lines = [",".join([*columns, *public]), ",".join(["1"] * len(columns) + ["x" * 32_768] * len(public))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    promise = ["--columns", ",".join(columns), "--public", ",".join(public), "--sensitivity", 1, "--epsilon", 1]
    place = new_ledger(tmp_path / "l.db")
    ledger = ["--ledger", place, "--name", "t"] if way == "ledger" else []
    promise += ["--once", "row"] if way == "together" else ["--cells", 1, *ledger]
    code, _, error = run("release", tmp_path / "t.csv", *promise, "--out", tmp_path / "t.xlsx")
    assert code != 0
    assert words in " ".join(error.split()), error
    assert not (tmp_path / "t.xlsx").exists()
    with ut.Ledger.open(place) as opened:
        assert opened.status().events == 1


def test_no_rows_are_a_table(tmp_path):
    assert read_back(tmp_path, {"a": [], "b": []}, {}) == {"a": [], "b": []}


def test_a_workbook_of_a_user_is_read(tmp_path):
    """The only sheet; whole days as dates; empty rows at the end are none, a gap is one."""
    book = openpyxl.Workbook()
    for row in (["day", "n"], [datetime(2013, 1, 2), 5], [None, None], ["x", 2.5], [None, None]):
        book.active.append(row)
    book.save(tmp_path / "u.xlsx")
    assert files.read(tmp_path / "u.xlsx") == {"day": ["2013-01-02", None, "x"], "n": [5, None, 2.5]}
    book.create_sheet("other")
    book.save(tmp_path / "u.xlsx")
    with pytest.raises(BadTable, match="one sheet"):
        files.read(tmp_path / "u.xlsx")


@pytest.mark.parametrize("rows", [[["a", "a"], [1, 2]], [], [["a"], [1, 2]]])
def test_a_bad_header_is_refused(rows, tmp_path):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "u.xlsx")
    with pytest.raises(BadTable):
        files.read(tmp_path / "u.xlsx")


def test_what_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "u.xlsx").write_bytes(b"PK, but no more")
    with pytest.raises(BadTable, match="workbook of Excel"):
        files.read(tmp_path / "u.xlsx")
    with ZipFile(tmp_path / "u.xlsx", "w") as packed:
        packed.writestr("a", "b")
    with pytest.raises(BadTable, match="workbook of Excel"):
        files.read(tmp_path / "u.xlsx")


@pytest.mark.parametrize("text", ["\ud800", "\x00", "a\r\nb", "\uffff", "_x005F_", "_x000D_"])
def test_text_that_a_workbook_escapes_is_refused(text):
    """A surrogate was an error of Python's; a return came back as the seven letters that stand for it."""
    for columns in ({"a": ["x", text]}, {text: [1, 2]}):
        with pytest.raises(BadTable, match="control characters"):
            written(columns)


FORGED = {
    "the sheet says another level": ("sheet2|shared", rb"\b1/2\b|epsilon = 0.5", b"1/9"),
    "the sheet says more": ("shared", b"<t>kind</t>", b"<t>proof</t>"),
    "a value that Excel works out again": ("sheet1", rb"<v>(6)</v>", rb"<f>1+1</f><v>\1</v>"),
    "a sheet that is no part of it": (r"workbook\.xml$", b'name="Statement"', b'name="Promises"'),
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_a_workbook_says_beside_its_values_is_compared_with_the_statement(forged, tmp_path, run):
    """Whoever opens it in Excel reads that sheet, and no digest that a forger makes anew tells of it."""
    words = {"columns": "n", "public": "place", "unit": ut.Unit(1, 1)}
    ut.release({"place": ["a", "b"], "n": [500, 97]}, **asked(**words, epsilon="1/2"), once=True).save(
        tmp_path / "n.xlsx"
    )
    assert run("verify", tmp_path / "n.xlsx")[0] == 0
    part, pattern, text = FORGED[forged]
    with ZipFile(tmp_path / "n.xlsx") as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    for name in [name for name in parts if re.search(part, name)]:
        parts[name] = re.sub(pattern, text, parts[name], flags=re.DOTALL)
    with ZipFile(tmp_path / "n.xlsx", "w") as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    statement = json.loads((tmp_path / "n.xlsx.json").read_text())
    statement["table"]["sha256"] = hashlib.sha256((tmp_path / "n.xlsx").read_bytes()).hexdigest()
    (tmp_path / "n.xlsx.json").write_text(json.dumps(statement))
    with pytest.raises(BadTable):
        ut.read_release(tmp_path / "n.xlsx")
    assert run("verify", tmp_path / "n.xlsx")[0] == 1


DAMAGED = {
    "text that is cut off": ("xl/sharedStrings.xml", b"</sst>", b""),
    "a text that is not there": ("xl/worksheets/sheet1.xml", b"<v>0</v>", b"<v>999</v>"),
    "a column beyond all": ("xl/worksheets/sheet1.xml", b'r="A1"', b'r="AAAA1"'),
    "an encoding that is none": ("[Content_Types].xml", b"UTF-8", b"UTF-x"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_workbook_whose_parts_are_damaged_is_refused_by_type(damage, tmp_path):
    part, old, new = DAMAGED[damage]
    with ZipFile(io.BytesIO(written({"n": ["a", "b"]}))) as packed, ZipFile(tmp_path / "t.xlsx", "w") as damaged:
        for name in packed.namelist():
            content = packed.read(name)
            assert name != part or old in content
            damaged.writestr(name, content.replace(old, new) if name == part else content)
    with pytest.raises(BadTable, match="workbook"):
        files.read(tmp_path / "t.xlsx")


@pytest.mark.parametrize("days", [["2013-01-31", None, "2024-02-29"], [date(2013, 1, 31), date(9999, 12, 31)]])
def test_a_column_of_dates_is_one_in_excel(days, tmp_path):
    """Text and dates alike; read back they are the text that a statement seals."""
    texts = [None if day is None else str(day) for day in days]
    assert read_back(tmp_path, {"day": days, "n": [7] * len(days)}) == {"day": texts, "n": [7] * len(days)}
    cells = [row[0].value for row in openpyxl.load_workbook(tmp_path / "t.xlsx")["Values"].iter_rows(min_row=2)]
    assert [cell if cell is None else cell.date().isoformat() for cell in cells] == texts


@pytest.mark.parametrize("text", ["2013-02-30", "1900-02-28", "2013-1-31", "2013-01-31 ", "2013-01-31T00:00"])
def test_text_that_is_no_date_of_excel_stays_text(text, tmp_path):
    assert read_back(tmp_path, {"day": ["2013-01-31", text]}) == {"day": ["2013-01-31", text]}
