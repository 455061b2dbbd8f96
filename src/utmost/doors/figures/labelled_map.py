"""A map of labelled places: a disc at each, as large as its share."""

from collections.abc import Mapping, Sequence
from math import cos, pi, radians, sqrt
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.doors.figures.canvas import BLUE, INK, PALE, RED, page, write

_NAMED = 20  # labels beside the largest discs: more would cover each other
_LARGEST = 420.0  # of a disc, in square points


def labelled_map(
    maps: Mapping[str, Sequence[float]],
    positions: NDArray[np.float64],
    labels: Sequence[str],
    marked: int,
    file: BinaryIO,
    path: Path,
    *,
    in_degrees: bool,
    caption: str = "",
) -> None:
    """Write one map beside the other, north above.

    Args:
        maps: titles, each with a share for every place; the area of a disc is in proportion to it.
        positions: (n, 2) latitudes and longitudes, or northings and eastings.
        labels: the names of the places; the twenty with the largest shares are written.
        marked: the place to draw in red.
        file: where to write. path: its name, for the format.
        in_degrees: whether positions are degrees: then a degree east is drawn as long as it is at their middle.
        caption: a line below the maps.

    Raises:
        Unsupported: where matplotlib is not installed.
    """
    north, east = positions[:, 0], _around(positions[:, 1]) if in_degrees else positions[:, 1]
    stretch = 1 / max(cos(radians(float(north.mean()))), 0.05) if in_degrees else 1.0
    figure, panels = page(5.4 * len(maps), 5.2, nrows=1, ncols=len(maps), squeeze=False)
    for axes, (title, shares) in zip(panels[0], maps.items(), strict=True):
        _draw(axes, np.asarray(shares, dtype=np.float64), (north, east), labels, marked)
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_aspect(stretch)
    if caption:
        figure.supxlabel(caption, fontsize=9)
    write(figure, file, path.suffix[1:].lower())


def _around(east: NDArray[np.float64]) -> NDArray[np.float64]:
    """Longitudes from the side of the earth on which they lie closer together."""
    west_first, east_first = (east + 180) % 360 - 180, east % 360
    return east_first if np.ptp(east_first) < np.ptp(west_first) else west_first


def _draw(axes: Any, shares: NDArray[np.float64], where: tuple[Any, Any], labels: Sequence[str], marked: int) -> None:
    north, east = where
    axes.scatter(east, north, s=4, color=PALE, zorder=1)
    colours = [RED if k == marked else BLUE for k in range(len(labels))]
    axes.scatter(east, north, s=_LARGEST * shares / shares.max(), color=colours, alpha=0.65, linewidth=0, zorder=2)
    for k in np.argsort(-shares, kind="stable")[:_NAMED]:
        if shares[k] >= shares.max() / 200:
            text = f"{labels[k]} {shares[k]:.1%}"
            above = (0, 2 + sqrt(_LARGEST * shares[k] / shares.max() / pi))
            axes.annotate(
                text, (east[k], north[k]), above, textcoords="offset points", ha="center", fontsize=6.5, color=INK
            )
    axes.margins(0.12)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color(PALE)
