"""Ledgers of frames that an engine evaluates: the ledger keeps events and commitments, and the engine answers.

Publishing is four steps: the engine counts what must not be, adds up a commitment to all rows, the ledger writes one
event, and the frame of the answer is made, which is evaluated when somebody asks for it, as often as that may be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable, NotPublished, Unsupported
from utmost.publish.ledger.item_ledger import ItemLedger, check_unstored
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.state import Published
from utmost.publish.promises.declared_columns import check_size
from utmost.publish.promises.promised_noise import CONFIDENCE
from utmost.publish.releases.engine_release import ReleasableFrame
from utmost.publish.releases.item_columns import (
    CommittingRows,
    TellingApart,
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
    """Publish an engine's frame at a first level; published again as it was, it is answered again.

    Args:
        items: the door of the ledger.
        request: The request.
        table: the frame.

    Returns:
        The version, and a frame of the kind that came, with the released and the public columns, not evaluated yet.

    Raises:
        as `Ledger.publish`; Unsupported: for a declared largest value, since nothing is stored.
    """
    promise, noise = request.promise, request.promise.lasting_noise
    check_unstored(noise)
    promise.check_fixed("an engine's frame, of which the ledger keeps no answers")
    frame = ReleasableFrame.of(table, promise)
    frame.check_room(noise.by_item(), request.level)
    read = promise.as_read(frame.columns, frame.public, frame.identifiers)
    request = replace(request, promise=read)
    checked = frame.checked_rows()
    check_size(noise.unit, checked.rows, len(frame.columns))
    committed = _committed_first(frame, items.key_of_request(request), checked.rows)
    committed = committed.without(checked.flat(noise.by_item()))
    release = frame.noised(items.published(request, committed, None), noise.margin(request.level, CONFIDENCE))
    known = items.release(request.name, request.version, request.request)
    assert known is not None, "it was published"
    return known.version, release


def relax_frame(
    items: ItemLedger, name: str, table: Any, table_at: Level | None, at: Level, version: int | None
) -> tuple[int, LabelledTable]:
    """The version and the frame at another level, of the frame that was published, or of a frame of its responses.

    Args:
        table: the frame that was published; with a level ``table_at`` the identifiers and responses at that level.

    Raises:
        as `Ledger.relax`; Unsupported: where nothing was answered at ``table_at``.
    """
    known = known_by_item(items, name, version)
    frame = _frame_again(known, table)
    frame.check_room(known.noise.by_item(), at)
    committed = _committed_again(items, known, frame, table_at)
    release = items.relax(name, committed, epsilon=at, version=known.version)
    answer = responses_of if table_at is None else Moving(table_at, at)
    return known.version, frame.noised(release, margin_of(known, at), answer)


def frame_difference(items: ItemLedger, name: str, table: Any, version: int | None) -> str | None:
    """The place where a frame first differs from the one that was published: as `Ledger.difference`."""
    known = known_by_item(items, name, version)
    frame = _frame_again(known, table)
    return items.difference(name, _committed_again(items, known, frame, None), version=known.version)


def view_frame(
    items: ItemLedger, name: str, table: Any, table_at: Level, at: Level, version: int | None
) -> tuple[int, LabelledTable]:
    """The version and the frame at a level up to the largest, from a frame of its responses at another.

    Args:
        table: the identifiers, and the released columns as they were answered at ``table_at``.

    Raises:
        as `Ledger.view`; Unsupported: where nothing was answered at ``table_at``.
        DataChanged: where the frame holds anything else than what was answered there.
    """
    known = known_by_item(items, name, version)
    frame = checked_responses(items, known, table, table_at)
    frame.check_room(known.noise.by_item(), at)
    release = items.view(name, epsilon=at, version=known.version)
    return known.version, frame.noised(release, margin_of(known, at), Moving(table_at, at))


def checked_responses(items: ItemLedger, known: Published, table: Any, table_at: Level) -> ReleasableFrame:
    """A frame that is found to hold what was answered at a level, and nothing else.

    Raises:
        as `view_frame`.

    Cost: the aggregate of `ReleasableFrame.checked_rows`, and one pass that takes the noise off and commits.
    """
    frame = _frame_again(known, table)
    committed = _committed_again(items, known, frame, table_at)
    items.check_committed(known.name, committed, version=known.version)
    return frame


def _committed_again(
    items: ItemLedger, known: Published, frame: ReleasableFrame, table_at: Level | None
) -> ItemCommitment:
    """The commitment to a frame of values, or to one of responses at a level."""
    answered = None
    if table_at is not None:
        if table_at not in known.responses:
            remedy = f"Pass table_at= with one of {', '.join(map(str, known.levels))}."
            raise Unsupported(
                "table_at must be a level that was answered", came=table_at, where=repr(known.name), remedy=remedy
            )
        answered = items.view(known.name, epsilon=table_at, version=known.version), table_at
    key = items.commitment_key(known.name, version=known.version)
    return _committed(frame, key, frame.checked_rows().rows, answered)


def margin_of(known: Published, at: Level) -> int | float:
    """The margin that stands beside the answers of a release at a level."""
    return known.noise.margin(at, CONFIDENCE)


def known_by_item(items: ItemLedger, name: str, version: int | None) -> Published:
    """A release that is there, and whose noise goes by item."""
    known = items.release(name, version)
    if known is None:
        raise NotPublished(
            "the name must be that of a release in this ledger", came=repr(name), remedy="Call publish first."
        )
    if known.items is None:
        raise Unsupported(
            "a frame that an engine evaluates needs a release whose noise is keyed by identifier",
            came="one whose noise is drawn by rows",
            where=repr(name),
            remedy="Collect the frame, or publish it anew with keyed_by_id=True or as a frame.",
        )
    return known


def _frame_again(known: Published, table: Any) -> ReleasableFrame:
    """A frame that is brought again: what was neither released nor public is left out."""
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
    """The commitment to rows that have not been published yet, each of which must be another item.

    Rows on many machines are told apart on the way, by half of their tags, and by the engine's own count where two
    halves are alike; where rows pass by in one place, the engine counts those that are distinct before. A table that
    comes again is compared with what was found distinct.
    """
    read, parts = _read(frame), -(-max(rows, 1) // _ROWS_A_PART)
    work, between = CommittingRows(key, frame.identifiers, parts=parts), commitment_schema(tagged=True)
    batches = read.compared(work, between, TellingApart(), commitment_schema(), parts)
    if batches is None:
        frame.check_distinct(rows)
        return _committed(frame, key, rows)
    commitment, seem_twice = gathered_commitment(batches)
    if seem_twice:
        frame.check_distinct(rows)
    return _whole(commitment, rows)


@progress_bar("Committing to all rows")
def _committed(
    frame: ReleasableFrame, key: CommitmentKey, rows: int, answered: tuple[ItemResponder, Level] | None = None
) -> ItemCommitment:
    """The commitment to all rows, of which there must be as many as were counted."""
    work = CommittingRows(key, frame.identifiers, answered)
    return _whole(gathered_commitment(_read(frame).added_up(work, commitment_schema()))[0], rows)


def _read(frame: ReleasableFrame) -> EngineFrame:
    """The columns that are committed to."""
    return frame.frame.select(list(dict.fromkeys((*frame.identifiers, *frame.columns))))


def _whole(commitment: ItemCommitment, rows: int) -> ItemCommitment:
    if commitment.rows != rows:
        raise BadTable(
            "a frame must have the same rows each time it is evaluated", came=f"{commitment.rows}, then {rows}"
        )
    return commitment


@dataclass(frozen=True, slots=True)
class Moving:
    """Released columns from those at another level.

    Attributes:
        at, to: the two levels.
    """

    at: Level
    to: Level

    def __call__(
        self, release: ItemResponder, identifiers: Sequence[Identifiers], numbers: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]:
        """The responses at the level ``to``."""
        return release.moved(identifiers, numbers, self.at, self.to)
