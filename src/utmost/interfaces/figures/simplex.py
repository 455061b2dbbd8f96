"""Plot beliefs (probabilities of secrets): about three secrets in a triangle, about four in a tetrahedron."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array
from utmost.errors import OutOfRange
from utmost.interfaces.figures.canvas import check_format, page, write

COLOURS = ("#2a78b5", "#d1495b", "#3c8d6e", "#b7791f", "#7d4e9e")
_INK, _FAINT = "#333333", "#d9d9d9"

# Secrets 0, 1, 2 are at the left, top and right, so that the middle secret of a line is between the others.
_TRIANGLE = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
_LABEL_PLACES = ((-0.035, -0.045, "right"), (0.0, 0.045, "center"), (0.035, -0.045, "left"))

# Area of a point of weight 1, and of a point without weight, in square points.
_AREA, _SMALL = 900, 34


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A convex polygon of beliefs, to plot in a triangle."""

    corners: Any  # (3, k): one belief in each column, in any order
    name: str  # in the legend
    colour: str = COLOURS[0]  # of the edge; the inside is a tint


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorPoints:
    """Weighted beliefs to plot as points: the posteriors of a hyper, or the vertices of a region."""

    beliefs: Any  # (3, m): one belief in each column
    name: str  # in the legend
    weights: Any = None  # (m,): areas, written beside the points; None: small points
    colour: str = COLOURS[1]
    joined: bool = False  # draw the convex hull: the posteriors after any post-processing


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One triangle to plot: regions below, points above, and the prior (3,) as a cross."""

    title: str
    regions: Sequence[Region] = ()
    points: Sequence[PosteriorPoints] = ()
    prior: Any = None


def simplex_figure(
    panels: Sequence[Panel], file: BinaryIO, path: Path, labels: Sequence[str] = ("0", "1", "2")
) -> None:
    """Plot triangles side by side; `labels` are the names of the three secrets."""
    check_format(path)
    if len(labels) != 3:
        raise OutOfRange("only beliefs about three secrets can be drawn in a triangle", came=f"{len(labels)} secrets")
    figure, axes = page(4.6 * len(panels), 4.9, nrows=1, ncols=len(panels), squeeze=False)
    for where, panel in zip(axes[0], panels, strict=True):
        draw_simplex(where, panel, labels)
    write(figure, file, path.suffix[1:].lower())


def draw_simplex(axes: Any, panel: Panel, labels: Sequence[str] = ("0", "1", "2")) -> None:
    # Draw the triangle, with lines at every quarter of each probability.
    for part in (0.25, 0.5, 0.75):
        for secret in range(3):
            ends = np.zeros((3, 2))
            ends[secret] = part
            ends[(secret + 1) % 3, 0] = ends[(secret + 2) % 3, 1] = 1 - part
            axes.plot(*in_the_plane(ends).T, color=_FAINT, linewidth=0.7, zorder=0)
    axes.plot(*np.vstack([_TRIANGLE, _TRIANGLE[:1]]).T, color=_INK, linewidth=1.2, zorder=0)
    for corner, (right, up, side), label in zip(_TRIANGLE, _LABEL_PLACES, labels, strict=True):
        axes.text(corner[0] + right, corner[1] + up, label, ha=side, va="center", fontsize=12, color=_INK)
    axes.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.09, 0.95))
    axes.axis("off")
    for region in panel.regions:
        hull = _cyclic(in_the_plane(region.corners))
        axes.fill(*hull.T, facecolor=region.colour, alpha=0.12, zorder=1)
        axes.plot(*np.vstack([hull, hull[:1]]).T, color=region.colour, linewidth=1.4, label=region.name, zorder=2)
    for points in panel.points:
        positions = in_the_plane(points.beliefs)
        if points.joined and len(positions) > 1:
            hull = _cyclic(positions)
            axes.plot(
                *np.vstack([hull, hull[:1]]).T, color=points.colour, linewidth=1.1, linestyle=(0, (4, 3)), zorder=3
            )
        weights = None if points.weights is None else np.array(points.weights, dtype=float)
        areas = _SMALL if weights is None else np.maximum(_AREA * weights, _SMALL / 3)
        style = {"color": points.colour, "alpha": 0.85}
        axes.scatter(*positions.T, s=areas, edgecolors="white", linewidths=1.0, zorder=4, **style)
        axes.plot([], [], "o", ms=7, mec="white", label=points.name, **style)
        if weights is not None:
            # Write each weight beside its point, on the side away from the other points.
            arms = positions - weights @ positions / weights.sum()
            sizes = np.hypot(*arms.T)
            directions = np.where(sizes[:, None] > 1e-6, arms / np.maximum(sizes, 1e-9)[:, None], [0.0, -1.0])
            for position, direction, text, weight in zip(positions, directions, points.weights, weights, strict=True):
                words = str(text) if "/" in str(text) and len(str(text)) <= 7 else f"{weight:.3g}"
                far = 11 + np.sqrt(_AREA * weight / np.pi)
                style = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 9, "color": _INK}
                axes.annotate(words, position, tuple(direction * [far + 4, far]), zorder=7, **style)
    if panel.prior is not None:
        axes.plot(
            *in_the_plane(np.reshape(panel.prior, (3, 1))).T, "+", color=_INK, ms=11, mew=1.8, label="prior", zorder=6
        )
    axes.set_title(panel.title, fontsize=12, color=_INK, pad=12)
    if any(axes.get_legend_handles_labels()):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False, fontsize=10, ncols=2)


def in_the_plane(beliefs: Any) -> Any:
    """Return beliefs (3, m) as points of the plane (m, 2)."""
    columns = np.array(beliefs, dtype=float)
    if columns.ndim != 2 or len(columns) != 3:
        raise OutOfRange("only beliefs about three secrets can be drawn in a triangle", came=f"shape {columns.shape}")
    return columns.T @ _TRIANGLE


def _cyclic(positions: Any) -> Any:
    """Return the corners of a convex polygon in cyclic order."""
    arms = positions - positions.mean(axis=0)
    return positions[np.argsort(np.arctan2(arms[:, 1], arms[:, 0]))]


_BEHIND = "#9a9a9a"

# A regular tetrahedron: secrets 0, 1, 2 below, secret 3 on top; seen from the front, a little from the right and above.
_TETRAHEDRON = np.array(
    [[-1.0, -1 / np.sqrt(3), 0.0], [1.0, -1 / np.sqrt(3), 0.0], [0.0, 2 / np.sqrt(3), 0.0], [0.0, 0.0, np.sqrt(8 / 3)]]
)
_TURN, _TILT = np.radians(-16.0), np.radians(16.0)
_LIGHT = np.array([-0.45, -0.75, 0.5]) / np.linalg.norm([-0.45, -0.75, 0.5])
# The directions to the right, towards the eye, and up.
_RIGHT = np.array([np.cos(_TURN), np.sin(_TURN), 0.0])
_EYE = np.array([np.sin(_TURN) * np.cos(_TILT), -np.cos(_TURN) * np.cos(_TILT), np.sin(_TILT)])
_UP = np.cross(_EYE, _RIGHT)


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A convex solid of beliefs."""

    corners: Array  # (4, N): one belief in each column
    faces: tuple[NDArray[np.intp], ...]  # numbers of the corners of each face


