"""The command of the second package in this repository, `utmost-papers`."""

import pytest

from utmost_papers.command import main


@pytest.fixture
def recompute(capsys, monkeypatch):
    """Run `utmost-papers` in this process: (exit code, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call
