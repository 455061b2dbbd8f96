"""Designs for places on the screen and on the map: answers by their labels."""

from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.design.optima import Optimum
from utmost.doors.cli.screen import grid, screen
from utmost.publish.tables.atomic import Writer


def show_labelled_answers(report: dict[str, Any]) -> None:
    """Print what the likeliest place is answered with, where secrets have labels (see `labelled_answers`)."""
    if report:
        console = screen()
        console.print(Text(f"\nThe likeliest answers for {report['likeliest_secret']}", style="bold"))
        rows = [[label, f"{100 * share:.2f} %"] for label, share in report["answers_for_it"]]
        console.print(grid(["answer", "chance"], rows))


def map_of_design(optimum: Optimum, path: Path, caption: str) -> Writer:
    """How to draw the prior on the map of its places, and the answers for the likeliest place."""
    from utmost.doors.figures.canvas import write
    from utmost.doors.figures.labelled_map import map_of_answers

    figure = map_of_answers(optimum, caption=caption)  # refused here, before anything is written
    return lambda file: write(figure, file, path.suffix[1:].lower())
