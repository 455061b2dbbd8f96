"""Drawing a solid inside a tetrahedron, as beliefs about four secrets lie in one: projected, faces shaded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array
from utmost.figures.simplex import COLOURS

_INK, _FAINT = "#333333", "#9a9a9a"

# A regular tetrahedron: secrets 0, 1, 2 below, secret 3 on top; seen from the front, a little from the right and above.
_CORNERS = np.array(
    [[-1.0, -1 / np.sqrt(3), 0.0], [1.0, -1 / np.sqrt(3), 0.0], [0.0, 2 / np.sqrt(3), 0.0], [0.0, 0.0, np.sqrt(8 / 3)]]
)
_TURN, _TILT = np.radians(-16.0), np.radians(16.0)
_LIGHT = np.array([-0.45, -0.75, 0.5]) / np.linalg.norm([-0.45, -0.75, 0.5])


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A convex solid of beliefs.

    Attributes:
        corners: (4, N), one belief in each column.
        faces: for each face, the numbers of its corners, in any order.
    """

    corners: Array
    faces: tuple[NDArray[np.intp], ...]


def draw_tetrahedron(axes: Any, solid: Solid, marked: tuple[NDArray[np.float64], Array], labels: list[str]) -> None:
    """Draw the simplex on four secrets as a tetrahedron, a solid in it, and some posteriors with their hull.

    Args:
        axes: of matplotlib.
        solid: the region.
        marked: (4, m) posteriors and their (m,) weights.
        labels: the names of the secrets.
    """
    _draw_frame(axes, labels)
    places = solid.corners.T @ _CORNERS
    middle = places.mean(axis=0)
    faces = [_around(places, face, middle) for face in solid.faces]
    for face in sorted(faces, key=lambda face: _depth(places[face]).mean()):
        _draw_face(axes, places, face, middle)
    seen = {corner for face in faces if _faces_us(places, face, middle) for corner in face}
    front = np.array([k in seen for k in range(len(places))])
    flat = _flat(places)
    axes.plot(*flat[~front].T, "o", ms=4, color=_FAINT, zorder=2)
    axes.plot(*flat[front].T, "o", ms=5.5, color=_INK, mec="white", mew=0.8, label="vertices", zorder=6)
    _draw_marked(axes, *marked)
    axes.set(aspect="equal")
    axes.axis("off")
    axes.margins(0.07)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), frameon=False, fontsize=10, ncols=3)


def _draw_frame(axes: Any, labels: list[str]) -> None:
    flat, centre = _flat(_CORNERS), _flat(_CORNERS).mean(axis=0)
    hidden = int(np.argmin(_depth(_CORNERS)))
    for x in range(4):
        for y in range(x):
            behind = hidden in (x, y)
            style = {"linestyle": (0, (4, 4)), "color": _FAINT} if behind else {"color": _INK}
            axes.plot(*flat[[x, y]].T, linewidth=1.0, zorder=0 if behind else 1, **style)
    for place, label in zip(flat, labels, strict=True):
        away = (place - centre) / np.linalg.norm(place - centre)
        far = (11 + 3.2 * len(label)) * away[0], 14 * away[1]
        axes.annotate(label, place, far, textcoords="offset points", ha="center", va="center", fontsize=12)


def _draw_face(axes: Any, places: Any, face: list[int], middle: Any) -> None:
    flat, ours = _flat(places[face]), _faces_us(places, face, middle)
    if not ours:
        axes.plot(*np.vstack([flat, flat[:1]]).T, color=COLOURS[0], linewidth=0.7, alpha=0.5, ls=(0, (3, 3)), zorder=2)
        return
    shade = 0.12 + 0.42 * (1 - float(_normal(places, face, middle) @ _LIGHT)) / 2
    axes.fill(*flat.T, facecolor=COLOURS[0], alpha=shade, zorder=3)
    axes.plot(*np.vstack([flat, flat[:1]]).T, color=COLOURS[0], linewidth=1.5, zorder=4)


def _draw_marked(axes: Any, beliefs: Any, weights: Any) -> None:
    """Posteriors with areas like their weights, and lines between all of them."""
    flat = _flat(beliefs.T @ _CORNERS)
    for x in range(len(flat)):
        for y in range(x):
            axes.plot(*flat[[x, y]].T, color=COLOURS[1], linewidth=1.1, linestyle=(0, (4, 3)), zorder=7)
    areas = np.maximum(700 * np.array(weights, dtype=float), 30)
    axes.scatter(*flat.T, s=areas, color=COLOURS[1], alpha=0.9, edgecolors="white", linewidths=1, zorder=8)
    axes.plot([], [], "o", ms=8, color=COLOURS[1], mec="white", label="a kernel")
    axes.plot(*_flat(np.full((1, 4), 0.25) @ _CORNERS).T, "+", color=_INK, ms=11, mew=1.8, label="prior", zorder=9)


def _around(places: Any, face: Any, middle: Any) -> list[int]:
    """The corners of a face in the order in which one walks around it."""
    points = places[face] - places[face].mean(axis=0)
    _, _, axes = np.linalg.svd(points)
    angles = np.arctan2(points @ axes[1], points @ axes[0])
    return [int(k) for k in np.asarray(face)[np.argsort(angles)]]


def _normal(places: Any, face: list[int], middle: Any) -> Any:
    """The outward normal of a face."""
    points = places[face]
    _, _, axes = np.linalg.svd(points - points.mean(axis=0))
    normal = axes[2]
    return normal if normal @ (points.mean(axis=0) - middle) > 0 else -normal


def _faces_us(places: Any, face: list[int], middle: Any) -> bool:
    return bool(_depth(np.array([_normal(places, face, middle)]))[0] > 1e-9)


def _view() -> tuple[Any, Any, Any]:
    """Where right, up and towards the eye are."""
    right = np.array([np.cos(_TURN), np.sin(_TURN), 0.0])
    eye = np.array([np.sin(_TURN) * np.cos(_TILT), -np.cos(_TURN) * np.cos(_TILT), np.sin(_TILT)])
    return right, np.cross(eye, right), eye


def _flat(points: Any) -> Any:
    right, up, _ = _view()
    return np.column_stack([points @ right, points @ up])


def _depth(points: Any) -> Any:
    return points @ _view()[2]
