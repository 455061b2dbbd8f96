"""Statements in words of results without tables of noisy cells: named keys, and answers from a list.

They have no margins of error: a named key is a choice, and an answer is one of a list.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.core.exact.written_levels import factor_text, level_name
from utmost.errors import BadTable
from utmost.publish.promises import codec
from utmost.publish.promises.partition_selection import KEYS_FORM, SelectedKeys, key_columns, keys_held, stated_keys
from utmost.publish.promises.statement import (
    ON_TRUST_OF_DRAWS,
    check_table,
)
from utmost.publish.releases.release_facts import ReleaseFacts
from utmost.publish.statements.table_words import (
    LONE_KEY,
)
from utmost.tables.axes.domain import Domain
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json
from utmost.tables.frames.any_table import adapter_of


def keys_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """The statement in words of keys that were named at (epsilon, delta), after its check."""
    named, column = KEYS_FORM.checked(statement)
    at, delta, each = named.level, named.delta, named.per_individual
    keys, shares = named.keys, named.shares if isinstance(named, SelectedKeys) else None
    counted = (
        "; its noisy count is published with it, and is always above "
        f"{named.threshold}, so that rare keys look more frequent than they are"
        if isinstance(named, SelectedKeys)
        else ""
    )
    part = each if shares is None else shares
    line = (
        f"Adding or removing any one individual multiplies or divides the chance of any list of keys by at most "
        f"{factor_text(at)}, except with a chance of {delta} ({level_name(at)}, delta = {delta})."
    )
    return ReleaseFacts(
        statement=statement,
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


def check_keys_file(statement: Mapping[str, Any], file: Path, spelled: Path) -> None:
    """Check that a file has the keys of a checked statement; ``spelled`` is the file with its text format."""
    named, column = stated_keys(statement)
    keys = named.keys
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
        raise BadTable("the file must have the keys of the statement", came="other keys", where=str(file))


def check_answered(statement: Mapping[str, Any], table: Any) -> None:
    """Check that a table has the columns and the number of rows of a checked statement of answers."""
    if "column" in statement:
        check_table([statement["column"]], statement, table, {}, statement["public"], digested=False)
