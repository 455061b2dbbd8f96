"""Columns in the names of folders: every door reads the table that was laid out in them, and no message says a cell."""

import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from asking import asked
from counting_words import counted_with
from running import called
from small_sizes import set_sizes
from utmost import Counting
from utmost.counting import count_keys, count_table
from utmost.errors import BadTable, NotDeclared, Unsupported
from utmost.ledger import Ledger

# How many rows are read at a time shows in no answer; the order of the rows of pieces does in no count.
# Pieces of two rows, which a release makes only of files larger than memory.
from utmost.tables.files import files
from utmost.tables.files.hive_folders import FolderColumns
from utmost.tables.files.parquet_pieces import ParquetPieces
from utmost.workloads import Domain, ages, bins, edges, periods, plain

KEY = b"k" * 32
HIVE = "__HIVE_DEFAULT_PARTITION__"


def laid(root, way, name="part-0.parquet", **columns):
    """A file of these columns in these folders."""
    folder = root / way
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / name, row_group_size=3)
    return folder / name


def read(root):
    """All rows, in the order in which they are read in pieces."""
    pieces = ParquetPieces.of(root)
    return pa.Table.from_batches([piece.batch for piece in pieces.pieces()], pieces.schema)


@pytest.fixture
def lake(tmp_path):
    """Two years with two months each, below a folder that is none of the lake's."""
    root = tmp_path / "env=test" / "events"
    for year in (2020, 2021):
        for month in ("01", "11"):
            user = [f"u{year}", "ann", f"u{month}", "ann"]
            laid(root, f"year={year}/month={month}", user=user, page=["p0", "p1", "p1", "p0"])
    return root


def frame(lake):
    """The same table as Arrow's own datasets read it."""
    schema = pa.schema([("year", pa.string()), ("month", pa.string())])
    return ds.dataset(lake, partitioning=ds.partitioning(schema, flavor="hive")).to_table()


def test_rows_are_those_of_a_dataset_in_the_order_of_the_files(lake, monkeypatch):
    set_sizes(monkeypatch, parquet_rows=2)
    found = read(lake)
    assert found.schema.names == ["user", "page", "year", "month"]
    assert found.equals(frame(lake))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(lambda text: text != HIVE)


@given(
    st.lists(texts | st.none(), min_size=1, max_size=6, unique=True)
    | st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1, max_size=6, unique=True)
)
def test_what_is_laid_out_in_folders_is_read_from_them(cells):
    """Any text comes back as it was, and any integer as its digits; a missing cell as a missing one."""
    with TemporaryDirectory() as place:
        for row, cell in enumerate(cells):
            name = HIVE if cell is None else quote(str(cell), safe="")
            laid(Path(place), f"{quote('a key/=', safe='')}={name}", n=[row] * 2)
        found = read(Path(place)).to_pydict()
    wanted = [None if cell is None else str(cell) for cell in cells]
    assert found["a key/="] == [wanted[row] for row in found["n"]]


@given(st.lists(texts.filter(bool) | st.none(), min_size=1, max_size=6, unique=True))
def test_what_arrow_writes_in_folders_is_read_from_them(cells):
    with TemporaryDirectory() as place:
        table = pa.table({"n": range(len(cells)), "key": pa.array(cells, pa.string())})
        kind = ds.partitioning(pa.schema([("key", pa.string())]), flavor="hive")
        ds.write_dataset(table, place, format="parquet", partitioning=kind)
        found = read(Path(place)).to_pydict()
    assert [None if cell is None else str(cell) for cell in found["key"]] == [cells[row] for row in found["n"]]


ONE_MORE = [
    "unknown",
    "07012013",
    "10122013",
    "2013-01-09",
    "",
    "nan",
    HIVE,
    "0",
    "+1012013",
    "1.0",
    str(2**63),
    "\u0663",
]
"""Cells of a folder that the events of one person add."""
SAID = {"other": "else", "spelling": ut.Spelling(pattern="%d%m%Y", missing_marks=["-9"])}
FOLDERS = {
    "days": (periods("2013-01", "2013-04", every="month", **SAID), ["1012013", "22022013", "3032013", "-9"]),
    "hours": (
        periods("2013-01-01", "2013-01-03", every="hour", other="else", spelling=ut.Spelling(pattern="%Y%m%d%H")),
        ["2013010101", "2013010223"],
    ),
    "births": (ages("k", [0, 18, 65, None], on="2025-01-01", **SAID), ["1012013", "2021950"]),
    "years": (periods("2010", "2020", every="year", other="else"), ["2011", "2013", "20130517"]),
    "list": (plain([1, "20", "x"], other="else"), ["1", "20", "300"]),
    "truth": (plain([False, True], other="else"), ["0", "1"]),
    "bins": (bins(0, 30, width=10, other="else"), ["1", "20", "300", "-9"]),
    "thousands": (edges([0, 10, 2000], other="else", spelling=ut.Spelling(",", ".")), ["5", "1500"]),
}


