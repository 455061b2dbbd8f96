"""What the commands that answer from a ledger share: the question, the answer, the report."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utmost.cli.ledger_place import Place
from utmost.documents import statement_files
from utmost.documents.reports import print_json
from utmost.documents.statement_files import Signer
from utmost.exact import Level
from utmost.exact import level as level_of
from utmost.ledger import Budget, Event, Ledger, Published, Status, Verification
from utmost.ledger.verification import response_plan
from utmost.noise.law import read_confidence
from utmost.release import rehearse_table
from utmost.release.statements import cells_digest, level_facts, level_text, statement
from utmost.tables import files


def status_report(status: Status, releases: tuple[Published, ...]) -> dict[str, Any]:
    """What a ledger holds, release by release and dataset by dataset."""
    return {
        "place": status.place,
        "identity": status.identity,
        "events": status.events,
        "quarantine": status.quarantine,
        "sealed": status.sealed,
        "derived": status.derived,
        "releases": [release_report(release) for release in releases],
        "datasets": [budget_report(budget) for budget in status.datasets],
    }


def release_report(release: Published) -> dict[str, Any]:
    """One version of a release."""
    return {
        "name": release.name,
        "version": release.version,
        "dataset": release.dataset,
        "columns": list(release.columns),
        "rows": release.rows,
        "levels": [level_text(level) for level in release.levels],
        "spent": level_text(release.spent),
        "relaxable": release.relaxable,
        **release.promise.facts(),
    }


def budget_report(budget: Budget) -> dict[str, Any]:
    """A budget, in epsilons: exact ones as text, others as floats on the safe side."""
    limit = None if budget.limit is None else level_text(budget.limit)
    return {
        "dataset": budget.dataset,
        "limit": limit,
        "spent": _number(budget.spent),
        "remaining": _number(budget.remaining),
    }


def verification_report(found: Verification) -> dict[str, Any]:
    """What was found sound."""
    spent = {dataset: _number(spending.epsilon) for dataset, spending in found.spent.items()}
    return {"events": found.events, "responses": found.responses, "cells": found.cells, "spent": spent}


def event_report(event: Event) -> dict[str, Any]:
    """One event."""
    return {"number": event.number, "time": event.time, "kind": event.kind, "facts": plain(event.facts)}


def response_report(
    ledger: Ledger, release: Published, at: Level, confidence: str, public: list[str], digest: Mapping[str, str]
) -> dict[str, Any]:
    """The statement of a response, as of any release, and what all responses of its release cost together."""
    plan = response_plan(release.promise, at, confidence)
    said = statement(plan, release.columns, public, release.rows, rows_from=release.rows_from, digest=digest)
    together = ledger.spent(release.name)
    return {
        **said,
        "name": release.name,
        "data_version": release.version,
        "levels": [level_text(level) for level in release.levels],
        "together": None if together is None else level_facts(together),
    }


def plain(value: Any) -> Any:
    """Mappings and sequences of plain values; whatever else as text.

    >>> from utmost.exact import level
    >>> plain({"levels": (level(1), level(alpha="1/2"))})
    {'levels': ['epsilon=1', 'alpha=1/2']}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _number(value: Any) -> Any:
    """An exact number as text, a float or None as it is."""
    return value if value is None or isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Question:
    """A release and a level, as they were named on the command line.

    Raises:
        NotALevel, NotANumber, OutOfRange: for a level or a confidence that is none; before any ledger is opened.
    """

    name: str
    version: int | None
    epsilon: str | None
    alpha: str | None
    confidence: str = "0.95"

    def __post_init__(self) -> None:
        level_of(self.epsilon, self.alpha)
        read_confidence(self.confidence)

    @property
    def at(self) -> Level:
        """The level."""
        return level_of(self.epsilon, self.alpha)


