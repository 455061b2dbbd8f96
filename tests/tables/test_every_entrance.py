"""One answer at every entrance: each format, frame and engine counts a column alike, or refuses it by the same error.

A case is a column as it stands in a table and what must come of it. An entrance that has no such cells, as CSV has no
lists, is not asked.
"""

import json
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import utmost as ut
from counting_words import counted_with
from engine_tables import of_arrow
from spark import OF_SPARK, on, session
from utmost import Spelling
from utmost.errors import BadTable
from utmost.tables.files import files
from utmost.workloads import bins, edges, periods, plain

NAN = float("nan")
KIND = plain(["A", "01", "10"], missing="none")
SIZE = edges([0, 10, 2000, None], whole=False, missing="none")
WHOLE = edges([0, 10, 2000, None], missing="none")
YEAR = periods("2012", "2015", every="year", missing="none")
MONTH = periods("2013-01", "2013-04", every="month", missing="none")
DAY = periods("2013-01-01", "2013-01-04", every="day", missing="none")
MARKS = {"missing_marks": ["NA", ".", "-9"]}
GERMAN = {"decimal": ",", "thousands": "."}


def dotted(**more):
    return periods(
        "2013-01-01", "2013-01-04", every="day", missing="none", spelling=Spelling(pattern="%d.%m.%Y", **more)
    )


def digits(pattern="%d%m%Y", **more):
    gone = more or {"missing": "none"}
    return periods("2013-01-01", "2013-01-04", every="day", spelling=Spelling(pattern=pattern), **gone)


