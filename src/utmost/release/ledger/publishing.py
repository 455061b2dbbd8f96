"""What publishing and relaxing do inside their transaction: every check, then the draw, then the event."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from utmost.errors import AlreadyPublished, BudgetExceeded, OutOfRange, Quarantined
from utmost.exact import Level
from utmost.release.ledger.book import Page
from utmost.release.ledger.commitment import check_unchanged, commitment
from utmost.release.ledger.promise import Promise
from utmost.release.ledger.responses import Item, Progress, new_response, stored_response
from utmost.release.ledger.source import Source
from utmost.release.ledger.spending import Spending
from utmost.release.ledger.state import Published, State
from utmost.release.statement import level_text
from utmost.sampling.bits import Randomness
from utmost.sampling.grid import unsnapped
from utmost.sampling.wide import Integers

Response = dict[str, Integers]
"""A response in steps of the lattice, by column."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Asked:
    """A request to publish, read and found sound by itself.

    Attributes:
        name, dataset, level, promise, source, id_column, request, rows_from: what was asked for.
        version: None for the newest.
    """

    name: str
    dataset: str
    level: Level
    promise: Promise
    source: Source
    id_column: str | None
    version: int | None
    request: str | None
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


def publish_new(page: Page, asked: Asked, randomness: Randomness, progress: Progress | None) -> Response:
    """Draw the first response of a release, and write it.

    Raises:
        BudgetExceeded, OutOfRange: where the dataset does not allow it.
    """
    state = page.state
    version = len(state.versions(asked.name)) + 1
    _check_dataset(state, asked, version)
    check_budget(state, asked.dataset, spending_after(state, asked.dataset, None, asked.level))
    source = asked.source
    committed = commitment(page.key, asked.name, version, source)
    item = Item(asked.name, version, asked.columns, source.rows, asked.promise, committed, None)
    drawn, facts = new_response(page, item, asked.level, source.columns, randomness, progress, before=(committed,))
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
        "public": list(source.public),
        "rows_from": asked.rows_from,
    }
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
    check_unchanged(Item.of(page, release).committed, now, source, release.rows, where, mend)


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
