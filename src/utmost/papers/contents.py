"""What the four papers number: every theorem, lemma, figure, table and algorithm, so that none goes without a row.

A result that says nothing which could be tested is listed with that reason; one that says again what another says,
with the other's name.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from utmost.errors import OutOfRange
from utmost.papers.comparison import Comparison
from utmost.papers.fernandes import fernandes
from utmost.papers.geng import geng
from utmost.papers.ghosh import ghosh
from utmost.papers.koufogiannis import koufogiannis

_DEFINITION = "a definition"
_ON_COSTS = "an assumption on the cost; a cost without it is refused"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper's numbered results.

    Attributes:
        name: how the command calls it.
        authors, year, title: of the paper.
        results: the names of its numbered results, in its order.
        again: results that say what another one says, with the name under which that has its rows.
        untestable: results that say nothing testable, with the reason.
        comparisons: all comparisons of the paper; its argument is whether to take minutes.
    """

    name: str
    authors: str
    year: int
    title: str
    results: tuple[str, ...]
    again: Mapping[str, str]
    untestable: Mapping[str, str]
    comparisons: Callable[[bool], Iterable[Comparison]]

    def rows_of(self, result: str, found: Iterable[Comparison]) -> list[Comparison]:
        """The comparisons that are of one numbered result.

        >>> [row.verdict for row in PAPERS["geng"].rows_of("Theorem 1", [Comparison("Theorem 3", "", "", "", "equal")])]
        ['equal']
        """
        name = self.again.get(result, result)
        return [row for row in found if row.place == name]

    def missing(self, found: Iterable[Comparison]) -> list[str]:
        """Numbered results that have neither a comparison nor a reason to have none."""
        places = {row.place for row in found}
        return [name for name in self.results if name not in self.untestable and self._place(name) not in places]

    def verdicts(self, found: Iterable[Comparison]) -> Counter[str]:
        """How many comparisons there are of each verdict."""
        return Counter(row.verdict for row in found)

    def _place(self, result: str) -> str:
        return self.again.get(result, result)


def _numbered(kind: str, *numbers: int | str) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in numbers)


def _all(kind: str, reason: str, *numbers: int | str) -> dict[str, str]:
    return dict.fromkeys(_numbered(kind, *numbers), reason)


