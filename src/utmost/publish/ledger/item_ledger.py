"""Releases with keyed noise for tables in an engine: the ledger stores events and commitments, workers add the noise.

To publish: the driver asks for the `CommitmentKey`; workers commit to their rows; the engine adds up the commitments
and checks by an aggregate that identifiers are unique and present; the driver publishes the sum in one transaction;
with the resulting `ItemResponder` the workers answer, as often as they are run. Relaxing has the same steps, and the
sum must equal the published sum.
"""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from utmost.core.exact.arguments import instance
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.exact.written_levels import level_text
from utmost.errors import BadTable, DataChanged, NeedsTable, OutOfRange, Unsupported
from utmost.publish.ledger.block_encryption import parts_digest
from utmost.publish.ledger.budgets import Expense, check_budgets, warn_of_separate
from utmost.publish.ledger.commitment import OTHERS, commitment_secret, question_of
from utmost.publish.ledger.duplicate_data import TableDigests, cell_digest_secret
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.item_rows import item_release
from utmost.publish.ledger.publishing import (
    check_dataset,
    check_no_duplicate_data,
    check_repeated,
    may_be_stored,
    repeated_level,
    requested_version,
)
from utmost.publish.ledger.relaxing import check_answerable, other_data_remedy
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.responses import stored_commitment
from utmost.publish.ledger.state import ItemFacts, Published, event_facts
from utmost.publish.promises.declared_columns import check_released, check_size
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.noise_at_level import warn_of_rows, warn_of_weakness
from utmost.publish.promises.promise import Promise, checked_promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment, first_difference
from utmost.publish.releases.item_release import ItemResponder


