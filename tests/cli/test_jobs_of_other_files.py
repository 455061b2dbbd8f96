"""Jobs whose data come in other ways than one CSV file: folders, times with zones, several files, renamed columns."""

import json
import os
import shlex
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from running import new_ledger

COUNTED = ["--each-row", "--by", "region", "--domain", "d.json", "--epsilon", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of two Parquet files, the same rows as CSV, and their domain."""
    monkeypatch.chdir(tmp_path)
    regions = ["Nord", "Süd", "Süd", "Öst"] * 25
    (tmp_path / "lake").mkdir()
    for name, part in (("a", regions[:30]), ("b", regions[30:])):
        parquet.write_table(pa.table({"region": part}), tmp_path / "lake" / f"{name}.parquet")
    (tmp_path / "e.csv").write_text("region\n" + "\n".join(regions) + "\n", encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps({"region": ["Nord", "Süd", "Öst"]}))
    return tmp_path


@pytest.mark.parametrize("out", [(), ("--out", "o.csv"), ("--out", "o.xlsx"), ("--out", "o.parquet")])
def test_counts_of_a_folder_are_written_in_any_format(run, folder, out):
    """The counts are a small table, whatever the events are; only released cells keep the format of a folder."""
    code, _, err = run("release", "lake", *COUNTED, *out)
    assert code == 0, err
    if not out:
        code, _, err = run("release", "lake", "--columns", "region", "--sensitivity", "1", "--epsilon", "1")
        assert code == 2


def test_counts_of_a_folder_are_kept_in_a_ledger_and_relaxed(run, folder):
    kept = ["--ledger", new_ledger("r.db"), "--name", "v"]
    assert run("release", "lake", *COUNTED, *kept, "--out", "o.csv")[0] == 0
    code, _, err = run("relax", "lake", *COUNTED[:-1], "2000", *kept, "--yes", "--out", "o2.csv")
    assert code == 0, err
    assert (folder / "o2.csv").read_text(encoding="utf-8").splitlines()[1] == "Nord,25,0"
    code, _, err = run("relax", "lake", *kept, "--epsilon", "3000", "--yes", "--out", "o3.csv")
    assert (code, "a folder of files needs --person or --each-row" in err) == (2, True), err


@pytest.mark.parametrize("time", ["2026-10-25T00:30:00+00:00", "2026-10-25 02:30:00Z", "2026-10-25T02:30+0200"])
def test_a_time_with_a_zone_names_the_zone_that_the_axis_needs(run, folder, time):
    """As text and as a column of instants; with the zone that the refusal names it is counted by the clock there."""
    (folder / "t.csv").write_text(f"at\n{time}\n")
    days = {"periods": ["2026-10-24", "2026-10-27"], "every": "day"}
    (folder / "at.json").write_text(json.dumps({"at": days}))
    code, _, err = run("count", "t.csv", "--each-row", "--by", "at", "--domain", "at.json")
    assert (code, '"zone": "' in err) == (1, True), err
    (folder / "at.json").write_text(json.dumps({"at": {**days, "zone": "Europe/Paris"}}))
    code, out, err = run("count", "t.csv", "--each-row", "--by", "at", "--domain", "at.json")
    assert (code, "2026-10-25,1" in out) == (0, True), err


def test_text_that_is_no_time_is_not_said_to_have_a_zone(run, folder):
    (folder / "t.csv").write_text("at\nOctober 25\n")
    (folder / "at.json").write_text(json.dumps({"at": {"periods": ["2026-10-24", "2026-10-27"], "every": "day"}}))
    code, _, err = run("count", "t.csv", "--each-row", "--by", "at", "--domain", "at.json")
    assert (code, "zone" in err) == (1, False), err


def test_a_nested_cell_is_refused_by_a_name_that_people_know(run, folder):
    """JSON lines with records: ignored, unless an axis needs them."""
    lines = [{"region": "Nord", "geo": {"place": "x"}, "tags": ["a"]}, {"region": "Süd"}]
    (folder / "n.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    code, out, err = run("count", "n.jsonl", "--each-row", "--by", "region", "--domain", "d.json")
    assert (code, "Nord,1" in out) == (0, True), err
    for column in ("geo", "tags"):
        (folder / "g.json").write_text(json.dumps({column: ["x"]}))
        code, _, err = run("count", "n.jsonl", "--each-row", "--by", column, "--domain", "g.json")
        assert (code, "got a nested cell (a list or a record). Write the values that you want" in err) == (1, True), err


def test_several_files_are_refused_with_the_way_to_join_them(run, folder):
    code, _, err = run("release", "e.csv", "e.csv", *COUNTED)
    assert (code, "unexpected extra argument (e.csv)." in err) == (2, True)


def test_a_column_that_was_renamed_over_night_is_named(run, folder):
    text = (folder / "e.csv").read_text(encoding="utf-8")
    (folder / "e.csv").write_text(text.replace("region", "Region_Name", 1), encoding="utf-8")
    code, _, err = run("release", "e.csv", *COUNTED)
    assert (code, "Did you mean 'Region_Name'?" in err) == (1, True)


@pytest.mark.parametrize(("content", "code"), [("region\n", 0), ("", 1), ("region\nSüd\n", 0)])
def test_a_day_without_events_and_a_day_with_one(run, folder, content, code):
    """Every declared cell is published; a file without a header is no day."""
    (folder / "e.csv").write_text(content, encoding="utf-8")
    got, _, err = run("release", "e.csv", *COUNTED, "--out", "o.csv")
    assert got == code, err
    assert (folder / "o.csv").exists() is (code == 0)
    if code == 0:
        assert len((folder / "o.csv").read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.skipif(os.name == "nt", reason="a shell closes streams")
def test_a_job_without_standard_error_and_input_is_done(folder):
    """A daemon may close them: the notes are lost, the answer is written, the exit code is 0."""
    command = [sys.executable, "-m", "utmost", "release", "e.csv", *COUNTED, "--out", "o.csv"]
    (folder / "e.csv").write_text("region\nAtlantis\nNord\n", encoding="utf-8")  # with a warning
    done = subprocess.run(f"{shlex.join(command)} 2>&- 0<&-", shell=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done
    assert (folder / "o.csv.json").exists()


def test_a_missing_file_of_a_month_is_not_mistaken_for_another_months(run, folder):
    (folder / "visits-2026-10.csv").write_text("n\n1\n", encoding="utf-8")
    for name, is_suggested in (("visits-2026-12.csv", False), ("visit-2026-10.csv", True)):
        code, _, err = run("release", name, *COUNTED)
        assert (code, "Did you mean" in err) == (1, is_suggested), err
