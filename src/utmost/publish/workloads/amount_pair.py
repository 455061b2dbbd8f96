"""An axis that splits amounts into parts: noise of the parts serves both the sum of the amounts and the count.

An event of amount x between l and h adds x - l to the first part S and h - x to the second part S'. If missing amounts
are left out, an event without an amount adds h - l to a third part M. So

    number of events = (S + S' + M) / (h - l),     number of events with an amount = (S + S') / (h - l),
    sum of the amounts = (h S + l S') / (h - l).

The parts are not categories of events: their sum is (h - l) times the number of events. Only this module uses these
formulas.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.noise.combination import Combination
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.workload import WantedSums, Workload
from utmost.tables.axes.domain import Domain, Marginal, with_level

_PARTS, _ADDED = 0, 1  # levels of the axis: at level 0 the parts are separate, at level 1 they are added up


def value_column(unit: Unit) -> str:
    """Return the name of the column of values in a table of one measure: "count", "sum", or the amount's name."""
    if unit.amount is None:
        return "count"
    return "sum" if unit.is_shared else unit.amount.name


Weights = tuple[Fraction, ...]
"""For each part, the factor by which an answer multiplies it."""


@dataclass(frozen=True, slots=True)
class AmountColumn:
    """One column of a published table of an amount; its values are numbers of events, or sums of amounts."""

    name: str
    weights: Weights  # the value is the sum of the parts, each times its weight
    amount: Amount | None  # None if the column has numbers of events

    @property
    def margin(self) -> str:
        return f"{self.name}_margin"


