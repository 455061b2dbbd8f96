"""Releases by item that the ledger keeps: tags and noise of their rows, and answers in the order of the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from utmost.errors import LedgerDamaged
from utmost.laws.exact import Level
from utmost.laws.sampling.integers import Integers
from utmost.laws.sampling.item_words import Tags, item_tags
from utmost.publish.ledger.book import Page
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.source import Source, noise_secret
from utmost.publish.ledger.state import Published
from utmost.publish.promises.drawing import BLOCK
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.response_noise import check_derived
from utmost.publish.releases.item_release import ItemResponder

Columns = Mapping[str, Integers]


@dataclass(frozen=True, slots=True, eq=False)
class ItemNoise:
    """Noise that is a function of each row's item.

    Attributes:
        step: to the last level of the release's path.
        release: whose noise.
        tags: of the rows, in the order in which they are kept.
    """

    step: Step
    release: ItemResponder
    tags: Tags

    def place(self, column: str, block: int, count: int) -> Integers | None:
        """The places of the rows of this block."""
        return self.release.place(column, self._rows(block))

    def beyond(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        """The noise at the new level. What is stored must agree with it."""
        tags = self._rows(block)
        if below is not None:
            assert self.step.strict is not None
            check_derived(below, self.release.noise(column, self.step.strict, tags))
        return self.release.noise(column, self.step.to, tags)

    def within(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """The difference of the noise at two levels. What is stored must agree with it."""
        tags = self._rows(block)
        assert self.step.loose is not None
        if apart is not None:
            assert self.step.strict is not None
            check_derived(apart, self.release.apart(column, self.step.strict, self.step.loose, tags))
        return self.release.apart(column, self.step.to, self.step.loose, tags)

    def _rows(self, block: int) -> Tags:
        return self.tags[block * BLOCK : (block + 1) * BLOCK]


def item_release(key: Key, release: Published, committed: bytes, path: Sequence[Level], at: Level) -> ItemResponder:
    """A release by item at a level of a path, as its workers need it."""
    secret = noise_secret(key, release.name, release.version, committed)
    return ItemResponder(secret, release.columns, release.noise.by_item(), tuple(path), at)


def tag_parts(tags: Tags) -> tuple[bytes, ...]:
    """The tags of rows as an event keeps them, in blocks."""
    return tuple(tags[start : start + BLOCK].astype("<u8").tobytes() for start in range(0, len(tags), BLOCK))


def digest_of_tags(parts: Sequence[bytes]) -> str:
    """By which they are known to be those that were written."""
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()


def stored_tags(page: Page, release: Published) -> Tags:
    """The tags of the rows of a release, in the order in which its responses are kept.

    Raises:
        LedgerDamaged: where they are not as they were written.
    """
    first = min(release.responses.values(), key=lambda response: response.event)
    parts = [page.rows.part(first.event, part) or b"" for part in range(1, 1 + -(-release.rows // BLOCK))]
    if release.items is None or digest_of_tags(parts) != release.items.tags:
        raise LedgerDamaged("tags must be as they were written", came="others", where=f"event {first.event}")
    return np.frombuffer(b"".join(parts), "<u8").reshape(-1, 2).astype(np.uint64)


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
