"""Publish, relax and view frames that an engine evaluates (Polars, DuckDB, Spark); the engine adds the noise.

To publish: the engine counts the rows that must be refused, and adds up a commitment to all rows; the ledger writes one
event; the answer is a lazy frame, which the engine evaluates as often as the caller asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable, NotPublished, Unsupported
from utmost.publish.ledger.item_ledger import ItemLedger, check_unstored
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.state import Published
from utmost.publish.promises.declared_columns import check_size
from utmost.publish.releases.engine_release import ReleasableFrame
from utmost.publish.releases.item_columns import (
    BatchCommitter,
    RepeatedTags,
    commitment_schema,
    gathered_commitment,
    responses_of,
)
from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment
from utmost.publish.releases.item_release import ItemResponder
from utmost.tables.engines.engine_frames import EngineFrame
from utmost.tables.engines.engines import engine_frame
from utmost.tables.frames.adapters import LabelledTable, check_columns_exist


def publish_frame(items: ItemLedger, request: PublishRequest, table: Any) -> tuple[int, LabelledTable]:
    """Publish an engine's frame at a first level; return the version, and a lazy frame with the noisy columns."""
    promise, noise = request.promise, request.promise.lasting_noise
    check_unstored(noise)
    promise.check_fixed("an engine's frame, whose answers the ledger does not store")
    frame = ReleasableFrame.of(table, promise)
    frame.check_room(noise.by_item(), request.level)
    read = promise.as_read(frame.columns, frame.public, frame.identifiers)
    request = replace(request, promise=read)
    checked = frame.checked_rows()
    check_size(noise.unit, checked.rows, len(frame.columns))
    committed = _committed_first(frame, items.key_of_request(request), checked.rows)
    committed = committed.without(checked.flat(noise.by_item()))
    frame.warn_of_order()
    release = frame.noised(items.published(request, committed, None), noise.margin(request.level, CONFIDENCE))
    known = items.release(request.name, request.version, request.request)
    assert known is not None, "it was published"
    return known.version, release


def relax_frame(
    items: ItemLedger, name: str, table: Any, table_at: Level | None, at: Level, version: int | None
) -> tuple[int, LabelledTable]:
    """Relax a release to the level ``at``; return its version and a lazy frame with the noisy columns.

    ``table`` is the published frame; or, with ``table_at``, a frame of the responses at that level.
    """
    known = known_by_item(items, name, version)
    frame = _published_frame(known, table)
    frame.check_room(known.noise.by_item(), at)
    committed = _committed_again(items, known, frame, table_at)
    release = items.relax(name, committed, epsilon=at, version=known.version)
    answer = responses_of if table_at is None else ResponseConversion(table_at, at)
    return known.version, frame.noised(release, margin_of(known, at), answer)


def frame_difference(items: ItemLedger, name: str, table: Any, version: int | None) -> str | None:
    """Describe the first difference between a frame and the published one, as `Ledger.difference` does."""
    known = known_by_item(items, name, version)
    frame = _published_frame(known, table)
    return items.difference(name, _committed_again(items, known, frame, None), version=known.version)


def view_frame(
    items: ItemLedger, name: str, table: Any, table_at: Level, at: Level, version: int | None
) -> tuple[int, LabelledTable]:
    """Compute responses at the level ``at`` from responses at ``table_at``; return the version and a lazy frame."""
    known = known_by_item(items, name, version)
    frame = checked_responses(items, known, table, table_at)
    frame.check_room(known.noise.by_item(), at)
    release = items.view(name, epsilon=at, version=known.version)
    return known.version, frame.noised(release, margin_of(known, at), ResponseConversion(table_at, at))


def checked_responses(items: ItemLedger, known: Published, table: Any, table_at: Level) -> ReleasableFrame:
    """Check that a frame has exactly the responses at a level, by two passes over the rows; return the frame."""
    frame = _published_frame(known, table)
    committed = _committed_again(items, known, frame, table_at)
    items.check_committed(known.name, committed, version=known.version)
    return frame


