"""The command line: what it prints, what it writes, and how it refuses."""

import csv
import errno
import io
import json
import os
import re
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repeated_bits import nothing_is_drawn
from running import COMMANDS, RESEARCH_COMMANDS, new_ledger, python, utmost_command, with_recipe
from utmost.version import __version__

ROOT = Path(__file__).parents[2]
BERKELEY = str(ROOT / "examples/berkeley_admissions.csv")
PROMISE = ["--columns", "admitted", "--epsilon", "1", "--sensitivity", "1", "--cells", "1"]
WITHOUT_LEVEL = [*PROMISE[:2], *PROMISE[4:]]
SILENT = ["--columns", "admitted", "--epsilon", "100", "--sensitivity", "1", "--cells", "1", "--yes"]
OTHERS = ["--public", "department,sex", "--drop", "applicants"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_release_prints_the_table_and_says_beside_it_what_was_promised(run):
    code, out, err = run("release", BERKELEY, *OTHERS, *SILENT)
    assert code == 0
    released, original = rows(out), rows(Path(BERKELEY).read_text())
    for row in original:
        del row["applicants"]
    assert [row | {"admitted_margin": "0"} for row in original] == released
    assert "Adding or removing any one individual multiplies or divides the chance of any result" in err
    assert re.search(r"without noise\s+the columns department, sex,", err)


def test_a_release_writes_the_table_and_its_statement(run, tmp_path):
    out = tmp_path / "released.csv"
    code, shown, err = run("release", BERKELEY, *OTHERS, *SILENT, "--out", out)
    assert (code, err) == (0, "")
    assert rows(out.read_text())[0] == {
        "department": "A", "sex": "men", "admitted": "512", "admitted_margin": "0",
    }  # fmt: skip
    statement = json.loads((tmp_path / "released.csv.json").read_text())
    assert (statement["epsilon"], statement["promise"]["columns"], statement["rows"]) == ("100", ["admitted"], 12)
    assert "512 ± 0" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["released.csv", "released.csv.json"]


def test_a_dry_run_draws_and_writes_nothing(run, tmp_path):
    with nothing_is_drawn():
        code, out, err = run("release", BERKELEY, *OTHERS, *PROMISE, "--dry-run", "--out", tmp_path / "x.csv")
    assert (code, err) == (0, "")
    assert "Nothing was drawn" in out
    assert "epsilon = 1" in out
    assert list(tmp_path.iterdir()) == []
    code, out, _ = run("release", BERKELEY, *OTHERS, *PROMISE, "--dry-run", "--json")
    assert json.loads(out)["margins"] == {"admitted_margin": 3}


def test_parquet_stays_parquet_and_prints_as_text(run, tmp_path):
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"sex": ["men", None], "admitted": [512, 89]}), source)
    code, _, err = run("release", source, "--public", "sex", *SILENT, "--out", out)
    assert (code, err) == (0, "")
    expected = {"sex": ["men", None], "admitted": [512, 89], "admitted_margin": [0, 0]}
    assert pq.read_table(out).to_pydict() == expected
    code, shown, _ = run("release", source, "--public", "sex", *SILENT)
    assert shown == "sex,admitted,admitted_margin\nmen,512,0\n,89,0\n"
    code, shown, _ = run("release", source, "--public", "sex", *SILENT, "--json")
    assert json.loads(shown)["table"] == expected


def test_a_long_table_is_shown_by_its_first_rows(run, file, tmp_path):
    path = file("place,admitted\n" + "".join(f"[b]{n},{n}\n" for n in range(40)))
    code, out, _ = run("release", path, "--public", "place", *SILENT, "--out", tmp_path / "out.csv")
    assert code == 0
    assert "and 28 more rows" in out
    assert re.search(r"\[b\]11\s+11 ± 0", out)
    assert "[b]12" not in out


