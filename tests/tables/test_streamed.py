"""Files larger than memory: the release of a file in pieces is the release of the file, and nothing half is left."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import utmost as ut
from asking import asked
from running import called
from small_sizes import set_sizes
from utmost import Unit
from utmost.errors import BadTable, NotDeclared, Unsupported

# Every file is made a large one here, and every piece small.
# A small file is read as one larger than memory.
from utmost.publish.releases import streamed
from utmost.tables.engines import engine_frames
from utmost.tables.files import files

ONE = pa.schema({"n": pa.int64()})
SAY = {"columns": "visits", "public": "ward", "id_column": "ward", "unit": Unit(1, 1), "epsilon": 1}
ROWS = 5000


def wards(rows=ROWS):
    return pd.DataFrame({"ward": [f"w{i}" for i in range(rows)], "visits": [i % 97 for i in range(rows)]})


def as_parquet(frame, place):
    frame.to_parquet(place / "wards.parquet", row_group_size=700, index=False)
    return place / "wards.parquet"


def as_directory(frame, place):
    lake = place / "lake"
    (lake / "b").mkdir(parents=True)
    frame[:2000].to_parquet(lake / "a.parquet", index=False)
    frame[2000:].to_parquet(lake / "b" / "c.parquet", index=False)
    (lake / "_metadata.parquet").write_bytes(b"none of ours")
    for attempt in ("_temporary", ".part", "rows.parquet"):  # a job that did not end, and one that wrote nothing
        (lake / attempt).mkdir()
    frame[:7].to_parquet(lake / "_temporary" / "part-0.parquet", index=False)
    frame[:7].to_parquet(lake / ".part" / "part-0.parquet", index=False)
    return lake


def as_csv(frame, place):
    frame.to_csv(place / "wards.csv", index=False)
    return place / "wards.csv"


def as_odd_csv(frame, place):
    """One that is not read in blocks: its lines end in two ways."""
    path = as_csv(frame, place)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n", 3))
    return path


KINDS = [as_parquet, as_directory, as_csv, as_odd_csv]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Every file is large, and every piece small."""
    set_sizes(monkeypatch, large_file=0, parquet_rows=999)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def written(release, path):
    with path.open("w+b") as file:
        files.write(release.table, file, path)
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def out_of(path):
    return path.with_name("out.csv" if path.suffix == ".csv" else "out.parquet")


def test_pieces_give_the_rows_the_columns_and_the_noise_of_a_release(kind, tmp_path):
    """Rows in their order, margins behind, and noise with the distribution's frequencies, within seven deviations."""
    path = kind(wards(), tmp_path)
    made = ut.release(files.large_pieces(path), **asked(**SAY), once=True)
    found = written(made, out_of(path))
    assert list(found) == ["ward", "visits", "visits_margin"] == made.table.names
    assert found["ward"].tolist() == wards()["ward"].tolist()
    assert (found["visits_margin"] == made.margin()).all()
    noise = (found["visits"] - wards()["visits"]).to_numpy()
    for x in range(-2, 3):
        p = float(made.distribution.pmf(x))
        assert abs((noise == x).sum() - ROWS * p) < 7 * (ROWS * p * (1 - p)) ** 0.5
    assert made.table.shown == [[str(cell) for cell in row] for row in found.head(100).itertuples(index=False)]


def test_row_groups_of_a_released_file_are_not_those_of_the_true_one(tmp_path):
    """A program that wrote the true file may have ended a group where it removed rows."""
    path = as_parquet(wards(), tmp_path)
    assert pq.read_metadata(path).num_row_groups == 8
    written(ut.release(files.large_pieces(path), **asked(**SAY), once=True), out_of(path))
    assert pq.read_metadata(out_of(path)).num_row_groups == 1


def test_metadata_of_nested_fields_are_not_released(tmp_path):
    """A table in memory loses them, too."""
    noted = pa.field("a", pa.int64(), metadata={"largest": "9"})
    kinds = {"ward": pa.string(), "pair": pa.struct([noted]), "list": pa.list_(noted), "visits": pa.int64()}
    rows = [{"ward": "a", "pair": {"a": 1}, "list": [2], "visits": 3}, {"ward": "b", "list": [], "visits": 4}]
    path = tmp_path / "wards.parquet"
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(kinds)), path)
    say = SAY | {"public": ["ward", "pair", "list"]}
    written(ut.release(files.large_pieces(path), **asked(**say), once=True), out_of(path))
    found = pq.read_table(out_of(path))
    assert [row | {"visits": 0} for row in found.drop_columns("visits_margin").to_pylist()] == [
        {"pair": None} | row | {"visits": 0} for row in rows
    ]
    nested = found.schema.field("pair").type.field(0), found.schema.field("list").type.value_field
    assert [field.metadata for field in nested] == [None, None]


