"""Check statements of each kind, with or without the table's file; a new kind is one row in `STATEMENT_READERS`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import wrong_kind
from utmost.errors import Unsupported
from utmost.publish.promises.statement import check_statement, check_table
from utmost.publish.promises.statement_kinds import (
    ANSWERS_KIND,
    DETAILED_KIND,
    MEASURES_KIND,
    STATEMENT_KIND,
    SUMS_TABLE_KIND,
    WITHHELD_KIND,
)
from utmost.publish.releases.release_facts import ReleaseFacts
from utmost.publish.statements.stated_words import (
    detailed_in_words,
    measures_in_words,
    sums_table_in_words,
    table_in_words,
    withheld_in_words,
)
from utmost.publish.statements.withheld_check import check_withheld
from utmost.publish.statements.workload_files import check_measures_table, check_sums_table
from utmost.tables.files import files


@dataclass(frozen=True, slots=True)
class StatementReader:
    """Checks one kind of statement, and puts it into words."""

    words: Callable[[Mapping[str, Any]], ReleaseFacts]  # rebuilds the statement, compares each field, returns words
    check_table: Callable[[Mapping[str, Any], Any], Any] | None = None  # compares a table, after its digest

    def check(self, statement: Mapping[str, Any], file: Path) -> Any:
        """Compare the file of a table with its checked statement; the digest was compared before."""
        return None if self.check_table is None else self.check_table(statement, files.read(file))


def _check_answers(statement: Mapping[str, Any], table: Any) -> None:
    """Check a table against a checked statement of answers, if the statement names a column of answers."""
    if "column" in statement:
        check_table([statement["column"]], statement, table, {}, statement["public"], digested=False)


def _answers_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    # Only answers import the modules of mechanisms.
    from utmost.interfaces.documents.answers_statement import answers_in_words

    return answers_in_words(statement)


STATEMENT_READERS = {
    STATEMENT_KIND: StatementReader(table_in_words, partial(check_statement, digested=False)),
    SUMS_TABLE_KIND: StatementReader(sums_table_in_words, check_sums_table),
    MEASURES_KIND: StatementReader(measures_in_words, check_measures_table),
    DETAILED_KIND: StatementReader(detailed_in_words),
    WITHHELD_KIND: StatementReader(withheld_in_words, check_withheld),
    ANSWERS_KIND: StatementReader(_answers_in_words, _check_answers),
}
"""Readers by kind. A clean table has no reader: it follows from its release, see `check_clean`."""


def stated_release(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Check the statement of any release, and return it in words.

    Args:
        statement: Statement of an answer, of answers of `utmost respond`, or of a withheld table; or a complete release
            by a plan.

    Raises:
        BadTable: if the statement is inconsistent.
        Unsupported: if the statement is of something else, or if its format is unknown.
        WrongKind: if ``statement`` is not a mapping.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost import release
    >>> answer = release({"n": [7, 9]}, Promise(columns="n", unit=Unit(1, 2)), epsilon="1/2")
    >>> stated = stated_release(answer.statement)
    >>> stated.unit
    'one individual, who changes at most 2 released cells, each by at most 1'
    >>> stated.noises[0].distribution, stated.noises[0].bars
    ("Geometric(epsilon='1/4', sensitivity=1)", ((Fraction(1, 2), 3), (Fraction(19, 20), 12), (Fraction(99, 100), 18)))
    """
    if not isinstance(statement, Mapping):
        raise wrong_kind("statement", "a statement, as a mapping", statement)
    kind = statement.get("kind")
    if not isinstance(kind, str) or kind not in STATEMENT_READERS:
        known = ", ".join(name.removeprefix("utmost ") for name in STATEMENT_READERS)
        raise Unsupported(
            f"a statement must have one of these kinds: {known}",
            came=repr(kind[:60]) if isinstance(kind, str) else "a document without a kind",
            remedy="Check the table with utmost verify TABLE --release RELEASE."
            if kind == "utmost clean table"
            else None,
        )
    return STATEMENT_READERS[kind].words(statement)
