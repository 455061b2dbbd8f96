"""Compute keyed noise of rows from tags of their identifiers, for releases whose responses the ledger stores."""

from dataclasses import dataclass

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.item_words import Tags
from utmost.errors import LedgerDamaged
from utmost.publish.ledger.block_encryption import parts_digest
from utmost.publish.ledger.commitment import noise_secret
from utmost.publish.ledger.event_log import Transaction
from utmost.publish.ledger.state import Published
from utmost.publish.promises.drawing import BLOCK
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.response_noise import check_derived
from utmost.publish.releases.item_release import ItemResponder


@dataclass(frozen=True, slots=True, eq=False)
class ItemNoise:
    """Noise that is a function of each row's identifier."""

    step: Step  # Step to the last level of the release's path
    release: ItemResponder
    tags: Tags  # Tags of the rows, in their stored order

    def place(self, column: str, block: int, count: int) -> Integers | None:
        """Return each row's position in the block of the `Lattice`, from its identifier; None if the block is 1."""
        return self.release.place(column, self._rows(block))

    def at_highest(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        """Compute the noise at the new level; check ``below``, the stored noise at the next lower level."""
        tags = self._rows(block)
        if below is not None:
            assert self.step.lower is not None
            check_derived(below, self.release.noise(column, self.step.lower, tags))
        return self.release.noise(column, self.step.to, tags)

    def from_higher(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """Compute the new noise minus the noise at the higher level.

        Check ``apart``, the stored noise at the lower level minus the stored noise at the higher level.
        """
        tags = self._rows(block)
        assert self.step.higher is not None
        if apart is not None:
            assert self.step.lower is not None
            check_derived(apart, self.release.noise_difference(column, self.step.lower, self.step.higher, tags))
        return self.release.noise_difference(column, self.step.to, self.step.higher, tags)

    def _rows(self, block: int) -> Tags:
        return self.tags[block * BLOCK : (block + 1) * BLOCK]


def item_release(transaction: Transaction, release: Published, at: Level) -> ItemResponder:
    """Return the keyed noise of a release at a level that is answered, or about to be."""
    path = release.path if at in release.responses else (*release.path, at)
    secret = noise_secret(transaction.key, release.question)
    return ItemResponder(secret, release.columns, release.noise.by_item(), path, at)


def tag_parts(tags: Tags) -> tuple[bytes, ...]:
    return tuple(tags[start : start + BLOCK].astype("<u8").tobytes() for start in range(0, len(tags), BLOCK))


def stored_tags(transaction: Transaction, release: Published) -> Tags:
    """Return the tags of the rows of a release, in the order of its stored responses."""
    first = min(release.responses.values(), key=lambda response: response.event)
    parts = [transaction.part(first.event, part) or b"" for part in range(1, 1 + -(-release.rows // BLOCK))]
    if release.items is None or parts_digest(parts) != release.items.tags:
        raise LedgerDamaged("stored tags must be unchanged", came="other tags", where=f"event {first.event}")
    return np.frombuffer(b"".join(parts), "<u8").reshape(-1, 2).astype(np.uint64)
