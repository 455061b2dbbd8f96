"""Read the stored responses of a release, or draw a new one, within a transaction of a ledger."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import report_progress
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.draw import method_for
from utmost.core.sampling.integers import Integers, joined
from utmost.core.sampling.item_words import Tags, derived_secret
from utmost.core.sampling.random_bits import KeyedRandomness, Randomness
from utmost.errors import LedgerDamaged, Unsupported
from utmost.publish.ledger.block_encryption import (
    Seal,
    checked_parts,
    level_seal,
    parts_digest,
    stored,
    unpacked,
)
from utmost.publish.ledger.commitment import noise_secret
from utmost.publish.ledger.event_log import Transaction
from utmost.publish.ledger.item_rows import ItemNoise, item_release, stored_tags
from utmost.publish.ledger.labels import TableLabels, label_key_under, label_seal, stored_labels
from utmost.publish.ledger.state import Published
from utmost.publish.ledger.store import PartReader, Rows
from utmost.publish.promises.drawing import BLOCK, ResponseNoise
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.promised_noise import Response
from utmost.publish.promises.response_noise import DerivedNoise, DrawnNoise, check_derived_level
from utmost.publish.releases.answer import Answer, drawn_answer
from utmost.publish.releases.source import Source
from utmost.tables.frames.adapters import TableAdapter
from utmost.tables.frames.any_table import adapter_of, table_of


@dataclass(frozen=True, slots=True)
class LedgerResponse:
    """A new response of a release, with the source of its noise; implements `NewResponse`."""

    transaction: Transaction
    release: Published  # Release; it has no response yet if it is about to be published
    tags: Tags | None  # Tags of the identifiers of the rows; None if noise is drawn by rows
    step: Step
    randomness: Randomness

    @classmethod
    def of(cls, transaction: Transaction, release: Published, level: Level, randomness: Randomness) -> "LedgerResponse":
        tags = None if release.items is None else stored_tags(transaction, release)
        return cls(transaction, release, tags, Step.from_known(release.responses, level), randomness)

    @property
    def level(self) -> Level:
        return self.step.to

    @property
    def name(self) -> str:
        return self.release.name

    @property
    def cells(self) -> int:
        return self.release.rows * len(self.release.columns)

    def derived(self, *purpose: str) -> bytes:
        return derived_secret(noise_secret(self.transaction.key, self.release.question), *purpose)

    def bits(self, *run: str) -> Randomness:
        """Return random bits: from the source, or, in a ledger with derived noise, from the key, so that a restored
        ledger draws the same noise again.
        """
        if not self.transaction.state.is_derived:
            return self.randomness
        return KeyedRandomness(self.derived("bits", level_text(self.level), *run))

    def on(self, lattice: Lattice, *run: str) -> ResponseNoise:
        """Return the source of noise on a lattice: keyed by identifier, derived from the ledger's key, or drawn."""
        transaction, release, step = self.transaction, self.release, self.step
        if self.tags is not None:
            return ItemNoise(step, item_release(transaction, release, self.level), self.tags)
        if not transaction.state.is_derived:
            return DrawnNoise(step, lattice, self.randomness, method_for(self.cells))
        check_derived_level(release.responses, self.level)

        def derive(column: str, block: int, node: str) -> bytes:
            return self.derived("noise", *run, column, str(block), node)

        return DerivedNoise(step, lattice, derive)


def stored_commitment(transaction: Transaction, release: Published) -> bytes:
    """Return the commitment to the values of a stored release, verified by its digest."""
    first = min(response.event for response in release.responses.values())
    committed = transaction.part(first, 0)
    if committed is None or sha256(committed).hexdigest() != release.commitment:
        raise LedgerDamaged("a stored commitment must be unchanged", came="another commitment", where=f"event {first}")
    return committed


def stored_response(transaction: Transaction, release: Published, level: Level) -> dict[str, Integers]:
    """Read the stored response at a level: for each column an array of integers, in steps."""
    transaction.repeated.add(release.responses[level].event)
    blocks, done = [], 0
    for block in _blocks_by_ledger_key(transaction, release, level):
        blocks.append(block)
        done += block.size
        report_progress(done, release.rows * len(release.columns))
    return by_column(release, blocks)


