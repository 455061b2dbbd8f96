"""What `utmost capacity` shows: each capacity, what attains it, and whether the proof was checked."""

from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.adapters.screens.parts import facts, number, screen

_MEANINGS = {
    "multiplicative": "no mechanism multiplies anyone's gain by more",
    "additive": "no mechanism adds more to anyone's gain",
}
_LONGEST = 40


def show_capacities(report: dict[str, Any], certificate: Path | None) -> None:
    """Print what `utmost capacity` reports."""
    console = screen()
    console.print(
        facts(
            {
                "secrets": f"{report['space']}, {report['secrets']:,} of them",
                "level": f"epsilon = {report['epsilon']}",
                **({"written": str(certificate)} if certificate is not None else {}),
            }
        )
    )
    for found in report["capacities"]:
        console.print(Text(f"\nThe {found['capacity']} capacity", style="bold"))
        console.print(facts(_facts(found)))


def _facts(found: dict[str, Any]) -> dict[str, str]:
    return {
        "capacity": _value(found),
        "which says": _MEANINGS[found["capacity"]],
        **({} if found["lower"] == found["value"] else {"one leaks at least": number(found["lower"], 16)}),
        "found by": found["method"],
        "theorem": found["theorem"] or "none: mechanism and dual decide",
        "outcomes": f"{found['outcomes']:,}",
        "checked": "yes, from mechanism and dual alone" if found["verified"] else "NO",
    }


def _value(found: dict[str, Any]) -> str:
    exactly, short = found["value_exact"], number(found["value"], 16)
    return short + (f" = {exactly}" if exactly not in (None, short) and len(exactly or "") <= _LONGEST else "")
