"""Releasing a table: every cell of the chosen columns noised once, the whole table at one level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import truth
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.costs import Cost
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.proved_table import ProvedTable
from utmost.publish.promises.declared_columns import check_margins_free, check_no_copy, chosen_columns, declared_columns
from utmost.publish.promises.plan import CellsAt, Planned, warn_of_rows
from utmost.publish.promises.promise import Promise, counted_labels, fitting
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.answer_tables import answer_table
from utmost.tables.cells.columns import check_distinct
from utmost.tables.frames.adapters import Column, TableAdapter
from utmost.tables.frames.any_table import adapter_of, is_engine_table

Table = TypeVar("Table")


@overload
def release_table(
    table: ProvedTable | Path,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    cost: str | Cost | None = "absolute",
    relaxable: bool = False,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
) -> Answer[object]: ...


@overload
def release_table(
    table: Table,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    cost: str | Cost | None = "absolute",
    relaxable: bool = False,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
) -> Answer[Table]: ...


@progress_bar("Noising")
def release_table(
    table: object,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    cost: str | Cost | None = "absolute",
    relaxable: bool = False,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
) -> Answer[Any]:
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

    >>> from utmost import Promise, Unit

    >>> promise = Promise(columns="admitted", public="department", unit=Unit(1, 1))
    >>> release = release_table({"department": ["A", "B"], "admitted": [601, 370]}, promise, alpha="1/2")
    >>> list(release.table), release.law, release.margin()
    (['department', 'admitted', 'admitted_margin'], Geometric(alpha='1/2', sensitivity=1), 4)
    """
    at, stated = level(epsilon, alpha), _once(table, promise, cost, relaxable)
    bits = secure(randomness)
    return checked_table(table, stated, at, confidence).released(bits)


def rehearse_table(
    table: object,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    cost: str | Cost | None = "absolute",
    relaxable: bool = False,
    confidence: Number = "0.95",
) -> Answer[None]:
    """Everything that `release_table` does up to the first draw: the same checks, law, margin and statement, no table.

    Args:
        table, promise, epsilon, alpha, cost, relaxable, confidence: as for `release_table`.

    Returns:
        A release whose ``table`` is None.

    >>> from utmost.privacy import Unit
    >>> rehearse_table({"n": [3]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1).margin()
    3
    """
    at, stated = level(epsilon, alpha), _once(table, promise, cost, relaxable)
    return checked_table(table, stated, at, confidence).released(None)


def _once(table: object, promise: Promise, cost: str | Cost | None, relaxable: bool) -> Promise:
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

    def released(self, randomness: Randomness | None) -> Answer[Any]:
        """The release; without randomness the same and no table."""


def checked_table(table: object, promise: Promise, at: Level, confidence: Number = "0.95") -> Checked:
    """A table that can be released at a level as it is promised.

    Raises:
        UtmostError: for a table that cannot be released so.
    """
    noise = promise.noise
    if noise.needs_counted:
        from utmost.publish.releases.checked_sums import CheckedSums

        return CheckedSums.of(table, promise, at, confidence)
    plan = noise.plan(at, confidence)
    if isinstance(noise, Noise):  # a memory could keep it, too
        noise.check()
        noise.check_level(at)
    rows = promise.rows_of(table)
    if hasattr(type(rows), "pieces"):  # a file; of the class, since a frame has its columns as attributes
        if not isinstance(plan, CellsAt):
            raise Unsupported("a file is noised piece by piece, cell by cell", came=noise.kind, where="promise")
        from utmost.publish.releases.streamed import CheckedPieces

        return CheckedPieces.of(rows, promise, plan)
    if isinstance(plan, CellsAt) and is_engine_table(rows):
        from utmost.publish.releases.engine_release import CheckedFrame

        return CheckedFrame.of(rows, promise, plan)
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
    def of(cls, brought: object, promise: Promise, plan: Planned, labels: Sequence[str] = ()) -> "CheckedTable":
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

    def released(self, randomness: Randomness | None) -> Answer[Any]:
        """The release with the noise of the plan; without randomness the same and no table."""
        noise, chosen = self.promise.noise, tuple(self.cells)
        table, rows = None, 0 if noise.names_rows else self.rows
        if randomness is not None:
            noised = self.plan.noised(self.cells, randomness)
            rows = len(next(iter(noised.values())))
            table = answer_table(noise, self.plan.level, noised, self.kind, self.promise.part, self._with_bars, None)
        return Answer(table, self.promise.as_read(chosen, self.public), self.plan, rows, None, None)

    def _with_bars(self, noised: Mapping[str, Column]) -> Any:
        """The table with noised columns, and their margins behind them."""
        bars = self.plan.bars(tuple(self.cells))
        margins: dict[str, NDArray[Any]] = {name: np.full(self.rows, margin) for name, (_, margin) in bars.items()}
        after = {name: owner for name, (owner, _) in bars.items()}
        bare = self.adapter.without(self.table, self.dropped)
        return self.adapter.with_columns(bare, {**noised, **margins}, after)