HOURS = periods("2013-01-02T00", "2013-01-02T03", every="hour", spelling=Spelling(pattern="%Y%m%d%H"))
CASES = {
    # what the column is, its cells, what is declared of them, and the counts or the refusal
    "list: text": (KIND, ["A", "A", "10"], {}, [2, 0, 1, 0]),
    "list: empty": (KIND, ["A", None, "10"], {}, [1, 0, 1, 1]),
    "list: blank": (KIND, ["A", " ", "10"], {}, [1, 0, 1, 1]),
    "list: nan": (KIND, ["A", "nan", "NaN"], {}, [1, 0, 0, 2]),
    "list: nan that is a value": (plain(["nan", "A"], missing="none"), ["A", "nan", None], {}, [1, 1, 1]),
    "list: NA": (KIND, ["A", "NA", "10"], {}, [1, 0, 1, 0]),
    "list: NA declared": (KIND, ["A", "NA", "."], MARKS, [1, 0, 0, 2]),
    "list: NA declared on the axis": (
        plain(["A"], missing="none", spelling=Spelling(missing_marks=["NA"])),
        ["A", "NA"],
        {},
        [1, 1],
    ),
    "list: a mark that is a value": (plain(["NA", "A"], missing="none"), ["A", "NA", "."], MARKS, [1, 1, 1]),
    "list: zeros lost": (KIND, [1, 10, 10], {}, [0, 1, 2, 0]),
    "list: zeros lost in text": (KIND, ["1", "10", "01"], {}, [0, 2, 1, 0]),
    "list: zeros lost, two values": (plain(["01", "001", "A"]), [1, 1], {}, BadTable),
    "list: floats": (plain([1, 2]), [1.0, None], {}, BadTable),
    "list: nested": (KIND, [["A"], ["A"]], {}, BadTable),
    "list: records": (KIND, [{"a": 1}, {"a": 2}], {}, BadTable),
    "bins: integers": (SIZE, [5, 12, 12], {}, [1, 2, 0, 0]),
    "bins: floats": (SIZE, [5.5, 12.0, NAN], {}, [1, 1, 0, 1]),
    "bins: text": (SIZE, ["5.5", " 12", "+1e3"], {}, [1, 2, 0, 0]),
    "bins: empty": (SIZE, [5, None], {}, [1, 0, 0, 1]),
    "bins: nan": (SIZE, ["5", "nan", "NaN"], {}, [1, 0, 0, 2]),
    "bins: NA": (SIZE, ["5", "NA"], {}, BadTable),
    "bins: a point": (SIZE, ["5", "."], {}, BadTable),
    "bins: NA declared": (SIZE, ["5", "NA", "."], MARKS, [1, 0, 0, 2]),
    "bins: -9 declared": (SIZE, [5, -9, 12], MARKS, [1, 1, 0, 1]),
    "bins: -9 declared, floats": (SIZE, [5.5, -9.0], MARKS, [1, 0, 0, 1]),
    "bins: -9 declared, text": (SIZE, ["5", "-9"], MARKS, [1, 0, 0, 1]),
    "bins: German": (SIZE, ["5,5", "1.500", "2.750,25"], GERMAN, [1, 1, 1, 0]),
    "bins of integers: floats": (WHOLE, [5.0, 12.0, NAN], {}, [1, 1, 0, 1]),
    "bins of integers: text": (WHOLE, ["5", "12.0", "+1e3"], {}, [1, 2, 0, 0]),
    "bins of integers: Decimals": (WHOLE, [Decimal("5.0"), Decimal("12.0")], {}, [1, 1, 0, 0]),
    "bins of integers: decimals": (WHOLE, [5.0, 9.75, NAN], {}, BadTable),
    "bins of integers: decimals in text": (WHOLE, ["5", "9.75"], {}, BadTable),
    "bins of integers: decimals as Decimals": (WHOLE, [Decimal("5.00"), Decimal("9.75")], {}, BadTable),
    "bins of integers: decimals beyond the edges": (WHOLE, [5.0, -0.5], {}, BadTable),
    "bins of integers: -9.5 declared": (WHOLE, [5.0, -9.5], {"missing_marks": ["-9.5"]}, [1, 0, 0, 1]),
    "bins: German, declared on the axis": (
        edges([0, 2, None], whole=False, spelling=Spelling(**GERMAN)),
        ["1,5", "1.500"],
        {},
        [1, 1],
    ),
    "bins: a comma": (SIZE, ["5,5", "1"], {}, BadTable),
    "bins: commas of thousands": (SIZE, ["1,500", "1"], {}, BadTable),
    "bins: commas of thousands, declared": (SIZE, ["1,500", "1"], {"thousands": ","}, [1, 1, 0, 0]),
    "bins: apostrophes, declared": (SIZE, ["1'500", "1’500"], {"thousands": "'"}, [0, 2, 0, 0]),
    "bins: blanks, declared": (SIZE, ["1 500,5", "1\u202f500"], {"thousands": " ", "decimal": ","}, [0, 2, 0, 0]),
    "bins: misplaced marks": (SIZE, ["15,00", "1"], {"thousands": ","}, BadTable),
    "bins: a fraction": (SIZE, ["3/10", "1"], {}, BadTable),
    "bins: underscores": (SIZE, ["1_0", "1"], {}, BadTable),
    "bins: digits of another script": (SIZE, ["１２", "1"], {}, BadTable),
    "bins: infinite": (SIZE, ["inf", "5"], {}, [1, 0, 0, 0]),
    "bins: a typographic minus": (SIZE, ["\u22125", "1"], {}, BadTable),
    "bins: text with an other": (bins(0, 9, width=3, other="else"), ["1", "NA", "nan"], {}, [1, 0, 0, 2]),
    "bins: truth values": (SIZE, [True, False], {}, BadTable),
    "bins: dates": (SIZE, [date(1970, 1, 1), date(1975, 6, 1)], {}, BadTable),
    "bins: times": (SIZE, [datetime(1970, 1, 1, 9), datetime(1975, 6, 1, 9)], {}, BadTable),
    "list: dates": (KIND, [date(1970, 1, 1), date(1975, 6, 1)], {}, BadTable),
    "bins: nested": (SIZE, [[1], [2]], {}, BadTable),
    "years: integers": (YEAR, [2013, 2014, 2014], {}, [0, 1, 2, 0]),
    "years: integers beside a gap": (YEAR, [2013.0, None], {}, [0, 1, 0, 1]),
    "years: text": (YEAR, ["2013", "2014", "nan"], {}, [0, 1, 1, 1]),
    "years: fractions": (YEAR, [2013.5, 2014.0], {}, BadTable),
    "years: dates": (YEAR, [date(2013, 5, 1), date(2014, 1, 1)], {}, [0, 1, 1, 0]),
    "years: a mark": (YEAR, [2013, -9], MARKS, [0, 1, 0, 1]),
    "months: 201302": (MONTH, [201302, 201303], {}, [0, 1, 1, 0]),
    "months: spelled": (MONTH, ["2013M02", "2013-02", "2013/02/03"], {}, [0, 3, 0, 0]),
    "months: quarters": (periods("2013", "2014", every="quarter"), ["2013Q2", "Q22013", "2013-Q3"], {}, [0, 2, 1, 0]),
    "months: a year": (MONTH, [2013, 2013], {}, BadTable),
    "days: times": (DAY, [datetime(2013, 1, 2, 9), datetime(2013, 1, 3)], {}, [0, 1, 1, 0]),
    "days: slashes": (DAY, ["2013/01/02", "2013/01/02 00:00", "2013/1/3"], {}, [0, 2, 1, 0]),
    "days: integers": (DAY, [20130102, 20130103], {}, [0, 1, 1, 0]),
    "days: empty": (DAY, ["2013-01-02", None, "nan"], {}, [0, 1, 0, 2]),
    "days: NA": (DAY, ["2013-01-02", "NA"], {}, BadTable),
    "days: NA declared": (DAY, ["2013-01-02", "NA"], MARKS, [0, 1, 0, 1]),
    "days: dots": (DAY, ["02.01.2013", "2013-01-02"], {}, BadTable),
    "days: dots declared": (dotted(), ["02.01.2013", "3.1.2013", None], {}, [0, 1, 1, 1]),
    "days: digits declared": (digits(), [1012013, 2012013, 2012013], {}, [1, 2, 0, 0]),
    "days: digits declared, in text": (digits(), ["1012013", " 02012013", "2012013"], {}, [1, 2, 0, 0]),
    "days: digits declared, beside other text": (
        digits(other="else"),
        ["1012013", "2012013", "soon"],
        {},
        [1, 1, 0, 1],
    ),
    "hours: digits declared": (HOURS, [2013010201, 2013010202], {}, [0, 1, 1]),
    "hours: digits declared, in text": (HOURS, ["2013010201", "2013010202"], {}, [0, 1, 1]),
    "days: digits of a short year": (digits("%Y%m%d"), ["130102", "20130102"], {}, BadTable),
    "days: a short year as an integer": (digits("%Y%m%d"), [130102, 20130102], {}, BadTable),
    "days: dates where dots are declared": (dotted(), [date(2013, 1, 2)] * 2, {}, [0, 2, 0, 0]),
    "days: ISO where dots are declared": (dotted(), ["2013-01-02", "02.01.2013"], {}, [0, 2, 0, 0]),
    "days: words": (DAY, ["soon", "2013-01-02"], {}, BadTable),
    "days: nested": (DAY, [["2013-01-02"], ["2013-01-02"]], {}, BadTable),
    "person: text": ("person", ["a", "b", "a"], {}, 2),
    "person: integers": ("person", [1, 2, 1], {}, 2),
    "person: empty": ("person", ["a", None], {}, BadTable),
    "person: blank": ("person", ["a", " "], {}, BadTable),
    "person: nan": ("person", ["a", "nan"], {}, BadTable),
    "person: NA": ("person", ["a", "NA"], {}, 2),
    "person: NA declared": ("person", ["a", "NA"], MARKS, BadTable),
    "person: -9 declared": ("person", [1, -9], MARKS, BadTable),
    "person: nested": ("person", [["a"], ["b"]], {}, BadTable),
    "amount: integers": ("amount", [5, 12], {}, 17),
    "amount: floats": ("amount", [5.5, 12.0], {}, 17.5),
    "amount: decimals": ("amount", [Decimal("5.50"), Decimal("12.25")], {}, 17.75),
    "amount: text": ("amount", ["5.5", " 12"], {}, 17.5),
    "amount: empty": ("amount", [5, None], {}, BadTable),
    "amount: NaN": ("amount", [5.5, NAN], {}, BadTable),
    "amount: nan": ("amount", ["5", "nan"], {}, BadTable),
    "amount: NA": ("amount", ["5", "NA"], {}, BadTable),
    "amount: -9 declared": ("amount", [5, -9], MARKS, BadTable),
    "amount: -9 declared, floats": ("amount", [5.5, -9.0], MARKS, BadTable),
    "amount: German": ("amount", ["5,5", "1.500"], GERMAN, 1505.5),
    "amount: a comma": ("amount", ["5,5", "1"], {}, BadTable),
    "amount: commas of thousands": ("amount", ["1,234", "1"], {}, BadTable),
    "amount: commas of thousands, declared": ("amount", ["1,234.5", "1"], {"thousands": ","}, 1235.5),
    "amount: currency": ("amount", ["EUR 5", "1"], {}, BadTable),
    "amount: parentheses": ("amount", ["(5)", "1"], {}, BadTable),
    "amount: a sign behind": ("amount", ["5-", "1"], {}, BadTable),
    "amount: infinite": ("amount", ["inf", "1"], {}, BadTable),
    "amount: truth values": ("amount", [True, False], {}, BadTable),
    "amount: nested": ("amount", [[1], [2]], {}, BadTable),
}


