"""`utmost reproduce`: every figure of the papers is found again, and a wrong one is noticed."""

import json
from collections import Counter
from io import BytesIO

import networkx as nx
import numpy as np
import pytest

from running import utmost_command
from utmost.adapters.cli import main
from utmost.adapters.figures.layout import layout
from utmost.adapters.figures.papers import pictures
from utmost.adapters.reproduce import ghosh as ghosh_module
from utmost.adapters.reproduce.comparison import corrected, equal, extended
from utmost.adapters.reproduce.networks import karate_club, les_miserables
from utmost.spaces import graph


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


def test_koufogiannis_is_reproduced_and_drawn(capsys, tmp_path):
    folder = tmp_path / "pictures"
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "koufogiannis", "--figures", str(folder), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not ended.value.code
    assert Counter(each["verdict"] for each in found) == {"equal": 19, "corrected": 10, "extended": 10}
    values = {each["found"] for each in found}
    assert {"0.18394", "alpha=3/23", "0.471404520791", "7/9 1/9 1/9 / 7/27 13/27 7/27 / 1/9 1/9 7/9"} <= values
    drawn = sorted(path.name for path in folder.iterdir())
    assert drawn == [f"figure_{k}.svg" for k in ("1", "3", "6", "6_les_miserables", "7")]
    with pytest.raises(SystemExit) as again:
        main(["reproduce", "koufogiannis", "--figures", str(folder)])
    assert again.value.code, "nothing is written over"


@pytest.mark.parametrize(("paper", "name"), [("ghosh", "figure_2"), ("geng", "figure_2"), ("koufogiannis", "figure_1")])
def test_pictures_are_the_same_each_time(paper, name):
    one, other = BytesIO(), BytesIO()
    pictures(paper)[name](one, "svg")
    pictures(paper)[name](other, "svg")
    assert one.getvalue() == other.getvalue()
    assert one.getvalue().startswith(b"<?xml")


def test_a_layout_keeps_members_as_far_apart_as_the_network_does():
    """A path of five is a straight line with unit steps; the karate club's stress is low."""
    places = layout([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    line = np.array([places[name] for name in "abcde"])
    assert np.abs(np.linalg.norm(np.diff(line, axis=0), axis=1) - 1).max() < 0.02
    club = layout(karate_club())
    distances = np.asarray(graph(karate_club()).distances, float)
    points = np.array([club[str(name)] for name in graph(karate_club()).labels])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    off = ~np.eye(34, dtype=bool)
    assert np.corrcoef(apart[off], distances[off])[0, 1] > 0.85


def test_the_networks_are_those_of_networkx():
    club, novel = nx.karate_club_graph(), nx.les_miserables_graph()
    assert {frozenset(edge) for edge in karate_club()} == {frozenset((str(a + 1), str(b + 1))) for a, b in club.edges}
    assert {frozenset(edge) for edge in les_miserables()} == {frozenset(edge) for edge in novel.edges}


def test_an_unknown_paper_is_misuse(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "dwork"])
    assert ended.value.code == 2
    assert "one of ghosh, geng, koufogiannis; got dwork" in capsys.readouterr().err


def test_a_wrong_number_differs_whatever_was_printed():
    assert equal("here", "this", 1, 1).verdict == "equal"
    assert equal("here", "this", 1, 2).verdict == "DIFFERS"
    assert corrected("here", "this", "23-fold", 24, 24, "").verdict == "corrected"
    assert corrected("here", "this", "23-fold", 24, 23, "").verdict == "DIFFERS"
    assert extended("here", "this", 1, 1).verdict == "extended"
    assert extended("here", "this", 1, 2).verdict == "DIFFERS"
