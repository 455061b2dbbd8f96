"""Responses kept beside a ledger: only what was answered, whole or not at all, and the same after every failure."""

import json
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import utmost as ut
from utmost.errors import DataChanged, LedgerDamaged, NeedsTable, NotPublished, Unsupported
from utmost.exact import level
from utmost.ledger import Ledger, ResponseFolder, check_responses

duckdb = pytest.importorskip("duckdb")

KEY = bytes(range(32))
SAY = {"columns": "n", "public": "id", "id_column": "id", "unit": ut.Unit(1, 1)}
ROWS = 3000


def table(con):
    return con.sql(f"SELECT 'cell ' || i AS id, i % 31 AS n FROM range({ROWS}) r(i)")


def opened(place, name="a", **more):
    return Ledger.open(f"{place}/{name}.db", create=True, key=KEY, **({"witness": False} | more))


def rows_of(files):
    return sorted((row["id"], row["n"]) for file in files for row in pq.read_table(file).to_pylist())


@pytest.fixture
def kept(tmp_path):
    """A ledger with a release at two levels, the lower one kept; and the relation of its values."""
    con = duckdb.connect()
    with opened(tmp_path) as ledger:
        folder = ResponseFolder(ledger, tmp_path / "responses")
        folder.keep("visits", ledger.publish("visits", table(con), ut.Promise(**SAY), epsilon=1).table, epsilon=1)
        yield ledger, folder, con


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_files_do_not_show_where_a_filter_removed_rows(engine, tmp_path):
    """Rows that nobody sees lay before, between or behind the released ones: the files are the same to the byte."""
    contents = []
    opened(tmp_path, "empty").close()
    for at, gone in enumerate((0, 1200, 2900)):
        ids = [f"cell {i}" for i in range(ROWS)]
        ids[gone:gone] = [f"gone {i}" for i in range(100)]
        source = tmp_path / f"{at}.parquet"
        pl.DataFrame({"id": ids, "n": [i % 31 for i in range(len(ids))]}).with_columns(
            n=pl.when(pl.col("id").str.starts_with("gone")).then(None).otherwise(pl.col("id").str.len_chars())
        ).write_parquet(source, row_group_size=500)
        frame = pl.scan_parquet(source).filter(pl.col("n").is_not_null())
        if engine == "duckdb":
            frame = duckdb.connect().sql(f"SELECT * FROM read_parquet('{source}') WHERE n IS NOT NULL")
        copy = shutil.copy(tmp_path / "empty.db", tmp_path / f"copy{at}.db")  # of one identity, so of one noise
        with Ledger.open(copy, key=KEY, witness=False) as ledger:
            folder = ResponseFolder(ledger, tmp_path / f"responses{at}")
            folder.keep("visits", ledger.publish("visits", frame, ut.Promise(**SAY), epsilon=1), epsilon=1)
            contents.append([Path(file).read_bytes() for file in folder.files("visits", epsilon=1)])
    groups = {pq.read_metadata(file).num_row_groups for file in tmp_path.glob("responses*/**/*.parquet")}
    assert groups == {1}
    assert contents[0] == contents[1] == contents[2]


def test_what_is_kept_is_what_was_answered_and_relaxes_without_the_values(kept):
    """From the files of one level the next, in either engine, as from the values; nothing is written twice."""
    ledger, folder, con = kept
    assert rows_of(folder.files("visits", epsilon=1)) == sorted(
        ledger.publish("visits", table(con), ut.Promise(**SAY), epsilon=1).table.project("id, n").fetchall()
    )
    assert folder.missing() == ()
    lower = con.read_parquet(folder.files("visits", epsilon=1))
    higher = ledger.relax("visits", lower, table_at=1, epsilon=3).table
    assert folder.missing() == (("visits", 1, level(3)),)
    place = folder.keep("visits", higher, epsilon=3)
    wanted = sorted(ledger.relax("visits", table(con), epsilon=3).table.project("id, n").fetchall())
    assert rows_of(folder.files("visits", epsilon=3)) == wanted
    before = {one: one.stat().st_mtime_ns for one in place.iterdir()}
    assert folder.keep("visits", higher, epsilon=3) == place
    assert {one: one.stat().st_mtime_ns for one in place.iterdir()} == before
    between = ledger.view(
        "visits", table=pl.scan_parquet(folder.files("visits", epsilon=3)), table_at=3, epsilon=2
    ).table
    folder.keep("visits", between, epsilon=2)
    assert folder.verify() == 3 * ROWS
    assert check_responses(ledger, "visits", between, epsilon=2) == ROWS


