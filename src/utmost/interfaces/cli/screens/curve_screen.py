"""`utmost design --curve`: compute the least loss at many levels; print, write and plot it."""

from collections.abc import Sequence
from pathlib import Path

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import natural
from utmost.core.exact.written_levels import level_facts
from utmost.design.optima.loss_curves import even_levels_between, loss_curve
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.space import Space
from utmost.errors import NotALevel, OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.screens.screen import facts, gap_progress, grid, number, screen
from utmost.tables.files.atomic import write_together


def curve_levels(text: str, unit: str | None) -> tuple[Level, ...]:
    """Read levels from "FROM:TO:STEPS", for one unit of distance, or for the distance after " per "."""
    span, _, per = text.partition(" per ")
    parts = [part.strip() for part in span.split(":")]
    if len(parts) != 3:
        raise OutOfRange(
            "--curve must be FROM:TO:STEPS", came=repr(text), remedy="Write, for example, --curve 1/4:4:16."
        )
    return even_levels_between(parts[0], parts[1], natural(parts[2], "steps"), per=per.strip() or None, unit=unit)


def show_loss_curve(
    space: Space,
    consumer: Consumer,
    levels: Sequence[Level],
    named: dict[str, str],
    answer: options.Output,
    plot: Path | None,
) -> None:
    """Compute, plot, write and print the curve; `named` has space, prior and loss as the user typed them."""
    from utmost.interfaces.figures.canvas import check_format

    if plot is not None:
        check_format(plot)
    with gap_progress("Designing", ends_at_once=False) as log:
        curve = loss_curve(space, consumer, levels, progress=lambda _, rounds, gap: log(rounds, gap))
    if plot is not None:
        from utmost.interfaces.figures.loss_pictures import loss_figure

        write_together({plot: lambda file: loss_figure(curve, file, plot, unit=space.unit, loss=named["loss"])})
    points = [
        {
            **level_facts(design.certificate.ptype.level),
            "expected_loss": float(design.loss),
            "lower_bound": float(design.lower),
            "method": design.method,
            "verified": design.certificate.verify(),
        }
        for design in curve.designs
    ]
    report = {**named, "unit": space.unit, "complete": len(points) == len(levels), "levels": points}
    if answer.give(report):
        console = screen()
        console.print(facts({"secrets": named["space"], "consumer": f"prior {named['prior']}, loss {named['loss']}"}))
        rows = [
            [number(level.epsilon_float), number(loss), number(lower)]
            for level, loss, lower in zip(curve.levels, curve.losses, curve.lower, strict=True)
        ]
        title = "epsilon" + (f" per {space.unit}" if space.unit else "")
        console.print(grid([title, "expected loss", "lower bound for every private mechanism"], rows))


def check_no_level(level: options.LevelOptions) -> None:
    """Refuse --epsilon beside --curve, which has its own levels."""
    if level.is_given:
        raise NotALevel("only one of --curve and --epsilon may be given", came="both", remedy="Leave one out.")
