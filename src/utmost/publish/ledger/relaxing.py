"""Answering a release at one level more: by relaxing with the values at hand, or by what is stored alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.item_words import Tags, item_tags
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import BadTable, DataChanged, LedgerDamaged, NeedsTable, Quarantined, RowsRenamed, warn
from utmost.publish.ledger.answer_statements import ledger_facts
from utmost.publish.ledger.book import Book, Page
from utmost.publish.ledger.budgets import check_budget, spending_after
from utmost.publish.ledger.duplicate_data import Likeness, row_names, value_digests
from utmost.publish.ledger.item_rows import stored_tags
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.labels import Named
from utmost.publish.ledger.responses import Committed, Progress, new_response, page_labels, stored_response
from utmost.publish.ledger.source import Source, check_unchanged, commitment, difference, noise_secret, read_source
from utmost.publish.ledger.state import Published, State
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import Part
from utmost.publish.promises.promised_noise import Response

T = TypeVar("T")

Columns = Mapping[str, Integers]

Answered = tuple[int, Response, LedgerFacts]
"""The version of a release, a response of it, and what the ledger adds to the statement of this answer."""

Viewed = tuple[Published, Response, Named, LedgerFacts]
"""A release, a response of it, its labels, and what the ledger adds to the statement of this answer."""

Spent = tuple[str, Level, Part | None, Published | None]
"""A dataset, a level and a part that a request would spend, and the release that has spent less instead, if any."""


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Where the rows of a table stand in the order in which its release is kept.

    Attributes:
        rows: row ``rows[i]`` of the table is row i of what is kept; None where the two orders are one.
    """

    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, page: Page, release: Published, source: Source, committed: bytes) -> "Order":
        """The order of a table that has been found to be the one that was published.

        Args:
            committed: the commitment to it.
        """
        if source.items is None:
            return cls()
        mine = item_tags(noise_secret(page.key, release.name, release.version, committed), [source.items])
        tags = stored_tags(page, release)
        rows = np.empty(len(tags), np.intp)
        rows[_sorted(tags)] = _sorted(mine)
        if not np.array_equal(mine[rows], tags):
            raise LedgerDamaged("tags must be those of the rows", came="others", where=repr(release.name))
        return cls(rows)

    def kept(self, columns: Columns) -> dict[str, Integers]:
        """Columns of the table in the order in which they are kept."""
        return {name: column if self.rows is None else column[self.rows] for name, column in columns.items()}

    def asked(self, columns: Columns) -> dict[str, Integers]:
        """Columns that were kept, in the order of the table."""
        return {name: column if self.rows is None else _placed(column, self.rows) for name, column in columns.items()}


def _sorted(tags: Tags) -> NDArray[np.intp]:
    return np.lexsort((tags[:, 1], tags[:, 0]))


def _placed(column: Integers, rows: NDArray[np.intp]) -> Integers:
    placed = np.empty_like(column)
    placed[rows] = column
    return placed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToRelax:
    """A release to be relaxed, with the values read as a release that is known asks for.

    Attributes:
        release: the version that was asked for, or the newest when it was last looked up.
        version: which one was asked for; None for the newest.
        level: the level.
        source: the values.
        committed: the commitment to them.
        progress: called with the cells done and the cells in all.
    """

    release: Published
    version: int | None
    level: Level
    source: Source
    committed: bytes
    progress: Progress | None = None

    @classmethod
    def of(
        cls, book: Book, release: Published, version: int | None, level: Level, table: Any, progress: Progress | None
    ) -> "ToRelax":
        """A table that is brought again, found to be of the kind that was published."""
        source = release_source(release, table)
        committed = commitment(book.key, release.name, release.version, source)
        return cls(release, version, level, source, committed, progress)

    def may_be_stored(self, state: State) -> bool:
        """Whether the answer is there, or the values are refused, as far as the release is known."""
        return self.level in self.release.responses or sha256(self.committed).hexdigest() != self.release.commitment

    def now(self, page: Page) -> Published | None:
        """The release as it is now; None where it is not the newest any more, and the newest was asked for."""
        release = page.state.release(self.release.name, self.version)
        return release if release.version == self.release.version else None

    def stored(self, page: Page) -> Answered | None:
        """The answer that is there.

        Raises:
            DataChanged: for other values than those published.
        """
        published = self.now(page)
        if published is None:
            return None
        published.check_kept()
        check_values(page, published, self.committed, self.source)
        if self.level not in published.responses:
            return None
        order = Order.of(page, published, self.source, self.committed)
        response = order.asked(stored_response(page, published, self.level, self.progress))
        return published.version, response, ledger_facts(page.state, published, self.level)

    def drawn(self, page: Page, randomness: Randomness) -> Answered | None:
        """A new answer, drawn and written; None where another version is the newest now.

        Raises:
            BudgetExceeded, Quarantined: as for `answer_more`.
        """
        published = self.now(page)
        if published is None:
            return None
        order = Order.of(page, published, self.source, self.committed)
        values = order.kept(self.source.columns)
        response = answer_more(page, published, self.level, values, randomness, self.progress)
        now = page.state.release(published.name, published.version)
        return published.version, order.asked(response), ledger_facts(page.state, now, self.level)

    def spends(self, page: Page) -> Spent:
        """Of which dataset the release would spend the level, in place of what it has spent."""
        release = page.state.release(self.release.name, self.version)
        return release.dataset, max(self.level, release.spent), release.part, release

    def handed(self, response: Response, remembered: LedgerFacts) -> Any:
        """A response as it is handed to whoever brought the table."""
        release = self.release
        return self.source.answer(release.noise, self.level, response, release.kind, release.part, remembered)