def test_a_column_that_nobody_declared_is_misuse_and_named(run, tmp_path):
    """It was printed exactly, under a promise of privacy."""
    out = tmp_path / "out.csv"
    for more in ([], ["--dry-run"], ["--ledger", new_ledger(tmp_path / "r.db"), "--name", "a"]):
        code, shown, err = run("release", BERKELEY, "--public", "department", *PROMISE, "--out", out, *more)
        assert (code, shown) == (2, "")
        assert "every column must be released, declared public or dropped; got 'sex', 'applicants'" in err
    assert not out.exists()


def test_a_level_that_protects_nobody_needs_a_yes(run, tmp_path):
    """Before anything is drawn or written; with a ledger too, and when a release is relaxed."""
    large = [*WITHOUT_LEVEL, "--epsilon", "11"]
    ledger = ["--ledger", new_ledger(tmp_path / "r.db"), "--name", "a"]
    for more in ([], ["--dry-run"], ledger):
        code, out, err = run("release", BERKELEY, *OTHERS, *large, *more)
        assert (code, out) == (2, "")
        assert re.search("protects practically nobody: epsilon is above 10.* Or add --yes to accept this level", err)
        assert run("release", BERKELEY, *OTHERS, *large, *more, "--yes")[0] == 0
    code, _, err = run("relax", BERKELEY, *ledger, "--epsilon", "12")
    assert (code, "protects practically nobody" in err) == (2, True)
    assert run("relax", BERKELEY, *ledger, "--epsilon", "12", "--yes")[0] == 0


def test_observed_rows_are_told(run, tmp_path):
    say, promise = [*OTHERS, *WITHOUT_LEVEL], tmp_path / "promise.json"
    assert run("promise", *say, "--rows", "observed", "--out", promise)[0] == 0
    code, out, _ = run("release", BERKELEY, "--promise", promise, "--epsilon", "1", "--dry-run")
    assert (code, re.search(r"which was found in the\s+data", out) is not None) == (0, True)
    assert "the promise does not cover it" in " ".join(out.split())
    assert run("promise", *say, "--rows", "sorted")[0] == 2


BAD_TABLES = {
    "a missing value": ("id,admitted\na,1\nb,\n", r"row 2 \(line 3\), column 'admitted'.*missing value"),
    "a doubled identifier": (
        "id,admitted\na,1\na,2\n",
        r"row 2 \(line 3\), column 'id'.*got the one that is also in .*row 1 \(line 2\)",
    ),
    "a short row": ("id,admitted\na\n", r"row 1 \(line 2\).*2 cells; got 1"),
    "two columns of one name": ("id,id,admitted\na,b,1\n", "columns 1 and 2"),
}


