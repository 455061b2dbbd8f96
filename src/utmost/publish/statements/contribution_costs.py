"""Compare bounds on contributions (at_most, per_cell or in_total): how much noise each needs, and how much it removes.

The noise of a bound is known beforehand. What a bound removes is estimated from contributions of persons. A public
sample of contributions costs no privacy. If contributions were released, their privacy level adds up with the levels of
later releases of the same persons.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
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
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.contributions import AT_MOST, IN_TOTAL, MORE, PER_CELL
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.spending import Spending
from utmost.publish.promises.noise_at_level import cell_noise_at
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.estimates import Estimate, estimate_of
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.released_cells import IndependentCells
from utmost.tables.axes.domain import Domain

Contributions = CountedTable | Answer[Any]


@dataclass(frozen=True, slots=True, repr=False)
class BoundCost(Display):
    """The noise and the losses of one bound."""

    bound: int | float
    margin: int | float  # the margin of error of one released cell, exact
    persons: Estimate  # the number of persons with more than the bound, with a margin if it comes from a release
    # Removed (person, cell) pairs, or amounts beyond the bound in a person's largest cell or in all cells. This is an
    # estimate: a person between two bounds is assumed to need their middle, and the margin reaches to both of them; a
    # person beyond the largest bound is assumed to need one step more. None if too many persons are beyond it.
    lost: Estimate | None
    lost_at_least: float  # lower bound of what is lost, with the same confidence
    noise: float  # standard deviation of a wanted sum
    # Loss of a wanted sum: `lost` divided evenly among the sums; a removed cell counts as `per_cell`. None if `lost`
    # is None.
    loss: float | None
    loss_at_least: float

    @property
    def error(self) -> float | None:
        """The root of the expected squared error of a wanted sum; None if only `error_at_least` is known."""
        return None if self.loss is None else hypot(self.noise, self.loss)

    @property
    def error_at_least(self) -> float:
        """A lower bound on the error, computed from `loss_at_least`."""
        return hypot(self.noise, self.loss_at_least)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundCosts(Display):
    """The costs of several bounds; the printed table marks the bound with the least expected error.

    Attributes:
        name: Name of the bound: "at_most", "per_cell" or "in_total".
        rows: Costs of each bound, in ascending order of the bounds.
        beyond: Number of persons beyond the largest bound, with a margin if this number comes from a release.
        level: Privacy level of the tables to be published.
        paid: Privacy level at which the contributions were released; None if they are public.
        confidence: Confidence of each single margin of error.
    """

    _shown = ("name", "best", "level", "paid")

    name: str
    rows: tuple[BoundCost, ...]
    beyond: Estimate
    level: Level
    paid: Level | None
    confidence: Fraction

    @property
    def best(self) -> int | float | None:
        """The bound with the least expected error; if several have this error, the smallest bound.

        None if more persons are counted beyond the largest bound than noise explains: their further contributions are
        unknown, so that only `BoundCost.lost_at_least` is known of each loss. Pass larger limits to
        `count_contributions`.
        """
        errors = [(row.error, row.bound) for row in self.rows if row.error is not None]
        return min(errors)[1] if errors else None

    @property
    def table(self) -> dict[str, Any]:
        """The costs of all bounds, as columns of a table."""
        known = {
            self.name: np.array([row.bound for row in self.rows]),
            "margin": np.array([row.margin for row in self.rows]),
            "persons_cut": np.array([row.persons.value for row in self.rows]),
            "persons_cut_margin": np.array([row.persons.margin for row in self.rows]),
        }
        if self.best is None:
            return known | {
                "lost_at_least": np.array([row.lost_at_least for row in self.rows]),
                "error_at_least": np.array([row.error_at_least for row in self.rows]),
            }
        return known | {
            "lost": np.array([row.lost.value for row in self.rows if row.lost is not None]),
            "lost_margin": np.array([row.lost.margin for row in self.rows if row.lost is not None]),
            "error": np.array([row.error for row in self.rows]),
        }

    @property
    def counted(self) -> str:
        """Explanation of the columns "persons cut" and "lost"."""
        lost = {
            AT_MOST: "their cells beyond the bound; a person counts once in a cell",
            PER_CELL: "their events, or their amount, beyond the bound in their largest cell",
            IN_TOTAL: "their events, or their amount, beyond the bound in all cells together",
        }[self.name]
        largest = self.rows[-1].bound
        if self.best is not None:
            beyond = f"A person with more than {largest} is taken to have one step more."
        else:
            beyond = f"At least: nothing says how much more than {largest} the persons beyond it have."
        return f"Persons cut: those with more than the bound. Lost: {lost}. {beyond}"

    @property
    def advice(self) -> str:
        """A sentence that recommends a bound, or says why none can be recommended."""
        if self.best is not None:
            return f"{self.name}={self.best:.12g} has the least expected error."
        persons = f"{_shown(self.beyond)} persons have more than {self.rows[-1].bound}"
        return f"No bound can be recommended: {persons}. List larger bounds at the next count."

    @property
    def words(self) -> str:
        """A sentence about the privacy level that was spent to choose a bound."""
        if self.paid is None:
            return "The contributions are public: the choice costs no level."
        whole = Spending.of([self.paid, self.level]).level
        return (
            f"The contributions are a separate release at {self.paid}. Together with tables of the same persons at "
            f"{self.level} they cost {whole}."
        )

    def __str__(self) -> str:
        header = [self.name, "margin of a cell", "persons cut", "lost", "error of a sum", ""]
        lines = [header]
        for row in self.rows:
            cut, least = _shown(row.persons), "least" * (row.bound == self.best)
            if row.lost is None or row.error is None:
                costs = [f"at least {row.lost_at_least:.6g}", f"at least {row.error_at_least:.4g}"]
            else:
                costs = [_shown(row.lost), f"{row.error:.4g}"]
            lines.append([str(row.bound), f"{row.margin:.6g}", cut, *costs, least])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        return "\n".join([*aligned, *([self.advice] if self.best is None else []), self.counted, self.words])


def _shown(answer: Estimate) -> str:
    return str(answer) if answer.margin else str(answer.value)


def bound_costs(
    contributions: Contributions,
    domain: Domain,
    *,
    epsilon: Number | Level,
    at_most: int | None = None,
    per_cell: Number | None = None,
    step: Number = 1,
    marginal: str | Sequence[str] | None = None,
    public: bool = False,
    persons: int | None = None,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> BoundCosts:
    """Compare bounds on contributions: the noise that each needs, what it removes, and its expected error.

    Args:
        contributions: Answer of the release of a table from `count_contributions`; with ``public=True``, the table
            itself.
        domain: Domain of the table to be published, with separate noise for each cell.
        epsilon: Privacy level of the table to be published, as a number or a `Level`, such as ``level(alpha="1/2")``.
        at_most, per_cell: Value of the bound that is not compared, 1 by default: pass ``per_cell`` if limits of
            ``at_most`` were counted, and ``at_most`` if limits of ``per_cell`` were counted. For limits of ``in_total``
            pass neither: each cell then has the noise of ``in_total``.
        step: Step of amounts, as for `count_table`; the bounds are multiples of it.
        marginal: Names of the levels of the wanted sums; the error of one sum is shown. Pass None for the cells, "" for
            the total. The more cells a sum has, the larger is its loss compared with its noise.
        public: True if the contributions are public, such as those of a public sample.
        persons: Number of persons in the data to be published, a public number; only with ``public``. The
            contributions are scaled to this number.
        confidence: Confidence of the margins of error.

    Raises:
        WrongKind, NotANumber, NotALevel: if an argument is of another kind.
        OutOfRange: if a counted table is passed without ``public=True``, or a release with it; if the table is not one
            of contributions; or if the compared bound is passed as an argument.
        Unsupported: if the contributions were released with noise that is not geometric.

    Cost: that of choosing one plan for each bound.

    >>> from utmost.counting import Counting, count_contributions
    >>> sample = {"user": ["ann", "ann", "ann", "bob", "cem"], "page": ["A", "B", "C", "A", "B"]}
    >>> pages = Domain(page=["A", "B", "C"])
    >>> counted = count_contributions(sample, pages, Counting("user"), "at_most", [1, 2, 3])
    >>> print(bound_costs(counted, pages, epsilon=1, public=True, persons=3000))
    at_most  margin of a cell  persons cut  lost  error of a sum
    1        3                 1000         2000  666.7
    2        6                 1000         1000  333.3
    3        9                 0            0     4.223           least
    Persons cut: those with more than the bound. Lost: their cells beyond the bound; a person counts once in a cell. A
    person with more than 3 is taken to have one step more.
    The contributions are public: the choice costs no level.
    """
    instance(domain, Domain, "domain")
    truth(public, "public")
    persons = optional(persons, integer, "persons")
    spent, sure, histogram = level(epsilon), read_confidence(confidence), _Histogram.of(contributions, persons)
    if (histogram.level is None) != public:
        remedy = (
            "Release the contributions first: ut.release(contributions, ut.Promise.of_counted(contributions), "
            "epsilon=1), or utmost release CONTRIBUTIONS --epsilon 1; "
        )
        remedy += "or pass public=True if the contributions are public."
        came, remedy = ("a release", "Leave out public=.") if public else ("true counts", remedy)
        required = "public=True needs a counted table of contributions" if public else "contributions must be a release"
        raise OutOfRange(required, came=came, remedy=remedy)
    if persons is not None and (not public or persons < 1):
        remedy = "Leave out persons=; or pass public=True and a number of persons, 1 or more."
        raise OutOfRange("persons= must be at least 1, and needs public=True", came=persons, remedy=remedy)
    fixed: dict[str, Number | None] = {AT_MOST: at_most, PER_CELL: per_cell, IN_TOTAL: None}
    if histogram.name == IN_TOTAL and not at_most is per_cell is None:
        remedy = "Leave out at_most= and per_cell=."
        raise OutOfRange(
            "at_most= and per_cell= must be left out when values of in_total are compared",
            came="at_most= or per_cell=",
            remedy=remedy,
        )
    if fixed[histogram.name] is not None:
        remedy = f"Leave {histogram.name}= out."
        raise OutOfRange(
            f"{histogram.name} must be left out, since values of it are compared", came="a value", remedy=remedy
        )
    width, chosen = exact(step, "step"), domain.finest if marginal is None else domain.marginal(marginal)
    starts = [Fraction(0), *histogram.bounds]
    # Persons in a cell need a bound from `least` to `most`; they are assumed to need the middle. Persons beyond all
    # bounds are assumed to need one step more than the largest bound. They may need any larger bound: if there are many
    # of them, only a lower bound of the loss is computed.
    beyond_all = histogram.bounds[-1] + width
    least = [*(low + width for low in starts[:-1]), beyond_all]
    most = [*histogram.bounds, beyond_all]
    middle = [(low + high) / 2 for low, high in zip(least, most, strict=True)]
    beyond = histogram.answer([Fraction(at == len(histogram.bounds)) for at in range(len(starts))], sure)
    has_all_cells = histogram.name == AT_MOST and histogram.bounds[-1] >= domain.size  # no person can have more
    is_open = beyond.value > beyond.margin and not has_all_cells
    groups = prod(domain.group_shape(chosen))
    each = 1.0 if histogram.name != AT_MOST or per_cell is None else float(exact(per_cell, PER_CELL))
    rows = []
    for place, bound in enumerate(histogram.bounds):
        pair = {**fixed, histogram.name: bound}
        # Bounds without a value are 1; in_total is charged like one cell with the whole sum.
        amount = None if width == 1 else Amount("amount", width)
        whole = next((exact(pair[name], name) for name in (IN_TOTAL, PER_CELL) if pair[name] is not None), Fraction(1))
        cells = 1 if pair[AT_MOST] is None else exact_integer(pair[AT_MOST], AT_MOST)
        sensitivity = whole if amount is None else amount.steps(whole, PER_CELL)
        unit = Unit(sensitivity, min(cells, domain.size), histogram.neighbours, amount)
        distribution: Geometric | IntegerDistribution
        if histogram.name == IN_TOTAL:  # the geometric noise of a plan's cells
            distribution = Geometric(unit.per_cell(spent), unit.sensitivity)
            margin = unit.margin(distribution.margin(sure))
        else:
            of_cells = cell_noise_at(spent, unit=unit, confidence=sure)
            distribution, margin = of_cells.drawn, of_cells.margin
        cut = histogram.answer([Fraction(at > place) for at in range(len(starts))], sure)
        lost, low, high = (
            histogram.answer([(need - bound) * (at > place) for at, need in enumerate(needs)], sure)
            for needs in (middle, least, most)
        )
        noise = sqrt(float(distribution.variance()) * float(width) ** 2 * (domain.size // groups))
        share = each / groups
        at_least = max(0, low.value - low.margin)
        # On average, the square of an unbiased estimate exceeds the true square by the estimate's variance.
        squared = max(0.0, float(lost.exact) ** 2 - lost.variance) if lost.exact > 0 else 0.0
        # Two one-sided margins: the noise is symmetric, so that each fails half as often as the margin of both sides.
        around = max(high.value + high.margin - lost.value, lost.value - low.value + low.margin)
        shown = int(bound) if bound.denominator == 1 else float(bound)
        estimated = (None, None) if is_open else (replace(lost, margin=around), share * sqrt(squared))
        rows.append(BoundCost(shown, margin, cut, estimated[0], at_least, noise, estimated[1], share * at_least))
    return BoundCosts(histogram.name, tuple(rows), beyond, spent, histogram.level, sure)


@dataclass(frozen=True, slots=True)
class _Histogram:
    """The number of persons who need each bound: exact counts, or counts with the noise of a release."""

    name: str
    bounds: tuple[Fraction, ...]  # ascending; the last cell counts the persons beyond all bounds
    # function that returns a weighted sum of the cells, with its margin of error at a confidence
    answer: Callable[[Sequence[Fraction], Fraction], Estimate]
    level: Level | None  # the level of the release; None for true counts
    neighbours: str

    @classmethod
    def of(cls, contributions: Any, persons: int | None) -> "_Histogram":
        """Read contributions: an answer by a plan, a counted table, or an answer by cells."""
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

            def of_public_counts(weights: Sequence[Fraction], sure: Fraction) -> Estimate:
                value = share * sum(
                    (count * weight for count, weight in zip(counts, weights, strict=True)), Fraction(0)
                )
                return Estimate(int(value) if value.denominator == 1 else float(value), 0, 0.0, sure, value)

            return cls(name, bounds, of_public_counts, None, contributions.unit.neighbours)
        if not isinstance(contributions, Answer):
            raise wrong_kind("contributions", "a counted table of contributions, or its answer", contributions)
        read = contributions.cells
        cells, (name, bounds) = read.cells[read.column(None)], _axis(read.labels)
        ratio = read.noise.drawn.ratio if isinstance(read, IndependentCells) and read.noise.grid is None else None
        if ratio is None:
            remedy, came = "Release the contributions without half_step=, cost= and grid=.", contributions.distribution
            raise Unsupported("the contributions must have geometric noise", came=type(came).__name__, remedy=remedy)

        def of_noisy_cells(weights: Sequence[Fraction], sure: Fraction) -> Estimate:
            value = sum((cell * weight for cell, weight in zip(cells, weights, strict=True)), Fraction(0))
            return estimate_of(value, Combination(weights, ratio), sure)

        return cls(name, bounds, of_noisy_cells, contributions.level, contributions.unit.neighbours)


def _listed(domain: Domain) -> dict[str, Sequence[Any]]:
    return {axis.levels[0]: axis.labels[0] for axis in domain.axes}


def _axis(labels: Mapping[str, Sequence[Any]]) -> tuple[str, tuple[Fraction, ...]]:
    """Return the name of the bound that a table of contributions compares, and the values of this bound."""
    name = next(iter(labels), "")
    if len(labels) != 1 or name not in (AT_MOST, PER_CELL, IN_TOTAL) or labels[name][-1] != MORE:
        remedy = "Release a table of ut.count_contributions, or of utmost count --contributions at-most=1,2,5."
        raise OutOfRange(
            "contributions must be a table of count_contributions, or a release of such a table",
            came="another table",
            remedy=remedy,
        )
    return name, tuple(exact(bound, name) for bound in labels[name][:-1])
