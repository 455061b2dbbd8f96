"""Functions that commands with a ledger share: name an answer, publish it, write it, and report on the ledger."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts, level_from_text, level_text, level_words
from utmost.errors import AlreadyPublished, DataChanged, OutOfRange, PrivacyWarning, Unsupported, UtmostError, warn
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.release_options import ReleaseLedgerOptions
from utmost.interfaces.cli.options.table_options import TableAnswer
from utmost.interfaces.cli.screens.release_screen import ladder_grid, ladder_report
from utmost.interfaces.cli.screens.screen import facts, percent, screen, shown_facts, warn_of_rule
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import (
    check_document,
    check_ending,
    give_cells,
    give_workload,
    is_of_cells,
    planned_gain,
    planned_ladder,
    planned_margins,
)
from utmost.interfaces.documents.reports import print_json, with_repeated
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.event_log import refused_in_quarantine
from utmost.publish.ledger.events import Event
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.means_names import releases_of_means
from utmost.publish.ledger.relaxing import COUNT_ALIKE
from utmost.publish.ledger.releasing import check_release
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.state import Published
from utmost.publish.ledger.stored_mechanisms import StoredMechanism
from utmost.publish.ledger.verification import Status, Verification
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.promises.table_statements import cells_digest
from utmost.publish.promises.until import LadderStep, Until
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.release import level_of_answer
from utmost.publish.releases.release_facts import short_bar
from utmost.publish.releases.tables_before_draw import measures_before_draw, table_before_draw
from utmost.tables.engines.engines import is_engine_frame
from utmost.tables.files import files, sidecars
from utmost.tables.files.signatures import Signer, signature_path

_NOT_STORED = "The ledger has no such answer: under another name this call draws one and spends its epsilon."


def status_report(
    status: Status, releases: tuple[Published, ...], mechanisms: tuple[StoredMechanism, ...]
) -> dict[str, Any]:
    """Report the contents of a ledger: releases, mechanisms and datasets."""
    return {
        "place": status.place,
        "identity": status.identity,
        "events": status.events,
        "quarantine": status.quarantine,
        "sealed": status.sealed,
        "derived": status.derived,
        "releases": [release_report(release) for release in releases],
        "mechanisms": [mechanism_report(mechanism) for mechanism in mechanisms],
        "datasets": [budget_report(budget) for budget in status.datasets],
    }


def mechanism_report(mechanism: StoredMechanism) -> dict[str, Any]:
    return {
        "name": mechanism.name,
        "version": mechanism.version,
        "dataset": mechanism.dataset,
        "persons": mechanism.persons,
        "level": level_text(mechanism.spent),
        "open": mechanism.open,
        "mechanism": mechanism.mechanism,
    }


def release_report(release: Published) -> dict[str, Any]:
    return {
        "name": release.name,
        "version": release.version,
        "dataset": release.dataset,
        "columns": list(release.columns),
        "counted": list(release.noise.plan.domain.columns) if isinstance(release.noise, SumNoise) else None,
        "rows": release.rows,
        "levels": [level_text(level) for level in release.levels],
        "spent": level_text(release.spent),
        "relaxable": release.relaxable,
        "noise": release.noise.facts(),
    }


def budget_report(budget: Budget) -> dict[str, Any]:
    """Report a budget: rational numbers as text, others as floats, `spent` rounded up and `remaining` down."""
    limit = None if budget.limit is None else level_text(budget.limit)
    return {
        "dataset": budget.dataset,
        "limit": limit,
        "spent": _number(budget.spent),
        "remaining": _number(budget.remaining),
    }


def verification_report(sound: Verification) -> dict[str, Any]:
    spent = {dataset: _number(spending.epsilon) for dataset, spending in sound.spent.items()}
    counts = {"events": sound.events, "responses": sound.responses, "cells": sound.cells, "answers": sound.answers}
    return counts | {"spent": spent}


def event_report(event: Event) -> dict[str, Any]:
    return {"number": event.number, "time": event.time, "kind": event.kind, "facts": dict(event.facts)}


def _number(value: Any) -> Any:
    """Return a rational number as text; return a float or None unchanged."""
    return value if value is None or isinstance(value, float) else str(value)


IN_LEDGER = "The ledger has stored the answer: the same command returns it, and spends nothing."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The options that name an answer in a ledger (release, version, level), and the options for output."""

    # An invalid level or confidence is refused before any ledger is opened.

    name: options.LedgerName
    level: options.LevelOptions
    version: options.NewDataVersion = None
    answer: table_options.TableAnswer

    def __post_init__(self) -> None:
        if self.level.is_given:
            self.level.read()
        read_confidence(self.answer.confidence)

    @property
    def at(self) -> Level:
        return self.level.read()

    def level_in(self, ledger: Ledger) -> Level:
        """Return the level of the options, or, if they have none, the level of the release's only answer."""
        return (
            self.at if self.level.is_given else level_of_answer(None, partial(self.levels_in, ledger), repr(self.name))
        )

    def levels_in(self, ledger: Ledger) -> tuple[Level, ...]:
        """Return the answered levels of a release; for a table of several amounts, the levels of the whole table."""
        of_means = self.means_in(ledger)
        if not of_means:
            return ledger.levels(self.name, self.version)
        return tuple(level.scaled(len(of_means)) for level in of_means[0].levels)

    def means_in(self, ledger: Ledger) -> list[Published]:
        """Return the releases of a table of several amounts; empty if the name is that of one release."""
        if self.release_in(ledger) is not None:
            return []
        return list(releases_of_means(ledger.releases, self.name, self.version).values())

    def checked(self, source: Path | None) -> Signer | None:
        """Check that table and statement can be written, and return the signer of the statement, if any."""
        # The answer of a repeated call may exist: `check_repeats` refuses other files once the ledger is open.
        if not self.is_written:
            self._check_free(source)
        return self.answer.signer

    def check_repeats(self, ledger: Ledger, source: Path | None, at: Level, request: str | None = None) -> None:
        """Before any draw, refuse a ledger in quarantine, and then refuse to write a new answer over existing files."""
        if not self.is_written or (request is not None and ledger.has_request(request)):
            return
        if self.is_answered(ledger, at):
            return
        status = ledger.status()
        if status.quarantine is not None:
            raise refused_in_quarantine(status.place, status.quarantine)
        try:
            self._check_free(source)
        except Unsupported as error:
            remedy = f"{error.remedy} {_NOT_STORED}"
            raise Unsupported(error.required, came=error.came, where=error.where, remedy=remedy) from None

    def is_answered(self, ledger: Ledger, at: Level) -> bool:
        """Check whether the ledger has an answer at this level: a call then repeats it and spends nothing."""
        known = self.release_in(ledger)
        answered = self.levels_in(ledger) if known is not None or self.means_in(ledger) else ()
        return at in answered or (known is not None and known.level_of_answer(at) is not None)

    def headline(self, ledger: Ledger, *, repeated: bool) -> str:
        """Return what a call did and what its dataset has spent, in two lines for a log."""
        known = self.release_in(ledger) or next(iter(self.means_in(ledger)))
        report = budget_report(ledger.budget(known.dataset))
        limit = "" if report["limit"] is None else f" of {report['limit']}"
        spent = f"Dataset {known.dataset} has spent epsilon = {report['spent']}{limit}."
        return f"{'Answered again: nothing was spent' if repeated else 'Answered'}.\n{spent}"

    def warn_of_equal_values(self, ledger: Ledger) -> None:
        """Warn, after a new answer, of other releases with the same values, in this dataset or as independent data."""
        published = [known] if (known := self.release_in(ledger)) else self.means_in(ledger)
        self.warn_of_holders({one.name: ledger.equal_values(one.name, version=one.version) for one in published})

    def check_new_values(self, ledger: Ledger, sources: Mapping[str, tuple[Any, Promise]], *, refuse: bool) -> None:
        """Before values are published, warn of other releases that have the same values, or refuse to publish."""
        # `sources` maps the name of each release of this call to its table and promise.
        if any(is_engine_frame(table) for table, _ in sources.values()):
            if refuse:
                required = "--new-values only works with a table that is read into memory"
                raise OutOfRange(
                    required, came="a streamed table", remedy="Leave out --new-values, or convert the file to .csv."
                )
            return
        self.warn_of_holders(
            {
                name: ledger.equal_values(name, table=table, promise=promise)
                for name, (table, promise) in sources.items()
            },
            refuse=refuse,
        )

    def warn_of_holders(self, holders: Mapping[str, Sequence[str]], *, refuse: bool = False) -> None:
        """Warn of other releases with equal values, or refuse; `holders` lists them for each release of this call."""
        found = {
            f"another version of {name!r}" if name == own else repr(name)
            for own, names in holders.items()
            for name in names
            if name == own or name not in holders
        }
        if found and refuse:
            raise AlreadyPublished(
                "with --new-values no other release may have these values",
                came=f"values of {', '.join(sorted(found))}",
                remedy="Correct the data file; or, if small tables are equal by chance, leave out --new-values.",
            )
        if found:
            text = f"{', '.join(sorted(found))} also {'has' if len(found) == 1 else 'have'} values of this release. "
            warn(f"{text}If these releases are of the same people, their levels add up.", PrivacyWarning)

    def _check_free(self, source: Path | None) -> None:
        answer, out = self.answer, self.answer.file
        if out is not None and out.suffix.lower() == ".json":
            check_document(out, answer.sign)
        else:
            is_counted = source is None or (source.suffix.lower() == ".json" and out is not None)
            answer.check_free(None if is_counted else source)

    @property
    def is_written(self) -> bool:
        out = self.answer.file
        if out is None:
            return False
        beside = sidecars.sidecar_path(out)
        return any(map(os.path.isfile, (out, beside, signature_path(out), signature_path(beside))))

    def check_kind(self, noise: Noise | None) -> None:
        """Check that the output file has a table's format for a single table, or .json for the sums of a plan."""
        out = self.answer.file
        if out is None:
            return
        plan = noise.plan if isinstance(noise, SumNoise) else None
        if plan is None and out.suffix.lower() == ".json":
            remedy = f"Write --out {out.with_suffix('.csv')}, or a name that ends in .parquet or .xlsx."
            raise OutOfRange(
                "--out must name a table, not a .json file: the release is one table", came=out.name, remedy=remedy
            )
        if plan is not None and not is_of_cells(plan):
            check_ending(out)

    def check_view_fits(self, ledger: Ledger, at: Level) -> None:
        """Check, before a view is drawn, that the output's format can hold the view's table."""
        known = self.release_in(ledger)
        if known is None:
            promises = [one.promise for one in self.means_in(ledger)]
            plans = [promise.noise.plan for promise in promises if isinstance(promise.noise, SumNoise)]
            return table_options.check_fits(self.answer, measures_before_draw(plans) if plans else None)
        is_drawn = at not in known.levels and known.levels and not known.noise.is_by_plan
        stored = ledger.view(self.name, epsilon=known.levels[-1], version=self.version).table if is_drawn else None
        if stored is not None or known.noise.is_by_plan:
            table_options.check_fits(self.answer, table_before_draw(stored, known.promise))

    def release_in(self, ledger: Ledger) -> Published | None:
        """Return the release in a ledger, by default its newest version; None if the ledger lacks the release."""
        found = [
            known for known in ledger.releases if known.name == self.name and self.version in (None, known.version)
        ]
        return found[-1] if found else None

    def give(
        self, answered: Answer[Any], signer: Signer | None, *, repeated: bool | None = None, headline: str = "Answered."
    ) -> None:
        """Write the table and its statement, and print them as JSON or on a screen."""
        # Existing files with this answer stay. If writing fails, the error says that the ledger has the answer.
        try:
            warn_of_rule(answered)
            out, as_json = self.answer.file, self.answer.as_json
            shown = answered.with_confidence(self.answer.confidence)
            table, report = shown.table, shown.statement_with
            if isinstance(table, NoisySums):
                is_document = as_json if out is None else out.suffix.lower() == ".json"
                if is_document or not is_of_cells(table.plan):
                    return give_workload(
                        table, out, signer, as_json=as_json, again=True, headline=headline, repeated=repeated
                    )
                return give_cells(table, self.answer, signer, again=True, headline=headline, repeated=repeated)
            if out is None:
                statement = report(cells_digest(table))
            else:
                statement = sidecars.publish_again(table, report, out, signer)
            if as_json:
                whole = {"statement": statement, "table": files.columns(table)}
                return print_json(with_repeated(statement if out is not None else whole, repeated))
            if out is None:
                table_options.give_table(table, self.answer.form)
            screen(stderr=out is None).print(shown_facts(headline, stated_release(statement), out))
        except (OSError, UtmostError) as error:
            error.add_note(IN_LEDGER)
            raise


