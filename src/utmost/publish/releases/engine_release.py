"""Releases of frames that an engine evaluates: checked by aggregates, noised by a map, in the engine's own frame.

The noise of a cell is a function of the release's secret and of the row's identifier, so a frame that is evaluated
twice, in part, on other machines or after a failure gives the same released values. One release is one call: a second
call of `release` is a second release, and spends again.
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
    copied,
    declared_columns,
)
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, warn_of_rows
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.item_columns import (
    ItemNoiseMap,
    ReleaseItems,
    check_none_twice,
    released_type,
    responses_of,
)
from utmost.publish.releases.item_release import ItemResponder
from utmost.publish.releases.once import statement_before
from utmost.tables.engines.engine_frames import EngineFrame
from utmost.tables.engines.engines import engine_frame
from utmost.tables.frames.adapters import check_columns_exist
from utmost.tables.frames.arrow_identifiers import check_identifier, is_text
from utmost.tables.optional_imports import extra

_LARGEST = 1 << 62
_HALF_DECIMAL = 10**38 // 2
_RARE = 200  # noise passes so many times the inverse of its level with a chance below exp(-200)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFrame:
    """An engine's frame that can be released; the table of its release is a frame of the kind, not evaluated yet."""

    frame: "ReleasableFrame"
    promise: Promise
    noise: CellNoiseAtLevel
    rows: int

    @classmethod
    def of(cls, table: object, promise: Promise, noise: CellNoiseAtLevel) -> "CheckedFrame":
        """The frame, checked by the engine; several identifiers may say together which item a row is.

        Raises:
            as `release`; Unsupported: for a law that cannot be drawn by item, and what the engine cannot express.
        """
        lattice, frame = lattice_of_noise(noise), ReleasableFrame.of(table, promise)
        frame.check_room(lattice, noise.level)
        rows = frame.checked_rows().rows
        frame.check_distinct(rows)
        check_size(noise.unit, rows, len(frame.columns))
        noise.warn()
        warn_of_rows(promise.rows)
        return cls(frame, promise, noise, rows)

    def statement(self) -> dict[str, Any]:
        """The statement that its answer would have, but for a digest."""
        return statement_before(self.promise.as_read(self.frame.columns, self.frame.public), self.noise, self.rows)

    def released(self, randomness: Randomness) -> Answer[Any]:
        """The answer, the secret of whose noise comes from this randomness."""
        frame, noise = self.frame, self.noise
        secret = randomness.words(SECRET_BYTES // 8, 64).tobytes()
        release = ItemResponder(secret, frame.columns, lattice_of_noise(noise), (noise.level,), noise.level)
        table = frame.noised(release, noise.margin)
        return Answer(table, self.promise.as_read(frame.columns, frame.public), noise, self.rows, None, None)


def lattice_of_noise(noise: CellNoiseAtLevel) -> Lattice:
    """The lattice whose noise is that of the plan."""
    drawn, block = noise.drawn, 1
    if isinstance(drawn, DiscreteStaircase) and 2 * drawn.step == drawn.sensitivity + 1:
        block = drawn.sensitivity
    elif not isinstance(drawn, Geometric):
        raise Unsupported(
            "noise by item is geometric, or a half-step staircase",
            came=type(noise.law).__name__,
            remedy="Pass relaxable=True, which chooses between the two.",
        )
    return Lattice(drawn.sensitivity, noise.unit.charged, block, noise.exponent)


class CheckedRows(NamedTuple):
    """Counts that an engine made of the rows of a frame.

    Attributes:
        rows: Number of rows.
        ends: the least and the largest cell of each released column; None where there is no row.
    """

    rows: int
    ends: Mapping[str, tuple[Any, Any]]

    def flat(self, lattice: Lattice) -> tuple[int, ...]:
        """The places among the released columns of those whose cells are all equal, in steps of a lattice."""
        steps = (lattice.steps(lattice.read(list(ends))) for ends in self.ends.values())
        return tuple(at for at, (low, high) in enumerate(steps) if low == high)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasableFrame:
    """A frame whose columns are declared, and of types that can be released.

    Attributes:
        frame: Frame of its engine.
        columns: the released ones.
        public: the ones that are published as they are, in the frame's order.
        identifiers: the ones that say which item a row is.
        numbers: "integers" or "reals".
    """

    frame: EngineFrame
    columns: tuple[str, ...]
    public: tuple[str, ...]
    identifiers: tuple[str, ...]
    numbers: str

    @classmethod
    def of(cls, table: object, promise: Promise) -> "ReleasableFrame":
        """The frame, with every check that needs no cell.

        Raises:
            NotDeclared, BadTable, OutOfRange, Unsupported: for what cannot be released so.
        """
        frame, numbers = engine_frame(table), promise.noise.subject
        schema = frame.schema()
        names = tuple(schema.names)
        identifiers = promise.id_column
        if not identifiers:
            remedy = (
                "Pass the column that tells the rows apart: the noise follows from it, so that a second evaluation "
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
                    "columns must not name the identifier", came=repr(name), remedy="Leave it out of columns=."
                )
            released_type(schema.field(name), numbers)
        return cls(frame, chosen, public, identifiers, numbers)

    def check_room(self, lattice: Lattice, level: Level) -> None:
        """Check that the engine can map the frame, and that noise of a level fits the types of the released columns.

        Neither is to be found out once a level is spent, or by who evaluates them.

        It passes half of what a type holds with a chance below exp(-200); true values must lie in the other half.

        Raises:
            OutOfRange: where it does not fit.
            Unsupported: where the engine cannot.
        """
        self.frame.check_mapped()
        for name, room in self._rooms.items():
            if lattice.of(level).epsilon_float * (room // lattice.block) < _RARE:
                raise OutOfRange(
                    "noise of this level must fit the type of its column",
                    came=level,
                    where=f"column {name!r}",
                    remedy="Cast the column to decimal(38, 0), or choose a larger level.",
                )

    def noised(self, release: ItemResponder, margin: int | float | None, answer: ReleaseItems = responses_of) -> Any:
        """The engine's own frame of the released and public columns, with margins where one is given.

        Args:
            answer: Function from the numbers in the frame to the answer; the responses, if left out.
        """
        wanted = (*self.identifiers, *self.columns, *self.public)
        read = self.frame.select([name for name in self.frame.schema().names if name in wanted])
        schema, margins = self._released_schema(margin), {}
        if margin is not None:
            margins = {f"{name}_margin": margin for name in self.columns}
        made = extra("pyarrow", "tables").schema([field for field in schema if field.name not in margins])
        return read.mapped(ItemNoiseMap(release, self.identifiers, made, answer), schema, margins)

    def _released_schema(self, margin: int | float | None) -> Any:
        arrow = extra("pyarrow", "tables")
        fields = []
        for field in self.frame.schema():
            if field.name in self.columns:
                kind = released_type(field, self.numbers)
                fields.append(arrow.field(field.name, kind))
                if margin is not None:
                    fields.append(arrow.field(f"{field.name}_margin", _margin_type(kind, margin)))
            elif field.name in self.public:
                fields.append(arrow.field(field.name, field.type))
        return arrow.schema(fields)

    def checked_rows(self) -> CheckedRows:
        """The counts of the rows, where every identifier is there, and every released cell is a number.

        Raises:
            BadTable: where that is not so; of the rows only how many are not.

        Cost: one aggregate of the engine.
        """
        nw = extra("narwhals", "tables")
        used = self.frame.select(list(dict.fromkeys((*self.identifiers, *self.columns, *self.public))))
        rows = nw.from_native(used.native)
        expressions = {"rows": nw.len(), **self._wrong_cells(nw), **self._copies(nw)}
        counted = [count.alias(f"check_{at}") for at, count in enumerate(expressions.values())]
        with progress_bar("Checking rows"):
            totals = rows.select(*counted, *self._ends(nw)).collect()
        counts = {name: int(totals.item(0, at) or 0) for at, name in enumerate(expressions)}
        total = counts.pop("rows")
        for (what, name), count in ((key, count) for key, count in counts.items() if not isinstance(key, str)):
            if what == "copy" and total and count == total:
                raise copied(*name)
            if what != "copy" and count:
                raise _wrong(what, name, count)
        places = range(len(counted), len(counted) + 2 * len(self.columns), 2)
        ends = {
            name: (totals.item(0, at), totals.item(0, at + 1)) for name, at in zip(self.columns, places, strict=True)
        }
        self._check_sizes(ends)
        return CheckedRows(total, ends)

    def check_distinct(self, rows: int) -> None:
        """Check that no two rows have one identifier, by the engine's own count.

        Raises:
            BadTable: saying how many of so many rows have one that another row has.
        """
        nw, ids = extra("narwhals", "tables"), self.frame.select(list(self.identifiers))
        with progress_bar("Counting distinct identifiers"):
            distinct = int(nw.from_native(ids.native).unique().select(nw.len()).collect().item(0, 0))
        check_none_twice(rows - distinct, rows, self.identifiers)

    def _wrong_cells(self, nw: Any) -> dict[Any, Any]:
        """Counts of cells that must not be: missing ones, empty identifiers, floats that are no numbers."""
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
        """The number of rows in which each public and each released column are the same."""
        copies, schema = {}, self.frame.schema()
        for name in self.public:
            kind = schema.field(name).type
            for released in self.columns:
                true = nw.col(released)
                if is_text(kind):
                    same = nw.col(name).str.strip_chars() == true.cast(nw.String)
                elif _is_number(kind):
                    same = nw.col(name) == true
                else:
                    continue
                copies["copy", (name, released)] = _rows_where(nw, same)
        return copies

    @property
    def _rooms(self) -> dict[str, int]:
        """Half of the range that each column's type holds, of columns that are released as integers."""
        kinds, schema = extra("pyarrow", "tables").types, self.frame.schema()
        found = {name: released_type(schema.field(name), self.numbers) for name in self.columns}
        rooms = {name: _HALF_DECIMAL if kinds.is_decimal(kind) else _LARGEST for name, kind in found.items()}
        return {} if self.numbers == "reals" else rooms

    def _ends(self, nw: Any) -> list[Any]:
        """The least and the largest cell of each released column, in turn."""
        return [
            end.alias(f"end_{at}_{side}")
            for at, name in enumerate(self.columns)
            for side, end in enumerate((nw.col(name).min(), nw.col(name).max()))
        ]

    def _check_sizes(self, ends: Mapping[str, tuple[Any, Any]]) -> None:
        """Check that integers leave room for noise in the type that they are released in."""
        for name, room in self._rooms.items():
            low, high = ends[name]
            if low is not None and max(-int(low), int(high)) >= room:
                wanted, remedy = "below 2^62", "Cast the column to decimal(38, 0)."
                if room != _LARGEST:
                    wanted, remedy = "below 5 10^37", "Count in larger units."
                raise BadTable(f"integers must be {wanted}", came="a larger one", where=repr(name), remedy=remedy)


def _rows_where(nw: Any, holds: Any) -> Any:
    """The number of rows in which something holds; Spark does not add up truth values."""
    return nw.when(holds).then(1).otherwise(0).sum()


def _wrong(what: str, name: str, count: int) -> BadTable:
    where = f"column {name!r}"
    if what == "infinite":
        return BadTable("every released cell must be a finite number", came=f"{count} that are not", where=where)
    remedy = "Fill it or drop the row: whether a value is missing is itself information about individuals."
    return BadTable(f"no cell may be {what}", came=f"{count} that are", where=where, remedy=remedy)


def _is_number(kind: Any) -> bool:
    kinds = extra("pyarrow", "tables").types
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


def _margin_type(kind: Any, margin: int | float) -> Any:
    arrow = extra("pyarrow", "tables")
    fits = isinstance(margin, int) and margin < _LARGEST
    return arrow.float64() if isinstance(margin, float) else arrow.int64() if fits else kind
