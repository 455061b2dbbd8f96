"""Progress of commands: files as they are written, and what a log is told."""

import pytest

# The line of progress is drawn after a second of work; here at once.
from utmost.core.exact.progress_bar import ProgressLine, progress_on
from utmost.interfaces.cli.screens import screen as progress

ROWS = [["1"], ["2"]]
PIECES = [(400_000, b"1\n"), (600_000, b"2\n")]


class Lines(list):
    """A screen that remembers."""

    width = 80
    show = list.append


@pytest.fixture
def lines():
    """What somebody sees to whom each moment is two seconds later."""
    lines, now = Lines(), iter(range(0, 1000, 2))
    line = ProgressLine(lines, clock=lambda: next(now), ticks=False)
    with progress_on(line):
        yield lines, line


def test_rows_that_are_written_have_a_bar(lines):
    shown, line = lines
    for piece, kept in zip(progress.watched(PIECES, 1_000_000), PIECES, strict=True):
        assert piece == kept
        line.draw()
    assert shown[0].startswith("Writing")
    assert "40 %" in shown[1]
    assert shown[-1] == ""


def test_items_without_end_are_tallied(lines):
    shown, line = lines
    for _ in progress.tallied(iter(ROWS), "vertices written"):
        line.draw()
    assert shown[0].startswith("vertices written, 1,")
    assert shown[-1] == ""


def test_a_pipe_sees_neither_pieces_nor_tally(capsys):
    assert list(progress.watched(PIECES, 1_000_000)) == PIECES
    assert list(progress.tallied(ROWS, "written")) == ROWS
    with progress.logged_progress("Searching") as report:
        report(0.5, 1)
    assert capsys.readouterr() == ("", "")