def draw_tetrahedron(axes: Any, solid: Solid, marked: tuple[NDArray[np.float64], Array], labels: list[str]) -> None:
    """Plot the simplex on four secrets, a solid, marked posteriors (4, m) with weights (m,), and their convex hull."""
    flat, centre = _flat(_TETRAHEDRON), _flat(_TETRAHEDRON).mean(axis=0)
    hidden = int(np.argmin(_TETRAHEDRON @ _EYE))
    for x in range(4):
        for y in range(x):
            behind = hidden in (x, y)
            style = {"linestyle": (0, (4, 4)), "color": _BEHIND} if behind else {"color": _INK}
            axes.plot(*flat[[x, y]].T, linewidth=1.0, zorder=0 if behind else 1, **style)
    for position, label in zip(flat, labels, strict=True):
        away = (position - centre) / np.linalg.norm(position - centre)
        far = (11 + 3.2 * len(label)) * away[0], 14 * away[1]
        axes.annotate(label, position, far, textcoords="offset points", ha="center", va="center", fontsize=12)
    positions = solid.corners.T @ _TETRAHEDRON
    middle = positions.mean(axis=0)
    front = np.zeros(len(positions), dtype=bool)
    for face in sorted(solid.faces, key=lambda face: (positions[face] @ _EYE).mean()):
        # Two directions along the face give the cyclic order of its corners; the third one is its normal.
        arms = positions[face] - positions[face].mean(axis=0)
        _, _, (across, along, normal) = np.linalg.svd(arms)
        flat = _flat(positions[face][np.argsort(np.arctan2(arms @ along, arms @ across))])
        border = np.vstack([flat, flat[:1]]).T
        if normal @ (positions[face].mean(axis=0) - middle) < 0:
            normal = -normal
        if normal @ _EYE > 1e-9:
            front[face] = True
            shade = 0.12 + 0.42 * (1 - float(normal @ _LIGHT)) / 2
            axes.fill(*flat.T, facecolor=COLOURS[0], alpha=shade, zorder=3)
            axes.plot(*border, color=COLOURS[0], linewidth=1.5, zorder=4)
        else:
            axes.plot(*border, color=COLOURS[0], linewidth=0.7, alpha=0.5, ls=(0, (3, 3)), zorder=2)
    flat = _flat(positions)
    axes.plot(*flat[~front].T, "o", ms=4, color=_BEHIND, zorder=2)
    axes.plot(*flat[front].T, "o", ms=5.5, color=_INK, mec="white", mew=0.8, label="vertices", zorder=6)
    # Plot the marked posteriors with areas proportional to their weights, and lines between all pairs.
    beliefs, weights = marked
    flat = _flat(beliefs.T @ _TETRAHEDRON)
    for x in range(len(flat)):
        for y in range(x):
            axes.plot(*flat[[x, y]].T, color=COLOURS[1], linewidth=1.1, linestyle=(0, (4, 3)), zorder=7)
    areas = np.maximum(700 * np.array(weights, dtype=float), 30)
    axes.scatter(*flat.T, s=areas, color=COLOURS[1], alpha=0.9, edgecolors="white", linewidths=1, zorder=8)
    axes.plot([], [], "o", ms=8, color=COLOURS[1], mec="white", label="a kernel")
    axes.plot(*_flat(np.full((1, 4), 0.25) @ _TETRAHEDRON).T, "+", color=_INK, ms=11, mew=1.8, label="prior", zorder=9)
    axes.set(aspect="equal")
    axes.axis("off")
    axes.margins(0.07)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), frameon=False, fontsize=10, ncols=3)


def _flat(points: Any) -> Any:
    """Project points of space (m, 3) to the plane of the picture (m, 2)."""
    return np.column_stack([points @ _RIGHT, points @ _UP])
