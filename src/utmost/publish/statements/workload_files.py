"""Check that a table follows from the release by a plan in its statement, and read such releases from JSON files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.errors import BadTable
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import CHOSEN_BEFOREHAND, is_blank
from utmost.publish.promises.statement_kinds import is_whole
from utmost.publish.releases.measures_table import MEASURES_FORM, MeasuresTable
from utmost.publish.releases.noisy_sums import SUMS_TABLE_FORM, NoisySums
from utmost.publish.statements.table_words import counted_on_trust
from utmost.tables.files import table_formats
from utmost.tables.files.json_files import read_json


def trust_of_sums(promise: Promise) -> tuple[str, ...]:
    """Return the assumptions that no release by a plan can prove."""
    part = promise.part
    declared = "one individual changes no more than stated: ask the publisher who counted the people"
    return (
        *(counted_on_trust(promise) if promise.proved else (declared,)),
        "the lists of possible values would be the same without any one individual",
        CHOSEN_BEFOREHAND,
        "utmost drew the noise as stated, and the published sums come from this draw",
        *(() if part is None else (f"no individual is in two parts of {part[0]}",)),
    )


def whole_document(path: Path) -> Mapping[str, Any] | None:
    """Read the release in a JSON file (by a plan, or in two stages); None for any other file."""
    if path.suffix.lower() != ".json":
        return None
    document = read_json(path, "a release must")
    return document if is_whole(document) else None


def check_sums_table(statement: Mapping[str, Any], table: Any) -> NoisySums:
    """Check that a table follows from the release in its statement, cell by cell.

    Args:
        statement: Statement in the JSON file of the table, as `NoisySums.save` writes it.
        table: Table as it was read from its file.
    """
    made = SUMS_TABLE_FORM.checked(statement)
    _check_columns(table, table_formats.as_columns(made.table))
    return made.release


def _check_columns(table: Any, expected: Mapping[str, Any]) -> None:
    """Check that a table has exactly these columns and cells."""
    columns = table_formats.as_columns(table)
    if list(columns) != list(expected):
        raise BadTable(
            "the table must have the columns that its statement names", came="other columns", where="released"
        )
    for name, column in expected.items():
        if list(map(_as_text, columns[name])) != list(map(_as_text, column)):
            raise BadTable("the table must follow from its release", came="another cell", where=f"column {name!r}")


def check_measures_table(statement: Mapping[str, Any], table: Any) -> MeasuresTable:
    """Check that a table of several amounts follows from the releases in its statement, cell by cell."""
    measures = MEASURES_FORM.checked(statement)
    _check_columns(table, measures.table)
    return measures


def _as_text(cell: Any) -> str:
    """Write a cell as text for comparisons: equal numbers have equal texts, and all blanks are equal."""
    if is_blank(cell):
        return ""
    try:
        return repr(float(cell))
    except (TypeError, ValueError):
        return str(cell)
