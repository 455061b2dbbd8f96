"""Publishing a release inside its transaction: every check, then the draw, then the event."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.item_words import Tags, item_tags
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import AlreadyPublished, OutOfRange
from utmost.publish.ledger.answer_statements import ledger_facts
from utmost.publish.ledger.book import Page
from utmost.publish.ledger.budgets import check_budget, check_named, check_relation, spending_after
from utmost.publish.ledger.duplicate_data import Likeness, value_digests
from utmost.publish.ledger.item_rows import digest_of_tags, tag_parts
from utmost.publish.ledger.labels import Labels, label_parts, sealed_labels
from utmost.publish.ledger.relaxing import Answered, Order, Spent, check_values
from utmost.publish.ledger.requests import Publishing
from utmost.publish.ledger.responses import Committed, Progress, new_response, stored_response
from utmost.publish.ledger.source import Source, commitment, noise_secret
from utmost.publish.ledger.state import ByItem, Published, State, release_of_facts
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promised_noise import Response

Parts = tuple[bytes, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToPublish:
    """A table to be published: what is asked for, with its values.

    Attributes:
        request: with the columns as they stand in the table.
        source: the values.
        progress: called with the cells done and the cells in all.
    """

    request: Publishing
    source: Source
    progress: Progress | None = None

    def may_be_stored(self, state: State) -> bool:
        """Whether the answer is there, or a refusal that needs no writer, as far as a state tells."""
        return self.request.may_be_stored(state)

    def stored(self, page: Page) -> Answered | None:
        """The version and answer of a request that was answered; None for a release that is yet to be made.

        Raises:
            DataChanged, AlreadyPublished: where the release is there, and is not what is asked for.
            OutOfRange: for a version that cannot come next.
        """
        release = asked_version(page.state, self.request)
        if release is None:
            return None
        order = _check_same(page, self.request, self.source, release)
        response = order.asked(stored_response(page, release, self.request.level, self.progress))
        return release.version, response, ledger_facts(page.state, release, self.request.level)

    def check_new(self) -> None:
        """Check what no release that is there can be asked for any more: sizes, and names.

        Raises:
            BadTable, OutOfRange: for a value that is larger than declared, and a name that an error bar needs.
        """
        promise = self.request.promise
        self.source.check_sizes(promise.lasting_noise)
        promise.lasting_noise.check_names(promise.columns, promise.public)

    def drawn(self, page: Page, randomness: Randomness) -> Answered:
        """The version of a new release, and its first response, drawn and written.

        Raises:
            BudgetExceeded, OutOfRange: where the dataset does not allow it.
            AlreadyPublished: where another dataset holds the same values.
            BadTable: as `check_new`.
        """
        request, source, state, key = self.request, self.source, page.state, page.key
        version, exponent = len(state.versions(request.name)) + 1, request.promise.lasting_noise.exponent
        self.check_new()
        check_allowed(page, request, version, lambda: value_digests(key, source, exponent))
        content = commitment(key, request.name, version, source)
        tags, tags_kept = _tags_of(page, request.name, version, content, source)
        likeness = Likeness.of(key, source, exponent)
        about = request.facts(version, source.rows, content, likeness.sealed(key, request.name, version))
        identifiers = request.promise.id_column
        about["items"] = None if tags is None else ByItem(identifiers, digest_of_tags(tags_kept)).facts()
        parts, labels = _labels_of(page, request.name, version, source, first=1 + len(tags_kept))
        about["labels"] = None if labels is None else labels.facts()
        committed = Committed(release_of_facts(about, request.promise.lasting_noise), content, tags)
        before = content, *tags_kept, *parts
        response, facts = new_response(
            page, committed, request.level, source.columns, randomness, self.progress, before=before
        )
        page.append("published", about | facts)
        now = page.state.release(request.name, version)
        return version, response, ledger_facts(page.state, now, request.level)

    def spends(self, page: Page) -> Spent:
        """Of which dataset a new release would spend its level."""
        return self.request.dataset, self.request.level, self.request.promise.part, None

    def handed(self, response: Response, remembered: LedgerFacts) -> Any:
        """A response as it is handed to whoever brought the table."""
        request, promise = self.request, self.request.promise
        return self.source.answer(
            promise.lasting_noise, request.level, response, request.kind, promise.part, remembered
        )


def asked_version(state: State, request: Publishing) -> Published | None:
    """The release that is asked for again; None for one that is yet to be made."""
    if (request.name, 1) in state.mechanisms:
        raise AlreadyPublished("a name must stand for one thing", came="a mechanism", where=repr(request.name))
    wanted = request.version
    answered = state.requests.get(request.request) if request.request is not None else None
    if answered is not None:
        (name, version), level = answered
        if name != request.name or level != request.level or request.version not in (None, version):
            raise AlreadyPublished("a request must be made again as it was", came=request.request, where="request")
        wanted = version
    meant = state.version_meant(request.name, wanted)
    return None if meant is None else state.releases[request.name, meant]


def _tags_of(page: Page, name: str, version: int, committed: bytes, source: Source) -> tuple[Tags | None, Parts]:
    """The tags of the items, no two alike, and the parts in which they are kept; none where the noise goes by rows."""
    if source.items is None:
        return None, ()
    tags = item_tags(noise_secret(page.key, name, version, committed), [source.items])
    source.check_distinct(tags)
    return tags, tag_parts(tags)


def _labels_of(page: Page, name: str, version: int, source: Source, first: int) -> tuple[Parts, Labels | None]:
    """The parts of the labels, from this part of the next event on, and what the event says of them."""
    columns, rows, identity = source.labels(), source.rows, page.state.identity
    if not columns:
        return (), None
    if not page.state.is_sealed:
        parts, salt = label_parts(columns, rows), None
    else:
        parts, salt = sealed_labels(page.key, identity, name, version, columns, rows, page.state.number + 1, first)
    return parts, Labels.of(source.order, parts, salt)


def _check_same(page: Page, request: Publishing, source: Source, release: Published) -> Order:
    """In which order the values come, once they are known to be those that were published."""
    is_alike = (request.promise.single_id_column, source.items is None) == (release.id_column, release.items is None)
    committed = commitment(page.key, release.name, release.version, source)

    def check() -> None:
        release.check_kept()
        check_values(page, release, committed, source)

    check_repeated(page.state, release, request, same=is_alike, values=check)
    return Order.of(page, release, source, committed)


def check_repeated(
    state: State, release: Published, request: Publishing, *, same: bool, values: Callable[[], None] = lambda: None
) -> None:
    """Check that a request to publish is one that was made before.

    Args:
        same: whether it has the identifiers of the release.
        values: checks that they are those that were published.
    """
    where = f"{release.name!r}, version {release.version}"
    remedy = f"Call relax or view, or publish a new version: version={len(state.versions(release.name)) + 1}."
    promise = request.promise
    wanted = promise.columns, promise.lasting_noise.facts(), request.dataset, promise.rows, promise.part
    published = release.columns, release.noise.facts(), release.dataset, release.rows_from, release.part
    if not same or wanted != published or promise.public != release.public:
        required = "a release must keep its columns, promise and dataset, its identifiers and its noise"
        raise AlreadyPublished(required, where=where, remedy=remedy)
    values()
    if request.level not in release.responses:
        came = f"{level_text(request.level)} beside {', '.join(map(level_text, release.levels))}"
        raise AlreadyPublished("a release is published once", came=came, where=where, remedy=remedy)


def check_allowed(page: Page, request: Publishing, version: int, digests: Callable[[], tuple[bytes, ...]]) -> None:
    """Check that a dataset allows a new release.

    Args:
        digests: as for `check_apart`.

    Raises:
        BudgetExceeded, OutOfRange: where it does not.
        AlreadyPublished: where another dataset holds the same values.
    """
    state, dataset = page.state, request.dataset
    check_dataset(state, request, version)
    if not request.independent:
        check_named(state, dataset)
        check_apart(page, request, digests)
    check_budget(state, dataset, spending_after(state, dataset, None, request.level, request.promise.part))


def check_dataset(state: State, request: Publishing, version: int) -> None:
    """All versions of a release spend one budget, and all that spend one budget protect against one relation."""
    if version > 1 and state.releases[request.name, 1].dataset != request.dataset:
        dataset = state.releases[request.name, 1].dataset
        raise OutOfRange(
            "a release must stay in its dataset",
            came=request.dataset,
            where=repr(request.name),
            remedy=f"It is {dataset!r}.",
        )
    check_relation(state, request.dataset, request.promise.lasting_noise.relation, request.name)
    if request.promise.lasting_noise.delta is not None and any(state.of_dataset(request.dataset)):
        required = "a dataset holds one release with a delta, since no ledger adds deltas up"
        remedy = "Pass another name, and dataset= of its own; the chances of both add up."
        raise OutOfRange(required, came="another beside it", where=repr(request.name), remedy=remedy)


def check_apart(page: Page, request: Publishing, digests: Callable[[], tuple[bytes, ...]]) -> None:
    """The same values under two names spend twice; they must spend one budget.

    Whoever is told which column of a guess is released elsewhere, and where, has it confirmed column by column; so a
    refusal says yes or no for the whole table. `AlreadyPublished.known_as` is for whoever holds the ledger's key.

    Args:
        digests: works out those of the values of each column.
    """
    others = [release for release in page.state.releases.values() if release.dataset != request.dataset]
    if not others:
        return
    mine = dict(zip(digests(), request.promise.columns, strict=True))
    for other in others:
        theirs = Likeness.opened(page.key, other.values, other.name, other.version).columns
        for digest, column in zip(theirs, other.columns, strict=True):
            if digest in mine:
                raise AlreadyPublished(
                    "the same values must be released in one dataset, where their levels add up",
                    came="values that another dataset holds",
                    where=f"{request.name!r}, dataset {request.dataset!r}",
                    remedy="Pass dataset= of the release that has them; or independent=True, for other individuals' "
                    "data.",
                ).known(
                    f"column {mine[digest]!r} holds the values of {column!r} in {other.name!r}, version "
                    f"{other.version}, of dataset {other.dataset!r}"
                )