GHOSH = Paper(
    "ghosh",
    "A. Ghosh, T. Roughgarden and M. Sundararajan",
    2009,
    "Universally utility-maximizing privacy mechanisms",
    (
        *_numbered("Example", "2.1", "2.2"),
        *_numbered("Figure", 1),
        *_numbered("Theorem", "3.1"),
        *_numbered("Lemma", "5.1"),
        *_numbered("Figure", 2, 3),
        *_numbered("Example", "5.2"),
        *_numbered("Observation", "5.3"),
        *_numbered("Lemma", "5.4", "5.5", "5.6"),
        *_numbered("Corollary", "5.7"),
        *_numbered("Lemma", "5.8", "5.9", "5.10", "5.11"),
        *_numbered("Theorem", "6.1"),
        *_numbered("Proposition", "6.2"),
        *_numbered("Theorem", "6.3"),
        *_numbered("Figure", 4),
        *_numbered("Lemma", "6.4"),
        *_numbered("Figure", 5),
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
    (
        *_numbered("Definition", 1, 2, 3),
        *_numbered("Figure", 1, 2),
        *_numbered("Theorem", 1, 2),
        *_numbered("Property", 1, 2),
        *_numbered("Theorem", 3),
        *_numbered("Figure", 3),
        *_numbered("Algorithm", 1),
        *_numbered("Theorem", 4),
        *_numbered("Corollary", 5),
        *_numbered("Theorem", 6),
        *_numbered("Corollary", 7),
        *_numbered("Theorem", 8),
        *_numbered("Corollary", 9),
        *_numbered("Theorem", 10),
        *_numbered("Property", 3),
        *_numbered("Theorem", 11),
        *_numbered("Figure", 5),
        *_numbered("Theorem", 12),
        *_numbered("Definition", 4),
        *_numbered("Theorem", 13),
        *_numbered("Lemma", *range(14, 22)),
        *_numbered("Algorithm", 2),
        *_numbered("Lemma", *range(22, 28)),
        *_numbered("Figure", 4),
        *_numbered("Lemma", 28),
        *_numbered("Algorithm", 3),
        *_numbered("Lemma", 29, 30, 31),
    ),
    {"Theorem 1": "Theorem 3", "Algorithm 2": "Lemma 21", "Algorithm 3": "Lemma 28", "Definition 4": "Theorem 13"},
    {**_all("Definition", _DEFINITION, 1, 2, 3), **_all("Property", _ON_COSTS, 1, 2, 3)},
    lambda _: geng(),
)

KOUFOGIANNIS = Paper(
    "koufogiannis",
    "F. Koufogiannis, S. Han and G. J. Pappas",
    2015,
    "Gradual release of sensitive data under differential privacy",
    (
        *_numbered("Theorem", "1A", "1B"),
        *_numbered("Figure", 1),
        *_numbered("Definition", 2),
        *_numbered("Remark", 1),
        *_numbered("Proposition", 3, 4),
        *_numbered("Definition", 5),
        *_numbered("Proposition", 6, 7),
        *_numbered("Definition", 8),
        *_numbered("Figure", 2),
        *_numbered("Theorem", 9, 10),
        *_numbered("Figure", 3),
        *_numbered("Algorithm", 1),
        *_numbered("Theorem", 11, 12),
        *_numbered("Figure", 4),
        *_numbered("Corollary", 13),
        *_numbered("Figure", 5, 6, 7),
    ),
    {"Figure 3": "Algorithm 1"},
    {**_all("Definition", _DEFINITION, 2, 5, 8), "Remark 1": "an assumption: that the events can be measured"},
    lambda _: koufogiannis(),
)

FERNANDES = Paper(
    "fernandes",
    "N. Fernandes, A. McIver, C. Palamidessi and M. Ding",
    2022,
    "Universal optimality and robust utility bounds for metric differential privacy",
    (
        *_numbered("Definition", 1),
        *_numbered("Figure", 1),
        *_numbered("Remark", 1),
        *_numbered("Lemma", 1),
        *_numbered("Definition", 2, 3),
        *_numbered("Lemma", 2),
        *_numbered("Figure", 2),
        *_numbered("Definition", 4, 5),
        *_numbered("Theorem", 3),
        *_numbered("Definition", 6),
        *_numbered("Theorem", 4, 5),
        *_numbered("Figure", 3),
        *_numbered("Definition", 7),
        *_numbered("Theorem", *(f"6({k})" for k in range(1, 6))),
        *_numbered("Corollary", 7),
        *_numbered("Theorem", 8),
        *_numbered("Corollary", 9),
        *_numbered("Theorem", 10, 11, 12),
        *_numbered("Corollary", 13),
        *_numbered("Definition", 8),
        *_numbered("Theorem", 14, 15),
        *_numbered("Lemma", 16),
        *_numbered("Corollary", 17, 18),
        *_numbered("Definition", 9),
        *_numbered("Lemma", 19),
        *_numbered("Table", 4),
        *_numbered("Figure", 4),
        *_numbered("Corollary", 20),
        *_numbered("Definition", 10),
        *_numbered("Table", 5),
        *_numbered("Figure", 5),
        *_numbered("Lemma", 21),
        *_numbered("Corollary", 22),
        *_numbered("Table", 6),
        *_numbered("Figure", 6),
        *_numbered("Table", 7),
        *_numbered("Figure", 7, 8),
        *_numbered("Lemma", "1 (app.)"),
        *_numbered("Property", 1, 2, 3),
        *_numbered("Lemma", "2 (app.)"),
        *_numbered("Definition", "1 (app.)"),
        *_numbered("Lemma", "3 (app.)"),
        *_numbered("Theorem", "4 (app.)"),
        *_numbered("Corollary", "5 (app.)"),
        *_numbered("Lemma", "6 (app.)"),
    ),
    {"Lemma 1 (app.)": "Remark 1", "Definition 9": "Lemma 19", "Definition 10": "Lemma 21"},
    _all("Definition", _DEFINITION, *range(1, 9), "1 (app.)"),
    fernandes,
)

PAPERS: Mapping[str, Paper] = {paper.name: paper for paper in (GHOSH, GENG, KOUFOGIANNIS, FERNANDES)}
"""In the order of their years."""


def papers_named(name: str) -> tuple[Paper, ...]:
    """One paper, or with "all" every one.

    Raises:
        OutOfRange: for another name.

    >>> [paper.year for paper in papers_named("all")]
    [2009, 2012, 2015, 2022]
    """
    if name == "all":
        return tuple(PAPERS.values())
    if name not in PAPERS:
        raise OutOfRange(f"the paper must be one of {', '.join(PAPERS)}, or all", came=name, where="reproduce")
    return (PAPERS[name],)
