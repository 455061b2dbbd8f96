"""Progress: shown on a terminal for long work, and nowhere else."""

import io
from importlib import import_module

import pytest
from rich.console import Console

progress = import_module("utmost.adapters.screens.progress")
ROWS = [["1"], ["2"]]


@pytest.fixture
def terminal(monkeypatch):
    """What is written on the standard error of a terminal."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "screen", lambda stderr: console)
    return text


def test_many_rows_have_a_bar_on_a_terminal(terminal):
    assert list(progress.watched(ROWS, 1_000_000)) == ROWS
    assert "Writing" in terminal.getvalue()


def test_few_rows_have_none(terminal):
    assert list(progress.watched(ROWS, 2)) == ROWS
    assert terminal.getvalue() == ""


def test_a_terminal_says_what_is_going_on(terminal):
    with progress.busy("Noising [a]"):
        pass
    assert "Noising [a]" in terminal.getvalue()


def test_a_pipe_sees_nothing(capsys):
    with progress.busy("Noising"):
        assert list(progress.watched(ROWS, 1_000_000)) == ROWS
    assert capsys.readouterr() == ("", "")
