"""`utmost demo`: the story is true, each line is a command that can be typed, and nothing is left behind."""

import csv
import json
import shlex
import tempfile
from contextlib import chdir
from pathlib import Path
from time import process_time

from utmost.interfaces.cli.commands import demo_command

# The lines and the data of the demo are its own.
from utmost.tables.admissions import ADMISSIONS, ADMISSIONS_DOMAIN, admission_rows

ROOT = Path(__file__).parents[2]


def test_the_demo_runs_in_less_than_ten_seconds_and_leaves_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun = process_time()
    code, out, _ = run("demo")
    assert code == 0
    assert process_time() - begun < 10
    assert list(tmp_path.iterdir()) == []
    for _, line in demo_command.STEPS:
        assert " ".join(f"$ utmost {line}".split()) in " ".join(out.split())
    assert "is what its statement says" in out
    assert "responses   3 with 72 cells" in out


def test_each_line_can_be_typed_by_itself(run, tmp_path):
    """The lines of the demo, run one by one as a user would, end with code 0 and leave the files that they name."""
    with chdir(tmp_path):
        demo_command.write_events()
        for _, line in demo_command.STEPS:
            code, _, err = run(*shlex.split(line))
            assert code == 0, (line, err)
        made = {path.name for path in Path().iterdir()}
        assert made >= {"early.csv", "sharper.csv", "partner.csv", "statement.html", "releases.db"}
        said = json.loads(Path("partner.csv.json").read_text())
        assert (said["epsilon"], said["together"]["epsilon"]) == ("1/2", "1")


def test_files_are_kept_in_a_new_folder_alone(run, tmp_path):
    kept = tmp_path / "demo"
    assert run("demo", "--keep", kept)[0] == 0
    assert (kept / "statement.html").exists()
    code, _, err = run("demo", "--keep", kept)
    assert code == 2
    assert "must name a new or empty folder" in err


def test_the_packages_table_is_that_of_the_examples():
    """One place for the counts: what the package has is what the examples' files have."""
    with (ROOT / "examples/berkeley_admissions.csv").open() as file:
        rows = list(csv.DictReader(file))
    for name, column in ADMISSIONS.items():
        assert [row[name] for row in rows] == list(map(str, column))
    with (ROOT / "examples/berkeley_applicants.csv").open() as file:
        assert list(csv.reader(file))[1:] == [list(map(str, row)) for row in admission_rows()]
    assert json.loads((ROOT / "examples/applicants_domain.json").read_text()) == ADMISSIONS_DOMAIN
