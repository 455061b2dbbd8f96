"""Every numbered result of the four papers has its row or its reason, the report shows all, and a wrong row is seen."""

import json
import re
from dataclasses import replace
from io import BytesIO

import networkx as nx
import pytest

from utmost.local import Coupling

# Numbers and constructions are made wrong, which no command does; each has to be noticed.
from utmost_papers import (
    contents,
    fernandes_duality,
    geng_lemmas,
    ghosh,
    ghosh_lemmas,
    koufogiannis_applications,
    koufogiannis_market,
)
from utmost_papers import fernandes as tables
from utmost_papers.comparison import Comparison, corrected, equal, extended
from utmost_papers.contents import PAPERS, papers_named
from utmost_papers.koufogiannis_applications import karate_club, les_miserables
from utmost_papers.paper_pictures import pictures
from utmost_papers.report_page import papers_page

ROWS = [
    Comparison("Theorem 2", "what <b>", "1 & 2", "1/2 1/2\n1/3 2/3", "equal"),
    Comparison("Lemma 31", "more", "", "7", "extended", "a note"),
    Comparison("(10), (11)", "an equation", "x", "y", "corrected", "why"),
]


@pytest.fixture
def short(monkeypatch):
    """The four papers with rows that take no time."""
    quick = {name: replace(paper, comparisons=lambda _: list(ROWS)) for name, paper in PAPERS.items()}
    monkeypatch.setattr(contents, "PAPERS", quick)
    return quick


def test_the_numbered_results_are_those_of_the_papers():
    """Counts taken from the papers' own headings; every reason and every reference is of a result that is listed."""
    assert {name: len(paper.results) for name, paper in PAPERS.items()} == {
        "ghosh": 23, "geng": 46, "koufogiannis": 23, "fernandes": 59,
    }  # fmt: skip
    for paper in PAPERS.values():
        assert len(set(paper.results)) == len(paper.results)
        assert {*paper.untestable, *paper.again} <= set(paper.results)
        assert set(paper.again.values()) <= set(paper.results)
        assert not set(paper.untestable) & set(paper.again)


def test_a_result_without_a_row_is_named(short):
    missing = short["geng"].missing(ROWS)
    assert "Theorem 2" not in missing
    assert "Definition 1" not in missing
    assert {"Theorem 3", "Theorem 1", "Lemma 30"} <= set(missing)


def test_the_page_is_whole_and_asks_nobody():
    """Each result has its place, each link leads somewhere, nothing is fetched, words are escaped."""
    papers = papers_named("all")
    picture = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
    page = papers_page(papers, dict.fromkeys(PAPERS, ROWS), {"geng": {"figure_2": picture}})
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "http" not in page
    assert "what &lt;b&gt;" in page
    assert "<pre>1/2 1/2\n1/3 2/3</pre>" in page
    assert page.count("data:image/svg+xml;base64,") == 1
    assert "prefers-color-scheme: dark" in page
    for paper in papers:
        assert sum(identity.startswith(f"{paper.name}-") for identity in ids) == len(paper.results) + 1
    assert re.search(r"Without a row: \d+ numbered results", page)


def test_all_papers_go_into_one_report(short, recompute, tmp_path, monkeypatch):
    from utmost_papers import paper_pictures

    def draw(file, kind):
        file.write(b"<svg/>")

    monkeypatch.setattr(paper_pictures, "pictures", lambda paper: {"figure_1": draw})
    folder = tmp_path / "report"
    code, out, err = recompute("all", "--out", folder)
    assert (code, err) == (0, "")
    assert "The report is" in out
    assert sorted(path.name for path in folder.iterdir()) == ["comparisons.json", "index.html"]
    found = json.loads((folder / "comparisons.json").read_text())
    assert {name: len(rows) for name, rows in found.items()} == dict.fromkeys(PAPERS, 3)
    assert (folder / "index.html").read_text().count("data:image/svg+xml") == 4
    code, out, _ = recompute("all", "--json")
    assert (code, list(json.loads(out))) == (0, list(PAPERS))
    code, out, _ = recompute("geng", "--only", "Lemma 31", "--json")
    assert [row["what"] for row in json.loads(out)] == ["more"]
    code, _, err = recompute("all", "--out", folder)
    assert code == 2, "no existing file is overwritten"
    code, _, err = recompute("geng", "--only", "Lemma 99")
    assert (code, "Lemma 31" in err) == (2, True)
    code, _, err = recompute("geng", "--out", tmp_path / "report.html")
    assert (code, "folder" in err) == (2, True)


def verdicts(rows):
    return {row.place: row.verdict for row in rows}


