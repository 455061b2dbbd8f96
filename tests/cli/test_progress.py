"""Progress of commands: files as they are written, and what a log is told."""

from importlib import import_module

import pytest

# The arithmetic that every room stands on is proved by itself.
from utmost.core.exact.long_work import Watch, watched_by

progress = import_module("utmost.interfaces.cli.screens.screen")
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
    watch = Watch(lines, clock=lambda: next(now), ticks=False)
    with watched_by(watch):
        yield lines, watch


def test_rows_that_are_written_have_a_bar(lines):
    shown, watch = lines
    for piece, kept in zip(progress.watched(PIECES, 1_000_000), PIECES, strict=True):
        assert piece == kept
        watch.draw()
    assert shown[0].startswith("Writing")
    assert "40 %" in shown[1]
    assert shown[-1] == ""


def test_items_without_end_are_tallied(lines):
    shown, watch = lines
    for _ in progress.tallied(iter(ROWS), "vertices written"):
        watch.draw()
    assert shown[0].startswith("vertices written, 1,")
    assert shown[-1] == ""


def test_a_pipe_sees_neither_pieces_nor_tally(capsys):
    assert list(progress.watched(PIECES, 1_000_000)) == PIECES
    assert list(progress.tallied(ROWS, "written")) == ROWS
    with progress.told_in_logs("Searching") as told:
        told(0.5, 1)
    assert capsys.readouterr() == ("", "")
