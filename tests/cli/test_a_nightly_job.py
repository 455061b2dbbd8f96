"""The nightly job of docs/howto/keep-a-ledger.md: its script, its exit codes, and what it says to a program."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sysconfig

import pytest

from docs.pages import ROOT, blocks, run_bash
from running import PLAIN, with_recipe

PAGE = ROOT / "docs" / "howto" / "keep-a-ledger.md"
EVENTS = "who,region,paid\n" + "".join(f"p{i},{('north', 'south')[i % 7 > 2]},{i % 5}\n" for i in range(60))
COUNT = ["--person", "who", "--at-most", 1, "--by", "region", "--domain", "d.json", "--epsilon", 1]
KEPT = ["--ledger", "l.db", "--dataset", "people"]


@pytest.fixture
def job(tmp_path, monkeypatch, run):
    """Events of a night and their domain, in the working directory, and a ledger."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EVENTS, encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps({"region": ["north", "south"]}), encoding="utf-8")
    assert run("ledger", "create", "l.db")[0] == 0
    return tmp_path


def objects(err):
    """The lines of standard error of a command with --json."""
    return [json.loads(line) for line in err.splitlines()]


@pytest.mark.skipif(os.name == "nt", reason="the job is a shell script")
def test_the_cure_for_changed_data_works_as_the_page_writes_it(run, tmp_path, monkeypatch):
    """It failed: the request and the file of the night were those of version 1."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    making, script = [block.code for block in blocks(PAGE) if block.language == "sh"][:2]
    for line in making.replace("\\\n", "").splitlines():
        code, _, err = run(*shlex.split(line)[1:])
        assert code == 0, err
    run_bash(script.replace("sh nightly.sh 2026-11-29\n", "", 1))  # once: the test of the page runs it twice
    night, cure = re.search(r"`(sh nightly\.sh \S+) (\d)`, adds its epsilon", PAGE.read_text(encoding="utf-8")).groups()
    data = tmp_path / "examples" / "berkeley_applicants.csv"
    data.write_text("\n".join(data.read_text(encoding="utf-8").splitlines()[:-9]) + "\n", encoding="utf-8")
    path = f"{sysconfig.get_path('scripts')}:/usr/local/bin:/usr/bin:/bin"
    refused = subprocess.run(night.split(), env=PLAIN | {"PATH": path}, capture_output=True, text=True, check=False)
    assert refused.returncode == 3, refused.stderr
    assert "Answered." in run_bash(f"{night} {cure}")
    assert json.loads((tmp_path / "applicants-2026-11-29-v2.csv.json").read_text())["data_version"] == 2


def test_a_request_of_another_version_names_what_is_needed(run, job):
    call = ["release", "e.csv", *COUNT, *KEPT, "--name", "n"]
    assert run(*call, "--request", "monday", "--out", "o.csv")[0] == 0
    code, _, err = run(*call, "--request", "monday", "--data-version", 2, "--out", "o2.csv")
    assert (code, "Version 2 is a new request: pass another --request" in err) == (1, True), err
    (job / "e.csv").write_text(EVENTS + "p99,north,1\n", encoding="utf-8")
    code, _, err = run(*call, "--request", "monday-v2", "--data-version", 2, "--out", "o2.csv")
    assert code == 0, err


def test_with_json_each_line_on_standard_error_is_json(run, job):
    """Notes, warnings and the error; none of them stands in the statement, which is published."""
    (job / "e.csv").write_text(EVENTS + "p1,atlantis,1\n", encoding="utf-8")
    call = with_recipe("release", "e.csv", *COUNT, *KEPT, "--json")
    code, out, err = run(*call, "--name", "a", "--out", "a.csv")
    assert (code, [list(line) for line in objects(err)]) == (0, [["warning"], ["note"]]), err
    assert "not everything is counted" in objects(err)[1]["note"]
    assert "note" not in json.loads(out)
    (job / "e.csv").write_text(EVENTS + "p99,north,1\np1,atlantis,1\n", encoding="utf-8")
    code, out, err = run(*call, "--name", "a", "--out", "a.csv")
    assert (code, out) == (3, "")
    *others, last = objects(err)
    assert all(line.keys() in ({"note"}, {"warning"}) for line in others)
    assert (others != [], last["error"]) == (True, "DataChanged")
    code, out, err = run("count", "e.csv", *COUNT[:-2], "--json", "--out", "c.json")
    assert (code, objects(err)[-1].keys()) == (0, {"note"}), err


@pytest.mark.parametrize("mean", [[], ["--mean", "paid=0,9", "--mean", "fee=0,9"]], ids=["counts", "means"])
def test_the_values_of_another_night_are_told_before_they_are_published(run, job, mean):
    """By `--dry-run`, which spends nothing, as by the release; in JSON each is a line."""
    (job / "e.csv").write_text(EVENTS.replace("\n", ",7\n").replace("paid,7", "paid,fee"), encoding="utf-8")
    call = ["release", "e.csv", *COUNT, *mean, *KEPT, "--json"]
    assert run(*call, "--name", "n1", "--dry-run")[::2] == (0, "")
    code, _, err = run(*call, "--name", "n1", "--out", "1.csv")
    assert code == 0, err
    assert run(*call, "--name", "n1", "--dry-run")[::2] == (0, ""), "the same release is no other one"
    warned = [run(*call, "--name", "n2", *words) for words in (["--dry-run"], ["--out", "2.csv"])]
    for code, _, err in warned:
        assert code == 0, err
        assert "values of this release" in objects(err)[-1]["warning"]
    assert warned[0][2] == warned[1][2]


def test_a_ledger_that_is_gone_is_to_be_named_or_restored(run, job):
    """The tool knows that it was there: to create another one would forget its budgets."""
    (job / "new").mkdir()
    for file in job.glob("l.db*"):
        if "key" not in file.name:
            file.rename(job / "new" / file.name)
    code, _, err = run("release", "e.csv", *COUNT, *KEPT, "--name", "n", "--json")
    (last,) = objects(err)
    assert (code, last["error"]) == (1, "LedgerUnavailable")
    assert "pass its new path" in last["remedy"]
    assert "ledger create" not in last["remedy"]
    code, _, err = run("release", "e.csv", *COUNT, "--ledger", "none.db", "--name", "n")
    assert (code, "create a ledger, once: utmost ledger create none.db" in err) == (1, True), err


@pytest.mark.parametrize("place", ["l.db", "."], ids=["file", "folder"])
def test_a_read_only_ledger_is_refused_before_anything_is_drawn(run, job, monkeypatch, place):
    """The draw was in the witness, and its level spent, before SQLite said that it cannot write."""
    read_only, access = (job / place).resolve(), os.access

    def may(path, mode, **options):
        return not (mode & os.W_OK and os.path.realpath(path) == str(read_only)) and access(path, mode, **options)

    monkeypatch.setattr(os, "access", may)
    call = ["release", "e.csv", *COUNT, *KEPT, "--name", "n", "--json"]
    code, out, err = run(*call)
    assert (code, out, objects(err)[-1]["error"]) == (1, "", "LedgerUnavailable")
    assert "Nothing was drawn or spent" in objects(err)[-1]["remedy"]
    monkeypatch.setattr(os, "access", access)
    assert len(json.loads(run("ledger", "history", "--ledger", "l.db", "--json")[1])) == 1
    assert run(*call)[0] == 0


def test_a_declared_value_that_no_row_has_is_shown_to_the_holder_of_the_data(run, job):
    """A night without one branch passed with code 0, and nothing told. A release does not tell it either."""
    (job / "d.json").write_text(json.dumps({"region": ["north", "south", "west"], "paid": {"bins": [0, 2, 4, 6]}}))
    code, out, _ = run("domain", "check", "e.csv", "--domain", "d.json", "--json")
    assert code == 0
    axes = json.loads(out)["axes"]
    assert axes["region"]["without_rows"] == {"values": 1, "first": ["west"]}
    assert "without_rows" not in axes["paid"], "a value with rows, or one for others, is not named"
    assert "1 of 3 values: west" in run("domain", "check", "e.csv", "--domain", "d.json")[1]
    code, out, err = run("release", "e.csv", *COUNT[:-2], "--epsilon", 1, "--json", "--out", "o.csv")
    assert (code, [text for text in (out, err) if "without_rows" in text or "without rows" in text]) == (0, [])


@pytest.mark.parametrize("mean", [[], ["--mean", "paid=0,9", "--mean", "fee=0,9"]], ids=["counts", "means"])
def test_with_new_values_the_values_of_another_night_are_refused(run, job, mean):
    """Before anything is spent, rehearsed or not; a run that is made again is no other release."""
    (job / "e.csv").write_text(EVENTS.replace("\n", ",7\n").replace("paid,7", "paid,fee"), encoding="utf-8")
    call = with_recipe("release", "e.csv", *COUNT, *mean, *KEPT, "--new-values", "--json")
    for _ in range(2):
        assert run(*call, "--name", "n1", "--out", "1.csv")[0] == 0
    for words in (["--dry-run"], ["--out", "2.csv"]):
        code, out, err = run(*call, "--name", "n2", *words)
        assert (code, out, objects(err)[-1]["error"]) == (1, "", "AlreadyPublished")
        assert "'n1" in objects(err)[-1]["message"]
    spent = json.loads(run("ledger", "status", "--ledger", "l.db", "--json")[1])["datasets"][0]["spent"]
    assert spent == "1"
    (job / "e.csv").write_text((job / "e.csv").read_text() + "p99,north,3,7\n", encoding="utf-8")
    code, _, err = run(*call, "--name", "n2", "--out", "2.csv")
    assert code == 0, err
