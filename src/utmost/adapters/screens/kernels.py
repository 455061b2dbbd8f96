"""What `utmost kernels` shows: how many there are of each size, and all of them where they are few and small."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.adapters.privacy_types import secret_names
from utmost.adapters.screens.parts import facts, grid, percent, screen
from utmost.geometry import Estimate, kernels
from utmost.privacy import PrivacyType

_SHOWN = 24

# Matrices are shown where there are no more than this many, of no more than that many rows.
_FEW, _SMALL = 5, 6


def show_kernels(
    spelled: str, ptype: PrivacyType, sizes: dict[int, int], written: Sequence[Path], *, whole: bool
) -> None:
    """Print how many kernels there are, by their number of outcomes; ``whole``: and themselves where they are few."""
    total = sum(sizes.values())
    shown = {
        "secrets": f"{ptype.space.size}: {spelled}",
        "level": str(ptype.level),
        "kernels": f"{total:,}",
        **({"written": " and ".join(map(str, written))} if written else {}),
    }
    console = screen()
    console.print(facts(shown))
    console.print(grid(["outcomes", "kernels"], [[str(size), f"{count:,}"] for size, count in sizes.items()]))
    if not whole or total > _FEW or ptype.space.size > _SMALL:
        return
    names = secret_names(ptype.space)
    for k, kernel in enumerate(kernels(ptype)):
        console.print(Text(f"Kernel {k}", style="bold"))
        rows = [[name, *map(_cell, row)] for name, row in zip(names, kernel.matrix.tolist(), strict=True)]
        console.print(grid(["", *(f"y{y}" for y in range(kernel.shape[1]))], rows))


def show_orbits(spelled: str, ptype: PrivacyType, count: int, rows: Sequence[dict[str, Any]]) -> None:
    """Print how many kernels each orbit has, and one of them as numbers of vertices."""
    console = screen()
    level = str(ptype.level)
    console.print(facts({"secrets": spelled, "level": level, "kernels": f"{count:,}", "orbits": f"{len(rows):,}"}))
    shown = [[" ".join(map(str, row["vertices"])), str(row["kernels"])] for row in rows[:_SHOWN]]
    console.print(grid(["one of them, by its vertices", "kernels"], shown))
    if len(rows) > _SHOWN:
        console.print(Text(f"and {len(rows) - _SHOWN:,} more orbits", style="dim"))


def show_estimate(spelled: str, ptype: PrivacyType, outcomes: int, found: Estimate) -> None:
    """Print an estimate with its interval."""
    shown = {
        "secrets": f"{ptype.space.size}: {spelled}",
        "level": str(ptype.level),
        f"kernels with {outcomes} outcomes": f"about {found.value:.4g}",
        f"with confidence {percent(found.confidence)}": f"between {found.low:.4g} and {found.high:.4g}",
        "samples": str(found.samples),
    }
    screen().print(facts(shown))


def _cell(entry: Any) -> str:
    text = str(entry)
    return text if "/" in text or len(text) < 7 else f"{float(entry):.6g}"
