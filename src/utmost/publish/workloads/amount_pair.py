"""The axis along which an amount is kept in parts, so that its sum and its count are noised together.

An event of amount x between l and h adds x - l to the first part S and h - x to the second part S'. Where missing
amounts are left out, an event without one adds h - l to a third part M. So

    number of events = (S + S' + M) / (h - l),     of those with an amount (S + S') / (h - l),
    sum of the amounts = (h S + l S') / (h - l).

The parts are no labels: their sum is the count times the width, which is neither of them. This module is the one place
that says so; whatever names tables, selects cells or plans asks it.
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
from utmost.tables.axes.domain import Domain, Family, with_level

_BOTH, _ADDED = 0, 1  # the level of the parts, and of their sum


def value_column(unit: Unit) -> str:
    """The name of the column of counts, or of sums of an amount, in a table of one measure.

    >>> value_column(Unit(1, 1))
    'count'
    """
    if unit.amount is None:
        return "count"
    return "sum" if unit.is_shared else unit.amount.name


Weights = tuple[Fraction, ...]
"""The factor of each part in an answer."""


@dataclass(frozen=True, slots=True)
class AmountColumn:
    """An answer that a table of an amount has for each group.

    Attributes:
        name: its column; that of its margins ends in "_margin".
        weights: the factor of each part.
        amount: Amount in whose unit the answer is; None for numbers of events.
    """

    name: str
    weights: Weights
    amount: Amount | None

    @property
    def margin(self) -> str:
        """The name of the column of margins."""
        return f"{self.name}_margin"


@dataclass(frozen=True, slots=True, eq=False)
class AmountPair:
    """The axis of the parts of an amount in a domain; made by `of`.

    Attributes:
        domain: the domain that has the axis.
        amount: Summed column, with its two ends.
        place: the place of the axis.
    """

    domain: Domain
    amount: Amount
    place: int

    @classmethod
    def of(cls, domain: Domain, unit: Unit) -> "AmountPair | None":
        """The axis of a unit by which sums and counts are noised together; None for any other unit.

        Raises:
            OutOfRange: for a domain without the axis of the parts.

        >>> from utmost.privacy import Amount
        >>> unit = Unit(200, 1, amount=Amount("paid", 1, (0, 200)))
        >>> pair = AmountPair.of(Domain(shop=["A", "B"], paid=["above 0", "below 200"]), unit)
        >>> pair.both((0, 1)), pair.seen((0, 0)), pair.name((0, 0))
        ((0, 0), (0, 1), 'shop')
        """
        if unit.amount is None or not unit.is_shared:
            return None
        named = dict(zip(domain.columns, domain.axes, strict=True))
        if unit.amount.name not in named or named[unit.amount.name].labels[0] != unit.amount.labels:
            required = "sums and counts that are noised together have an axis of their own"
            remedy = "Pass the domain of the counted table, and no together=."
            raise OutOfRange(required, came="another domain", remedy=remedy)
        return cls(domain, unit.amount, domain.columns.index(unit.amount.name))

    @property
    def columns(self) -> tuple[AmountColumn, ...]:
        """The columns of a table of this amount: events, those with an amount where others are counted, and sums."""
        name = self.amount.name
        stated = (AmountColumn(f"{name}_count", self.stated, None),) if self.amount.missing else ()
        return AmountColumn("count", self.count, None), *stated, AmountColumn(f"{name}_sum", self.total, self.amount)

    @property
    def count(self) -> Weights:
        """The factor of each part in the number of events."""
        low, high = self.amount.ends
        return (Fraction(1, high - low),) * self.size

    @property
    def stated(self) -> Weights:
        """The factor of each part in the number of events with an amount, which the mean divides by."""
        low, high = self.amount.ends
        return self._padded(Fraction(1, high - low), Fraction(1, high - low))

    @property
    def total(self) -> Weights:
        """The factor of each part in the sum of the amounts, in steps."""
        low, high = self.amount.ends
        return self._padded(Fraction(high, high - low), Fraction(low, high - low))

    @property
    def mean_columns(self) -> tuple[AmountColumn, ...]:
        """`columns`, and the mean times the number that it divides by, whose margin does not depend on the data.

        The mean of a group is wrong by (error of the sum - mean * error of the number) / noisy number. That error is
        widest where the mean is at an end, and there it is the noise of one part.
        """
        name = f"{self.amount.name}_mean"
        times = f"{self.amount.name}_count" if self.amount.missing else "count"
        return *self.columns, AmountColumn(f"{name} times {times}", self._padded(Fraction(1), Fraction(0)), self.amount)

    @property
    def size(self) -> int:
        """The number of parts."""
        return len(self.amount.labels)

    def _padded(self, above: Fraction, below: Fraction) -> Weights:
        return (above, below, *(Fraction(0),) * (self.size - 2))

    def both(self, family: Family) -> Family:
        """The family with all parts, whether it was named with the amount or without.

        Raises:
            OutOfRange: for a family of differences between the parts.
        """
        if family[self.place] not in (_BOTH, _ADDED):
            came = self.domain.family_name(family)
            remedy = f"Name the table without {self.amount.name!r}."
            raise OutOfRange(
                f"a table of {self.amount.name!r} has sum and count together", came=repr(came), remedy=remedy
            )
        return with_level(family, self.place, _BOTH)

    def seen(self, family: Family) -> Family:
        """The family without the axis of the parts, whose labels are those of its table."""
        return with_level(family, self.place, _ADDED)

    def name(self, family: Family) -> str:
        """The name of the table of a family, without the axis of the parts."""
        return self.domain.family_name(self.seen(family))

    def check_narrow(self, narrow: Mapping[int, int]) -> None:
        """Check that no table is narrowed to one of the parts."""
        if self.place in narrow:
            self._refuse(repr(self.domain.axes[self.place].labels[_BOTH][narrow[self.place]]))

    def check_where(self, *levels: Iterable[str]) -> None:
        """Check that no selection, and no numbers along levels, name the axis of the parts."""
        for named in levels:
            if self.amount.name in named:
                self._refuse("a selection of them")

    def _refuse(self, came: str) -> None:
        name = self.amount.name
        remedy = f"Leave out {name!r}: each table has its sum, its mean and the number of events."
        raise OutOfRange(f"a selection must not name {name!r}, which is the amount", came=came, remedy=remedy)

    def bars(self, ratio: Level, confidence: Number) -> tuple[tuple[str, int | float], ...]:
        """The margins of one group, each part of which has noise of a level; by column.

        >>> from utmost.exact import level
        >>> pair = AmountPair(Domain(paid=["above -1", "below 2"]), Amount("paid", 1, (-1, 2)), 0)
        >>> pair.bars(level(1), "0.95")
        (('count', 1.3333333333333335), ('paid_sum', 2.0), ('paid_mean times count', 3))
        """
        bars = list[tuple[str, int | float]]()
        for column in self.mean_columns:
            margin = Combination([weight for weight in column.weights if weight], ratio).margin(confidence)
            bars.append((column.name, margin if column.amount is None else column.amount.margin(margin)))
        return tuple(bars)

    def form(self, of: ProductForm, weights: Weights) -> ProductForm:
        """An answer over all parts, each with its weight."""
        common = lcm(*(weight.denominator for weight in weights))
        factors = list(of.factors)
        factors[self.place] = factors[self.place] * np.array([int(weight * common) for weight in weights], dtype=object)
        return ProductForm(of.domain, tuple(factors), of.denominator * common)

    def parts(self, values: NDArray[Any], family: Family) -> NDArray[Any]:
        """Numbers for the groups of a family of all parts, as a row for each part; (parts, groups of other axes)."""
        shape = self.domain.group_shape(family)
        before, after = prod(shape[: self.place]), prod(shape[self.place + 1 :])
        return np.moveaxis(values.reshape(before, self.size, after), 1, 0).reshape(self.size, before * after)

    def wanted(self, workload: Workload) -> Workload:
        """The same tables and sums, of all parts: the sum of an amount and the count are wanted together.

        Raises:
            OutOfRange: for what is wanted of one part alone.
        """
        return Workload.of_parts(workload.domain, [self._both_parts(part) for part in workload.parts])

    def _both_parts(self, part: WantedSums) -> WantedSums:
        along = part.sums[self.place]
        if along == Groups(_BOTH):
            return part
        if along != Groups(_ADDED):
            self._refuse(repr(part.name))
        sums = (*part.sums[: self.place], Groups(_BOTH), *part.sums[self.place + 1 :])
        return replace(part, sums=sums, answers=self.size * part.answers)

    def one_part(self, workload: Workload) -> Workload:
        """The wanted sums of each part, over the domain without their axis.

        All have noise of one distribution, and none in common, so that a plan for one is a plan for all.
        """
        axes = dict(zip(self.domain.columns, self.domain.axes, strict=True))
        del axes[self.amount.name]
        parts = [
            replace(part, sums=self._without(part.sums), answers=part.answers // self.size)
            for part in self.wanted(workload).parts
        ]
        return Workload.of_parts(Domain(axes), parts)

    def one_part_unit(self, unit: Unit) -> Unit:
        """The change by one individual in each part, of which nothing else is promised."""
        amount = Amount(self.amount.name, self.amount.step)
        return Unit(unit.sensitivity, unit.cells, unit.neighbours, amount, in_all=unit.in_all)

    def named(self, names: Iterable[Any]) -> list[Family]:
        """Families by their names, as the domain without the axis of the parts has them."""
        return [self._without(self.both(self.domain.family(name))) for name in names]

    def of_both(self, shares: Mapping[Family, Fraction]) -> dict[Family, Fraction]:
        """Shares that were planned for one part, by the families that measure all."""
        return {(*family[: self.place], _BOTH, *family[self.place :]): share for family, share in shares.items()}

    def _without(self, of: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*of[: self.place], *of[self.place + 1 :])
