"""Publish a release in one transaction: make every check, then draw the noise, then write the event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.field_forms import json_forms, texts_of
from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.item_words import Tags, item_tags
from utmost.core.sampling.random_bits import Randomness, entropy
from utmost.errors import AlreadyPublished, OutOfRange
from utmost.publish.ledger.block_encryption import parts_digest
from utmost.publish.ledger.budgets import (
    Expense,
    check_budgets,
    check_named,
    check_names_differ,
    check_relation,
    warn_of_separate,
)
from utmost.publish.ledger.commitment import commitment, noise_secret, question_of
from utmost.publish.ledger.duplicate_data import TableDigests
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.item_rows import tag_parts
from utmost.publish.ledger.labels import Labels, label_parts, label_texts, salted_seal
from utmost.publish.ledger.means_names import check_published_whole, releases_of_means
from utmost.publish.ledger.names import check_name_differs
from utmost.publish.ledger.relaxing import RowPermutation, answer_more, check_same_values, warn_of_names
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.responses import Answered, LedgerResponse, draw_response, stored_response
from utmost.publish.ledger.state import ItemFacts, Published, ReleaseKey, State, event_facts, release_of_facts
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Response
from utmost.publish.promises.until import Stop, Until
from utmost.publish.releases.source import Source

_SALT_BYTES = 16


def publish_together(
    log: EventLog, wanted: Sequence[tuple[PublishRequest, Source]], randomness: Randomness
) -> list[Answered]:
    """Return the answers to one or several tables. Stored answers are reused; the others are drawn and stored, all in
    one transaction.
    """

    def answers(transaction: Transaction, may_draw: bool) -> list[Answered] | None:
        found = [stored_publication(transaction, request, source) for request, source in wanted]
        new = [pair for pair, answer in zip(wanted, found, strict=True) if answer is None]
        if new and not may_draw:
            return None
        waiting = iter(checked_drafts(transaction, new))
        return [next(waiting).draw(transaction, randomness) if answer is None else answer for answer in found]

    return log.answer(answers, look=all(may_be_stored(log.seen, request) for request, _ in wanted))


def check_publishable(
    log: EventLog, transaction: Transaction, wanted: Sequence[tuple[PublishRequest, Source]]
) -> list[PublishRequest]:
    """Make every check of `publish_together`, and draw nothing; return the requests whose answers are not stored."""
    new = [pair for pair in wanted if stored_publication(transaction, *pair) is None]
    if new:
        log.check_writable(transaction)
        checked_drafts(transaction, new)
    return [request for request, _ in new]


def may_be_stored(state: State, request: PublishRequest) -> bool:
    """Whether stored facts may suffice to answer or refuse the request, so that no writer's lock is needed at first."""
    return request.request in state.requests or (request.name, request.version or 1) in state.releases


