"""The ledger's commands: what they print, write and spend, and how they refuse."""

import csv
import io
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postgres import fresh_database
from running import changed, new_ledger, with_recipe

ROOT = Path(__file__).parents[2]
BERKELEY = str(ROOT / "examples/berkeley_admissions.csv")
UNIT = ["--sensitivity", "1", "--cells", "1"]
ADMITTED = [
    "--columns", "admitted", "--public", "department,sex", "--drop", "applicants", *UNIT, "--name", "admissions",
]  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def published(run):
    """A ledger with one release at 1/2; its options."""
    kept = ["--ledger", new_ledger("r.db"), "--out", "half.csv"]
    assert run("release", BERKELEY, *ADMITTED, "--epsilon", "1/2", *kept)[0] == 0
    return ["--ledger", "r.db"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def answers(text):
    return [int(row["admitted"]) for row in rows(text)]


def said(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, ""), err
    return json.loads(out)


@pytest.mark.parametrize("out", [["--out", "nowhere/a.csv"], ["--out", "a.parquet"], ["--format", "parquet"]])
def test_what_cannot_be_written_is_refused_before_anything_is_drawn(run, out, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    where = ["--ledger", "new.db"]
    code, printed, err = run(*with_recipe("release", BERKELEY, *ADMITTED, "--epsilon", "1/2", *where, *out))
    assert (code, printed, len(err.splitlines())) == (2, "", 1)
    assert not list(Path.cwd().iterdir())


def test_relaxing_and_viewing(run, published):
    code, out, err = run("relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "100", "--yes")
    assert code == 0
    assert answers(out) == [int(row["admitted"]) for row in rows(Path(BERKELEY).read_text())]
    assert "epsilon = 100, for all answers of this release" in err
    code, seen, _ = run("view", *published, "--name", "admissions", "--epsilon", "1/2")
    assert answers(seen) == answers(Path("half.csv").read_text())
    between = said(run, "view", *published, "--name", "admissions", "--epsilon", "alpha=1/3")
    again = said(run, "view", *published, "--name", "admissions", "--epsilon", "alpha=1/3")
    assert between["table"] == again["table"]
    assert between["statement"]["levels"] == ["1/2", "-log(1/3)", "100"]
    assert between["statement"]["together"]["epsilon"] == "100"


def test_dry_runs_draw_write_and_spend_nothing(run, published, tmp_path):
    """Each call that spends can be rehearsed: the budget after it is shown, and every file stays as it is."""
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = run("relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "2", "--dry-run")
    assert (code, err) == (0, "")
    assert "Nothing was drawn" in out
    assert "epsilon = 2" in out
    more = ["release", BERKELEY, "--columns", "applicants", "--drop", "department,sex,admitted", *UNIT]
    more += ["--name", "b", "--dataset", "admissions"]
    report = said(run, *more, "--epsilon", "1", *published, "--dry-run")
    assert report["after"] == {"dataset": "admissions", "limit": None, "spent": "3/2", "remaining": None}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_rehearsal_finds_what_a_release_would_find(run, published):
    Path("bad.csv").write_text("n\n1\nx\n")
    release = ["release", "bad.csv", "--columns", "n", *UNIT, "--epsilon", "1", "--name", "bad", *published]
    for more in ([], ["--dry-run"]):
        code, out, err = run(*release, *more)
        assert (code, out) == (1, "")
        assert "line 3" in err
    run("ledger", "budget", *published, "--dataset", "admissions", "--limit", "1")
    for more in ([], ["--dry-run"]):
        code, _, err = run("relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "2", *more)
        assert code == 4
        assert "must add up to at most epsilon = 1" in err
    assert said(run, "ledger", "status", *published)["releases"][0]["levels"] == ["1/2"]


def test_the_same_data_under_another_name_are_told(run, published):
    """Refused with the remedy, on one line; confirmed by --independent."""
    again = ["release", BERKELEY, *changed(ADMITTED, "--name", "copy"), "--epsilon", "1", *published]
    code, out, err = run(*again)
    assert (code, out) == (1, "")
    assert "holds the values of 'admitted' in 'admissions', version 1" in err
    assert "Confidential: column 'admitted' " in err
    assert "or independent = true in the recipe (--recipe FILE.toml) if nobody is in both datasets" in err
    assert run(*with_recipe(*again, "--independent", "--out", "copy.csv"))[0] == 0
    assert run(*with_recipe("release", BERKELEY, *ADMITTED, "--epsilon", "1", "--independent"))[0] == 2


def test_a_limit_that_no_release_spends_is_told(run, published):
    """When it is set, and to the release that forgets it, rehearsed or not."""
    code, _, err = run("ledger", "budget", *published, "--dataset", "admisions", "--limit", "3")
    assert code == 0
    assert "no release names dataset 'admisions' yet; the releases of this ledger name 'admissions'" in err
    Path("t.csv").write_text("n\n1\n2\n")
    release = ["release", "t.csv", "--columns", "n", *UNIT, "--epsilon", "1", "--name", "t", *published]
    for more in ([], ["--dry-run"]):
        code, _, err = run(*release, *more)
        assert code == 2
        assert "must name a dataset whose limit no release uses yet: 'admisions'" in err
    assert run(*with_recipe(*release, "--dry-run", "--independent"))[0] == 0
    release = ["release", "t.csv", "--epsilon", "1", "--name", "t", *published]
    for largest in (1, 2):
        promise = ["promise", "--columns", "n", *UNIT, "--largest", largest, "--out", f"{largest}.json"]
        assert run(*promise)[0] == 0
    assert run(*with_recipe(*release, "--promise", "1.json", "--independent"))[0] == 1
    assert run(*release, "--promise", "2.json", "--dataset", "admisions", "--out", "u.csv")[0] == 0


def test_a_spent_budget_has_an_exit_code_of_its_own(run, published):
    """A job tells it from a full disk."""
    assert run("ledger", "budget", *published, "--dataset", "admissions", "--limit", "1")[0] == 0
    asked = ["ledger", "charge", *published, "--dataset", "admissions", "--what", "a poll", "--epsilon", "9"]
    assert run(*asked, "--json")[0] == 4
    assert run("ledger", "status", "--ledger", "none.db")[0] == 1


def test_budgets(run, published):
    assert said(run, "ledger", "budget", *published, "--dataset", "admissions") == {
        "dataset": "admissions", "limit": None, "spent": "1/2", "remaining": None,
    }  # fmt: skip
    report = said(run, "ledger", "budget", *published, "--dataset", "admissions", "--limit", "3")
    assert (report["limit"], report["remaining"]) == ("3", "5/2")
    code, out, _ = run("ledger", "budget", *published, "--dataset", "admissions")
    assert code == 0
    assert "epsilon = 2.5" in out
    code, out, err = run("ledger", "budget", *published, "--dataset", "admisions")
    assert (code, out) == (1, "")
    assert "got 'admisions'. Pass a dataset of the ledger: 'admissions'." in err
    limit = ["ledger", "budget", *published, "--dataset", "admissions", "--limit"]
    assert "Write 0.5 with a point" in run(*limit, "0,5")[2]


def test_status_verify_and_history(run, published):
    report = said(run, "ledger", "status", *published)
    (release,) = report["releases"]
    assert (report["quarantine"], release["columns"], release["rows"]) == (None, ["admitted"], 12)
    assert said(run, "ledger", "verify", *published) == {
        "events": 2, "responses": 1, "cells": 12, "answers": 0, "spent": {"admissions": "1/2"}, "quarantine": None,
    }  # fmt: skip
    kinds = [event["kind"] for event in said(run, "ledger", "history", *published, "--name", "admissions")]
    assert kinds == ["published"]
    for command, shown in (("status", "admissions"), ("verify", "is unchanged"), ("history", "published")):
        code, out, err = run("ledger", command, *published)
        assert (code, err) == (0, "")
        assert shown in out


def test_a_damaged_ledger_is_told_with_code_1(run, published):
    content = bytearray(Path("r.db").read_bytes())
    at = content.index(b'"published"')
    content[at + 3] ^= 1
    Path("r.db").write_bytes(content)
    code, out, err = run("ledger", "verify", *published)
    assert (code, out) == (1, "")
    assert err.startswith("utmost: ")


def test_backups_and_quarantine(run, published):
    report = said(run, "ledger", "backup", "--out", "copy.db", *published)
    assert report["receipt"].startswith("utmost-receipt:")
    assert run("ledger", "backup", "--out", "copy.db", *published)[0] == 2
    run("relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "2")
    new = ["--ledger", "new.db", "--key-file", "r.db.key"]
    report = said(run, "ledger", "restore", "copy.db", *new)
    assert "backup" in report["quarantine"]
    code, _, err = run("relax", BERKELEY, *new, "--name", "admissions", "--epsilon", "2")
    assert code == 1
    assert "quarantine" in err
    assert run("ledger", "resume", *new, "--reason", "the disk died", "--missing", "admissions")[0] == 2
    twice = ["--missing", "admissions=3/2", "--missing", "admissions=1"]  # of which one would be charged, in silence
    assert run("ledger", "resume", *new, "--reason", "the disk died", *twice)[0] == 2
    report = said(run, "ledger", "resume", *new, "--reason", "the disk died", "--missing", "admissions=3/2")
    assert report["quarantine"] is None
    assert report["datasets"][0]["spent"] == "2"
    assert run("ledger", "restore", "copy.db", *published)[0] == 2


def test_the_help_of_restore_keeps_a_release_relaxable(run, published):
    """The command in the help names the witness; without it the releases of the backup can never be relaxed."""
    run("ledger", "backup", "--out", "copy.db", *published)
    shown = " ".join(run("ledger", "restore", "--help")[1].split())
    example = (
        re.search(r"utmost (ledger restore copy.db .*?old.db.witness)", shown)[1].replace("old.db", "r.db").split()
    )
    without = example[: example.index("--witness")]
    for words, can_relax in ((without, False), (example, True)):
        Path("new.db").unlink(missing_ok=True)
        Path("new.db.witness").unlink(missing_ok=True)
        code, shown, err = run(*words)
        assert (code, "--witness of the lost ledger" in " ".join(shown.split())) == (0, not can_relax), err
        place = [word.replace("restore", "resume") for word in words if word != "copy.db"]
        assert run(*place, "--reason", "a lost disk", "--nothing-missing")[0] == 0
        call = ["relax", BERKELEY, *place[2:], "--name", "admissions", "--epsilon", "2"]
        assert (run(*call)[0] == 0) == can_relax


def test_what_is_charged_as_lost_is_said(run, published):
    """Also for a name that the ledger never had: a misspelt one would leave the true dataset too much budget."""
    run("ledger", "backup", "--out", "copy.db", *published)
    new = ["--ledger", "new.db", "--key-file", "r.db.key"]
    run("ledger", "restore", "copy.db", *new)
    missing = ["--missing", "admissions=3/2", "--missing", "admission=1"]
    code, shown, _ = run("ledger", "resume", *new, "--reason", "the disk died", *missing)
    assert code == 0
    told = " ".join(shown.split())
    assert "admissions: epsilon = 1.5; admission: epsilon = 1" in told
    assert "the ledger had no dataset 'admission'" in told


def test_a_drill_never_takes_the_witness_of_the_running_ledger(run, tmp_path, monkeypatch):
    """One secret file names one witness: a second ledger, new or restored, needs another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.csv").write_text("n\n7\n")
    keys = {"ledger-key": bytes(range(32)).hex(), "witness": "live.db.witness"}
    (tmp_path / "s.toml").write_text("".join(f'{name} = "{text}"\n' for name, text in keys.items()))
    (tmp_path / "s.toml").chmod(0o600)
    assert run("ledger", "create", "live.db", "--key-file", "s.toml")[0] == 0
    live = ["--ledger", "live.db", "--key-file", "s.toml"]
    (tmp_path / "r.toml").write_text('key-file = "s.toml"\n')
    call = ["release", "n.csv", *UNIT, "--columns", "n", *live[:2], "--recipe", "r.toml", "--name", "n"]
    call += ["--epsilon", "1/2", "--out", "o.csv"]
    code, _, err = run(*call)
    assert code == 0, err
    assert run("ledger", "backup", *live, "--out", "copy.db")[0] == 0
    code, _, err = run("ledger", "create", "second.db", "--key-file", "s.toml")
    assert (code, "needs its own witness" in err, (tmp_path / "second.db").exists()) == (2, True, False)
    drill = ["--ledger", "drill.db", "--key-file", "s.toml"]
    code, _, err = run("ledger", "restore", "copy.db", *drill)
    assert (code, "live.db, whose witness" in err, (tmp_path / "drill.db").exists()) == (2, True, False)
    apart = [*drill, "--witness", "drill.witness"]
    assert run("ledger", "restore", "copy.db", *apart)[0] == 0
    assert run("ledger", "resume", *apart, "--reason", "a drill", "--nothing-missing")[0] == 0
    code, _, err = run("relax", "n.csv", *live, "--name", "n", "--epsilon", "1", "--out", "p.csv")
    assert code == 0, err


def test_receipts(run, published):
    receipt = run("ledger", "receipt", *published)[1].strip()
    shutil.copy("r.db", "old.db")
    run("relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "2")
    newer = run("ledger", "receipt", *published)[1].strip()
    assert run("ledger", "receipt", *published, "--check", receipt)[0] == 0
    shutil.copy("old.db", "r.db")
    Path("r.db.witness").unlink()
    assert run("ledger", "receipt", *published, "--check", newer)[0] == 1
    assert said(run, "ledger", "status", *published)["quarantine"]
    code, out, _ = run("ledger", "verify", *published)
    assert (code, "else is unchanged" in out) == (1, True), "an older ledger is whole, and is not to be used"


def test_new_versions_of_the_data_add_up(run, published):
    changed = Path("changed.csv")
    changed.write_text(Path(BERKELEY).read_text().replace("825,512", "826,513"))
    code, _, err = run("relax", changed, *published, "--name", "admissions", "--epsilon", "1")
    assert code == 3, "a job tells changed data from any other refusal"
    assert "--data-version 2" in err
    assert "--data-version 1" not in err
    release = ["release", changed, *ADMITTED, *published, "--epsilon", "1", "--data-version", "2"]
    assert said(run, *release)["statement"]["together"]["epsilon"] == "3/2"
    again = ["release", BERKELEY, *ADMITTED, *published, "--epsilon", "1/2", "--request", "later"]
    code, _, err = run(*again)
    assert code == 3
    assert "If the table is the data of an earlier version, pass that version: --data-version 1. " in err
    assert run(*again, "--data-version", "1")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        (["ledger", "status", "--ledger", "none.db"], 1, "there must be a ledger"),
        (["view", "--name", "a", "--epsilon", "1"], 2, "--ledger"),
        (["ledger", "restore", BERKELEY, "--ledger", "new.db"], 1, "key"),
    ],
)
def test_refusals(run, tmp_path, arguments, code, reported):
    ended, out, err = run(*arguments)
    assert (ended, out) == (code, "")
    assert reported in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_refusals_in_a_ledger(run, published):
    events = len(said(run, "ledger", "history", *published))
    for arguments, reported in (
        (["relax", BERKELEY, "--name", "nothing", "--epsilon", "1"], "admissions"),
        (["view", "--name", "admissions", "--epsilon", "3"], "relax"),
        (["view", "--name", "admissions", "--epsilon", "1/2", "--data-version", "2"], "version"),
        (["release", BERKELEY, *ADMITTED, "--epsilon", "3"], "admissions"),
    ):
        code, out, err = run(*arguments, *published)
        assert (code, out) == (1, "")
        assert reported in err
    assert len(said(run, "ledger", "history", *published)) == events


def test_a_key_of_another_ledger_is_refused(run, published, monkeypatch):
    Path("other.key").write_text("ab" * 32)
    os.chmod("other.key", 0o600)
    code, _, err = run("ledger", "status", *published, "--key-file", "other.key")
    assert code == 1
    assert "key" in err
    os.chmod("other.key", 0o644)
    code, _, err = run("ledger", "status", *published, "--key-file", "other.key")
    assert "chmod 600" in err
    monkeypatch.setenv("UTMOST_LEDGER_KEY", Path("r.db.key").read_text().strip())
    assert run("ledger", "status", *published)[0] == 0


def test_a_ledger_on_a_server(run, monkeypatch):
    """Its key is in a file, and its witness beside the key."""
    Path("curator.key").write_text("cd" * 32)
    Path("curator.key").chmod(0o600)
    monkeypatch.setenv("UTMOST_LEDGER_KEY_FILE", "curator.key")
    monkeypatch.setenv("UTMOST_LEDGER", fresh_database())
    assert run("release", BERKELEY, *ADMITTED, "--epsilon", "1", "--out", "one.csv")[0] == 2, "--ledger must be said"
    where = os.environ["UTMOST_LEDGER"]
    kept = ["--ledger", new_ledger(where), "--out", "one.csv"]
    assert run("release", BERKELEY, *ADMITTED, "--epsilon", "1", *kept)[0] == 0
    assert run("relax", BERKELEY, "--name", "admissions", "--epsilon", "2", "--out", "two.csv")[0] == 0
    assert answers(run("view", "--name", "admissions", "--epsilon", "1")[1]) == answers(Path("one.csv").read_text())
    assert said(run, "ledger", "verify")["responses"] == 2
    assert len(list(Path().glob("curator.key.*.witness"))) == 1


def test_a_folder_of_parquet_files_is_kept_in_a_ledger_and_its_request_repeats(run, tmp_path):
    """DuckDB answers for it; the bytes are those of a second run, and the values those of the table in one file."""
    pytest.importorskip("duckdb")
    lake, out = tmp_path / "lake", tmp_path / "r.parquet"
    lake.mkdir()
    whole = pa.table({"ward": [f"w{i}" for i in range(300)], "visits": [i % 7 for i in range(300)]})
    for at in range(3):
        pq.write_table(whole.slice(100 * at, 100), lake / f"{at}.parquet")
    promise = ["--columns", "visits", "--public", "ward", "--id", "ward", "--sensitivity", "1", "--cells", "1"]
    assert run("promise", *promise, "--out", tmp_path / "p.json")[0] == 0
    say = ["--promise", tmp_path / "p.json"]
    say += ["--epsilon", "1", "--ledger", new_ledger(tmp_path / "l.db"), "--name", "visits", "--request", "monday"]
    assert run("release", lake, *say, "--dry-run")[0] == 0
    assert run("release", lake, *say)[0] != 0
    assert run("release", lake, *say, "--out", out)[0] == 0
    first = out.read_bytes()
    for again in (out, tmp_path / "other.parquet"):
        assert run("release", lake, *say, "--out", again)[0] == 0
        assert again.read_bytes() == first
    found = pq.read_table(out)
    assert found.column_names == ["ward", "visits", "visits_margin"]
    assert found["ward"].to_pylist() == whole["ward"].to_pylist()
    assert found["visits"].to_pylist() != whole["visits"].to_pylist()


def test_a_folder_is_released_without_a_ledger_and_refused_where_it_is_no_table(run, tmp_path):
    lake, out = tmp_path / "lake", tmp_path / "r.parquet"
    lake.mkdir()
    pq.write_table(pa.table({"ward": ["a", "b"], "visits": [5, 6]}), lake / "a.parquet")
    say = ["--columns", "visits", "--public", "ward", "--sensitivity", "1", "--cells", "1", "--epsilon", "1"]
    assert run("release", lake, *say, "--out", out)[0] == 0
    assert pq.read_table(out).column_names == ["ward", "visits", "visits_margin"]
    code, _, err = run("release", lake, *say)
    assert code != 0
    assert "--out" in err
    assert run("release", lake, *say, "--out", tmp_path / "r.csv")[0] != 0


def test_a_table_goes_through_pipes_and_files_of_any_format(run, tmp_path):
    """Released with an encoding, viewed as JSON lines and relaxed as CSV: labels and error bars are in each."""
    (tmp_path / "t.csv").write_bytes("who;n\nKöln;3\nb;5\n".encode("cp1252"))
    where = ["--ledger", new_ledger("r.db"), "--name", "p"]
    say = ["--columns", "n", "--public", "who", *UNIT, "--epsilon", "1", *where, "--out", "o.feather"]
    assert run("release", tmp_path / "t.csv", *say)[0] == 1
    assert run(*with_recipe("release", tmp_path / "t.csv", *say, "--encoding", "cp1252"))[0] == 0
    asked = ["--epsilon", "1/2", "--confidence", "0.99", "--out", "v.data", "--format", "jsonl"]
    assert run("view", *where, *asked)[0] == 0
    rows = [json.loads(line) for line in Path("v.data").read_text().splitlines()]
    assert [row["who"] for row in rows] == ["Köln", "b"]
    assert [row["n_margin"] for row in rows] == [json.loads(Path("v.data.json").read_text())["margins"]["n_margin"]] * 2
    more = ["--encoding", "cp1252", "--separator", ";", "--epsilon", "2", "--out", "w.csv.gz"]
    assert run(*with_recipe("relax", tmp_path / "t.csv", *where, *more))[0] == 0
    assert run("verify", "w.csv.gz")[0] == 0
    assert run("view", *where, "--epsilon", "1/4", "--format", "ods")[0] == 2
    assert run(*with_recipe("release", "o.feather", *say, "--separator", ";"))[0] == 2


def test_an_answer_that_cannot_be_written_is_said_to_be_kept(run, published, monkeypatch):
    made, real = [], tempfile.mkstemp

    def refused(*arguments, prefix=None, **options):
        made.append(prefix)
        if made.count(".one.csv.") > 1:  # after the check before the draw
            raise OSError(28, "No space left on device")  # a full disk
        return real(*arguments, prefix=prefix, **options)

    words = ["relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "1", "--out"]
    with monkeypatch.context() as full:
        full.setattr(tempfile, "mkstemp", refused)
        code, _, told = run(*words, "one.csv")
    assert code == 1
    assert "The ledger has stored the answer" in " ".join(told.split())
    assert run(*words, "two.csv")[0] == 0


def test_a_second_dataset_is_said_on_both_screens(run, published):
    """Before it is drawn, with the options that mend it; and the status adds both up."""
    more = ["--columns", "applicants", "--public", "department,sex", "--drop", "admitted", *UNIT, "--epsilon", 1]
    code, _, err = run("release", BERKELEY, *more, *published, "--name", "people", "--dry-run")
    assert (code, "--dataset admissions" in err, "independent = true in the recipe" in err) == (0, True, True)
    code, _, err = run("release", BERKELEY, *more, *published, "--name", "people", "--out", "people.csv")
    assert (code, "charged as different people" in err) == (0, True)
    assert "epsilon = 1.5 for a person who is in every dataset" in run("ledger", "status", *published)[1]


@pytest.mark.parametrize("place", ["keeper:hushhush@db.example/l", "db.example/l?password=hushhush"])
def test_a_place_holds_no_password(run, place):
    code, out, err = run("ledger", "status", "--ledger", f"postgresql://{place}")
    assert (code, out, "must contain no password" in err, "hushhush" in err) == (2, "", True, False)


def test_parts_that_people_look_for_under_another_word_are_named(run):
    code, _, err = run("ledger", "list", "--ledger", "r.db")
    assert (code, "utmost ledger status" in err) == (2, True)


def test_a_history_of_a_name_that_nothing_has_is_refused(run, published):
    code, out, err = run("ledger", "history", *published, "--name", "unknown")
    assert (code, out) == (1, "")
    assert "'unknown'" in err
    assert "The releases are: " in err


def test_a_limit_below_what_is_spent_is_warned_about(run, published):
    """It is set, and stops all further spending; one at what is spent is no reason to warn."""
    status = json.loads(run("ledger", "status", *published, "--json")[1])["datasets"][0]
    name, spent = status["dataset"], status["spent"]
    code, _, err = run("ledger", "budget", *published, "--dataset", name, "--limit", spent)
    assert (code, err) == (0, "")
    code, _, err = run("ledger", "budget", *published, "--dataset", name, "--limit", "1/1000")
    assert code == 0
    assert f"dataset '{name}' has spent more than this limit" in err


def test_an_older_copy_is_not_taken_for_the_ledger(run, published):
    """`verify` and `budget` say first that the ledger is in quarantine: more may have been spent than it knows."""
    shutil.copy("r.db", "old.db")
    run("relax", BERKELEY, *published, "--name", "admissions", "--epsilon", "2")
    assert "quarantine" not in said(run, "ledger", "budget", *published, "--dataset", "admissions")
    shutil.copy("old.db", "r.db")
    code, out, _ = run("ledger", "verify", *published)
    assert (code, out.split(":")[0]) == (1, "The ledger is in quarantine")
    _, out, _ = run("ledger", "budget", *published, "--dataset", "admissions")
    assert "more may have been spent" in " ".join(out.split())
    assert said(run, "ledger", "budget", *published, "--dataset", "admissions")["quarantine"]


def test_lost_levels_are_charged_to_a_dataset_and_not_to_a_release(run, published):
    again = ["release", BERKELEY, *UNIT, "--columns", "admitted", "--public", "department,sex", "--drop", "applicants"]
    again += ["--epsilon", "1/2", *published[:2], "--name", "again", "--dataset", "admissions", "--out", "again.csv"]
    code, _, err = run(*again)
    assert code == 0, err
    run("ledger", "backup", "--out", "copy.db", *published)
    new = ["--ledger", "new.db", "--key-file", "r.db.key"]
    run("ledger", "restore", "copy.db", *new)
    code, _, err = run("ledger", "resume", *new, "--reason", "the disk died", "--missing", "again=1")
    assert (code, "Name the dataset: 'admissions'" in err) == (2, True)
    report = said(run, "ledger", "resume", *new, "--reason", "the disk died", "--missing", "admissions=1")
    assert report["quarantine"] is None


def test_the_command_that_init_prints_can_be_run(run, tmp_path, monkeypatch):
    """Several tables of one plan are one .json file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.json").write_text('{"sex": ["m", "w"], "city": ["A", "B"]}')
    (tmp_path / "p.csv").write_text("sex,city\nm,A\nw,B\n")
    made = ["init", "--each-row", "--by", "sex,city", "--domain", "d.json", "--epsilon", "1", "--want", "sex"]
    code, out, err = run(*made, "--want", "city", "--out", "r.toml")
    assert code == 0, err
    line = " ".join(out.split()).split("release utmost ")[1].replace("DATA.csv", "p.csv").split()
    code, _, err = run(*line)
    assert code == 0, err


def test_a_limit_is_removed_by_none(run, tmp_path):
    place = ["--ledger", new_ledger(tmp_path / "l.db"), "--dataset", "studnets"]
    assert run("ledger", "budget", *place, "--limit", "2")[0] == 0
    code, out, _ = run("ledger", "budget", *place, "--limit", "none", "--json")
    assert (code, json.loads(out)["limit"]) == (0, None)
    code, _, err = run("ledger", "budget", *place, "--limit", "none")
    assert (code, "dataset must be the name of a dataset in the ledger" in err) == (1, True)
