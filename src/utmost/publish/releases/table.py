"""Releasing a table: every cell of the chosen columns noised once, the whole table at one level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import truth
from utmost.core.exact.kinds import checked
from utmost.core.exact.levels import Level, level
from utmost.core.exact.long_work import long_work
from utmost.core.exact.numbers import Number
from utmost.core.noise.costs import Cost
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import OutOfRange, Unsupported
from utmost.provided import provided
from utmost.publish.promises.declared_columns import check_margins_free, check_no_copy, chosen_columns, declared_columns
from utmost.publish.promises.plan import Planned, warn_of_rows
from utmost.publish.promises.promise import Promise, counted_labels, fitting
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.table_statements import Stated, cells_digest
from utmost.publish.releases.reader_verbs import AnswersReaders
from utmost.tables.cells.columns import check_distinct
from utmost.tables.files.saving import FileWords, SavedTable
from utmost.tables.frames.adapters import TableAdapter, adapter_of, engine_door

if TYPE_CHECKING:
    from utmost.publish.releases.withheld import WithheldTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedOnce(AnswersReaders, SavedTable):
    """A released table and what was promised about it.

    Attributes:
        table: of the kind that came in, with the released and the public columns alone; released values stand under
            their columns' own names, and ``<name>_margin`` behind; one margin behind all coordinates of a point. Of a
            strategy the `WorkloadRelease`; of keys a table of those that were named.
        columns: the released columns.
        plan: level, unit, law, margin: a `Planned`.
        rows: how many rows there are.
        public: the columns that were declared public, and are published without noise.
        rows_from: where the list of rows comes from, "declared" or "observed".
    """

    _shown = ("columns", "rows", "spent", "law", "margin")

    table: Any = field(repr=False)
    columns: tuple[str, ...]
    plan: Any
    rows: int
    public: tuple[str, ...]
    rows_from: str

    @property
    def law(self) -> Any:
        """The noise: of each released cell, or of a row's together."""
        return self.plan.law

    @property
    def unit(self) -> Unit:
        """What one individual changes."""
        unit: Unit = self.plan.unit
        return unit

    @property
    def margin(self) -> int | float:
        """The distance within which a released cell lies of the true one, with confidence ``plan.confidence``."""
        margin: int | float = self.plan.margin
        return margin

    @property
    def spent(self) -> Level:
        """What the whole release cost."""
        level: Level = self.plan.level
        return level

    @property
    def sidecar(self) -> dict[str, Any]:
        """The statement to publish beside the table, see `statement`; its digest is that of the table's cells.

        A frame that an engine evaluates has none: write it to a file, and see `said`.
        """
        later = self.table is None or self.plan.is_document or engine_door(self.table) is not None
        return self.said(None if later else cells_digest(self.table))

    def read(self) -> Any:
        """What was released as its readers have it, with every verb: see `AnswersReaders.read`.

        Raises:
            Unsupported: as there, and for a rehearsal, and a table that is drawn while it is written.

        >>> table = {"department": ["A", "B"], "admitted": [601, 370]}
        >>> promise = Promise(columns="admitted", public="department", unit=Unit(1, 1))
        >>> release = release_table(table, promise, epsilon=1)
        >>> release.total({"department": "A"}).margin, release.total().margin
        (3, 4)
        """
        is_drawn_later = engine_door(self.table) is not None or hasattr(type(self.table), "written")
        if self.table is None or is_drawn_later:
            came = "a rehearsal" if self.table is None else "one that is drawn while it is written"
            remedy = "Release it first." if self.table is None else "Write it to a file, and read that."
            raise Unsupported("a release is read where its values are at hand", came=came, where="read", remedy=remedy)
        return provided("release_answers").read_answer(self.table, lambda: self.sidecar)

    @checked
    def withhold(
        self,
        *,
        below: Number | None = None,
        relative_margin: Number | None = None,
        complementary: bool = False,
        mark: str = "withheld",
    ) -> "WithheldTable":
        """The table with cells left out by a public rule on their noisy values; it costs nothing.

        Each cell has noise of its own, so that none follows from others, and ``complementary`` withholds no more.

        Args:
            below, relative_margin, complementary, mark: as `WithholdingRule` has them.

        Raises:
            OutOfRange, NotANumber: for a rule that is none.
            Unsupported: for a rehearsal, a frame that an engine evaluates, and cells that have no noise of their own.
        """
        if not self.plan.is_apart:
            required, came = "cells are withheld where each has noise of its own", f"{self.law}"
            remedy = "Withhold the sums of the release in .table." if self.plan.is_document else None
            raise Unsupported(required, came=came, where="withhold", remedy=remedy)
        from utmost.publish.releases.withheld import withheld_table
        from utmost.publish.releases.withholding import WithholdingRule

        rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
        return withheld_table(self.table, self.columns, self.plan, self.said(None), rule)

    def said(self, digest: Mapping[str, str] | None) -> dict[str, Any]:
        """The statement, with the digest of the table as it is published."""
        if self.plan.is_document and self.table is not None:
            return dict(self.table.statement)
        stated = Stated(self.columns, self.public, self.rows, self.rows_from, digest)
        statement: dict[str, Any] = self.plan.statement(stated)
        return statement

    def save(self, path: Path | str, **file: Unpack[FileWords]) -> dict[str, Any]:
        """Write the table and its statement, see `SavedTable.save`; of sums `WorkloadRelease.save`."""
        is_sums = self.plan.is_document and self.table is not None
        written: dict[str, Any] = self.table.save(path, **file) if is_sums else SavedTable.save(self, path, **file)
        return written


