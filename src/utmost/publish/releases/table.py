"""Releasing a table: every cell of the chosen columns noised once, the whole table at one level."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, Unsupported
from utmost.laws.exact import Level, Number, checked
from utmost.laws.exact.long_work import long_work
from utmost.laws.noise.costs import Cost
from utmost.laws.privacy.unit import Unit
from utmost.laws.sampling.random_bits import Randomness, secure
from utmost.publish.counting.laid import Laid
from utmost.publish.promises.declared_columns import (
    check_margins_free,
    check_size,
    chosen_columns,
    declared_columns,
    rows_origin,
)
from utmost.publish.promises.plan import Planned, plan_release, warn_of_rows
from utmost.publish.promises.table_statements import cells_digest
from utmost.publish.releases.values import noised_by
from utmost.publish.tables.adapters import Column, TableAdapter, adapter_of, engine_door
from utmost.publish.tables.columns import check_distinct, integer_column, real_column
from utmost.publish.tables.saving import SavedTable

if TYPE_CHECKING:
    from utmost.publish.releases.withheld import WithheldTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableRelease(SavedTable):
    """A released table and what was promised about it.

    Attributes:
        table: of the kind that came in, with the released and the public columns alone; released values stand under
            their columns' own names, and ``<name>_margin`` behind; one margin behind all coordinates of a point.
        columns: the released columns.
        plan: level, unit, law, margin: a `Plan`, or that of columns changed together or of points.
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
        later = self.table is None or engine_door(self.table) is not None
        return self.said(None if later else cells_digest(self.table))

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
            required = "cells are withheld where each has noise of its own"
            raise Unsupported(required, came="noise of a row's cells together", where="withhold")
        from utmost.publish.releases.withheld import withheld_table
        from utmost.publish.releases.withholding import WithholdingRule

        rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
        return withheld_table(self.table, self.columns, self.plan, self.said(None), rule)

    def said(self, digest: Mapping[str, str] | None) -> dict[str, Any]:
        """The statement, with the digest of the table as it is published."""
        statement: dict[str, Any] = self.plan.statement(
            self.columns, self.public, self.rows, rows_from=self.rows_from, digest=digest
        )
        return statement


