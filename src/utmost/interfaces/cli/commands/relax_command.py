"""`utmost relax`: another response of a release in a ledger, at a larger level, from the table that was published."""

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import BadTable
from utmost.interfaces.cli.ledger_answers import Question, show_spending
from utmost.interfaces.cli.ledger_place import Place
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.publish.statements.counted_files import measured_table, read_table


def relax(
    table: file_options.TableFile,
    *,
    ledger: Place,
    question: Question,
    spelling: table_options.NumberSpelling,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Publish a table of a ledger again with less noise. Both answers together cost the larger epsilon.

    utmost relax table.csv --ledger releases.db --name admissions --epsilon 1 --out sharper.csv

    TABLE is the table that was published; the ledger refuses any other.

    More: docs/howto/keep-a-ledger.md
    """
    at, table = question.at, spelling.of(table)  # a level that is none is refused before all else
    signer = question.checked(table)
    with ledger.opened() as opened:
        with progress_bar(f"Checking {table.name}"):
            planned = question.planned(opened)
            question.check_kind(planned=planned)
            columns = [release.columns[0] for release in opened.releases if release.name == question.name]
            try:
                brought = measured_table(table) if planned else read_table(table, columns[-1] if columns else None)
            except BadTable as error:
                remedy = "Bring the table that was published."
                raise BadTable(error.required, came=error.came, where=error.where, remedy=remedy) from None
        if dry_run:
            return show_spending(question, opened.rehearse(question.name, epsilon=at, version=question.version))
        with options.protected(yes), progress_bar("Relaxing") as progress:
            relaxed = opened.relax(question.name, brought, epsilon=at, version=question.version, progress=progress)
        question.give(relaxed, signer)
