"""What `utmost compare` shows: the curves, and their values in a table."""

from collections.abc import Sequence

from rich.text import Text

from utmost.adapters.figures import plots
from utmost.adapters.screens.parts import grid, number, screen

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_LISTED = 10


def show_curves(epsilons: Sequence[float], curves: plots.Curves, domain: str) -> None:
    """Print the gains over Laplace noise as a picture, and ten of them as numbers."""
    colours = [_COLOURS[at % len(_COLOURS)] for at in range(len(curves))]
    title = Text("Laplace cost / optimal cost", style="bold")
    title.append(f" on the {domain}, by epsilon", style="not bold")
    for name, colour in zip(curves, colours, strict=True):
        title.append(f"   ━ {name}", style=f"not bold {colour}")
    chart = Text()
    for row in plots.terminal(epsilons, curves):
        for text, owner in row:
            chart.append(text, style="" if owner < 0 else colours[owner])
        chart.append("\n")
    stride = (len(epsilons) - 1) // _LISTED
    rows = [
        [number(epsilons[at]), *(f"{ys[at]:.2f}" for ys in curves.values())]
        for at in range(stride, len(epsilons), stride)
    ]
    screen().print(title, Text(), chart, grid(["epsilon", *curves], rows), sep="\n")