@pytest.mark.filterwarnings("ignore::utmost.errors.NothingCounted")
@pytest.mark.parametrize("case", FOLDERS)
def test_the_folder_of_one_person_changes_the_reading_of_no_other(tmp_path, case):
    """The table changes by one event of one person, although her folder is no integer and all others are."""
    axis, cells = FOLDERS[case]
    for at, cell in enumerate(cells):
        laid(tmp_path / "base", f"k={cell}", user=[f"p{at}{i}" for i in range(5)])
    person, tables = Counting("user", at_most=1, key=KEY), {}
    for number, cell in enumerate([None, *ONE_MORE]):
        lake = tmp_path / str(number)
        shutil.copytree(tmp_path / "base", lake)
        if cell is not None:
            laid(lake, f"k={cell}", name="more.parquet", user=["zoe"])
        if (case, cell) == ("list", "1.0"):  # refused beside the label 1, whatever the other folders are
            with pytest.raises(BadTable, match="a number with a point"):
                count_table(lake, Domain(k=axis), person)
            continue
        tables[cell] = count_table(lake, Domain(k=axis), person).cells
    assert tables[None].sum() == 5 * len(cells)
    for cell in tables:
        assert abs(tables[cell] - tables[None]).sum() <= 1, cell


def events_of(lake):
    """The lake through every door of a count, and as frames of which each library read the folders itself."""
    import duckdb

    yield lake
    yield frame(lake)
    yield frame(lake).to_pandas()
    text = {"year": pl.String, "month": pl.String}
    yield pl.scan_parquet(lake, hive_partitioning=True, hive_schema=text)
    yield duckdb.sql(
        f"SELECT * FROM read_parquet('{lake}/**/*.parquet', hive_partitioning=true, hive_types_autocast=false)"
    )


def test_events_in_folders_are_counted_as_those_of_a_frame(lake):
    pytest.importorskip("duckdb")
    domain = Domain(year=[2020, 2021], month=["01", "11"], page=["p0", "p1"])
    say = {"person": "user", "at_most": 3, "key": KEY}
    counts = [counted_with(events, domain=domain, **say).cells.tolist() for events in events_of(lake)]
    keys = [count_keys(events, column="month", **say) for events in events_of(lake)]
    assert sum(sum(map(sum, year)) for year in counts[0]) == 3 + 2 * 2 + 2 * 2
    assert counts == [counts[0]] * 5
    assert keys == [{"month": ["01", "11"], "count": [4, 4]}] * 5


def test_persons_parts_bins_and_amounts_may_be_in_folders_alone(tmp_path):
    """No column of the files is read then, and their rows count nonetheless; rows without a person are refused."""
    for user, age in (("ann", 30), ("bob", 30), ("cem", 71)):
        laid(tmp_path, f"user={user}/age={age}/land=A", n=[1, 2, 3, 4])
    domain = Domain(age=bins(0, 100, width=50))
    assert count_table(tmp_path, domain, Counting("user", at_most=1)).cells.tolist() == [2, 1]
    more = {"values": "age", "per_cell": 1000, "part": {"land": ["A", "B"]}}
    parts = counted_with(tmp_path, person="user", domain=Domain(n=[1, 2]), at_most=2, **more)
    assert parts["A"].cells.tolist() == [131, 131]
    laid(tmp_path, f"user={HIVE}/age=1/land=A", n=[1])
    with pytest.raises(BadTable, match="its person"):
        count_table(tmp_path, domain, Counting("user", at_most=1))


@pytest.mark.parametrize(
    ("cells", "labels"), [(["01", "11"], range(1, 13)), (["1", "11"], ["01", "11"]), (["00"], [0])]
)
def test_a_domain_that_spells_folders_otherwise_is_refused_and_not_empty(tmp_path, cells, labels):
    for cell in cells:
        laid(tmp_path, f"month={cell}", user=["ann"])
    for axis in (plain(labels), plain(labels, other="else")):
        with pytest.raises(BadTable, match="names of the folders"):
            count_table(tmp_path, Domain(month=axis), Counting("user", at_most=1))
    assert count_table(tmp_path, Domain(month=bins(13)), Counting("user", at_most=9)).cells.sum() == len(cells)
    right = Domain(month=cells)
    assert count_table(tmp_path, right, Counting("user", at_most=9)).cells.tolist() == [1] * len(cells)


