"""List the numbered results of the four papers: every theorem, lemma, figure, table and algorithm.

A result that cannot be tested is listed with the reason. A result that repeats another result is listed with the name
of that result.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from utmost.errors import OutOfRange
from utmost_papers.comparison import Comparison
from utmost_papers.fernandes import fernandes
from utmost_papers.geng import geng
from utmost_papers.ghosh import ghosh
from utmost_papers.koufogiannis import koufogiannis

_DEFINITION = "a definition"
_ON_COSTS = "an assumption on the cost; a cost without it is refused"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, its numbered results, and the function that compares them with computed values."""

    name: str
    authors: str
    year: int
    title: str
    results: tuple[str, ...]  # names of the numbered results, in the order of the paper: "Theorem 3"
    again: Mapping[str, str]  # for each result that repeats another, the name of the other
    untestable: Mapping[str, str]  # for each result that cannot be tested, the reason
    # Yields all comparisons; if the argument is true, also those that take minutes.
    comparisons: Callable[[bool], Iterable[Comparison]]

    def rows_of(self, result: str, comparisons: Iterable[Comparison]) -> list[Comparison]:
        """Return the comparisons that test the numbered result ``result``, or the result that it repeats."""
        return [row for row in comparisons if row.place == self._place(result)]

    def missing(self, comparisons: Iterable[Comparison]) -> list[str]:
        """Return the testable results that none of ``comparisons`` tests."""
        places = {row.place for row in comparisons}
        return [name for name in self.results if name not in self.untestable and self._place(name) not in places]

    def verdicts(self, comparisons: Iterable[Comparison]) -> Counter[str]:
        """Return how many of ``comparisons`` have each verdict: "equal", "corrected", "extended" or "DIFFERS"."""
        return Counter(row.verdict for row in comparisons)

    def _place(self, result: str) -> str:
        return self.again.get(result, result)


def _numbered(listed: str) -> tuple[str, ...]:
    """Return ("Lemma 1", "Lemma 2", "Figure 1") for "Lemma 1, 2; Figure 1"."""
    groups = (group.split(" ", 1) for group in listed.split("; "))
    return tuple(f"{kind} {number}" for kind, numbers in groups for number in numbers.split(", "))


def _with_reason(listed: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(_numbered(listed), reason)


GHOSH = Paper(
    "ghosh",
    "A. Ghosh, T. Roughgarden and M. Sundararajan",
    2009,
    "Universally utility-maximizing privacy mechanisms",
    _numbered(
        "Example 2.1, 2.2; Figure 1; Theorem 3.1; Lemma 5.1; Figure 2, 3; Example 5.2; Observation 5.3; "
        "Lemma 5.4, 5.5, 5.6; Corollary 5.7; Lemma 5.8, 5.9, 5.10, 5.11; Theorem 6.1; Proposition 6.2; "
        "Theorem 6.3; Figure 4; Lemma 6.4; Figure 5"
    ),
    {},
    {},
    lambda _: ghosh(),
)

GENG = Paper(
    "geng",
    "Q. Geng and P. Viswanath",
    2012,
    "The optimal mechanism in differential privacy",
    _numbered(
        "Definition 1, 2, 3; Figure 1, 2; Theorem 1, 2; Property 1, 2; Theorem 3; Figure 3; Algorithm 1; "
        "Theorem 4; Corollary 5; Theorem 6; Corollary 7; Theorem 8; Corollary 9; Theorem 10; Property 3; "
        "Theorem 11; Figure 5; Theorem 12; Definition 4; Theorem 13; Lemma 14, 15, 16, 17, 18, 19, 20, 21; "
        "Algorithm 2; Lemma 22, 23, 24, 25, 26, 27; Figure 4; Lemma 28; Algorithm 3; Lemma 29, 30, 31"
    ),
    {"Theorem 1": "Theorem 3", "Algorithm 2": "Lemma 21", "Algorithm 3": "Lemma 28", "Definition 4": "Theorem 13"},
    _with_reason("Definition 1, 2, 3", _DEFINITION) | _with_reason("Property 1, 2, 3", _ON_COSTS),
    lambda _: geng(),
)

KOUFOGIANNIS = Paper(
    "koufogiannis",
    "F. Koufogiannis, S. Han and G. J. Pappas",
    2015,
    "Gradual release of sensitive data under differential privacy",
    _numbered(
        "Theorem 1A, 1B; Figure 1; Definition 2; Remark 1; Proposition 3, 4; Definition 5; Proposition 6, 7; "
        "Definition 8; Figure 2; Theorem 9, 10; Figure 3; Algorithm 1; Theorem 11, 12; Figure 4; Corollary 13; "
        "Figure 5, 6, 7"
    ),
    {"Figure 3": "Algorithm 1"},
    _with_reason("Definition 2, 5, 8", _DEFINITION) | {"Remark 1": "an assumption: that the events can be measured"},
    lambda _: koufogiannis(),
)

FERNANDES = Paper(
    "fernandes",
    "N. Fernandes, A. McIver, C. Palamidessi and M. Ding",
    2022,
    "Universal optimality and robust utility bounds for metric differential privacy",
    _numbered(
        "Definition 1; Figure 1; Remark 1; Lemma 1; Definition 2, 3; Lemma 2; Figure 2; Definition 4, 5; "
        "Theorem 3; Definition 6; Theorem 4, 5; Figure 3; Definition 7; Theorem 6(1), 6(2), 6(3), 6(4), 6(5); "
        "Corollary 7; Theorem 8; Corollary 9; Theorem 10, 11, 12; Corollary 13; Definition 8; Theorem 14, 15; "
        "Lemma 16; Corollary 17, 18; Definition 9; Lemma 19; Table 4; Figure 4; Corollary 20; Definition 10; "
        "Table 5; Figure 5; Lemma 21; Corollary 22; Table 6; Figure 6; Table 7; Figure 7, 8; Lemma 1 (app.); "
        "Property 1, 2, 3; Lemma 2 (app.); Definition 1 (app.); Lemma 3 (app.); Theorem 4 (app.); "
        "Corollary 5 (app.); Lemma 6 (app.)"
    ),
    {"Lemma 1 (app.)": "Remark 1", "Definition 9": "Lemma 19", "Definition 10": "Lemma 21"},
    _with_reason("Definition 1, 2, 3, 4, 5, 6, 7, 8, 1 (app.)", _DEFINITION),
    fernandes,
)

PAPERS: Mapping[str, Paper] = {paper.name: paper for paper in (GHOSH, GENG, KOUFOGIANNIS, FERNANDES)}
"""The papers by name, in the order of their years."""


def papers_named(name: str) -> tuple[Paper, ...]:
    """Return one paper by name, or all papers for "all"."""
    if name == "all":
        return tuple(PAPERS.values())
    if name not in PAPERS:
        raise OutOfRange(f"the paper must be one of {', '.join(PAPERS)}, or all", came=name, where="reproduce")
    return (PAPERS[name],)
