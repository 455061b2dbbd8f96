"""`utmost reproduce`: a paper's figures and numbers, computed anew beside the paper's own."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from utmost.adapters import options
from utmost.adapters.atomic import Writer, write_together
from utmost.adapters.reports import print_json
from utmost.adapters.reproduce.comparison import DIFFERS, Reproduction
from utmost.errors import OutOfRange

PAPERS = "ghosh (2009), geng (2012), koufogiannis (2015) or fernandes (2022)."
Paper = Annotated[str, typer.Argument(metavar="PAPER", help=PAPERS)]
Long = Annotated[bool, typer.Option("--long", help="Also what takes minutes (fernandes).")]
Figures = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Draw the paper's pictures, too, as .svg files in this folder (needs utmost[plot])."
    ),
]


def reproduce(paper: Paper, long: Long = False, figures: Figures = None, as_json: options.AsJson = False) -> None:
    """Compute a paper's figures and numbers beside its own.

    Each is marked equal, corrected (the paper misprints or claims too much) or extended (the paper gives no value).
    Ends with code 1 if any differs.
    """
    from utmost.adapters.screens.progress import busy

    comparisons = _reproduction(paper, long=long)
    if figures is not None:
        with busy(f"Drawing the pictures of {paper}"):
            _draw(paper, figures)
    with busy(f"Computing what {paper} prints"):
        found = list(comparisons())
    if as_json:
        print_json([asdict(comparison) for comparison in found])
    else:
        from utmost.adapters.screens.reproduce import show_comparisons

        show_comparisons(found)
    if any(comparison.verdict == DIFFERS for comparison in found):
        raise typer.Exit(1)


def _reproduction(paper: str, *, long: bool) -> Reproduction:
    from utmost.adapters.reproduce.fernandes import fernandes
    from utmost.adapters.reproduce.geng import geng
    from utmost.adapters.reproduce.ghosh import ghosh
    from utmost.adapters.reproduce.koufogiannis import koufogiannis

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
    from utmost.adapters.figures.papers import pictures

    folder.mkdir(parents=True, exist_ok=True)
    writers: dict[Path, Writer] = {
        folder / f"{name}.svg": partial(_as_svg, picture) for name, picture in pictures(paper).items()
    }
    write_together(writers)


def _as_svg(picture: Callable[[BinaryIO, str], None], file: BinaryIO) -> None:
    picture(file, "svg")
