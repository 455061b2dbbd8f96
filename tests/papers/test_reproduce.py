"""`utmost research reproduce`: every figure of the papers is found again, and a wrong one is noticed."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from running import called, main

# The comparisons with the papers are run by a command and have no public name.
from utmost.interfaces.papers import fernandes as tables
from utmost.interfaces.papers import ghosh as ghosh_module
from utmost.interfaces.papers.comparison import Comparison, corrected, equal, extended
from utmost.interfaces.papers.contents import PAPERS
from utmost.interfaces.papers.fernandes import fernandes


def test_ghosh_is_reproduced_and_a_forged_print_is_noticed(capsys, monkeypatch):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["research", "reproduce", *arguments])
        return ended.value.code or 0, capsys.readouterr().out

    code, out = run("ghosh", "--json")
    found = json.loads(out)
    assert code == 0
    assert Counter(each["verdict"] for each in found) == {"equal": 32, "corrected": 4, "extended": 11}
    assert not PAPERS["ghosh"].missing([Comparison(**each) for each in found])
    places = {each["place"] for each in found}
    assert {"Example 2.2", "Section 6.1", "Theorem 6.1", "Proposition 6.2", "Theorem 6.3"} <= places
    assert {f"Figure {k}" for k in (2, 3, 4, 5)} <= places
    values = {each["found"] for each in found}
    assert {"1.194232155316", "481/750", "269/3000", ghosh_module.FIGURE_2, ghosh_module.FIGURE_3} <= values
    monkeypatch.setattr(ghosh_module, "FIGURE_2", ghosh_module.FIGURE_2.replace("1/24", "1/25", 1))
    monkeypatch.setenv("COLUMNS", "160")
    code, out = run("ghosh", "--only", "Figure 2")
    assert (code, "1 DIFFERS" in out) == (1, True)


def test_geng_is_reproduced():
    ended = called("research", "reproduce", "geng", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    found = [Comparison(**each) for each in json.loads(ended.stdout)]
    assert Counter(each.verdict for each in found) == {"equal": 46, "corrected": 1, "extended": 9}
    assert not PAPERS["geng"].missing(found)
    assert {"14.8406421", "23.606893"} <= {each.found for each in found}


def test_fernandes_is_reproduced_and_a_forged_print_is_noticed(run):
    """Tables 4 to 7 with capacities, the theorems and the figures: each equal, corrected or extended."""
    code, out, err = run("research", "reproduce", "fernandes", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert Counter(each["verdict"] for each in found) == {"equal": 85, "corrected": 11, "extended": 19}
    assert not PAPERS["fernandes"].missing([Comparison(**each) for each in found])
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
    forged = replace(tables.ROWS[3], kernels=188, capacities=("2.34", "0.75"))
    wrong = [each.what for each in tables.row_of(forged) if each.verdict == "DIFFERS"]
    assert wrong == ["line of 5: kernels", "line of 5: capacities"]


@pytest.mark.slow
def test_fernandes_at_length():
    """What takes minutes: 4757698, 33433683534, 2.78e24, four secrets at equal distance, nib on lines of 6 and 7."""
    found = list(fernandes(long=True))
    assert not [each for each in found if each.verdict == "DIFFERS"]
    assert {"4757698", "33433683534", "1/49", "yes, proved on lines of 3 to 7"} <= {each.found for each in found}


def test_an_unknown_paper_is_misuse(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["research", "reproduce", "dwork"])
    assert ended.value.code == 2
    assert "one of ghosh, geng, koufogiannis, fernandes, or all; got dwork" in capsys.readouterr().err


def test_a_wrong_number_differs_whatever_was_printed():
    assert equal("here", "this", 1, 1).verdict == "equal"
    assert equal("here", "this", 1, 2).verdict == "DIFFERS"
    assert corrected("here", "this", "23-fold", 24, 24, "").verdict == "corrected"
    assert corrected("here", "this", "23-fold", 24, 23, "").verdict == "DIFFERS"
    assert extended("here", "this", 1, 1).verdict == "extended"
    assert extended("here", "this", 1, 2).verdict == "DIFFERS"
