"""What publishing and relaxing do inside their transaction: every check, then the draw, then the event."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from utmost.errors import AlreadyPublished, BudgetExceeded, OutOfRange, Quarantined
from utmost.exact import Level
from utmost.ledger.book import Page
from utmost.ledger.key import Key
from utmost.ledger.promise import Promise
from utmost.ledger.responses import Item, Progress, new_response, stored_response
from utmost.ledger.sameness import Likeness, row_names, value_digests
from utmost.ledger.source import Source, check_unchanged, commitment
from utmost.ledger.spending import Spending
from utmost.ledger.state import Published, State, bound_facts
from utmost.release.statements import level_text
from utmost.sampling.grid import unsnapped
from utmost.sampling.integers import Integers
from utmost.sampling.random_bits import Randomness

Response = dict[str, Integers]
"""A response in steps of the lattice, by column."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Asked:
    """A request to publish, read and found sound by itself.

    Attributes:
        name, dataset, level, promise, source, id_column, request, rows_from: what was asked for.
        version: None for the newest.
        independent: whether the data are none that another dataset of the ledger holds.
    """

    name: str
    dataset: str
    level: Level
    promise: Promise
    source: Source
    id_column: str | None
    version: int | None
    request: str | None
    independent: bool
    rows_from: str = "declared"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to release."""
        return tuple(self.source.columns)


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
        mend = f"Its next version is {len(versions) + 1}."
        raise OutOfRange("versions must follow one another", came=wanted, where=repr(asked.name), mend=mend)
    release = state.releases[asked.name, wanted]
    _check_same(page, asked, release, len(versions))
    return stored_response(page, release, asked.level, progress)


def as_published(state: State, name: str, version: int | None, request: str | None, promise: Promise) -> Promise:
    """A promise on the reals, with the rule of snapping of the release that it asks for again, if there is one."""
    made = state.requests.get(request) if request is not None else None
    wanted = made[0] if made is not None else (name, version or max(state.versions(name), default=1))
    found = state.releases.get(wanted)
    return (
        promise if found is None or found.promise.grid is None else promise.snapped_by(found.promise.lattice.snapping)
    )


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
    check_budget(state, asked.dataset, spending_after(state, asked.dataset, None, asked.level))
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
        "kind": source.kind,
        "request": asked.request,
        "values": likeness.sealed(page.key, asked.name, version),
        "public": list(source.public),
        "rows_from": asked.rows_from,
    }
    bound = bound_facts(about)
    item = Item(asked.name, version, asked.columns, source.rows, asked.promise, committed, bound, None)
    drawn, facts = new_response(page, item, asked.level, source.columns, randomness, progress, before=(committed,))
    page.append("published", about | facts)
    return drawn


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
                mend="Publish the data as a new version.",
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
    mend = f"Publish changed data as a new version: version={len(page.state.versions(release.name)) + 1}."
    where = f"{release.name!r}, version {release.version}"
    committed = Item.of(page, release).committed
    if committed != now and _are_reordered(page, release, source):
        mend = "They are the same in another order: bring the rows in the order in which they were published."
    check_unchanged(committed, now, source, release.rows, where, mend)


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
            mend=f"Pass dataset={waiting[0]!r}; or set a limit on {dataset!r} too, or pass independent=True.",
        )


def spending_after(state: State, dataset: str, release: Published | None, level: Level) -> Spending:
    """What the dataset will have spent once a release, or a new one, has been answered at a level."""
    others = [one.spent for one in state.of_dataset(dataset) if one is not release]
    mine = level if release is None else max(level, release.spent)
    return Spending.of([*others, mine]) + state.missing.get(dataset, Spending())


def check_budget(state: State, dataset: str, after: Spending) -> None:
    """Check that a dataset may spend so much.

    Raises:
        BudgetExceeded: where it may not.
    """
    limit = state.limits.get(dataset)
    if limit is not None and after.exceeds(limit) and after != state.spending(dataset):
        raise BudgetExceeded(
            f"the dataset's releases must stay within {limit}",
            came=f"a sum of epsilon={after.epsilon}",
            where=f"dataset {dataset!r}",
            mend=f"What is left is epsilon={state.spending(dataset).left(limit)}.",
        )


def written(promise: Promise, response: Response) -> dict[str, NDArray[Any]]:
    """A response as numbers: integers, or floats on the grid."""
    exponent = promise.lattice.exponent
    if exponent is None:
        return response
    return {name: unsnapped(steps, exponent) for name, steps in response.items()}


def _check_same(page: Page, asked: Asked, release: Published, versions: int) -> None:
    where = f"{release.name!r}, version {release.version}"
    mend = f"Call relax or view, or publish a new version: version={versions + 1}."
    mine = asked.columns, asked.promise, asked.dataset, asked.id_column
    if mine != (release.columns, release.promise, release.dataset, release.id_column):
        raise AlreadyPublished("a release must keep its columns, promise and dataset", where=where, mend=mend)
    check_values(page, release, commitment(page.key, release.name, release.version, asked.source), asked.source)
    if asked.level not in release.responses:
        came = f"{level_text(asked.level)} beside {', '.join(map(level_text, release.levels))}"
        raise AlreadyPublished("a release is published once", came=came, where=where, mend=mend)


def _check_dataset(state: State, asked: Asked, version: int) -> None:
    """All versions of a release spend one budget, and all that spend one budget protect against one relation."""
    if version > 1 and state.releases[asked.name, 1].dataset != asked.dataset:
        dataset = state.releases[asked.name, 1].dataset
        raise OutOfRange(
            "a release must stay in its dataset", came=asked.dataset, where=repr(asked.name), mend=f"It is {dataset!r}."
        )
    for other in state.of_dataset(asked.dataset):
        mine, theirs = asked.promise.unit.neighbours, other.promise.unit.neighbours
        if mine != theirs:
            raise OutOfRange(
                f"all releases of dataset {asked.dataset!r} must have neighbours={theirs!r}",
                came=mine,
                where=repr(asked.name),
                mend="Levels add up only for one relation.",
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
                    mend=f"Pass dataset={other.dataset!r}; or independent=True, if these are other individuals' data.",
                )


def _are_reordered(page: Page, release: Published, source: Source) -> bool:
    if release.values is None or source.rows != release.rows:
        return False
    then = Likeness.opened(page.key, release.values, release.name, release.version)
    return then.columns == value_digests(page.key, source, release.promise.lattice.exponent)