def is_nested(cells):
    return any(isinstance(cell, list | dict) for cell in cells)


def as_text(cell):
    """A cell as a program writes it: None as nothing, and a float that is none as numpy.savetxt has it."""
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def separated(mark, name):
    def make(columns, folder):
        quoted = [[f'"{as_text(cell)}"' for cell in row] for row in zip(*columns.values(), strict=True)]
        lines = [mark.join(columns), *map(mark.join, quoted)]
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
        return folder / name

    return make


def json_lines(columns, folder):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    lines = [
        json.dumps(row, default=lambda cell: float(cell) if isinstance(cell, Decimal) else str(cell)) for row in rows
    ]
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "t.jsonl"


def json_records(columns, folder):
    lines = json_lines(columns, folder).read_text(encoding="utf-8").splitlines()
    (folder / "t.json").write_text(f"[{', '.join(lines)}]", encoding="utf-8")
    return folder / "t.json"


def workbook(columns, folder):
    book = openpyxl.Workbook()
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        # Excel has no NaN: programs leave such a cell empty.
        book.active.append([None if cell != cell else cell for cell in row])
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def parquet_file(columns, folder):
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def feather_file(columns, folder):
    feather.write_feather(pa.table(columns), folder / "t.feather")
    return folder / "t.feather"