def stored_publication(transaction: Transaction, request: PublishRequest, source: Source) -> Answered | None:
    """Return the stored answer of a repeated request; None for a new release."""
    release = requested_version(transaction.state, request)
    if release is None:
        return None
    same_rows = (source.items is None) == (release.items is None)
    check_repeated(transaction.state, release, replace(request, promise=source.promise), same_rows=same_rows)
    release.check_kept()
    committed = commitment(transaction.key, release.name, release.version, source)
    check_same_values(transaction, release, committed, source)
    warn_of_names(transaction.key, release, source)
    level = repeated_level(transaction.state, release, request.level)
    order = RowPermutation.of(transaction, release, source)
    response = order.as_in_table(stored_response(transaction, release, level))
    return Answered(level, response, transaction.state.ledger_facts(release.key, level))


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A new release before its noise is drawn: the contents of its event, except for the answer."""

    request: PublishRequest  # Request with the columns of the table in their order, and the number of the new version
    source: Source
    levels: Sequence[Level]  # Levels that may be answered, smallest first; more than one only with a stopping rule
    digests: TableDigests
    commitment: bytes
    question: str
    tags: Tags | None
    label_texts: Sequence[bytes]

    @classmethod
    def of(cls, transaction: Transaction, request: PublishRequest, source: Source) -> "Draft":
        """Check the identifiers, labels and level of a request; return its draft."""
        key, public, version = transaction.key, source.labels(), transaction.state.newest(request.name) + 1
        stored = replace(request, promise=source.promise, version=version)
        committed, texts = commitment(key, request.name, version, source), label_texts(public, source.rows)
        question, tags = question_of(key, transaction.state.identity, stored, committed, texts), None
        if source.items is not None:
            tags = item_tags(noise_secret(key, question), [source.items])
            source.check_distinct(tags)
        until = source.promise.until
        levels = (request.level,) if until is None else until.levels(request.level)
        source.promise.lasting_noise.check_level(levels[0])
        return cls(stored, source, levels, TableDigests.of(key, source, public), committed, question, tags, texts)

    @property
    def key_of_release(self) -> ReleaseKey:
        assert self.request.version is not None
        return self.request.name, self.request.version

    def draw(self, transaction: Transaction, randomness: Randomness) -> Answered:
        """Draw and write the first answer; with a stopping rule, every answer up to the level where the rule stops."""
        request, source, until = self.request, self.source, self.source.promise.until
        parts, items, labels = [self.commitment], None, None
        if self.tags is not None:
            items = ItemFacts(parts_digest(tag_parts(self.tags)), None)
            parts += tag_parts(self.tags)
        if source.promise.public:
            state, columns = transaction.state, len(source.promise.public)
            salt = entropy(_SALT_BYTES).hex() if state.is_sealed else None
            seal = salted_seal(transaction.key, state.identity, request.name, request.version, salt)
            parts_of_labels = label_parts(self.label_texts, source.rows, columns, seal, state.number + 1, len(parts))
            labels = Labels.of(source.order, parts_of_labels, salt)
            parts += parts_of_labels
        facts = event_facts(
            request,
            rows=source.rows,
            kind=source.kind,
            commitment=self.commitment,
            values=self.digests.sealed(transaction.key, *self.key_of_release),
            items=items,
            labels=labels,
            question=self.question,
        )
        release, step = release_of_facts(facts, {}, request), Step(self.levels[0], None, None)
        drawing = LedgerResponse(transaction, release, self.tags, step, randomness)
        response = draw_response(drawing, source.columns, "published", facts, parts)
        if until is not None:
            return _answer_upwards(transaction, self, until, response, randomness)
        return Answered(request.level, response, transaction.state.ledger_facts(self.key_of_release, request.level))


def checked_drafts(transaction: Transaction, new: Sequence[tuple[PublishRequest, Source]]) -> list[Draft]:
    """Draft the new releases of a call, and make every check that comes before a draw."""
    state, drafts = transaction.state, list[Draft]()
    for request, source in new:
        draft = Draft.of(transaction, request, source)
        check_dataset(state, draft.request, [earlier.request for earlier in drafts])
        drafts.append(draft)
    check_budgets(state, [Expense.of_request(request) for request, _ in new])
    check_published_whole(state.releases.values(), [request for request, _ in new])
    # Values are compared last: otherwise a call that fails another check would test a guess of the values for free.
    for draft in drafts:
        check_no_duplicate_data(transaction, draft.request, draft.digests)
    for dataset in {request.dataset: None for request, _ in new if not request.independent}:
        warn_of_separate(state, dataset)
    return drafts


def _answer_upwards(
    transaction: Transaction, draft: Draft, until: Until, response: Response, randomness: Randomness
) -> Answered:
    """Answer level after level until the stopping rule is met, in one transaction; ``response`` is the first answer."""
    # A rule needs a budget for its last level, which was checked before; it spends the level that it reaches.
    source, levels, item = draft.source, draft.levels, draft.key_of_release
    promise, public, stop = source.promise, source.labels(), Stop(tuple(levels), True, CONFIDENCE)
    for level in levels:
        if level != levels[0]:
            release = transaction.state.releases[item]
            response = answer_more(transaction, release, level, source.columns, randomness)
        released = promise.lasting_noise.written(level, response)
        # The rule reads published values only.
        if promise.noise.is_by_plan:
            from utmost.publish.releases.noisy_sums import sums_in_one_column

            facts = LedgerFacts(item[0], item[1], (level,), level, level, stop)
            is_met = sums_in_one_column(promise, level, released, source.kind, facts).is_within(until)
        else:
            is_met = until.is_met({**public, **released}, tuple(released), promise.at_stop(level, stop))
        # A rule that is not met at the last level stops there all the same: the answer says that it is not met.
        if is_met or level == levels[-1]:
            break
    words = {"level": level_text(level), "promised": level_text(levels[-1]), "met": is_met}
    transaction.append("stopped", {"name": item[0], "version": item[1], **words})
    return Answered(level, response, transaction.state.ledger_facts(item, level))


def requested_version(state: State, request: PublishRequest) -> Published | None:
    """Return the existing release that a request repeats; None for a new release."""
    if (request.name, 1) in state.mechanisms:
        raise AlreadyPublished(
            "one name must not belong to both a release and a mechanism",
            came="the name of a mechanism",
            where=repr(request.name),
            remedy="Pass another name.",
        )
    wanted = request.version
    answered = state.requests.get(request.request) if request.request is not None else None
    if answered is not None:
        (name, version), level = answered
        if name != request.name or level != request.level or request.version not in (None, version):
            remedy = "Repeat the request with the same arguments; or pass another request= for a new request, or none."
            if (name, level) == (request.name, request.level):
                remedy = f"Version {request.version} is a new request: pass another request=, and write another file."
            required = "a request that is repeated under its name must have the same arguments as before"
            raise AlreadyPublished(required, came=request.request, where="request", remedy=remedy)
        wanted = version
    meant = state.version_meant(request.name, wanted)
    return None if meant is None else state.releases[request.name, meant]


def check_repeated(state: State, release: Published, request: PublishRequest, *, same_rows: bool) -> None:
    """Check that a request repeats a publication, except for the values and the level."""
    facts, published = request.lasting_facts(), release.request.lasting_facts()
    names = *json_forms(Promise), *json_forms(PublishRequest)
    others = [name for name in names if facts.get(name) != published.get(name)]
    if others or not same_rows:
        remedy = _other_release(state, release)
        if release.dataset != request.dataset:
            remedy = f"Pass dataset= as before, or leave it out as before. {_SUM_OF_BOTH}"
        required = "a release must keep its columns, its promise, its dataset, its identifiers and its noise"
        came = f"another value of {others[0]}" if others else None
        if others and {*others} <= {*texts_of(Promise), "proved"}:
            said, own = (
                ", ".join(f"{name}={getattr(promise, name)!r}" for name in others)
                for promise in (request.promise, release.promise)
            )
            came = f"{said}, published with {own}"
            remedy = f"Make the promise with {own}; for a counted table, pass the plan instead of the promise."
        raise AlreadyPublished(required, came=came, where=release.name_and_version, remedy=remedy)


def repeated_level(state: State, release: Published, level: Level) -> Level:
    """Return the level of the answer to a repeated request; refuse a level at which nothing was published."""
    answered = release.level_of_answer(level)
    if answered is None:
        error = AlreadyPublished(
            "publish answers one level of a release; relax and view answer further levels",
            came=f"{level_text(level)}, after {', '.join(map(level_text, release.levels))}",
            where=release.name_and_version,
            remedy=_other_release(state, release),
        )
        error.at_other_level = True
        raise error
    return answered


def _other_release(state: State, release: Published) -> str:
    return f"Relax or view it, or publish a new version: version={state.newest(release.name) + 1}."


_SUM_OF_BOTH = (
    "If both datasets are of the same people, their privacy loss is the sum of both spent levels: charge this release "
    "to the other dataset, too, by ledger.charge, or utmost ledger charge."
)


def check_dataset(state: State, request: PublishRequest, earlier: Sequence[PublishRequest] = ()) -> None:
    """Check that a new release may be in its dataset, with the releases of ``earlier`` requests of the same call."""
    # The releases of a dataset have one neighbouring relation, and at most one of them has a delta.
    if releases_of_means(state.releases.values(), request.name, None):
        came, remedy = "a table of several amounts", "Pass another name, and the dataset of that table."
        raise AlreadyPublished(
            "one name must not belong to both a release and a table of several amounts",
            came=came,
            where=repr(request.name),
            remedy=remedy,
        )
    if any(other.name == request.name for other in earlier):
        raise OutOfRange(
            "measures that are published together must have different names",
            came="one name twice",
            where=repr(request.name),
            remedy="Pass another name.",
        )
    first, relation = state.releases.get((request.name, 1)), request.promise.lasting_noise.relation
    if first is None:
        known = (name for name, _ in (*state.releases, *state.mechanisms))
        check_name_differs(request.name, (*known, *(other.name for other in earlier)))
    elif first.dataset != request.dataset:
        raise OutOfRange(
            "all versions of a release must belong to one dataset",
            came=request.dataset,
            where=repr(request.name),
            remedy=f"Pass dataset={first.dataset!r}. {_SUM_OF_BOTH}",
        )
    check_names_differ(state, request.dataset)
    beside = [other for other in earlier if other.dataset == request.dataset]
    relation_beside = beside[0].promise.lasting_noise.relation if beside else None
    check_relation(state, request.dataset, relation, request.name, beside=relation_beside)
    if request.promise.lasting_noise.delta is not None and (request.dataset in state.accounts or beside):
        required = "a dataset must have at most one release with a delta, since no ledger adds deltas up"
        remedy = "Pass another name and another dataset=; the deltas of both datasets add up."
        raise OutOfRange(required, came="a second release with a delta", where=repr(request.name), remedy=remedy)
    if not request.independent:
        check_named(state, request.dataset)


def check_no_duplicate_data(transaction: Transaction, request: PublishRequest, digests: TableDigests) -> None:
    """Refuse values that another dataset has released, unless the request is independent: one table has one budget."""
    if request.independent:
        return
    # The refusal names no column and no release: otherwise a caller could confirm guesses column by column.
    # `AlreadyPublished.known_as` holds the names, for the holder of the ledger's key.
    for digest, column in zip(digests.columns, request.promise.columns, strict=True):
        for other, at in transaction.digests.holders(transaction.key, transaction.state.releases, digest):
            if other.dataset != request.dataset:
                raise AlreadyPublished(
                    "all releases of the same values must be in one dataset, where their levels add up",
                    came="values of a release in another dataset",
                    where=f"{request.name!r}, dataset {request.dataset!r}",
                    remedy="Pass the dataset= of the release of these values; or independent=True if "
                    "nobody is in both datasets.",
                ).known(
                    f"column {column!r} holds the values of {other.columns[at]!r} in {other.name!r}, version "
                    f"{other.version}, of dataset {other.dataset!r}"
                )
