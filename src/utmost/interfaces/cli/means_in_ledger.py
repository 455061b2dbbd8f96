"""Publish, relax and print tables of several amounts in a ledger."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import UtmostError
from utmost.interfaces.cli.ledger_answers import IN_LEDGER, Question, named_command, show_after
from utmost.interfaces.cli.options.release_options import ReleaseLedgerOptions
from utmost.interfaces.cli.screens.workload_screens import give_measures, measures_margins
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.means_names import release_name
from utmost.publish.ledger.spending import Budget
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.tables.files.signatures import Signer


def publish_means_in_ledger(
    table: Path,
    tables: Mapping[str, CountedTable],
    memory: ReleaseLedgerOptions,
    question: Question,
    *,
    dry_run: bool,
    counting: Sequence[Any],
) -> None:
    """Publish several amounts as one table, or rehearse it; the arguments are those of `publish_in_ledger`."""
    request = memory.request
    signer = question.checked(None)
    with memory.place.opened() as opened, named_command(opened, table, memory, question, counting):
        first = None if request is None else release_name(request, next(iter(tables)))
        question.check_repeats(opened, None, question.at, first)
        repeated = question.is_answered(opened, question.at)
        sources = {
            release_name(question.name, measure): (counted, Promise.of_counted(counted))
            for measure, counted in tables.items()
        }
        if memory.new_values and not repeated and not dry_run:
            question.check_new_values(opened, sources, refuse=True)
        call = opened.rehearse_means if dry_run else opened.publish_means
        with progress_bar("Checking" if dry_run else "Publishing"):
            made = call(
                question.name,
                tables,
                epsilon=question.at,
                dataset=memory.dataset,
                version=question.version,
                request=request,
                independent=memory.independent,
            )
        if isinstance(made, Budget):
            if not repeated:
                question.check_new_values(opened, sources, refuse=memory.new_values)
            return _show_rehearsal(question, tables, made, repeated=repeated)
        if not repeated:
            question.warn_of_equal_values(opened)
        give_means(question, made, signer, repeated=repeated, headline=question.headline(opened, repeated=repeated))


def relax_means_in_ledger(
    ledger: Ledger, tables: Mapping[str, CountedTable], question: Question, signer: Signer | None, *, dry_run: bool
) -> None:
    """Relax several amounts that were published as one table, or rehearse it."""
    repeated = question.is_answered(ledger, question.at)
    if dry_run:
        after = ledger.rehearse_means(question.name, tables, epsilon=question.at, relax=True, version=question.version)
        return _show_rehearsal(question, tables, after, repeated=repeated)
    with progress_bar("Relaxing"):
        measures = ledger.relax_means(question.name, tables, epsilon=question.at, version=question.version)
    headline = question.headline(ledger, repeated=repeated)
    give_means(question, measures, signer, repeated=repeated, headline=headline)


def give_means(
    question: Question,
    measures: MeasuresTable,
    signer: Signer | None,
    *,
    repeated: bool | None = None,
    headline: str = "Answered.",
) -> None:
    """Write or print a table of several amounts and its statement; errors say how to repeat the answer."""
    try:
        shown = measures.with_confidence(question.answer.confidence)
        give_measures(shown, question.answer, signer, again=True, headline=headline, repeated=repeated)
    except (OSError, UtmostError) as error:
        error.add_note(IN_LEDGER)
        raise


def _show_rehearsal(question: Question, tables: Mapping[str, CountedTable], after: Budget, *, repeated: bool) -> None:
    """Print what a call would spend and how accurate its answer would be; draw and write nothing."""
    measures = MeasuresTable.without_data(tables, question.at, question.answer.confidence)
    margins = measures_margins(measures, question.answer.confidence)
    bars = {"column_error_bars": measures.column_bars()}
    show_after(question, after, {"margins": margins}, bars, repeated=repeated)