SAY = {"columns": "n", "public": ["ward", "year", "month"], "id_column": "ward", "unit": ut.Unit(1, 1)}


def counts_in(tmp_path):
    """Counts in folders, and the rows as they are to come out."""
    root, rows = tmp_path / "of=wards" / "lake", []
    for at, way in enumerate(
        ["year=2020/month=01", "year=2020/month=[12]", f"year=2021/month={HIVE}", "year=2021/month=1"]
    ):
        laid(root, way, ward=[f"w{at}{i}" for i in range(5)], n=[10 * at + i for i in range(5)])
    for path in sorted(root.glob("**/*.parquet")):
        year, month = (part.partition("=")[2] for part in path.relative_to(root).parts[:2])
        for ward, n in zip(*pq.ParquetFile(path).read().to_pydict().values(), strict=True):
            rows.append((ward, n, year, None if month == HIVE else month))
    return root, rows


def told(table):
    return list(zip(*(table[name].to_pylist() for name in ("ward", "n", "year", "month")), strict=True))


def test_a_lake_is_released_whole_in_pieces_and_in_a_ledger_with_its_folders(tmp_path, monkeypatch):
    """At epsilon 60 the noise is 0 but once in 10^26 cells: rows, their order and the columns are those of the lake.

    DuckDB answers where the table is not read in pieces; `[12]` is no pattern to it.
    """
    pytest.importorskip("duckdb")
    set_sizes(monkeypatch, parquet_rows=2)
    root, rows = counts_in(tmp_path)
    made = ut.release(files.large_pieces(root), ut.Promise(**SAY), epsilon=60, once=True)
    with (tmp_path / "out.parquet").open("wb") as file:
        files.write(made.table, file, tmp_path / "out.parquet")
    found = pq.ParquetFile(tmp_path / "out.parquet").read()
    assert found.column_names == ["ward", "n", "n_margin", "year", "month"]
    assert told(found) == rows
    assert told(ut.release(root, ut.Promise(**SAY), epsilon=60, once=True).table.to_arrow_table()) == rows
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        assert told(ledger.publish("a", root, ut.Promise(**SAY), epsilon=60).table.to_arrow_table()) == rows


def test_a_column_in_folders_is_declared_like_any_other(tmp_path):
    root, _ = counts_in(tmp_path)
    with pytest.raises(NotDeclared, match="declared"):
        ut.release(files.large_pieces(root), ut.Promise(**{**SAY, "public": "ward"}), epsilon=1, once=True)
    made = ut.release(
        files.large_pieces(root), ut.Promise(**{**SAY, "public": "ward"}, drop=["year", "month"]), epsilon=1, once=True
    )
    assert made.table.names == ["ward", "n", "n_margin"]


def test_counts_in_folders_are_read_as_a_table_of_cells(tmp_path):
    for ward in "AB":
        laid(tmp_path / "lake", f"ward={ward}", admitted=[ord(ward)], applicants=[100])
    (tmp_path / "d.json").write_text(json.dumps({"ward": ["A", "B"], "outcome": ["yes", "no"]}))
    asked = ["count", str(tmp_path / "lake"), "--nested", "outcome=admitted,applicants", "--at-most", "1"]
    asked += ["--domain", str(tmp_path / "d.json"), "--out", str(tmp_path / "c.json")]
    assert called(*asked).returncode == 0
    assert json.loads((tmp_path / "c.json").read_text())["cells"] == [65, 35, 66, 34]


def test_a_key_that_is_a_column_is_left_to_the_files(tmp_path):
    """Each row says its own cell, and the folders are not asked; DuckDB's own reading would be theirs."""
    pytest.importorskip("duckdb")
    laid(tmp_path, "year=2020/k=a", ward=["w0", "w1"], year=[2019, 2020], n=[1, 2])
    assert read(tmp_path).to_pydict() == {"ward": ["w0", "w1"], "year": [2019, 2020], "n": [1, 2], "k": ["a", "a"]}
    say = SAY | {"public": ["ward", "year", "k"]}
    assert ut.release(tmp_path, **asked(epsilon=60, **say), once=True).table.to_arrow_table()["year"].to_pylist() == [
        2019,
        2020,
    ]


