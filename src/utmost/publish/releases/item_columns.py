"""Add keyed noise to Arrow tables: read identifiers and values, write released columns, and commit to the rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.sampling.item_words import Identifiers, item_tags
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment
from utmost.publish.releases.item_release import ItemResponder
from utmost.tables.cells.columns import not_distinct
from utmost.tables.engines.engine_frames import CHOSEN_BY_THE_ENGINE
from utmost.tables.frames.arrow_identifiers import arrow_identifiers
from utmost.tables.frames.fresh_columns import fresh_part
from utmost.tables.optional_imports import extra

BLOCK, COUNT, TAGS = "block", "count", "tags"
_LIMBS = 8
_REPEATED = -1
"""Block number of a row of sums that is no block: its count is the number of rows with repeated identifiers."""
_TOGETHER, _UNEVEN = 1 << 20, 4


def arrow_numbers(column: Any, name: str) -> Any:
    """Return the numbers in an Arrow array, as a NumPy array; decimals and large integers are Python objects."""
    arrow = extra("pyarrow", "tables")
    if column.null_count:
        raise BadTable("every released cell must be a number", came="a missing cell", where=f"column {name!r}")
    if not arrow.types.is_decimal(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if column.type.scale:
        return np.array(column.to_pylist(), dtype=object)
    try:
        return np.asarray(column.cast(arrow.int64()).to_numpy(zero_copy_only=False))
    except arrow.ArrowInvalid:
        return np.array([int(number) for number in column.to_pylist()], dtype=object)


def released_type(field: Any, numbers: str) -> Any:
    """Return the type of a released column: float64 for "reals", decimal128 for declared decimals, else int64."""
    arrow, kind = extra("pyarrow", "tables"), field.type
    kinds = arrow.types
    whole = kinds.is_integer(kind) or (kinds.is_decimal(kind) and kind.scale == 0)
    if numbers == "reals" and (whole or kinds.is_floating(kind) or kinds.is_decimal(kind)):
        return arrow.float64()
    if not whole:
        real = kinds.is_floating(kind) or kinds.is_decimal(kind)
        wanted = (
            'Cast the column to integers, or declare numbers="reals".' if real else "Cast the column to integers first."
        )
        raise Unsupported("a released column of an engine must contain integers", came=str(kind), remedy=wanted)
    # Wide integers that the engine chose, for sums or for large values in the rows, are released as int64.
    is_declared = CHOSEN_BY_THE_ENGINE not in (field.metadata or {})
    return arrow.decimal128(38, 0) if kinds.is_decimal(kind) and is_declared else arrow.int64()


class ReleaseItems(Protocol):
    """A function from the identifiers and numbers of some rows to the released columns of these rows."""

    def __call__(
        self, release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]: ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemNoiseMap:
    """A pure function from a batch of true rows to the batch of released rows."""

    release: ItemResponder
    identifiers: tuple[str, ...]  # Columns that together identify a row
    schema: Any  # Schema of the resulting batches
    answer: ReleaseItems  # Computes the released columns

    def __call__(self, batch: Any) -> Any:
        """Return the released batch, with its rows in the same order."""
        arrow = extra("pyarrow", "tables")
        items = [arrow_identifiers(batch.column(name), name) for name in self.identifiers]
        numbers = {name: arrow_numbers(batch.column(name), name) for name in self.release.columns}
        responses = self.answer(self.release, items, numbers)
        columns = []
        for field in self.schema:
            if field.name not in responses:
                columns.append(fresh_part(batch.column(field.name)).cast(field.type))
                continue
            released: Any = responses[field.name]
            try:
                if arrow.types.is_decimal(field.type):
                    released = [Decimal(int(number)) for number in released]
                columns.append(arrow.array(released, field.type))
            except (arrow.ArrowInvalid, OverflowError):
                raise OutOfRange(
                    "a released value must fit the data type of its column",
                    came="a larger value",
                    where=f"column {field.name!r}",
                    remedy="Cast the column to decimal(38, 0).",
                ) from None
        return arrow.record_batch(columns, schema=self.schema)


def responses_of(
    release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    """Add noise to true values, at the level ``release.level``."""
    return release.responses(identifiers, numbers)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchCommitter:
    """A function from batches of a table to sums by block, which commit to the rows of the batches."""

    key: CommitmentKey
    identifiers: tuple[str, ...]  # Columns that together identify a row
    # Release and level of the noisy values in the rows; None if the rows hold true values
    answered: tuple[ItemResponder, Level] | None = None
    # Number of parts into which the tags of all rows are split for `RepeatedTags`; 0 if tags are not compared
    parts: int = 0

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of tags, if tags are compared, then one batch of sums by block or column."""
        commitment, waiting, rows = ItemCommitment.none(), list[NDArray[np.uint64]](), 0
        for batch in batches:
            items = [arrow_identifiers(batch.column(name), name) for name in self.identifiers]
            numbers = {name: arrow_numbers(batch.column(name), name) for name in self.key.columns}
            if self.answered is None:
                commitment += self.key.committed(items, numbers)
            else:
                release, at = self.answered
                commitment += self.key.committed_responses(release, items, numbers, at)
            if self.parts:
                waiting.append(item_tags(self.key.secret, items)[:, 0])
                rows += batch.num_rows
                if rows >= _TOGETHER:
                    yield self._split_tags(np.concatenate(waiting))
                    waiting, rows = [], 0
        if waiting:
            yield self._split_tags(np.concatenate(waiting))
        blocks = np.flatnonzero(commitment.sums[:, 0])
        yield _sums_batch(blocks, commitment.sums[blocks], [None] * blocks.size if self.parts else None)

    def _split_tags(self, halves: NDArray[np.uint64]) -> Any:
        """Split the first halves of the rows' tags into one piece for each part; return the pieces as a batch."""
        part, twice = self._part_of(halves), 0
        sizes = np.bincount(part, minlength=self.parts)
        if sizes.max() > _UNEVEN * (1 + len(halves) // self.parts):  # one part is large: many tags may be equal
            distinct = np.unique(halves)
            halves, twice = distinct, len(halves) - len(distinct)
            part = self._part_of(halves)
            sizes = np.bincount(part, minlength=self.parts)
        halves = halves[np.argsort(part.astype(np.uint16) if self.parts < 1 << 16 else part, kind="stable")]
        pieces = [piece.astype("<u8", copy=False).tobytes() for piece in np.split(halves, np.cumsum(sizes)[:-1])]
        sums = np.zeros((1 + self.parts, 1 + _LIMBS), np.int64)
        sums[0, 0] = twice
        return _sums_batch(np.arange(_REPEATED, _REPEATED - len(sums), -1), sums, [None, *pieces])

    def _part_of(self, halves: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the index of each tag's part, from the tag's highest bits: equal tags are in the same part."""
        return ((halves >> np.uint64(32)) * np.uint64(self.parts) >> np.uint64(32)).astype(np.int64)


class RepeatedTags:
    """A function that counts repeated half tags in the pieces from `BatchCommitter`, and returns the sums unchanged."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the batches of sums without tags, then one row with the number of repeated half tags."""
        arrow, pieces = extra("pyarrow", "tables"), dict[int, list[NDArray[np.uint64]]]()
        schema = None
        for batch in batches:
            # Half a tag has 64 bits: among n identifiers two are equal by chance with probability below n^2 / 2^65.
            tags, is_sum = batch.column(TAGS), batch.column(TAGS).is_null()
            for row in np.flatnonzero(~np.asarray(is_sum.to_numpy(zero_copy_only=False))).tolist():
                piece = np.frombuffer(tags[row].as_buffer(), "<u8")
                pieces.setdefault(batch.column(BLOCK)[row].as_py(), []).append(piece)
            sums = batch.drop_columns([TAGS]).filter(is_sum)
            schema = sums.schema
            yield sums
        if schema is not None:
            twice = 0
            for part in pieces.values():
                ordered = np.sort(np.concatenate(part))
                twice += int((ordered[1:] == ordered[:-1]).sum())
            cells = {BLOCK: _REPEATED, COUNT: twice, **{f"limb_{limb}": 0 for limb in range(_LIMBS)}}
            yield arrow.record_batch(
                [arrow.array([cells.get(field.name)], field.type) for field in schema], schema=schema
            )


def _sums_batch(blocks: NDArray[np.int64], sums: NDArray[np.int64], tags: list[bytes | None] | None) -> Any:
    arrow, schema = extra("pyarrow", "tables"), commitment_schema(tagged=tags is not None)
    columns = [arrow.array(column) for column in (blocks.astype(np.int64), *np.ascontiguousarray(sums.T))]
    return arrow.record_batch([*columns, *([] if tags is None else [arrow.array(tags, arrow.binary())])], schema=schema)


def commitment_schema(*, tagged: bool = False) -> Any:
    """Return the Arrow schema of sums by block or column; if ``tagged``, with a column for pieces of tags."""
    arrow = extra("pyarrow", "tables")
    names = (BLOCK, COUNT, *(f"limb_{limb}" for limb in range(_LIMBS)))
    return arrow.schema([(name, arrow.int64()) for name in names] + ([(TAGS, arrow.binary())] if tagged else []))


def gathered_commitment(batches: Iterator[Any]) -> tuple[ItemCommitment, int]:
    """Add up the sums of all parts of a table; return the commitment and the number of repeated identifiers."""
    commitment, twice = ItemCommitment.none(), 0
    for batch in batches:
        columns = [np.asarray(batch.column(name).to_numpy()) for name in commitment_schema().names]
        blocks, sums = columns[0], np.stack(columns[1:], axis=1)
        twice += int(sums[blocks == _REPEATED, 0].sum())
        commitment += ItemCommitment.of_sums(blocks[blocks != _REPEATED], sums[blocks != _REPEATED])
    return commitment, twice


def check_none_repeated(twice: int, rows: int, identifiers: Sequence[str]) -> None:
    """Refuse a table with repeated identifiers: ``twice`` is the number of rows with the identifier of another row."""
    if twice:
        came = f"{twice} of {rows} rows with the identifier of another row"
        raise not_distinct(came, f"column {', '.join(map(repr, identifiers))}")
