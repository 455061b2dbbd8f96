"""Surveys: short reports as one file, drawn by a page with exactly the law of the blocks, and counted by anybody."""

import json
import shutil
import subprocess
from collections import Counter
from fractions import Fraction
from itertools import product
from math import lcm
from pathlib import Path

import numpy as np
import pytest

from utmost.design.local import BlockSelection, CategoryCounts, balanced_family
from utmost.doors.cli.main import main
from utmost.doors.documents.surveys import SURVEY, Survey, survey_files
from utmost.errors import BadTable, OutOfRange, Unsupported, UtmostError
from utmost.laws.exact import level

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")


def survey_of(k, d, alpha):
    return Survey(tuple(f"answer {n}" for n in range(k)), BlockSelection(balanced_family(k, d), level(alpha=alpha)))


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


@pytest.mark.skipif(NODE is None, reason="no Node")
@pytest.mark.parametrize(("k", "d", "alpha"), [(7, 3, "1/3"), (8, 3, "1/2"), (2, 1, "1/3"), (3, 2, "2/3")])
def test_every_sequence_of_draws_on_a_page_gives_the_law_exactly(tmp_path, k, d, alpha):
    survey = survey_of(k, d, alpha)
    how, table = survey.how, SURVEY.document(survey)
    sizes = [
        lcm(*(w.denominator for w in how.family.weights)),
        len(how.family.multipliers),
        how.inside.denominator,
        d,
        k - d,
    ]
    assert max(sizes) <= 256
    walks = [
        [number for number, size in zip(walk, sizes, strict=True) if size > 1] for walk in product(*map(range, sizes))
    ]
    value, module = k - 1, tmp_path / "survey.mjs"
    module.write_bytes(survey_files(survey)["survey.mjs"])
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps({"table": table, "answer": f"answer {value}", "walks": walks}))
    words = [NODE, ROOT / "tests/documents/survey_walk.mjs", module, cases]
    drawn = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    law = [Fraction(Counter(drawn["reports"])[number], len(walks)) for number in range(how.family.count)]
    assert law == how.channel.matrix[value].tolist()
    counts = CategoryCounts.of(drawn["own"], how)
    assert (abs(counts.estimates(how) - 2000 * (np.arange(k) == value)) < 6 * counts.errors(how)).all()


def test_a_survey_is_read_back_and_a_changed_one_is_refused():
    survey = survey_of(8, 3, "1/3")
    document = json.loads(json.dumps(SURVEY.document(survey)))
    assert SURVEY.of(document, "here") == survey
    for name, value in {
        "size": 2,
        "bits": 4,
        "inside": "1/2",
        "weights": ["1"],
        "multipliers": [2],
        "labels": ["a"] * 8,
        "alpha": "1/2",
        "guarantee": "nothing",
        "bases": [[0, 1, 2]] * len(document["bases"]),
    }.items():
        with pytest.raises(UtmostError):
            SURVEY.of(document | {name: value}, "here")
    with pytest.raises(BadTable):
        Survey(("a", "b"), survey.how)


def test_a_phone_draws_at_a_level_that_is_a_little_stricter():
    survey = Survey(("a", "b", "c"), BlockSelection(balanced_family(3, 1), level(1)))
    with pytest.raises(Unsupported, match="alpha must be one"):
        survey_files(survey)
    rounded = survey.rounded
    assert level("0.9999999999999999") < rounded.how.level <= survey.how.level
    assert SURVEY.of(json.loads(survey_files(rounded)["survey.json"]), "here") == rounded


def test_a_survey_is_saved_exported_drawn_and_counted(run, tmp_path):
    saved, folder, reports = tmp_path / "survey.json", tmp_path / "page", tmp_path / "reports.csv"
    code, out, err = run("categories", "--labels", "a,b,c,d,e,f,g", "--epsilon", "1/2", "--short", "--save", saved)
    assert (code, err) == (0, "")
    assert "a block" in out
    assert "5 bits; 6 where any set may come" in out
    assert run("export", saved, "--out", folder)[0] == 2
    assert run("export", saved, "--out", folder, "--round")[::2] == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == ["survey.json", "survey.mjs"]
    assert run("export", saved, "--to", "kotlin", "--out", folder, "--round")[0] == 2
    table = tmp_path / "answers.csv"
    table.write_text("how\n" + "b\n" * 3000 + "g\n" * 1000)
    drawn = ["categories", "--survey", folder / "survey.json", "--file", table, "--column", "how", "--out", reports]
    assert run(*drawn)[::2] == (0, "")
    counted = json.loads(run("categories", "--survey", folder / "survey.json", "--reports", reports, "--json")[1])
    for row, true in zip(counted["counts"], [0, 3000, 0, 0, 0, 0, 1000], strict=True):
        assert abs(row["estimate"] - true) < 6 * row["error"]
    for wrong in (["--labels", "a,b"], ["--epsilon", 1], ["--short"], ["--size", 2]):
        assert run("categories", "--survey", saved, *wrong)[0] == 2
    assert run("categories", "--categories", 3, "--epsilon", 1, "--save", tmp_path / "no.json")[0] == 2
    reports.write_text("report\n" + "9" * 40 + "\n")
    assert "999" not in run("categories", "--survey", saved, "--reports", reports)[2]
    assert not (tmp_path / "no.json").exists()
    shown = run("categories", "--categories", 4, "--epsilon", "1/2", "--short", "--up-to", "4/5")[1]
    assert "by theorem" in shown


def test_reports_of_another_survey_are_refused():
    with pytest.raises(OutOfRange):
        CategoryCounts.of([10**6], survey_of(7, 3, "1/3").how)