WAYS = {
    "unequal depth": (["person=ann/year=1", "person=bob"], "'person' and 'person', 'year'"),
    "a file and folders": (["person=ann", ""], "none and|'person' and none"),
    "other keys": (["person=ann", "user=ann"], "'user' and 'person'"),
    "another order": (["a=1/person=ann", "person=ann/a=1"], "'person', 'a' and 'a', 'person'"),
    "a key twice": (["person=ann/person=ann"], "'person' twice"),
    "another case": (["person=ann/PERSON=ann"], "more than upper and lower case"),
    "a column in another case": (["N=ann"], "more than upper and lower case"),
    "bytes that are no text": (["person=ann%FF"], "UTF-8"),
}


@pytest.mark.parametrize("case", WAYS)
def test_files_whose_folders_make_no_table_are_refused_without_a_cell(tmp_path, case):
    ways, said = WAYS[case]
    for way in ways:
        laid(tmp_path, way, n=[1])
    for door in (
        ParquetPieces.of,
        files.table_or_relation,
        lambda root: count_keys(root, person="n", column="k", at_most=1),
    ):
        with pytest.raises(BadTable, match=said) as error:
            door(tmp_path)
        assert "ann" not in str(error.value)


def test_names_of_folders_that_are_no_text_are_refused(tmp_path):
    folder = os.fsencode(tmp_path) + b"/person=ann\xff"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("names are text on this file system")
    path = laid(tmp_path, "", "other.PARQUET", n=[1])
    os.rename(os.fsencode(path), folder + b"/part-0.parquet")
    with pytest.raises(BadTable, match="Arrow cannot read") as error:
        ParquetPieces.of(tmp_path)
    assert "=ann" not in str(error.value)


def test_a_damaged_file_is_told_by_its_number_and_not_by_its_cells(tmp_path):
    laid(tmp_path, "person=ann", n=[1])
    broken = laid(tmp_path, "person=bob", n=[1])
    content = broken.read_bytes()
    broken.write_bytes(b"no Parquet")
    with pytest.raises(BadTable, match=r"person=\.\.\./part-0\.parquet, file 2 of 2") as error:
        ParquetPieces.of(tmp_path)
    assert "bob" not in str(error.value)
    broken.write_bytes(content)
    pieces = ParquetPieces.of(tmp_path)
    broken.write_bytes(content[:4] + b"\xff" * 40 + content[44:])
    for rows in (pieces.pieces(), pieces.batches(["n", "person"], 10)):
        with pytest.raises(BadTable, match="file 2 of 2"):
            list(rows)
    laid(tmp_path, "person=bob", m=[1])
    with pytest.raises(BadTable, match="same columns") as error:
        ParquetPieces.of(tmp_path)
    assert "bob" not in str(error.value)


def test_folders_without_a_key_and_those_above_say_nothing(tmp_path):
    """A plain folder is no column, a file is read without its folders, and "_" hides no folder with a key."""
    path = laid(tmp_path, "2020/_k=a/=b", n=[1])
    laid(tmp_path, "_temporary/_k=a", n=[2])
    laid(tmp_path, ".k=a", n=[2])
    assert read(tmp_path).to_pydict() == {"n": [1], "_k": ["a"]}
    assert read(path).to_pydict() == {"n": [1]}
    assert read(tmp_path / "2020" / "_k=a").to_pydict() == {"n": [1]}


def test_a_long_cell_takes_no_memory_for_each_row(tmp_path):
    path = laid(tmp_path, f"k={'x' * 200}", n=[1])
    column = FolderColumns.of(tmp_path, [path], ["n"]).column("k", 0, 1 << 20)
    assert column.nbytes < (4 << 20) + 1000


def test_duckdb_takes_names_of_files_as_they_are(tmp_path):
    """A star in a name is no pattern: each file is read once."""
    duckdb = pytest.importorskip("duckdb")
    for name in ("a*.parquet", "ab.parquet", "a[b].parquet", "a?.parquet"):
        laid(tmp_path, "", name, n=[1])
    assert isinstance(files.table_or_relation(tmp_path), duckdb.DuckDBPyRelation)
    assert len(files.table_or_relation(tmp_path).fetchall()) == 4


def test_a_column_that_hides_the_number_of_a_file_is_refused(tmp_path):
    pytest.importorskip("duckdb")
    laid(tmp_path, "k=a", File_Index=[0])
    with pytest.raises(Unsupported, match="file_index"):
        files.table_or_relation(tmp_path)