def publish_in_ledger(
    table: Path,
    promise: Promise,
    memory: ReleaseLedgerOptions,
    question: Question,
    *,
    dry_run: bool,
    counted: CountedTable | None,
    counting: Sequence[Any],
) -> None:
    """Publish in a ledger; or, with `dry_run`, check the table and show what the budget would be afterwards."""
    # `counted` is the table if the rows of the file are events; `counting` are the counting options.
    answer = question.answer
    question.check_kind(promise.lasting_noise)
    file = table if counted is None else None
    signer = question.checked(file)
    with progress_bar(f"Checking {table.name}"):
        # If input and output are Parquet and noise is keyed by item, the table is streamed; others are read completely.
        is_parquet = answer.out is not None and files.ending_of(answer.out) in files.PARQUET
        by_item = is_parquet and promise.keyed_by_id
        source = files.table_or_relation(table, by_item=by_item) if counted is None else counted
    if is_engine_frame(source) and file_options.file_of(answer.out) is None and not dry_run:
        raise OutOfRange(
            "--out must name a file for so large a table", came="none", remedy="Add --out released.parquet."
        )
    table_options.check_fits(answer, table_before_draw(source, promise))
    if dry_run:
        check_release(source, promise, question.at)
        with memory.place.opened() as opened, named_command(opened, table, memory, question, counting):
            after = opened.rehearse(
                question.name,
                epsilon=question.at,
                version=question.version,
                dataset=memory.dataset,
                independent=memory.independent,
                table=source,
                promise=promise,
                request=memory.request,
            )
            repeated = question.is_answered(opened, question.at)
            if not repeated:
                question.check_new_values(opened, {question.name: (source, promise)}, refuse=memory.new_values)
            return show_spending(question, after, promise.lasting_noise, promise.until, repeated=repeated)
    with memory.place.opened() as opened:
        question.check_repeats(opened, file, question.at, memory.request)
        repeated = question.is_answered(opened, question.at)
        if memory.new_values and not repeated:
            question.check_new_values(opened, {question.name: (source, promise)}, refuse=True)
        with named_command(opened, table, memory, question, counting):
            answered = opened.publish(
                question.name,
                source,
                promise,
                epsilon=question.at,
                version=question.version,
                dataset=memory.dataset,
                independent=memory.independent,
                request=memory.request,
            )
        if not repeated:
            question.warn_of_equal_values(opened)
        question.give(answered, signer, repeated=repeated, headline=question.headline(opened, repeated=repeated))


