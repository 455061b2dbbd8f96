"""CSV: every untouched cell keeps its text; a file that is no table is refused with its line."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import BadTable

SILENT = 90
"""An epsilon at which noise is 0 but once in 10^38 draws: the cells that come out are the ones that went in."""


@pytest.fixture
def file(tmp_path):
    def make(text, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def released(path, public=(), **more):
    promise = ut.Promise("n", public=public, unit=ut.Unit(1, 1), **more)
    return ut.release(path, promise, epsilon=SILENT, once=True)


def written(path, public=(), out="out.csv", **more):
    """The text of a released file."""
    released(path, public, **more).save(path.with_name(out))
    return path.with_name(out).read_text(encoding="utf-8")


cells = st.text(st.characters(exclude_categories=["Cs", "Nd"], exclude_characters="\x00=+-@＝＋－＠"), max_size=8)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_what_is_not_released_is_written_as_it_was(tmp_path_factory, rows):
    """The same header and the same text in every cell, whatever quoting that takes."""
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    numbered = [[*row, number] for number, row in enumerate(rows)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["a", "b", "n"], *numbered])
    written(path, ["a", "b"])
    with path.with_name("out.csv").open(encoding="utf-8", newline="") as file:
        again = list(csv.reader(file))
    assert again == [["a", "b", "n", "n_margin"], *([a, b, str(n), "0"] for a, b, n in numbered)]


def test_a_margin_stands_behind_its_column_and_a_dropped_column_nowhere(file):
    path = file('id,n,note\n007,5,"a, b"\n008,6,1.50\n')
    assert written(path, ["id", "note"]) == 'id,n,n_margin,note\n007,5,0,"a, b"\n008,6,0,1.50\n'
    assert written(path, "note", "dropped.csv", drop="id") == 'n,n_margin,note\n5,0,"a, b"\n6,0,1.50\n'


def test_a_row_is_named_by_its_line_also_behind_a_cell_of_two_lines(file):
    with pytest.raises(BadTable, match=r"row 2 \(line 5\)"):
        released(file('a,n\n"x\ny",1\n\nz,much\n'), "a")


def test_a_blank_line_is_a_missing_value_where_there_is_one_column(file):
    with pytest.raises(BadTable, match="row 2"):
        released(file("n\n1\n\n2\n"))
    assert released(file("a,n\nx,2\n\n\n"), "a").statement["rows"] == 1


def test_a_header_of_a_hundred_thousand_columns_is_read_in_one_pass(file):
    """Each name was looked for among all before it: forty thousand of them took a page its twenty seconds."""
    header = ",".join(f"c{column}" for column in range(10**5))
    with pytest.raises(BadTable, match="columns 8 and 100001"):
        released(file(f"{header},c7\n"))


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
        released(file(text))


def test_a_byte_order_mark_and_windows_lines_are_read(file):
    assert written(file(b"\xef\xbb\xbfa,n\r\nx,2\r\n"), "a") == "a,n,n_margin\nx,2,0\n"


def test_a_name_that_no_text_file_would_give_back_is_quoted_or_refused(tmp_path):
    """One that begins as a mark of bytes does, and a blank one."""
    promise = ut.Promise("n", public="\ufeffward", unit=ut.Unit(1, 1))
    release = ut.release({"\ufeffward": ["a", "b"], "n": [1, 2]}, promise, epsilon=1)
    for name in ("r.csv", "r.tsv", "r.csv.gz"):
        release.save(tmp_path / name)
        assert ut.read_release(tmp_path / name).total({"\ufeffward": "a"}).value == release.table["n"][0]
    blank = ut.release({" ": ["a", "b"], "n": [1, 2]}, ut.Promise("n", public=" ", unit=ut.Unit(1, 1)), epsilon=1)
    with pytest.raises(BadTable, match="a name"):
        blank.save(tmp_path / "blank.csv")
    assert not (tmp_path / "blank.csv").exists()
    blank.save(tmp_path / "blank.parquet")
    assert ut.read_release(tmp_path / "blank.parquet").total({" ": "a"}).value == blank.table["n"][0]


def test_tabs_separate_where_the_name_says_so(file):
    path = file("a\tn\n1,5\t2\n", "t.tsv")
    assert written(path, "a") == 'a,n,n_margin\n"1,5",2,0\n'
    assert written(path, "a", "out.tsv") == "a\tn\tn_margin\n1,5\t2\t0\n"


@pytest.mark.parametrize("text", ["a,n\n1,2\n", "a,n\n1,2\n3,4\n5,6\n"])
def test_a_file_that_changed_meanwhile_is_not_written(file, text):
    path = file("a,n\nx,2\ny,4\n")
    release = released(path, "a")
    path.write_text(text)
    with pytest.raises(BadTable, match="must not change"):
        release.save(path.with_name("out.csv"))
