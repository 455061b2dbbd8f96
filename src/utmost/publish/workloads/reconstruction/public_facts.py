"""Public facts about sums: totals and marginals that are known exactly, bounds, cells that must be zero.

Clean tables satisfy these facts, see `nonnegative_squares`. `clashing_facts` refuses facts that contradict each other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.numbers import Number, exact
from utmost.core.privacy.amount import Amount
from utmost.errors import BadTable, Infeasible, OutOfRange
from utmost.tables.axes.axes import label_text
from utmost.tables.axes.domain import Domain, Marginal

_LARGEST = 10**100

MOST_NAMED = 6
"""The largest number of facts that a sentence names one by one."""

CellBounds = tuple[NDArray[Any], NDArray[Any]]
"""Lower and upper bounds of the sums of a marginal; -inf and inf stand for no bound."""


@dataclass(frozen=True, slots=True)
class Between:
    """The bounds of a public number."""

    low: Number | None
    high: Number | None


def between(low: Number | None = None, high: Number | None = None) -> Between:
    """State public bounds of a number, for `NoisySums.clean`: low <= number <= high.

    Args:
        low: Lower bound, or None.
        high: Upper bound, or None.

    Raises:
        NotANumber: if a bound is not a number.
        OutOfRange: if both bounds are None, or low > high.

    >>> between(10, 40), between(high=5)
    (Between(low=10, high=40), Between(low=None, high=5))
    """
    ends = [exact(end, "between") for end in (low, high) if end is not None]
    if not ends or ends != sorted(ends):
        remedy = "Pass between(10, 40), between(low=10) or between(high=40)."
        required = "between needs low=, high= or both, and low must not be above high"
        raise OutOfRange(required, came=(low, high), remedy=remedy)
    return Between(low, high)


@dataclass(frozen=True, slots=True, eq=False)
class PublicFacts:
    """Public bounds of the sums of some marginals of a domain."""

    domain: Domain
    # bounds by marginal: integers or infinite, of shape `domain.group_shape`, in steps of an amount
    bounds: Mapping[Marginal, CellBounds] = field(repr=False)
    amount: Amount | None = None  # the amount that is summed; None for counts

    @classmethod
    def of_places(
        cls, domain: Domain, rows: Iterable[tuple[Marginal, int, Any]], amount: Amount | None = None
    ) -> "PublicFacts":
        """Make facts from (marginal, index of the group, number or `Between`); several facts of one sum all hold."""
        bounds: dict[Marginal, CellBounds] = {}
        for marginal, place, value in rows:
            if marginal not in bounds:
                size = int(np.prod(domain.group_shape(marginal)))
                bounds[marginal] = np.full(size, -inf, dtype=object), np.full(size, inf, dtype=object)
            lower, upper = bounds[marginal]
            low, high = (value.low, value.high) if isinstance(value, Between) else (value, value)
            # Several facts about one sum must all hold.
            lower[place] = max(lower[place], -inf if low is None else _whole(low, amount))
            upper[place] = min(upper[place], inf if high is None else _whole(high, amount))
        shaped = {
            marginal: (_shaped(domain, marginal, low), _shaped(domain, marginal, up))
            for marginal, (low, up) in bounds.items()
        }
        facts = cls(domain, shaped, amount)
        for marginal, (lower, upper) in facts.bounds.items():
            for place in np.flatnonzero((lower > np.minimum(upper, inf)).ravel() | (upper < 0).ravel()).tolist():
                raise clash_of([facts.fact(marginal, place)])
        return facts

    def fact(self, marginal: Marginal, place: int) -> str:
        """Return one fact in words."""
        return next(self._in_words(marginal, [place]))

    def _in_words(self, marginal: Marginal, places: Sequence[int]) -> Iterator[str]:
        labels = self.domain.group_labels(marginal)
        lower, upper = (bounds.ravel() for bounds in self.bounds[marginal])
        for place in places:
            name = " ".join(f"{level}={label_text(values[place])}" for level, values in labels.items()) or "total"
            ends = lower[place], upper[place]
            low, high = (None if end in (-inf, inf) else self._text(end) for end in ends)
            if low == high:
                yield f"{name} = {low}"
            elif low is None or high is None:
                yield f"{name} at most {high}" if low is None else f"{name} at least {low}"
            else:
                yield f"{name} from {low} to {high}"

    def _text(self, steps: int) -> str:
        return str(steps) if self.amount is None else self.amount.text(steps)

    def places(self, marginal: Marginal) -> list[int]:
        """Return the indices of a marginal's groups whose sums have a bound."""
        lower, upper = self.bounds[marginal]
        return np.flatnonzero(((lower != -inf) | (upper != inf)).ravel()).tolist()

    @property
    def words(self) -> str:
        """The facts in one line; for a marginal with many facts, their number and the first one."""
        lines = []
        for marginal in self.bounds:
            places = self.places(marginal)
            named = list(self._in_words(marginal, places[:MOST_NAMED]))
            name = self.domain.marginal_name(marginal)
            lines += named if len(places) <= MOST_NAMED else [f"{len(places)} sums over {name!r}, the first {named[0]}"]
        return "; ".join(lines)

    def facts(self) -> list[dict[str, Any]]:
        """Return the facts as JSON values, for `of_facts`: for each sum its labels, lower and upper bound, as text."""
        facts = list[dict[str, Any]]()
        for marginal, bounds in self.bounds.items():
            columns = self.domain.group_labels(marginal).values()
            labels = [[str(label_text(label)) for label in column] for column in columns]
            ends = [[None if end in (-inf, inf) else self._text(end) for end in bound.ravel()] for bound in bounds]
            sums = [
                [[column[place] for column in labels], *(end[place] for end in ends)] for place in self.places(marginal)
            ]
            facts.append({"marginal": list(self.domain.level_names(marginal)), "sums": sums})
        return facts

    @classmethod
    def of_facts(
        cls, domain: Domain, facts: Sequence[Mapping[str, Any]], amount: Amount | None = None
    ) -> "PublicFacts":
        """Read the facts from JSON values."""
        rows: list[tuple[Marginal, int, Any]] = []
        try:
            for part in facts:
                marginal = domain.marginal([*part["marginal"]])
                place_of = places_of_labels(domain, marginal)
                rows += [(marginal, place_of[tuple(labels)], Between(low, high)) for labels, low, high in part["sums"]]
        except (LookupError, TypeError, ValueError) as error:
            came = f"{type(error).__name__}: {error}"
            raise BadTable("public facts must be about sums over the domain", came=came, where="given") from None
        return cls.of_places(domain, rows, amount)

    @property
    def ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The lower and upper bound of each cell; a cell is no larger than any public sum that contains it."""
        lower = np.zeros(self.domain.shape, dtype=object)
        upper = np.full(self.domain.shape, inf, dtype=object)
        for marginal, (_, highest) in self.bounds.items():
            # No cell is negative, so a cell is at most every sum that contains it.
            upper = np.minimum(upper, self.domain.spread(highest, marginal))
        if self.domain.finest in self.bounds:
            lower = np.maximum(lower, self.bounds[self.domain.finest][0])
        return lower, upper

    def box(self, whole: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the bounds of the cells minus ``whole``."""
        lower, upper = self.ends
        return (lower - whole).astype(np.float64), (upper - whole).astype(np.float64)

    def minus(self, whole: NDArray[Any]) -> dict[Marginal, tuple[Floats, Floats]]:
        """Return the bounds of all sums of several cells, minus the sums of ``whole``."""
        left = {}
        for marginal, ends in self.bounds.items():
            if marginal != self.domain.finest:
                sums = self.domain.sums(whole, marginal).astype(object)
                lower, upper = ((end - sums).astype(np.float64) for end in ends)
                left[marginal] = lower, upper
        return left

    def hold(self, cells: NDArray[Any]) -> bool:
        """Whether all facts hold for these integer cells."""
        sums = {marginal: self.domain.sums(cells, marginal).astype(object) for marginal in self.bounds}
        return all(
            bool(((low <= sums[marginal]) & (sums[marginal] <= up)).all())
            for marginal, (low, up) in self.bounds.items()
        )


