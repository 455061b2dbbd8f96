"""What is said of a ledger's answer that is a table: the statement of its level, and error bars of any confidence."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from utmost.core.exact.levels import Level
from utmost.publish.ledger.spending import Spending
from utmost.publish.ledger.state import Published, State
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.statement import Statement
from utmost.tables.files.saving import Digest, Publication
from utmost.tables.frames.any_table import adapter_of, is_engine_table, published_names


def ledger_facts(state: State, release: Published, at: Level) -> LedgerFacts:
    """What the ledger adds to the statement of an answer that is there.

    It goes by the event of the answer, so that whoever asks again later is told the same, whatever came after it.
    """
    event = release.responses[at].event
    levels = tuple(level for level in release.levels if release.responses[level].event <= event)
    versions = (state.release(release.name, version) for version in state.versions(release.name))
    spent = (version.spent_by(event) for version in versions)
    together = Spending.of(level for level in spent if level is not None).level
    return LedgerFacts(release.name, release.version, levels, together)


def response_statement(
    release: Published,
    at: Level,
    confidence: Fraction,
    public: Sequence[str],
    digest: Digest | None,
    remembered: LedgerFacts,
    rows: int | None = None,
) -> dict[str, Any]:
    """The statement of a response, as of any release, and what its ledger adds to it.

    Args:
        release: the version that was answered.
        at: the level of the answer.
        confidence: of the error bars.
        public: the columns that stand in the table without noise.
        digest: of the table.
        remembered: what the ledger adds.
        rows: of the answer, where they are not those that were published.
    """
    promise = release.promise.as_read(release.columns, public)
    return Statement(promise, at, confidence, release.rows if rows is None else rows, digest, remembered).facts()


def with_bars(table: Any, release: Published, at: Level, confidence: Fraction) -> Any:
    """The table with its error bars at this confidence; a frame of an engine as it is."""
    if is_engine_table(table):
        return table
    adapter = adapter_of(table)
    known = {name for name in adapter.names(table) if name not in (*release.columns, *release.public)}
    bars, _ = release.noise.with_bars(at, release.columns, release.rows, confidence)
    return adapter.with_columns(table, {name: bar for name, bar in bars.items() if name in known}, {})


def answered_rows(table: Any, release: Published) -> int:
    """How many rows an answer has: those that were published, but where which they are is what is released."""
    if not release.noise.names_rows:
        return release.rows
    return len(adapter_of(table).column(table, release.columns[0]))


def answer_publication(
    table: Any, release: Published, at: Level, confidence: Fraction, remembered: LedgerFacts
) -> Publication:
    """An answer as it is published: the table with its error bars, and what is said of it."""
    shown = with_bars(table, release, at, confidence)
    public = [name for name in published_names(shown) if name in release.public]

    def said(digest: Mapping[str, str] | None) -> dict[str, Any]:
        return response_statement(release, at, confidence, public, digest, remembered, answered_rows(table, release))

    return Publication(shown, said)
