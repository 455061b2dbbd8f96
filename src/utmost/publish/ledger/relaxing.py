"""Answer a release at a further level, from its table's values or, for a smaller epsilon, from stored responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.item_words import Tags, item_tags
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import DataChanged, LedgerDamaged, NeedsTable, Quarantined, RowsRenamed, warn
from utmost.publish.counting.counted_facts import EACH_ROW
from utmost.publish.ledger.budgets import Expense, check_budgets
from utmost.publish.ledger.commitment import check_unchanged, commitment, difference, noise_secret
from utmost.publish.ledger.duplicate_data import TableDigests, text_digests, value_digests
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.item_rows import stored_tags
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.labels import TableLabels
from utmost.publish.ledger.requests import AnswerRequest
from utmost.publish.ledger.responses import (
    Answered,
    LedgerResponse,
    draw_response,
    labels_by_ledger_key,
    stored_commitment,
    stored_response,
)
from utmost.publish.ledger.state import Published, State
from utmost.publish.promises.promised_noise import Response
from utmost.publish.releases.source import Source, read_source

COUNT_ALIKE = (
    "If the same events were counted again, use the file of the first count, or its counting key: "
    "ledger.counting_key(), or --count-key. "
)
"""The remedy for a table of persons that was counted twice without a key."""


StoredView = tuple[Published, TableLabels, Answered]
"""A release, its labels, and its answer at a level."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPermutation:
    """A map between the order of a table's rows and the order in which the ledger stores them."""

    # Row ``rows[i]`` of the table is stored row i; None if the two orders are equal
    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, transaction: Transaction, release: Published, source: Source) -> "RowPermutation":
        """Compute the permutation of a table known to be the published one."""
        if source.items is None:
            return cls()
        mine = item_tags(noise_secret(transaction.key, release.question), [source.items])
        tags = stored_tags(transaction, release)
        rows = np.empty(len(tags), np.intp)
        rows[_sorted(tags)] = _sorted(mine)
        if not np.array_equal(mine[rows], tags):
            raise LedgerDamaged(
                "the stored tags must be the tags of the table's rows", came="other tags", where=repr(release.name)
            )
        return cls(rows)

    def as_stored(self, columns: Mapping[str, Integers]) -> dict[str, Integers]:
        return dict(columns) if self.rows is None else {name: column[self.rows] for name, column in columns.items()}

    def as_in_table(self, columns: Mapping[str, Integers]) -> dict[str, Integers]:
        if self.rows is None:
            return dict(columns)
        placed = {name: np.empty_like(column) for name, column in columns.items()}
        for name, column in columns.items():
            placed[name][self.rows] = column
        return placed


def _sorted(tags: Tags) -> NDArray[np.intp]:
    return np.lexsort((tags[:, 1], tags[:, 0]))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Relaxation:
    """A request to relax a release, with the values of its table and the commitment to them."""

    request: AnswerRequest
    release: Published
    source: Source
    commitment: bytes

    @classmethod
    def of(cls, key: Key, request: AnswerRequest, release: Published, table: Any) -> "Relaxation":
        source = release_source(release, table)
        return cls(request, release, source, commitment(key, release.name, release.version, source))

    def current_release(self, transaction: Transaction) -> Published:
        """Return the release as it is in this transaction; refuse it if another version is the newest by now."""
        release = transaction.state.release(self.request.name, self.request.version)
        if release.version != self.release.version:
            required, came = "no new version may be published during the call", f"version {release.version}"
            raise DataChanged(required, came=came, where=repr(release.name), remedy="Make the same call again.")
        return release


def release_source(release: Published, table: Any) -> Source:
    noise = release.noise
    rows, _ = noise.measured(noise.rows_of(table, release.columns))
    by_item = release.items is not None
    return read_source(rows, release.promise, noise.cells, public=release.public, by_item=by_item, kind=release.kind)


def known_release(state: State, request: AnswerRequest) -> Published | None:
    """Return the release that a request names; None if the state has no such release."""
    version = state.newest(request.name) if request.version is None else request.version
    return state.releases.get((request.name, version))


def relax_together(log: EventLog, wanted: Sequence[Relaxation], randomness: Randomness) -> list[Answered]:
    """Relax one or several releases in one transaction; return the answers that are stored, and draw the others."""

    def answers(transaction: Transaction, may_draw: bool) -> list[Answered] | None:
        found = [stored_relaxation(transaction, relaxation) for relaxation in wanted]
        if None in found and not may_draw:
            return None
        new = [relaxation for relaxation, answer in zip(wanted, found, strict=True) if answer is None]
        check_answerable(
            transaction, [(relaxation.current_release(transaction), relaxation.request.level) for relaxation in new]
        )
        return [
            draw_relaxation(transaction, relaxation, randomness) if answer is None else answer
            for relaxation, answer in zip(wanted, found, strict=True)
        ]

    # A request that has a stored answer, or will be refused for changed values, needs no writer's lock.
    look = all(
        relaxation.request.level in relaxation.release.responses
        or sha256(relaxation.commitment).hexdigest() != relaxation.release.commitment
        for relaxation in wanted
    )
    return log.answer(answers, look=look)


def stored_relaxation(transaction: Transaction, relaxation: Relaxation) -> Answered | None:
    """Check the values of the table; return the stored answer, or None if the level was not answered."""
    release, level, source = relaxation.current_release(transaction), relaxation.request.level, relaxation.source
    release.check_kept()
    check_same_values(transaction, release, relaxation.commitment, source)
    if level not in release.responses:
        return None
    order = RowPermutation.of(transaction, release, source)
    response = order.as_in_table(stored_response(transaction, release, level))
    return Answered(level, response, transaction.state.ledger_facts(release.key, level))


