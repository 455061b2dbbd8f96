"""What any kind of noise states, read back and computed again: a noise of one's own needs no reader of its own."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.written_levels import level_name, stated_level
from utmost.errors import Unsupported
from utmost.publish.promises.codec import check_header
from utmost.publish.promises.noise_kinds import noise_of_facts
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement_check import (
    ON_TRUST,
    ON_TRUST_OF_DRAWS,
    check_follows,
    check_table,
    does_not_follow,
    promise_that_holds,
    stated_field,
    table_stated,
)
from utmost.publish.promises.statement_kinds import PROMISED_KIND
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.releases.release_facts import MOST_BARS, Bars, Facts, StatedNoise
from utmost.publish.statements.stated_words import CONFIDENCES, in_ledger, released_rows, what_is_public


def stated_promise(statement: Mapping[str, Any]) -> tuple[Noise, Level, Fraction]:
    """The noise of a statement, its level and the confidence of its bars, once all of it was made again.

    Raises:
        BadTable: naming the first field that does not follow from the others.
        Unsupported: for a format that is not known, and a kind of noise that nobody has entered here.
    """
    check_header(statement, PROMISED_KIND, "a statement")
    promise = stated_field(statement, "promise", dict)
    with promise_that_holds(Unsupported):
        noise, at = noise_of_facts(promise), stated_level(statement)
        sure = read_confidence(stated_field(statement, "confidence_exactly", str))
        # Rows that are released have an origin of their own, which no word of a promise is.
        table = table_stated({**statement, "rows_from": "declared"} if noise.names_rows else statement)
        if noise.released(tuple(table.released)) != tuple(table.released):
            raise does_not_follow("released")
        expected = noise.statement(at, sure, table)
    check_follows(statement, expected, at)
    return noise, at, sure


def promised_in_words(statement: Mapping[str, Any]) -> Facts:
    """What a noise says of itself, in words."""
    noise, at, stated = stated_promise(statement)
    total, (adds, makes) = in_ledger(statement, at)
    sures = sorted({*CONFIDENCES, stated})
    bars = {sure: noise.named_bars(at, sure, MOST_BARS) for sure in sures}
    noises = tuple(
        StatedNoise(name, name, noise.drawn(at), level_name(at), _bars(bars, place))
        for place, (name, _) in enumerate(bars[stated])
    )
    released = ", ".join(statement["released"])
    if noise.names_rows:
        rows = f"{released} ({statement['rows']} named)" if statement["rows"] else released
    else:
        rows = released_rows(statement)
    line = promise_line(at, noise.unit.neighbours)
    if not noise.is_relaxed:
        adds, makes = "drawn once and for all; the level adds to those of every other release of the same people", ""
    public = {
        "public": "nothing: which rows there are is what is released",
        "unprotected": "none" if noise.delta is None else f"with a chance of at most {noise.delta} more is told",
    }
    return Facts(
        statement=statement,
        level=total,
        own_level=at,
        line=line if noise.delta is None else f"{line[:-1]}, but for a chance of {noise.delta}.",
        released=rows,
        unit=noise.whom,
        neighbours=f"data sets that differ by one individual under {noise.relation}",
        noises=noises,
        why=noise.theorem,
        **(public if noise.names_rows else what_is_public(statement)),
        after=makes or "none",
        composition=adds or "the level adds to those of every other release of the same individuals",
        on_trust=(f"whom it protects: {noise.whom}", ON_TRUST_OF_DRAWS) if noise.names_rows else ON_TRUST,
        delta=noise.delta,
        domain=f"Tables of {noise.subject}.",
        is_relaxed=noise.is_relaxed,
    )


def _bars(bars: Mapping[Fraction, tuple[tuple[str, int | float], ...]], place: int) -> Bars:
    return tuple((sure, named[place][1]) for sure, named in bars.items())


def check_promised(statement: Mapping[str, Any], table: Any) -> Noise:
    """Check that a table has the columns, rows and error bars of a statement that has been checked.

    Raises:
        BadTable: where it has others.
    """
    noise, at, sure = stated_promise(statement)
    bars = {name: bar for name, (_, bar) in noise.column_bars(at, statement["released"], sure).items()}
    check_table(statement, table, bars, statement["public"], digested=False)
    return noise
