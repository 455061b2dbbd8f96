"""What the ledger's commands say to programs: plain data, exact numbers as text."""

from collections.abc import Mapping
from typing import Any

from utmost.exact import Level
from utmost.release.ledger import Budget, Event, Ledger, Published, Status, Verification
from utmost.release.response_plan import response_plan
from utmost.release.statement import level_facts, level_text, statement


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
