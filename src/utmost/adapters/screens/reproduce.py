"""What `utmost reproduce` shows: the paper's figures, ours, and how they agree."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from utmost.adapters.reproduce.comparison import CORRECTED, DIFFERS, EQUAL, EXTENDED, Comparison
from utmost.adapters.screens.parts import screen

_STYLES = {EQUAL: "green", CORRECTED: "yellow", EXTENDED: "cyan", DIFFERS: "bold red"}


def show_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Print the comparisons as a table, and how many there are of each kind."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_lines=False)
    for title in ("where", "what", "the paper", "found", ""):
        table.add_column(title, overflow="fold")
    for each in comparisons:
        found = escape(each.found) + (f"\n[dim]{escape(each.note)}[/dim]" if each.note else "")
        verdict = Text(each.verdict, _STYLES[each.verdict])
        table.add_row(escape(each.place), escape(each.what), escape(each.paper) or "[dim]nothing[/dim]", found, verdict)
    counts = Counter(each.verdict for each in comparisons)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES if counts[verdict])
    screen().print(table, Text(summary, "bold red" if counts[DIFFERS] else "bold"))
