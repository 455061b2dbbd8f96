"""Draw Figures 1 to 8 of Fernandes et al. (2022) from computed values."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations, pairwise
from typing import Any, BinaryIO

import numpy as np

from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import dual_randomized_response, randomized_response
from utmost.design.leakage.hypers import hyper
from utmost.design.leakage.measures import l_uncertainty
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses, priors
from utmost.design.spaces.families import counts, discrete, grid, hamming
from utmost.interfaces.figures.canvas import Picture, page, write
from utmost.interfaces.figures.simplex import COLOURS, Panel, PosteriorPoints, draw_simplex, in_the_plane
from utmost.interfaces.figures.simplex_pictures import beliefs_of, type_panel
from utmost_papers.fernandes_figures import (
    FIGURE_1_CHANNEL,
    FIGURE_8_ROWS,
    HALF,
    PATH,
    kernel_along,
    matrix_of,
)

_INK, _FAINT = "#333333", "#c9c9c9"
_PLANES = ("#b9d3e6", "#f0c3c8", "#c3ddd2")
_SECRETS = ("x1", "x2", "x3")


def pictures() -> Mapping[str, Picture]:
    """Return for each file name, "figure_1" to "figure_8", the function that draws this figure into a file."""
    return {f"figure_{number}": partial(_written, draw) for number, draw in FIGURES.items()}


def _written(draw: Callable[[], Any], file: BinaryIO, kind: str) -> None:
    write(draw(), file, kind)


def figure_1() -> Any:
    """Draw Figure 1: the three posteriors (the hyper) of a channel in a triangle, each with its probability."""
    figure, axes = page(4.8, 5.0)
    beliefs, weights = beliefs_of(matrix_of(FIGURE_1_CHANNEL))
    points = PosteriorPoints(beliefs, "posteriors, with their probabilities", weights, joined=True)
    draw_simplex(axes, Panel("Figure 1: the hyper of a channel", (), [points], np.full(3, 1 / 3)), ("x0", "x1", "x2"))
    return figure


def figure_2() -> Any:
    """Draw Figure 2: the region of posteriors that the level epsilon = ln 2 allows, and the lines where a privacy
    constraint is tight.
    """
    figure, axes = page(5.2, 5.4)
    space = counts(2)
    panel = type_panel(
        PrivacyType(space, alpha=HALF), names=(), title="Figure 2: the posteriors that ln 2 allows on a line"
    )
    draw_simplex(axes, panel, _SECRETS)
    for k, (x, y) in enumerate(combinations(range(3), 2)):
        for a, b in ((x, y), (y, x)):
            ratio = 0.5 ** int(space.distances[a, b])
            edge = np.zeros(3)
            edge[a], edge[b] = 1, ratio
            apex = np.eye(3)[3 - a - b]
            ends = in_the_plane(np.column_stack([edge / edge.sum(), apex]))
            axes.plot(*ends.T, color=COLOURS[k + 1], linewidth=1.2, alpha=0.75, zorder=1)
    return figure


def figure_3() -> Any:
    """Draw Figure 3: the uncertainty U of nib loss over a triangle, three planes that meet above the uniform prior."""
    figure, axes = page(5.6, 4.6)
    corners, middle = np.eye(3), np.full((1, 3), 1 / 3)
    base = _above_triangle(corners, np.zeros(3))
    apex = _above_triangle(middle, np.array([float(l_uncertainty(losses.nib).prior(priors.uniform(3)))]))
    for k, (x, y) in enumerate([(1, 2), (0, 1), (0, 2)]):
        plane = np.vstack([base[[x, y]], apex])
        axes.fill(*plane.T, color=_PLANES[k], alpha=(0.95, 0.9, 0.8)[k], linewidth=0, zorder=2)
        hidden = {"linestyle": (0, (4, 3)), "color": "#888888"} if k == 0 else {"color": _INK}
        axes.plot(*plane[:2].T, linewidth=1.1, zorder=3, **hidden)
        axes.plot(*plane[[0, 2, 1]].T, color=_INK, linewidth=1.1, zorder=3)
    centre = _above_triangle(middle, np.zeros(1))
    axes.plot(*np.vstack([centre, apex]).T, color=_INK, linewidth=1, linestyle=(0, (3, 3)), zorder=4)
    axes.plot(*apex.T, "o", color=_INK, ms=5, zorder=5)
    axes.annotate("U(υ) = 1/3", apex[0], (10, 6), textcoords="offset points", fontsize=11, color=_INK)
    for corner, label, off in zip(base, _SECRETS, [(-12, -6), (-13, 6), (12, 4)], strict=True):
        axes.annotate(label, corner, off, textcoords="offset points", ha="center", va="center", fontsize=12)
    axes.set_title("Figure 3: U for nib is not planar: one plane for each action", fontsize=12, pad=16)
    axes.set(aspect="equal")
    axes.axis("off")
    axes.margins(0.12)
    return figure


def figure_4() -> Any:
    """Draw Figure 4: the posteriors allowed on a line of three secrets, and those of the geometric mechanism."""
    figure, axes = page(5.0, 5.2)
    geometric = geometric_channel(3, alpha=HALF)
    title = "Figure 4: the line of three, and the geometric mechanism"
    panel = type_panel(PrivacyType(counts(2), alpha=HALF), geometric, names=("geometric",), title=title)
    draw_simplex(axes, panel, ("0", "1", "2"))
    return figure


def figure_5() -> Any:
    """Draw Figure 5: the posteriors allowed for three equidistant secrets, those of randomised response, and those of
    its dual.
    """
    figure, axes = page(5.0, 5.3)
    both = (randomized_response(3, alpha=HALF), dual_randomized_response(3, alpha=HALF))
    panel = type_panel(
        PrivacyType(discrete(3), alpha=HALF),
        *both,
        names=("random response", "its dual"),
        title="Figure 5: three secrets equally far apart",
    )
    draw_simplex(axes, panel, _SECRETS)
    return figure


def figure_6() -> Any:
    """Draw Figure 6: the nine points of the 2 x 2 grid, and the pairs of points between which no other point lies."""
    figure, axes = page(4.6, 4.8)
    space = grid(3, 3)
    positions = np.array([divmod(x, 3)[::-1] for x in range(9)], dtype=np.float64)
    for x, y in space.edges:
        length = np.linalg.norm(positions[x] - positions[y])
        style = {"color": COLOURS[0], "linewidth": 1.6} if length < 1.2 else {"color": _FAINT, "linewidth": 0.9}
        axes.plot(*positions[[x, y]].T, zorder=1 if length < 1.2 else 0, **style)
    axes.plot(*positions.T, "o", ms=9, color=_INK, mec="white", mew=1.2, zorder=3)
    for corner in ((0, 0), (0, 2), (2, 0), (2, 2)):
        off = (-1 if corner[0] == 0 else 1) * 22, (-1 if corner[1] == 0 else 1) * 12
        axes.annotate(f"({corner[0]}, {corner[1]})", corner, off, textcoords="offset points", ha="center", va="center")
    axes.set_title("Figure 6: the 2 x 2 grid, and the pairs\nbetween which no point lies", fontsize=12)
    axes.set(aspect="equal", xlim=(-0.5, 2.5), ylim=(-0.4, 2.4))
    axes.axis("off")
    return figure


def figure_7() -> Any:
    """Draw Figure 7: the cube of three bits, and a path of four corners whose distances are those of a line."""
    figure, axes = page(4.8, 4.8)
    corners = np.array([_on_the_cube(x) for x in range(8)])
    for x, y in hamming(3).edges.tolist():
        on = any({x, y} == set(step) for step in pairwise(PATH))
        style = {"color": "#e07b00", "linewidth": 3.2} if on else {"color": _INK, "linewidth": 1.1}
        axes.plot(*corners[[x, y]].T, zorder=2 if on else 1, **style)
    axes.plot(*corners.T, "o", ms=8, color=_INK, mec="white", mew=1.2, zorder=3)
    middle = corners.mean(axis=0)
    for x, corner in enumerate(corners):
        away = (corner - middle) / (np.linalg.norm(corner - middle) + 1e-9)
        off = {0b101: (-15, 11), 0b010: (15, -11)}.get(x, tuple(19 * away))  # placed so that no label lies on an edge
        axes.annotate(f"{x:03b}", corner, off, textcoords="offset points", ha="center", va="center")
    axes.set_title("Figure 7: the cube, and a path that is a line", fontsize=12, pad=12)
    axes.set(aspect="equal")
    axes.axis("off")
    axes.margins(0.16)
    return figure


def figure_8() -> Any:
    """Draw Figure 8: a kernel and its hyper as matrices; darker cells have larger probabilities."""
    figure, (left, right) = page(8.2, 5.6, nrows=1, ncols=2)
    kernel = kernel_along(PrivacyType(hamming(3), alpha=HALF), PATH).restrict(FIGURE_8_ROWS)
    posterior_hyper = hyper(kernel, priors.uniform(8))
    names = [f"{x:03b}" for x in FIGURE_8_ROWS]
    _draw_matrix(left, kernel.matrix, names, [f"y{k + 1}" for k in range(4)], "The kernel K")
    _draw_matrix(
        right, posterior_hyper.posteriors, names, [str(w) for w in posterior_hyper.weights], "Its hyper, weights on top"
    )
    figure.suptitle("Figure 8: a kernel that is the geometric mechanism along the path (in orange)", fontsize=12)
    return figure


FIGURES: dict[int, Callable[[], Any]] = dict(
    enumerate((figure_1, figure_2, figure_3, figure_4, figure_5, figure_6, figure_7, figure_8), start=1)
)
"""The function that draws each figure, by the number of the figure in the paper."""


def _above_triangle(beliefs: Any, heights: Any) -> Any:
    """Return picture coordinates of points at the given heights above the beliefs in a triangle, seen obliquely."""
    ground = in_the_plane(np.asarray(beliefs).T)
    turned = ground @ np.array([[np.cos(0.35), 0.32 * np.sin(0.35)], [-np.sin(0.35), 0.55 * np.cos(0.35)]])
    return turned + np.column_stack([np.zeros(len(heights)), 1.7 * heights])


def _on_the_cube(x: int) -> tuple[float, float]:
    """Return picture coordinates of a corner of the cube. The first bit moves it to the right, the second to the back,
    the third up.
    """
    first, second, third = x >> 2 & 1, x >> 1 & 1, x & 1
    return first + 0.42 * second, third + 0.36 * second


def _draw_matrix(axes: Any, matrix: Any, names: list[str], tops: list[str], title: str) -> None:
    shades = np.array(matrix, dtype=float)
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.1 * shades.max(), aspect="auto")
    for x, row in enumerate(matrix.tolist()):
        for y, entry in enumerate(row):
            dark = shades[x, y] > 0.6 * shades.max()
            axes.text(y, x, str(entry), ha="center", va="center", color="white" if dark else _INK, fontsize=10)
    axes.set_xticks(range(len(tops)), tops)
    axes.set_yticks(range(len(names)), names, family="monospace")
    for tick in axes.get_yticklabels()[:4]:
        tick.set_color("#e07b00")
        tick.set_fontweight("bold")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=11, pad=8)
