"""What the ledger's commands show."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from utmost.adapters.screens.parts import facts, grid, number, percent, screen
from utmost.adapters.sidecar import sidecar_path

_RELEASE = ("name", "version", "dataset", "columns", "rows", "levels")
_BUDGET = ("dataset", "limit", "spent", "remaining")
_TOLD = ("name", "version", "level", "how", "dataset", "columns", "rows", "limit", "reason", "missing")


def show_answer(said: Mapping[str, Any], out: Path | None) -> None:
    """Print what an answer is worth: beside the table on standard error, or after it was written."""
    sure = percent(said["confidence"])
    rows = {
        "release": f"{said['name']}, version {said['data_version']}",
        "level": f"epsilon = {said['epsilon']} in all, epsilon = {said['per_cell']['epsilon']} for each cell",
        "error bar": f"± {number(said['radius'])} around each released cell, at {sure} confidence",
        "answered at": ", ".join(said["levels"]),
        "together": f"epsilon = {said['together']['epsilon']}, whatever answers are put together",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    shown = Group(Text("Answered.", style="bold"), Padding(Text(said["guarantee"]), (0, 0, 1, 0)), facts(rows))
    screen(stderr=out is None).print(shown)


def show_rehearsal(after: Mapping[str, Any], name: str, level: str, *, new: bool) -> None:
    """Print what would be spent."""
    rows = {"release": name, "level": f"epsilon = {level}", **_budget(after)}
    if new:
        rows["ledger"] = "would be made"
    screen().print(Group(Text("Nothing was drawn. After this call it would be:", style="bold"), facts(rows)))


def show_budget(report: Mapping[str, Any]) -> None:
    """Print the budget of a dataset."""
    screen().print(facts(_budget(report)))


def show_status(status: Mapping[str, Any], headline: str | None = None) -> None:
    """Print what a ledger holds."""
    sealed = "sealed: each level under a key of its own" if status["sealed"] else "open: stored as they are"
    rows = {
        "ledger": status["place"],
        "identity": status["identity"],
        "events": str(status["events"]),
        "responses": sealed,
        "noise": "derived from the key" if status["derived"] else "from the operating system",
        "quarantine": status["quarantine"] or "none",
    }
    shown: list[Any] = [] if headline is None else [Text(headline, style="bold")]
    shown.append(facts(rows))
    for titles, found in ((_RELEASE, status["releases"]), (_BUDGET, status["datasets"])):
        if found:
            shown.append(grid(titles, [[_cell(one[title]) for title in titles] for one in found]))
    screen().print(Group(*shown))


def show_verification(report: Mapping[str, Any]) -> None:
    """Print what was found sound."""
    rows = {
        "events": str(report["events"]),
        "responses": f"{report['responses']} with {report['cells']} cells",
        "spent": ", ".join(f"{dataset}: epsilon = {spent}" for dataset, spent in report["spent"].items()) or "nothing",
        "quarantine": report["quarantine"] or "none",
    }
    screen().print(Group(Text("Everything in the ledger is as it was written.", style="bold"), facts(rows)))


def show_history(events: Sequence[Mapping[str, Any]]) -> None:
    """Print events, oldest first."""
    rows = [[str(one["number"]), one["time"], one["kind"], _facts(one["facts"])] for one in events]
    screen().print(grid(("event", "time", "kind", "facts"), rows, left=4))


def _budget(report: Mapping[str, Any]) -> dict[str, str]:
    return {
        "dataset": _cell(report["dataset"]),
        "limit": "none" if report["limit"] is None else f"epsilon = {report['limit']}",
        "spent": f"epsilon = {report['spent']}",
        "remaining": "no limit is set" if report["remaining"] is None else f"epsilon = {report['remaining']}",
    }


def _facts(found: Mapping[str, Any]) -> str:
    """What people want to know of an event; digests are for programs."""
    return ", ".join(f"{name} {_cell(found[name])}" for name in _TOLD if found.get(name) is not None)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