@long_work("Noising")
def release_table(
    table: Any,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    cost: str | Cost | None = "absolute",
    relaxable: bool = False,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
) -> ReleasedOnce:
    """Noise every cell of the chosen columns, so that the whole table costs one level; publish no other unasked.

    If one individual changes at most ``cells`` of the released cells, each by at most ``sensitivity``, independent
    noise of level epsilon/cells on every cell makes the table epsilon-private. That noise is the least for each cell at
    its share, and for the table as a whole where ``cells`` is 1 under add-remove. Everything is checked before any
    draw: a table with one bad cell is not released at all, and nothing is spent.

    Args:
        table: a dict of columns, a dataframe of any library, a table read from a file, or one that `count_table` made:
            then its labels are public, and its unit is the one that was proved. A frame that an engine evaluates
            (Polars' lazy frames, DuckDB's relations, Spark's dataframes) needs an ``id_column``, and gives a frame of
            its kind, not evaluated yet; each evaluation gives the same values. A file in pieces is checked in one pass,
            and drawn while the released one is written.
        promise: what is promised of it: of cells, columns changed together, points, the sums of a strategy, or keys
            that are named. A counted table says its own by `Promise.of_counted`.
        epsilon, alpha: what the whole table may spend, one of the two; alpha = exp(-epsilon).
        cost: of the error of a cell, whose noise is the least at this level: "absolute", "squared", "moment:3" or any
            even function nondecreasing in |x|; for reals on the promised grid, or on one that level and sensitivity
            choose where it is left to them. With None the noise is the promised one of all levels, as what a ledger
            answers first; so it is in any case where a promise leaves no choice: of points, sums, or half steps.
        relaxable: only noise among the least that can be relaxed later without loss.
        confidence: of the margin that stands beside each released column.
        randomness: the operating system's when None; a seeded source is refused.

    Returns:
        The table of the kind that came in, with released values and margins in it, and its statement; of a strategy
        what `release_workload` gives, as ``table``.

    Raises:
        NotDeclared: for a column that is neither released, nor public, nor dropped.
        BadTable: for a column that is missing, a cell that cannot be released, with its row and column, a table without
            rows, and a public column that repeats a released one.
        NotALevel, NotANumber, OutOfRange: for a parameter that is no such thing.
        Unsupported: for a cost beside noise that a promise leaves no choice of.

    Warns:
        LittleProtection: at a level so large that practically nobody is protected.
        RowsObserved: for rows that were observed in the data.

    Cost: a few nanoseconds a cell beyond reading the table.
    Source: [geng2012], Theorems 4, 6, 11 and 12, for the law; composition over cells for the table.

    >>> promise = Promise(columns="admitted", public="department", unit=Unit(1, 1))
    >>> release = release_table({"department": ["A", "B"], "admitted": [601, 370]}, promise, alpha="1/2")
    >>> list(release.table), release.law, release.margin
    (['department', 'admitted', 'admitted_margin'], Geometric(alpha='1/2', sensitivity=1), 4)
    """
    at, stated = level(epsilon, alpha), _once(table, promise, cost, relaxable)
    bits = secure(randomness)
    released: ReleasedOnce = stated.checked(table, at, confidence).released(bits)
    return released


def rehearse_table(
    table: Any,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    cost: str | Cost | None = "absolute",
    relaxable: bool = False,
    confidence: Number = "0.95",
) -> ReleasedOnce:
    """Everything that `release_table` does up to the first draw: the same checks, law, margin and statement, no table.

    Args:
        table, promise, epsilon, alpha, cost, relaxable, confidence: as for `release_table`.

    Returns:
        A release whose ``table`` is None.

    >>> rehearse_table({"n": [3]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1).margin
    3
    """
    at, stated = level(epsilon, alpha), _once(table, promise, cost, relaxable)
    rehearsed: ReleasedOnce = stated.checked(table, at, confidence).released(None)
    return rehearsed


