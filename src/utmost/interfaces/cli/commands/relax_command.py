"""`utmost relax`: publish a table of a ledger again at a larger epsilon, from the same values."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, DataChanged, OutOfRange
from utmost.interfaces.cli.ledger_answers import Question, show_spending
from utmost.interfaces.cli.ledger_place import LedgerPlaceOptions
from utmost.interfaces.cli.means_in_ledger import relax_means_in_ledger
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.people_options import PersonOptions
from utmost.interfaces.cli.options.release_options import RecipeFile
from utmost.interfaces.cli.planned_release import planned_table
from utmost.interfaces.cli.release_ways import counted_table
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.means_names import releases_of_means
from utmost.publish.ledger.state import Published
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.releases.tables_before_draw import measures_before_draw, table_before_draw
from utmost.publish.statements.counted_files import read_table
from utmost.publish.workloads.planning.cells_plan import cells_plan
from utmost.tables.axes.domain import Domain
from utmost.tables.frames.any_table import adapter_of

FIRST = ("--ledger", "--name", "--epsilon", "--recipe", "--out", "--dry-run")
AS_IN = {"utmost release": ("--person", "--each-row", "--at-most", "--by", "--domain", "--mean", "--leave-out")}
IN_RECIPE = ("--neighbours", "--currency", "--format", "--sign", "--confidence")
RARE = ("--per-cell", "--in-total", "--data-version", "--yes")
ELSEWHERE = {
    **{
        name: f"Leave out {name}: the ledger has it from the release, all tables of which are relaxed together."
        for name in (
            "--want",
            "--plan",
            "--promise",
            "--columns",
            "--public",
            "--drop",
            "--sensitivity",
            "--cells",
            "--cost",
            "--numbers",
            "--dataset",
            "--individual",
            "--independent",
            "--until",
            "--once",
        )
    },
    "--request": "Leave out --request: the same call always gets the same answer.",
}


def relax(
    table: file_options.TableOrFolder,
    *,
    ledger: LedgerPlaceOptions,
    question: Question,
    people: PersonOptions,
    spelling: table_options.NumberSpelling,
    recipe: RecipeFile = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Publish a table of a ledger again with less noise. Both answers together cost the larger epsilon.

    utmost relax table.csv --ledger releases.db --name admissions --epsilon 1 --out sharper.csv

    TABLE is the table that was published; the ledger refuses any other. Persons are counted again: give the --recipe
    of the release, or repeat its counting options. Always give the larger --epsilon on the command line.

    More: docs/howto/keep-a-ledger.md
    """
    if recipe is not None and not question.level.is_given:
        raise OutOfRange(
            "the larger --epsilon must be on the command line: the recipe has the smaller epsilon of the release",
            came="none",
            remedy="Add, for example, --epsilon 2.",
        )
    at, table = question.at, spelling.of(table, is_counted=people.are_events)  # refuses an invalid level first
    file = None if people.are_events or table.is_dir() else table
    signer = question.checked(file)
    with ledger.opened() as opened:
        if not dry_run:
            question.check_repeats(opened, file, at)
        if people.are_events and people.mean is not None and len(people.mean) > 1:
            with options.refusing_weak_levels(yes):
                key = None if people.person is None else ledger.counting_key()
                tables = counted_table(table, people, spelling.cells, key)
                assert isinstance(tables, dict), "several means are counted"
                plans = [cells_plan(one.domain, one.unit) for one in tables.values()]
                table_options.check_fits(question.answer, measures_before_draw(plans))
                try:
                    return relax_means_in_ledger(opened, tables, question, signer, dry_run=dry_run)
                except DataChanged as error:
                    error.where = repr(question.name)
                    error.remedy = (
                        "The data or the counting options differ from those of the release. Repeat its counting "
                        "options. If the data changed, release them as a new version (--data-version), which adds its "
                        "epsilon."
                    )
                    raise
        stored = question.release_in(opened)
        amounts = releases_of_means(opened.releases, question.name, question.version)
        if stored is None and amounts:
            listed = ", ".join(f"--mean {name}" for name in amounts)
            remedy = "Repeat all counting options of the release, with every --mean; or give its --recipe."
            raise OutOfRange(
                f"this release must be counted again with {listed}", came="no counting options", remedy=remedy
            )
        question.check_kind(None if stored is None else stored.noise)
        with progress_bar(f"Checking {table.name}"):
            values = _table_to_relax(table, stored, people, spelling, ledger)
            if stored is not None:
                table_options.check_fits(question.answer, table_before_draw(values, stored.promise))
        with _named_counting(stored, people):
            repeated = question.is_answered(opened, at)
            if dry_run:
                after = opened.rehearse(question.name, epsilon=at, version=question.version, table=values)
                return show_spending(question, after, None if stored is None else stored.noise, None, repeated=repeated)
            with options.refusing_weak_levels(yes):
                relaxed = opened.relax(question.name, values, epsilon=at, version=question.version)
        headline = question.headline(opened, repeated=repeated)
        return question.give(relaxed, signer, repeated=repeated, headline=headline)


