"""Triangles of beliefs: what is drawn lies where barycentric coordinates put it, and one picture is one file."""

import io
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from utmost.errors import OutOfRange

# `ut.plot` chooses among these pictures.
from utmost.interfaces.figures.simplex import Panel, PosteriorPoints, Region, draw_simplex, simplex_figure

THIRDS = [1 / 3, 1 / 3, 1 / 3]
CORNERS = np.eye(3)


def drawn(path, panels, labels=("0", "1", "2")):
    file = io.BytesIO()
    simplex_figure(panels, file, Path(path), labels)
    return file.getvalue()


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_a_figure_is_of_the_kind_that_its_path_names(name, start):
    points = PosteriorPoints(CORNERS, "certain", [Fraction(1, 3), 0.5, 1 / 6], joined=True)
    assert drawn(name, [Panel("one", [Region(CORNERS, "all")], [points], THIRDS), Panel("two")]).startswith(start)


def test_the_same_picture_is_the_same_file():
    panel = Panel("one", [Region(CORNERS, "all")], [PosteriorPoints(CORNERS, "certain")], THIRDS)
    assert drawn("a.svg", [panel]) == drawn("b.svg", [panel])


def test_a_belief_is_the_mean_of_the_corners_that_it_weighs():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    draw_simplex(axes, Panel("", points=[PosteriorPoints(np.array([[1, 0, 0.25], [0, 1, 0.25], [0, 0, 0.5]]), "p")]))
    places = np.asarray(axes.collections[0].get_offsets())
    corners = np.array([[0, 0], [0.5, np.sqrt(3) / 2], [1, 0]])
    assert places == pytest.approx(np.vstack([corners[0], corners[1], [0.25, 0.25, 0.5] @ corners]))


def test_the_hull_is_drawn_in_the_order_of_its_corners():
    """A star instead of a polygon would cross itself: its area, by the shoelace formula, would be too small."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    square = np.array([[2, 1, 1, 2], [1, 2, 1, 2], [3, 3, 4, 2]]) / 6
    draw_simplex(axes, Panel("", [Region(square[:, [0, 3, 1, 2]], "r")]))
    x, y = axes.patches[0].get_xy()[:-1].T
    area = abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2
    triangles = [np.linalg.det(square[:, list(t)]) for t in ((0, 1, 2), (0, 1, 3))]
    assert area == pytest.approx(sum(abs(t) for t in triangles) * np.sqrt(3) / 4)


@pytest.mark.parametrize("labels", [("a", "b"), ("a", "b", "c", "d")])
def test_other_numbers_of_secrets_are_refused(labels):
    with pytest.raises(OutOfRange, match="three secrets"):
        drawn("a.svg", [Panel("one")], labels)
    with pytest.raises(OutOfRange, match="three secrets"):
        drawn("a.svg", [Panel("one", [Region(np.eye(len(labels)), "all")])])


def test_another_ending_is_refused():
    with pytest.raises(OutOfRange, match="must end in"):
        drawn("a.gif", [Panel("one")])
