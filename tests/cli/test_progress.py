"""Progress of commands: files as they are written, and what a log is told."""

import pytest

# The line of progress is drawn after a second of work; here at once.
from utmost.core.exact.progress_bar import ProgressLine, progress_on
from utmost.interfaces.cli.screens import screen as progress
from utmost.tables.files.sidecars import publish

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


class InPieces:
    """A table that is looked at while it is written."""

    rows, names, shown = 1_000_000, ["n"], []

    def __init__(self, look):
        self.look = look

    def written(self, file):
        for piece in PIECES:
            self.look()
            yield piece
        self.look()


def test_rows_that_are_written_have_a_bar(lines, tmp_path):
    shown, line = lines
    publish(InPieces(line.draw), lambda table: {"table": table}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"1\n2\n"
    assert shown[0].startswith("Writing")
    assert "40 %" in shown[1]
    assert "100 %" in shown[2]
    assert shown[-1] == ""


def test_items_without_end_are_tallied(lines):
    shown, line = lines
    for _ in progress.tallied(iter(ROWS), "vertices written"):
        line.draw()
    assert shown[0].startswith("vertices written, 1,")
    assert shown[-1] == ""


def test_a_pipe_sees_neither_pieces_nor_tally(capsys, tmp_path):
    publish(InPieces(lambda: None), lambda table: {"table": table}, tmp_path / "t.csv")
    assert list(progress.tallied(ROWS, "written")) == ROWS
    with progress.logged_progress("Searching") as report:
        report(0.5, 1)
    assert capsys.readouterr() == ("", "")
