"""What the ledger's commands say to programs: plain data, exact numbers as text."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from utmost.exact import Level, exact
from utmost.release.ledger import Budget, Ledger
from utmost.release.statement import level_facts


def plain(value: Any) -> Any:
    """Records as mappings, tuples as lists, levels and exact numbers as text, all else as it is.

    >>> from utmost.exact import level
    >>> plain({"levels": (level(1), level(alpha="1/2"))})
    {'levels': ['epsilon=1', 'alpha=1/2']}
    """
    if is_dataclass(value) and not isinstance(value, type | Level):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def status_report(ledger: Ledger) -> dict[str, Any]:
    """What a ledger holds, release by release and dataset by dataset."""
    releases = [plain(one) for one in ledger.releases]
    datasets = sorted({one["dataset"] for one in releases})
    return {
        **plain(ledger.status()),
        "releases": releases,
        "datasets": [budget_report(ledger.budget(dataset)) for dataset in datasets],
    }


def budget_report(budget: Budget) -> dict[str, Any]:
    """A budget: exact numbers as text."""
    return {name: plain(getattr(budget, name)) for name in ("dataset", "limit", "spent", "remaining")}


def answer_report(ledger: Ledger, name: str, version: int | None, at: Level, confidence: str) -> dict[str, Any]:
    """Of an answer: its level, its error bar, and what all answers of the release cost together."""
    return {
        "name": name,
        **level_facts(at),
        "radius": ledger.radius(name, epsilon=at, confidence=confidence, version=version),
        "confidence": float(exact(confidence)),
        "levels": plain(ledger.levels(name, version)),
        "spent": plain(ledger.spent(name)),
    }
