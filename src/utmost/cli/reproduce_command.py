"""`utmost reproduce`: the papers' figures beside ours, and how they agree."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from utmost.cli import options
from utmost.cli.screen import busy, screen
from utmost.errors import OutOfRange
from utmost.papers.comparison import CORRECTED, DIFFERS, EQUAL, EXTENDED, Comparison, Reproduction
from utmost.tables.atomic import Writer, write_together

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


PAPERS = "ghosh (2009), geng (2012), koufogiannis (2015) or fernandes (2022)."
Paper = Annotated[str, typer.Argument(metavar="PAPER", help=PAPERS)]
Long = Annotated[bool, typer.Option("--long", help="Also what takes minutes (fernandes).")]
Pictures = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Draw the paper's pictures, too, as .svg files in this folder (needs utmost[plot])."
    ),
]


def reproduce(paper: Paper, *, long: Long = False, plot: Pictures = None, answer: options.Answer) -> None:
    """Compute a paper's figures and numbers beside its own.

    Each is marked equal, corrected (the paper misprints or claims too much) or extended (the paper gives no value).
    Ends with code 1 if any differs.
    """
    comparisons = _reproduction(paper, long=long)
    if plot is not None:
        with busy(f"Drawing the pictures of {paper}"):
            _draw(paper, plot)
    with busy(f"Computing what {paper} prints"):
        found = list(comparisons())
    answer.give([asdict(comparison) for comparison in found], lambda: show_comparisons(found))
    if any(comparison.verdict == DIFFERS for comparison in found):
        raise typer.Exit(1)


def _reproduction(paper: str, *, long: bool) -> Reproduction:
    from utmost.papers.fernandes import fernandes
    from utmost.papers.geng import geng
    from utmost.papers.ghosh import ghosh
    from utmost.papers.koufogiannis import koufogiannis

    papers: dict[str, Reproduction] = {
        "ghosh": ghosh,
        "geng": geng,
        "koufogiannis": koufogiannis,
        "fernandes": partial(fernandes, long),
    }
    if paper not in papers:
        raise OutOfRange(f"the paper must be one of {', '.join(papers)}", came=paper, where="reproduce")
    return papers[paper]


def _draw(paper: str, folder: Path) -> None:
    """Every picture of the paper, or none."""
    from utmost.figures.paper_pictures import pictures

    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[Path, Writer] = {
        folder / f"{name}.svg": partial(_as_svg, picture) for name, picture in pictures(paper).items()
    }
    write_together(writers)


def _as_svg(picture: Callable[[BinaryIO, str], None], file: BinaryIO) -> None:
    picture(file, "svg")
