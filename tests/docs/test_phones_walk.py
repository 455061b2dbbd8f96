"""The phone's walk: the page on shipping a design is done as it says, in Python, on the command line, and in Node."""

import csv
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from running import called

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/hide-a-location.md").read_text(encoding="utf-8")
REPORTS = (ROOT / "docs/reference/designs.md").read_text(encoding="utf-8")
NODE = shutil.which("node")
LINES = PAGE.replace("\\\n", " ")
EXPORT, EXPORT_MAP = re.findall(r"^utmost export .*$", LINES, re.M)
DESIGN_MAP = re.search(r"^utmost design --space places:examples/paris.csv .*$", LINES, re.M)[0]
EXPORT_REPORTS = re.search(r"^utmost export report.*$", REPORTS, re.M)[0]
CODE = re.findall(r"```js\n(.*?)```", PAGE, re.S)
TRUTH = {"bus": 1200, "car": 3000, "cycle": 300, "foot": 1500}


@pytest.fixture
def walk(tmp_path, monkeypatch):
    """What the page's Python leaves behind, in the folder where its commands run."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    for page in (PAGE, REPORTS):
        for code in re.findall(r"```python\n(.*?)```", page, re.S):
            exec(code, names)
    return names


def typed(command, folder):
    done = called(*shlex.split(command)[1:], cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_node(folder, code, after):
    """Run a block of the page and what comes after it; what that last prints, as JSON."""
    (folder / "page.mjs").write_text(code + after, encoding="utf-8")
    done = subprocess.run([NODE, "page.mjs"], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


DRAWS = f"""
const drawn = Object.entries({json.dumps(TRUTH)})
  .flatMap(([way, phones]) => Array.from({{ length: phones }}, () => sampler.draw(way)));
console.log(JSON.stringify([drawn, [answer("bus"), answer("bus"), answer("car")]]));
"""


@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_the_page_is_done_as_it_says(walk, tmp_path, capsys):
    typed(EXPORT, tmp_path)
    drawn, repeated = in_node(tmp_path, CODE[0], DRAWS)
    assert len(set(repeated)) == 1
    ways, report = walk["ways"], walk["report"]
    counts = type(walk["counts"]).of([[ways.index(way)] for way in drawn], report)
    assert (abs(counts.estimates(report) - list(TRUTH.values())) < 6 * counts.errors(report)).all()

    shutil.rmtree(tmp_path / "phone")
    typed(EXPORT_REPORTS, tmp_path)
    drawn, _ = in_node(tmp_path, CODE[0], DRAWS)
    with (tmp_path / "reports.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["report"], *([sets] for sets in drawn)])
    asked = re.search(r"`(utmost categories --labels[^`]*?)`", REPORTS, re.S)[1]
    told = json.loads(typed(f"{asked} --json", tmp_path))["counts"]
    found, errors = (np.array([row[name] for row in told]) for name in ("estimate", "error"))
    assert (abs(found - list(TRUTH.values())) < 6 * errors).all()

    shutil.rmtree(tmp_path / "phone")
    typed(DESIGN_MAP, tmp_path)
    typed(EXPORT_MAP, tmp_path)
    place, answer = in_node(tmp_path, CODE[1], "console.log(JSON.stringify([place, answer]));")
    table = json.loads((tmp_path / "map/sampler.json").read_text(encoding="utf-8"))
    assert place == "Louvre"
    assert answer in table["answers"]
