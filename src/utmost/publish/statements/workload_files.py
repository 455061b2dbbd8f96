"""Workload releases as JSON files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.errors import BadTable, OutOfRange, UtmostError, WrongKind
from utmost.publish.promises import codec
from utmost.publish.promises.codec import check_header
from utmost.publish.promises.statement import digest_of, does_not_follow, is_blank
from utmost.publish.promises.statement_kinds import MEASURES_KIND, WORKLOAD_TABLE_KIND
from utmost.publish.promises.workload_statements import workload_table_statement
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.workloads.workload import narrowed
from utmost.tables.files import table_formats
from utmost.tables.files.json_files import read_json

ON_TRUST_OF_SUMS = (
    "one individual changes no more than stated: utmost enforces it where it counts the people",
    "the labels of the domain depend on nobody",
    "utmost drew the noise as stated, and these are the sums that it drew",
    "parts of one partition share nobody",
)
"""What no release by a plan can show."""


def kind_of_document(path: Path) -> str | None:
    """The kind that a file named as JSON says to be of; None for another file, and a document of no kind."""
    if path.suffix.lower() != ".json":
        return None
    document = read_json(path, "a release must")
    kind = document.get("kind") if isinstance(document, Mapping) else None
    return kind if isinstance(kind, str) else None


def check_workload_table(statement: Mapping[str, Any], table: Any) -> NoisySums:
    """Check that a table is what the release beside it makes it, cell for cell.

    Args:
        statement: Statement that `NoisySums.save` wrote beside the table.
        table: Table as it was read from its file.
    """
    release = stated_workload_table(statement)
    family = _family(statement, release)
    table_of_it = release.with_means(family) if "means" in statement else release[family]
    _check_columns(table, table_formats.as_columns(table_of_it))
    return release


def _check_columns(table: Any, expected: Mapping[str, Any]) -> None:
    """Check that a table has just these columns and cells."""
    columns = table_formats.as_columns(table)
    if list(columns) != list(expected):
        raise BadTable("the table must have the columns of its family", came="others", where="released")
    for name, column in expected.items():
        if list(map(_as_text, columns[name])) != list(map(_as_text, column)):
            raise BadTable("the table must be as its release makes it", came="another cell", where=f"column {name!r}")


def check_measures_table(statement: Mapping[str, Any], table: Any) -> MeasuresTable:
    """Check that a table of several amounts is what the releases in its statement make it, cell for cell."""
    measures = stated_measures(statement)
    _check_columns(table, measures.table)
    return measures


def stated_measures(statement: Mapping[str, Any]) -> MeasuresTable:
    """The releases that the statement of a table of several amounts holds, once each field is checked."""
    check_header(statement, MEASURES_KIND, "a statement of a table of measures")
    facts = statement.get("releases")
    if not isinstance(facts, Mapping) or not facts:
        raise BadTable("a table of measures must have its releases beside it", came="none", where="releases")
    try:
        measures = MeasuresTable({str(name): NoisySums.of_facts(one) for name, one in facts.items()})
    except (OutOfRange, WrongKind) as error:
        raise BadTable("the releases must make one table", came=str(error), where="releases") from None
    written = measures.said(digest_of(statement)) | {"utmost": statement.get("utmost"), "releases": facts}
    for name in codec.differing(statement, written):
        raise does_not_follow(name)
    return measures


def stated_workload_table(statement: Mapping[str, Any]) -> NoisySums:
    """The release that the statement of one of its tables holds, once each field of both is checked."""
    check_header(statement, WORKLOAD_TABLE_KIND, "a statement of a table of sums")
    facts = statement.get("release")
    if not isinstance(facts, Mapping):
        raise BadTable("a table of sums must have its release beside it", came="none", where="release")
    release = NoisySums.of_facts(facts)
    with_means = "means" in statement
    if with_means and not release.unit.is_shared:
        raise BadTable("means stand beside sums and counts that were noised together", came="others", where="means")
    family, digest = _family(statement, release), digest_of(statement)
    written = workload_table_statement(release, family, digest, with_means=with_means)
    for name in codec.differing(statement, written | {"utmost": facts.get("utmost"), "release": facts}):
        raise does_not_follow(name)
    return release


def _family(statement: Mapping[str, Any], release: NoisySums) -> Any:
    """The name of the table's family, or its levels, as a release takes them."""
    family = statement.get("family")
    if isinstance(family, list):
        family = [tuple(name) if isinstance(name, list) else name for name in family]
    try:
        _, narrow = narrowed(release.domain, family)
        if (amounts := release.plan.amount_pair) is not None:
            amounts.check_narrow(narrow)
    except (UtmostError, TypeError) as error:
        raise BadTable("a table of sums must name its family", came=type(error).__name__, where="family") from None
    return family


def _as_text(cell: Any) -> str:
    """A cell however its file spells it: numbers by their value, blanks alike."""
    if is_blank(cell):
        return ""
    try:
        return repr(float(cell))
    except (TypeError, ValueError):
        return str(cell)
