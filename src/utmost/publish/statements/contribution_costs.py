"""The cost in noise of each bound on a person's part, and what it cuts, to choose at_most, per_cell or in_all by.

The noise of a bound is known before anybody is counted. What it cuts is estimated from contributions: of a public
sample, which cost no level, or of a release, which is one more release of these persons.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import hypot, prod, sqrt
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, integer, optional, truth, wrong_kind
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact, exact_integer, read_confidence
from utmost.core.noise.combination import Combination
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.contributions import AT_MOST, IN_ALL, MORE, PER_CELL
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.spending import Spending
from utmost.publish.promises.noise_at_level import cell_noise_at
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.answer_cells import AnswerCells
from utmost.publish.releases.estimates import Estimate, estimate_of
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.tables.axes.domain import Domain

Contributions = CountedTable | Answer[Any]


@dataclass(frozen=True, slots=True, repr=False)
class BoundCost(Display):
    """One bound: what it costs, and what it cuts.

    Attributes:
        bound: Name of the bound: of a person's cells, of a person's sum in a cell, or of all of them together.
        margin: Margin of one released cell, known exactly.
        persons: Number of persons whose data it cuts, with a margin where it comes from a release.
        lost: Quantity that it cuts of them: cells of persons, of each one's largest sum, or of all sums. Where bounds
            leave gaps a person is taken to be in the middle of one, and above the largest bound just above it: an
            estimate.
        noise: the standard deviation of a wanted sum.
        loss: Quantity lost of it, were the loss spread evenly over the wanted sums, and a cell that is lost
            as full as may be.
    """

    bound: int | float
    margin: int | float
    persons: Estimate
    lost: Estimate
    noise: float
    loss: float

    @property
    def error(self) -> float:
        """The root of the expected squared error of a wanted sum."""
        return hypot(self.noise, self.loss)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundCosts(Display):
    """The costs of several bounds; printed, a table that marks the one of the least expected error.

    Attributes:
        name: Name of the bound that is chosen, "at_most", "per_cell" or "in_all".
        rows: Row of each bound, ascending.
        level: Level of the tables that are to be published.
        paid: Level at which the contributions were released; None where they are public.
        confidence: Confidence of each margin by itself.
    """

    _shown = ("name", "best", "level", "paid")

    name: str
    rows: tuple[BoundCost, ...]
    level: Level
    paid: Level | None
    confidence: Fraction

    @property
    def best(self) -> int | float:
        """The bound of the least expected error; of equal ones the least."""
        return min(self.rows, key=lambda row: row.error).bound

    @property
    def table(self) -> dict[str, Any]:
        """The costs as columns."""
        return {
            self.name: np.array([row.bound for row in self.rows]),
            "margin": np.array([row.margin for row in self.rows]),
            "persons_cut": np.array([row.persons.value for row in self.rows]),
            "persons_cut_margin": np.array([row.persons.margin for row in self.rows]),
            "lost": np.array([row.lost.value for row in self.rows]),
            "lost_margin": np.array([row.lost.margin for row in self.rows]),
            "error": np.array([row.error for row in self.rows]),
        }

    @property
    def counted(self) -> str:
        """Units of the persons who are cut, and of what is lost."""
        lost = {
            AT_MOST: "cells of these persons, who each count once in a cell",
            PER_CELL: "what these persons have beyond the bound in their fullest cell: events, or the amount",
            IN_ALL: "what these persons have beyond the bound in all cells together: events, or the amount",
        }[self.name]
        return f"Cut are persons who have more than the bound. Lost are {lost}."

    @property
    def words(self) -> str:
        """The price of the choice."""
        if self.paid is None:
            return "The contributions are public: the choice costs no level."
        whole = Spending.of([self.paid, self.level]).level
        return (
            f"The contributions are a release of their own at {self.paid}. Together with tables of the same persons at "
            f"{self.level} they cost {whole}."
        )

    def __str__(self) -> str:
        header = [self.name, "margin of a cell", "persons cut", "lost", "error of a sum", ""]
        lines = [header, *([*_in_words(row), "least" * (row.bound == self.best)] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        return "\n".join([*aligned, self.counted, self.words])


def _in_words(row: BoundCost) -> list[str]:
    cut = [str(answer) if answer.margin else str(answer.value) for answer in (row.persons, row.lost)]
    return [str(row.bound), f"{row.margin:.6g}", *cut, f"{row.error:.4g}"]


def bound_costs(
    contributions: Contributions,
    domain: Domain,
    *,
    epsilon: Number | Level,
    at_most: int | None = None,
    per_cell: Number | None = None,
    step: Number = 1,
    family: str | Sequence[str] | None = None,
    public: bool = False,
    persons: int | None = None,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> BoundCosts:
    """Say of each bound what it costs in noise and what it cuts, and which has the least expected error.

    Args:
        contributions: released, by `release` or a ledger, or read from a file; or counted by
            `count_contributions` and not released, with ``public=True``.
        domain: Domain of the table that is to be published, where every cell is noised by itself.
        epsilon: Privacy level of that table, a number or a `Level`, such as ``level(alpha="1/2")``.
        at_most, per_cell: The bound that is not to be chosen; 1 when left out. Where ``in_all`` is chosen neither is
            needed: each cell has the noise of that bound alone.
        step: Step of amounts, as for `count_table`; the bounds are multiples of it.
        family: Names of the levels whose sums are wanted: the error is that of one sum; the cells when left out, "" for
            the total. The more cells a sum has, the more a loss weighs against noise.
        public: Whether the contributions are no secret: those of a public sample, or of people of whom a table is
            public.
        persons: Number of persons that there will be, a public number, with ``public`` alone; the contributions are
            then shares of them.
        confidence: Confidence of margins and bars.

    Raises:
        WrongKind, NotANumber: for arguments of another kind.
        OutOfRange: for true contributions that are not called public, a table of no contributions, and a
            bound that is fixed and to be chosen.
        Unsupported: for contributions that were not released by geometric noise.

    Cost: a plan for each bound.

    >>> from utmost.counting import Counting, count_contributions
    >>> sample = {"user": ["ann", "ann", "ann", "bob", "cem"], "page": ["A", "B", "C", "A", "B"]}
    >>> pages = Domain(page=["A", "B", "C"])
    >>> counted = count_contributions(sample, pages, Counting("user"), "at_most", [1, 2, 3])
    >>> print(bound_costs(counted, pages, epsilon=1, public=True, persons=3000))
    at_most  margin of a cell  persons cut  lost  error of a sum
    1        3                 1000         2000  666.7
    2        6                 1000         1000  333.3
    3        9                 0            0     4.223           least
    Cut are persons who have more than the bound. Lost are cells of these persons, who each count once in a cell.
    The contributions are public: the choice costs no level.
    """
    instance(domain, Domain, "domain")
    truth(public, "public")
    persons = optional(persons, integer, "persons")
    spent, sure, histogram = level(epsilon), read_confidence(confidence), _Histogram.of(contributions, persons)
    if (histogram.level is None) != public:
        remedy = "Release them first, ut.release(contributions, ut.Promise.of_counted(contributions), epsilon=1); "
        remedy += "or pass public=True if they are public."
        came, remedy = ("a release", "Leave out public=.") if public else ("true counts", remedy)
        required = "public=True needs true counts" if public else "contributions must be a release"
        raise OutOfRange(required, came=came, remedy=remedy)
    if persons is not None and (not public or persons < 1):
        remedy = "Leave out persons=: a release counts the persons itself."
        raise OutOfRange("persons= needs public=True, and at least 1", came=persons, remedy=remedy)
    fixed: dict[str, Number | None] = {AT_MOST: at_most, PER_CELL: per_cell, IN_ALL: None}
    if histogram.name == IN_ALL and not at_most is per_cell is None:
        remedy = "Leave at_most= and per_cell= out."
        raise OutOfRange("contributions by in_all need no other bound", came="at_most= or per_cell=", remedy=remedy)
    if fixed[histogram.name] is not None:
        remedy = f"Leave out {histogram.name}=: it is the bound that these contributions choose."
        raise OutOfRange(f"{histogram.name} must be left out", came="a value", remedy=remedy)
    width, chosen = exact(step, "step"), domain.finest if family is None else domain.family(family)
    groups, needs = prod(domain.group_shape(chosen)), _needs(histogram.bounds, width)
    each = 1.0 if histogram.name != AT_MOST or per_cell is None else float(exact(per_cell, PER_CELL))
    rows = []
    for place, bound in enumerate(histogram.bounds):
        pair = {**fixed, histogram.name: bound}
        law, margin = _noise(spent, _unit(pair, domain, histogram.neighbours, width), histogram.name, sure)
        cut = histogram.answer([Fraction(at > place) for at in range(len(needs))], sure)
        lost = histogram.answer([max(Fraction(0), need - bound) * (at > place) for at, need in enumerate(needs)], sure)
        noise = float(law.variance()) * float(width) ** 2 * (domain.size // groups)
        # The square of an estimate is on average too large by its variance.
        loss = max(0.0, float(lost.exact) ** 2 - lost.variance) if lost.exact > 0 else 0.0
        shown = int(bound) if bound.denominator == 1 else float(bound)
        rows.append(BoundCost(shown, margin, cut, lost, sqrt(noise), each * sqrt(loss) / groups))
    return BoundCosts(histogram.name, tuple(rows), spent, histogram.level, sure)


def _noise(spent: Level, unit: Unit, name: str, sure: Fraction) -> tuple[Geometric | IntegerLaw, int | float]:
    """The noise of a cell, and its margin; of what is bounded in all that of a plan's cells, always geometric."""
    if name == IN_ALL:
        law = Geometric(unit.per_cell(spent), unit.sensitivity)
        return law, unit.margin(law.margin(sure))
    noise = cell_noise_at(spent, unit=unit, confidence=sure)
    return noise.drawn, noise.margin


