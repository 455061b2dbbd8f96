"""The comparison with neighbours: one command, every goal with its verdict, results checked, neighbours named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from running import SOURCES

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))
import compare as gates  # noqa: E402
from comparison import gate_lines, picture  # noqa: E402
from comparison.gate_lines import Ratio, loop, measured  # noqa: E402
from comparison.lines import Goal, Line, Timing, beside  # noqa: E402
from comparison.report import judged, markdown, write_all  # noqa: E402


def compare(*arguments):
    """Run the command."""
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/compare.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )


@pytest.mark.parametrize("lines", ["counts", pytest.param("noise,counts", marks=pytest.mark.slow)])
def test_one_command_writes_page_figures_and_picture(tmp_path, lines):
    done = compare("--small", "--only", lines, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert told["quick"]
    assert {"utmost", "Python", "opendp", "qif"} <= told["machine"]["versions"].keys()
    assert [line["key"] for line in told["lines"]] == lines.split(",")
    for line in told["lines"]:
        assert line["checks"]
        assert all(line["checks"].values())
        assert line["growth"]
        assert line["memory"] > 10
        assert line["goals"]
        for goal in line["goals"]:
            assert goal["verdict"] == "not judged"
            assert goal["ratio"] > 0
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    for line in told["lines"]:
        assert all(f"| {line['key']}: {goal['says']} |" in page for goal in line["goals"])
    if "noise" in lines:
        assert "| noise: times as fast as OpenDP's vectors |" in page or "opendp not installed" in page
        assert "not installed" in page  # Tumult is 875 MB
    assert (tmp_path / "comparison.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["comparison.json", "comparison.md", "comparison.svg"]


def test_a_line_that_does_not_exist_is_refused(tmp_path):
    done = compare("--only", "nois", "--out", tmp_path)
    assert done.returncode == 2
    assert "no such line: nois" in done.stderr


@pytest.mark.parametrize(
    ("measured", "limit", "at_least", "ratio", "verdict"),
    [(2, 10, False, 5, "met"), (20, 10, False, 0.5, "missed"), (20, 10, True, 2, "met"), (5, 10, True, 0.5, "missed")],
)
def test_a_goal_is_met_or_missed_whichever_way_it_points(measured, limit, at_least, ratio, verdict):
    assert (Goal("", measured, limit, "s", at_least).ratio, Goal("", measured, limit, "s", at_least).verdict) == (
        ratio,
        verdict,
    )
    assert Goal("", measured, limit, "s", at_least, is_judged=False).verdict == "not judged"


def test_a_neighbour_stands_beside_utmost_at_the_same_work_only():
    ours = [Timing("utmost", "a", 2.0, "s"), Timing("utmost, other", "a", 9.0, "s")]
    assert beside(ours, Timing("qif", "a", 6.0, "s")) == 3
    assert beside(ours, Timing("qif", "b", 6.0, "s")) is None
    assert beside(ours, Timing("qif", "a", None, "", "not installed")) is None
    assert beside(ours, ours[1]) is None


def line(**facts):
    """A line as a process of its own hands it back."""
    made = Line("x", "a work", quick=False)
    made.took("utmost", "a", 2.0)
    made.absent("qif", "a")
    made.goal("a", 2.0, 1.0)
    return {name: value for name, value in vars(made).items() if name not in ("timings", "goals")} | {
        "timings": [vars(one) for one in made.timings],
        "goals": [vars(one) for one in made.goals],
        "checks": {"holds": True},
        **facts,
    }


def test_a_wrong_result_or_a_failed_line_is_said_and_ends_with_one(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(picture, "draw", lambda *_: None)  # the picture is drawn by the command above
    assert write_all([line()], False, tmp_path) == 0
    assert write_all([line(checks={"the distribution": False})], False, tmp_path) == 1
    assert "**Wrong: the distribution.**" in (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert write_all([{"key": "y", "work": "y", "quick": False, "failed": "KeyError: 'z'"}], False, tmp_path) == 1
    assert "| y | failed: KeyError: 'z' | | | **missed** |" in (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "wrong: y: KeyError" in capsys.readouterr().out


def test_a_neighbour_that_is_not_installed_is_named_and_not_guessed():
    page = markdown(
        {
            "machine": {"processor": "", "cores": 1, "system": "", "load of the last minute": 0, "versions": {}},
            "date": "",
            "quick": False,
            "lines": [judged(line())],
        }
    )
    assert "| a | qif |  |  | not installed |" in page
    assert "| x: a | 2 s | at most 1 | 0.5 times | **missed** |" in page


def test_exponents_are_those_of_the_times():
    made = Line("x", "a work", quick=True)
    made.grows("utmost", {10: 1.0, 100: 100.0, 200: 800.0})
    assert made.growth["utmost"] == ["10 to 100: n^2.0", "100 to 200: n^3.0"]


@pytest.mark.parametrize(("limit", "verdict"), [(1000, "met"), (1e-3, "missed")])
def test_the_gate_holds_a_ratio_against_its_limit(limit, verdict, monkeypatch):
    """Two calls that take the same are within a thousand times of each other, and not within a thousandth."""
    monkeypatch.setattr(gate_lines, "LEAST", 0.003)
    made = Line("gate", "ratios", quick=False)
    measured(made, Ratio("a sum", loop, "the same", loop, limit))
    assert [goal.verdict for goal in made.goals] == [verdict]
    assert 0.1 < made.goals[0].measured < 10
    assert beside(made.timings, made.timings[1]) == pytest.approx(1 / made.goals[0].measured)


@pytest.mark.parametrize("told", [line(), line(goals=[]), {"key": "gate", "work": "ratios", "failed": "KeyError"}])
def test_the_gate_ends_with_one_where_a_ratio_is_beyond_its_limit(monkeypatch, capsys, told):
    monkeypatch.setattr(gates, "apart", lambda *_: told)
    assert gates.gate(is_quoted=False) == (told.get("goals") != [])
    assert ("**missed**" in capsys.readouterr().out) == (told.get("goals") != [])
