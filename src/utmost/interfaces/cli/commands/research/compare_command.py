"""`utmost research compare`: plot and list how much more Laplace noise costs than the optimal noise."""

from collections.abc import Sequence
from typing import Annotated

from utmost.core.exact.numbers import exact
from utmost.core.noise.optimal import gain_curve
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.cost_files import cost_of
from utmost.interfaces.figures import canvas
from utmost.publish.promises.declared_columns import read_numbers
from utmost.tables.files.atomic import write_together

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_LISTED = 10


def show_curves(epsilons: Sequence[float], curves: canvas.Curves, numbers: str) -> None:
    """Print the gains over Laplace noise as curves, and ten points of each curve as numbers."""
    colours = [_COLOURS[at % len(_COLOURS)] for at in range(len(curves))]
    title = ScreenText("Laplace cost / optimal cost", style="bold")
    title.append(f" on the {numbers}, by epsilon")
    for name, colour in zip(curves, colours, strict=True):
        title.append(f"   ━ {name}", style=colour)
    chart = ScreenText()
    for row in canvas.terminal_curves(epsilons, curves):
        for text, owner in row:
            chart.append(text, style="" if owner < 0 else colours[owner])
        chart.append("\n")
    stride = (len(epsilons) - 1) // _LISTED
    rows = [
        [number(epsilons[at]), *(f"{ys[at]:.2f}" for ys in curves.values())]
        for at in range(stride, len(epsilons), stride)
    ]
    screen().print(title, ScreenText(), chart, grid(["epsilon", *curves], rows))


_POINTS = 100


def compare(
    *,
    up_to: Annotated[str, option("NUMBER", "Largest epsilon.")] = "10",
    costs: Annotated[
        list[str], option("NAME", "Cost of an error: absolute, squared or moment:3; repeatable.", "--cost")
    ] = ["absolute", "squared"],  # noqa: B006
    sensitivity: options.Sensitivity = "1",
    numbers: options.Numbers = "reals",
    plot: options.Plot = None,
    answer: options.Output,
) -> None:
    """Plot how much more Laplace noise costs than optimal noise, by epsilon.

    The defaults give Figure 2 of Geng and Viswanath (2012).

    More: docs/theory/noise.md
    """
    if plot is not None:
        canvas.check_format(plot)
    last = exact(up_to, "up-to")
    if last <= 0:
        raise OutOfRange("--up-to must be positive", came=up_to, remedy="Write, for example, --up-to 4.")
    epsilons = [last * at / _POINTS for at in range(_POINTS + 1)]
    curves = {name: gain_curve(epsilons, cost_of(name), sensitivity, read_numbers(numbers)) for name in costs}
    xs = [float(e) for e in epsilons]
    if plot is not None:
        words = {"kind": plot.suffix[1:].lower(), "x": "epsilon", "y": "Laplace cost / optimal cost"}
        write_together({plot: lambda file: canvas.curves_figure(xs, curves, file, **words)})
    report = {"epsilon": xs, "gain": curves, "domain": numbers, "over": "laplace"}
    if answer.give(report):
        show_curves(xs, curves, numbers)