def test_a_broken_construction_is_noticed(monkeypatch):
    """Lemma 24 without its scaling, a price that is charged twice, G with another alpha, a remap too few."""
    monkeypatch.setattr(geng_lemmas, "stretched", lambda period: (*period[:-1], period[0]))
    assert verdicts(geng_lemmas.decay_and_steps())["Lemma 24"] == "DIFFERS"
    step = koufogiannis_market.step_price
    monkeypatch.setattr(koufogiannis_market, "step_price", lambda prices, held, to: step(prices, None, to))
    assert [row.verdict for row in koufogiannis_market.market()].count("DIFFERS") == 1
    monkeypatch.setattr(
        ghosh_lemmas, "geometric_channel", lambda n, alpha: fernandes_duality.geometric_channel(n, alpha / 2)
    )
    assert verdicts(ghosh_lemmas.steps_of_the_proof())["Lemma 5.11"] == "DIFFERS"


def test_nib_on_every_line_is_checked_step_by_step(monkeypatch):
    """The rows of the theorem; with a wrong level for the chances, its second step fails."""
    assert [row.verdict for row in fernandes_duality.nib_on_every_line()] == ["extended"] * 4
    geometric = fernandes_duality.geometric_channel
    monkeypatch.setattr(fernandes_duality, "geometric_channel", lambda n, alpha: geometric(n, alpha=alpha / 2))
    rows = list(fernandes_duality.nib_on_every_line())
    assert [row.verdict for row in rows] == ["extended", "DIFFERS", "extended", "DIFFERS"]


def test_a_forged_print_is_noticed(monkeypatch, recompute):
    monkeypatch.setattr(ghosh, "FIGURE_2", ghosh.FIGURE_2.replace("1/24", "1/25", 1))
    code, out, _ = recompute("ghosh", "--only", "Figure 2")
    assert (code, "1 DIFFERS" in out) == (1, True)
    forged = replace(tables.ROWS[3], kernels=188, capacities=("2.34", "0.75"))
    wrong = [each.what for each in tables.row_of(forged) if each.verdict == "DIFFERS"]
    assert wrong == ["line of 5: kernels", "line of 5: capacities"]


@pytest.mark.slow
def test_fernandes_at_length():
    """What takes minutes: 4757698, 33433683534, 2.78e24, four secrets at equal distance, nib on lines of 6 and 7."""
    found = list(tables.fernandes(long=True))
    assert not [each for each in found if each.verdict == "DIFFERS"]
    assert {"4757698", "33433683534", "1/49", "yes, proved on lines of 3 to 7"} <= {each.found for each in found}


def test_a_wrong_number_differs_whatever_was_printed():
    assert equal("here", "this", 1, 1).verdict == "equal"
    assert equal("here", "this", 1, 2).verdict == "DIFFERS"
    assert corrected("here", "this", "23-fold", 24, 24, "").verdict == "corrected"
    assert corrected("here", "this", "23-fold", 24, 23, "").verdict == "DIFFERS"
    assert extended("here", "this", 1, 1).verdict == "extended"
    assert extended("here", "this", 1, 2).verdict == "DIFFERS"


DRAWN = [(paper, f"figure_{k}") for paper in ("ghosh", "geng") for k in range(1, 6)]


@pytest.mark.parametrize(("paper", "name"), DRAWN)
def test_pictures_are_the_same_each_time(paper, name):
    first, again = BytesIO(), BytesIO()
    pictures(paper)[name](first, "svg")
    assert first.getvalue().startswith(b"<?xml")
    if name == "figure_1":
        pictures(paper)[name](again, "svg")
        assert first.getvalue() == again.getvalue()


def test_the_networks_are_those_of_networkx():
    club, novel = nx.karate_club_graph(), nx.les_miserables_graph()
    assert {frozenset(edge) for edge in karate_club()} == {frozenset((str(a + 1), str(b + 1))) for a, b in club.edges}
    assert {frozenset(edge) for edge in les_miserables()} == {frozenset(edge) for edge in novel.edges}


def test_a_coupling_that_leaks_is_noticed(monkeypatch):
    """Fresh responses, planted in the place of the coupling: the comparison differs."""

    class Fresh(Coupling):
        def joint(self, bit):
            one, two = self.lower.of(bit), self.higher.of(bit)
            return {(a, b): (one if a else 1 - one) * (two if b else 1 - two) for a in (0, 1) for b in (0, 1)}

    monkeypatch.setattr(koufogiannis_applications, "Coupling", Fresh)
    verdicts = {each.what: each.verdict for each in koufogiannis_applications.rappor()}
    assert verdicts["the same by coupling the bits"] == "DIFFERS"
    assert list(verdicts.values()).count("DIFFERS") == 1
