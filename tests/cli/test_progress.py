"""Progress: shown on a terminal for long work, and nowhere else."""

import io
from importlib import import_module

import pytest
from rich.console import Console

progress = import_module("utmost.doors.cli.screen")
ROWS = [["1"], ["2"]]
PIECES = [(400_000, b"1\n"), (600_000, b"2\n")]


@pytest.fixture
def terminal(monkeypatch):
    """What is written on the standard error of a terminal."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "screen", lambda stderr: console)
    return text


def test_many_rows_have_a_bar_on_a_terminal(terminal):
    assert list(progress.watched(PIECES, 1_000_000)) == PIECES
    assert "Writing" in terminal.getvalue()


def test_few_rows_have_none(terminal):
    assert list(progress.watched(PIECES, 2)) == PIECES
    assert terminal.getvalue() == ""


def test_a_terminal_says_what_is_going_on(terminal):
    with progress.busy("Noising [a]"):
        pass
    assert "Noising [a]" in terminal.getvalue()


def test_a_pipe_sees_nothing(capsys):
    with progress.busy("Noising"):
        assert list(progress.watched(PIECES, 1_000_000)) == PIECES
    assert capsys.readouterr() == ("", "")


def test_a_share_that_is_done_moves_a_bar(terminal):
    with progress.share_done("Searching [x]") as watch:
        for done in (0.0, 0.5, 1.0):
            watch(done)
    assert "Searching [x]" in terminal.getvalue()
    assert "100%" in terminal.getvalue()


def test_items_without_end_are_tallied_on_a_terminal(terminal):
    assert list(progress.tallied(iter(ROWS), "vertices written")) == ROWS
    assert "vertices written" in terminal.getvalue()


def test_a_pipe_sees_neither_share_nor_tally(capsys):
    with progress.share_done("Searching") as watch:
        watch(0.5)
    assert list(progress.tallied(ROWS, "written")) == ROWS
    assert capsys.readouterr() == ("", "")
