"""Plot curves in a terminal or a file, mechanisms as shaded cells, and maps of places, with matplotlib."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.errors import OutOfRange
from utmost.tables.optional_imports import extra

Picture = Callable[[BinaryIO, str], None]
"""A function that draws into an open file as "svg", "png" or "pdf"."""

BLUE, RED, GOLD, GREEN, INK, PALE = "#2a78b5", "#d1495b", "#e3a02f", "#3a9d7c", "#333333", "#b9c4cc"
BY_TRUST = ("#12355b", "#1f6fb2", "#5aa5d8", "#94c8e8", "#c3e0f1", "#e8f2f9")
"""Colours of the members of a network, from near to far."""


@cache
def _figure_type() -> Any:
    """Return a class of matplotlib figures that a notebook shows without pyplot and its global state."""
    plain = extra("matplotlib.figure", "plot").Figure

    # matplotlib is imported on first use, so that type checkers do not know the base class.
    class NotebookFigure(plain):  # type: ignore[misc, valid-type]
        def _repr_png_(self) -> bytes:
            out = BytesIO()
            self.savefig(out, format="png", dpi=110)
            return out.getvalue()

    return NotebookFigure


def page(width: float, height: float, **subplots: Any) -> tuple[Any, Any]:
    """Return a figure of this size in inches, and its axes."""
    figure = _figure_type()(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**subplots)


def bare(axes: Any) -> None:
    """Remove the top and the right line of the frame around axes."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, color=PALE)


def write(figure: Any, file: BinaryIO, kind: str) -> None:
    """Write the figure as "svg", "png" or "pdf"; equal figures give equal bytes."""
    matplotlib = extra("matplotlib", "plot")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "utmost"}):
        figure.savefig(file, format=kind, dpi=160, metadata=metadata)


Curves = Mapping[str, Sequence[float]]
"""Mapping from names to curves; a curve has one value for each x."""

# A braille character is two dots wide and four high; each dot is one bit of its code point.
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))

_TICKS, _ROWS_A_TICK, _WIDTH = 5, 3, 66

PICTURE_FORMATS = (".svg", ".png", ".pdf")

# A count is left out if its probability is a smaller fraction of the largest probability.
_FAINT = 1e-3


