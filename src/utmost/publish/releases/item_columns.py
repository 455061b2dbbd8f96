"""Arrow columns of a release by item: identifiers and values as they are read, responses as they are written."""

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
from utmost.tables.engines.engine_frames import UNDECLARED
from utmost.tables.frames.arrow_identifiers import arrow_identifiers
from utmost.tables.optional_imports import extra

BLOCK, COUNT, TAGS = "block", "count", "tags"
_LIMBS = 8
_TWICE = -1
"""The number of rows with an identifier that another row has, in the place of a block."""
_TOGETHER, _UNEVEN = 1 << 20, 4


def arrow_numbers(column: Any, name: str) -> Any:
    """The numbers in an Arrow array: a NumPy array, or Python integers and decimals."""
    arrow = extra("pyarrow", "tables")
    if column.null_count:
        raise BadTable("the cell must be a number", came="a missing one", where=f"column {name!r}")
    if not arrow.types.is_decimal(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if column.type.scale:
        return np.array(column.to_pylist(), dtype=object)
    try:
        return np.asarray(column.cast(arrow.int64()).to_numpy(zero_copy_only=False))
    except arrow.ArrowInvalid:
        return np.array([int(number) for number in column.to_pylist()], dtype=object)


def released_type(field: Any, numbers: str) -> Any:
    """The type of a released column, a function of what was declared: int64, float64 for reals, decimals for decimals.

    Integers that an engine made wide, since a sum is or since the rows hold a large one, are released as int64.
    """
    arrow, kind = extra("pyarrow", "tables"), field.type
    kinds = arrow.types
    whole = kinds.is_integer(kind) or (kinds.is_decimal(kind) and kind.scale == 0)
    if numbers == "reals" and (whole or kinds.is_floating(kind) or kinds.is_decimal(kind)):
        return arrow.float64()
    if not whole:
        real = kinds.is_floating(kind) or kinds.is_decimal(kind)
        wanted = 'Cast it to integers, or declare numbers="reals".' if real else "Cast it to integers first."
        raise Unsupported("in an engine a released column must hold integers", came=str(kind), remedy=wanted)
    is_declared = UNDECLARED not in (field.metadata or {})
    return arrow.decimal128(38, 0) if kinds.is_decimal(kind) and is_declared else arrow.int64()


def _written(numbers: NDArray[Any], kind: Any, name: str) -> Any:
    arrow = extra("pyarrow", "tables")
    try:
        if not arrow.types.is_decimal(kind):
            return arrow.array(numbers, kind)
        return arrow.array([Decimal(int(number)) for number in numbers], kind)
    except (arrow.ArrowInvalid, OverflowError):
        raise OutOfRange(
            "a released value must fit the type of its column",
            came="a larger one",
            where=f"column {name!r}",
            remedy="Cast the column to decimal(38, 0).",
        ) from None


class ReleaseItems(Protocol):
    """Turn the identifiers and the numbers of some items into released columns."""

    def __call__(
        self, release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]:
        """The released columns."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemNoiseMap:
    """Turn a batch of a table into the batch of its release: a pure function, item by item.

    Attributes:
        release: Release whose secret is used.
        identifiers: the columns that say which item a row is.
        schema: Schema of the batches that are made.
        answer: Function from the numbers to the answer.
    """

    release: ItemResponder
    identifiers: tuple[str, ...]
    schema: Any
    answer: ReleaseItems

    def __call__(self, batch: Any) -> Any:
        """The released batch; its rows stand as those of the one that came."""
        arrow = extra("pyarrow", "tables")
        items = [arrow_identifiers(batch.column(name), name) for name in self.identifiers]
        numbers = {name: arrow_numbers(batch.column(name), name) for name in self.release.columns}
        responses = self.answer(self.release, items, numbers)
        columns = []
        for field in self.schema:
            if field.name in responses:
                columns.append(_written(responses[field.name], field.type, field.name))
            else:
                columns.append(batch.column(field.name).cast(field.type))
        return arrow.record_batch(columns, schema=self.schema)


def responses_of(
    release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    """The responses at the newest level, from true values."""
    return release.responses(identifiers, numbers)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommittingRows:
    """Turn batches of a table into the sums by block that commit to their rows.

    Attributes:
        key: Key of the commitment.
        identifiers: the columns that say which item a row is.
        answered: Release and level of the responses, where the rows hold them; None for true values.
        parts: Number of parts in which the tags of all rows go along, for `TellingApart`; 0 where they are not
            compared.
    """

    key: CommitmentKey
    identifiers: tuple[str, ...]
    answered: tuple[ItemResponder, Level] | None = None
    parts: int = 0

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One batch for all that come: a row for each block that has any, 1024 at most, and for each column."""
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
                    yield self._parted(np.concatenate(waiting))
                    waiting, rows = [], 0
        if waiting:
            yield self._parted(np.concatenate(waiting))
        blocks = np.flatnonzero(commitment.sums[:, 0])
        yield _sums_batch(blocks, commitment.sums[blocks], [None] * blocks.size if self.parts else None)

    def _parted(self, halves: NDArray[np.uint64]) -> Any:
        """Half the tags of some rows, in one piece for each part: a few cells, however many rows."""
        part, twice = self._part_of(halves), 0
        sizes = np.bincount(part, minlength=self.parts)
        if sizes.max() > _UNEVEN * (1 + len(halves) // self.parts):  # rows that are all alike would be one part
            distinct = np.unique(halves)
            halves, twice = distinct, len(halves) - len(distinct)
            part = self._part_of(halves)
            sizes = np.bincount(part, minlength=self.parts)
        halves = halves[np.argsort(part.astype(np.uint16) if self.parts < 1 << 16 else part, kind="stable")]
        pieces = [piece.astype("<u8", copy=False).tobytes() for piece in np.split(halves, np.cumsum(sizes)[:-1])]
        sums = np.zeros((1 + self.parts, 1 + _LIMBS), np.int64)
        sums[0, 0] = twice
        return _sums_batch(np.arange(_TWICE, _TWICE - len(sums), -1), sums, [None, *pieces])

    def _part_of(self, halves: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The part in which a tag meets those that are equal to it: by its highest bits."""
        return ((halves >> np.uint64(32)) * np.uint64(self.parts) >> np.uint64(32)).astype(np.int64)


class TellingApart:
    """Join the pieces of each part that `CommittingRows` made: its sums, and how many half tags are twice.

    Half a tag has 64 bits: of n items two have the same by chance with a probability below n^2 / 2^65.
    """

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches without tags; and one row more, of those whose half tag another has."""
        arrow, pieces = extra("pyarrow", "tables"), dict[int, list[NDArray[np.uint64]]]()
        schema = None
        for batch in batches:
            tags, is_sum = batch.column(TAGS), batch.column(TAGS).is_null()
            for row in np.flatnonzero(~np.asarray(is_sum.to_numpy(zero_copy_only=False))).tolist():
                piece = np.frombuffer(tags[row].as_buffer(), "<u8")
                pieces.setdefault(batch.column(BLOCK)[row].as_py(), []).append(piece)
            sums = batch.drop_columns([TAGS]).filter(is_sum)
            schema = sums.schema
            yield sums
        if schema is not None:
            twice = sum(_alike(np.concatenate(part)) for part in pieces.values())
            cells = {BLOCK: _TWICE, COUNT: twice, **{f"limb_{limb}": 0 for limb in range(_LIMBS)}}
            yield arrow.record_batch(
                [arrow.array([cells.get(field.name)], field.type) for field in schema], schema=schema
            )


def _alike(halves: NDArray[np.uint64]) -> int:
    """How many are equal to one before them."""
    ordered = np.sort(halves)
    return int((ordered[1:] == ordered[:-1]).sum())


def _sums_batch(blocks: NDArray[np.int64], sums: NDArray[np.int64], tags: list[bytes | None] | None = None) -> Any:
    arrow, schema = extra("pyarrow", "tables"), commitment_schema(tagged=tags is not None)
    columns = [arrow.array(column) for column in (blocks.astype(np.int64), *np.ascontiguousarray(sums.T))]
    return arrow.record_batch([*columns, *([] if tags is None else [arrow.array(tags, arrow.binary())])], schema=schema)


def commitment_schema(*, tagged: bool = False) -> Any:
    """The Arrow schema of sums by block, and by column behind them; with tags, of pieces of all rows' tags as well."""
    arrow = extra("pyarrow", "tables")
    names = (BLOCK, COUNT, *(f"limb_{limb}" for limb in range(_LIMBS)))
    return arrow.schema([(name, arrow.int64()) for name in names] + ([(TAGS, arrow.binary())] if tagged else []))


def gathered_commitment(batches: Iterator[Any]) -> tuple[ItemCommitment, int]:
    """The commitment to all rows, from the sums of their parts; and how many rows seem to be items that others are."""
    commitment, twice = ItemCommitment.none(), 0
    for batch in batches:
        columns = [np.asarray(batch.column(name).to_numpy()) for name in commitment_schema().names]
        blocks, sums = columns[0], np.stack(columns[1:], axis=1)
        twice += int(sums[blocks == _TWICE, 0].sum())
        commitment += ItemCommitment.of_sums(blocks[blocks != _TWICE], sums[blocks != _TWICE])
    return commitment, twice


def check_none_twice(twice: int, rows: int, identifiers: Sequence[str]) -> None:
    """Check that no row has an identifier that another row has.

    Raises:
        BadTable: saying how many have.
    """
    if twice:
        came = f"{twice} of {rows} rows with one that another row has"
        raise not_distinct(came, f"column {', '.join(map(repr, identifiers))}")
