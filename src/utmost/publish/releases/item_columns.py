"""Arrow columns of a release by item: identifiers and values as they are read, responses as they are written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.laws.exact import Level
from utmost.laws.sampling.item_words import Identifiers
from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment
from utmost.publish.releases.item_release import ItemResponder
from utmost.publish.tables.arrow_identifiers import arrow_identifiers
from utmost.publish.tables.engines import UNDECLARED
from utmost.publish.tables.extra import extra

BLOCK, COUNT = "block", "count"
_LIMBS = 8


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
    """

    key: CommitmentKey
    identifiers: tuple[str, ...]
    answered: tuple[ItemResponder, Level] | None = None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One batch for all that come: a row for each block that has any, 1024 at most, and for each column."""
        arrow = extra("pyarrow", "tables")
        commitment = ItemCommitment.none()
        for batch in batches:
            items = [arrow_identifiers(batch.column(name), name) for name in self.identifiers]
            numbers = {name: arrow_numbers(batch.column(name), name) for name in self.key.columns}
            if self.answered is None:
                commitment += self.key.committed(items, numbers)
            else:
                release, at = self.answered
                commitment += self.key.committed_responses(release, items, numbers, at)
        blocks = np.flatnonzero(commitment.sums[:, 0])
        sums = [arrow.array(np.ascontiguousarray(commitment.sums[blocks, at])) for at in range(1 + _LIMBS)]
        yield arrow.record_batch([arrow.array(blocks.astype(np.int64)), *sums], schema=commitment_schema())


def commitment_schema() -> Any:
    """The Arrow schema of sums by block, and by column behind them."""
    arrow = extra("pyarrow", "tables")
    names = (BLOCK, COUNT, *(f"limb_{limb}" for limb in range(_LIMBS)))
    return arrow.schema([(name, arrow.int64()) for name in names])


def gathered_commitment(batches: Iterator[Any]) -> ItemCommitment:
    """The commitment to all rows, from the sums of their parts."""
    commitment = ItemCommitment.none()
    for batch in batches:
        columns = [np.asarray(batch.column(name).to_numpy()) for name in commitment_schema().names]
        commitment += ItemCommitment.of_sums(columns[0], np.stack(columns[1:], axis=1))
    return commitment
