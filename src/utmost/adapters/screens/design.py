"""What `utmost design` shows: the loss and why none is less, and the remap as a table of runs."""

from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.adapters.screens.parts import facts, grid, number, screen
from utmost.design import Certificate

_SHOWN = 24


def show_design(report: dict[str, Any], out: Path | None, matrix: Path | None) -> None:
    """Print a `design_report`."""
    shown = {
        "expected loss": _value(report["expected_loss"], report["expected_loss_exact"]),
        "no private mechanism loses less than": _value(report["lower_bound"], report["expected_loss_exact"]),
        "checked": "yes, from primal and dual alone" if report["verified"] else "NO",
        "found by": report["method"],
        "theorem": report["theorem"] or "none: the dual decides",
        **({"which needs": "; ".join(report["hypotheses"])} if report["hypotheses"] else {}),
        "secrets": report["space"],
        "level": f"epsilon = {report['epsilon']}",
        "consumer": f"prior {report['prior']}, loss {report['loss']}",
        **({"at face value": _face(report)} if report["face_value_loss"] is not None else {}),
    }
    written = [str(path) for path in (out, matrix) if path is not None]
    if written:
        shown["written"] = " and ".join(written)
    console = screen()
    console.print(facts(shown))
    if report["remap"] is not None:
        _show_remap(report["remap"])


def show_check(certificate: Certificate) -> None:
    """Print what a certificate proves."""
    shown = {
        "checked": "yes, from primal and dual alone",
        "the mechanism loses at most": number(certificate.upper, 12),
        "none loses less than": number(certificate.lower, 12),
        "theorem": certificate.theorem or "none: the dual decides",
    }
    screen().print(facts(shown))


def _show_remap(remap: list[dict[str, Any]]) -> None:
    console = screen()
    console.print(Text("\nWhat to make of each response of the geometric mechanism", style="bold"))
    rows = [[run["responses"], run["answer"], "as good as another" if run["tie"] else ""] for run in remap[:_SHOWN]]
    console.print(grid(["response", "answer", ""], rows))
    if len(remap) > _SHOWN:
        console.print(Text(f"and {len(remap) - _SHOWN} more rows", style="dim"))


def _face(report: dict[str, Any]) -> str:
    return f"the geometric mechanism without a remap loses {number(report['face_value_loss'])}"


def _value(value: float, exactly: str | None) -> str:
    short = number(value, 12)
    return short + (f" = {exactly}" if exactly not in (None, short) and len(exactly or "") < 30 else "")
