"""CSV: every untouched cell keeps its text; a file that is no table is refused with its line."""

import csv
import io
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import BadTable

# Readers of hostile bytes and cells, and their limits, are tried without a release behind them.
from utmost.tables.files import csv_table
from utmost.tables.frames import any_table


@pytest.fixture
def file(tmp_path):
    def make(text, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def written(table, **options):
    content = io.BytesIO()
    csv_table.write(table, content, **options)
    return content.getvalue().decode()


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)


@given(st.lists(st.tuples(cells, cells), max_size=5))
def test_what_is_not_released_is_written_as_it_was(tmp_path_factory, rows):
    """read, then write: the same header and the same text in every cell, whatever quoting that takes."""
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    table = csv_table.read(path)
    again = path.with_name("again.csv")
    again.write_bytes(written(table).encode())
    assert table.rows == len(rows)
    assert list(csv_table.rows(csv_table.read(again))) == list(csv_table.rows(table)) == [list(row) for row in rows]


def adapter(table):
    csv_table.register()
    return any_table.adapter_of(table)


def test_a_released_column_replaces_and_its_margin_stands_behind(file):
    table = csv_table.read(file('id,n,note\n007,5,"a, b"\n008,6,1.50\n'))
    table = adapter(table).with_columns(table, {"n": np.array([7, -1]), "n_margin": [3, 3]}, {"n_margin": "n"})
    assert written(table) == 'id,n,n_margin,note\n007,7,3,"a, b"\n008,-1,3,1.50\n'
    assert adapter(table).column(table, "n").tolist() == [7, -1]


def test_a_column_left_out_is_not_written_whatever_is_laid_later(file):
    table = adapter(csv_table.read(file("id,n,note\n007,5,a\n"))).without(
        csv_table.read(file("id,n,note\n007,5,a\n")), ["id"]
    )
    table = adapter(table).with_columns(table, {"n": [7], "n_margin": [3]}, {"n_margin": "n"})
    table = adapter(table).without(table, ["note"])
    assert table.names == ["n", "n_margin"]
    assert written(table) == "n,n_margin\n7,3\n"


def test_numbers_are_read_exactly_and_the_rest_is_left_as_text(file):
    table = csv_table.read(file("x\n12\n -3 \n0.1\n1e3\n99999999999999999999\nabc\n1_000\n٣\nnan\n0x10\n"))
    values = adapter(table).column(table, "x")
    numbers = [12, -3, Decimal("0.1"), Decimal("1e3"), 99999999999999999999]
    assert values == [*numbers, "abc", "1_000", "٣", None, "0x10"]
    assert [type(v) for v in values[:5]] == [int, int, Decimal, Decimal, int]


def test_a_row_is_found_by_its_line_also_behind_a_cell_of_two_lines(file):
    table = csv_table.read(file('a,b\n"x\ny",1\n\nz,2\n'))
    assert [adapter(table).place(table, row) for row in (0, 1)] == ["t.csv, row 1 (line 2)", "t.csv, row 2 (line 5)"]


def test_a_blank_line_is_a_missing_value_where_there_is_one_column(file):
    assert csv_table.read(file("a\n1\n\n2\n")).rows == 3
    assert csv_table.read(file("a,b\n1,2\n\n\n")).rows == 1


def test_a_header_of_a_hundred_thousand_columns_is_read_in_one_pass(file):
    """Each name was looked for among all before it: forty thousand of them took a page its twenty seconds."""
    header = ",".join(f"c{column}" for column in range(10**5))
    assert len(csv_table.read(file(f"{header}\n{header}\n")).header) == 10**5
    with pytest.raises(BadTable, match="got columns 8 and 100001"):
        csv_table.read(file(f"{header},c7\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must start with a header"),
        ("column 2,\n1,2\n", "got columns 1 and 2"),
        ("a,b,a\n1,2,3\n", "got columns 1 and 3"),
        ("a,b\n1,2\n1,2,3\n", r"row 2 \(line 3\): every row must have 2 cells; got 3 cells"),
        ("a,b\n1\n", r"row 1 \(line 2\): every row must have 2 cells; got 1 cells"),
        (b"a,b\n\xff\xfe,1\n", "must be UTF-8 text"),
        ('a,b\n1,"2\n', "line 2: a CSV file must be well formed"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_line(file, text, message):
    with pytest.raises(BadTable, match=message):
        csv_table.read(file(text))


def test_a_byte_order_mark_and_windows_lines_are_read(file):
    table = csv_table.read(file(b"\xef\xbb\xbfa,b\r\n1,2\r\n"))
    assert table.header == ("a", "b")
    assert written(table) == "a,b\n1,2\n"


def test_a_name_that_no_text_file_would_give_back_is_quoted_or_refused(tmp_path):
    """One that begins as a mark of bytes does, and a blank one."""
    promise = ut.Promise("n", public="\ufeffward", unit=ut.Unit(1, 1))
    release = ut.release({"\ufeffward": ["a", "b"], "n": [1, 2]}, promise, epsilon=1)
    for name in ("r.csv", "r.tsv", "r.csv.gz"):
        release.save(tmp_path / name)
        assert ut.read_release(tmp_path / name).total({"\ufeffward": "a"}).value == release.table["n"][0]
    blank = ut.release({" ": ["a", "b"], "n": [1, 2]}, ut.Promise("n", public=" ", unit=ut.Unit(1, 1)), epsilon=1)
    with pytest.raises(BadTable, match="must have a name"):
        blank.save(tmp_path / "blank.csv")
    assert not (tmp_path / "blank.csv").exists()
    blank.save(tmp_path / "blank.parquet")
    assert ut.read_release(tmp_path / "blank.parquet").total({" ": "a"}).value == blank.table["n"][0]


def test_tabs_separate_where_the_name_says_so(file):
    table = csv_table.read(file("a\tb\n1\t2,5\n", "t.tsv"))
    assert table.header == ("a", "b")
    assert written(table) == 'a,b\n1,"2,5"\n'
    assert written(table, delimiter="\t") == "a\tb\n1\t2,5\n"


def test_a_file_that_changed_before_it_was_read_is_refused(file):
    path = file("a,b\n1,2\n3,4\n")
    table = csv_table.read(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadTable, match="must not change"):
        adapter(table).column(table, "a")


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a,b\n1,2\n3,4\n5,6\n"])
def test_a_file_that_changed_meanwhile_is_refused(file, text):
    path = file("a,b\n1,2\n3,4\n")
    table = csv_table.read(path)
    path.write_text(text)
    with pytest.raises(BadTable, match="must not change"):
        written(table)