def braille(xs: Sequence[float], ys: Sequence[float], top: float, width: int, height: int) -> list[list[int]]:
    """Return a curve, with y from 0 to `top`, as `height` rows of `width` sets of braille dots."""
    across, up = 2 * width - 1, 4 * height - 1
    columns = np.arange(across + 1)
    dots_up = np.interp(np.linspace(xs[0], xs[-1], across + 1), xs, ys) / top * up
    cells = [[0] * width for _ in range(height)]
    for at, dot_up in zip(columns.tolist(), np.rint(dots_up).astype(int).tolist(), strict=True):
        if 0 <= dot_up <= up:
            row, dot = divmod(up - dot_up, 4)
            cells[row][at // 2] |= _DOTS[dot][at % 2]
    return cells


def terminal_curves(xs: Sequence[float], curves: Curves) -> list[list[tuple[str, int]]]:
    """Return curves, with y from 0, as rows of pairs (text, index of the curve); text of no curve has -1."""
    # The step between ticks is the least of 1, 2, 2.5, 5 times a power of ten with which the curves fit.
    least = max(max(ys) for ys in curves.values()) / _TICKS
    size = 10.0 ** np.floor(np.log10(least)) if least > 0 else 1.0
    step = next(float(size * factor) for factor in (1, 2, 2.5, 5, 10) if size * factor >= least)
    height = _TICKS * _ROWS_A_TICK
    drawn = [braille(xs, ys, step * _TICKS, _WIDTH, height) for ys in curves.values()]
    rows = []
    for row in range(height):
        tick = f"{step * (_TICKS - row // _ROWS_A_TICK):6g} ┤" if row % _ROWS_A_TICK == 0 else "       │"
        # Merge one row of dots of all curves; where curves meet, the first curve gives the colour.
        layers = [layer[row] for layer in drawn]
        cells = []
        for dots in zip(*layers, strict=True):
            owner = next((number for number, is_lit in enumerate(dots) if is_lit), -1)
            cells.append((chr(_BRAILLE + int(np.bitwise_or.reduce(dots))), owner))
        rows.append([(tick, -1), *cells])
    rows.append([("     0 ┼" + "─" * _WIDTH, -1)])
    # Write up to six numbers under the axis, each centred at its position; integers if all x are integers.
    line, span = "", xs[-1] - xs[0]
    marks = [xs[0] + span * i / 5 for i in range(6)]
    if all(float(x).is_integer() for x in xs):
        marks = list(dict.fromkeys(float(round(mark)) for mark in marks))
    for number in marks:
        mark = f"{number:g}"
        line = line.ljust(int(_WIDTH * (number - xs[0]) / (span or 1)) - (len(mark) - 1) // 2) + mark
    rows.append([("       " + line, -1)])
    return rows


def check_format(path: Path) -> None:
    if path.suffix.lower() not in PICTURE_FORMATS:
        raise OutOfRange(f"the file of a figure must end in {', '.join(PICTURE_FORMATS)}", came=path.name)


def curves_figure(xs: Sequence[float], curves: Curves, file: BinaryIO, *, kind: str, x: str, y: str) -> None:
    """Plot curves, each with its name at its right end."""
    figure, axes = page(7, 4.5)
    for name, ys in curves.items():
        (line,) = axes.plot(xs, ys, linewidth=1.8)
        axes.annotate(
            name, (xs[-1], ys[-1]), xytext=(5, 0), textcoords="offset points", va="center", color=line.get_color()
        )
    axes.set(xlabel=x, ylabel=y, xlim=(xs[0], xs[-1]), ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    write(figure, file, kind)


def posterior_figure(prior: Any, posterior: Any, response: int, file: BinaryIO, path: Path) -> None:
    """Plot the probability of each count before and after a response; a line marks the response."""
    before, after = (np.array(belief, dtype=float) for belief in (prior, posterior))
    figure, axes = page(7, 3.6)
    counts = np.arange(len(before))
    seen = np.flatnonzero(np.maximum(before, after) > _FAINT * after.max())
    axes.bar(counts, after, width=0.8, color=BLUE, label="after the response")
    axes.step(counts, before, where="mid", color="#444444", linewidth=1.5, label="before")
    axes.axvline(response, color=RED, linewidth=1.5, linestyle="--", label=f"response {response}")
    axes.set(xlabel="count", ylabel="probability", ylim=(0, None), xlim=(seen[0] - 1, seen[-1] + 1))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    write(figure, file, path.suffix[1:].lower())


_EMPTY = 1e-4  # fraction of a map's largest value, below which a place stays white


def places_figure(
    maps: Mapping[str, Sequence[float]],
    shape: tuple[int, int],
    marked: int,
    file: BinaryIO,
    path: Path,
    caption: str = "",
) -> None:
    """Plot heat maps side by side, with a circle around the place with the index `marked`."""
    # `maps` has, by title, a probability for each place, row by row of a lattice of this `shape`.
    figure, panels = page(3.9 * len(maps), 4.2, nrows=1, ncols=len(maps), squeeze=False)
    for axes, (title, shares) in zip(panels[0], maps.items(), strict=True):
        grid = np.asarray(shares, dtype=np.float64).reshape(shape)
        shown = np.ma.masked_less(grid, _EMPTY * grid.max())
        image = axes.imshow(np.sqrt(shown), cmap="YlGnBu", vmin=0)
        axes.set_title(title, fontsize=10)
        axes.set_xticks(np.arange(-0.5, grid.shape[1]), minor=True)
        axes.set_yticks(np.arange(-0.5, grid.shape[0]), minor=True)
        axes.grid(which="minor", color="#e4e4e4", linewidth=0.6)
        axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
        for side in axes.spines.values():
            side.set_visible(False)
        down, across = divmod(marked, grid.shape[1])
        axes.plot(across, down, "o", markersize=13, markerfacecolor="none", markeredgecolor=RED, markeredgewidth=1.8)
        bar = axes.figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.75, pad=0.03, aspect=30)
        ends = np.sqrt(np.array([0, 0.25, 1]) * grid.max())
        bar.set_ticks(ends, labels=[f"{share:.1%}" for share in ends**2])
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelsize=8)
    if caption:
        figure.supxlabel(caption, fontsize=9)
    write(figure, file, path.suffix[1:].lower())


def mechanism_figure(file: BinaryIO, kind: str, matrix: Any, title: str) -> None:
    """Plot the probabilities of a channel as shaded cells with numbers: rows are secrets, columns responses."""
    cells = np.asarray(matrix, dtype=object)
    shades = cells.astype(float)
    figure, axes = page(1.4 + 0.75 * cells.shape[1], 1.3 + 0.55 * cells.shape[0])
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.15 * shades.max(), aspect="auto")
    for (row, column), cell in np.ndenumerate(cells):
        colour = "white" if shades[row, column] > 0.6 * shades.max() else INK
        axes.annotate(str(cell), (column, row), ha="center", va="center", fontsize=9.5, color=colour)
    axes.set_xticks(range(cells.shape[1]))
    axes.set_yticks(range(cells.shape[0]))
    axes.set(xlabel="response", ylabel="true count")
    axes.set_title(title, loc="left", fontsize=10)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    write(figure, file, kind)
