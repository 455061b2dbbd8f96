"""`utmost relax`: another response of a release in a ledger, at a larger level, from the table that was published."""

from pathlib import Path
from typing import Any

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.ledger_answers import Question, show_spending
from utmost.interfaces.cli.ledger_place import Place
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.people_options import Persons
from utmost.interfaces.cli.planned_release import planned_table
from utmost.interfaces.cli.release_ways import check_counted_before, counted_table
from utmost.publish.ledger.state import Published
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.statements.counted_files import read_table

FIRST = ("--ledger", "--name", "--epsilon", "--out", "--dry-run")


def relax(
    table: file_options.TableFile,
    *,
    ledger: Place,
    question: Question,
    people: Persons,
    spelling: table_options.NumberSpelling,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Publish a table of a ledger again with less noise. Both answers together cost the larger epsilon.

    utmost relax table.csv --ledger releases.db --name admissions --epsilon 1 --out sharper.csv

    TABLE is the table that was published; the ledger refuses any other. A file of persons is counted again: repeat
    --each-row, --by, --domain and --mean.

    More: docs/howto/keep-a-ledger.md
    """
    at, table = question.at, spelling.of(table, is_counted=people.are_events)  # a level that is none is refused first
    signer = question.checked(table)
    with ledger.opened() as opened:
        kept = question.release_in(opened)
        question.check_kind(None if kept is None else kept.noise)
        with progress_bar(f"Checking {table.name}"):
            brought = _brought(table, kept, people, spelling)
        if dry_run:
            return show_spending(question, opened.rehearse(question.name, epsilon=at, version=question.version))
        with options.protected(yes), progress_bar("Relaxing") as progress:
            relaxed = opened.relax(question.name, brought, epsilon=at, version=question.version, progress=progress)
        question.give(relaxed, signer)


def _brought(table: Path, kept: Published | None, people: Persons, spelling: table_options.NumberSpelling) -> Any:
    """The table that is relaxed: events are counted again, over the domain of the plan where no other is named."""
    noise, column = (None, None) if kept is None else (kept.noise, kept.columns[0])
    if people.are_events:
        check_counted_before(people)
    if isinstance(noise, SumNoise) and people.domain is None:
        options.refuse("needs --domain", Persons(by=people.by, mean=people.mean))
        return planned_table(table, people.people, spelling.cells, noise.strategy)
    neighbours = people.neighbours or ("add-remove" if kept is None else kept.promise.unit.neighbours)
    if people.are_events:
        if people.mean is not None and len(people.mean) > 1:
            raise OutOfRange("a ledger keeps the mean of one column in a release", came="several", where="--mean")
        counted = counted_table(table, people, neighbours, spelling.cells)
        return counted if isinstance(noise, SumNoise) else counted.in_steps(column)
    options.refuse("needs --person or --each-row", people)
    try:
        return read_table(table, column)
    except BadTable as error:
        remedy = "Bring the table that was published."
        raise BadTable(error.required, came=error.came, where=error.where, remedy=remedy) from None
