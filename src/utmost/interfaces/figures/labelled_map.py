"""Plot a map of labelled places: the area of the disc at each place is proportional to its probability."""

from math import cos, pi, radians, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.interfaces.figures.canvas import BLUE, INK, PALE, RED, page

_NAMED = 20  # labels beside the largest discs: more would cover each other
_LARGEST = 420.0  # area of the largest disc, in square points


def map_of_answers(optimum: Any, place: Any = None, *, caption: str = "") -> Any:
    """Plot the prior on places and, beside it, the answers for one place (by default the likeliest)."""
    places, prior = optimum.certificate.ptype.space, optimum.certificate.consumer.prior
    if place is not None and place not in places.labels:
        raise OutOfRange("place must be one of the places of the design", came=repr(place), where="place")
    row = int(prior.argmax()) if place is None else places.labels.index(place)
    positions = places.coordinates
    maps = {"prior": prior, f"answers for {places.labels[row]}": optimum.channel.matrix[row]}
    figure, panels = page(5.4 * len(maps), 5.2, nrows=1, ncols=len(maps), squeeze=False)
    for axes, (title, shares) in zip(panels[0], maps.items(), strict=True):
        draw_places(axes, np.asarray(shares, dtype=np.float64), positions, places, row)
        axes.set_title(title, fontsize=10, color=INK)
    if caption:
        figure.supxlabel(caption, fontsize=9)
    return figure


def draw_places(axes: Any, shares: NDArray[np.float64], positions: NDArray[np.float64], places: Any, row: int) -> None:
    """Plot one map, north at the top: areas of discs are proportional to probabilities; the place at `row` is red."""
    # `positions` is (n, 2): latitudes and longitudes, with longitudes to the scale of the mean latitude; or northings
    # and eastings.
    in_degrees = places.geography.in_degrees
    north, east = positions[:, 0], positions[:, 1]
    if in_degrees:  # longitudes from -180 or from 0 on, whichever makes the map narrower
        west_first, east_first = (east + 180) % 360 - 180, east % 360
        east = east_first if np.ptp(east_first) < np.ptp(west_first) else west_first
    labels = list(map(str, places.labels))
    axes.scatter(east, north, s=4, color=PALE, zorder=1)
    colours = [RED if k == row else BLUE for k in range(len(labels))]
    axes.scatter(east, north, s=_LARGEST * shares / shares.max(), color=colours, alpha=0.65, linewidth=0, zorder=2)
    if not shares[row]:  # a disc of size 0 would be invisible
        axes.scatter(east[row], north[row], s=30, facecolor="none", edgecolor=RED, zorder=2)
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
    axes.set_aspect(1 / max(cos(radians(float(north.mean()))), 0.05) if in_degrees else 1.0)
