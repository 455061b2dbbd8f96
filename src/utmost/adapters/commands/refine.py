"""`utmost refine`: which of two channels is better for everyone, with the remap or the consumer that shows it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from utmost.adapters import channel_file, options
from utmost.adapters.atomic import write_together
from utmost.errors import Infeasible, NotAChannel, OutOfRange

First = Annotated[Path, typer.Argument(metavar="A.csv", exists=True, dir_okay=False, help="A channel, .csv or .json.")]
Second = Annotated[Path, typer.Argument(metavar="B.csv", exists=True, dir_okay=False, help="Another one.")]
Order = Annotated[str, typer.Option(metavar="NAME", help="refinement, max-case or privacy.")]
Write = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write all that was found (.json), or the remap alone (.csv).")
]


def refine(
    first: First,
    second: Second,
    order: Order = "refinement",
    write: Write = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which of two channels is the other one, post-processed: then the other is better for everyone.

    Either direction is decided, exactly for rational channels: by the remap from one to the other, or by a consumer,
    prior and loss, who loses less with what should be the worse one.
    """
    from utmost.adapters.comparisons import comparison

    channels = channel_file.read(first), channel_file.read(second)
    if channels[0].shape[0] != channels[1].shape[0]:
        came = f"{channels[0].shape[0]} in {first} and {channels[1].shape[0]} in {second}"
        raise NotAChannel("both channels must have as many secrets", came=came)
    found = {"first": str(first), "second": str(second), **comparison(*channels, order)}
    if write is not None:
        _write(found, write)
    if as_json:
        from utmost.adapters.reports import print_json

        return print_json(found)
    from utmost.adapters.screens.refine import show_comparison

    show_comparison(found, write)


def _write(found: dict[str, Any], path: Path) -> None:
    if path.suffix.lower() == ".json":
        from utmost.adapters.sidecar import write as write_json

        return write_together({path: lambda file: write_json(found, file)})
    if path.suffix.lower() not in (".csv", ".tsv"):
        raise OutOfRange("what was found is written as .json, the remap as .csv", came=path.name, where="--write")
    remaps = [found[key]["remap"] for key in ("second_below_first", "first_below_second") if "remap" in found[key]]
    if not remaps:
        raise Infeasible("a remap from one channel to the other must exist to be written", came="none", where=str(path))
    remap = channel_file.channel_of(remaps[0])
    write_together({path: lambda file: channel_file.write(remap, file, path)})