def with_sums(
    domain: Domain, facts: PublicFacts | None, marginal: Marginal, sums: Sequence[int], amount: Amount | None = None
) -> PublicFacts:
    """Add known sums of a marginal to the facts; refuse sums that contradict them."""
    bounds = {} if facts is None else dict(facts.bounds)
    # The None prevents NumPy from converting Python integers to int64.
    whole = np.array([*sums, None], dtype=object)[:-1].reshape(domain.group_shape(marginal))
    lower, upper = bounds.get(marginal, (whole, whole))
    for place in np.flatnonzero(((whole < lower) | (upper < whole)).ravel()).tolist():
        assert facts is not None, "without facts no sum is out of bounds"
        raise clash_of([facts.fact(marginal, place), f"held at {whole.ravel()[place]}"], 2)
    return PublicFacts(domain, bounds | {marginal: (whole, whole)}, amount)


def places_of_labels(domain: Domain, marginal: Marginal) -> dict[tuple[str, ...], int]:
    """Return the index of each group of a marginal, by its labels as text."""
    columns = domain.group_labels(marginal).values()
    rows = zip(*columns, strict=True) if columns else [()]
    return {tuple(str(label_text(label)) for label in row): place for place, row in enumerate(rows)}


def clash_of(facts: list[str], count: int = 1) -> Infeasible:
    """Return the error for ``count`` public facts that contradict each other; its message names those in ``facts``."""
    more = f"; and {count - len(facts)} more" if count > len(facts) else ""
    return Infeasible(
        "one table of whole numbers, none of them negative, must satisfy all these public facts: "
        f"{'; '.join(facts)}{more}",
        where="given",
        remedy="Remove one of these facts." if count > 1 else "Correct this fact.",
    )


def _whole(value: Number, amount: Amount | None) -> int:
    number = exact(value, "given") if amount is None else Fraction(amount.steps(value, "given"))
    if number.denominator != 1:
        raise OutOfRange("a public count must be an integer", came=value, where="given")
    if abs(number) > _LARGEST:
        raise OutOfRange("a public number must be at most 1e100 in size", came="a larger number", where="given")
    return number.numerator


def _shaped(domain: Domain, marginal: Marginal, values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values.reshape(domain.group_shape(marginal))
