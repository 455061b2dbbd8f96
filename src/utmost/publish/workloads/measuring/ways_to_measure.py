"""What a strategy measures, a class for each way: sums over groups, two columns as sum and difference, listed rows.

A new way to measure is one class with this protocol, and a line of `measurement_of`: strategies, releases, ledgers,
statements and pictures ask for nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.levels import Level, level
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.marginal_spaces import is_vast
from utmost.publish.workloads.measuring.measured_families import (
    hats_in_words,
    is_difference,
    is_hats,
    is_listed,
    place_of_hats,
)
from utmost.publish.workloads.measuring.measured_theorems import (
    IN_ALL,
    OF_DIFFERENCES,
    OF_GROUPS,
    OF_HATS,
    OF_ROTATED,
    OF_ROWS,
    OF_SHARED,
    OF_SIGNED,
    exactly_charged,
)
from utmost.publish.workloads.measuring.product_rows import ProductRows, check_rows
from utmost.publish.workloads.measuring.sums_and_differences import PairAxis, rotated_variances
from utmost.publish.workloads.measuring.unit_charge import charge_of, room_of_rows
from utmost.publish.workloads.planning.candidates import undetermined
from utmost.publish.workloads.planning.choose_families import check_measured, part_variances
from utmost.publish.workloads.planning.product_search import product_variances
from utmost.publish.workloads.reconstruction.product_reconstruction import ProductReconstruction
from utmost.publish.workloads.reconstruction.rotated_reconstruction import RotatedReconstruction
from utmost.publish.workloads.reconstruction.tree_reconstruction import LeastSquares, reconstruction_of
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Family
from utmost.tables.axes.few_cells import FewCells

Shares = Mapping[Family, Fraction]
Sums = Iterator[tuple[Family, NDArray[Any]]]


class Measurement(Protocol):
    """What is measured of a domain, and all that follows from it."""

    def check(self, unit: Unit, shares: Shares) -> None:
        """Check that this can be measured for a unit, at shares that spend the level."""

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """How much of its level these shares spend on one individual; see `unit_charge`."""

    def adds_to_one(self, shares: Shares) -> bool:
        """Whether the shares add up to 1, as they always may."""

    def shape(self, family: Family) -> tuple[int, ...]:
        """The shape of what a family measures."""

    def words(self, family: Family) -> str:
        """What a family measures, in words."""

    def kind(self, family: Family) -> str:
        """Of what a family's sums are, where they are not of groups alone."""

    def sums(self, cells: NDArray[Any] | FewCells, families: Iterable[Family]) -> Sums:
        """What each family measures, from a number for each cell."""

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        """Check that every wanted answer follows from what is measured."""

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """For each wanted part, the mean variance of its answers at a level."""

    def reconstruction(self, weights: Mapping[Family, int]) -> LeastSquares:
        """The estimates from what is measured, by weights."""

    def theorem(self, unit: Unit, shares: Shares) -> str:
        """Why the noise of these shares keeps the level."""

    def not_bounded(self, unit: Unit, shares: Shares) -> str:
        """Why no bound is of just these families; empty where one is."""


