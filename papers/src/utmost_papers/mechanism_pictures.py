"""Draw Figures 1 to 5 of Ghosh et al. (2009), and Figure 4 of Koufogiannis et al. (2015)."""

from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np

from utmost.design.optima.beyond_oblivious import conflicting_users
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.optima.structure import constraint_matrix
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts
from utmost.interfaces.figures.canvas import BLUE, GOLD, INK, PALE, RED, mechanism_figure, page, write
from utmost_papers.ghosh import FIGURE_5, SIGNS


def _example() -> Any:
    consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
    return optimal_mechanism(PrivacyType(counts(5), alpha="1/2"), consumer).channel


def derived(file: BinaryIO, kind: str) -> None:
    """Draw Figure 1 of Ghosh et al.: one mechanism for all users, followed by the remap of each user."""
    canvas, axes = page(8.4, 2.9)
    _box(axes, 0.10, 0.5, "database d", PALE)
    _box(axes, 0.36, 0.5, "count f(d),\ngeometric noise", BLUE)
    for k, name in enumerate(("user 1", "user 2", "user u")):
        height = 0.85 - 0.35 * k
        _box(axes, 0.66, height, f"remap of {name}", GOLD)
        _box(axes, 0.91, height, f"optimal for\n{name}", PALE)
        _arrow(axes, (0.455, 0.5), (0.575, height))
        _arrow(axes, (0.745, height), (0.84, height))
    _arrow(axes, (0.175, 0.5), (0.265, 0.5))
    _blank(axes, "Every user's best mechanism is the same noise and a remap of the user's own")
    write(canvas, file, kind)


def worked_optimum(file: BinaryIO, kind: str) -> None:
    """Draw Figure 2 of Ghosh et al.: the optimal mechanism of the consumer of the worked example."""
    mechanism_figure(file, kind, _example().matrix, "The optimal mechanism of the consumer of Example 5.2")


def worked_pattern(file: BinaryIO, kind: str) -> None:
    """Draw Figure 3 of Ghosh et al.: which privacy constraints are tight at the optimal mechanism of Figure 2."""
    pattern = constraint_matrix(_example(), "1/2")
    canvas, axes = page(5.2, 3.6)
    shades = {"down": 0.2, "up": 0.45, "slack": 0.95, "zero": 0.0}
    axes.imshow([[shades[entry] for entry in row] for row in pattern.tolist()], cmap="Blues", vmin=0, vmax=1.2)
    for (i, r), entry in np.ndenumerate(pattern):
        axes.annotate(SIGNS[str(entry)], (r, i), ha="center", va="center", fontsize=12, color=INK)
    axes.set(xlabel="response", ylabel="counts i and i + 1")
    axes.set_title("Its constraint matrix", loc="left", fontsize=10)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    write(canvas, file, kind)


def conflicting(file: BinaryIO, kind: str) -> None:
    """Draw Figure 4 of Ghosh et al.: the mechanism that is optimal for one of two users who cannot share a
    mechanism.
    """
    query, first_user, _ = conflicting_users(Fraction(1, 100))
    X = optimal_mechanism(PrivacyType(query.space, alpha="1/2"), first_user).channel
    named = ["{" + ", ".join(str(k + 1) for k, v in enumerate(d) if v) + "}" for d in query.databases]
    counting_rows = [k for k, d in enumerate(query.databases) if d in FIGURE_5]
    cells = X.matrix[counting_rows][:, 1:3]
    canvas, axes = page(4.4, 3.6)
    axes.imshow(cells.astype(float), cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    for (row, column), cell in np.ndenumerate(cells):
        colour = "white" if float(cell) > 0.6 else INK
        axes.annotate(str(cell), (column, row), ha="center", va="center", fontsize=10, color=colour)
    axes.set_xticks([0, 1], ["1", "2"])
    axes.set_yticks(range(len(counting_rows)), [named[k] for k in counting_rows])
    axes.set(xlabel="response", ylabel="rows that count")
    axes.set_title("x1: the first user's optimum", loc="left", fontsize=10)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    write(canvas, file, kind)


def impossible_mechanism(file: BinaryIO, kind: str) -> None:
    """Plot Figure 5 of Ghosh et al.: the probabilities of the mechanism that two users would have to share, against its
    parameter delta.
    """
    deltas = [Fraction(k, 40) for k in range(41)]
    lines = {d: [_mass(d, delta) for delta in deltas] for d in FIGURE_5}
    canvas, axes = page(6.4, 3.6)
    # a thin line stays visible on a thick line that coincides with it
    styles = zip((BLUE, GOLD, RED, INK), (4.5, 1.4, 4.5, 1.4), strict=True)
    for d, (colour, width) in zip(FIGURE_5, styles, strict=True):
        name = "{" + ", ".join(str(k + 1) for k, v in enumerate(d) if v) + "}"
        axes.plot([float(x) for x in deltas], [float(y) for y in lines[d]], color=colour, linewidth=width, label=name)
    axes.legend(frameon=False, title="rows that count", fontsize=8.5)
    axes.set(xlabel="δ", ylabel="probability of outcome l")
    axes.set_title("Neighbours may differ by a factor 2; {1} and {1, 3} do by more at δ = 1", loc="left", fontsize=9.5)
    axes.spines[["top", "right"]].set_visible(False)
    write(canvas, file, kind)


def _mass(d: tuple[int, int, int], delta: Fraction) -> Fraction:
    denominator, entries = FIGURE_5[d]
    constant, factor = entries[0]
    return Fraction(constant + factor * delta) / denominator


def chain(file: BinaryIO, kind: str) -> None:
    """Draw Figure 4 of Koufogiannis et al.: relaxing needs the data and the last response, but tightening needs no
    data.
    """
    canvas, axes = page(8.4, 2.6)
    _box(axes, 0.5, 0.86, "data u", PALE)
    for k, name in enumerate(("ε₁", "ε₂", "ε₃", "ε₄")):
        x = 0.14 + 0.24 * k
        _box(axes, x, 0.3, f"y at {name}", BLUE)
        _arrow(axes, (0.5, 0.76), (x, 0.42), faint=True)
        if k:
            _arrow(axes, (x - 0.165, 0.33), (x - 0.075, 0.33))
            _arrow(axes, (x - 0.075, 0.24), (x - 0.165, 0.24), faint=True)
    axes.text(
        0.5, 0.04, "to the right: relaxing, with the data; to the left: tightening, without", ha="center", fontsize=9
    )
    _blank(axes, "A chain of responses: together they lose the largest ε")
    write(canvas, file, kind)


def _box(axes: Any, x: float, y: float, text: str, colour: str) -> None:
    style = {"boxstyle": "round,pad=0.45", "facecolor": colour, "alpha": 0.28, "edgecolor": colour}
    axes.text(x, y, text, ha="center", va="center", fontsize=9.5, color=INK, bbox=style)


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], *, faint: bool = False) -> None:
    line = {"arrowstyle": "->", "color": PALE if faint else INK, "linewidth": 1.1}
    axes.annotate("", end, start, arrowprops=line)


def _blank(axes: Any, title: str) -> None:
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_axis_off()
