"""What is said of a ledger's answer that is a table: the statement of its level, and error bars of any confidence."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from utmost.laws.exact import Level
from utmost.publish.ledger.promised_noise import Noise
from utmost.publish.ledger.requests import error_bars
from utmost.publish.ledger.state import Published
from utmost.publish.ledger.verification import response_plan
from utmost.publish.releases.gradual_answers import answered_facts
from utmost.publish.releases.places_statements import places_statement
from utmost.publish.releases.table_statements import statement
from utmost.publish.tables.adapters import adapter_of, engine_door, published_names
from utmost.publish.tables.saving import Digest, Publication


def promise_statement(
    noise: Noise,
    at: Level,
    released: Sequence[str],
    public: Sequence[str],
    rows: int,
    *,
    rows_from: str,
    confidence: Fraction,
    digest: Digest | None = None,
) -> dict[str, Any]:
    """The statement of one answer by itself: of points, or of columns whose cells have noise of their own.

    Args:
        noise: of the release.
        at: the level of the answer.
        released, public, rows, rows_from, digest: as for `statement`.
        confidence: of the error bars.
    """
    about: dict[str, Any] = {"rows_from": rows_from, "digest": digest}
    if noise.points is not None:
        return places_statement(noise.points.law(at), confidence, released, public, rows, **about)
    return statement(response_plan(noise, at, confidence), list(released), list(public), rows, **about)


def response_statement(
    release: Published,
    at: Level,
    confidence: Fraction,
    public: Sequence[str],
    digest: Digest | None,
    together: Level | None,
) -> dict[str, Any]:
    """The statement of a response, as of any release, and what all responses of its release cost together.

    Args:
        release: the version that was answered.
        at: the level of the answer.
        confidence: of the error bars.
        public: the columns that stand in the table without noise.
        digest: of the table.
        together: what all answers of the release cost.
    """
    said = promise_statement(
        release.noise,
        at,
        release.columns,
        public,
        release.rows,
        rows_from=release.rows_from,
        confidence=confidence,
        digest=digest,
    )
    return said | answered_facts(release.name, release.version, release.levels, together)


def with_bars(table: Any, release: Published, at: Level, confidence: Fraction) -> Any:
    """The table with its error bars at this confidence; a frame of an engine as it is."""
    if engine_door(table) is not None:
        return table
    adapter = adapter_of(table)
    known = {name for name in adapter.names(table) if name not in (*release.columns, *release.public)}
    bars, _ = error_bars(release.noise, at, release.columns, release.rows, release.public, confidence)
    return adapter.with_columns(table, {name: bar for name, bar in bars.items() if name in known}, {})


def answer_publication(
    table: Any, release: Published, at: Level, confidence: Fraction, together: Level | None
) -> Publication:
    """An answer as it is published: the table with its error bars, and what is said of it."""
    shown = with_bars(table, release, at, confidence)
    public = [name for name in published_names(shown) if name in release.public]

    def said(digest: Mapping[str, str] | None) -> dict[str, Any]:
        return response_statement(release, at, confidence, public, digest, together)

    return Publication(shown, said)