def _once(table: Any, promise: Promise, cost: str | Cost | None, relaxable: bool) -> Promise:
    """The promise of a release of this table, with the noise that is drawn.

    Raises:
        OutOfRange: for a largest value, which only a ledger keeps, and a table that needs another promise.
    """
    stated = fitting(promise, table)
    if isinstance(stated.noise, Noise) and stated.noise.is_bounded:
        remedy = "Publish it in a ledger, or promise it without largest=."
        raise OutOfRange("a largest value is the bound of a ledger", came="none", where="promise", remedy=remedy)
    lasting = truth(relaxable, "relaxable")
    if cost is None and lasting:
        remedy = "Leave relaxable= out, or say a cost=."
        raise OutOfRange("the promised noise is the same for all levels", came="relaxable=True", remedy=remedy)
    return stated if cost is None else stated.least_once(cost, relaxable=lasting)


class Checked(Protocol):
    """A table that can be released."""

    def released(self, randomness: Randomness | None) -> ReleasedOnce:
        """The release; without randomness the same and no table."""


def checked_columns(table: Any, promise: Promise, plan: Planned) -> Checked:
    """A table whose columns can be released as a plan says."""
    rows = promise.rows_of(table)
    if hasattr(type(rows), "pieces"):  # a file; of the class, since a frame has its columns as attributes
        pieces: Checked = provided("checked_pieces")(rows, promise, plan)
        return pieces
    door = engine_door(rows) if plan.is_apart else None
    if door is not None:
        frame: Checked = door.CheckedFrame.of(rows, promise, plan)
        return frame
    return CheckedTable.of(rows, promise, plan, counted_labels(table))


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTable:
    """A table that can be released: every chosen cell read and found to be a number, every other column declared."""

    table: Any
    kind: str
    adapter: TableAdapter
    cells: dict[str, NDArray[Any]]
    public: tuple[str, ...]
    dropped: tuple[str, ...]
    promise: Promise
    plan: Planned
    rows: int

    @classmethod
    def of(cls, brought: Any, promise: Promise, plan: Planned, labels: Sequence[str] = ()) -> "CheckedTable":
        """The table, with every check that a release makes before it draws.

        Args:
            labels: public columns that were declared before anybody was counted, whatever stands in them.
        """
        table, kind = promise.noise.measured(brought)
        adapter = adapter_of(table)
        names = tuple(adapter.names(table))
        promise.check_single_id()
        chosen = chosen_columns(promise.columns, names, promise.single_id_column)
        published, dropped = declared_columns(names, chosen, promise.public, promise.drop)
        check_margins_free({margin: name for margin, (name, _) in plan.bars(chosen).items()}, names)
        place = partial(adapter.place, table)
        for name in promise.id_column:
            check_distinct(adapter.column(table, name), name, place)
        cells = {name: plan.read(adapter.column(table, name), name, place) for name in chosen}
        rows = len(cells[chosen[0]])
        promise.noise.check_size(rows, len(chosen))
        for name in published:
            if name not in labels:
                check_no_copy(name, partial(adapter.column, table, name), cells)
        plan.warn()
        warn_of_rows(promise.rows)
        own = adapter.kind(table, chosen) if kind is None else kind
        return cls(table, own, adapter, cells, published, dropped, promise, plan, rows)

    def released(self, randomness: Randomness | None) -> ReleasedOnce:
        """The release with the noise of the plan; without randomness the same and no table."""
        noise, chosen = self.promise.noise, tuple(self.cells)
        table, rows = None, 0 if noise.names_rows else self.rows
        if randomness is not None:
            noised = self.plan.noised(self.cells, randomness)
            rows = len(next(iter(noised.values())))
            table = noise.handed(self.plan.level, noised, self.kind, self.promise.part, self._with_bars, None)
        return ReleasedOnce(table, chosen, self.plan, rows, self.public, self.promise.rows)

    def _with_bars(self, noised: Mapping[str, Any]) -> Any:
        """The table with noised columns, and their margins behind them."""
        bars = self.plan.bars(tuple(self.cells))
        margins: dict[str, NDArray[Any]] = {name: np.full(self.rows, margin) for name, (_, margin) in bars.items()}
        after = {name: owner for name, (owner, _) in bars.items()}
        bare = self.adapter.without(self.table, self.dropped)
        return self.adapter.with_columns(bare, {**noised, **margins}, after)
