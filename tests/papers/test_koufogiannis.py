"""`utmost research reproduce koufogiannis`: every comparison, the pictures, and the two networks."""

import json
from collections import Counter
from io import BytesIO

import networkx as nx
import numpy as np
import pytest

from running import main
from utmost.interfaces.figures.koufogiannis_pictures import layout
from utmost.interfaces.figures.paper_pictures import pictures

# The comparisons with the papers are run by a command and have no public name.
from utmost.interfaces.papers import koufogiannis_applications
from utmost.interfaces.papers.comparison import Comparison
from utmost.interfaces.papers.contents import PAPERS
from utmost.interfaces.papers.koufogiannis_applications import karate_club, les_miserables
from utmost.local import Coupling
from utmost.spaces import graph


def test_koufogiannis_is_reproduced_and_drawn(capsys, tmp_path):
    folder = tmp_path / "pictures"
    with pytest.raises(SystemExit) as ended:
        main(["research", "reproduce", "koufogiannis", "--plot", str(folder), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not ended.value.code
    assert Counter(each["verdict"] for each in found) == {"equal": 33, "corrected": 12, "extended": 15}
    assert not PAPERS["koufogiannis"].missing([Comparison(**each) for each in found])
    values = {each["found"] for each in found}
    assert {"0.18394", "alpha=3/23", "0.471404520791", "7/9 1/9 1/9 / 7/27 13/27 7/27 / 1/9 1/9 7/9"} <= values
    drawn = sorted(path.name for path in folder.iterdir())
    assert drawn == [f"figure_{k}.svg" for k in ("1", "2", "3", "4", "5", "6", "6_les_miserables", "7")]
    with pytest.raises(SystemExit) as again:
        main(["research", "reproduce", "koufogiannis", "--plot", str(folder)])
    assert again.value.code, "nothing is written over"


DRAWN = [(paper, f"figure_{k}") for paper in ("ghosh", "geng") for k in range(1, 6)]


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_pictures_are_the_same_each_time(paper, name):
    first, again = BytesIO(), BytesIO()
    pictures(paper)[name](first, "svg")
    assert first.getvalue().startswith(b"<?xml")
    if name == "figure_1":
        pictures(paper)[name](again, "svg")
        assert first.getvalue() == again.getvalue()


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


def test_a_coupling_that_leaks_is_noticed(monkeypatch):
    """Fresh responses, planted in the place of the coupling: the comparison differs."""

    class Fresh(Coupling):
        def joint(self, bit):
            one, two = self.strict.of(bit), self.loose.of(bit)
            return {(a, b): (one if a else 1 - one) * (two if b else 1 - two) for a in (0, 1) for b in (0, 1)}

    monkeypatch.setattr(koufogiannis_applications, "Coupling", Fresh)
    verdicts = {each.what: each.verdict for each in koufogiannis_applications.rappor()}
    assert verdicts["the same by coupling the bits"] == "DIFFERS"
    assert list(verdicts.values()).count("DIFFERS") == 1
