"""Plot a privacy type (region, vertices, a kernel), and the posteriors of several channels side by side."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, to_floats
from utmost.design.channels.channel import Channel
from utmost.design.geometry.kernel_search import kernels
from utmost.design.geometry.vertex_search import vertices
from utmost.design.leakage.hypers import hyper
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange
from utmost.interfaces.documents.space_names import secret_names
from utmost.interfaces.figures.canvas import check_format, page, write
from utmost.interfaces.figures.simplex import (
    COLOURS,
    Panel,
    PosteriorPoints,
    Region,
    Solid,
    draw_tetrahedron,
    simplex_figure,
)


def check_drawable(ptype: PrivacyType, path: Path) -> None:
    check_format(path)
    if ptype.space.size not in (3, 4):
        raise OutOfRange("only types on 3 or 4 secrets can be drawn", came=f"{ptype.space.size} secrets")


def type_figure(ptype: PrivacyType, file: BinaryIO, path: Path, name: str = "") -> None:
    """Plot the region of posteriors that a type allows, and mark the posteriors of the kernel that leaks most."""
    check_drawable(ptype, path)
    chosen, names = most_leaking(ptype), secret_names(ptype.space)
    if ptype.space.size == 3:
        return simplex_figure([type_panel(ptype, chosen, title=_title(ptype, name))], file, path, names)
    figure, axes = page(6.4, 6.2)
    draw_tetrahedron(axes, type_solid(ptype), beliefs_of(chosen), names)
    axes.set_title(_title(ptype, name), fontsize=12, pad=14)
    write(figure, file, path.suffix[1:].lower())


def type_panel(ptype: PrivacyType, *marked: Channel, names: tuple[str, ...] = ("a kernel",), title: str = "") -> Panel:
    """Return the triangle plot of a privacy type on three secrets, with the posteriors of each kernel in `marked`."""
    corners = to_floats(vertices(ptype).columns)
    points = [PosteriorPoints(corners, "vertices", colour="#333333")]
    for k, (kernel, name) in enumerate(zip(marked, names, strict=True)):
        beliefs, weights = beliefs_of(kernel)
        points.append(PosteriorPoints(beliefs, name, weights, COLOURS[1 + k], joined=True))
    return Panel(title, [Region(corners, "posteriors that are allowed")], points, np.full(3, 1 / 3))


def type_solid(ptype: PrivacyType) -> Solid:
    """Return the region of a privacy type on four secrets: its corners, and the faces where a constraint is tight."""
    listed = vertices(ptype)
    heights = listed.exponents @ np.sqrt(np.array(listed.distances.roots, dtype=float))
    lengths = listed.distances.coefficients.astype(float) @ np.sqrt(np.array(listed.distances.roots, dtype=float))
    faces = []
    for x, y in [*combinations(range(4), 2), *((y, x) for x, y in combinations(range(4), 2))]:
        tight = np.flatnonzero(np.abs(heights[:, x] - heights[:, y] - lengths[x, y]) < 1e-9)
        if len(tight) >= 3:
            faces.append(tight)
    return Solid(to_floats(listed.columns), tuple(faces))


def beliefs_of(channel: Channel) -> tuple[NDArray[np.float64], Array]:
    """Return the posteriors of the uniform prior as columns, and the probability of each."""
    matrix = channel.matrix
    weights = matrix.sum(axis=0) / len(matrix)
    return to_floats(matrix / matrix.sum(axis=0)), weights


def most_leaking(ptype: PrivacyType) -> Channel:
    """Return the kernel K with the largest sum_y max_x K[x, y] (Bayes vulnerability); of several, the smallest."""
    return max(kernels(ptype), key=lambda kernel: (kernel.matrix.max(axis=0).sum(), -kernel.shape[1]))


def _title(ptype: PrivacyType, name: str) -> str:
    at = str(ptype.level).replace("alpha=", "α = ").replace("epsilon=", "ε = ")
    return f"{name}, {at}" if name else at


def hyper_figure(
    channels: Mapping[str, Channel], prior: Array, space: Space | None, file: BinaryIO, path: Path
) -> None:
    """Plot the hyper of each channel; with a space, also the posteriors that its smallest epsilon allows."""
    labels: Iterable[object] = range(len(prior)) if space is None else space.labels
    labels = next((C.secrets for C in channels.values() if C.secrets is not None), labels)
    panels = []
    for k, (title, C) in enumerate(channels.items()):
        regions = []
        if space is not None and space.size == 3:
            epsilon = smallest_epsilon(C, space)
            if epsilon.pair is not None and epsilon.value != float("inf"):
                ptype = PrivacyType(space, epsilon.level if epsilon.level is not None else epsilon.value)
                # A vertex v of the type, a posterior of the uniform prior, becomes p v / sum p v for the prior p.
                weighed = to_floats(vertices(ptype).columns) * to_floats(prior)[:, None]
                regions = [Region(weighed / weighed.sum(axis=0), f"private at {ptype.level}")]
        posteriors = hyper(C, prior)
        cloud = PosteriorPoints(
            posteriors.posteriors, "posteriors", posteriors.weights, COLOURS[1 + k % (len(COLOURS) - 1)], joined=True
        )
        panels.append(Panel(title, regions, [cloud], prior))
    simplex_figure(panels, file, path, list(map(str, labels)))
