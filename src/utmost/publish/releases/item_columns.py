"""Arrow columns of a release by item: identifiers and values as they are read, responses as they are written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.laws.exact import Level
from utmost.laws.sampling.item_words import Identifiers, Tags, item_tags
from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment
from utmost.publish.releases.item_release import ItemResponder
from utmost.publish.tables.arrow_identifiers import arrow_identifiers
from utmost.publish.tables.columns import not_distinct
from utmost.publish.tables.engines import UNDECLARED
from utmost.publish.tables.extra import extra

BLOCK, COUNT = "block", "count"
_LIMBS = 8
_TWICE = -1
"""In the place of a block: how many rows have an identifier that another row has."""
_HELD = 1 << 23


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


class Answering(Protocol):
    """From the identifiers and the numbers of some items to released columns."""

    def __call__(
        self, release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]:
        """The released columns."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemNoiseMap:
    """From a batch of a table to the batch of its release: a pure function, item by item.

    Attributes:
        release: with the secret of this release.
        identifiers: the columns that say which item a row is.
        schema: of the batches that are made.
        answer: what is made of the numbers.
    """

    release: ItemResponder
    identifiers: tuple[str, ...]
    schema: Any
    answer: Answering

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
    """From batches of a table to the sums by block that commit to their rows.

    Attributes:
        key: of the commitment.
        identifiers: the columns that say which item a row is.
        answered: where the rows hold responses, by which release, and at which level; None for true values.
        apart: whether all rows of an identifier come in these batches, and those that another row is like are counted.
    """

    key: CommitmentKey
    identifiers: tuple[str, ...]
    answered: tuple[ItemResponder, Level] | None = None
    apart: bool = False

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One batch for all that come: a row for each block that has any, 1024 at most, and for each column."""
        arrow = extra("pyarrow", "tables")
        commitment, seen = ItemCommitment.none(), _Seen()
        for batch in batches:
            items = [arrow_identifiers(batch.column(name), name) for name in self.identifiers]
            numbers = {name: arrow_numbers(batch.column(name), name) for name in self.key.columns}
            if self.apart:
                seen.add(item_tags(self.key.secret, items))
            if self.answered is None:
                commitment += self.key.committed(items, numbers)
            else:
                release, at = self.answered
                commitment += self.key.committed_responses(release, items, numbers, at)
        blocks = np.flatnonzero(commitment.sums[:, 0])
        sums = np.zeros((1 + blocks.size, 1 + _LIMBS), np.int64)
        sums[0, 0], sums[1:] = seen.twice(), commitment.sums[blocks]
        columns = [np.r_[_TWICE, blocks], *np.ascontiguousarray(sums.T)]
        yield arrow.record_batch([arrow.array(column) for column in columns], schema=commitment_schema())


class _Seen:
    """The tags of some rows, and how many of these another row has, too."""

    def __init__(self) -> None:
        self._parts: list[Tags] = []
        self._rows, self._most, self._twice = 0, _HELD, 0

    def add(self, tags: Tags) -> None:
        self._parts.append(tags)
        self._rows += len(tags)
        if self._rows > self._most:  # of rows that are all alike, as they came, there may be any number in one part
            self.twice()
            self._most = 2 * self._rows + _HELD

    def twice(self) -> int:
        """So many rows more than distinct tags."""
        tags = np.concatenate(self._parts) if self._parts else np.zeros((0, 2), np.uint64)
        halves = np.sort(tags[:, 0])
        if (halves[1:] == halves[:-1]).any():  # half a tag says that most are distinct, soonest
            tags = tags[np.lexsort((tags[:, 1], tags[:, 0]))]
            tags = tags[np.r_[True, (tags[1:] != tags[:-1]).any(axis=1)]]
        self._twice += self._rows - len(tags)
        self._parts, self._rows = [tags], len(tags)
        return self._twice


def commitment_schema() -> Any:
    """The Arrow schema of sums by block, and by column behind them."""
    arrow = extra("pyarrow", "tables")
    names = (BLOCK, COUNT, *(f"limb_{limb}" for limb in range(_LIMBS)))
    return arrow.schema([(name, arrow.int64()) for name in names])


def gathered_commitment(batches: Iterator[Any], identifiers: Sequence[str]) -> ItemCommitment:
    """The commitment to all rows, from the sums of their parts.

    Raises:
        BadTable: where rows have been found whose identifiers another row has.
    """
    commitment, twice = ItemCommitment.none(), 0
    for batch in batches:
        columns = [np.asarray(batch.column(name).to_numpy()) for name in commitment_schema().names]
        blocks, sums = columns[0], np.stack(columns[1:], axis=1)
        twice += int(sums[blocks == _TWICE, 0].sum())
        commitment += ItemCommitment.of_sums(blocks[blocks != _TWICE], sums[blocks != _TWICE])
    check_none_twice(twice, commitment.rows, identifiers)
    return commitment


def check_none_twice(twice: int, rows: int, identifiers: Sequence[str]) -> None:
    """Check that no row has an identifier that another row has.

    Raises:
        BadTable: saying how many have.
    """
    if twice:
        came = f"{twice} of {rows} rows with one that another row has"
        raise not_distinct(came, f"column {', '.join(map(repr, identifiers))}")