def _table_to_relax(
    table: Path,
    stored: Published | None,
    people: PersonOptions,
    spelling: table_options.NumberSpelling,
    ledger: LedgerPlaceOptions,
) -> Any:
    """Return the table to relax; count events again, by default over the domain of the plan."""
    noise, column = (None, None) if stored is None else (stored.noise, stored.columns[0])
    key = None if people.person is None else ledger.counting_key()
    if stored is not None and isinstance(noise, SumNoise) and people.domain is None:
        options.refuse("needs --domain", PersonOptions(by=people.by, mean=people.mean))
        if not people.are_events and table.suffix.lower() != ".json":
            raise _counted_otherwise(
                _published_options(stored, at_most=noise.unit.cells > 1), "neither --person nor --each-row"
            )
        counted = planned_table(table, people.people, spelling.cells, noise.plan, key)
        _check_counted_alike(stored, counted)
        return counted
    if people.are_events:
        if stored is not None and people.neighbours is None:
            people = replace(people, neighbours=stored.promise.unit.neighbours)
        if isinstance(noise, SumNoise) and people.mean is None:
            published = _options(noise.plan.domain, noise.unit)
            # Check this first, because `counted_table` would refuse options for means, such as --leave-out amounts.
            if published.mean:
                words = options.typed_again(PersonOptions(by=people.by))
                raise _counted_otherwise(published, f"{words} and no --mean" if words else "no --mean")
        of_people = counted_table(table, people, spelling.cells, key)
        assert isinstance(of_people, CountedTable), "events are counted, with one mean at most"
        _check_counted_alike(stored, of_people)
        return of_people if isinstance(noise, SumNoise) else of_people.in_steps(column)
    options.refuse("needs --person or --each-row", people)
    if table.is_dir():
        remedy = (
            "Repeat the counting options of the release, or give its --recipe; or name one file with the counted cells."
        )
        raise OutOfRange(
            "a folder of files needs --person or --each-row, to be counted again",
            came="neither --person nor --each-row",
            remedy=remedy,
        )
    try:
        read = read_table(table, column)
    except BadTable as error:
        remedy = "Name the file of the table that was published."
        raise BadTable(error.required, came=error.came, where=error.where, remedy=remedy) from None
    if stored is not None and stored.promise.public and column not in adapter_of(read).names(read):
        came = f"a file without the column {column!r}, and neither --person nor --each-row"
        raise _counted_otherwise(_published_options(stored, at_most=stored.promise.unit.cells > 1), came)
    return read


@contextmanager
def _named_counting(stored: Published | None, people: PersonOptions) -> Iterator[None]:
    """If counting the events again gives another table, add the release's counting options to the error."""
    try:
        yield
    except DataChanged as error:
        if stored is None or not people.are_events:
            raise
        words = options.typed_again(_published_options(stored, at_most=people.person is not None))
        error.remedy = (
            f"The data or the counting options differ. The release was counted with {words}: repeat all of these, or "
            "give the file of `utmost count`. Only changed data are a new version (--data-version), which adds its "
            "epsilon."
        )
        raise


def _published_options(stored: Published, *, at_most: bool = False) -> PersonOptions:
    """Return the counting options of a release; with `at_most`, also the bound on cells."""
    unit = stored.promise.unit
    if isinstance(stored.noise, SumNoise):
        unit = stored.noise.unit
        published = _options(stored.noise.plan.domain, unit)
    else:
        published = PersonOptions(by=[",".join(stored.promise.public)])
    if not at_most:
        return published
    is_of_events = unit.amount is None and unit.in_total is None and unit.sensitivity > 1
    return replace(published, at_most=unit.cells, per_cell=unit.text(unit.sensitivity) if is_of_events else None)


def _check_counted_alike(stored: Published | None, counted: CountedTable) -> None:
    """Compare the counted columns and a mean's bounds with the release: a refusal by the ledger names no option."""
    if stored is None:
        return
    came = _options(counted.domain, counted.unit)
    published = _published_options(stored)
    if came != published:
        raise _counted_otherwise(published, options.typed_again(came))


def _options(domain: Domain, unit: Unit) -> PersonOptions:
    """Return the counting options that a domain and a unit imply: columns, and the bounds of a mean."""
    amount, names = unit.amount, list(domain.columns)
    if amount is None or amount.between is None:
        return PersonOptions(by=[",".join(names)])
    names.remove(amount.name)
    ends = [unit.text(end) for end in amount.ends]
    clips = ",".join(ends if amount.step == 1 else [*ends, unit.text(1)])
    return PersonOptions(by=[",".join(names)], mean=[f"{amount.name}={clips}"])


def _counted_otherwise(published: PersonOptions, came: str) -> OutOfRange:
    required = f"the file must be counted as it was published, with {options.typed_again(published)}"
    remedy = "Repeat these options with --person COLUMN or --each-row, and --domain; or give the release's --recipe."
    return OutOfRange(required, came=came, remedy=remedy)
