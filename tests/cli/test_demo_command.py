"""`utmost demo`: the story is true, each line is a command that can be typed, and nothing is left behind."""

import csv
import json
import re
import shlex
import shutil
import tempfile
from contextlib import chdir
from pathlib import Path
from time import process_time

ROOT = Path(__file__).parents[2]


def commands_shown(out):
    """The command lines that the demo shows, as typed."""
    return [" ".join(line.split()) for line in re.findall(r"^\$ utmost (.*?)\n *\n", out, re.M | re.S)]


def test_the_demo_runs_in_less_than_ten_seconds_and_leaves_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun = process_time()
    code, out, _ = run("demo")
    assert code == 0
    assert process_time() - begun < 10
    assert list(tmp_path.iterdir()) == []
    assert len(commands_shown(out)) >= 8
    assert "is what its statement says" in out
    assert "responses   3 with 72 cells" in out


def test_each_line_can_be_typed_by_itself_in_a_folder_with_the_data_of_the_examples(run, tmp_path):
    """The lines shown, run one by one as a user would, end with code 0 and leave the files that they name."""
    kept, own = tmp_path / "demo", tmp_path / "own"
    _, shown, _ = run("demo", "--keep", kept)
    assert (kept / "statement.html").exists()
    with (kept / "applicants.csv").open() as made, (ROOT / "examples/berkeley_applicants.csv").open() as published:
        assert list(csv.reader(made)) == list(csv.reader(published))
    domain = json.loads((kept / "domain.json").read_text())
    assert domain == json.loads((ROOT / "examples/applicants_domain.json").read_text())
    own.mkdir()
    for name in ("applicants.csv", "domain.json"):
        shutil.copy(kept / name, own)
    with chdir(own):
        for line in commands_shown(shown):
            code, _, err = run(*shlex.split(line))
            assert code == 0, (line, err)
        made = {path.name for path in Path().iterdir()}
        assert made >= {"early.csv", "sharper.csv", "partner.csv", "statement.html", "releases.db"}
        said = json.loads(Path("partner.csv.json").read_text())
        assert (said["epsilon"], said["together"]["epsilon"]) == ("1/2", "1")
    code, _, err = run("demo", "--keep", kept)
    assert code == 2
    assert "must name a new or empty folder" in err
