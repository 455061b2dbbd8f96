"""What `utmost vertices` shows: the first vertices in both forms, or the orbits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.adapters.privacy_types import secret_names
from utmost.adapters.screens.parts import facts, grid, number, screen
from utmost.privacy import PrivacyType

SHOWN = 24

# Wider rows than this are cut off on the screen; files and JSON have them whole.
_WIDEST = 8


def show_vertices(
    spelled: str,
    ptype: PrivacyType,
    total: str,
    rows: Sequence[tuple[list[str], list[str]]],
    more: bool,
    plot: Path | None,
) -> None:
    """Print the first vertices: heights h, and the posteriors alpha^h / sum.

    Args:
        spelled: the space as text.
        ptype: the type.
        total: how many vertices there are.
        rows: heights and posterior of each vertex to show.
        more: whether there are others.
        plot: the file that was drawn.
    """
    shown = {
        "secrets": f"{ptype.space.size}: {spelled}",
        "level": f"{ptype.level}",
        "vertices": total,
        **({"drawn": str(plot)} if plot is not None else {}),
    }
    console = screen()
    console.print(facts(shown))
    console.print(Text("\nPosteriors v(x) = alpha^h(x) / sum", style="bold"))
    names = secret_names(ptype.space)
    if len(names) <= _WIDEST:
        titles = ["h", *names]
        console.print(grid(titles, [[heights_text(h), *map(_short, v)] for h, v in rows]))
    else:
        console.print(grid(["h"], [[heights_text(h)] for h, _ in rows]))
    if more:
        console.print(Text("and others: --out FILE writes all of them", style="dim"))


def show_orbits(spelled: str, count: int, rows: Sequence[dict[str, Any]]) -> None:
    """Print how many vertices each orbit has, and one of them."""
    console = screen()
    console.print(facts({"secrets": spelled, "vertices": str(count), "orbits": str(len(rows))}))
    shown = [[heights_text(row["heights"]), str(row["size"])] for row in rows[:SHOWN]]
    console.print(grid(["one of them, as h", "vertices"], shown))
    if len(rows) > SHOWN:
        console.print(Text(f"and {len(rows) - SHOWN} more orbits", style="dim"))


def heights_text(heights: Sequence[str]) -> str:
    """The heights of one vertex in a line.

    >>> heights_text(["0", "1"]), heights_text(["0", "1 + sqrt(2)"])
    ('0 1', '0, 1 + sqrt(2)')
    """
    return (", " if any("sqrt" in h for h in heights) else " ").join(heights)


def _short(probability: str) -> str:
    return probability if "/" in probability or len(probability) < 7 else number(float(probability))
