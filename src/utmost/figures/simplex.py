"""Drawing beliefs about three secrets: each is a point of a triangle, a hyper is a set of weighted points."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.errors import OutOfRange
from utmost.figures.canvas import check_format, write
from utmost.tables.extra import extra

COLOURS = ("#2a78b5", "#d1495b", "#3c8d6e", "#b7791f", "#7d4e9e")
_INK, _FAINT = "#333333", "#d9d9d9"

# Secrets 0, 1, 2 stand at the left, on top and at the right, so that the middle one of a line stands between.
_CORNERS = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
_LABEL_PLACES = ((-0.035, -0.045, "right"), (0.0, 0.045, "center"), (0.035, -0.045, "left"))

# The area of a point of weight 1, and of one without a weight, in square points.
_AREA, _SMALL = 900, 34


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A convex polygon of beliefs.

    Attributes:
        corners: (3, k), one belief in each column, in any order.
        name: what the legend says.
        colour: for its edge; its inside is a tint of it.
    """

    corners: Any
    name: str
    colour: str = COLOURS[0]


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorPoints:
    """Beliefs with weights: the posteriors of a hyper, or vertices of a region.

    Attributes:
        beliefs: (3, m), one in each column.
        name: what the legend says.
        weights: (m,) areas of the points, written beside them; None for small points of one size.
        colour: for the points.
        joined: draw the hull of the points, inside which every mechanism that this one can be turned into lies.
    """

    beliefs: Any
    name: str
    weights: Any = None
    colour: str = COLOURS[1]
    joined: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One triangle: regions below, points above, and the prior as a cross.

    Attributes:
        title: above the triangle.
        regions: see `Region`.
        points: see `Points`.
        prior: (3,), or None for no cross.
    """

    title: str
    regions: Sequence[Region] = ()
    points: Sequence[PosteriorPoints] = ()
    prior: Any = None


def simplex_figure(
    panels: Sequence[Panel], file: BinaryIO, path: Path, labels: Sequence[str] = ("0", "1", "2")
) -> None:
    """Draw triangles side by side into a file of the kind that the path names.

    Args:
        panels: one or more.
        file: open for writing.
        path: ends in .svg, .png or .pdf.
        labels: the names of the three secrets.

    Raises:
        OutOfRange: for another ending, and for beliefs about another number of secrets than three.
        Unsupported: where matplotlib is not installed.
    """
    check_format(path)
    if len(labels) != 3:
        raise OutOfRange("only beliefs about three secrets can be drawn in a triangle", came=f"{len(labels)} secrets")
    canvas = extra("matplotlib.figure", "plot").Figure(figsize=(4.6 * len(panels), 4.9), layout="constrained")
    axes = np.atleast_1d(canvas.subplots(1, len(panels)))
    for where, panel in zip(axes, panels, strict=True):
        draw_simplex(where, panel, labels)
    write(canvas, file, path.suffix[1:].lower())


def draw_simplex(axes: Any, panel: Panel, labels: Sequence[str] = ("0", "1", "2")) -> None:
    """Draw one triangle on matplotlib axes."""
    _frame(axes, labels)
    for region in panel.regions:
        hull = _around(in_the_plane(region.corners))
        axes.fill(*hull.T, facecolor=region.colour, alpha=0.12, zorder=1)
        axes.plot(*np.vstack([hull, hull[:1]]).T, color=region.colour, linewidth=1.4, label=region.name, zorder=2)
    for points in panel.points:
        _draw_points(axes, points)
    if panel.prior is not None:
        axes.plot(
            *in_the_plane(np.reshape(panel.prior, (3, 1))).T, "+", color=_INK, ms=11, mew=1.8, label="prior", zorder=6
        )
    axes.set_title(panel.title, fontsize=12, color=_INK, pad=12)
    if any(axes.get_legend_handles_labels()):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False, fontsize=10, ncols=2)


def in_the_plane(beliefs: Any) -> Any:
    """Columns of probabilities as points of the plane, (m, 2)."""
    columns = np.array(beliefs, dtype=float)
    if columns.ndim != 2 or len(columns) != 3:
        raise OutOfRange("only beliefs about three secrets can be drawn in a triangle", came=f"shape {columns.shape}")
    return columns.T @ _CORNERS


def _frame(axes: Any, labels: Sequence[str]) -> None:
    """The triangle, with lines at every quarter of each probability."""
    for part in (0.25, 0.5, 0.75):
        for secret in range(3):
            ends = np.zeros((3, 2))
            ends[secret] = part
            ends[(secret + 1) % 3, 0] = ends[(secret + 2) % 3, 1] = 1 - part
            axes.plot(*in_the_plane(ends).T, color=_FAINT, linewidth=0.7, zorder=0)
    axes.plot(*np.vstack([_CORNERS, _CORNERS[:1]]).T, color=_INK, linewidth=1.2, zorder=0)
    for corner, (right, up, side), label in zip(_CORNERS, _LABEL_PLACES, labels, strict=True):
        axes.text(corner[0] + right, corner[1] + up, label, ha=side, va="center", fontsize=12, color=_INK)
    axes.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.09, 0.95))
    axes.axis("off")


def _draw_points(axes: Any, points: PosteriorPoints) -> None:
    places = in_the_plane(points.beliefs)
    if points.joined and len(places) > 1:
        hull = _around(places)
        axes.plot(*np.vstack([hull, hull[:1]]).T, color=points.colour, linewidth=1.1, linestyle=(0, (4, 3)), zorder=3)
    weights = None if points.weights is None else np.array(points.weights, dtype=float)
    areas = _SMALL if weights is None else np.maximum(_AREA * weights, _SMALL / 3)
    style = {"color": points.colour, "alpha": 0.85}
    axes.scatter(*places.T, s=areas, edgecolors="white", linewidths=1.0, zorder=4, **style)
    axes.plot([], [], "o", ms=7, mec="white", label=points.name, **style)
    if weights is not None:
        _write_weights(axes, places, points.weights, weights)


def _write_weights(axes: Any, places: Any, texts: Any, weights: Any) -> None:
    """Each weight beside its point, on the side away from the other points."""
    arms = places - weights @ places / weights.sum()
    sizes = np.hypot(*arms.T)
    ways = np.where(sizes[:, None] > 1e-6, arms / np.maximum(sizes, 1e-9)[:, None], [0.0, -1.0])
    for place, way, text, weight in zip(places, ways, texts, weights, strict=True):
        far = 11 + np.sqrt(_AREA * weight / np.pi)
        style = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 9, "color": _INK}
        axes.annotate(_short(text), place, tuple(way * [far + 4, far]), zorder=7, **style)


def _around(places: Any) -> Any:
    """The corners of a convex polygon, in the order in which one walks around it."""
    arms = places - places.mean(axis=0)
    return places[np.argsort(np.arctan2(arms[:, 1], arms[:, 0]))]


def _short(weight: Any) -> str:
    """A weight as it is read: a short fraction as such, anything else to three digits."""
    text = str(weight)
    return text if "/" in text and len(text) <= 7 else f"{float(weight):.3g}"
