"""`utmost reproduce`: a paper's figures and numbers, computed anew beside the paper's own."""

from dataclasses import asdict
from typing import Annotated

import typer

from utmost.adapters import options
from utmost.adapters.reports import print_json
from utmost.adapters.reproduce.comparison import DIFFERS, Reproduction
from utmost.errors import OutOfRange

Paper = Annotated[str, typer.Argument(metavar="PAPER", help="ghosh (2009) or geng (2012).")]


def reproduce(paper: Paper, as_json: options.AsJson = False) -> None:
    """Compute a paper's figures and numbers beside its own.

    Each is marked equal, corrected (the paper misprints or claims too much) or extended (the paper gives no value).
    Ends with code 1 if any differs.
    """
    from utmost.adapters.screens.progress import busy

    with busy(f"Computing what {paper} prints"):
        found = list(_reproduction(paper)())
    if as_json:
        print_json([asdict(comparison) for comparison in found])
    else:
        from utmost.adapters.screens.reproduce import show_comparisons

        show_comparisons(found)
    if any(comparison.verdict == DIFFERS for comparison in found):
        raise typer.Exit(1)


def _reproduction(paper: str) -> Reproduction:
    from utmost.adapters.reproduce.geng import geng
    from utmost.adapters.reproduce.ghosh import ghosh

    papers: dict[str, Reproduction] = {"ghosh": ghosh, "geng": geng}
    if paper not in papers:
        raise OutOfRange(f"the paper must be one of {', '.join(papers)}", came=paper, where="reproduce")
    return papers[paper]
