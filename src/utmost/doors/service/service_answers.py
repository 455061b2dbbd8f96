"""What a service says, as JSON: exact numbers and levels as text, and nothing that a token is not for."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

from utmost.doors.service.approvals import Proposal
from utmost.doors.service.held_releases import View
from utmost.doors.service.market import Offer, Order
from utmost.doors.service.tokens import Token
from utmost.laws.exact import Level
from utmost.laws.exact.written_levels import level_facts, level_text
from utmost.laws.noise.law import read_confidence
from utmost.publish.ledger import Budget, Event, Published, Status, Verification
from utmost.publish.ledger.answer_statements import promise_statement
from utmost.publish.ledger.promised_noise import Noise
from utmost.publish.releases import WorkloadRelease
from utmost.publish.releases.table_statements import cells_digest
from utmost.publish.tables.adapters import adapter_of

_SURE = "0.95"


def columns(table: Any) -> dict[str, list[Any]]:
    """A table of any kind as lists by column."""
    adapter = adapter_of(table)
    found = {str(name): adapter.column(table, name) for name in adapter.names(table)}
    return {name: cells.tolist() if isinstance(cells, np.ndarray) else list(cells) for name, cells in found.items()}


def table_answer(table: Any) -> dict[str, Any]:
    """A released table, or what a strategy measured."""
    return {"release": table.facts()} if isinstance(table, WorkloadRelease) else {"columns": columns(table)}


def view_answer(view: View) -> dict[str, Any]:
    """A release at a level, with its statement."""
    found = release_answer(view.release, ()) | {"epsilon": level_text(view.level), "radius": view.radius}
    del found["levels"]
    if isinstance(view.table, WorkloadRelease):
        return found | table_answer(view.table)
    return found | {"columns": columns(view.table), "statement": statement_of(view, cells_digest(view.table))}


def statement_of(view: View, digest: Mapping[str, Any]) -> dict[str, Any]:
    """What is promised of a view that is a table: the statement of a ledger's answer, which `utmost verify` checks.

    It names the levels up to this one alone: whether there is a looser one is nothing that a token is told by it.
    """
    release, there = view.release, adapter_of(view.table).names(view.table)
    public = tuple(name for name in release.public if name in there)
    levels = tuple(at for at in release.levels if not at > view.level)
    said = _said(release.noise, view.level, release.columns, public, release.rows, release.rows_from)
    return {
        **said,
        "table": plain(digest),
        "name": release.name,
        "data_version": release.version,
        "levels": [level_text(at) for at in levels],
        "together": plain(level_facts(view.level)),
    }


@lru_cache(maxsize=512)
def _said(
    noise: Noise, level: Level, released: tuple[str, ...], public: tuple[str, ...], rows: int, rows_from: str
) -> dict[str, Any]:
    """What is the same for all who view it, so that it is worked out once."""
    sure = read_confidence(_SURE)
    return _plain(promise_statement(noise, level, released, public, rows, rows_from=rows_from, confidence=sure))


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = plain(said)
    return found


def release_answer(release: Published, levels: tuple[Level, ...]) -> dict[str, Any]:
    """One version of a release: its promise, and the levels that a token may see."""
    return {
        "name": release.name,
        "version": release.version,
        "columns": list(release.columns),
        "public": list(release.public),
        "rows": release.rows,
        "promise": release.noise.facts(),
        "levels": [level_text(at) for at in levels],
    }


def token_answer(token: Token) -> dict[str, Any]:
    """A token without its digest."""
    return _without(token.facts(), "digest") | {"name": token.name}


def proposal_answer(proposal: Proposal) -> dict[str, Any]:
    """A proposal."""
    return _without(proposal.kept(), "also") | {"name": proposal.name}


def _without(kept: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: fact for name, fact in kept.items() if name not in names}


def offer_answer(offer: Offer) -> dict[str, Any]:
    """An offer."""
    return {"name": offer.name} | offer.kept()


def order_answer(order: Order) -> dict[str, Any]:
    """An order."""
    return _without(order.kept(), "also") | {"name": order.name}


def budget_answer(budget: Budget) -> dict[str, Any]:
    """A budget, rounded to the safe side where it is irrational."""
    limit = None if budget.limit is None else level_text(budget.limit)
    return {
        "dataset": budget.dataset,
        "limit": limit,
        "spent": plain(budget.spent),
        "remaining": plain(budget.remaining),
    }


def event_answer(event: Event) -> dict[str, Any]:
    """An event of the ledger."""
    return {"number": event.number, "time": event.time, "kind": event.kind, "facts": plain(event.facts)}


def verification_answer(found: Verification) -> dict[str, Any]:
    """What was found sound."""
    return {name: plain(value) for name, value in asdict(found).items() if name != "spent"}


def status_answer(status: Status, apart: list[dict[str, Any]]) -> dict[str, Any]:
    """Where a ledger is, whether anything new may be said, and what was declared and not compared."""
    return {
        "identity": status.identity,
        "events": status.events,
        "quarantine": status.quarantine,
        "datasets": [budget_answer(budget) for budget in status.datasets],
        "declared_apart": apart,
    }


def plain(value: Any) -> Any:
    """Mappings and sequences of plain values; whatever else as text."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
