"""What the ledger's commands show."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from utmost.adapters.screens.parts import facts, grid, number, percent, screen


def show_answer(report: Mapping[str, Any], out: Path | None) -> None:
    """Print what an answer is worth: beside the table on standard error, or after it was written."""
    rows = {
        "release": report["name"],
        "level": f"epsilon = {report['epsilon']}",
        "error bar": f"± {number(report['radius'])} around each value, at {percent(report['confidence'])} confidence",
        "answered at": ", ".join(report["levels"]),
        "spent": f"{report['spent']}, whatever of this release is put together",
    }
    if out is not None:
        rows["written"] = str(out)
    screen(stderr=out is None).print(Group(Text("Answered.", style="bold"), facts(rows)))


def show_rehearsal(after: Mapping[str, Any], name: str, level: str, *, new: bool) -> None:
    """Print what would be spent."""
    rows = {"release": name, "level": level, **_budget(after)}
    if new:
        rows["ledger"] = "would be made"
    screen().print(Group(Text("Nothing was drawn. After this call it would be:", style="bold"), facts(rows)))


def show_budget(report: Mapping[str, Any]) -> None:
    """Print the budget of a dataset."""
    screen().print(facts(_budget(report)))


def show_status(status: Mapping[str, Any], releases: Sequence[Mapping[str, Any]], budgets: Sequence[Any]) -> None:
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
    shown = [facts(rows)]
    if releases:
        titles = ("release", "version", "dataset", "columns", "rows", "levels")
        shown.append(grid(titles, [[_cell(one[title]) for title in titles] for one in releases], left=1))
    if budgets:
        titles = ("dataset", "limit", "spent", "remaining")
        shown.append(grid(titles, [[_cell(one[title]) for title in titles] for one in budgets]))
    screen().print(Group(*shown))


def show_history(events: Sequence[Mapping[str, Any]]) -> None:
    """Print events, oldest first."""
    rows = [[str(one["number"]), one["time"], one["kind"], _facts(one["facts"])] for one in events]
    screen().print(grid(("event", "time", "kind", "facts"), rows, left=4))


def show_facts(headline: str, rows: Mapping[str, Any]) -> None:
    """Print a line, and facts below it."""
    screen().print(Group(Text(headline, style="bold"), facts({name: _cell(text) for name, text in rows.items()})))


def _budget(report: Mapping[str, Any]) -> dict[str, str]:
    return {
        "dataset": _cell(report["dataset"]),
        "limit": report["limit"] or "none",
        "spent": _cell(report["spent"]) or "nothing",
        "remaining": _cell(report["remaining"]) if report["remaining"] is not None else "no limit is set",
    }


def _facts(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_cell(value)}" for name, value in found.items())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
