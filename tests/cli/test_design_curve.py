"""`utmost design --curve`, and what long designs say while they run and when they are interrupted."""

import json
import os
import re
import signal

import pytest

import utmost as ut
from small_sizes import set_sizes

# The search is interrupted in a round of its own, wherever it runs.
from utmost.design.optima import search_for_rays

ASKED = ["design", "--space", "grid:3x3", "--prior", "uniform", "--loss", "distance"]
WEIGHTS = "".join(f"{k},{k * k % 17 + 1}\n" for k in range(20))


def test_a_curve_is_shown_written_and_drawn(run, tmp_path):
    out, picture = (tmp_path / name for name in ("curve.json", "one.svg"))
    code, shown, err = run(*ASKED, "--curve", "1/2:2:4", "--out", out, "--plot", picture)
    assert (code, err) == (0, "")
    assert len(re.findall(r"^ (0\.5|1|1\.5|2) +\d\.\d+ +\d\.\d+", shown, re.MULTILINE)) == 4
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [point["epsilon"] for point in found["levels"]] == ["1/2", "1", "3/2", "2"]
    assert all(
        point["verified"] and 0 <= point["expected_loss"] - point["lower_bound"] <= 1e-3 * point["expected_loss"]
        for point in found["levels"]
    )
    assert found["complete"]
    assert picture.read_bytes().startswith(b"<?xml")


def test_a_curve_for_a_distance(run, file):
    towns = file("name,latitude,longitude\nOslo,59.91,10.75\nBergen,60.39,5.32\nHamar,60.79,11.07\n", "towns.csv")
    asked = ["design", "--space", f"places:{towns}", "--prior", "uniform", "--loss", "distance", "--json"]
    found = json.loads(run(*asked, "--curve", "1:2:2 per 100 km")[1])
    assert [point["epsilon"] for point in found["levels"]] == ["1/100000", "1/50000"]
    assert found["unit"] == "m"


@pytest.mark.parametrize(
    "wrong",
    [
        ["--curve", "1:2"], ["--curve", "2:1:3"], ["--curve", "1:2:1"], ["--curve", "a:b:c"],
        ["--curve", "1:2:3", "--epsilon", 1], ["--curve", "1:2:3", "--epsilon", "1 per 1km"],
        ["--curve", "1:2:3", "--program"], ["--curve", "1:2:3", "--plot", "x.txt"],
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_curve_is_refused(run, wrong):
    code, shown, err = run(*ASKED, *wrong)
    assert (code, shown) == (2, "")
    assert "Traceback" not in err


def test_an_interrupted_design_is_the_best_so_far(run, file, tmp_path, monkeypatch):
    """Ctrl-C in the fourth round: the mechanism and the gap that is proven for it are written, and check."""
    priced = search_for_rays.RaySearch._price

    def stopped(self):
        if self.rounds == 3:
            raise KeyboardInterrupt
        priced(self)

    monkeypatch.setattr(search_for_rays.RaySearch, "_price", stopped)
    set_sizes(monkeypatch, simplex_rows=1000)
    out = tmp_path / "design.json"
    asked = ["design", "--space", "grid:4x5", "--loss", "distance", "--epsilon", 1]
    code, shown, _ = run(*asked, "--prior", f"weights:{file(WEIGHTS, 'weights.csv')}", "--out", out)
    assert code == 0
    assert re.search(r"checked\s+yes", shown)
    kept = ut.read_design(out).certificate
    assert kept.verify()
    assert 1e-6 * kept.upper < kept.gap < kept.upper


def test_a_design_that_is_only_shown_ends_at_once(run, monkeypatch):
    """Ctrl-C in the second round, without --out: the gap so far, and an exit code of its own."""
    priced = search_for_rays.RaySearch._price

    def stopped(self):
        if self.rounds == 1:
            os.kill(os.getpid(), signal.SIGINT)
        priced(self)

    monkeypatch.setattr(search_for_rays.RaySearch, "_price", stopped)
    set_sizes(monkeypatch, simplex_rows=1000)
    code, shown, said = run("design", "--space", "grid:4x5", "--epsilon", 1, "--prior", "uniform")
    assert (code, shown) == (130, "")
    assert re.search(r"relative gap of \d", said)