def lazily_changed(engine, place):
    """A lazy frame over files or a table, and what changes one value of it behind its back."""
    if engine == "polars":
        path = place / "values.parquet"
        write = lambda n: pl.DataFrame({"id": ["a", "b", "c"], "n": n}).write_parquet(path)  # noqa: E731
        write([5, 6, 7])
        return pl.scan_parquet(path), lambda: write([5, 9, 7])
    con = duckdb.connect()
    con.sql("CREATE TABLE t AS SELECT * FROM (VALUES ('a', 5), ('b', 6), ('c', 7)) v(id, n)")
    return con.sql("SELECT * FROM t"), lambda: con.execute("UPDATE t SET n = 9 WHERE id = 'b'")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_source_that_changed_after_publication_is_not_kept_and_what_is_kept_stands_still(engine, tmp_path):
    """The lazy answer shows the change exactly, with one noise; files are compared with the commitment before they have
    a name, and read on without the source."""
    frame, change = lazily_changed(engine, tmp_path)
    with opened(tmp_path) as ledger:
        folder = ResponseFolder(ledger, tmp_path / "responses")
        lower = ledger.publish("visits", frame, ut.Promise(**SAY), epsilon=1).table
        folder.keep("visits", lower, epsilon=1)
        first = rows_of(folder.files("visits", epsilon=1))
        higher = ledger.relax("visits", frame, epsilon=2).table
        change()
        with pytest.raises(DataChanged):
            folder.keep("visits", higher, epsilon=2)
        kept_at = folder.path.rglob("*")
        assert sorted(one.name for one in kept_at if one.is_file()) == ["manifest.json", "part-00000.parquet"]
        assert folder.missing() == (("visits", 1, level(2)),)
        lower = lower.collect().rows_by_key("id") if engine == "polars" else None
        if lower is not None:
            moved = {name: lower[name][0][0] - n for name, n in first}
            assert moved == {"a": 0, "b": 3, "c": 0}
        assert rows_of(folder.files("visits", epsilon=1)) == first
        from_files = pl.scan_parquet(folder.files("visits", epsilon=1))
        folder.keep("visits", ledger.relax("visits", from_files, table_at=1, epsilon=2).table, epsilon=2)
        assert folder.missing() == ()
        assert folder.verify() == 6


def test_anything_else_is_not_kept_and_leaves_nothing(kept):
    ledger, folder, con = kept
    higher = ledger.relax("visits", table(con), epsilon=2).table
    lower = con.read_parquet(folder.files("visits", epsilon=1))
    for wrong in (table(con), lower, higher.limit(ROWS - 1), higher.union(higher.limit(1))):
        with pytest.raises(DataChanged):
            folder.keep("visits", wrong, epsilon=2)
        with pytest.raises(NeedsTable):
            folder.files("visits", epsilon=2)
    assert [one.name[:1] for one in (folder.path).glob("*/*/*")] == ["1"]
    with pytest.raises(DataChanged):
        check_responses(ledger, "visits", table(con), epsilon=1)
    with pytest.raises(NeedsTable, match="answered"):
        folder.keep("visits", higher, epsilon=4)
    with pytest.raises(NotPublished):
        folder.keep("others", higher, epsilon=1)
    other = ledger.publish("visits of others", table(con), ut.Promise(**SAY), epsilon=3, independent=True)
    ledger.relax("visits", table(con), epsilon=3)
    with pytest.raises(DataChanged):
        folder.keep("visits", other, epsilon=3)
    with pytest.raises(NeedsTable, match="answered"):
        folder.keep("visits", other, epsilon=4)
    assert folder.keep("visits of others", other, epsilon=3).is_dir()
    with pytest.raises(Unsupported, match="lazy frame"):
        folder.keep("visits", ledger["visits"], epsilon=3)
    ledger.publish(
        "kept", {"id": ["a", "b"], "n": [1, 2]}, ut.Promise(**SAY, keyed_by_id=True), epsilon=1, independent=True
    )
    with pytest.raises(Unsupported, match="must not be stored"):
        folder.keep("kept", higher, epsilon=1)


def test_nothing_goes_to_recipients_beside_an_answer(kept):
    """Neither a column more, be it the true values, nor a column of margins that holds something else."""
    ledger, folder, con = kept
    higher = ledger.relax("visits", table(con), epsilon=2).table
    for more, said in (("*, 31 AS n_true", "'n_true'"), ("* REPLACE (n_margin + n % 2 AS n_margin)", "n_margin")):
        with pytest.raises(DataChanged, match=said):
            folder.keep("visits", higher.project(more), epsilon=2)
    assert [one.name[:1] for one in (folder.path).glob("*/*/*")] == ["1"]
    folder.keep("visits", higher.project("n, id"), epsilon=2)


def test_a_folder_whose_manifest_is_gone_is_named(kept):
    ledger, folder, con = kept
    (file,) = map(Path, folder.files("visits", epsilon=1))
    (file.parent / "manifest.json").unlink()
    with pytest.raises(LedgerDamaged, match="manifest; got none"):
        folder.keep("visits", ledger.publish("visits", table(con), ut.Promise(**SAY), epsilon=1).table, epsilon=1)