def parquet_folder(columns, folder):
    (folder / "lake").mkdir()
    whole = pa.table(columns)
    for row in range(whole.num_rows):
        parquet.write_table(whole.slice(row, 1), folder / "lake" / f"{row}.parquet")
    return folder / "lake"


ENTRANCES = {
    "csv": separated(",", "t.csv"),
    "semicolons": separated(";", "t.csv"),
    "tsv": separated("\t", "t.tsv"),
    "jsonl": json_lines,
    "xlsx": workbook,
    "json": json_records,
    "feather": feather_file,
    "parquet": parquet_file,
    "folder": parquet_folder,
    "dict": lambda columns, folder: dict(columns),
    "dict of arrays": lambda columns, folder: {
        name: np.fromiter(cells, dtype=object, count=len(cells)) for name, cells in columns.items()
    },
    "rows": lambda columns, folder: [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ],
    "pandas": lambda columns, folder: pd.DataFrame(columns),
    "pandas objects": lambda columns, folder: pd.DataFrame(columns, dtype=object),
    "dict of series": lambda columns, folder: {name: pd.Series(cells) for name, cells in columns.items()},
    "polars": lambda columns, folder: pl.DataFrame(columns),
    "polars, lazy": lambda columns, folder: pl.LazyFrame(columns),
    "arrow": lambda columns, folder: pa.table(columns),
    "duckdb": lambda columns, folder: of_arrow(columns),
}
TEXT = {"csv", "semicolons", "tsv", "jsonl", "json"}
ALIKE = {"semicolons", "tsv", "json", "feather", "parquet", "folder", "rows", "dict of series"}
"""Entrances that end in the reader of another one: they are asked for some forms of each kind of column."""
OF_EACH_KIND = [
    *("list: nan", "list: NA declared", "list: zeros lost", "list: nested"),
    *("bins: nan", "bins: NA", "bins: -9 declared", "bins: German"),
    *("years: integers", "days: dots declared", "days: NA"),
    *("person: nan", "person: NA declared", "amount: German", "amount: nan", "amount: nested"),
]
WITHOUT_NESTED = {"csv", "semicolons", "tsv", "xlsx"}


def takes(entrance, case):
    """Whether an entrance can have the cells of a case."""
    cells = CASES[case][1]
    if entrance in ALIKE and case not in OF_EACH_KIND:
        return False
    if is_nested(cells):
        return entrance not in WITHOUT_NESTED
    if case in ("days: dates where dots are declared", "list: dates"):
        return entrance not in TEXT
    return not (case == "list: floats" and entrance == "xlsx")  # there a 1.0 is a 1


