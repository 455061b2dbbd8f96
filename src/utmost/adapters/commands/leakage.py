"""`utmost leakage`: what channels tell an adversary or a consumer, by any measure, side by side."""

from pathlib import Path
from typing import Annotated

import typer

from utmost.adapters import options
from utmost.adapters.atomic import write_together
from utmost.adapters.reports import print_json
from utmost.channels import Channel
from utmost.errors import OutOfRange

Channels = Annotated[
    list[Path],
    typer.Argument(
        metavar="CHANNEL...", exists=True, dir_okay=False, help="Matrices as .csv or .json: rows are secrets."
    ),
]
Measure = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="bayes, bayes-risk, shannon, guessing, or property:A,B,... (a value a secret)."),
]
Gain = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A .csv file of gains: a row for each secret, a column for each action."),
]
Loss = Annotated[
    str | None, typer.Option(metavar="LOSS", help="A loss instead of a gain: by name as for read, or a .csv file.")
]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the posteriors of three secrets as .svg, .png or .pdf.")
]


def leakage(
    channels: Channels,
    prior: options.Prior = "uniform",
    measure: Measure = None,
    gain: Gain = None,
    loss: Loss = None,
    space: options.SpaceSpec = None,
    plot: Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what a channel leaks: before and after, by what factor, at most, and what to do with each outcome.

    Several channels on the same secrets are set side by side. By default the measure is Bayes vulnerability.
    """
    from utmost.adapters import channel_file
    from utmost.adapters.measures import leakage_report, measure_of, prior_of
    from utmost.adapters.spaces import space_named

    read = {_title(path, channels): channel_file.read(path) for path in channels}
    secrets = _secrets(read)
    by, belief = measure_of(measure, gain, loss), prior_of(prior, secrets)
    along = None if space is None else space_named(space)
    if along is not None and along.size != secrets:
        raise OutOfRange(
            f"the space must have {secrets} secrets, as the channels have", came=along.size, where="--space"
        )
    reports = {title: leakage_report(C, belief, by, along) for title, C in read.items()}
    if plot is not None:
        from utmost.adapters.figures.hypers import hyper_figure

        write_together({plot: lambda file: hyper_figure(read, belief, along, file, plot)})
    if as_json:
        return print_json({"prior": prior, "space": space, "channels": reports})
    from utmost.adapters.screens.leakage import show_leakage

    show_leakage(reports, prior, plot)


def _title(path: Path, paths: list[Path]) -> str:
    """The name of a file, or its whole path where two files have one name."""
    return path.stem if sum(path.stem == other.stem for other in paths) == 1 else str(path)


def _secrets(channels: dict[str, Channel]) -> int:
    sizes = {title: C.shape[0] for title, C in channels.items()}
    if len(set(sizes.values())) > 1:
        came = ", ".join(f"{title} has {size}" for title, size in sizes.items())
        raise OutOfRange("channels that are compared must have the same secrets", came=came)
    return next(iter(sizes.values()))
