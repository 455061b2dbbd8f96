"""A table of true counts of people, with the unit of privacy that the counting proved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, text, truth
from utmost.core.exact.arrays import frozen, with_room_for
from utmost.core.exact.display import Display, one_line
from utmost.core.exact.field_forms import facts_of
from utmost.core.exact.numbers import Number
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import narrowed
from utmost.errors import BadTable, OutOfRange
from utmost.publish.counting.counted_facts import CountedFacts
from utmost.publish.counting.counting_report import CountingReport
from utmost.publish.workloads.amount_pair import AmountPair, value_column
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.few_cells import FewCells
from utmost.tables.files.saving import Digest, SavedContent, saved
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import labelled
from utmost.version import __version__

if TYPE_CHECKING:  # plans import this module
    from utmost.publish.workloads.planning.plan import Plan

DOCUMENT_KIND = "counted"
"""The kind of a counted table's document."""

_PLAIN = None, None, False  # (between, distinct, missing) of a plain amount, and of a unit without an amount


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedTable(CountedFacts, Display):
    """The true counts, or sums, of every cell of a declared domain; made by `count_table`.

    The values are confidential: never publish the table itself, only a release of it, which has noise.

    Args:
        domain: Declared domain.
        cells: Array of integers with the domain's shape; amounts are in steps. For a domain of more than 2^28 cells, a
            `FewCells` with the nonzero cells.
        unit: Unit of privacy: the largest change of the table by one individual.
        kind: Kind of table that the methods return, in a table adapter's notation, such as "dataframe:polars".
        report: Counting report: how many events were counted, clipped, removed and left out. The report is
            confidential: no file, pickle or copy of the table has it.
        part: Two names: that of a partition of the individuals into disjoint parts, and that of this table's part.
        together: Axis of k = 2 to 5 values. Cells that differ only in this axis form a row; one individual changes the
            cells of at most ``unit.cells / k`` rows.
        measure: Name of the measure, where several measures were counted in one pass.
        individual: Who one individual is, in words; None if unknown.
        proved: True if utmost counted the table, and so bounded each individual's contribution by the unit.

    Raises:
        BadTable: if the cells do not have the domain's shape, or are not integers.
        OutOfRange: if ``together`` is no axis of two to five values.
    """

    domain: Domain
    cells: NDArray[Any] | FewCells = field(repr=False)
    unit: Unit
    kind: str = "columns:"
    report: CountingReport | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        CountedFacts.__post_init__(self)
        instance(self.domain, Domain, "domain")
        instance(self.unit, Unit, "unit")
        text(self.kind, "kind")
        if self.report is not None:
            instance(self.report, CountingReport, "report")
        if isinstance(self.cells, FewCells):
            if self.cells.shape != self.domain.shape:
                raise BadTable(f"cells must have the shape of the domain, {self.domain.shape}", came=self.cells.shape)
        else:
            cells = np.asarray(self.cells)
            if cells.shape != self.domain.shape or cells.dtype.kind not in "iuO":
                came = f"{cells.dtype} of shape {cells.shape}"
                remedy = "Count events first: ut.count_table(events, domain, ut.Counting(...))."
                required = f"cells must be an array of integers in the shape of the domain, {self.domain.shape}"
                raise BadTable(required, came=came, remedy=remedy)
            object.__setattr__(self, "cells", frozen(cells.copy()))
        if self.together is not None:
            WholeRows.of(self.domain, self.together)  # refuses another axis
        self.unit.check_part(self.part)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(CountedTable, **self.counted_facts()), (self.domain, self.cells, self.unit, self.kind)

    def __repr__(self) -> str:
        line = one_line(self)
        return line if self.report is None else f"{line}\n{self.report}"

    @property
    def summable(self) -> NDArray[Any] | FewCells:
        """The cells in a type that can represent every sum of cells."""
        if isinstance(self.cells, FewCells) or self.cells.dtype == object:
            return self.cells
        return with_room_for(self.cells, max(1, self.cells.size))

    def check_fits(self, plan: "Plan") -> None:
        """Check that a plan is for this table's domain, and that the plan's unit allows at least the changes of the
        table's unit.

        Raises:
            OutOfRange: if the plan is for another domain, or for a smaller unit.
        """
        if not self.domain.same_as(plan.domain if plan.narrowed_from is None else plan.narrowed_from):
            wanted, came = ", ".join(plan.domain.columns), ", ".join(self.domain.columns)
            came = f"other values on the axes {came}" if came == wanted else f"the axes {came}"
            remedy = "Count the table over the plan's domain, or make a plan for the table's domain."
            raise OutOfRange(
                f"the table must be over the plan's domain: the axes {wanted}, with the values that the plan has",
                came=came,
                remedy=remedy,
            )
        self.check_covered(plan.unit, plan.domain.size)
        if plan.together is None:
            return
        size = plan.domain.size
        if plan.rows is not None and not self.unit.nonnegative:
            remedy = (
                f'Count with together="{plan.together}" and without negative amounts; or plan with method="marginals".'
            )
            required = "a plan with listed rows needs a counted table in which no individual lowers a cell"
            raise OutOfRange(required, came="a table without that proof", remedy=remedy)
        # An individual who may change every cell changes whole rows along every axis.
        if plan.together != self.together and plan.unit.cells < size:
            raise OutOfRange(
                f"the plan needs a table in which one person changes whole rows along {plan.together!r}",
                came="a table in which one person may change any cells"
                if self.together is None
                else f"rows along {self.together!r}",
                remedy=f'Count with together="{plan.together}", or plan with method="marginals".',
            )

    def read_by(self, plan: "Plan") -> NDArray[Any] | FewCells:
        """Return the cells that a plan reads, in a type that can represent every sum of cells."""
        if plan.narrowed_from is None:
            return self.summable
        places = self.domain.places_of(plan.domain)
        assert places is not None, "a plan is narrowed from the domain of the table"
        cells = self.summable
        if not isinstance(cells, FewCells):
            return cells[np.ix_(*places)]
        read = np.zeros(plan.domain.shape, dtype=cells.numbers.dtype)
        inside = np.all([np.isin(own, at) for own, at in zip(cells.places, places, strict=True)], axis=0)
        left = [np.searchsorted(at, own[inside]) for own, at in zip(cells.places, places, strict=True)]
        read[tuple(left)] = cells.numbers[inside]
        return read

    def sensitivity_in_steps(self, sensitivity: Number) -> Number:
        """Convert a sensitivity from the amount's own unit to steps; unchanged for counts."""
        return sensitivity if self.unit.amount is None else self.unit.amount.steps(sensitivity, "sensitivity")

    def check_covered(self, unit: Unit, cells: int | None = None) -> None:
        """Check that a unit of privacy allows at least the changes of this table's unit.

        Args:
            unit: Unit of privacy.
            cells: Number of the table's cells that are read; None for all.

        Raises:
            OutOfRange: if ``unit`` allows less.
        """
        proved = self.unit.on_cells(self.domain.size if cells is None else cells)
        kinds = [
            None if of.amount is None else (of.amount.between, of.amount.distinct, of.amount.missing)
            for of in (unit, proved)
        ]
        if (kinds[0] or _PLAIN) != (kinds[1] or _PLAIN):
            remedy = "Pass the table's own unit, table.unit."
            required = (
                "a plan and its table must have measures of one kind: counts, sums, sums with "
                "counts, or distinct values"
            )
            if kinds[0] is not None and kinds[1] is not None and kinds[0][2] != kinds[1][2]:
                required = "a plan and its table must treat missing amounts in the same way"
            raise OutOfRange(required, came="another unit", remedy=remedy)
        if unit.step != proved.step:
            remedy = "Pass the table's own unit, or leave out unit=."
            raise OutOfRange(
                f"amounts that were counted in steps of {proved.step} must be released in these steps",
                came=f"steps of {unit.step}",
                remedy=remedy,
            )
        if unit.exactly and not proved.exactly:
            remedy = (
                "Plan again without exactly=True; or, if you left nobody out, release, in Python, "
                "dataclasses.replace(table, unit=unit)."
            )
            raise OutOfRange(
                "exactly=True assumes that no individual is left out, which counting cannot prove",
                came="exactly=True",
                remedy=remedy,
            )
        if unit.exactly and (unit.sensitivity, unit.cells, unit.reach) != (
            proved.sensitivity,
            proved.cells,
            proved.reach,
        ):
            # With more cells, fewer are left for a replaced record to enter: a larger unit may protect less.
            required = f"with exactly=True, unit must be the unit that counting proved, {_in_words(proved)}"
            raise OutOfRange(required, came=_in_words(unit), remedy="Make the plan with the unit of the table.")
        replaced = proved.neighbours == "change-one" and unit.neighbours != "change-one"
        promised = unit.neighbours == "change-one" and unit.nonnegative and not proved.nonnegative
        is_smaller = unit.sensitivity < proved.sensitivity or unit.cells < proved.cells or unit.reach < proved.reach
        if replaced or promised or is_smaller:
            raise OutOfRange(
                "the unit of a counted table must not be smaller than the unit that counting proved, "
                f"{_in_words(proved)}",
                came=_in_words(unit),
                remedy="Leave out unit=; or count again with a smaller at_most=, per_cell= or in_total=.",
            )

    @property
    def column(self) -> str:
        """Default name of the column of values: "count", the name of the amount or distinct values, or "sum"."""
        return value_column(self.unit)

    def table(self, marginal: str | Sequence[str] | Marginal = (), column: str | None = None) -> LabelledTable:
        """Return the true sums of one marginal as a table: columns of labels, and a column of sums.

        Where sums and counts share noise, there are two columns of values: "count", and for example "paid_sum".

        Args:
            marginal: Levels of the marginal; () for the total.
            column: Name of the column of sums, in place of the default name `CountedTable.column`.

        Raises:
            NotDetermined: if cells with numbers of distinct values would be summed.
        """
        amounts = AmountPair.of(self.domain, self.unit)
        if amounts is None:
            return self._labelled(marginal, column, self.unit.numbers)
        both = amounts.both(self.domain.marginal(marginal))
        parts = amounts.parts(self.domain.sums(self.summable, both).astype(object), both)
        low, high = amounts.amount.ends
        sums = dict[str, NDArray[Any]]()
        for answer in amounts.columns:
            factors = np.array([int(weight * (high - low)) for weight in answer.weights], dtype=object)
            exact = narrowed(factors @ parts // (high - low))  # each event adds high - low to the sum of all parts
            sums[answer.name] = exact if answer.amount is None else answer.amount.numbers(exact)
        return labelled(self.kind, self.domain.group_labels(amounts.seen(both)), sums)

    def in_steps(self, column: str | None = None) -> LabelledTable:
        """Return the cells as a table of integers, to which noise can be added; amounts are in steps, so that released
        sums are exact multiples of the step.
        """
        return self._labelled(self.domain.finest, column, lambda steps: steps)

    def _labelled(
        self,
        marginal: str | Sequence[str] | Marginal,
        column: str | None,
        shown: Callable[[NDArray[Any]], NDArray[Any]],
    ) -> LabelledTable:
        chosen, name = self.domain.marginal(marginal), self.column if column is None else column
        self.unit.check_adds(is_one_cell=self.domain.is_of_cells(chosen), came=f"a table by {marginal!r}")
        sums = shown(self.domain.sums(self.summable, chosen).ravel())
        return labelled(self.kind, self.domain.group_labels(chosen), {name: sums})

    def save(
        self,
        path: Path | str,
        *,
        marginal: str | Sequence[str] | Marginal | None = None,
        format: str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the true counts to a file that only its owner can read. Never publish this file.

        Args:
            path: Path of the file. If the path ends in .json, the file is a document with the unit, for `utmost
                release`. For every other ending the file is a table; its unit is written to a second file, whose path
                is ``path`` plus ".json".
            marginal: Levels of the marginal; None for the cells.
            format, overwrite: Arguments of `saved`.

        Returns:
            The contents of the JSON file.

        Raises:
            Unsupported: if the file exists, unless ``overwrite`` is set, or if its ending is unknown.
            OutOfRange: if ``path`` is standard output, which others may read, or if the domain does not have the
                marginal.
        """

        overwrite = truth(overwrite, "overwrite")
        table = self.table(self.domain.finest if marginal is None else marginal)
        publication = SavedContent(
            table, self._unit_document, self._document if marginal is None else None, owner_only=True
        )
        return saved(publication, path, format=format, overwrite=overwrite)

    def facts(self) -> dict[str, Any]:
        """Return unit, domain and cells as JSON values; for a vast domain, indices and values of the nonzero cells."""
        about = self._metadata()
        if isinstance(self.cells, FewCells):
            return about | {"places": self.cells.places.tolist(), "numbers": self.cells.numbers.tolist()}
        return about | {"cells": self.cells.ravel().tolist()}

    def _metadata(self) -> dict[str, Any]:
        """Return everything but the cells as JSON values."""
        return {"unit": self.unit.facts(), **facts_of(self), "domain": self.domain.facts()}

    def _document(self) -> dict[str, Any]:
        return {"kind": DOCUMENT_KIND, "format": 1, "utmost": __version__, **self.facts()}

    def _unit_document(self, digest: Digest | None) -> dict[str, Any]:
        return {
            "kind": "utmost true counts",
            "format": 1,
            "warning": "True counts: never publish them. Only their owner may read them, to make a release.",
            **self._metadata(),
            "table": None if digest is None else dict(digest),
        }


def _in_words(unit: Unit) -> str:
    promised = ", nothing negative" if unit.nonnegative else ""
    in_total = "" if unit.in_total is None else f", {unit.text(unit.in_total)} in total"
    return (
        f"sensitivity {unit.text(unit.sensitivity)} in {unit.cells} cells{in_total} under {unit.neighbours}{promised}"
    )