def by_column(release: Published, blocks: Sequence[Integers]) -> dict[str, Integers]:
    """Join the blocks, which come column after column, into one array for each column."""
    each = -(-release.rows // BLOCK)
    return {name: joined(blocks[at * each : (at + 1) * each], release.rows) for at, name in enumerate(release.columns)}


def draw_response(
    drawing: LedgerResponse,
    values: Mapping[str, Integers] | None,
    kind: str,
    facts: Mapping[str, Any],
    before: Sequence[bytes] = (),
) -> dict[str, Integers]:
    """Draw a response at a new level, append the event with its encrypted blocks, and return {column: integers}."""
    # The true ``values`` are needed only above the largest stored level, and for points.
    transaction, release, level, step = drawing.transaction, drawing.release, drawing.level, drawing.step
    responder = release.noise.responder(drawing, values)
    event, parts, drawn, done = transaction.state.number + 1, [*before], list[Integers](), 0
    seal = level_seal(transaction.key, transaction.state, release, level)
    word = release.noise.word(level)
    below, above = (None if at is None else _blocks_by_ledger_key(transaction, release, at) for at in responder.known)
    for name in release.columns:
        for block in responder.blocks(name, below, above, release.rows):
            parts.append(seal.sealed(event, len(parts), stored(block, word)))
            drawn.append(block)
            done += block.size
            report_progress(done, drawing.cells)
    for known in (below, above):
        if known is not None:
            next(known, None)  # the end of the iterator verifies the digest of all parts
    label_key = label_key_under(seal, event, label_seal(transaction.key, transaction.state.identity, release))
    about = {"level": level_text(level), "how": step.how, "parts": len(parts), "root": parts_digest(parts)}
    transaction.append(kind, {**facts, **about, "label_key": label_key}, parts)
    return by_column(release, drawn)


def _blocks_by_ledger_key(transaction: Transaction, release: Published, level: Level) -> Iterator[Integers]:
    return stored_blocks(transaction, release, level, level_seal(transaction.key, transaction.state, release, level))


def stored_blocks(rows: PartReader, release: Published, level: Level, seal: Seal) -> Iterator[Integers]:
    """Yield the decrypted blocks of a stored response, column after column; verify their digest after the last one."""
    response, each = release.responses[level], -(-release.rows // BLOCK)
    if response.parts != response.first + each * len(release.columns):
        raise LedgerDamaged(
            "a stored response must have all blocks of its release",
            came=response.parts,
            where=f"event {response.event}",
        )
    for part, content in enumerate(checked_parts(rows, response.event, response.parts, response.root)):
        if part < response.first:
            continue
        block = unpacked(seal.opened(response.event, part, content))
        if block.size != min(BLOCK, release.rows - (part - response.first) % each * BLOCK):
            raise LedgerDamaged(
                "a stored block must have all cells of its rows", came=block.size, where=f"event {response.event}"
            )
        yield block


def labels_by_ledger_key(transaction: Transaction, release: Published) -> TableLabels:
    """Return the labels of a release as `labels_of` does, decrypted with the ledger's key."""
    return labels_of(transaction.rows, release, label_seal(transaction.key, transaction.state.identity, release))


def labels_of(rows: Rows, release: Published, seal: Seal) -> TableLabels:
    """Return the names of a release's columns in order, and its public columns; empty if no labels are stored."""
    if release.labels is None:
        return (), {}
    first = min(release.responses.values(), key=lambda response: response.event)
    return release.labels.order, stored_labels(rows, first.event, first.first, release.labels, seal)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A response at a level, and the facts that the ledger adds to its statement."""

    level: Level
    response: Response
    facts: LedgerFacts

    def in_table(self, source: Source) -> Answer[Any]:
        """Return an answer with the caller's table, in which released values replace the true ones."""
        noise = source.promise.at_stop(self.level, self.facts.stop)
        written = source.promise.lasting_noise.written(self.level, self.response)
        return source.answer(noise, written, self.facts)

    def without_table(self, release: Published, labels: TableLabels) -> Answer[Any]:
        """Return an answer for a caller who passes no table: stored labels, released columns and margins."""
        order, public = labels
        shown = order or tuple(self.response)
        promise = release.promise.as_published(shown, [name for name in order if name in public])
        noise = release.promise.at_stop(self.level, self.facts.stop)
        written = release.noise.written(self.level, self.response)

        def bare() -> tuple[TableAdapter, Any]:
            cells: dict[str, Any] = {**public, **written}
            table = table_of(release.kind, {name: cells[name] for name in shown})
            return adapter_of(table), table

        return drawn_answer(promise, noise, written, release.kind, self.facts, bare)


def key_of_level(transaction: Transaction, release: Published, level: Level) -> bytes:
    secret = level_seal(transaction.key, transaction.state, release, level).secret
    if secret is None or level not in release.responses:
        where = repr(release.name)
        raise Unsupported("only a level that an encrypted ledger stores has a key", came=level, where=where)
    return secret