@contextmanager
def named_command(
    ledger: Ledger, table: Path, memory: ReleaseLedgerOptions, question: Question, counting: Sequence[Any]
) -> Iterator[None]:
    """Add to an error the command for an existing release: `relax` for less noise, `view` for more noise."""
    try:
        yield
    except DataChanged as error:
        if counting[0].are_events and error.remedy is not None:  # the ledger's own key decided which cells are kept
            advice = "If the first release was of a file of `utmost count`, release that file again."
            error.remedy = f"{advice} {error.remedy.removeprefix(COUNT_ALIKE)}"
        raise
    except AlreadyPublished as error:
        if not error.at_other_level:
            raise
        highest = max(question.levels_in(ledger))
        place = ReleaseLedgerOptions(ledger=memory.ledger, key_file=memory.key_file, witness=memory.witness)
        release = place, ReleaseLedgerOptions(name=question.name, version=question.version)
        level_options = options.typed_again(question.level, TableAnswer(out=question.answer.out))
        if question.at < highest:
            command = f"utmost view {options.typed_again(*release)} {level_options}"
            error.remedy = f"To get a noisier copy at no cost: {command}"
        else:
            repeated = options.typed_again(*counting, *release, beside_recipe=True)
            command = f"utmost relax {shlex.quote(str(table))} {repeated} {level_options}"
            error.remedy = f"To get less noise, so that both releases together cost the new level: {command}"
        raise