def measurement_of(domain: Domain, together: str | None, rows: ProductRows | None) -> Measurement:
    """What a strategy measures, from its own words.

    Raises:
        WrongKind: for rows that are none.
        OutOfRange: for an axis that is not of two values, and rows of another domain.

    >>> table = Domain(row=list("ABC"), column=["applied", "admitted"])
    >>> [measurement_of(table, together, None).words((0, 0)) for together in (None, "column")]
    ['row column', 'row, differences of column']
    """
    if rows is not None:
        if not isinstance(rows, ProductRows):
            raise wrong_kind("rows", "a ProductRows", rows)
        return ListedSums(domain, rows, together)
    return GroupSums(domain) if together is None else RotatedSums(PairAxis.of(domain, together))


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums over the groups of families; on one axis of hat functions, and of axes of two values the first less the
    second."""

    domain: Domain

    def check(self, unit: Unit, shares: Shares) -> None:
        """Check that these are families of groups, and spend the level."""
        place_of_hats(shares)
        unit.check_adds(is_one_cell=all(map(self.domain.is_of_cells, shares)), came="a strategy that measures sums")
        if any(map(is_listed, shares)):
            raise OutOfRange("classes of rows are measured where rows are listed", came="no rows", where="rows")
        total = sum(shares.values(), Fraction(0))
        # Shares of separate parts add up to more than 1 where no person is in all of them.
        if total != 1 and not (total > 1 and self.charge(unit, shares) == 1):
            remedy = "Leave out what is not measured, or let ut.strategy choose the shares."
            raise OutOfRange("the shares must be positive and add up to 1", came="others", remedy=remedy)

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """The closed forms of `unit_charge`."""
        return charge_of(self.domain, unit, shares)

    def adds_to_one(self, shares: Shares) -> bool:
        """Whether they do."""
        return sum(shares.values(), Fraction(0)) == 1

    def shape(self, family: Family) -> tuple[int, ...]:
        """How many groups there are along each axis; of many axes, along those that the family has."""
        if is_vast(self.domain):
            groups = [axis.groups(level) for axis, level in zip(self.domain.axes, family, strict=True)]
            return tuple(count for count in groups if count > 1)
        return self.domain.group_shape(family)

    def words(self, family: Family) -> str:
        """The family's name: "department"; or its hat functions, or differences."""
        return hats_in_words(self.domain, family)

    def kind(self, family: Family) -> str:
        """The words of hat functions, and of differences."""
        return self.words(family) if min(family, default=0) < 0 else ""

    def sums(self, cells: NDArray[Any] | FewCells, families: Iterable[Family]) -> Sums:
        """The sums over groups, one family after the other."""
        return ((family, self.domain.sums(cells, family)) for family in families)

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        """Check that the families determine every wanted answer."""
        check_measured(workload, unit, shares)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """By blocks, spaces, hat functions or one tree; see `part_variances`."""
        return part_variances(workload, unit, shares, level)

    def reconstruction(self, weights: Mapping[Family, int]) -> LeastSquares:
        """Least squares, or for hat functions the estimates of `HatReconstruction`."""
        return reconstruction_of(self.domain, weights)

    def theorem(self, unit: Unit, shares: Shares) -> str:
        """By what a cell lies in; of an amount and its complement, by what an event adds to both."""
        theorem = OF_SHARED if unit.is_shared else OF_GROUPS
        if any(map(is_hats, shares)):
            theorem = OF_HATS
        if any(map(is_difference, shares)):
            theorem = OF_DIFFERENCES
        if unit.in_all is not None:
            theorem = f"{theorem}. {IN_ALL}"
        return theorem if self.adds_to_one(shares) else exactly_charged(theorem)

    def not_bounded(self, unit: Unit, shares: Shares) -> str:
        """Of hat functions, and of an amount beside its complement."""
        if unit.is_shared:
            return "one individual changes the two parts of a sum together"
        return "hat functions overlap" if any(map(is_hats, shares)) else ""


