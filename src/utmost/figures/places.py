"""Mechanisms as shaded cells, and heat maps of places on a grid."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.figures.canvas import INK, page, write
from utmost.tables.extra import extra

_EMPTY = 1e-4  # of the largest share in a map: below it a place is left white


def places_figure(
    maps: Mapping[str, Sequence[float]], shape: tuple[int, int], marked: int, file: BinaryIO, path: Path
) -> None:
    """Write one heat map beside the other.

    Args:
        maps: titles, each with a share for every place, row by row.
        shape: rows and columns of the grid.
        marked: the place to draw a circle around.
        file: where to write. path: its name, for the format.

    Raises:
        Unsupported: where matplotlib is not installed.
    """
    matplotlib = extra("matplotlib", "plot")
    canvas = extra("matplotlib.figure", "plot").Figure(figsize=(3.9 * len(maps), 4.2), layout="constrained")
    panels = canvas.subplots(1, len(maps), squeeze=False)[0]
    for axes, (title, shares) in zip(panels, maps.items(), strict=True):
        _draw(axes, title, np.asarray(shares, dtype=np.float64).reshape(shape), marked)
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    with matplotlib.rc_context({"svg.hashsalt": "utmost"}):
        canvas.savefig(file, format=path.suffix[1:].lower(), dpi=160, metadata=metadata)


def _draw(axes: Any, title: str, shares: Any, marked: int) -> None:
    shown = np.ma.masked_less(shares, _EMPTY * shares.max())
    image = axes.imshow(np.sqrt(shown), cmap="YlGnBu", vmin=0)
    axes.set_title(title, fontsize=10)
    axes.set_xticks(np.arange(-0.5, shares.shape[1]), minor=True)
    axes.set_yticks(np.arange(-0.5, shares.shape[0]), minor=True)
    axes.grid(which="minor", color="#e4e4e4", linewidth=0.6)
    axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    for side in axes.spines.values():
        side.set_visible(False)
    row, column = divmod(marked, shares.shape[1])
    axes.plot(column, row, "o", markersize=13, markerfacecolor="none", markeredgecolor="#d1495b", markeredgewidth=1.8)
    bar = axes.figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.75, pad=0.03, aspect=30)
    ends = np.sqrt(np.array([0, 0.25, 1]) * shares.max())
    bar.set_ticks(ends, labels=[f"{share:.1%}" for share in ends**2])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8)


def mechanism(file: BinaryIO, kind: str, matrix: Any, title: str) -> None:
    """The probabilities of a channel, a row for each secret, a column for each response; written out and shaded."""
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
