"""What the commands that answer from a ledger share: the question, the answer, the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from utmost.doors.cli import file_options, options, table_options
from utmost.doors.cli.ledger_place import Place
from utmost.doors.cli.screen import busy, counted, facts, number, percent, promised, screen, watched
from utmost.doors.cli.workload_screens import check_document, give_workload, with_confidence
from utmost.doors.documents.reports import print_json
from utmost.errors import OutOfRange, UtmostError
from utmost.laws.exact import Level
from utmost.laws.exact.written_levels import level_facts, level_text, stated_level
from utmost.laws.noise.law import read_confidence
from utmost.publish.ledger import Budget, Event, KeptMechanism, Ledger, Published, Status, Verification
from utmost.publish.ledger.answer_statements import answer_publication
from utmost.publish.releases import WorkloadRelease, rehearse_places, rehearse_table
from utmost.publish.releases.table_statements import cells_digest, promise_line
from utmost.publish.releases.workload_release import checked_workload
from utmost.publish.statements import statement_files
from utmost.publish.statements.statement_files import Signer, sidecar_path, signer_of
from utmost.publish.tables import files
from utmost.publish.tables.engines import is_engine_frame


def status_report(
    status: Status, releases: tuple[Published, ...], mechanisms: tuple[KeptMechanism, ...]
) -> dict[str, Any]:
    """What a ledger holds, release by release, mechanism by mechanism and dataset by dataset."""
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


def mechanism_report(kept: KeptMechanism) -> dict[str, Any]:
    """One version of a mechanism from which persons are answered."""
    return {
        "name": kept.name,
        "version": kept.version,
        "dataset": kept.dataset,
        "persons": kept.persons,
        "level": level_text(kept.spent),
        "open": kept.open,
        "mechanism": kept.mechanism,
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
        **release.noise.facts(),
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
    counted = {"events": found.events, "responses": found.responses, "cells": found.cells, "answers": found.answers}
    return counted | {"spent": spent}


def event_report(event: Event) -> dict[str, Any]:
    """One event."""
    return {"number": event.number, "time": event.time, "kind": event.kind, "facts": plain(event.facts)}


def plain(value: Any) -> Any:
    """Mappings and sequences of plain values; whatever else as text.

    >>> from utmost.laws.exact import level
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


_IN_LEDGER = "The ledger holds the answer: the same call with another --out gives it again, and spends nothing."


@dataclass(frozen=True, slots=True)
class Question:
    """A release and a level, as they were named on the command line, and where the answer goes.

    Raises:
        NotALevel, NotANumber, OutOfRange: for a level or a confidence that is none; before any ledger is opened.
    """

    name: options.LedgerName
    epsilon: options.Epsilon = None
    alpha: options.Alpha = None
    version: options.DataVersion = None
    confidence: options.Confidence = "0.95"
    out: file_options.TableOut = None
    sign: options.Sign = None
    as_json: options.AsJson = False
    form: table_options.Format = None

    def __post_init__(self) -> None:
        options.AskedLevel(self.epsilon, self.alpha).read()
        read_confidence(self.confidence)

    @property
    def at(self) -> Level:
        """The level."""
        return options.AskedLevel(self.epsilon, self.alpha).read()

    def checked(self, source: Path | None, *, again: bool = False) -> Signer | None:
        """What signs the statement, if anything, once it is clear that table and statement can be written.

        Args:
            source: what the table is released from.
            again: whether the table may be there, as the answer of a request that is made again.

        Raises:
            Unsupported: where one of the files exists, and for an ending of another kind than the table's.
        """
        out = table_options.output(self.out, self.form)
        if again and out is not None and out.is_file():
            pass
        elif out is not None and out.suffix.lower() == ".json":
            check_document(out, self.sign)
        elif source is None or source.suffix.lower() != ".json" or out is None:
            statement_files.check_free(source or Path("columns.csv"), out, self.sign)
        else:
            statement_files.check_free(Path("columns.csv"), out, self.sign)
        return None if self.sign is None else signer_of(self.sign)

    def check_kind(self, *, planned: bool) -> None:
        """Check that the file has the ending of the release: .json of one by a plan, else that of a table.

        Raises:
            OutOfRange: where it has not.
        """
        out = table_options.output(self.out, self.form)
        if out is not None and planned != (out.suffix.lower() == ".json"):
            wanted = "one by a plan is written as .json" if planned else "one of columns is written as a table"
            raise OutOfRange(f"a release is written as its kind: {wanted}", came=out.name, where="--out")

    def planned(self, ledger: Ledger) -> bool:
        """Whether the release that is named in a ledger was made by a plan; False where there is none."""
        return any(release.noise.strategy is not None for release in ledger.releases if release.name == self.name)

    def give(self, ledger: Ledger, table: Any, signer: Signer | None, *, again: bool = False) -> None:
        """Write the table and its statement, then print: JSON for programs, a screen for people.

        Where a request is made ``again``, and the table is there as it was written, nothing is written. Where it cannot
        be written, the error says that the answer is not lost.
        """
        try:
            self._give(ledger, table, signer, again=again)
        except (OSError, UtmostError) as error:
            error.add_note(_IN_LEDGER)
            raise

    def _give(self, ledger: Ledger, table: Any, signer: Signer | None, *, again: bool) -> None:
        out, at = table_options.output(self.out, self.form), self.at
        if isinstance(table, WorkloadRelease):
            sums = with_confidence(table, read_confidence(self.confidence))
            more = self._together(ledger)
            return give_workload(sums, out, signer, as_json=self.as_json, more=more, headline="Answered.")
        versions = [one for one in ledger.releases if one.name == self.name]
        release = next(one for one in reversed(versions) if self.version in (None, one.version))
        publication = answer_publication(
            table, release, at, read_confidence(self.confidence), ledger.spent(release.name)
        )
        table, report = publication.table, publication.said
        if out is None:
            said = report(cells_digest(table))
        elif again and out.is_file():
            said = report(statement_files.check_repeated(table, out))
        else:
            said = statement_files.publish(table, report, out, watched, signer)
        if self.as_json:
            return print_json(said if out is not None else {"statement": said, "table": files.columns(table)})
        if out is None:
            table_options.give_table(table, self.form)
        _show_answer(said, out)

    def _together(self, ledger: Ledger) -> dict[str, str]:
        """At which levels the release was answered, and what all answers cost together."""
        together = ledger.spent(self.name)
        return {
            "release": self.name,
            "answered at": ", ".join(level_text(level) for level in ledger.levels(self.name, self.version)),
            "together": f"epsilon = {level_text(together)}, whatever answers are put together" if together else "",
        }