def _unit(bounds: Mapping[str, Any], domain: Domain, neighbours: str, step: Fraction) -> Unit:
    """The change by one person of a table that is counted with these bounds, 1 where one has no value.

    What is bounded in all is charged as one cell that has all of it.
    """
    amount = None if step == 1 else Amount("amount", step)
    most = next((exact(bounds[name], name) for name in (IN_ALL, PER_CELL) if bounds[name] is not None), Fraction(1))
    cells = 1 if bounds[AT_MOST] is None else exact_integer(bounds[AT_MOST], AT_MOST)
    sensitivity = most if amount is None else amount.steps(most, PER_CELL)
    return Unit(sensitivity, min(cells, domain.size), neighbours, amount)


@dataclass(frozen=True, slots=True)
class _Histogram:
    """How many persons need each bound, with the noise that is known of them.

    Attributes:
        name: Name of the bound.
        bounds: ascending; the last cell, of those who need more, has none.
        answer: the sum of the cells, each with a coefficient, and its bar at a confidence.
        level, neighbours: Level and neighbouring relation of the release; no level for true counts.
    """

    name: str
    bounds: tuple[Fraction, ...]
    answer: Callable[[Sequence[Fraction], Fraction], Estimate]
    level: Level | None
    neighbours: str

    @classmethod
    def of(cls, contributions: Any, persons: int | None) -> "_Histogram":
        """Read contributions of any kind.

        Raises:
            WrongKind, OutOfRange, Unsupported: for anything else.
        """
        if isinstance(contributions, Answer) and isinstance(sums := contributions.table, NoisySums):
            name, bounds = _axis(_listed(sums.domain))
            (column,) = sums.domain.columns
            return cls(
                name,
                bounds,
                lambda weights, sure: sums.total(along={column: weights}, confidence=sure),
                sums.spent,
                sums.unit.neighbours,
            )
        if isinstance(contributions, CountedTable):
            name, bounds = _axis(_listed(contributions.domain))
            counts = [int(count) for count in np.asarray(contributions.summable)]
            share = Fraction(1) if persons is None else Fraction(persons, max(1, sum(counts)))
            return cls(name, bounds, partial(_exactly, counts, share), None, contributions.unit.neighbours)
        if not isinstance(contributions, Answer):
            raise wrong_kind("contributions", "a counted table of contributions, or its answer", contributions)
        read = AnswerCells.of(contributions)
        cells, noise, (name, bounds) = read.cells[read.column(None)], read.noise, _axis(read.labels)
        if noise.drawn.ratio is None or noise.grid is not None:
            remedy = "Release them without half_step=, cost= and grid=."
            raise Unsupported("contributions must have geometric noise", came=type(noise.drawn).__name__, remedy=remedy)
        return cls(name, bounds, partial(_noisily, cells, noise.drawn.ratio), noise.level, noise.unit.neighbours)


