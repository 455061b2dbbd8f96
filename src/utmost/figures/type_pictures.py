"""Drawing a privacy type on three or four secrets: its region of posteriors, its vertices, and a kernel."""

from itertools import combinations
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.channels import Channel
from utmost.documents.space_names import secret_names
from utmost.errors import OutOfRange
from utmost.exact import Array, to_floats
from utmost.figures.canvas import check_format, write
from utmost.figures.simplex import COLOURS, Panel, PosteriorPoints, Region, simplex_figure
from utmost.figures.tetrahedron import Solid, draw_tetrahedron
from utmost.geometry import kernels, vertices
from utmost.privacy import PrivacyType
from utmost.tables.extra import extra


def check_drawable(ptype: PrivacyType, path: Path) -> None:
    """Check that the type can be drawn into a file with this name.

    Raises:
        OutOfRange: for another number of secrets than three or four, and for another ending.
    """
    check_format(path)
    if ptype.space.size not in (3, 4):
        raise OutOfRange("only types on 3 or 4 secrets can be drawn", came=f"{ptype.space.size} secrets")


def type_figure(ptype: PrivacyType, file: BinaryIO, path: Path, kernel: Channel | None = None, name: str = "") -> None:
    """Draw the region of posteriors in its simplex: a triangle for three secrets, a tetrahedron for four.

    Args:
        ptype: on three or four secrets.
        file: open for writing.
        path: ends in .svg, .png or .pdf.
        kernel: whose posteriors are marked; the one that leaks most if left out.
        name: of the space, for the title.

    Raises:
        OutOfRange: for another number of secrets, and for another ending.
        Unsupported: where matplotlib is not installed.
    """
    check_drawable(ptype, path)
    chosen, names = kernel or most_leaking(ptype), secret_names(ptype.space)
    if ptype.space.size == 3:
        return simplex_figure([type_panel(ptype, chosen, title=_title(ptype, name))], file, path, names)
    figure = extra("matplotlib.figure", "plot").Figure(figsize=(6.4, 6.2), layout="constrained")
    axes = figure.subplots()
    draw_tetrahedron(axes, type_solid(ptype), beliefs_of(chosen), names)
    axes.set_title(_title(ptype, name), fontsize=12, pad=14)
    write(figure, file, path.suffix[1:].lower())


def type_panel(ptype: PrivacyType, *marked: Channel, names: tuple[str, ...] = ("a kernel",), title: str = "") -> Panel:
    """The triangle of a type on three secrets, with the posteriors of some kernels."""
    corners = to_floats(vertices(ptype).columns)
    points = [PosteriorPoints(corners, "vertices", colour="#333333")]
    for k, (kernel, name) in enumerate(zip(marked, names, strict=True)):
        beliefs, weights = beliefs_of(kernel)
        points.append(PosteriorPoints(beliefs, name, weights, COLOURS[1 + k], joined=True))
    return Panel(title, [Region(corners, "posteriors that are allowed")], points, np.full(3, 1 / 3))


def type_solid(ptype: PrivacyType) -> Solid:
    """The region of a type on four secrets as a solid: its corners, and the faces where a promise is tight."""
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
    """The posteriors that a channel leaves of the uniform prior, as columns, and how likely each is."""
    matrix = channel.matrix
    weights = matrix.sum(axis=0) / len(matrix)
    return to_floats(matrix / matrix.sum(axis=0)), weights


def most_leaking(ptype: PrivacyType) -> Channel:
    """A kernel with the largest Bayes vulnerability: sum_y max_x K[x, y] is largest, outcomes are fewest."""
    return max(kernels(ptype), key=lambda kernel: (kernel.matrix.max(axis=0).sum(), -kernel.shape[1]))


def _title(ptype: PrivacyType, name: str) -> str:
    at = str(ptype.level).replace("alpha=", "α = ").replace("epsilon=", "ε = ")
    return f"{name}, {at}" if name else at
