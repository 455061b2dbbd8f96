"""A table that was counted from people: its cells, and the unit of privacy that the counting proved."""

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
from utmost.tables.axes.domain import Domain, Family
from utmost.tables.axes.few_cells import FewCells
from utmost.tables.files.saving import Digest, SavedContent, saved
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import labelled
from utmost.version import __version__

if TYPE_CHECKING:  # a table knows no plan until one comes
    from utmost.publish.workloads.planning.plan import Plan

DOCUMENT_KIND = "counted"
"""The kind in the document of a counted table."""

_PLAIN = None, None, False  # neither parts of sums, nor distinct values, nor missing amounts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedTable(CountedFacts, Display):
    """The true counts, or sums, of every cell of a declared domain; made by `count_table`.

    It holds true values: it is released and never published.

    Args:
        domain: the declared domain.
        cells: an integer for each cell, of the domain's shape; of amounts in steps. Of a domain of more than 2^28
            cells, the cells that do not hold 0.
        unit: Unit of privacy, proven by how the table was counted.
        kind: Kind of the tables made of it, as an adapter names it.
        report: Counting report: the fate of the events. It is confidential: it is shown, and nothing that is
            written has it, nor a pickle or a copy of the table.
        part: Partition and this part of it, where individuals were split into parts that share nobody.
        together: an axis of k = 2 to 5 values, where the cells that one individual changes are those of
            ``unit.cells / k`` rows along it.
        measure: the name of what was counted, where several measures were counted in one pass.
        individual: who one individual is, in words; None where nobody said it.
        proved: whether utmost counted it, and so kept of each individual no more than the unit says.

    Raises:
        BadTable: for cells of another shape, or that are no integers.
        OutOfRange: for ``together`` that is no axis of two to five values.
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
                raise BadTable(f"cells must be of a domain of shape {self.domain.shape}", came=self.cells.shape)
        else:
            cells = np.asarray(self.cells)
            if cells.shape != self.domain.shape or cells.dtype.kind not in "iuO":
                came = f"{cells.dtype} of shape {cells.shape}"
                raise BadTable(f"there must be an integer for each cell, of shape {self.domain.shape}", came=came)
            object.__setattr__(self, "cells", frozen(cells.copy()))
        if self.together is not None:
            WholeRows.of(self.domain, self.together)  # refuses another axis
        self.unit.check_part(self.part)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(CountedTable, **self.said()), (self.domain, self.cells, self.unit, self.kind)

    def __repr__(self) -> str:
        line = one_line(self)
        return line if self.report is None else f"{line}\n{self.report}"

    @property
    def summable(self) -> NDArray[Any] | FewCells:
        """The cells in a type that holds every sum of them."""
        if isinstance(self.cells, FewCells) or self.cells.dtype == object:
            return self.cells
        return with_room_for(self.cells, max(1, self.cells.size))

    def check_fits(self, plan: "Plan") -> None:
        """Check that a plan is for this domain, and for no smaller an individual than was counted.

        Raises:
            OutOfRange: where it is not.
        """
        if not self.domain.same_as(plan.domain if plan.narrowed_from is None else plan.narrowed_from):
            wanted, came = ", ".join(plan.domain.columns), ", ".join(self.domain.columns)
            came = f"others on the axes {came}" if came == wanted else f"the axes {came}"
            remedy = "Count the table over the plan's domain, or make a plan for the table's."
            raise OutOfRange(
                f"the table must have the plan's domain, with its values on {wanted}", came=came, remedy=remedy
            )
        self.check_covered(plan.unit, plan.domain.size)
        if plan.together is None:
            return
        size = plan.domain.size
        if plan.rows is not None and not self.unit.nonnegative:
            remedy = (
                f'Count with together="{plan.together}" and without negative amounts; or plan with method="marginals".'
            )
            required = "a plan of listed rows needs a table of which it is proved that nobody lowers a cell"
            raise OutOfRange(required, came="a table without that proof", remedy=remedy)
        # Who may change every cell changes whole rows, along whatever axis.
        if plan.together != self.together and plan.unit.cells < size:
            raise OutOfRange(
                f"this plan needs a table of which one person changes whole rows along {plan.together!r}",
                came="a table of which one person may change any cells"
                if self.together is None
                else f"rows along {self.together!r}",
                remedy=f'Count with together="{plan.together}", or plan with method="marginals".',
            )

    def read_by(self, plan: "Plan") -> NDArray[Any] | FewCells:
        """The cells that a plan reads, in a type that holds every sum of them."""
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

    def in_unit(self, sensitivity: Number) -> Number:
        """A sensitivity that is said of this table, of amounts in their own unit, as the one of `Unit`."""
        return sensitivity if self.unit.amount is None else self.unit.amount.steps(sensitivity, "sensitivity")

    def check_covered(self, unit: Unit, cells: int | None = None) -> None:
        """Check that a unit of privacy is no smaller than the one that was proved.

        Args:
            unit: Unit of privacy.
            cells: Number of cells that are read; None for all.

        Raises:
            OutOfRange: for a smaller one.
        """
        proved = self.unit.on_cells(self.domain.size if cells is None else cells)
        kinds = [
            None if of.amount is None else (of.amount.between, of.amount.distinct, of.amount.missing)
            for of in (unit, proved)
        ]
        if (kinds[0] or _PLAIN) != (kinds[1] or _PLAIN):
            remedy = "Pass the table's own unit."
            required = "a plan and a table must be of the same kind: counts, sums, both together, or distinct values"
            if kinds[0] is not None and kinds[1] is not None and kinds[0][2] != kinds[1][2]:
                required = "a plan and a table must treat missing amounts alike"
            raise OutOfRange(required, came="another unit", remedy=remedy)
        if unit.step != proved.step:
            remedy = "Pass the table's own unit, or leave it out."
            raise OutOfRange(
                f"amounts that were counted in steps of {proved.step} must be released in these steps",
                came=f"steps of {unit.step}",
                remedy=remedy,
            )
        if unit.exactly and not proved.exactly:
            remedy = (
                "Pass the table's own unit; or, if you know that nobody is left out, dataclasses.replace(table, unit=)."
            )
            raise OutOfRange(
                "exactly=True needs your word that nobody is left out: counting cannot prove that",
                came="exactly=True",
                remedy=remedy,
            )
        if unit.exactly and (unit.sensitivity, unit.cells, unit.reach) != (
            proved.sensitivity,
            proved.cells,
            proved.reach,
        ):
            # In more of the cells fewer are left to be entered: a larger unit may protect less.
            required = f"with exactly=True the unit must be the one that was proved, {_in_words(proved)}"
            raise OutOfRange(required, came=_in_words(unit), remedy="Plan for the table's own unit.")
        replaced = proved.neighbours == "change-one" and unit.neighbours != "change-one"
        promised = unit.neighbours == "change-one" and unit.nonnegative and not proved.nonnegative
        is_smaller = unit.sensitivity < proved.sensitivity or unit.cells < proved.cells or unit.reach < proved.reach
        if replaced or promised or is_smaller:
            raise OutOfRange(
                f"the unit of a counted table must not be smaller than the one that was proved, {_in_words(proved)}",
                came=_in_words(unit),
                remedy="Leave it out; or count again with a smaller at_most=, per_cell= or in_all=.",
            )

    @property
    def column(self) -> str:
        """The name of the column: that of the amounts, or distinct values, "sum" where an axis has it, or "count"."""
        return value_column(self.unit)

    def table(self, family: str | Sequence[str] | Family = (), column: str | None = None) -> LabelledTable:
        """The true sums over one family as a table: its labels, and the sums in one column; by default the total.

        Where events were counted beside their amounts there are "count" and the sum of the amounts, as "paid_sum".

        Args:
            family: the levels; none for the total.
            column: its name, in place of `column`.

        Raises:
            NotDetermined: for sums of distinct counts.
        """
        amounts = AmountPair.of(self.domain, self.unit)
        if amounts is None:
            return self._laid(family, column, self.unit.numbers)
        both = amounts.both(self.domain.family(family))
        parts = amounts.parts(self.domain.sums(self.summable, both).astype(object), both)
        low, high = amounts.amount.ends
        sums = dict[str, NDArray[Any]]()
        for answer in amounts.columns:
            factors = np.array([int(weight * (high - low)) for weight in answer.weights], dtype=object)
            exact = narrowed(factors @ parts // (high - low))  # each event adds high - low to all parts together
            sums[answer.name] = exact if answer.amount is None else answer.amount.numbers(exact)
        return labelled(self.kind, self.domain.group_labels(amounts.seen(both)), sums)

    def in_steps(self, column: str | None = None) -> LabelledTable:
        """The cells as a table of integers, as they are noised: of amounts the steps."""
        return self._laid(self.domain.finest, column, lambda steps: steps)

    def _laid(
        self,
        family: str | Sequence[str] | Family,
        column: str | None,
        shown: Callable[[NDArray[Any]], NDArray[Any]],
    ) -> LabelledTable:
        chosen, name = self.domain.family(family), self.column if column is None else column
        self.unit.check_adds(is_one_cell=self.domain.is_of_cells(chosen), came=f"a table by {family!r}")
        sums = shown(self.domain.sums(self.summable, chosen).ravel())
        return labelled(self.kind, self.domain.group_labels(chosen), {name: sums})

    def save(
        self,
        path: Path | str,
        *,
        family: str | Sequence[str] | Family | None = None,
        format: str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the true counts into a file that nobody but its owner may read; they are not to be published.

        Args:
            path: ends in .json for a document that keeps the unit, for `utmost release`; else of a table, beside which
                ``path`` and ".json" say the unit.
            family: Levels of a table; those of the cells if left out.
            format, overwrite: Arguments of `saved`. Nothing is signed: a signature is for readers.

        Returns:
            The document, or what stands beside the table.

        Raises:
            Unsupported: where one of the files exists, and for another ending.
            OutOfRange: for standard output, which is no file of its owner, and a family that the domain has not.
        """

        overwrite = truth(overwrite, "overwrite")
        table = self.table(self.domain.finest if family is None else family)
        publication = SavedContent(table, self._said, self._document if family is None else None, owner_only=True)
        return saved(publication, path, format=format, overwrite=overwrite)

    def facts(self) -> dict[str, Any]:
        """The unit, the domain and the true number of each cell, as JSON values."""
        return {**self._about(), **self._numbers()}

    def _about(self) -> dict[str, Any]:
        """Everything but the numbers, as JSON values."""
        return {"unit": self.unit.facts(), **facts_of(self), "domain": self.domain.facts()}

    def _numbers(self) -> dict[str, Any]:
        """The number of each cell in order; of a domain that is not laid out the places and numbers of its cells."""
        if not isinstance(self.cells, FewCells):
            return {"cells": self.cells.ravel().tolist()}
        return {"places": self.cells.places.tolist(), "numbers": self.cells.numbers.tolist()}

    def _document(self) -> dict[str, Any]:
        return {"kind": DOCUMENT_KIND, "format": 1, "utmost": __version__, **self.facts()}

    def _said(self, digest: Digest | None) -> dict[str, Any]:
        return {
            "kind": "utmost true counts",
            "format": 1,
            "warning": "True counts: not to be published. They are for a release, and for their owner alone.",
            **self._about(),
            "table": None if digest is None else dict(digest),
        }


def _in_words(unit: Unit) -> str:
    promised = ", nothing negative" if unit.nonnegative else ""
    in_all = "" if unit.in_all is None else f", {unit.text(unit.in_all)} in all"
    return f"sensitivity {unit.text(unit.sensitivity)} in {unit.cells} cells{in_all} under {unit.neighbours}{promised}"