@long_work("Noising")
def release_table(
    table: Any,
    *,
    columns: str | Sequence[str] | None = None,
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    unit: Unit | None = None,
    sensitivity: Number | None = None,
    cells: Number | None = None,
    neighbours: str | None = None,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    confidence: Number = "0.95",
    id_column: str | Sequence[str] | None = None,
    grid: Number | None = None,
    randomness: Randomness | None = None,
) -> TableRelease:
    """Noise every cell of the chosen columns, so that the whole table costs one level; publish no other unasked.

    If one individual changes at most ``cells`` of the released cells, each by at most ``sensitivity``, independent
    noise of level epsilon/cells on every cell makes the table epsilon-private. That noise is the least for each cell at
    its share, and for the table as a whole where ``cells`` is 1 under add-remove. Everything is checked before any
    draw: a table with one bad cell is not released at all, and nothing is spent.

    Args:
        table: a dict of columns, a dataframe of any library, a table read from a file, or one that `count_table` made:
            then its labels are public, and its unit is the one that was proved. A frame that an engine evaluates
            (Polars' lazy frames, DuckDB's relations, Spark's dataframes) needs an ``id_column``, and gives a frame of
            its kind, not evaluated yet; each evaluation gives the same values.
        columns: the columns to release; of a counted table the name of its counts, which if left out is that of the
            amounts, or "count".
        public: the columns to publish as they are. To name one here is to declare that none of its cells depends on
            any individual: the names of departments, and not the number of those who applied to them.
        drop: the columns to leave out. Each column is in one of the three lists.
        rows: "declared" where the list of rows was fixed before anybody was counted; "observed" where it was found in
            the data, so that the promise does not cover which rows there are. The statement says which.
        epsilon, alpha: what the whole table may spend, one of the two; alpha = exp(-epsilon).
        unit: what one individual changes; or, instead of it, the three that follow. Never less than what was proved.
        sensitivity: the most by which one individual changes one cell.
        cells: how many of the released cells one individual changes, over all of ``columns``.
        neighbours: "add-remove", or "change-one", under which the level is divided by twice the cells; see `Unit`.
        cost: what an error costs: "absolute", "squared", "moment:3", or any even function nondecreasing in |x|.
        numbers: "integers" (every released cell must be an integer) or "reals" (released on a grid).
        relaxable: choose a law that can later be relaxed to a larger epsilon without loss.
        confidence: of the margin that stands beside each released column.
        id_column: a column whose cells must all be there and distinct; published only if it is public, too. For a
            frame of an engine also several columns, that are so together.
        grid: for reals, the grid's width, a power of two; chosen by level and sensitivity when None.
        randomness: the operating system's when None; a seeded source is refused.

    Returns:
        The table of the kind that came in, with released values and margins in it, and its statement.

    Raises:
        NotDeclared: for a column that is neither released, nor public, nor dropped.
        BadTable: for a column that is missing, a cell that cannot be released, with its row and column, a table without
            rows, and a public column that repeats a released one.
        NotALevel, NotANumber, OutOfRange: for a parameter that is no such thing.

    Warns:
        LittleProtection: at a level so large that practically nobody is protected.
        RowsObserved: for rows that were observed in the data.

    Cost: a few nanoseconds a cell beyond reading the table.
    Source: [geng2012], Theorems 4, 6, 11 and 12, for the law; composition over cells for the table.

    >>> release = release_table(
    ...     {"department": ["A", "B"], "admitted": [601, 370]},
    ...     columns="admitted",
    ...     public="department",
    ...     alpha="1/2",
    ...     sensitivity=1,
    ...     cells=1,
    ... )
    >>> list(release.table), release.law, release.margin
    (['department', 'admitted', 'admitted_margin'], Geometric(alpha='1/2', sensitivity=1), 4)
    """
    laid = Laid.of(table, columns, public, drop, unit, sensitivity, cells, neighbours)
    plan = plan_release(
        epsilon,
        alpha=alpha,
        unit=laid.unit,
        cost=cost,
        numbers=numbers,
        relaxable=relaxable,
        confidence=confidence,
        grid=grid,
    )
    bits = secure(randomness)
    door = engine_door(laid.table)
    if door is not None:
        asked: dict[str, Any] = {"drop": drop, "rows_from": rows, "id_column": id_column}
        evaluated: TableRelease = door.release_frame(laid, plan, **asked, randomness=bits)
        return evaluated
    checked = CheckedTable.of(laid, plan, drop=drop, rows_from=rows, id_column=id_column)
    noised = {
        name: laid.unit.numbers(noised_by(cells, plan.drawn, plan.exponent, randomness=bits))
        for name, cells in checked.cells.items()
    }
    return checked.released(noised)


