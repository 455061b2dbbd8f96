"""`utmost universal`: is one mechanism the best for every prior? The verdict, with a proof that is checked again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utmost.adapters import channel_file, options
from utmost.adapters.atomic import write_together
from utmost.adapters.consumers import loss_of
from utmost.adapters.privacy_types import type_asked
from utmost.adapters.reports import print_json
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.errors import OutOfRange, PromiseBroken
from utmost.privacy import PrivacyType

if TYPE_CHECKING:
    from utmost.adapters.verdicts import Stated

Judged = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="Judge this one: geometric, randomized-response, or a .csv or .json file of a channel.",
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdict and its proof as JSON.")]
Check = Annotated[
    Path | None,
    typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Check the proof in a verdict that --out wrote."),
]


def universal(
    space: options.SpaceSpec = None,
    line: options.Line = None,
    counts: options.Counts = None,
    discrete: options.Discrete = None,
    hamming: options.Hamming = None,
    grid: options.Grid = None,
    manhattan: options.Manhattan = None,
    graph: options.Graph = None,
    distances: options.Distances = None,
    loss: options.Loss = "absolute",
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    mechanism: Judged = None,
    out: Out = None,
    check: Check = None,
    as_json: options.AsJson = False,
) -> None:
    """Decide whether some mechanism is the best for a loss and every prior, with proof either way.

    If there is none: the least regret that any mechanism has, exactly, and the priors that conflict. With --mechanism:
    whether that one is the best for every prior, or a prior and a better one. alpha must be rational; 1/2 if left out.
    """
    from utmost.adapters import verdicts
    from utmost.adapters.screens.universal import show_check, show_verdict

    if check is not None:
        return show_check(_checked(check), as_json=as_json)
    spelled, ptype = type_asked(
        {
            "space": space,
            "line": line,
            "counts": counts,
            "discrete": discrete,
            "hamming": hamming,
            "grid": grid,
            "manhattan": manhattan,
            "graph": graph,
            "distances": distances,
        },
        epsilon,
        alpha,
    )
    found = _verdict(spelled, ptype, loss, mechanism)
    written = verdicts.document(found)
    if out is not None:
        write_together({out: lambda file: verdicts.write(written, file)})
    if as_json:
        return print_json({**written, "loss_name": loss, "verified": found.verify()})
    show_verdict(found, spelled, loss, out)


def _verdict(spelled: str, ptype: PrivacyType, loss: str, mechanism: str | None) -> "Stated":
    from utmost.adapters.screens.progress import busy
    from utmost.adapters.verdicts import Stated
    from utmost.geometry import is_universally_optimal, universal_mechanism
    from utmost.geometry.least_loss import exact_loss

    rule = loss_of(loss, ptype.space)
    with busy(f"Deciding {loss} loss on {spelled}"):
        if mechanism is None:
            return Stated.of_existence(universal_mechanism(rule, ptype), ptype)
        channel = _mechanism(mechanism, ptype)
        found = is_universally_optimal(channel, rule, ptype)
        return Stated.of_channel(found, ptype, channel, exact_loss(rule, ptype.space.size))


def _mechanism(text: str, ptype: PrivacyType) -> Channel:
    named = {
        "geometric": lambda: geometric_channel(ptype.space.size - 1, ptype.level),
        "randomized-response": lambda: randomized_response(ptype.space.size, ptype.level),
    }
    if text in named:
        return named[text]()
    if Path(text).suffix.lower() not in channel_file.ENDINGS:
        raise OutOfRange(f"a mechanism must be {', '.join(named)} or a file", came=text, where="--mechanism")
    return channel_file.read(Path(text))


def _checked(path: Path) -> "Stated":
    """The verdict in a file, refused where it does not prove what it states."""
    from utmost.adapters import verdicts

    found = verdicts.read(path)
    if not found.verify():
        raise PromiseBroken("the proof must prove the verdict", where=str(path))
    return found