class ItemLedger:
    """The part of a ledger for releases whose answers an engine computes; `Ledger.items` makes it.

    >>> from tempfile import TemporaryDirectory
    >>> from utmost.exact import level
    >>> from utmost.ledger import Ledger, PublishRequest
    >>> from utmost.sampling import Identifiers
    >>> ids, values = [Identifiers.of(["a", "b"])], {"n": [601, 370]}
    >>> from utmost import Unit
    >>> promise = Promise("n", id_column="id", unit=Unit(1, 1))
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
    ...     committed = ledger.items.commitment_key("visits", promise).committed(ids, values)
    ...     release = ledger.items.publish(PublishRequest("visits", promise, level(1), dataset="visits"), committed)
    ...     lower = release.responses(ids, values)
    ...     higher = ledger.items.relax("visits", committed, epsilon=3).responses(ids, values)
    ...     ledger.spent("visits")
    level(epsilon=3)
    """

    __slots__ = ("_log",)

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def commitment_key(self, name: str, promise: Promise | None = None, *, version: int | None = None) -> CommitmentKey:
        """Return the key with which workers commit to the rows of a release before it is published or relaxed.

        Args:
            name, version: Name and version of the release; if ``version`` is left out, the newest version, or the first
                version of a new release.
            promise: Promise of a release that does not exist yet.

        Raises:
            NotPublished: if the release does not exist and there is no promise.
            OutOfRange: if ``version`` neither exists nor is the next version.
            Unsupported: if the noise of the release is not keyed by identifier.
        """
        if promise is None:
            return self._key(name, version, None)
        stated = checked_promise(promise)
        check_unstored(stated.lasting_noise)
        return self._key(name, version, lambda: (_chosen(stated), stated.lasting_noise.by_item()))

    def key_of_request(self, request: PublishRequest) -> CommitmentKey:
        """Return the `commitment_key` for a request with the table's columns in order.

        A repeated request gets the same key.
        """
        known = None if request.request is None else self.release(request.name, request.version, request.request)
        version = request.version if known is None else known.version
        return self._key(
            request.name, version, lambda: (request.promise.columns, request.promise.lasting_noise.by_item())
        )

    def _key(
        self, name: str, version: int | None, fresh: Callable[[], tuple[tuple[str, ...], Lattice]] | None
    ) -> CommitmentKey:
        """Return the key of a release that exists, or of a new one, whose columns and lattice ``fresh`` returns."""
        wanted = None if version is None else exact_integer(version, "version")

        def look(transaction: Transaction) -> CommitmentKey:
            if fresh is None or transaction.state.version_meant(name, wanted) is not None:
                release = _by_item(transaction, name, wanted)
                return _commitment_key(transaction, name, release.version, release.columns, release.noise.by_item())
            return _commitment_key(transaction, name, transaction.state.newest(name) + 1, *fresh())

        return self._log.read(look)

    def publish(self, request: PublishRequest, commitment: ItemCommitment) -> ItemResponder:
        """Publish a table that workers have committed to, at a first level; a repeated call returns the same answers.

        The caller must have checked that no two rows have the same identifier.

        Args:
            request: Request whose promise names the identifiers.
            commitment: Sum of the commitments of all parts of the table, under the key of `commitment_key`. If all
                cells of a column are equal, the column does not identify the table: remove its sum by
                `ItemCommitment.without`.

        Raises:
            DataChanged, AlreadyPublished, BudgetExceeded, BadTable, OutOfRange: if `Ledger.publish` would refuse such a
                request.
        """
        return self.published(request_by_item(instance(request, PublishRequest, "request")), commitment, None)

    def published(
        self, request: PublishRequest, commitment: ItemCommitment, universe: Mapping[str, Any] | None
    ) -> ItemResponder:
        """Publish a request that has the table's columns in order; ``universe`` declares cells drawn on request."""
        request.promise.check_fixed("noise keyed by identifier, whose answers the ledger does not store")
        check_size(request.promise.lasting_noise.unit, commitment.rows, len(request.promise.columns))
        warn_of_weakness(request.promise.at(request.level).weakness())
        warn_of_rows(request.promise.rows)

        def answer(transaction: Transaction, may_draw: bool) -> ItemResponder | None:
            stored = _stored(transaction, request, commitment, universe)
            return (
                _publish(transaction, request, commitment, ItemFacts(None, universe))
                if may_draw and stored is None
                else stored
            )

        return self._log.answer(answer, look=may_be_stored(self._log.seen, request))

    def release(self, name: str, version: int | None = None, request: str | None = None) -> Published | None:
        """Find a release: ``version``, else the version that ``request`` published, else the newest; None if absent."""
        wanted = None if version is None else exact_integer(version, "version")

        def look(transaction: Transaction) -> Published | None:
            earlier = transaction.state.requests.get(request) if request is not None else None
            at = earlier[0][1] if earlier is not None and earlier[0][0] == name and wanted is None else wanted
            newest = transaction.state.newest(name)
            return transaction.state.release(name, at) if newest and (at is None or 1 <= at <= newest) else None

        return self._log.read(look)

    def relax(
        self,
        name: str,
        commitment: ItemCommitment,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> ItemResponder:
        """Answer the release at another level, given a commitment to the published table.

        Args:
            name, version: Name and version of the release; the newest version if ``version`` is left out.
            commitment: Commitment to the values of the table; or to its responses at a level, made by
                `CommitmentKey.committed_responses`.
            epsilon: Level of the answer.

        Raises:
            DataChanged: if the table is not the published one; `difference` names the first block of items that
                differs.
            BudgetExceeded, Quarantined, NotPublished: if `Ledger.relax` would refuse such a request.
        """
        at = level(epsilon)

        def found(transaction: Transaction) -> Published:
            release = _by_item(transaction, name, version)
            _check_committed(transaction, release, commitment)
            return release

        known = self.release(name, version)
        if known is not None:
            warn_of_weakness(known.promise.at(at).weakness())
        return self._answered(found, at)

    def view(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> ItemResponder:
        """Answer the release at any level up to the largest epsilon that was answered; nothing is spent.

        The workers answer from values, or convert responses from another level: see `ItemResponder.moved`.

        Raises:
            NeedsTable: if the level is above the largest one answered.
            NotPublished: if there is no such release.
            Unsupported: if the noise of the release is not keyed by identifier.
        """
        at = level(epsilon)

        def found(transaction: Transaction) -> Published:
            release = _by_item(transaction, name, version)
            if release.spent < at:
                remedy = f"The release is answered up to {release.spent}: relax it with a commitment to the table."
                raise NeedsTable(
                    "table= must be passed for a level above the largest answered level",
                    came=at,
                    where=repr(name),
                    remedy=remedy,
                )
            return release

        return self._answered(found, at)

    def check_committed(self, name: str, commitment: ItemCommitment, *, version: int | None = None) -> None:
        """Check that a commitment is to the published values, or to the responses at an answered level.

        Raises:
            DataChanged: if the commitment is to other values; `difference` names the first block of items that differs.
            NotPublished: if there is no such release.
            Unsupported: if the noise of the release is not keyed by identifier.
        """

        def look(transaction: Transaction) -> None:
            _check_committed(transaction, _by_item(transaction, name, version), commitment)

        self._log.read(look)

    def difference(self, name: str, commitment: ItemCommitment, *, version: int | None = None) -> str | None:
        """Describe the first difference between a table and the published one, as `Ledger.difference` does."""

        def look(transaction: Transaction) -> str | None:
            release = _by_item(transaction, name, version)
            before, now = stored_commitment(transaction, release), commitment.content
            if commitment.rows != release.rows:
                return f"the table has {commitment.rows} rows, and {release.rows} were published"
            if hmac.compare_digest(before, now):
                return None
            return f"item block {first_difference(before, now)} of {commitment.blocks}"

        return self._log.read(look)

    def _answered(self, found: Callable[[Transaction], Published], at: Level) -> ItemResponder:
        def answer(transaction: Transaction, may_draw: bool) -> ItemResponder | None:
            release = found(transaction)
            if at in release.responses:
                transaction.repeated.add(release.responses[at].event)
                return item_release(transaction, release, at)
            if not may_draw:
                return None
            _check_no_stored_responses(release)
            check_answerable(transaction, [(release, at)])
            step, about = Step.from_known(release.responses, at), {"name": release.name, "version": release.version}
            transaction.append("answered", about | _without_responses(step, release.noise, ()), ())
            return item_release(transaction, transaction.state.release(release.name, release.version), at)

        return self._log.answer(answer, look=True)

    def __repr__(self) -> str:
        return f"ItemLedger({self._log.store.place!r})"


def _commitment_key(
    transaction: Transaction, name: str, version: int, columns: tuple[str, ...], lattice: Lattice
) -> CommitmentKey:
    return CommitmentKey(
        commitment_secret(transaction.key, name, version), columns, lattice, cell_digest_secret(transaction.key)
    )


def request_by_item(request: PublishRequest) -> PublishRequest:
    """Check a request to publish a table that workers commit to; return it with the promise's columns in order."""
    promise = request.promise
    check_unstored(promise.lasting_noise)
    if not promise.id_column:
        remedy = "Pass id_column=, the columns that together identify a row."
        raise OutOfRange("noise keyed by identifier needs id_column=", came="none", remedy=remedy)
    return replace(request, promise=promise.as_read(_chosen(promise), promise.public))


def check_unstored(noise: Noise) -> None:
    """Check that workers can compute the noise of each cell without stored noise."""
    noise.by_item()
    if noise.is_bounded:
        required = "noise keyed by identifier needs no bound on the values"
        raise Unsupported(required, came="largest=", remedy="Leave out largest=.")


def _chosen(promise: Promise) -> tuple[str, ...]:
    """Return the columns to release; check that none of them is an identifier."""
    for name in promise.id_column or (None,):
        check_released(promise.columns, (*promise.columns, *promise.id_column), name)
    return promise.columns


def _by_item(transaction: Transaction, name: str, version: int | None) -> Published:
    """Return a release; refuse it if its noise is not keyed by identifier."""
    release = transaction.state.release(name, version)
    if release.items is None:
        raise Unsupported(
            "ledger.items answers only releases whose noise is keyed by identifier",
            came="a release whose noise is drawn row by row",
            where=repr(release.name),
            remedy="Call publish, relax and view of the ledger instead of ledger.items.",
        )
    return release


def check_universe(release: Published, universe: Mapping[str, Any] | None) -> None:
    """Check that ``universe`` is the universe declared at publication, if the release has declared one."""
    declared = None if release.items is None else release.items.universe
    if declared is None or declared == universe:
        return
    came = "none" if universe is None else f"another of {universe['size']}"
    remedy = "Pass the same universe; for another universe, publish another release under another name."
    required = f"universe must be the universe of {declared['size']} cells with which this release was published"
    raise DataChanged(required, came=came, where=release.name_and_version, remedy=remedy)


def _check_committed(transaction: Transaction, release: Published, commitment: ItemCommitment) -> None:
    before, now = stored_commitment(transaction, release), commitment.content
    if hmac.compare_digest(before, now):
        return
    where, remedy = release.name_and_version, other_data_remedy(transaction, release)
    if commitment.rows != release.rows:
        raise DataChanged(
            f"the table must have the {release.rows} rows published", came=commitment.rows, where=where, remedy=remedy
        )
    raise DataChanged(OTHERS, came="other identifiers or values", where=where, remedy=remedy)


def _stored(
    transaction: Transaction, request: PublishRequest, commitment: ItemCommitment, universe: Mapping[str, Any] | None
) -> ItemResponder | None:
    """Return the stored release of a repeated request; None for a new request."""
    release = requested_version(transaction.state, request)
    if release is None:
        return None
    check_repeated(transaction.state, release, request, same_rows=release.items is not None)
    _check_no_stored_responses(release)
    check_universe(release, universe)
    _check_committed(transaction, release, commitment)
    repeated_level(transaction.state, release, request.level)
    transaction.repeated.add(release.responses[request.level].event)
    return item_release(transaction, release, request.level)


def _publish(
    transaction: Transaction, request: PublishRequest, commitment: ItemCommitment, items: ItemFacts
) -> ItemResponder:
    version = transaction.state.newest(request.name) + 1
    if len(commitment.columns) != len(request.promise.columns):
        raise BadTable(
            "a commitment must have one sum for each released column",
            came=f"sums of {len(commitment.columns)} columns, for {len(request.promise.columns)}",
            remedy="Commit with the key that commitment_key returns, and pass all blocks and columns to "
            "ItemCommitment.of_sums.",
        )
    stored, digests, content = (
        replace(request, version=version),
        TableDigests.of_items(transaction.key, commitment),
        commitment.content,
    )
    # Values are compared last: otherwise a call that would fail another check would test a guess of the values for
    # free.
    step = Step.from_known((), request.level)
    answer = _without_responses(step, request.promise.lasting_noise, (content,))
    check_dataset(transaction.state, stored)
    check_budgets(transaction.state, [Expense.of_request(stored)])
    check_no_duplicate_data(transaction, stored, digests)
    if not request.independent:
        warn_of_separate(transaction.state, stored.dataset)
    facts = event_facts(
        stored,
        rows=commitment.rows,
        kind="items",
        commitment=content,
        values=digests.sealed(transaction.key, request.name, version),
        items=items,
        labels=None,
        question=question_of(transaction.key, transaction.state.identity, stored, content, universe=items.universe),
    )
    transaction.append("published", facts | answer, (content,))
    return item_release(transaction, transaction.state.release(request.name, version), request.level)


def _check_no_stored_responses(release: Published) -> None:
    if release.items is not None and release.items.is_stored:
        raise Unsupported(
            "ledger.items cannot answer a release whose responses the ledger stores",
            where=repr(release.name),
            remedy="Call publish, relax and view of the ledger; ledger.items can only view stored levels.",
        )


def _without_responses(step: Step, noise: Noise, parts: tuple[bytes, ...]) -> dict[str, Any]:
    """Return the facts of an event without stored responses."""
    noise.check_level(step.to)
    step.distribution(noise.by_item())  # an impossible step fails here, and not later in the workers
    facts = {"level": level_text(step.to), "how": step.how, "parts": len(parts), "root": parts_digest(parts)}
    return {**facts, "label_key": None}