def rehearse_table(
    table: Any,
    *,
    columns: str | Sequence[str] | None = None,
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    id_column: str | Sequence[str] | None = None,
    **promise: Any,
) -> TableRelease:
    """Everything that `release_table` does up to the first draw: the same checks, law, margin and statement, no table.

    Args:
        table, columns, public, drop, rows, id_column: as for `release_table`.
        promise: the remaining arguments of `release_table`.

    Returns:
        A release whose ``table`` is None.

    >>> rehearse_table({"n": [3]}, columns="n", epsilon=1, unit=Unit(1, 1)).margin
    3
    """
    unit = {name: promise.pop(name, None) for name in ("unit", "sensitivity", "cells", "neighbours")}
    laid = Laid.of(table, columns, public, drop, **unit)
    plan, door = plan_release(unit=laid.unit, **promise), engine_door(laid.table)
    if door is not None:
        asked: dict[str, Any] = {"drop": drop, "rows_from": rows, "id_column": id_column}
        rehearsed: TableRelease = door.release_frame(laid, plan, **asked, randomness=None)
        return rehearsed
    return CheckedTable.of(laid, plan, drop=drop, rows_from=rows, id_column=id_column).released(None)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTable:
    """A table that can be released: every chosen cell read and found to be a number, every other column declared."""

    table: Any
    adapter: TableAdapter
    cells: dict[str, NDArray[Any]]
    public: tuple[str, ...]
    dropped: tuple[str, ...]
    rows_from: str
    plan: Planned
    rows: int

    @classmethod
    def of(
        cls, laid: Laid, plan: Planned, *, drop: str | Sequence[str], rows_from: str, id_column: Any
    ) -> "CheckedTable":
        """The table, with every check that a release makes before it draws."""
        origin, table = rows_origin(rows_from), laid.table
        adapter = adapter_of(table)
        names = tuple(adapter.names(table))
        chosen = chosen_columns(laid.columns, names, id_column)
        published, dropped = declared_columns(names, chosen, laid.public, drop)
        kept = tuple(name for name in published if name not in laid.labels)
        check_margins_free({margin: name for margin, (name, _) in plan.bars(chosen).items()}, names)
        if id_column is not None:
            check_distinct(adapter.column(table, id_column), id_column, lambda row: adapter.place(table, row))
        read = integer_column if plan.numbers == "integers" else real_column
        cells = {
            name: read(adapter.column(table, name), name, lambda row: adapter.place(table, row)) for name in chosen
        }
        rows = len(cells[chosen[0]])
        check_size(plan.unit, rows, len(chosen))
        for name in kept:
            check_no_copy(name, partial(adapter.column, table, name), cells)
        plan.warn()
        warn_of_rows(origin)
        return cls(table, adapter, cells, published, dropped, origin, plan, rows)

    def released(self, noised: dict[str, NDArray[Any]] | None) -> TableRelease:
        """The release with these noised columns, or without a table."""
        chosen = tuple(self.cells)
        table = None
        if noised is not None:
            bars = self.plan.bars(chosen)
            margins: dict[str, NDArray[Any]] = {name: np.full(self.rows, margin) for name, (_, margin) in bars.items()}
            after = {name: owner for name, (owner, _) in bars.items()}
            bare = self.adapter.without(self.table, self.dropped)
            table = self.adapter.with_columns(bare, {**noised, **margins}, after)
        return TableRelease(table, chosen, self.plan, self.rows, self.public, self.rows_from)


def declared(
    table: Any, columns: str | Sequence[str], public: str | Sequence[str], drop: str | Sequence[str]
) -> tuple[str, ...]:
    """The public columns of a table, every column of which must be declared, see `declared_columns`."""
    names = tuple(adapter_of(table).names(table))
    return declared_columns(names, chosen_columns(columns, names, None), public, drop)[0]


_FIRST = 64


def check_no_copy(name: str, column: Callable[..., Column], cells: Mapping[str, Column]) -> None:
    """Check that a public column does not hold the true values of a released one.

    Args:
        name: the public column.
        column: gives its cells, or the first ``most`` of them: most columns differ there, and are not read on.
        cells: the true values of each released column.

    Raises:
        BadTable: where it does in every row.
    """
    first = _plain(column(most=_FIRST))
    for released, true in cells.items():
        if all(map(_same, first, _plain(true[:_FIRST]))) and all(map(_same, _plain(column()), _plain(true))):
            raise copied(name, released)


def copied(name: str, released: str) -> BadTable:
    """The refusal of a public column that holds the true values of a released one."""
    return BadTable(
        f"a public column must not repeat the released column {released!r}",
        came="the same value in every row",
        where=f"column {name!r}",
        remedy="Drop it: beside it, noise protects nobody.",
    )


def same_cells(column: Column, true: Column) -> bool:
    """Whether a column holds the true values in every row, as numbers or as text."""
    if len(column) != len(true) or not all(map(_same, _plain(column[:_FIRST]), _plain(true[:_FIRST]))):
        return False
    return all(map(_same, _plain(column), _plain(true)))


def _plain(column: Column) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _same(cell: Any, value: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip() == str(value)
    return isinstance(cell, Real | Decimal) and bool(cell == value)
