"""`utmost relax`: another response of a release in a ledger, at a larger level, from the table that was published."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.ledger_answers import Question, show_spending
from utmost.interfaces.cli.ledger_place import Place, secret_file_of
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.people_options import Persons
from utmost.interfaces.cli.planned_release import planned_table
from utmost.interfaces.cli.release_ways import check_counted_before, counted_table
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.state import Published
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.statements.counted_files import read_table
from utmost.tables.axes.domain import Domain
from utmost.tables.frames.any_table import adapter_of

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
            values = _table_to_relax(table, kept, people, spelling, secret_file_of(ledger.key_file))
        if dry_run:
            after = opened.rehearse(question.name, epsilon=at, version=question.version)
            return show_spending(question, after, None if kept is None else kept.noise)
        with options.protected(yes), progress_bar("Relaxing") as progress:
            relaxed = opened.relax(question.name, values, epsilon=at, version=question.version, progress=progress)
        question.give(relaxed, signer)


def _table_to_relax(
    table: Path, kept: Published | None, people: Persons, spelling: table_options.NumberSpelling, key: Path | None
) -> Any:
    """The table that is relaxed: events are counted again, over the domain of the plan where no other is named."""
    noise, column = (None, None) if kept is None else (kept.noise, kept.columns[0])
    if people.are_events:
        check_counted_before(people, key)
    if isinstance(noise, SumNoise) and people.domain is None:
        options.refuse("needs --domain", Persons(by=people.by, mean=people.mean))
        if not people.are_events and table.suffix.lower() != ".json":
            raise _counted_otherwise(_options(noise.plan.domain, noise.unit), "neither --each-row nor --domain")
        counted = planned_table(table, replace(people.people, count_key=key), spelling.cells, noise.plan)
        _check_counted_alike(kept, counted)
        return counted
    neighbours = people.neighbours or ("add-remove" if kept is None else kept.promise.unit.neighbours)
    if people.are_events:
        if people.mean is not None and len(people.mean) > 1:
            raise OutOfRange("a ledger keeps the mean of one column in a release", came="several", where="--mean")
        if isinstance(noise, SumNoise) and people.mean is None:
            published = _options(noise.plan.domain, noise.unit)
            if published.mean:  # before options that go with a mean, such as --leave-out amounts, are refused
                words = options.typed_again(Persons(by=people.by))
                raise _counted_otherwise(published, f"{words} and no --mean" if words else "no --mean")
        of_people = counted_table(table, people, neighbours, spelling.cells, key)
        assert isinstance(of_people, CountedTable), "events are counted, with one mean at most"
        _check_counted_alike(kept, of_people)
        return of_people if isinstance(noise, SumNoise) else of_people.in_steps(column)
    options.refuse("needs --person or --each-row", people)
    try:
        read = read_table(table, column)
    except BadTable as error:
        remedy = "Bring the table that was published."
        raise BadTable(error.required, came=error.came, where=error.where, remedy=remedy) from None
    if kept is not None and kept.promise.public and column not in adapter_of(read).names(read):
        came = f"a file without the column {column!r}, and no --each-row"
        raise _counted_otherwise(Persons(by=[",".join(kept.promise.public)]), came)
    return read


def _check_counted_alike(kept: Published | None, counted: CountedTable) -> None:
    """Check that the columns and clips are those of the release, before its ledger says that the table is another."""
    if kept is None:
        return
    came = _options(counted.domain, counted.unit)
    if isinstance(kept.noise, SumNoise):
        published = _options(kept.noise.plan.domain, kept.noise.unit)
    else:
        published = Persons(by=[",".join(kept.promise.public)])
    if came != published:
        raise _counted_otherwise(published, options.typed_again(came))


def _options(domain: Domain, unit: Unit) -> Persons:
    """The counting options that a domain and a unit tell: the columns, and the clips of a mean."""
    amount, names = unit.amount, list(domain.columns)
    if amount is None or amount.between is None:
        return Persons(by=[",".join(names)])
    names.remove(amount.name)
    ends = [unit.text(end) for end in amount.ends]
    clips = ",".join(ends if amount.step == 1 else [*ends, unit.text(1)])
    return Persons(by=[",".join(names)], mean=[f"{amount.name}={clips}"])


def _counted_otherwise(published: Persons, came: str) -> OutOfRange:
    required = f"the file must be counted as it was published, with {options.typed_again(published)}"
    return OutOfRange(required, came=came, remedy="Repeat --each-row, --domain and these options.")