def _listed(domain: Domain) -> dict[str, Sequence[Any]]:
    return {axis.levels[0]: axis.labels[0] for axis in domain.axes}


def _axis(labels: Mapping[str, Sequence[Any]]) -> tuple[str, tuple[Fraction, ...]]:
    """Which bound contributions are about, and its values."""
    name = next(iter(labels), "")
    if len(labels) != 1 or name not in (AT_MOST, PER_CELL, IN_ALL) or labels[name][-1] != MORE:
        remedy = "Release what ut.count_contributions, or utmost count --contributions at-most=1,2,5, counts."
        raise OutOfRange("contributions must be a table of count_contributions", came="another table", remedy=remedy)
    return name, tuple(exact(bound, name) for bound in labels[name][:-1])


def _exactly(counts: Sequence[int], share: Fraction, weights: Sequence[Fraction], sure: Fraction) -> Estimate:
    """A sum of public counts, which has no noise."""
    value = sum((count * weight for count, weight in zip(counts, weights, strict=True)), Fraction(0)) * share
    return Estimate(int(value) if value.denominator == 1 else float(value), 0, 0.0, sure, value)


def _noisily(cells: Sequence[Fraction], noise: Level, weights: Sequence[Fraction], sure: Fraction) -> Estimate:
    """A sum of released cells, each with noise of its own."""
    value = sum((cell * weight for cell, weight in zip(cells, weights, strict=True)), Fraction(0))
    return estimate_of(value, Combination(weights, noise), sure)


def _needs(bounds: Sequence[Fraction], step: Fraction) -> list[Fraction]:
    """The need that is assumed of the persons of each cell: the middle between two bounds; of more, the least."""
    starts = [Fraction(0), *bounds]
    return [*((low + step + high) / 2 for low, high in pairwise(starts)), bounds[-1] + step]
