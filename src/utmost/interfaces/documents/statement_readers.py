"""The readers of each kind of statement, in words and beside its file: a new kind is one row."""

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
    """The reader of a kind of statement.

    Attributes:
        words: makes the statement again from what it promises, compares each field, and says it in words.
        check_table: compares a table with the checked statement, beyond its digest; None where the digest says all.
    """

    words: Callable[[Mapping[str, Any]], ReleaseFacts]
    check_table: Callable[[Mapping[str, Any], Any], Any] | None = None

    def check(self, statement: Mapping[str, Any], file: Path) -> Any:
        """Compare a table's file with its checked statement, beyond the digest; give what that finds out."""
        return None if self.check_table is None else self.check_table(statement, files.read(file))


def _check_answers(statement: Mapping[str, Any], table: Any) -> None:
    """Check that a table has the columns and the rows of a checked statement of answers, where it says any."""
    if "column" in statement:
        check_table([statement["column"]], statement, table, {}, statement["public"], digested=False)


def _answers_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Answers drawn from a mechanism: only they need what makes mechanisms."""
    from utmost.interfaces.documents.answer_words import answers_in_words

    return answers_in_words(statement)


READERS = {
    STATEMENT_KIND: StatementReader(table_in_words, partial(check_statement, digested=False)),
    SUMS_TABLE_KIND: StatementReader(sums_table_in_words, check_sums_table),
    MEASURES_KIND: StatementReader(measures_in_words, check_measures_table),
    DETAILED_KIND: StatementReader(detailed_in_words),
    WITHHELD_KIND: StatementReader(withheld_in_words, check_withheld),
    ANSWERS_KIND: StatementReader(_answers_in_words, _check_answers),
}
"""The reader of each kind, but for clean tables, which follow from a release alone: see `check_clean`."""


def stated_release(said: Mapping[str, Any]) -> ReleaseFacts:
    """Check a statement of any release, and say what it says in words.

    Args:
        said: the statement of an answer, answers of `utmost respond`, a withheld table, or a whole workload release.

    Raises:
        BadTable: for a statement that does not follow from itself.
        Unsupported: for the statement of something else, and a format that is not known.
        WrongKind: for what is no mapping.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost import release
    >>> answer = release({"n": [7, 9]}, Promise(columns="n", unit=Unit(1, 2)), epsilon="1/2")
    >>> stated = stated_release(answer.statement)
    >>> stated.unit
    'one individual, who changes at most 2 released cells, each by at most 1'
    >>> stated.noises[0].law, stated.noises[0].bars
    ("Geometric(epsilon='1/4', sensitivity=1)", ((Fraction(1, 2), 3), (Fraction(19, 20), 12), (Fraction(99, 100), 18)))
    """
    if not isinstance(said, Mapping):
        raise wrong_kind("said", "a statement, as a mapping", said)
    kind = said.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        known = ", ".join(name.removeprefix("utmost ") for name in READERS)
        raise Unsupported(
            f"a statement must be of one of these kinds: {known}",
            came=repr(kind[:60]) if isinstance(kind, str) else "a document without a kind",
        )
    return READERS[kind].words(said)