def release_source(release: Published, table: Any) -> Source:
    """The values of a release that is there, read from a table that is brought again."""
    noise, by_item = release.noise, release.items is not None
    rows, _ = noise.measured(noise.rows_of(table, release.columns))
    return read_source(rows, release.columns, noise, release.id_column, release.public, by_item=by_item)


def viewed(page: Page, name: str, version: int | None, level: Level, progress: Progress | None) -> Viewed | None:
    """A release, its response at a level, its labels and the ledger's facts, where that is stored."""
    release = page.state.release(name, version)
    release.check_kept()
    if level not in release.responses:
        return None
    response = stored_response(page, release, level, progress)
    return release, response, page_labels(page, release), ledger_facts(page.state, release, level)


def tightened(
    page: Page, name: str, version: int | None, level: Level, randomness: Randomness, progress: Progress | None
) -> Viewed:
    """A release, a new response at a level that its stored responses lead to, its labels and the ledger's facts."""
    release = page.state.release(name, version)
    release.check_kept()
    release.noise.check_tightened(level, repr(name))
    if release.spent < level:
        remedy = f"It is stored up to {release.spent}: call relax with the table."
        raise NeedsTable("a level beyond the loosest needs the values", came=level, where=repr(name), remedy=remedy)
    response, labels = answer_more(page, release, level, None, randomness, progress), page_labels(page, release)
    now = page.state.release(name, release.version)
    return now, response, labels, ledger_facts(page.state, now, level)


def known_release(book: Book, name: str, version: int | None) -> Published | None:
    """A release as far as has been read: what a version is does not change, so it need not be looked up again."""
    known, wanted = book.seen.versions(name), None if version is None else exact_integer(version, "version")
    return book.seen.release(name, wanted) if known and (wanted is None or wanted in known) else None


def with_release(book: Book, name: str, version: int | None, work: Callable[[Published], T | None]) -> T:
    """What the work makes of a release, as far as has been read; again where a newer version is there by now."""
    release, answer = known_release(book, name, version), None
    while answer is None:
        current = release or book.read(lambda page: page.state.release(name, version))
        try:
            answer, release = work(current), None
        except (BadTable, DataChanged):
            release = book.read(lambda page: page.state.release(name, version))
            if release.version == current.version:
                raise
    return answer


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
    check_answerable(page, release, level)
    drawn, facts = new_response(page, Committed.of(page, release), level, values, randomness, progress)
    page.append("answered", {"name": release.name, "version": release.version} | facts)
    return drawn


def check_answerable(page: Page, release: Published, level: Level) -> None:
    """Check that a release may be answered at one level more.

    Raises:
        BudgetExceeded, Quarantined: as for `answer_more`.
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


def check_values(page: Page, release: Published, now: bytes, source: Source) -> None:
    """Check that these are the values that were published.

    Args:
        now: the commitment to them.

    Raises:
        DataChanged: where they are not.
    """
    remedy = f"Publish changed data as a new version: version={len(page.state.versions(release.name)) + 1}."
    where = f"{release.name!r}, version {release.version}"
    check_unchanged(Committed.of(page, release).content, now, source, release.rows, where, remedy)


def where_changed(page: Page, release: Published, source: Source) -> str | None:
    """Where a table differs from the one that was published, for whoever holds the key; None where it does not."""
    committed, now = Committed.of(page, release).content, commitment(page.key, release.name, release.version, source)
    if committed != now and source.items is None and _are_reordered(page, release, source):
        return "the rows are in another order than they were published in"
    return difference(committed, now, source, release.rows)


def warn_of_names(key: Key, release: Published, source: Source) -> None:
    """Warn where the rows seem to be other ones than at the publication.

    Warns:
        RowsRenamed: for other texts beside the values, see `rows_are_renamed`.
    """
    if rows_are_renamed(key, release, source):
        warning = (
            f"{release.name!r}, version {release.version}: texts beside the values are not those that were published; "
            "without id_column= the ledger goes by the order of the rows alone, and puts released values in that order"
        )
        warn(warning, RowsRenamed)


def rows_are_renamed(key: Key, release: Published, source: Source) -> bool:
    """Whether the texts beside the values are others than at the publication, in columns of the same names.

    Where there is an ``id_column`` the commitment itself covers the rows' names, and this is False.
    """
    if release.id_column is not None:
        return False
    then = Likeness.opened(key, release.values, release.name, release.version)
    labels, texts = row_names(key, source)
    return then.labels == labels and then.texts != texts


def _are_reordered(page: Page, release: Published, source: Source) -> bool:
    if source.rows != release.rows:
        return False
    then = Likeness.opened(page.key, release.values, release.name, release.version)
    return then.columns == value_digests(page.key, source, release.noise.exponent)