def check_free(source: Path | None, out: Path | None, sign: Path | None = None) -> None:
    """Check, before anything is drawn, that the answer and its statement can be written.

    Raises:
        Unsupported: where one of the files exists, and for an ending of another kind than the table's.
    """
    statement_files.check_free(source or Path("columns.csv"), out, sign)


def show_spending(asked: Question, after: Budget, *, as_json: bool) -> None:
    """Say what a call would spend; nothing was drawn or written."""
    _show(asked, budget_report(after), as_json=as_json, new=False)


def show_first_spending(asked: Question, dataset: str, *, as_json: bool) -> None:
    """Say what a call would spend that makes the ledger."""
    after = {"dataset": dataset, "limit": None, "spent": level_text(asked.at), "remaining": None}
    _show(asked, after, as_json=as_json, new=True)


def _show(asked: Question, after: dict[str, Any], *, as_json: bool, new: bool) -> None:
    if as_json:
        facts = {"dry_run": True, "name": asked.name, **level_facts(asked.at)}
        return print_json(facts | {"after": after, "new_ledger": new})
    from utmost.cli.ledger_command import show_rehearsal

    show_rehearsal(after, asked.name, level_text(asked.at), new=new)


def give(
    ledger: Ledger, asked: Question, table: Any, out: Path | None, *, as_json: bool, signer: Signer | None = None
) -> None:
    """Write the table and its statement, then print: JSON for programs, a screen for people."""
    from utmost.cli.screen import watched

    versions = [one for one in ledger.releases if one.name == asked.name]
    release = next(one for one in reversed(versions) if asked.version in (None, one.version))
    public = [name for name in files.head(table, 0)[0] if name not in release.columns]

    def report(digest: dict[str, str]) -> dict[str, Any]:
        return response_report(ledger, release, asked.at, asked.confidence, public, digest)

    said = report(cells_digest(table)) if out is None else statement_files.publish(table, report, out, watched, signer)
    if as_json:
        return print_json(said if out is not None else {"statement": said, "table": files.columns(table)})
    from utmost.cli.ledger_command import show_answer

    if out is None:
        files.write_text(table, sys.stdout.buffer)
        sys.stdout.flush()
    show_answer(said, out)


def publish_in_ledger(
    place: Place,
    table: Path,
    promise: dict[str, Any],
    confidence: str,
    out: Path | None,
    *,
    create: bool,
    as_json: bool,
    dry_run: bool,
    sign: Path | None = None,
) -> None:
    """Publish, or rehearse it: the same checks of the table, and what the dataset would have spent.

    Args:
        promise: what `Ledger.publish` takes, the name among it.
        create: whether the ledger may be made.
    """
    from utmost.cli.screen import busy, counted
    from utmost.documents.signatures import signer_of

    name, version = promise["name"], promise["version"]
    asked = Question(name, version, promise["epsilon"], promise["alpha"], confidence)
    check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    with busy(f"Checking {table.name}"):
        brought = files.read(table)
    if dry_run:
        return _rehearse(place, brought, promise, asked, create=create, as_json=as_json)
    with place.opened(create=create) as opened:
        with counted("Publishing") as progress:
            made = opened.publish(table=brought, **promise, progress=progress)
        give(opened, asked, made, out, as_json=as_json, signer=signer)


def _rehearse(
    place: Place, table: Any, promise: dict[str, Any], asked: Question, *, create: bool, as_json: bool
) -> None:
    of_ledger = ("name", "version", "dataset", "half_step", "independent", "largest")
    once = {key: value for key, value in promise.items() if key not in of_ledger}
    rehearse_table(table, **once)
    if create and not place.is_there:
        return show_first_spending(asked, promise["dataset"] or asked.name, as_json=as_json)
    with place.opened() as opened:
        after = opened.rehearse(
            asked.name,
            epsilon=asked.at,
            dataset=promise["dataset"],
            independent=promise["independent"],
            version=asked.version,
        )
    show_spending(asked, after, as_json=as_json)
