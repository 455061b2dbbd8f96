"""What publishing and relaxing do inside their transaction: every check, then the draw, then the event."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from utmost.errors import (
    AlreadyPublished,
    BadTable,
    BudgetExceeded,
    DataChanged,
    NeedsTable,
    OutOfRange,
    Quarantined,
    RowsRenamed,
)
from utmost.exact import Level, exact_integer
from utmost.ledger.book import Book, Page
from utmost.ledger.events import check_name
from utmost.ledger.key import Key
from utmost.ledger.requests import Asked, Response
from utmost.ledger.responses import Item, Progress, new_response, stored_response
from utmost.ledger.source import Likeness, Source, check_unchanged, commitment, row_names, value_digests
from utmost.ledger.spending import Budget, Part, Spending, together
from utmost.ledger.state import Published, State, bound_facts
from utmost.release.statements import level_text
from utmost.sampling.integers import Integers
from utmost.sampling.random_bits import Randomness

T = TypeVar("T")


def already_published(page: Page, asked: Asked, progress: Progress | None) -> Response | None:
    """The answer to a request that has been answered; None for a release that is yet to be made.

    Raises:
        DataChanged, AlreadyPublished: where the release is there, and is not what is asked for.
        OutOfRange: for a version that cannot come next.
    """
    state = page.state
    versions = state.versions(asked.name)
    wanted = asked.version if asked.version is not None else max(versions, default=1)
    made = state.requests.get(asked.request) if asked.request is not None else None
    if made is not None:
        if made[0][0] != asked.name or made[1] != asked.level or asked.version not in (None, made[0][1]):
            raise AlreadyPublished("a request must be made again as it was", came=asked.request, where="request")
        wanted = made[0][1]
    if wanted == len(versions) + 1:
        return None
    if not 1 <= wanted <= len(versions):
        remedy = f"Its next version is {len(versions) + 1}."
        raise OutOfRange("versions must follow one another", came=wanted, where=repr(asked.name), remedy=remedy)
    release = state.releases[asked.name, wanted]
    _check_same(page, asked, release, len(versions))
    return stored_response(page, release, asked.level, progress)


def publish_new(page: Page, asked: Asked, randomness: Randomness, progress: Progress | None) -> Response:
    """Draw the first response of a release, and write it.

    Raises:
        BudgetExceeded, OutOfRange: where the dataset does not allow it.
        AlreadyPublished: where another dataset holds the same values.
        BadTable: for a value that is larger than declared.
    """
    state = page.state
    version = len(state.versions(asked.name)) + 1
    asked.source.check_sizes(asked.promise)
    _check_dataset(state, asked, version)
    likeness = Likeness.of(page.key, asked.source, asked.promise.lattice.exponent)
    if not asked.independent:
        check_named(state, asked.dataset)
        _check_apart(page, asked, likeness)
    check_budget(state, asked.dataset, spending_after(state, asked.dataset, None, asked.level, asked.part))
    source = asked.source
    committed = commitment(page.key, asked.name, version, source)
    about = {
        "name": asked.name,
        "version": version,
        "dataset": asked.dataset,
        "columns": list(asked.columns),
        "rows": source.rows,
        "id_column": asked.id_column,
        "promise": asked.promise.facts(),
        "commitment": sha256(committed).hexdigest(),
        "kind": asked.kind,
        "request": asked.request,
        "values": likeness.sealed(page.key, asked.name, version),
        "public": list(source.public),
        "rows_from": asked.rows_from,
        "part": None if asked.part is None else list(asked.part),
    }
    bound = bound_facts(about)
    item = Item(asked.name, version, asked.columns, source.rows, asked.promise, committed, bound, None)
    drawn, facts = new_response(page, item, asked.level, source.columns, randomness, progress, before=(committed,))
    page.append("published", about | facts)
    return drawn


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Relaxed:
    """A request to relax, with the values read as a release that is known asks for.

    Attributes:
        release: the version that was asked for, or the newest when it was last looked up.
        version: which one was asked for; None for the newest.
        level: the level.
        source: the values.
        committed: the commitment to them.
    """

    release: Published
    version: int | None
    level: Level
    source: Source
    committed: bytes

    @property
    def may_be_stored(self) -> bool:
        """Whether the answer is there, or the values are refused, as far as the release is known."""
        return self.level in self.release.responses or sha256(self.committed).hexdigest() != self.release.commitment

    def now(self, page: Page) -> Published | None:
        """The release as it is now; None where it is not the newest any more, and the newest was asked for."""
        found = page.state.release(self.release.name, self.version)
        return found if found.version == self.release.version else None

    def stored(self, page: Page, progress: Progress | None) -> Response | None:
        """The answer that is there.

        Raises:
            DataChanged: for other values than those published.
        """
        found = self.now(page)
        if found is None:
            return None
        check_values(page, found, self.committed, self.source)
        return stored_response(page, found, self.level, progress) if self.level in found.responses else None

    def made(self, page: Page, randomness: Randomness, progress: Progress | None) -> Response | None:
        """A new answer, drawn and written; None where another version is the newest now.

        Raises:
            BudgetExceeded, Quarantined: as for `answer_more`.
        """
        found = self.now(page)
        if found is None:
            return None
        return answer_more(page, found, self.level, self.source.columns, randomness, progress)


def viewed(
    page: Page, name: str, version: int | None, level: Level, progress: Progress | None
) -> tuple[Published, Response] | None:
    """A release and its response at a level, where that is stored."""
    found = page.state.release(name, version)
    return (found, stored_response(page, found, level, progress)) if level in found.responses else None


def tightened(
    page: Page, name: str, version: int | None, level: Level, randomness: Randomness, progress: Progress | None
) -> tuple[Published, Response]:
    """A release and a new response at a level that its stored responses lead to.

    Raises:
        NeedsTable: for a level beyond the loosest.
    """
    found = page.state.release(name, version)
    if found.spent < level:
        remedy = f"It is stored up to {found.spent}: call relax with the table."
        raise NeedsTable("a level beyond the loosest needs the values", came=level, where=repr(name), remedy=remedy)
    return found, answer_more(page, found, level, None, randomness, progress)


def known_release(book: Book, name: str, version: int | None) -> Published | None:
    """A release as far as has been read: what a version is does not change, so it need not be looked up again."""
    known = book.seen.versions(name)
    return book.seen.release(name, version) if known and (version is None or version in known) else None


def with_release(book: Book, name: str, version: int | None, work: Callable[[Published], T | None]) -> T:
    """What the work makes of a release, as far as has been read; again where a newer version is there by now."""
    release, made = known_release(book, name, version), None
    while made is None:
        found = release or book.read(lambda page: page.state.release(name, version))
        try:
            made, release = work(found), None
        except (BadTable, DataChanged):
            release = book.read(lambda page: page.state.release(name, version))
            if release.version == found.version:
                raise
    return made


def answer_more(
    page: Page,
    release: Published,
    level: Level,
    values: Mapping[str, Integers] | None,
    randomness: Randomness,
    progress: Progress | None,
) -> Response:
    """Draw the response of a release at one level more, and write it.

    Raises:
        BudgetExceeded: where the dataset does not allow it.
        Quarantined: for a release that has lost responses, beyond its loosest level.
    """
    if release.spent < level:
        if not release.relaxable:
            raise Quarantined(
                "a release that lost responses in a rollback must stay as it is",
                came=level,
                where=f"{release.name!r}, version {release.version}",
                remedy="Publish the data as a new version.",
            )
        check_budget(page.state, release.dataset, spending_after(page.state, release.dataset, release, level))
    drawn, facts = new_response(page, Item.of(page, release), level, values, randomness, progress)
    page.append("answered", {"name": release.name, "version": release.version} | facts)
    return drawn


def check_values(page: Page, release: Published, now: bytes, source: Source) -> None:
    """Check that these are the values that were published.

    Args:
        now: the commitment to them.

    Raises:
        DataChanged: where they are not.
    """
    remedy = f"Publish changed data as a new version: version={len(page.state.versions(release.name)) + 1}."
    where = f"{release.name!r}, version {release.version}"
    committed = Item.of(page, release).committed
    if committed != now and _are_reordered(page, release, source):
        remedy = "They are the same in another order: bring the rows in the order in which they were published."
    check_unchanged(committed, now, source, release.rows, where, remedy)


def warn_of_names(key: Key, release: Published, source: Source) -> None:
    """Warn where the rows seem to be other ones than at the publication.

    Warns:
        RowsRenamed: for other texts beside the values, see `rows_are_renamed`.
    """
    if rows_are_renamed(key, release, source):
        said = (
            f"{release.name!r}, version {release.version}: texts beside the values are not those that were published; "
            "without id_column= the ledger goes by the order of the rows alone, and puts released values in that order"
        )
        warnings.warn(said, RowsRenamed, stacklevel=5)


def rows_are_renamed(key: Key, release: Published, source: Source) -> bool:
    """Whether the texts beside the values are others than at the publication, in columns of the same names.

    Where there is an ``id_column`` the commitment itself covers the rows' names, and this is False.
    """
    if release.values is None or release.id_column is not None:
        return False
    then = Likeness.opened(key, release.values, release.name, release.version)
    labels, texts = row_names(key, source)
    return then.labels == labels and then.texts != texts


def check_named(state: State, dataset: str) -> None:
    """Check that a new dataset without a limit is not named where a limit waits for a dataset that nothing names.

    Raises:
        OutOfRange: where the name of the dataset was forgotten or misspelt, as it seems.
    """
    waiting = [name for name in state.limits if not state.of_dataset(name)]
    if waiting and dataset not in state.limits and not state.of_dataset(dataset):
        raise OutOfRange(
            f"a release must spend the budget that was set, and no release names {', '.join(map(repr, waiting))} yet",
            came=f"dataset {dataset!r}, which has no limit",
            where="dataset",
            remedy=f"Pass dataset={waiting[0]!r}; or set a limit on {dataset!r} too, or pass independent=True.",
        )


def rehearsed(
    state: State, name: str, level: Level, *, dataset: str | None, independent: bool, version: int | None
) -> Budget:
    """The budget as it would stand after a release, new or not, has been answered at a level.

    Raises:
        BudgetExceeded, OutOfRange: where the call would raise it.
    """
    versions = state.versions(name)
    wanted = max(versions, default=1) if version is None else exact_integer(version, "version")
    found = state.releases.get((name, wanted))
    group = check_name(dataset if dataset is not None else name, "dataset") if found is None else found.dataset
    if found is None and not independent:
        check_named(state, group)
    after = spending_after(state, group, found, level)
    check_budget(state, group, after)
    return Budget(group, state.limits.get(group), after)


def limited(book: Book, dataset: str, limit: Level) -> tuple[Budget, list[str]]:
    """The budget of a dataset with a limit that is set now, and the datasets that releases name."""

    def work(page: Page) -> tuple[Budget, list[str]]:
        if page.state.limits.get(dataset) != limit:
            book.check_writable(page)
            page.append("budgeted", {"dataset": dataset, "limit": level_text(limit)})
        named = sorted({release.dataset for release in page.state.releases.values()})
        return Budget(dataset, limit, page.state.spending(dataset)), named

    return book.write(work)


def spending_after(
    state: State, dataset: str, release: Published | None, level: Level, part: Part | None = None
) -> Spending:
    """What the dataset will have spent once a release, or a new one of a part, has been answered at a level."""
    others = [(one.spent, one.part) for one in state.of_dataset(dataset) if one is not release]
    mine = (level, part) if release is None else (max(level, release.spent), release.part)
    return together([*others, mine]) + state.missing.get(dataset, Spending())


def check_budget(state: State, dataset: str, after: Spending) -> None:
    """Check that a dataset may spend so much.

    Raises:
        BudgetExceeded: where it may not.
    """
    limit = state.limits.get(dataset)
    if limit is not None and after.exceeds(limit) and after != state.spending(dataset):
        raise BudgetExceeded(
            f"the dataset's releases must stay within {limit}",
            came=f"a sum of epsilon = {after.epsilon}",
            where=f"dataset {dataset!r}",
            remedy=f"What is left is epsilon = {state.spending(dataset).left(limit)}.",
        )


def _check_same(page: Page, asked: Asked, release: Published, versions: int) -> None:
    where = f"{release.name!r}, version {release.version}"
    remedy = f"Call relax or view, or publish a new version: version={versions + 1}."
    mine = asked.columns, asked.promise.facts(), asked.dataset, asked.id_column
    if mine != (release.columns, release.promise.facts(), release.dataset, release.id_column):
        raise AlreadyPublished("a release must keep its columns, promise and dataset", where=where, remedy=remedy)
    check_values(page, release, commitment(page.key, release.name, release.version, asked.source), asked.source)
    if asked.level not in release.responses:
        came = f"{level_text(asked.level)} beside {', '.join(map(level_text, release.levels))}"
        raise AlreadyPublished("a release is published once", came=came, where=where, remedy=remedy)


def _check_dataset(state: State, asked: Asked, version: int) -> None:
    """All versions of a release spend one budget, and all that spend one budget protect against one relation."""
    if version > 1 and state.releases[asked.name, 1].dataset != asked.dataset:
        dataset = state.releases[asked.name, 1].dataset
        raise OutOfRange(
            "a release must stay in its dataset",
            came=asked.dataset,
            where=repr(asked.name),
            remedy=f"It is {dataset!r}.",
        )
    for other in state.of_dataset(asked.dataset):
        mine, theirs = asked.promise.unit.neighbours, other.promise.unit.neighbours
        if mine != theirs:
            raise OutOfRange(
                f"all releases of dataset {asked.dataset!r} must have neighbours={theirs!r}",
                came=mine,
                where=repr(asked.name),
                remedy="Levels add up only for one relation.",
            )


def _check_apart(page: Page, asked: Asked, likeness: Likeness) -> None:
    """The same values under two names spend twice; they must spend one budget."""
    mine = dict(zip(likeness.columns, asked.columns, strict=True))
    for other in page.state.releases.values():
        if other.dataset == asked.dataset or other.values is None:
            continue
        theirs = Likeness.opened(page.key, other.values, other.name, other.version).columns
        for digest, column in zip(theirs, other.columns, strict=True):
            if digest in mine:
                raise AlreadyPublished(
                    "the same values must be released in one dataset, where their levels add up",
                    came=f"column {mine[digest]!r}, which holds the values of {column!r} in {other.name!r}, version "
                    f"{other.version}, of dataset {other.dataset!r}",
                    where=f"{asked.name!r}, dataset {asked.dataset!r}",
                    remedy=f"Pass dataset={other.dataset!r}; or independent=True, for other individuals' data.",
                )


def _are_reordered(page: Page, release: Published, source: Source) -> bool:
    if release.values is None or source.rows != release.rows:
        return False
    then = Likeness.opened(page.key, release.values, release.name, release.version)
    return then.columns == value_digests(page.key, source, release.promise.lattice.exponent)
