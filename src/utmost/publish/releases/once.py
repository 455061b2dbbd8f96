"""A release that nothing remembers: the table is checked whole, then every cell is drawn once, at one level."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import Unsupported
from utmost.publish.promises.declared_columns import check_margins_free, check_no_copy, check_released, declared_columns
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, NoiseAtLevel, warn_of_rows
from utmost.publish.promises.promise import Promise, counted_labels
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement import Statement
from utmost.publish.releases.answer import Answer, drawn_answer
from utmost.tables.cells.columns import check_distinct
from utmost.tables.frames.adapters import TableAdapter
from utmost.tables.frames.any_table import adapter_of, is_engine_table


class Checked(Protocol):
    """A table that can be released."""

    def statement(self) -> dict[str, Any]:
        """The statement that its answer would have, but for a digest."""

    def released(self, randomness: Randomness) -> Answer[Any]:
        """The answer."""


def statement_before(promise: Promise, at_level: NoiseAtLevel, rows: int) -> dict[str, Any]:
    """The statement of an answer that is not drawn yet."""
    return Statement(promise, at_level, rows, None, None).facts()


def checked_table(table: object, promise: Promise, at: Level, confidence: Number = "0.95") -> Checked:
    """A table that can be released at a level as it is promised.

    Raises:
        UtmostError: for a table that cannot be released so.
    """
    promise.check_fixed("once=True")
    noise = promise.noise
    if noise.is_by_plan:
        from utmost.publish.releases.checked_sums import CheckedSums

        return CheckedSums.of(table, promise, at, confidence)
    at_level = noise.at(at, confidence)
    if isinstance(noise, Noise):  # a memory could keep it, too
        noise.check()
        noise.check_level(at)
    rows = promise.rows_of(table)
    if hasattr(type(rows), "pieces"):  # a file; of the class, since a frame has its columns as attributes
        if not isinstance(at_level, CellNoiseAtLevel):
            raise Unsupported("a file this large must be noised cell by cell", came=noise.kind, where="promise")
        from utmost.publish.releases.streamed import CheckedPieces

        return CheckedPieces.of(rows, promise, at_level)
    if isinstance(at_level, CellNoiseAtLevel) and is_engine_table(rows):
        from utmost.publish.releases.engine_release import CheckedFrame

        return CheckedFrame.of(rows, promise, at_level)
    labels = promise.public if noise.labels_rows else counted_labels(table)
    return ReleasableTable.of(rows, promise, at_level, labels)


@dataclass(frozen=True, slots=True, eq=False)
class ReleasableTable:
    """A table that can be released: every chosen cell read and found to be a number, every other column declared."""

    table: Any
    kind: str
    adapter: TableAdapter
    cells: dict[str, NDArray[Any]]
    public: tuple[str, ...]
    dropped: tuple[str, ...]
    promise: Promise
    at_level: NoiseAtLevel
    rows: int

    @classmethod
    def of(
        cls, brought: object, promise: Promise, at_level: NoiseAtLevel, labels: Sequence[str] = ()
    ) -> "ReleasableTable":
        """The table, with every check that a release makes before it draws.

        Args:
            labels: public columns that were declared before anybody was counted, whatever stands in them.
        """
        table, kind = promise.noise.measured(brought)
        adapter = adapter_of(table)
        names = tuple(adapter.names(table))
        promise.check_single_id()
        chosen = promise.columns
        check_released(chosen, names, promise.single_id_column)
        published, dropped = declared_columns(names, chosen, promise.public, promise.drop)
        check_margins_free({margin: name for margin, (name, _) in at_level.bars(chosen).items()}, names)
        place = partial(adapter.place, table)
        for name in promise.id_column:
            check_distinct(adapter.column(table, name), name, place)
        cells = {name: at_level.read(adapter.column(table, name), name, place) for name in chosen}
        rows = len(cells[chosen[0]])
        promise.noise.check_size(rows, len(chosen))
        for name in published:
            if name not in labels:
                check_no_copy(name, partial(adapter.column, table, name), cells)
        at_level.warn()
        warn_of_rows(promise.rows)
        own = adapter.kind(table, chosen) if kind is None else kind
        return cls(table, own, adapter, cells, published, dropped, promise, at_level, rows)

    def statement(self) -> dict[str, Any]:
        """The statement that its answer would have; of named keys nobody knows yet how many there will be."""
        rows = 0 if self.promise.noise.names_rows else self.rows
        return statement_before(self.promise.as_read(tuple(self.cells), self.public), self.at_level, rows)

    def released(self, randomness: Randomness) -> Answer[Any]:
        """The answer with the noise of the plan."""
        promise, noised = (
            self.promise.as_read(tuple(self.cells), self.public),
            self.at_level.noised(self.cells, randomness),
        )

        def bare() -> tuple[TableAdapter, Any]:
            return self.adapter, self.adapter.without(self.table, self.dropped)

        return drawn_answer(promise, self.at_level, noised, self.kind, None, bare)
