"""`utmost research minimax`: find the best private mechanism without a prior, and a worst prior as its proof."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.design.optima.minimax import minimax_mechanism
from utmost.errors import NotANumber, OutOfRange
from utmost.interfaces.cli.options import file_options, people_options, research_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, others, screen, with_exact
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents import channel_files
from utmost.interfaces.documents.consumer_files import loss_of
from utmost.interfaces.documents.reports import exact_text, print_json
from utmost.interfaces.documents.space_names import secret_names
from utmost.tables.files.atomic import write_together

_SHOWN = 24


def show_minimax(report: dict[str, Any], out: Path | None) -> None:
    shown = {
        "worst expected loss": with_exact(report["worst_loss"], report["worst_loss_exact"]),
        "lower bound for all mechanisms": number(report["lower_bound"], 12),
        "checked": "yes, both losses were computed again without the solver" if report["verified"] else "NO",
        "secrets": report["space"].replace(":", " ", 1),
        "possible secrets": "all" if report["possible"] is None else ", ".join(report["possible"]),
        "level": f"epsilon = {report['epsilon']}",
        "loss": report["loss"],
        **({"mechanism": "geometric noise, then a random remap"} if report["by_remap"] else {}),
        **({"mechanism written": str(out)} if out is not None else {}),
    }
    console = screen()
    console.print(facts(shown))
    console.print(
        ScreenText("\nA prior for which the expected loss of every mechanism is at least the lower bound", style="bold")
    )
    rows = [[row["secret"], row["probability"]] for row in report["worst_prior"] if row["probability"] != "0"]
    console.print(grid(["secret", "probability"], rows[:_SHOWN]), *others(len(rows) - _SHOWN, "more rows"))


def minimax(
    *,
    asked: research_options.PrivacyTypeOptions,
    loss: options.LossName = "absolute",
    possible: Annotated[
        list[str] | None,
        option("SECRETS", "Secrets that are possible: 3,4 or 3..9; by default all."),
    ] = None,
    exactly: Annotated[bool, flag("Compute exactly, which may take long.")] = False,
    out: Annotated[Path | None, option("FILE", "File for the mechanism (.csv or .json), for `utmost respond`.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the best private mechanism for the worst secret, without a prior, with proof.

    Under the worst prior, no private mechanism has a smaller expected loss.

    More: docs/theory/designs.md
    """
    spelled, ptype = asked.read()
    rule, possible_secrets, size = loss_of(loss, ptype.space), None, ptype.space.size
    if possible is not None:  # secrets by name, by number, or as ranges of numbers
        possible_secrets, named = list[int](), {str(label): k for k, label in enumerate(ptype.space.labels)}
        for text in people_options.split_names(possible):
            low, dots, high = text.partition("..")
            if text in named:
                possible_secrets.append(named[text])
            elif dots:
                possible_secrets += range(_number(low, size), _number(high, size) + 1)
            else:
                possible_secrets.append(_number(text, size))
    with progress_bar(f"Solving the minimax program on {spelled}"):
        optimum = minimax_mechanism(ptype, rule, possible_secrets, exactly=True if exactly else None)
    names = secret_names(ptype.space)
    report = {
        "space": spelled,
        "loss": loss,
        "secrets": size,
        **level_facts(ptype.level),
        "possible": None if possible_secrets is None else [names[x] for x in optimum.possible],
        "worst_loss": float(optimum.loss),
        "worst_loss_exact": exact_text(optimum.loss),
        "lower_bound": float(optimum.lower),
        "verified": optimum.verify(),
        "by_remap": optimum.remap is not None,
        "worst_prior": [
            {"secret": name, "probability": exact_text(p) or number(p)}
            for name, p in zip(names, optimum.prior.tolist(), strict=True)
        ],
    }
    file = file_options.file_of(out)
    if file is not None:
        write_together({file: lambda opened: channel_files.write(optimum.channel, opened, file)})
    written = channel_files.document(optimum.channel)
    if out is not None and file is None and not as_json:
        return print_json(written)
    if options.Output(None, as_json).give(report):
        show_minimax(report, file)


def _number(text: str, size: int) -> int:
    with suppress(NotANumber):
        if 0 <= (secret := exact_integer(text)) < size:
            return secret
    remedy = "Secrets are numbered from 0."
    raise OutOfRange(f"--possible must list names of secrets, or numbers in 0..{size - 1}", came=text, remedy=remedy)