def show_spending(
    question: Question, after: Budget, noise: Noise | None, until: Until | None, *, repeated: bool
) -> None:
    """Print what a call would spend and how accurate its answer would be; draw and write nothing."""
    sure = read_confidence(question.answer.confidence)
    margin, margins = None if noise is None else noise.margin(question.at, sure), dict[str, str]()
    if isinstance(noise, SumNoise):
        margins = {"margins": planned_margins(noise.plan, question.at, sure)}
        margins |= planned_gain(noise.plan, question.at, sure)
    elif margin is not None:
        margins = {"margin": f"± {short_bar(margin)} for each released cell, at {percent(sure)} confidence"}
    ladder: list[LadderStep] = []
    if until is not None and noise is not None:
        margins["stops as soon as"] = f"{until.words}; the epsilon spent is then smaller"
        is_by_plan = isinstance(noise, SumNoise)
        promise = Promise(noise=noise, until=until) if is_by_plan else None
        ladder = (
            until.ladder(noise, question.at, sure) if promise is None else planned_ladder(promise, question.at, sure)
        )
    show_after(question, after, margins, {"margin": margin}, ladder, repeated=repeated)


def show_after(
    question: Question,
    after: Budget,
    margins: Mapping[str, str],
    bars: Mapping[str, Any],
    ladder: Sequence[LadderStep] = (),
    *,
    repeated: bool,
) -> None:
    """Print the budget after a rehearsed call, the answer's margins, and whether the call repeats a stored answer."""
    # `margins` are in words for people, `bars` for programs; `ladder` has the levels at which a rule may stop.
    report = budget_report(after)
    if question.answer.as_json:
        rehearsal = {"dry_run": True, "name": question.name, **level_facts(question.at), **bars, "repeated": repeated}
        rehearsal |= {"ladder": ladder_report(ladder)} if ladder else {}
        return print_json(rehearsal | {"after": report})
    rows = {"release": question.name, "level": f"epsilon = {level_words(question.at)}", **margins}
    rows |= budget_rows(report)
    rows |= {"cost": "nothing: the ledger has stored this answer, and repeats it"} if repeated else {}
    rows["spent in all"] = f"{rows.pop('spent')}, by every release of dataset {report['dataset']}"
    rows["would remain"] = rows.pop("remaining")
    shown = [ladder_grid(ladder)] if ladder else []
    screen().print(
        ScreenGroup(
            ScreenText("Nothing was drawn. The budget after this call:", style="bold"),
            *shown,
            facts(rows),
        )
    )


def budget_rows(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a `budget_report` in words."""
    return {
        "dataset": report["dataset"] or "",
        "limit": "none" if report["limit"] is None else spent_words(report["limit"]),
        "spent": spent_words(report["spent"]),
        "remaining": "no limit is set" if report["remaining"] is None else spent_words(report["remaining"]),
    }


def spent_words(spent: str | float) -> str:
    """Return in words the level that a report states as text or as a float: "epsilon = 1"."""
    return f"epsilon = {spent if spent == '0' or not isinstance(spent, str) else level_words(level_from_text(spent))}"