def _committed_again(
    items: ItemLedger, known: Published, frame: ReleasableFrame, table_at: Level | None
) -> ItemCommitment:
    """Commit again to a published frame; with ``table_at``, the frame has the responses at this level, not values."""
    answered = None
    if table_at is not None:
        if table_at not in known.responses:
            remedy = f"Pass table_at= with one of {', '.join(map(str, known.levels))}."
            raise Unsupported(
                "table_at must be an answered level of the release",
                came=table_at,
                where=repr(known.name),
                remedy=remedy,
            )
        answered = items.view(known.name, epsilon=table_at, version=known.version), table_at
    key = items.commitment_key(known.name, version=known.version)
    return _committed(frame, key, frame.checked_rows().rows, answered)


def margin_of(known: Published, at: Level) -> int | float:
    return known.noise.margin(at, CONFIDENCE)


def known_by_item(items: ItemLedger, name: str, version: int | None) -> Published:
    """Return a release; refuse it if it does not exist, or if its noise is not keyed by identifier."""
    known = items.release(name, version)
    if known is None:
        raise NotPublished(
            "name must be the name of a release in this ledger", came=repr(name), remedy="Call publish first."
        )
    if known.items is None:
        raise Unsupported(
            "a frame that an engine evaluates needs a release whose noise is keyed by identifier",
            came="a release whose noise is drawn row by row",
            where=repr(name),
            remedy="Collect the frame into memory, or publish the frame under another name with keyed_by_id=True.",
        )
    return known


def _published_frame(known: Published, table: Any) -> ReleasableFrame:
    """Read the frame of a published release; select its identifiers, released columns and public columns."""
    assert known.items is not None
    brought = engine_frame(table)
    names = brought.schema().names
    check_columns_exist((*known.promise.id_column, *known.columns), names)
    public = [name for name in names if name in known.public]
    wanted = (*known.promise.id_column, *known.columns, *public)
    names = [name for name in names if name in wanted]
    drop = [name for name in names if name not in (*known.columns, *public)]
    again = replace(known.promise, public=tuple(public), drop=tuple(drop))
    return ReleasableFrame.of(brought.select(names).native, again)


_ROWS_A_PART = 1 << 20


@progress_bar("Committing to all rows")
def _committed_first(frame: ReleasableFrame, key: CommitmentKey, rows: int) -> ItemCommitment:
    """Commit to rows that are not published yet; refuse two rows with equal identifiers."""
    # Engines on many machines compare half of each tag during the pass, and count exactly if two halves are equal;
    # other engines count distinct identifiers before the pass. A published frame needs neither: its commitment is
    # compared with the stored one.
    read, parts = _read(frame), -(-max(rows, 1) // _ROWS_A_PART)
    work, between = BatchCommitter(key, frame.identifiers, parts=parts), commitment_schema(tagged=True)
    batches = read.compared(work, between, RepeatedTags(), commitment_schema(), parts)
    if batches is None:
        frame.check_distinct(rows)
        return _committed(frame, key, rows)
    commitment, seem_twice = gathered_commitment(batches)
    if seem_twice:
        frame.check_distinct(rows)
    return _with_row_count(commitment, rows)


@progress_bar("Committing to all rows")
def _committed(
    frame: ReleasableFrame, key: CommitmentKey, rows: int, answered: tuple[ItemResponder, Level] | None = None
) -> ItemCommitment:
    """Commit to all rows; refuse a frame whose number of rows is not ``rows``."""
    work = BatchCommitter(key, frame.identifiers, answered)
    return _with_row_count(gathered_commitment(_read(frame).added_up(work, commitment_schema()))[0], rows)


def _read(frame: ReleasableFrame) -> EngineFrame:
    """Select the columns that a commitment covers: identifiers and released columns."""
    return frame.frame.select(list(dict.fromkeys((*frame.identifiers, *frame.columns))))


def _with_row_count(commitment: ItemCommitment, rows: int) -> ItemCommitment:
    if commitment.rows != rows:
        raise BadTable(
            "a frame must have the same rows each time it is evaluated", came=f"{commitment.rows} rows, then {rows}"
        )
    return commitment


@dataclass(frozen=True, slots=True)
class ResponseConversion:
    """Computes the responses at the level ``to`` from the responses at the level ``at``."""

    at: Level
    to: Level

    def __call__(
        self, release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]:
        return release.moved(identifiers, numbers, self.at, self.to)