@pytest.mark.parametrize(("text", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_bad_table_is_refused_with_its_place_and_nothing_is_written(run, file, tmp_path, text, message):
    path = file(text)
    promise = tmp_path / "promise.json"
    assert run("promise", *WITHOUT_LEVEL, "--id", "id", "--public", "id", "--out", promise)[0] == 0
    code, out, err = run("release", path, "--promise", promise, "--epsilon", "1", "--out", tmp_path / "out.csv")
    assert (code, out) == (1, "")
    assert re.search(message, err), err
    assert len(err.splitlines()) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["promise.json", "table.csv"]


MISUSE = {
    "an alpha above 1": ([*WITHOUT_LEVEL, "--epsilon", "alpha=2"], "alpha must lie"),
    "a level of a distance": ([*WITHOUT_LEVEL, "--epsilon", "1 per 200m"], "must have no distance"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_ends_with_code_2_and_says_how(run, arguments, message):
    code, out, err = run(*with_recipe("release", BERKELEY, *OTHERS, *arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device to write to")
@pytest.mark.parametrize("asked", [["research", "compare", "--json"], ["--version"]])
def test_an_answer_that_python_holds_back_until_the_end_is_not_lost_in_silence(asked, monkeypatch):
    """Standard output of a pipe or a file is buffered: what does not fit the disk is found out when it is flushed."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with open("/dev/full", "wb") as full:
        done = utmost_command(*asked, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "output: No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_full_disk_names_the_file_that_did_not_fit(run, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("release", BERKELEY, *OTHERS, *PROMISE, "--out", tmp_path / "out.csv")
    assert code == 1
    assert f"{tmp_path / 'out.csv'}: No space left" in err
    assert list(tmp_path.iterdir()) == []


def test_noise_of_any_sensitivity_on_the_reals_is_shown(run):
    """It ended in an error of Python's own where the sensitivity is no whole number."""
    for sensitivity, shown in (("0.3", "0.3"), ("1/3", "0.333333"), ("2", "2")):
        options = ["--epsilon", "7/10", "--sensitivity", sensitivity, "--numbers", "reals"]
        code, out, _ = run("noise", *options)
        assert code == 0
        assert re.search(rf"^sensitivity +{re.escape(shown)} *$", out, re.MULTILINE)
        assert re.search(r"^level +epsilon = 0\.7 *$", out, re.MULTILINE)


def test_noise_describes_the_optimal_distribution(run):
    code, out, _ = run("noise", "--epsilon", "1", "--sensitivity", "5")
    assert code == 0
    assert "DiscreteStaircase(epsilon=1, sensitivity=5, step=2)" in out
    assert "Theorem 12" in out
    _, out, _ = run(
        "noise", "--epsilon", "10", "--sensitivity", "1", "--numbers", "reals", "--cost", "squared", "--json"
    )
    assert json.loads(out)["gain"]["Laplace"] == pytest.approx(23.6068930, rel=1e-8)


def test_epsilon_for_answers_what_release_then_states(run):
    code, out, _ = run("epsilon-for", "--margin", "10", "--confidence", "0.95", "--sensitivity", "1", "--json")
    epsilon = json.loads(out)["epsilon"]
    assert (code, epsilon) == (0, "57/200")
    _, out, _ = run("release", BERKELEY, *OTHERS, *WITHOUT_LEVEL, "--epsilon", epsilon, "--dry-run", "--json")
    assert json.loads(out)["margins"] == {"admitted_margin": 10}
    _, out, _ = run("epsilon-for", "--margin", "10", "--sensitivity", "1")
    assert re.search(r"epsilon\s+0\.285\s", out)


def test_epsilon_for_a_bound_in_total_is_the_level_of_release(run, file, tmp_path):
    """At the level it finds a release has the margin, and a little below a larger one."""
    code, out, _ = run("epsilon-for", "--margin", 33, "--in-total", 20, "--json")
    found = json.loads(out)
    assert (code, found["epsilon"], found["margin"]) == (0, "179/100", 33)
    domain = tmp_path / "d.json"
    domain.write_text('{"page": ["x", "y"]}')
    asked = ["count", file("who,page\na,x\na,y\n"), "--person", "who", "--domain", domain, "--in-total", 20]
    assert run(*asked, "--out", tmp_path / "c.json")[0] == 0
    for epsilon, margin in (("1.79", "33"), ("1.78", "34")):
        released = tmp_path / f"{margin}.csv"
        assert run("release", tmp_path / "c.json", "--epsilon", epsilon, "--out", released)[0] == 0
        assert released.read_text().splitlines()[1].endswith(f",{margin}")
    assert run("epsilon-for", "--margin", 33, "--in-total", 20, "--sensitivity", 20)[0] == 2


def test_compare_draws_figure_2(run, tmp_path):
    code, out, _ = run("research", "compare")
    assert code == 0
    assert re.search(r"10\s+14\.84\s+23\.61", out)
    assert run("research", "compare", "--up-to", "4", "--plot", tmp_path / "figure.svg")[0] == 0
    assert (tmp_path / "figure.svg").read_bytes().startswith(b"<?xml")
    code, _, err = run("research", "compare", "--plot", tmp_path / "figure.txt")
    assert (code, "must end in .svg" in err) == (2, True)
    assert run("research", "compare", "--up-to", "0")[0] == 2


def test_the_version_is_the_packages_own(run):
    assert run("--version")[1] == f"utmost {__version__}\n"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog or f"## [{__version__}]" in changelog


def test_a_closed_pipe_is_no_traceback(tmp_path):
    code = f"""if True:
        import subprocess, sys
        command = [sys.executable, "-m", "utmost", "release", {BERKELEY!r}, *{[*OTHERS, *PROMISE]!r}]
        release = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        release.stdout.close()
        print(release.stderr.read())
    """
    assert "Traceback" not in python("-c", code).stdout


def test_a_command_of_research_is_found_from_its_name_alone(run):
    code, out, err = run("capacity", "--space", "line:3")
    assert (code, out) == (2, "")
    assert "Write utmost research capacity." in err


def test_every_command_and_option_is_documented(run):
    """docs/reference/cli.md has a section for each command, with every one of its options; and no other command."""
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    heading = r"^##(?:#(?= `utmost research))? `utmost ([a-z -]+)`\n(.*?)(?=^##|\Z)"
    sections = dict(re.findall(heading, page, re.MULTILINE | re.DOTALL))
    shared = sections.pop("research")
    listed = run("--help")[1].partition("Publish:")[2]
    studied = run("research", "--help")[1].partition("Leakage:")[2]
    names = re.findall(r"^  ([a-z][a-z-]*)  ", listed, re.MULTILINE)
    assert names == list(COMMANDS)
    assert [*names[:-1], *(f"research {name}" for name in RESEARCH_COMMANDS)] == list(sections)
    assert re.findall(r"^  ([a-z-]+)  ", studied, re.MULTILINE) == list(RESEARCH_COMMANDS)
    for command, section in sections.items():
        listed = run(*command.split(), "--help")[1].partition("\nCommands:")[2]
        parts = re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE)
        asked = [(command, part) for part in parts] or [command.split()]
        shown = "".join(run(*each, "--help")[1] for each in asked)
        section += shared if command.startswith("research ") else ""
        options = re.findall(r"^  (?:-h, )?(--[a-z-]+)", shown, re.MULTILINE)
        missing = [option for option in options if f"`{option}" not in section and option != "--help"]
        assert not missing, f"{command}: {missing}"


SECRETS = {
    "a fraction": "id,n\n1,1\n2,9876543.5\n", "text": "id,n\n1,1\n2,9876543x\n",
    "an identifier twice": "id,n\n9876543,1\n9876543,2\n", "no header": "9876543,98765432\n1,2\n",
    "no header, and a name twice": "9876543,9876543\n1,2\n", "no text": b"id,n\n1,1\n2,9876543\xff\n",
    "one cell": "9876543\n", "negative": "1,2\n-9876543,3\n", "an open quote": 'id,n\n1,"9876543\n',
}  # fmt: skip
COMMANDS_WITH_FILES = {
    "release": lambda path: ["release", path, "--columns", "n", "--public", "id", *PROMISE[2:], "--dry-run"],
    "a prior": lambda path: ["read", "--response", 1, "--epsilon", 1, "--n", 1, "--prior", path],
    "releases": lambda path: [
        *("read", path, "--column", "n", "--n", 1, "--epsilon", 1, "--prior", "uniform", "--clamped")
    ],
    "a channel": lambda path: ["research", "leakage", path],
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("command", COMMANDS_WITH_FILES.values(), ids=COMMANDS_WITH_FILES)
def test_no_message_quotes_a_cell_of_a_file(run, tmp_path, command, text):
    """Whatever stands in a file, and wherever it was meant to go: an error says where, and never what."""
    path = tmp_path / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, _, err = run(*command(path))
    assert code == 0 or "9876543" not in err.replace(str(tmp_path), ""), err


@pytest.mark.parametrize(
    "words",
    [
        ["release", "t.csv", "--epsilon", "1", "--epsilon", "2"],
        ["clean", "r.json", "--want", "sex", "--want", "age"],
        ["total", "r.csv", "--sum", "a", "--sum=b"],
    ],
)
def test_an_option_with_one_value_is_refused_if_it_is_written_twice(run, words):
    """It took the last value in silence; options that may be repeated, and flags, are taken."""
    code, shown, said = run(*words)
    assert (code, shown) == (2, "")
    assert f"{words[2]} must be written once; got 2 times" in said
    code, _, said = run("total", "r.csv", "--json", "--json", "--where", "a=1", "--where", "b=2")
    assert "written once" not in said
