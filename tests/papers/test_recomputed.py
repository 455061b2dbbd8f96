"""`utmost-papers`: every figure of the papers is found again."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import pytest

from utmost.noise import DiscreteStaircase, costs
from utmost_papers import contents
from utmost_papers.geng_classes import least_in_class
from utmost_papers.koufogiannis_pictures import layout


def test_ghosh_is_reproduced(recompute):
    code, out, _ = recompute("ghosh", "--json")
    found = json.loads(out)
    assert code == 0
    assert Counter(each["verdict"] for each in found) == {"equal": 32, "corrected": 4, "extended": 11}
    places = {each["place"] for each in found}
    assert {"Example 2.2", "Section 6.1", "Theorem 6.1", "Proposition 6.2", "Theorem 6.3"} <= places
    assert {f"Figure {k}" for k in (2, 3, 4, 5)} <= places
    values = {each["found"] for each in found}
    assert {"1.194232155316", "481/750", "269/3000"} <= values


def test_geng_is_reproduced(recompute):
    code, out, err = recompute("geng", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert Counter(each["verdict"] for each in found) == {"equal": 46, "corrected": 1, "extended": 9}
    assert {"14.8406421", "23.606893"} <= {each["found"] for each in found}


def test_fernandes_is_reproduced(recompute):
    """Tables 4 to 7 with capacities, the theorems and the figures: each equal, corrected or extended."""
    code, out, err = recompute("fernandes", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert Counter(each["verdict"] for each in found) == {"equal": 85, "corrected": 11, "extended": 19}
    places = {each["place"] for each in found}
    assert {f"Table {k}" for k in (4, 5, 6, 7)} | {f"Figure {k}" for k in range(1, 9)} <= places
    known = {(each["what"], each["verdict"]): each["found"] for each in found}
    assert known["grid 2x2: vertices", "corrected"] == "4346"
    assert known["3 bits: kernels", "corrected"] == "29213"
    assert known["4 bits: vertices", "extended"] == "990"
    assert known["5 bits: vertices", "extended"] == "395094"
    assert known["6 equidistant: kernels", "extended"] == "200213"
    assert known["3 bits: capacities", "equal"] == "64/27 = 2.37 and 19/27 = 0.7037"
    assert known["grid 3x3: capacities", "equal"].startswith("3.53401496842")


def test_koufogiannis_is_reproduced_and_drawn(recompute, tmp_path):
    folder = tmp_path / "pictures"
    code, out, _ = recompute("koufogiannis", "--plot", folder, "--json")
    found = json.loads(out)
    assert code == 0
    assert Counter(each["verdict"] for each in found) == {"equal": 33, "corrected": 12, "extended": 15}
    values = {each["found"] for each in found}
    assert {"0.18394", "alpha=3/23", "0.471404520791", "7/9 1/9 1/9 / 7/27 13/27 7/27 / 1/9 1/9 7/9"} <= values
    drawn = sorted(path.name for path in folder.iterdir())
    assert drawn == [f"figure_{k}.svg" for k in ("1", "2", "3", "4", "5", "6", "6_les_miserables", "7")]
    assert recompute("koufogiannis", "--plot", folder)[0], "no existing file is overwritten"


def test_an_unknown_paper_is_misuse(recompute):
    code, _, err = recompute("dwork")
    assert code == 2
    assert "one of ghosh, geng, koufogiannis, fernandes, or all; got dwork" in err


def test_comparisons_go_to_a_file_and_never_over_one(recompute, tmp_path, monkeypatch):
    (paper,) = contents.papers_named("ghosh")  # the first rows, once: here it matters where the comparisons go
    rows = list(islice(paper.comparisons(False), 3))
    monkeypatch.setattr(contents, "papers_named", lambda _: [replace(paper, comparisons=lambda _: rows)])
    out = tmp_path / "report.json"
    assert recompute("ghosh", "--out", out)[0] == 0
    assert recompute("ghosh", "--json")[1] == recompute("ghosh", "--out", "-")[1] == out.read_text()
    assert recompute("ghosh", "--out", out)[0] == 2
    assert "must end in .json" in recompute("ghosh", "--out", tmp_path / "report.txt")[2]


def test_the_least_even_noise_of_sensitivity_2_is_the_staircase():
    least = DiscreteStaircase(alpha="1/2", sensitivity=2).moment(1)
    assert least_in_class(2, costs.absolute, Fraction(1, 2), "even", "integers") == least


def test_a_path_of_three_is_drawn_at_its_length():
    places = layout([("a", "b"), ("b", "c")])
    assert abs(complex(*places["a"]) - complex(*places["c"])) == pytest.approx(2, abs=0.05)