@dataclass(frozen=True, slots=True, eq=False)
class AmountPair:
    """An axis whose values are the parts of an amount, and the answers that follow from the parts."""

    domain: Domain
    amount: Amount
    place: int  # the position of the axis among the domain's axes

    @classmethod
    def of(cls, domain: Domain, unit: Unit) -> "AmountPair | None":
        """Return the axis that splits an amount, if the unit measures sums and counts with one noise, else None."""
        if unit.amount is None or not unit.is_shared:
            return None
        named = dict(zip(domain.columns, domain.axes, strict=True))
        if unit.amount.name not in named or named[unit.amount.name].labels[0] != unit.amount.labels:
            required = "the domain must have the axis that counting added for sums and counts with shared noise"
            remedy = "Pass the domain of the counted table, and no together=."
            raise OutOfRange(required, came="another domain", remedy=remedy)
        return cls(domain, unit.amount, domain.columns.index(unit.amount.name))

    @property
    def columns(self) -> tuple[AmountColumn, ...]:
        """Columns of a published table: events; events with an amount, if some events have none; sum of the amounts."""
        name = self.amount.name
        stated = (AmountColumn(f"{name}_count", self.stated, None),) if self.amount.missing else ()
        return AmountColumn("count", self.count, None), *stated, AmountColumn(f"{name}_sum", self.total, self.amount)

    @property
    def count(self) -> Weights:
        low, high = self.amount.ends
        return (Fraction(1, high - low),) * self.size

    @property
    def stated(self) -> Weights:
        low, high = self.amount.ends
        return self._padded(Fraction(1, high - low), Fraction(1, high - low))

    @property
    def total(self) -> Weights:
        """The weight of each part in the sum of the amounts; this sum is counted in the steps of the amount."""
        low, high = self.amount.ends
        return self._padded(Fraction(high, high - low), Fraction(low, high - low))

    @property
    def mean_columns(self) -> tuple[AmountColumn, ...]:
        """`columns`, and a column of mean times number of events; its margin does not depend on the data."""
        # Error of a mean = (error of the sum - mean * error of the divisor) / noisy divisor. The numerator is widest
        # for a mean at an end of the range, where the numerator is the noise of one part.
        name = f"{self.amount.name}_mean"
        times = f"{self.amount.name}_count" if self.amount.missing else "count"
        return *self.columns, AmountColumn(f"{name} times {times}", self._padded(Fraction(1), Fraction(0)), self.amount)

    @property
    def size(self) -> int:
        """The number of parts: 2, or 3 if missing amounts are left out."""
        return len(self.amount.labels)

    def _padded(self, above: Fraction, below: Fraction) -> Weights:
        return (above, below, *(Fraction(0),) * (self.size - 2))

    def both(self, marginal: Marginal) -> Marginal:
        """Return the marginal in which the parts are separate; ``marginal`` may name the axis of parts or not."""
        if marginal[self.place] not in (_PARTS, _ADDED):
            came = self.domain.marginal_name(marginal)
            remedy = f"Name the table without {self.amount.name!r}."
            raise OutOfRange(
                f"a table of {self.amount.name!r} must contain both the sum and the count",
                came=repr(came),
                remedy=remedy,
            )
        return with_level(marginal, self.place, _PARTS)

    def seen(self, marginal: Marginal) -> Marginal:
        """Return the marginal without the axis of parts, as published tables show it."""
        return with_level(marginal, self.place, _ADDED)

    def name(self, marginal: Marginal) -> str:
        return self.domain.marginal_name(self.seen(marginal))

    def check_narrow(self, narrow: Mapping[int, int]) -> None:
        """Check that no table is restricted to one of the parts; ``narrow`` has each restricted axis and its group."""
        if self.place in narrow:
            self._refuse(repr(self.domain.axes[self.place].labels[_PARTS][narrow[self.place]]))

    def check_where(self, *levels: Iterable[str]) -> None:
        """Refuse names of levels if one of them is the name of the amount."""
        for named in levels:
            if self.amount.name in named:
                self._refuse(repr(self.amount.name))

    def _refuse(self, came: str) -> None:
        name = self.amount.name
        remedy = f"Leave out {name!r}: each table has the sum and the mean of this amount, and the number of events."
        raise OutOfRange(f"a selection must not name {name!r}, which is the amount", came=came, remedy=remedy)

    def bars(self, ratio: Level, confidence: Number) -> tuple[tuple[str, int | float], ...]:
        """Return the margin of error of each column, for one group, if each part has geometric noise of this level."""
        bars = list[tuple[str, int | float]]()
        for column in self.mean_columns:
            margin = Combination([weight for weight in column.weights if weight], ratio).margin(confidence)
            bars.append((column.name, margin if column.amount is None else column.amount.margin(margin)))
        return tuple(bars)

    def form(self, of: ProductForm, weights: Weights) -> ProductForm:
        """Return a linear form of the weighted sum of the parts, from the form ``of`` over the other axes."""
        common = lcm(*(weight.denominator for weight in weights))
        factors = list(of.factors)
        factors[self.place] = factors[self.place] * np.array([int(weight * common) for weight in weights], dtype=object)
        return ProductForm(of.domain, tuple(factors), of.denominator * common)

    def parts(self, values: NDArray[Any], marginal: Marginal) -> NDArray[Any]:
        """Return a marginal's values as a matrix of shape (parts, groups of the other axes)."""
        shape = self.domain.group_shape(marginal)
        before, after = prod(shape[: self.place]), prod(shape[self.place + 1 :])
        return np.moveaxis(values.reshape(before, self.size, after), 1, 0).reshape(self.size, before * after)

    def wanted(self, workload: Workload) -> Workload:
        """Return the workload in which every answer is wanted for each part."""
        parts = list[WantedSums]()
        for part in workload.parts:
            if part.sums[self.place] == Groups(_PARTS):
                parts.append(part)
                continue
            if part.sums[self.place] != Groups(_ADDED):
                self._refuse(repr(part.name))
            sums = (*part.sums[: self.place], Groups(_PARTS), *part.sums[self.place + 1 :])
            parts.append(replace(part, sums=sums, answers=self.size * part.answers))
        return Workload.of_parts(workload.domain, parts)

    def one_part(self, workload: Workload) -> Workload:
        """Return the workload for a single part of the amount, over the domain without the axis of parts."""
        # All parts have independent noise of the same distribution, so a plan for one part is a plan for each part.
        axes = dict(zip(self.domain.columns, self.domain.axes, strict=True))
        del axes[self.amount.name]
        parts = [
            replace(part, sums=self._without(part.sums), answers=part.answers // self.size)
            for part in self.wanted(workload).parts
        ]
        return Workload.of_parts(Domain(axes), parts)

    def one_part_unit(self, unit: Unit) -> Unit:
        """Return the unit of one part; it lacks ``nonnegative`` and ``exactly``, which do not hold for one part."""
        amount = Amount(self.amount.name, self.amount.step)
        return Unit(unit.sensitivity, unit.cells, unit.neighbours, amount, in_total=unit.in_total)

    def named(self, names: Iterable[Any]) -> list[Marginal]:
        """Read names of marginals; return each marginal as one of the domain without the axis of parts."""
        return [self._without(self.both(self.domain.marginal(name))) for name in names]

    def of_both(self, shares: Mapping[Marginal, Fraction]) -> dict[Marginal, Fraction]:
        """Convert budget shares that were planned for one part to shares of the marginals with all parts."""
        return {(*marginal[: self.place], _PARTS, *marginal[self.place :]): share for marginal, share in shares.items()}

    def _without(self, of: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*of[: self.place], *of[self.place + 1 :])
