"""Designs for places on the screen and on the map: answers by their labels."""

from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.design.optima import Optimum
from utmost.design.spaces import Places
from utmost.doors.cli.screen import grid, screen
from utmost.publish.tables.atomic import Writer


def show_labelled_answers(report: dict[str, Any]) -> None:
    """Print what the likeliest place is answered with, where secrets have labels (see `labelled_answers`)."""
    if report:
        console = screen()
        console.print(Text(f"\nThe likeliest answers for {report['likeliest_secret']}", style="bold"))
        rows = [[label, f"{100 * share:.2f} %"] for label, share in report["answers_for_it"]]
        console.print(grid(["answer", "chance"], rows))


def map_of_design(optimum: Optimum, places: Places, path: Path, caption: str) -> Writer:
    """How to draw the prior on the map of its places, and the answers for the likeliest place."""
    from utmost.doors.figures.labelled_map import labelled_map

    prior = optimum.certificate.consumer.prior
    likeliest = int(prior.argmax())
    maps = {"prior": prior, f"answers for {places.labels[likeliest]}": optimum.channel.matrix[likeliest]}
    positions = places.coordinates  # refused here, before anything is written
    names = list(map(str, places.labels))
    degrees = bool(places.geography.in_degrees)
    return lambda file: labelled_map(maps, positions, names, likeliest, file, path, in_degrees=degrees, caption=caption)