def publish_in_ledger(
    place: Place,
    table: Path,
    promise: dict[str, Any],
    asked: Question,
    *,
    create: bool,
    dry_run: bool,
    brought: Any = None,
) -> None:
    """Publish, or rehearse it: the same checks of the table, and what the dataset would have spent.

    Args:
        promise: what `Ledger.publish` takes, the name among it.
        create: whether the ledger may be made.
        brought: the table, where it is not the one in the file.
    """
    again = promise.get("request") is not None and promise.get("strategy") is None
    asked.check_kind(planned=promise.get("strategy") is not None)
    signer = asked.checked(table, again=again)
    with busy(f"Checking {table.name}"):
        is_parquet = asked.out is not None and files.ending_of(asked.out) in files.PARQUET
        by_item = is_parquet and promise.get("noise") == "items" and promise.get("id_column") is not None
        brought = files.brought(table, by_item=by_item) if brought is None else brought
    if is_engine_frame(brought) and file_options.file_of(asked.out) is None and not dry_run:
        raise OutOfRange("a table this large is released into a file", came="none", where="--out")
    if dry_run:
        return _rehearse(place, brought, promise, asked, create=create)
    with place.opened(create=create) as opened:
        with counted("Publishing") as progress:
            made = opened.publish(table=brought, **promise, progress=progress)
        asked.give(opened, made, signer, again=again)


def _rehearse(place: Place, table: Any, promise: dict[str, Any], asked: Question, *, create: bool) -> None:
    of_ledger = ("name", "version", "dataset", "half_step", "independent", "largest", "request", "noise")
    once = {key: value for key, value in promise.items() if key not in of_ledger}
    if promise.get("per") is not None:
        rehearse_places(table, **once)
    elif promise.get("strategy") is None:
        rehearse_table(table, **once, relaxable=is_engine_frame(table))
    else:
        checked_workload(table, promise["strategy"], asked.at)
    if create and not place.is_there:
        after = {"dataset": promise["dataset"] or asked.name, "limit": None, "remaining": None}
        return _show_spending(asked, after | {"spent": level_text(asked.at)}, new=True)
    of_dataset = {name: promise[name] for name in ("dataset", "independent", "version")}
    with place.opened() as opened:
        show_spending(asked, opened.rehearse(asked.name, epsilon=asked.at, **of_dataset))


def show_spending(asked: Question, after: Budget) -> None:
    """Say what a call would spend; nothing was drawn or written."""
    _show_spending(asked, budget_report(after), new=False)


def _show_spending(asked: Question, after: dict[str, Any], *, new: bool) -> None:
    if asked.as_json:
        found = {"dry_run": True, "name": asked.name, **level_facts(asked.at)}
        return print_json(found | {"after": after, "new_ledger": new})
    rows = {"release": asked.name, "level": f"epsilon = {level_text(asked.at)}", **budget_rows(after)}
    if new:
        rows["ledger"] = "would be made"
    screen().print(Group(Text("Nothing was drawn. After this call it would be:", style="bold"), facts(rows)))


def budget_rows(report: Mapping[str, Any]) -> dict[str, str]:
    """A `budget_report` as people read it."""
    return {
        "dataset": report["dataset"] or "",
        "limit": "none" if report["limit"] is None else f"epsilon = {report['limit']}",
        "spent": f"epsilon = {report['spent']}",
        "remaining": "no limit is set" if report["remaining"] is None else f"epsilon = {report['remaining']}",
    }


def _show_answer(said: Mapping[str, Any], out: Path | None) -> None:
    """Print what an answer is worth: beside the table on standard error, or after it was written."""
    sure = percent(said["confidence"])
    each, where = f"epsilon = {said['epsilon']}", f"around each released cell, at {sure} confidence"
    rows = {
        "release": f"{said['name']}, version {said['data_version']}",
        "level": f"{each} in all, epsilon = {said['per_cell']['epsilon']} for each cell" if "per_cell" in said else "",
        "error bar": f"± {number(said['radius'])} {where}",
        "answered at": ", ".join(said["levels"]),
        "together": f"epsilon = {said['together']['epsilon']}, whatever answers are put together",
    }
    if "per" in said:
        rows["level"] = f"{each} for each {said['per']} of Euclidean distance, in the unit of the columns"
        rows["error bar"] = f"within {number(said['radius'])} of each point, at {sure} confidence"
        rows["together"] += f", for each {said['per']}"
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    promise = said["guarantee"] if "per" in said else promise_line(stated_level(said), said["neighbours"])
    screen(stderr=out is None).print(promised("Answered.", promise, rows))
