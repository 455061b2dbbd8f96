"""What every test of a command needs: a way to run it, and files to run it on."""

import pytest

from utmost.adapters.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: (exit code, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


@pytest.fixture
def file(tmp_path):
    """Write a text file and give its path."""

    def make(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return make
