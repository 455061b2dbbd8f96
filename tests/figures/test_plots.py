"""Plots: a curve in braille goes through its points; round numbers on the axis."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange

# Dots of a curve in a terminal, one by one.
from utmost.interfaces.figures.canvas import braille, check_format, curves_figure, terminal_curves


@given(st.integers(1, 30), st.integers(1, 10), st.floats(0.1, 100))
def test_a_straight_line_has_one_dot_in_each_column_of_dots(width, height, top):
    cells = braille([0.0, 1.0], [0.0, top], top, width, height)
    assert sum(dots.bit_count() for row in cells for dots in row) == 2 * width
    assert cells[-1][0] & 0x40, "starts in the lower left corner"
    assert cells[0][-1] & 0x08, "ends in the upper right corner"


def test_every_row_of_a_picture_is_equally_wide_and_fits_a_terminal():
    rows = terminal_curves([0, 5, 10], {"a": [1, 2, 4], "b": [4, 2, 1]})
    widths = {sum(len(text) for text, _ in row) for row in rows[:-2]}
    assert len(widths) == 1
    assert max(sum(len(text) for text, _ in row) for row in rows) < 80
    assert {owner for row in rows for _, owner in row} == {-1, 0, 1}


def test_whole_places_have_whole_numbers_under_the_axis():
    """Counts 0 to 7 have no count 1.4; places that are no whole numbers are evenly spaced."""
    for last, step, marks in ((7, 1, "0 1 3 4 6 7"), (2, 1, "0 1 2"), (1, 0.5, "0 0.2 0.4 0.6 0.8 1")):
        xs = [step * at for at in range(int(last / step) + 1)]
        assert terminal_curves(xs, {"a": [1.0] * len(xs)})[-1][0][0].split() == marks.split()


@given(st.floats(1e-6, 1e6))
def test_the_ticks_are_round_numbers_and_have_room_for_the_curve(top):
    rows = terminal_curves([0, 1], {"a": [0, top]})
    ticks = [float(tick.removesuffix("┤")) for ((tick, _), *_) in rows[:-2] if tick.endswith("┤")]
    highest, *_, lowest = ticks
    assert f"{lowest:.5e}"[:3] in ("1.0", "2.0", "2.5", "5.0")
    assert highest == pytest.approx(5 * lowest)
    assert top <= highest * (1 + 1e-5) <= 2.51 * top


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_figure_is_of_the_kind_asked_for(kind, start):
    file = io.BytesIO()
    curves_figure([0.0, 1.0], {"absolute": [1.0, 2.0]}, file, kind=kind, x="epsilon", y="gain")
    assert file.getvalue().startswith(start)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(OutOfRange, match=r"\.svg, \.png, \.pdf"):
        check_format(tmp_path / "x.gif")