@dataclass(frozen=True, slots=True)
class RotatedSums:
    """Sums, and differences, of the two cells of a row, which one individual changes together; see `PairAxis`."""

    pair: PairAxis

    def check(self, unit: Unit, shares: Shares) -> None:
        """Check that the unit is of whole rows, and that both kinds spend the level.

        Raises:
            OutOfRange: for a unit that is not, and shares that do not.
            Unsupported: for hat functions, and cells that are bounded in all.
        """
        PairAxis.changed_by(unit, self.pair.domain, self.pair.name)
        if place_of_hats(shares) is not None:
            remedy = "Leave together= out, or measure groups."
            raise Unsupported("hat functions are measured where one individual changes cells alone", remedy=remedy)
        unit.check_adds(is_one_cell=False, came="a strategy that measures sums")
        if not self.adds_to_one(shares) and (min(self._added(shares)) < 1 or self.charge(unit, shares) != 1):
            remedy = f"A family without {self.pair.name!r} measures sums, one with it differences."
            required = "the shares of sums, and those of differences, must be positive and add up to 1 each"
            raise OutOfRange(required, came="others", remedy=remedy)

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """|d_+| + |d_-| is twice the larger change of the two cells, so that the larger kind alone is charged."""
        return max(self._added(shares)) / room_of_rows(unit, self.pair.rows.size).scale

    def adds_to_one(self, shares: Shares) -> bool:
        """Whether the shares of sums, and those of differences, do."""
        return all(total == 1 for total in self._added(shares))

    def _added(self, shares: Shares) -> list[Fraction]:
        return [sum(side.values(), Fraction(0)) for side in self.pair.split(shares) if side]

    def shape(self, family: Family) -> tuple[int, ...]:
        """One for each group of rows."""
        return self.pair.domain.group_shape(self.pair.of_rows(family))

    def words(self, family: Family) -> str:
        """ "department" for sums, "department, differences of column"."""
        if not self.pair.is_difference(family):
            return hats_in_words(self.pair.domain, family)
        rows = self.pair.domain.family_name(self.pair.of_rows(family))
        return f"{rows or 'total'}, differences of {self.pair.name}"

    def kind(self, family: Family) -> str:
        """The two values, and whether they are added."""
        return f"{'differences' if self.pair.is_difference(family) else 'sums'} of {self.pair.words}"

    def sums(self, cells: NDArray[Any] | FewCells, families: Iterable[Family]) -> Sums:
        """Sums over groups of rows, and differences."""
        laid = _laid(cells)
        return ((family, self.pair.rotated(self.pair.domain.sums(laid, family), family)) for family in families)

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        """Check that both kinds determine every wanted answer."""
        for name, variance in self.variances(workload, unit, shares, level(1)).items():
            # At any level: whether an answer is determined does not hang on how loud the noise is.
            if isinf(variance):
                raise undetermined(name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """Those of the sums and those of the differences, added."""
        return rotated_variances(self.pair, workload, shares, lambda side, of: part_variances(side, unit, of, level))

    def reconstruction(self, weights: Mapping[Family, int]) -> LeastSquares:
        """Least squares of each kind by itself."""
        return RotatedReconstruction(self.pair, weights)

    def theorem(self, unit: Unit, shares: Shares) -> str:
        """By the two changes of a row."""
        return OF_ROTATED if self.adds_to_one(shares) else exactly_charged(OF_ROTATED)

    def not_bounded(self, unit: Unit, shares: Shares) -> str:
        """Always."""
        return "the differences of two columns are no family of groups"


@dataclass(frozen=True, slots=True)
class ListedSums:
    """Integer rows that are listed along each axis, and their products; along one axis signed, see `ProductRows`."""

    domain: Domain
    rows: ProductRows
    together: str | None

    def check(self, unit: Unit, shares: Shares) -> None:
        """Check that the rows are of this domain and unit, and that their classes spend the level."""
        unit.check_adds(is_one_cell=False, came="a strategy that measures sums")
        check_rows(self.domain, unit, self.together, self.rows)
        if self.rows.charge(shares) != 1:
            remedy = "Pass rows.shares, or let ut.strategy choose them."
            came = self.rows.charge(shares)
            raise OutOfRange("the shares of listed rows must spend the level", came=came, remedy=remedy)

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """Not less than what is spent, and exact for one cell; less than the level where there are too few cells."""
        return self.rows.charge(shares) * min(Fraction(1), self.domain.size * unit.sensitivity / unit.reach)

    def adds_to_one(self, shares: Shares) -> bool:
        """Those of listed rows are such that each cell's do."""
        return True

    def shape(self, family: Family) -> tuple[int, ...]:
        """How many sums a class has along each axis."""
        return self.rows.shape(family)

    def words(self, family: Family) -> str:
        """ "5 values of age by 3 rows of race"."""
        return self.rows.words(family)

    def kind(self, family: Family) -> str:
        """The same."""
        return self.words(family)

    def sums(self, cells: NDArray[Any] | FewCells, families: Iterable[Family]) -> Sums:
        """All products of the rows."""
        return iter(self.rows.sums(_laid(cells), list(families)).items())

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        """Check that nothing finer is wanted than the values that have sums of their own."""
        for part in workload.parts:
            wanted = part.family(workload.domain)
            if any(level < base for level, base in zip(wanted, self.rows.base, strict=True)):
                raise undetermined(part.name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """From the inverse along each axis."""
        return product_variances(workload, self.rows, shares, float(level_of_cells(unit, level).epsilon_float))

    def reconstruction(self, weights: Mapping[Family, int]) -> LeastSquares:
        """The linear estimates along each axis, and their products."""
        return ProductReconstruction(self.rows, weights)

    def theorem(self, unit: Unit, shares: Shares) -> str:
        """By the rows themselves; of signed ones, by the corners of what may change."""
        return OF_ROWS if self.together is None else OF_SIGNED

    def not_bounded(self, unit: Unit, shares: Shares) -> str:
        """Always."""
        return "listed rows are no family of groups"


def _laid(cells: NDArray[Any] | FewCells) -> NDArray[Any]:
    """Every cell's number."""
    if isinstance(cells, FewCells):
        remedy = "Plan without rows= and together=, or count over fewer axes."
        raise Unsupported("a domain of so many cells is measured by its tables", came="others", remedy=remedy)
    return np.asarray(cells)