def test_files_that_changed_are_found(kept):
    _, folder, _ = kept
    (file,) = map(Path, folder.files("visits", epsilon=1))
    manifest, before = file.parent / "manifest.json", file.read_bytes()
    pq.write_table(pq.read_table(file).slice(1), file)
    with pytest.raises(LedgerDamaged, match="must be unchanged"):
        folder.verify()
    said = json.loads(manifest.read_text())
    said["files"][0]["sha256"] = sha256(file.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(said))
    with pytest.raises(DataChanged):
        folder.verify()
    file.write_bytes(before)
    names = ("../x.parquet", "", "..", "manifest.json")
    files = [{"files": [{"name": name, "sha256": "0" * 64}]} for name in names]
    files.append({"files": said["files"] * 2})  # whose rows would be read twice
    for wrong in ({"level": "2"}, {"release": "00"}, *files, {"files": [{"name": "x.parquet", "sha256": ""}]}):
        manifest.write_text(json.dumps(said | wrong))
        with pytest.raises(LedgerDamaged, match="manifest"):
            folder.files("visits", epsilon=1)
    manifest.write_text("[" * 100_000)
    with pytest.raises(LedgerDamaged, match="manifest"):
        folder.files("visits", epsilon=1)


KILLED = """
import os, signal, sys
from hashlib import sha256
from pathlib import Path
import duckdb
from utmost.ledger import Ledger, ResponseFolder

# Where a driver is killed.
from utmost.publish.ledger import event_log, response_folder
here, point, call = sys.argv[1:]

def killing(place, name, before):
    real = getattr(place, name)
    def killed(*given, **more):
        if not before:
            real(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(place, name, killed)

con = duckdb.connect()
table = con.sql("SELECT 'cell ' || i AS id, i % 31 AS n FROM range(3000) r(i)")
say = dict(columns="n", public="id", id_column="id", unit=ut.Unit(1, 1))
with Ledger.open(f"{here}/a.db", key=bytes(range(32))) as ledger:
    folder = ResponseFolder(ledger, Path(here) / "responses")
    points = {
        "before the commit": (event_log.Transaction, "write_down", True),
        "after the commit": (event_log.EventLog, "answer", False),
        "between two writes of a half-written release": (response_folder, "_digest", True),
        "before the rename": (response_folder.os, "replace", True),
        "after the rename": (response_folder.os, "replace", False),
    }
    if call == "relax":
        lower = con.read_parquet(folder.files("visits", epsilon=1))
    killing(*points[point])
    if call == "publish":
        made = ledger.publish("visits", table, **say, epsilon=1, request="monday").table
        folder.keep("visits", made, epsilon=1)
    else:
        folder.keep("visits", ledger.relax("visits", lower, table_at=1, epsilon=2), epsilon=2)
"""
POINTS = [
    "before the commit",
    "after the commit",
    "between two writes of a half-written release",
    "before the rename",
    "after the rename",
]


def killed_at(point, call, place):
    made = subprocess.run([sys.executable, "-c", KILLED, place, point, call], capture_output=True, text=True)
    assert made.returncode == -signal.SIGKILL, made.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are not killed so here")
@pytest.mark.parametrize("point", POINTS)
def test_a_driver_that_is_killed_is_run_again_and_says_the_same(tmp_path, point):
    """At exact points of both calls: nothing half-written is seen, the values are those of an undisturbed run."""
    (tmp_path / "there").mkdir()
    con = duckdb.connect()
    with opened(tmp_path / "there") as there:
        wanted = {
            1: sorted(
                there.publish("visits", table(con), ut.Promise(**SAY), epsilon=1).table.project("id, n").fetchall()
            ),
            2: sorted(there.relax("visits", table(con), epsilon=2).table.project("id, n").fetchall()),
        }
    opened(tmp_path, witness=None).close()
    for call, at in (("publish", 1), ("relax", 2)):
        killed_at(point, call, tmp_path)
        with opened(tmp_path, witness=None) as ledger:
            folder = ResponseFolder(ledger, tmp_path / "responses")
            assert folder.verify() == ROWS * (at - 1 + (point == "after the rename"))
            if call == "publish":
                made = ledger.publish("visits", table(con), ut.Promise(**SAY), epsilon=1, request="monday").table
            else:
                lower = con.read_parquet(folder.files("visits", epsilon=1))
                made = ledger.relax("visits", lower, table_at=1, epsilon=2).table
            folder.keep("visits", made, epsilon=at)
            assert rows_of(folder.files("visits", epsilon=at)) == sorted(made.project("id, n").fetchall()) == wanted[at]
            assert folder.missing() == ()
            assert folder.verify() == at * ROWS
            assert ledger.spent("visits") == level(at)
            assert len(ledger.history("visits")) == at
            assert not list(folder.path.glob("**/*.part"))
