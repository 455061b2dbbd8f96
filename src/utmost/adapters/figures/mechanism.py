"""Figure 2 of Ghosh et al.: a mechanism as a table of shaded cells."""

from typing import Any, BinaryIO

import numpy as np

from utmost.adapters.figures.canvas import INK, page, write


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
