"""Release a frame that an engine evaluates: check it by aggregates, and add noise by a map over the engine's rows.

The noise of a cell is a function of the release's secret and of the row's identifier. So the released values are the
same if the engine evaluates a frame twice, in parts, on other machines or after a failure. Each call of `release` is a
new release with its own cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.item_words import SECRET_BYTES
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.publish.promises.declared_columns import (
    check_margins_free,
    check_released,
    check_size,
    declared_columns,
    repeated_values_error,
)
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, warn_of_rows, warn_of_weakness
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.row_order import RowOrder
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.item_columns import (
    ItemNoiseMap,
    ReleaseItems,
    arrow_numbers,
    check_none_repeated,
    released_type,
    responses_of,
)
from utmost.publish.releases.item_release import ItemResponder
from utmost.publish.releases.once import statement_before
from utmost.tables.engines.engine_frames import EngineFrame, evaluated
from utmost.tables.engines.engines import engine_frame
from utmost.tables.frames.adapters import check_columns_exist
from utmost.tables.frames.arrow_identifiers import check_identifier, is_text
from utmost.tables.frames.fresh_columns import bare_type
from utmost.tables.optional_imports import extra

_LARGEST = 1 << 62
_HALF_DECIMAL = 10**38 // 2
_RARE = 200  # noise exceeds 200 / epsilon with probability below exp(-200)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFrame:
    """A frame of an engine that passed every check, with its noise; its released table is a lazy frame, too."""

    frame: "ReleasableFrame"
    promise: Promise
    noise: CellNoiseAtLevel
    rows: int

    @classmethod
    def of(cls, table: object, promise: Promise, noise: CellNoiseAtLevel) -> "CheckedFrame":
        """Check the frame by aggregates of the engine; nothing is drawn yet."""
        lattice, frame = lattice_of_noise(noise), ReleasableFrame.of(table, promise)
        frame.check_room(lattice, noise.level)
        rows = frame.checked_rows().rows
        frame.check_distinct(rows)
        check_size(noise.unit, rows, len(frame.columns))
        warn_of_weakness(noise.weakness())
        warn_of_rows(promise.rows)
        frame.warn_of_order()
        return cls(frame, promise, noise, rows)

    def statement(self) -> dict[str, Any]:
        return statement_before(self.frame.promised(self.promise), self.noise, self.rows)

    def released(self, randomness: Randomness) -> Answer[Any]:
        """Make the answer; the secret from which its noise is derived comes from ``randomness``."""
        frame, noise = self.frame, self.noise
        secret = randomness.words(SECRET_BYTES // 8, 64).tobytes()
        release = ItemResponder(secret, frame.columns, lattice_of_noise(noise), (noise.level,), noise.level)
        table = frame.noised(release, noise.margin)
        return Answer(table, frame.promised(self.promise), noise, self.rows, None, None)


def lattice_of_noise(noise: CellNoiseAtLevel) -> Lattice:
    """Return the lattice of this noise, which must be geometric or half-step staircase noise."""
    drawn, block = noise.drawn, 1
    if isinstance(drawn, DiscreteStaircase) and 2 * drawn.step == drawn.sensitivity + 1:
        block = drawn.sensitivity
    elif not isinstance(drawn, Geometric):
        raise Unsupported(
            "noise keyed by identifier must be geometric, or a half-step staircase",
            came=type(noise.distribution).__name__,
            remedy="Collect the table first; or pass relaxable=True, unless the promise names the noise.",
        )
    return Lattice(drawn.sensitivity, noise.unit.epsilon_parts, block, noise.exponent)


class CheckedRows(NamedTuple):
    """The number of rows of a frame and the ranges of its released columns, from one aggregate of the engine."""

    rows: int
    ends: Mapping[str, tuple[Any, Any]]  # Least and largest cell of each released column, None without rows

    def flat(self, lattice: Lattice) -> tuple[int, ...]:
        """Return the indices of released columns all of whose cells are the same number of lattice steps."""
        steps = (lattice.steps(lattice.read(list(ends))) for ends in self.ends.values())
        return tuple(at for at, (low, high) in enumerate(steps) if low == high)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasableFrame:
    """A frame whose columns are declared and have types that can be released."""

    frame: EngineFrame
    columns: tuple[str, ...]
    public: tuple[str, ...]  # Columns that are published unchanged, in the frame's order
    identifiers: tuple[str, ...]  # Columns that together identify a row
    numbers: str

    @classmethod
    def of(cls, table: object, promise: Promise) -> "ReleasableFrame":
        """Make every check that reads no cell: check the names and types of columns, and the columns of identifiers."""
        frame, numbers = engine_frame(table), promise.noise.subject
        schema = frame.schema()
        names = tuple(schema.names)
        identifiers = promise.id_column
        if not identifiers:
            remedy = (
                "Pass the column that identifies the rows: the noise is derived from the "
                "identifiers, so that a second evaluation "
            )
            remedy += "gives the same values."
            required = "a frame that an engine evaluates needs id_column="
            raise OutOfRange(required, came="none", remedy=remedy)
        check_columns_exist(identifiers, names)
        for name in identifiers:
            check_identifier(schema.field(name).type, name)
        chosen = promise.columns
        check_released(chosen, names, None)
        public, _ = declared_columns(names, chosen, promise.public, promise.drop)
        check_margins_free({f"{name}_margin": name for name in chosen}, names, folds_case=frame.folds_case)
        for name in chosen:
            if name in identifiers:
                raise OutOfRange(
                    "columns must not name the column of identifiers",
                    came=repr(name),
                    remedy="Leave this column out of columns=.",
                )
            released_type(schema.field(name), numbers)
        return cls(frame, chosen, public, identifiers, numbers)

    def promised(self, promise: Promise) -> Promise:
        """Return the promise with the columns of the frame, in the frame's order."""
        return promise.as_published(self.frame.schema().names, self.public)

    def check_room(self, lattice: Lattice, level: Level) -> None:
        """Check that the engine can map the frame, and that noise at this level fits the types of the columns."""
        # This is checked before epsilon is spent. True values may use half the range of a type; the probability that
        # the noise exceeds the other half is below exp(-200).
        self.frame.check_mapped()
        for name, room in self._room_for_noise.items():
            if lattice.of(level).epsilon_float * (room // lattice.block) < _RARE:
                raise OutOfRange(
                    "the noise at this level must fit the data type of the column",
                    came=level,
                    where=f"column {name!r}",
                    remedy="Cast the column to decimal(38, 0), or pass a larger epsilon.",
                )

    def noised(self, release: ItemResponder, margin: int | float | None, answer: ReleaseItems = responses_of) -> Any:
        """Return the engine's frame with public columns, noisy columns, and columns of ``margin`` unless it is None."""
        wanted = (*self.identifiers, *self.columns, *self.public)
        read = self.frame.select([name for name in self.frame.schema().names if name in wanted])
        arrow = extra("pyarrow", "tables")
        fields = []
        for field in self.frame.schema():
            if field.name in self.columns:
                kind = released_type(field, self.numbers)
                fields.append(arrow.field(field.name, kind))
                if margin is not None:
                    fits = isinstance(margin, int) and margin < _LARGEST
                    wide = arrow.float64() if isinstance(margin, float) else arrow.int64() if fits else kind
                    fields.append(arrow.field(f"{field.name}_margin", wide))
            elif field.name in self.public:
                fields.append(arrow.field(field.name, bare_type(field.type)))
        margins = {} if margin is None else {f"{name}_margin": margin for name in self.columns}
        made = arrow.schema([field for field in fields if field.name not in margins])
        return read.mapped(ItemNoiseMap(release, self.identifiers, made, answer), arrow.schema(fields), margins)

    def checked_rows(self) -> CheckedRows:
        """Count the rows and find the ranges of columns, in one pass; raise BadTable if a cell is invalid."""
        nw = extra("narwhals", "tables")
        used = self.frame.select(list(dict.fromkeys((*self.identifiers, *self.columns, *self.public))))
        rows = nw.from_native(used.native)
        expressions = {"rows": nw.len(), **self._wrong_cells(nw), **self._copies(nw)}
        counted = [count.alias(f"check_{at}") for at, count in enumerate(expressions.values())]
        least_and_largest = [
            end.alias(f"end_{at}_{side}")
            for at, name in enumerate(self.columns)
            for side, end in enumerate((nw.col(name).min(), nw.col(name).max()))
        ]
        with progress_bar("Checking rows"), evaluated():
            totals = rows.select(*counted, *least_and_largest).collect()
        counts = {name: int(totals.item(0, at) or 0) for at, name in enumerate(expressions)}
        total = counts.pop("rows")
        # An engine's aggregate shows how many cells are wrong, never which.
        for (what, name), count in ((key, count) for key, count in counts.items() if not isinstance(key, str)):
            if what == "copy" and total and count == total:
                raise repeated_values_error(*name)
            if what == "infinite" and count:
                required = "every released cell must be a finite number"
                raise BadTable(required, came=f"{count} cells that are not finite", where=f"column {name!r}")
            if what != "copy" and count:
                came, where = f"{count} such cells", f"column {name!r}"
                remedy = (
                    "Fill the cell or drop the row: whether a value is missing is itself information about individuals."
                )
                raise BadTable(f"no cell may be {what}", came=came, where=where, remedy=remedy)
        places = range(len(counted), len(counted) + 2 * len(self.columns), 2)
        ends = {
            name: (totals.item(0, at), totals.item(0, at + 1)) for name, at in zip(self.columns, places, strict=True)
        }
        # Large integers would leave no room for noise in their released type.
        for name, room in self._room_for_noise.items():
            low, high = ends[name]
            if low is not None and max(-int(low), int(high)) >= room:
                wanted, remedy = "below 2^62", "Cast the column to decimal(38, 0)."
                if room != _LARGEST:
                    wanted, remedy = "below 5 10^37", "Count in larger units."
                raise BadTable(
                    f"the integers of a released column must be {wanted} in size",
                    came="a larger integer",
                    where=repr(name),
                    remedy=remedy,
                )
        return CheckedRows(total, ends)

    def check_distinct(self, rows: int) -> None:
        """Check that no two rows have the same identifier; the engine counts the distinct identifiers."""
        nw, ids = extra("narwhals", "tables"), self.frame.select(list(self.identifiers))
        with progress_bar("Counting distinct identifiers"), evaluated():
            distinct = int(nw.from_native(ids.native).unique().select(nw.len()).collect().item(0, 0))
        check_none_repeated(rows - distinct, rows, self.identifiers)

    def warn_of_order(self) -> None:
        """Warn (RowsSorted) if the rows are sorted by a released column; few rows are read if they are not."""
        if self.frame.engine == "spark":  # its rows have no order
            return
        order, public = RowOrder(), list(dict.fromkeys((*self.identifiers, *self.public)))
        for batch in self.frame.select(list(dict.fromkeys((*self.columns, *public)))).batches():
            cells = {name: arrow_numbers(batch.column(name), name) for name in self.columns}
            labels = {name: batch.column(name).to_pylist() for name in public}
            order.add(cells, public, labels.__getitem__)
            if not order.may_be_sorted:
                break
        order.warn()

    def _wrong_cells(self, nw: Any) -> dict[Any, Any]:
        """Return aggregates that count missing cells, empty identifiers, and cells that are infinite or NaN."""
        arrow, schema = extra("pyarrow", "tables"), self.frame.schema()
        cells = {}
        for name in (*self.identifiers, *self.columns):
            cells["missing", name] = nw.col(name).null_count()
            kind = schema.field(name).type
            if name in self.identifiers and is_text(kind):
                cells["empty", name] = _rows_where(nw, nw.col(name).str.strip_chars() == "")
            if arrow.types.is_floating(kind):
                cells["infinite", name] = _rows_where(nw, ~nw.col(name).is_finite())
        return cells

    def _copies(self, nw: Any) -> dict[Any, Any]:
        """Return aggregates that count, for each public and released column, the rows in which the two are equal."""
        copies, schema, kinds = {}, self.frame.schema(), extra("pyarrow", "tables").types
        for name in self.public:
            kind = schema.field(name).type
            for released in self.columns:
                true = nw.col(released)
                if is_text(kind):
                    same = nw.col(name).str.strip_chars() == true.cast(nw.String)
                elif kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
                    same = nw.col(name) == true
                else:
                    continue
                copies["copy", (name, released)] = _rows_where(nw, same)
        return copies

    @property
    def _room_for_noise(self) -> dict[str, int]:
        """For each column that is released as integers, half of the range of its type."""
        kinds, schema = extra("pyarrow", "tables").types, self.frame.schema()
        found = {name: released_type(schema.field(name), self.numbers) for name in self.columns}
        rooms = {name: _HALF_DECIMAL if kinds.is_decimal(kind) else _LARGEST for name, kind in found.items()}
        return {} if self.numbers == "reals" else rooms


def _rows_where(nw: Any, holds: Any) -> Any:
    """Return an aggregate that counts the rows for which a condition holds; Spark does not add up truth values."""
    return nw.when(holds).then(1).otherwise(0).sum()
