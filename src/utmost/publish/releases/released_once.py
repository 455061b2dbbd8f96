"""A released table, and what was promised about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.privacy.unit import Unit
from utmost.errors import Unsupported
from utmost.publish.promises.plan import CellsAt, Planned
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.table_statements import cells_digest
from utmost.publish.releases.reader_verbs import AnswersReaders, Read, read_answer
from utmost.tables.files.saving import SavedTable
from utmost.tables.frames.any_table import is_engine_table

if TYPE_CHECKING:
    from utmost.publish.releases.withheld import WithheldTable
    from utmost.publish.releases.workload_release import WorkloadRelease

Table = TypeVar("Table")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedOnce(AnswersReaders, SavedTable, Generic[Table]):
    """A released table and what was promised about it.

    Attributes:
        table: of the kind that came in, with the released and the public columns alone; released values stand under
            their columns' own names, and ``<name>_margin`` behind; one margin behind all coordinates of a point. Of a
            strategy the `WorkloadRelease`; of keys a table of those that were named.
        promise: the promise, with columns and public columns as the table has them.
        plan: level, unit, law, margin: a `Planned`.
        rows: how many rows there are.
    """

    _shown = ("columns", "rows", "spent", "law", "margin")

    table: Table = field(repr=False)
    promise: Promise
    plan: Planned
    rows: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns."""
        return self.promise.columns

    @property
    def public(self) -> tuple[str, ...]:
        """The columns that were declared public, and are published without noise."""
        return self.promise.public

    @property
    def law(self) -> Any:
        """The noise: of each released cell, or of a row's together."""
        return self.plan.law

    @property
    def unit(self) -> Unit:
        """What one individual changes."""
        return self.plan.unit

    @property
    def margin(self) -> int | float:
        """The distance within which a released cell lies of the true one, with confidence ``plan.confidence``."""
        return self.plan.margin

    @property
    def spent(self) -> Level:
        """What the whole release cost."""
        return self.plan.level

    @property
    def sidecar(self) -> dict[str, Any]:
        """The statement to publish beside the table, see `Statement`; its digest is that of the table's cells.

        A frame that an engine evaluates has none: write it to a file, and see `said`.
        """
        later = self.table is None or self.plan.is_document or is_engine_table(self.table)
        return self.said(None if later else cells_digest(self.table))

    def read(self) -> Read:
        """What was released as its readers have it, with every verb: see `AnswersReaders.read`.

        Raises:
            Unsupported: as there, and for a rehearsal, and a table that is drawn while it is written.

        >>> from utmost.promises import Promise
        >>> from utmost.releases import release_table
        >>> table = {"department": ["A", "B"], "admitted": [601, 370]}
        >>> from utmost import Promise, Unit
        >>> promise = Promise(columns="admitted", public="department", unit=Unit(1, 1))
        >>> release = release_table(table, promise, epsilon=1)
        >>> release.total({"department": "A"}).margin, release.total().margin
        (3, 4)
        """
        is_drawn_later = is_engine_table(self.table) or hasattr(type(self.table), "written")
        if self.table is None or is_drawn_later:
            came = "a rehearsal" if self.table is None else "one that is drawn while it is written"
            remedy = "Release it first." if self.table is None else "Write it to a file, and read that."
            raise Unsupported("a release is read where its values are at hand", came=came, where="read", remedy=remedy)
        return read_answer(self.table, lambda: self.sidecar)

    def withhold(
        self,
        *,
        below: Number | None = None,
        relative_margin: Number | None = None,
        complementary: bool = False,
        mark: str = "withheld",
    ) -> "WithheldTable[Table]":
        """The table with cells left out by a public rule on their noisy values; it costs nothing.

        Each cell has noise of its own, so that none follows from others, and ``complementary`` withholds no more.

        Args:
            below, relative_margin, complementary, mark: as `WithholdingRule` has them.

        Raises:
            OutOfRange, NotANumber: for a rule that is none.
            Unsupported: for a rehearsal, a frame that an engine evaluates, and cells that have no noise of their own.
        """
        if not isinstance(self.plan, CellsAt):
            required, came = "cells are withheld where each has noise of its own", f"{self.law}"
            remedy = "Withhold the sums of the release in .table." if self.plan.is_document else None
            raise Unsupported(required, came=came, where="withhold", remedy=remedy)
        from utmost.publish.releases.withheld import withheld_table
        from utmost.publish.releases.withholding import WithholdingRule

        rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
        return withheld_table(self.table, self.columns, self.plan, self.said(None), rule)

    @property
    def _sums_of_plan(self) -> "WorkloadRelease | None":
        """The released sums where a plan was measured; None for any other table."""
        is_sums = self.plan.is_document and self.table is not None
        return cast("WorkloadRelease", self.table) if is_sums else None

    def said(self, digest: Mapping[str, str] | None) -> dict[str, Any]:
        """The statement, with the digest of the table as it is published."""
        if (sums := self._sums_of_plan) is not None:
            return sums.statement
        if self.plan.is_document:
            from utmost.publish.promises.sum_noise import SumNoise

            assert isinstance(self.promise.noise, SumNoise), "sums alone are one document"
            return self.promise.noise.rehearsed(self.plan.level, self.plan.confidence)
        promise, plan = self.promise.as_drawn(self.plan), self.plan
        return Statement(promise, plan.level, plan.confidence, self.rows, digest, None).facts_by(plan)

    def save(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the table and its statement, see `SavedTable.save`; of sums `WorkloadRelease.save`."""
        if (sums := self._sums_of_plan) is not None:
            return sums.save(path, format=format, sign=sign, overwrite=overwrite)
        return SavedTable.save(self, path, format=format, sign=sign, overwrite=overwrite)