def counted(events, kind, words):
    """What is counted of the column "x": of an axis its cells, of persons how many, of amounts their sum."""
    told = {"each_row": True, "outside": "leave out", **words}
    if kind == "person":
        told = {"person": "x", "at_most": 1, "outside": "leave out", **words}
    if kind == "amount":
        told |= {"values": "x", "step": "0.25", "each": (-5000, 5000), "per_cell": (-5000, 5000)}
    domain = ut.Domain(axis=["on"]) if isinstance(kind, str) else ut.Domain(x=kind)
    cells = counted_with(events, domain=domain, **told).cells.tolist()
    return cells if not isinstance(kind, str) else cells[0] / 4 if kind == "amount" else cells[0]


def answer(events, case):
    """The counts, or the class of the error; its text where that names no column or no remedy, or quotes a cell."""
    kind, cells, words, _ = CASES[case]
    try:
        return counted(events, kind, words)
    except BadTable as error:
        says = "'x'" in str(error) and error.remedy and error.came.strip("'") not in map(str, cells)
        return BadTable if says else str(error)


def test_every_format_of_files_is_an_entrance():
    assert files.TABLE_FORMATS.keys() <= ENTRANCES.keys()


@pytest.mark.filterwarnings("ignore::utmost.errors.NothingCounted")
@pytest.mark.parametrize("case", CASES)
def test_every_entrance_gives_one_answer(case, tmp_path):
    cells, expected = CASES[case][1], CASES[case][3]
    columns = {"x": cells, "axis": ["on"] * len(cells)}
    answers = {name: answer(make(columns, tmp_path), case) for name, make in ENTRANCES.items() if takes(name, case)}
    assert len(answers) >= len(ENTRANCES) - len(ALIKE | TEXT)
    assert answers == dict.fromkeys(answers, expected)


ONE_MORE = [
    "soon",
    "03012013",
    "2013-01-02",
    2012013,
    2012013.5,
    date(2013, 1, 2),
    None,
    "nan",
    "A",
    True,
    Decimal("5.5"),
]
"""Cells of one more person; some of them change the type of the whole column in some library."""
OF_ARROW = {"arrow", "feather", "parquet", "folder", "duckdb"}
NEIGHBOURS = {
    "days": (digits(other="else"), ["1012013", "2012013", "02012013"]),
    "days as integers": (digits(other="else"), [1012013, 2012013, 2012013]),
    "list": (plain(["A", "01", "10"], other="else"), ["1", "10", "A"]),
    "list of integers": (plain(["A", "01", "10"], other="else"), [1, 10, 7]),
    "bins": (edges([0, 10, 2000, None], whole=False, other="else"), [5, 12, 2000]),
    "bins of text": (edges([0, 10, 2000, None], whole=False, other="else"), ["5", "012", "1e3"]),
}


@pytest.mark.filterwarnings("ignore::utmost.errors.NothingCounted")
@pytest.mark.parametrize("entrance", sorted(ENTRANCES.keys() - ALIKE | {"folder"}))
@pytest.mark.parametrize("case", NEIGHBOURS)
def test_the_cell_of_one_person_changes_the_reading_of_no_other(case, entrance, tmp_path):
    """At each entrance the table changes by the one event, or the table with it is refused."""
    axis, cells = NEIGHBOURS[case]
    before = counted(ENTRANCES[entrance]({"x": cells, "axis": ["on"] * 3}, tmp_path), axis, {})
    compared = 0
    for number, cell in enumerate(ONE_MORE):
        for at, more in enumerate(([cell, *cells], [*cells, cell])):
            if entrance in OF_ARROW and isinstance(cell, date) and at == 0:
                continue  # Arrow itself makes dates of the integers behind a date
            folder = tmp_path / f"{number}-{at}"
            folder.mkdir()
            try:
                events = ENTRANCES[entrance]({"x": more, "axis": ["on"] * 4}, folder)
            except (pa.ArrowException, TypeError):  # a library that has no such column
                continue
            try:
                after = counted(events, axis, {})
            except BadTable:
                continue
            compared += 1
            assert sum(abs(new - old) for new, old in zip(after, before, strict=True)) <= 1, (cell, at)
    assert compared >= 2


class TestSpark:
    pytestmark = OF_SPARK

    @pytest.mark.filterwarnings("ignore::utmost.errors.NothingCounted")
    def test_spark_gives_the_same_answers(self):
        spark = session()
        for case in OF_EACH_KIND:  # a job of Spark takes a second or two
            _, cells, _, expected = CASES[case]
            frame = on(spark, {"x": cells, "axis": ["on"] * len(cells)}, parts=1)
            assert answer(frame, case) == expected, case
