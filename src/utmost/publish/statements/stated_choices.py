"""Statements in words of results that are no table of noisy cells: named keys, answers, and readings.

Each function checks a statement, and gives `Facts` of it. None of them has error bars: which
keys are named is a choice, an answer is one of a list, and a reading is whatever a function made of noisy values.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import natural
from utmost.core.exact.written_levels import factor_text, level_from_facts, level_name, level_words
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable
from utmost.publish.promises import codec
from utmost.publish.promises.key_distribution import naming_law, read_delta
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.partition_selection import key_columns, keys_held, keys_statement, shares_of_one
from utmost.publish.promises.statement import (
    ON_TRUST_OF_DRAWS,
    check_follows,
    check_table,
    digest_of,
    does_not_follow,
    names_of,
    promise_that_holds,
    stated_field,
    stated_rows,
)
from utmost.publish.promises.statement_kinds import KEYS_KIND, PROCESSED_KIND
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.releases.processed_release import NO_BARS, processed_statement
from utmost.publish.releases.release_facts import Facts
from utmost.publish.statements.table_words import (
    DECLARED_ROWS,
    LONE_KEY,
    NOTHING_UNPROTECTED,
    neighbours_in_words,
)
from utmost.tables.axes.domain import Domain
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json
from utmost.tables.frames.any_table import adapter_of


def keys_in_words(statement: Mapping[str, Any]) -> Facts:
    """Keys that were named at (epsilon, delta).

    Raises:
        BadTable: naming the first field that does not follow from the others.
    """
    at, delta, each = check_keys(statement)
    shares = statement.get("shares_of_one_individual")
    keys, column, threshold = statement["keys"], statement["column"], statement.get("threshold")
    counted = (
        "; its noisy count is published with it, and is always above "
        f"{threshold}, so that rare keys look more frequent than they are"
        if "noisy" in statement
        else ""
    )
    part = each if shares is None else shares
    line = (
        f"Adding or removing any one individual changes the chance of any list of keys by a factor of at most "
        f"{factor_text(at)}, except with a chance of {delta} ({level_name(at)}, delta = {delta})."
    )
    return Facts(
        statement=dict(statement) | {"guarantee": statement["statement"]},
        level=at,
        own_level=at,
        line=line,
        delta=delta,
        domain=f"Data sets of individuals who hold keys of {column}, which nobody listed beforehand.",
        released=f"{column} ({len(keys)} named)",
        unit=f"one individual, who holds at most {each} key{'s' * (each > 1)}",
        neighbours=f"the same data with one individual more or one fewer, who holds at most {keys_held(each, shares)}",
        mechanism=f"each key is named when its {'count reaches' if shares is None else 'shares reach'} a random "
        f"threshold, drawn for each key by itself, at {'the whole' if part == 1 else f'1/{part}'} of epsilon "
        f"{'and of delta' if shares is None else 'for each share'}{counted}",
        why="at every count, the chance of naming a key is as large as epsilon and delta allow"
        if shares is None
        else "at every number of shares, the chance of naming a key is as large as the part of epsilon and delta for "
        "each further share allows",
        public="nothing: the list of keys is what is released",
        unprotected=LONE_KEY.format(delta=delta),
        before=f"each individual's keys were bounded to {each}, "
        + ("each counted once" if shares is None else f"with at most {shares} shares in all"),
        composition="Epsilon and delta add up with those of other releases of the same individuals, such as counts of "
        "these keys.",
        on_trust=(
            "one individual holds no more keys than stated, and "
            + ("each was counted once" if shares is None else "gives no more shares to them in all"),
            ON_TRUST_OF_DRAWS,
        ),
    )


def check_keys(statement: Mapping[str, Any]) -> tuple[Level, Fraction, int]:
    """Check that a statement of named keys follows from itself: epsilon, delta, and how many keys one individual holds.

    Raises:
        BadTable: naming the first field that does not follow from the others.
    """
    codec.check_header(statement, KEYS_KIND, "a statement of keys")
    at, column = level_from_facts(statement), stated_field(statement, "column", str)
    keys = _stated_keys(statement)
    with promise_that_holds():
        delta = read_delta(stated_field(statement, "delta", str))
        each = natural(stated_field(statement, "keys_of_one_individual", int), "keys_of_one_individual", least=1)
        shares = None
        if "shares_of_one_individual" in statement:
            shares = shares_of_one(stated_field(statement, "shares_of_one_individual", int), each)
        law, counted = naming_law(at, delta, each, shares), dict[str, Any]()
        if "noisy" in statement or "threshold" in statement:
            counted = {"threshold": law.threshold, "noisy": _stated_counts(statement, len(keys), law.threshold)}
        expected = keys_statement(at, delta, each, keys, column, digest_of(statement), shares, **counted)
    check_follows(statement, expected)
    return at, delta, each


def _stated_keys(statement: Mapping[str, Any]) -> list[Any]:
    """The keys of a statement, those of several parts as tuples."""
    keys = [tuple(key) if isinstance(key, list) else key for key in stated_field(statement, "keys", list)]
    parts = [part for key in keys for part in (key if isinstance(key, tuple) else (key,))]
    if not all(type(part) in (str, int) for part in parts) or () in keys or len(set(keys)) != len(keys):
        raise does_not_follow("keys")
    return keys


def _stated_counts(statement: Mapping[str, Any], keys: int, threshold: int) -> list[int]:
    """The noisy counts of a statement: one for each key, above the threshold."""
    noisy: list[int] = stated_field(statement, "noisy", list)
    if len(noisy) != keys or not all(type(count) is int and count > threshold for count in noisy):
        raise does_not_follow("noisy")
    return noisy


def check_keys_file(statement: Mapping[str, Any], file: Path, spelled: Path) -> None:
    """Check that a file holds the keys of a checked statement: a table of them, or a domain in JSON.

    Args:
        statement: the statement.
        file: File as it was written.
        spelled: the file with the way in which its text is to be read.
    """
    keys, column = _stated_keys(statement), statement["column"]
    if file.suffix == ".json":
        document = read_json(file, "a domain must")
        with codec.fields("a domain", str(file)):
            same = Domain.of_facts(document).facts() == Domain.of_facts({**document, column: keys}).facts()
    else:
        table = files.read(spelled)
        adapter = adapter_of(table)
        expected = key_columns(keys, column) | ({"noisy": statement["noisy"]} if "noisy" in statement else {})
        shown = {name: [*map(str, adapter.column(table, name))] for name in adapter.names(table)}
        same = shown == {name: [*map(str, cells)] for name, cells in expected.items()}
    if not same:
        raise BadTable("the file must hold the keys that were stated", came="others", where=str(file))


def check_answered(statement: Mapping[str, Any], table: Any) -> None:
    """Check that a table has the columns and the rows of a checked statement of answers, where it says any.

    Raises:
        BadTable: where it has others.
    """
    if "column" in statement:
        check_reading({"released": [statement["column"]], **statement}, table)


def check_reading(statement: Mapping[str, Any], table: Any) -> None:
    """Check that a table has the columns and the rows of a checked statement of a reading.

    Raises:
        BadTable: where it has others.
    """
    check_table(statement["released"], statement, table, {}, statement["public"], digested=False)


def reading_in_words(statement: Mapping[str, Any]) -> Facts:
    """The result of a function of noisy values."""
    codec.check_header(statement, PROCESSED_KIND, "a statement of a reading")
    at = level_from_facts(statement)
    with promise_that_holds():
        unit = Unit(statement["sensitivity"], statement["cells"], statement["neighbours"])
        if not statement.get("released"):
            raise does_not_follow("released")
        parts = names_of(statement, "released"), names_of(statement, "public"), stated_rows(statement)
        expected = processed_statement(at, unit, *parts, digest_of(statement))
    remembered = LedgerFacts.of_statement(statement, at)
    if remembered is None or remembered.together is None:
        raise does_not_follow("name")
    check_follows(statement, expected | remembered.facts())
    total, answered = remembered.together, ", ".join(map(level_words, remembered.levels))
    cells = "1 value" if unit.cells == 1 else f"{unit.cells} values"
    public = ", ".join(parts[1])
    rows = DECLARED_ROWS
    return Facts(
        statement=statement,
        level=total,
        own_level=at,
        line=promise_line(at, unit.neighbours),
        domain=f"Whatever {parts[2]} published rows ({', '.join(parts[0])}) were computed from.",
        released=f"{', '.join(parts[0])} ({parts[2]} rows)",
        unit=f"one individual, who changes at most {cells}, {'each ' * (unit.cells > 1)}by at most {unit.sensitivity}, "
        "before the noise",
        neighbours=neighbours_in_words(unit),
        mechanism="noise that can be relaxed without loss was added to a query of the data, and a function of the "
        "noisy values alone was published",
        why="a function of what is private is as private",
        public=f"the columns {public}, and {rows}" if public else rows,
        unprotected=NOTHING_UNPROTECTED,
        before="a query was computed, of which one individual changes no more than stated",
        after=f"a function of the noisy values was published. Error bars: {NO_BARS}",
        composition=f"Answered at epsilon = {answered}: all these answers together cost the largest of these levels.",
        on_trust=(
            "one individual changes no more than stated before the noise",
            "the function saw no level and no true value",
        ),
    )
