"""`utmost reproduce`: a paper's figures and numbers, computed anew beside the paper's own."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from utmost.adapters import options
from utmost.adapters.reports import print_json
from utmost.adapters.reproduce.comparison import DIFFERS, Reproduction
from utmost.errors import OutOfRange

Paper = Annotated[str, typer.Argument(metavar="PAPER", help="ghosh (2009), geng (2012) or fernandes (2022).")]
Long = Annotated[bool, typer.Option("--long", help="Also what takes minutes (fernandes).")]
Figures = Annotated[
    Path | None, typer.Option("--figures", metavar="DIR", help="Draw the paper's figures into DIR, too (fernandes).")
]


def reproduce(paper: Paper, long: Long = False, figures: Figures = None, as_json: options.AsJson = False) -> None:
    """Compute a paper's figures and numbers beside its own.

    Each is marked equal, corrected (the paper misprints or claims too much) or extended (the paper gives no value).
    Ends with code 1 if any differs.
    """
    from utmost.adapters.screens.progress import busy

    if figures is not None and paper != "fernandes":
        raise OutOfRange("only the figures of fernandes are drawn", came=paper, where="--figures")
    with busy(f"Computing what {paper} prints"):
        found = list(_reproduction(paper, long=long)())
    if figures is not None:
        from utmost.adapters.reproduce.fernandes_pictures import draw_figures

        draw_figures(figures)
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

    papers: dict[str, Reproduction] = {"ghosh": ghosh, "geng": geng, "fernandes": partial(fernandes, long)}
    if paper not in papers:
        raise OutOfRange(f"the paper must be one of {', '.join(papers)}", came=paper, where="reproduce")
    return papers[paper]