def test_rows_are_cut_into_batches_of_equal_size(monkeypatch):
    monkeypatch.setattr(engine_frames, "_ROWS", 4)
    for sizes in ([3, 3, 0, 5], [11], [1] * 11):
        column = iter(range(11))
        batches = [pa.record_batch({"n": [next(column) for _ in range(size)]}, ONE) for size in sizes]
        cut = list(engine_frames.even_batches(iter(batches), ONE))
        assert [batch.num_rows for batch in cut] == [4, 4, 3]
        assert [cell for batch in cut for cell in batch["n"].to_pylist()] == list(range(11))
    assert list(engine_frames.even_batches(iter([]), ONE)) == []


def test_a_release_in_pieces_says_what_a_release_says(kind, tmp_path):
    path = kind(wards(), tmp_path)
    made, whole = (
        ut.release(files.large_pieces(path), **asked(**SAY), once=True),
        ut.release(wards(), **asked(**SAY), once=True),
    )
    assert made.statement_with(None) == whole.statement_with(None)


WRONG = {
    "a null": ({"visits": [1] * 4999 + [None]}, BadTable, "row 5000"),
    "a fraction": ({"visits": [1] * 4998 + [1.5, 2]}, BadTable, "row 4999"),
    "an identifier twice": ({"ward": [f"w{i}" for i in range(4999)] + ["w0"]}, BadTable, "distinct"),
    "a missing identifier": ({"ward": [f"w{i}" for i in range(4999)] + [None]}, BadTable, "identifier"),
    "a copy": ({"ward": [str(i % 97) for i in range(ROWS)]}, BadTable, "repeat"),
    "a silent column": ({"more": [1] * ROWS}, NotDeclared, "declared"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_released_is_refused_in_the_first_pass(kind, tmp_path, case):
    change, error, said = WRONG[case]
    path = kind(wards().assign(**change), tmp_path)
    say = SAY | ({"id_column": None} if case == "a copy" else {})
    with pytest.raises(error, match=said):
        ut.release(files.large_pieces(path), **asked(**say), once=True)


def test_a_file_that_changes_between_the_passes_is_not_released(kind, tmp_path):
    path = kind(wards(), tmp_path)
    made = ut.release(files.large_pieces(path), **asked(**SAY), once=True)
    as_directory(wards()[:4000], tmp_path / "other")
    if path.is_dir():
        (path / "b" / "c.parquet").unlink()
        wards()[2000:2100].to_parquet(path / "b" / "c.parquet", index=False)
    elif path.suffix == ".csv":
        as_csv(wards()[:4000], tmp_path)
    else:
        as_parquet(wards()[:4000], tmp_path)
    with pytest.raises(BadTable, match="must not change"):
        written(made, out_of(path))


def test_a_file_with_as_many_other_rows_is_not_released(kind, tmp_path):
    """What was checked was another file: its identifiers may come twice now, and its public cells be the true ones."""
    path = kind(wards(), tmp_path)
    made = ut.release(files.large_pieces(path), **asked(**SAY), once=True)
    changed = path / "a.parquet" if path.is_dir() else path
    changed.write_bytes(changed.read_bytes())
    with pytest.raises(BadTable, match="another file"):
        written(made, out_of(path))


def test_a_release_in_pieces_is_written_once(kind, tmp_path):
    """A second file would have other noise, and the epsilon of one release."""
    path = kind(wards(), tmp_path)
    made = ut.release(files.large_pieces(path), **asked(**SAY), once=True)
    written(made, out_of(path))
    again = out_of(path).with_stem("again")
    with pytest.raises(Unsupported, match="Copy"):
        written(made, again)
    assert not again.read_bytes()


def test_categories_that_no_row_has_are_not_written(tmp_path):
    frame = wards()
    frame["ward"] = pd.Categorical(frame["ward"], categories=[*frame["ward"], "secret"])
    path = as_parquet(frame, tmp_path)
    written(ut.release(files.large_pieces(path), **asked(**SAY), once=True), out_of(path))
    assert b"secret" not in out_of(path).read_bytes()


def test_files_of_one_directory_have_the_same_columns(tmp_path):
    lake = as_directory(wards(), tmp_path)
    wards().assign(more=1).to_parquet(lake / "d.parquet")
    with pytest.raises(BadTable, match="same columns"):
        files.large_pieces(lake)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadTable, match="must contain"):
        files.large_pieces(tmp_path / "empty")
    with pytest.raises(Unsupported):
        files.check_same_kind(lake, tmp_path / "out.csv")


def test_reals_in_pieces(tmp_path):
    frame = wards().assign(visits=np.arange(ROWS) / 7)
    path = as_parquet(frame, tmp_path)
    made = ut.release(files.large_pieces(path), **asked(**SAY, numbers="reals"), once=True)
    found = written(made, out_of(path))
    assert np.abs(found["visits"] - frame["visits"]).max() < 60


def test_parquet_is_large_by_its_cells_where_that_is_asked(tmp_path, monkeypatch):
    """Packed to a few bytes, it is read in pieces from 2^27 bytes of cells on; text is as large as it is."""
    path = tmp_path / "packed.parquet"
    pq.write_table(pa.table({"ward": pa.array(np.zeros(5000, int)), "visits": pa.array(np.zeros(5000, int))}), path)
    for limit, is_large in ((8 * 2 * 5000, True), (8 * 2 * 5000 + 1, False)):
        assert path.stat().st_size < limit
        set_sizes(monkeypatch, large_file=limit)
        assert (files.large_pieces(path, by_cells=True) is not None) == is_large
        assert files.large_pieces(path) is None
    text = tmp_path / "few.csv"
    text.write_text("ward,visits\na,1\n")
    assert files.large_pieces(text, by_cells=True) is None


@pytest.mark.parametrize(("out", "is_pieces"), [("out.parquet", True), ("out.csv", False)])
def test_the_command_takes_packed_parquet_in_pieces_where_it_stays_parquet(tmp_path, monkeypatch, out, is_pieces):
    """Into another format it is read whole, as before."""
    path, taken, table = as_parquet(wards(), tmp_path), [], streamed.StreamedTable
    set_sizes(monkeypatch, large_file=8 * 2 * ROWS)
    monkeypatch.setattr(streamed, "StreamedTable", lambda *a: taken.append(1) or table(*a))
    what, promise = ["--columns", "visits"], ["--sensitivity", "1", "--cells", "1", "--epsilon", "1"]
    made = called("release", path, *what, "--public", "ward", *promise, "--out", tmp_path / out)
    assert made.returncode == 0, made.stderr
    assert bool(taken) == is_pieces
    assert len(pd.read_parquet(tmp_path / out) if is_pieces else pd.read_csv(tmp_path / out)) == ROWS


def test_packed_parquet_goes_into_a_ledger_by_item_without_being_read(tmp_path, monkeypatch):
    """By its cells it is a relation of DuckDB where noise goes by item; where it goes by rows, it is read."""
    pytest.importorskip("duckdb")
    path = as_parquet(wards(), tmp_path)
    set_sizes(monkeypatch, large_file=8 * 2 * ROWS)
    assert path.stat().st_size < files.LARGE
    assert type(files.table_or_relation(path)) is pa.Table
    relation = files.table_or_relation(path, by_item=True)
    assert type(relation).__name__ == "DuckDBPyRelation"
    assert relation.columns == ["ward", "visits"]
    set_sizes(monkeypatch, large_file=8 * 2 * ROWS + 1)
    assert type(files.table_or_relation(path, by_item=True)) is pa.Table


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """The peak at 8 million rows is that at half a million, within 30 MB."""
    code = (
        "import sys, pathlib, re; from utmost.tables.files import files; files.LARGE = 0\n"
        "import utmost as ut; from utmost import Promise, Unit\n"
        "promise = Promise('visits', public='ward', id_column='ward', unit=Unit(1, 1))\n"
        "path = pathlib.Path(sys.argv[1]); made = ut.release(files.large_pieces(path), promise, epsilon=1, once=True)\n"
        "out = path.with_suffix('.out.parquet')\n"
        "with out.open('w+b') as file: files.write(made.table, file, out)\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', pathlib.Path('/proc/self/status').read_text())[1])"
    )
    peaks = []
    for rows in (500_000, 8_000_000):
        path = tmp_path / f"{rows}.parquet"
        table = pa.table({"ward": pa.array(np.arange(rows)), "visits": pa.array(np.arange(rows) % 97)})
        pq.write_table(table, path, row_group_size=100_000)
        peaks.append(int(subprocess.check_output([sys.executable, "-c", code, path])))
    assert peaks[1] - peaks[0] < 30_000, peaks
