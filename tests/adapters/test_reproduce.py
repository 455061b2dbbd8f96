"""`utmost reproduce`: every figure of the papers is found again, and a wrong one is noticed."""

import json
from collections import Counter

import pytest

from running import utmost_command
from utmost.adapters.cli import main
from utmost.adapters.reproduce import ghosh as ghosh_module
from utmost.adapters.reproduce.comparison import corrected, equal, extended


def test_ghosh_is_reproduced_and_a_forged_print_is_noticed(capsys, monkeypatch):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", *arguments])
        return ended.value.code or 0, capsys.readouterr().out

    code, out = run("ghosh", "--json")
    found = json.loads(out)
    assert code == 0
    assert Counter(each["verdict"] for each in found) == {"equal": 19, "corrected": 4, "extended": 11}
    places = {each["place"] for each in found}
    assert {"Example 2.2", "Section 6.1", "Theorem 6.1", "Proposition 6.2", "Theorem 6.3"} <= places
    assert {f"Figure {k}" for k in (2, 3, 4, 5)} <= places
    values = {each["found"] for each in found}
    assert {"1.194232155316", "481/750", "269/3000", ghosh_module.FIGURE_2, ghosh_module.FIGURE_3} <= values
    monkeypatch.setattr(ghosh_module, "FIGURE_2", ghosh_module.FIGURE_2.replace("1/24", "1/25", 1))
    monkeypatch.setenv("COLUMNS", "160")
    code, out = run("ghosh")
    assert (code, "1 DIFFERS" in out) == (1, True)


def test_geng_is_reproduced_in_a_process_of_its_own():
    ended = utmost_command("reproduce", "geng")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "14.8406421" in ended.stdout
    assert "23.606893" in ended.stdout
    assert "14 equal, 3 corrected, 5 extended" in ended.stdout


def test_an_unknown_paper_is_misuse(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "dwork"])
    assert ended.value.code == 2
    assert "one of ghosh, geng; got dwork" in capsys.readouterr().err


def test_a_wrong_number_differs_whatever_was_printed():
    assert equal("here", "this", 1, 1).verdict == "equal"
    assert equal("here", "this", 1, 2).verdict == "DIFFERS"
    assert corrected("here", "this", "23-fold", 24, 24, "").verdict == "corrected"
    assert corrected("here", "this", "23-fold", 24, 23, "").verdict == "DIFFERS"
    assert extended("here", "this", 1, 1).verdict == "extended"
    assert extended("here", "this", 1, 2).verdict == "DIFFERS"