def check_relaxable(log: EventLog, transaction: Transaction, request: AnswerRequest, table: Any) -> bool:
    """Make every check of `relax_together` on a table, and draw nothing; return whether the answer is stored."""
    release = transaction.state.release(request.name, request.version)
    relaxation = Relaxation.of(transaction.key, request, release, table)
    if stored_relaxation(transaction, relaxation) is not None:
        return True
    log.check_writable(transaction)
    check_answerable(transaction, [(release, request.level)])
    return False


def draw_relaxation(transaction: Transaction, relaxation: Relaxation, randomness: Randomness) -> Answered:
    """Draw and write a new answer, from values that were checked to be the published ones."""
    release, level, source = relaxation.current_release(transaction), relaxation.request.level, relaxation.source
    order = RowPermutation.of(transaction, release, source)
    response = answer_more(transaction, release, level, order.as_stored(source.columns), randomness)
    return Answered(level, order.as_in_table(response), transaction.state.ledger_facts(release.key, level))


def view_release(
    transaction: Transaction,
    request: AnswerRequest,
    randomness: Randomness,
    *,
    may_draw: bool,
) -> StoredView | None:
    """Return a stored answer, or compute it from stored ones; None if it is not stored and ``may_draw`` is False."""
    state, level, where = transaction.state, request.level, repr(request.name)
    release = state.release(request.name, request.version)
    release.check_kept()
    if level in release.responses:
        answered = Answered(level, stored_response(transaction, release, level), state.ledger_facts(release.key, level))
        return release, labels_by_ledger_key(transaction, release), answered
    if not may_draw:
        return None
    release.noise.check_tightened(level, where)
    if release.spent < level:
        remedy = f"The release is stored up to {release.spent}: relax it with the table."
        raise NeedsTable(
            "table= must be passed for a level above the largest answered level", came=level, where=where, remedy=remedy
        )
    release.noise.check_level(level)
    response = answer_more(transaction, release, level, None, randomness)
    now = transaction.state.releases[release.key]
    answered = Answered(level, response, transaction.state.ledger_facts(release.key, level))
    return now, labels_by_ledger_key(transaction, now), answered


def answer_more(
    transaction: Transaction,
    release: Published,
    level: Level,
    values: Mapping[str, Integers] | None,
    randomness: Randomness,
) -> Response:
    """Draw and write the response of a release at a further level, which was checked or costs nothing."""
    facts = {"name": release.name, "version": release.version}
    return draw_response(LedgerResponse.of(transaction, release, level, randomness), values, "answered", facts)


def check_answerable(transaction: Transaction, answers: Sequence[tuple[Published, Level]]) -> None:
    """Check that noise and history of each release allow its new level, and that the budgets allow all new levels."""
    for release, level in answers:
        release.noise.check_level(level)
        if release.spent < level and not release.relaxable:
            raise Quarantined(
                "a release that may have lost answers (the ledger was rolled back, or its witness lost) cannot be "
                "answered at a larger epsilon",
                came=level,
                where=release.name_and_version,
                remedy="Publish the data as a new version.",
            )
    check_budgets(transaction.state, [Expense.of_answer(release, level) for release, level in answers])


def check_same_values(transaction: Transaction, release: Published, now: bytes, source: Source) -> None:
    """Check that ``now``, the commitment to the values of ``source``, is the commitment to the published values."""
    remedy = other_data_remedy(transaction, release)
    committed = stored_commitment(transaction, release)
    check_unchanged(committed, now, source, release.rows, release.name_and_version, remedy)


def other_data_remedy(transaction: Transaction, release: Published) -> str:
    """Return a remedy for changed data that does not reveal whether the data are those of an earlier version."""
    earlier = (
        "If the table is the data of an earlier version, pass that version: version=1. " if release.version > 1 else ""
    )
    new = transaction.state.newest(release.name) + 1
    promise = release.promise
    is_by_hash = promise.proved and promise.individual != EACH_ROW  # the counting key decides which cells are kept
    return f"{COUNT_ALIKE if is_by_hash else ''}{earlier}Publish changed data as a new version: version={new}."


def where_changed(transaction: Transaction, release: Published, source: Source) -> str | None:
    """Say for the holder of the key where a table first differs from the published one; None if they are equal."""
    committed, now = (
        stored_commitment(transaction, release),
        commitment(transaction.key, release.name, release.version, source),
    )
    if committed != now and source.items is None and source.rows == release.rows:
        then = TableDigests.opened(transaction.key, release.values, release.name, release.version)
        if then.columns == value_digests(transaction.key, source):
            return "the order of the rows is not the order in which they were published"
    return difference(committed, now, source, release.rows)


def warn_of_names(key: Key, release: Published, source: Source) -> None:
    """Warn (RowsRenamed) if the columns that may name the rows differ from those at publication."""
    if release.promise.id_column:  # the commitment covers the identifiers
        return
    then = TableDigests.opened(key, release.values, release.name, release.version)
    labels, texts = text_digests(key, source.texts(source.labels()))
    # The columns that may name the rows have the same names as at publication, but other cells.
    if then.labels == labels and then.texts != texts:
        warning = (
            f"{release.name_and_version}: labels or texts beside the values are not those that were published; "
            "without id_column= the ledger identifies rows by their order, and returns released values in that order"
        )
        warn(warning, RowsRenamed)
