"""Running Python and the command line on the package under test, in a process of their own or in this one."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import utmost
from utmost.interfaces.cli.main import (  # commands have no public name
    COMMANDS,
    RESEARCH_COMMANDS,
    command_named,
    every_command,
    main,
)

__all__ = [
    "COMMANDS",
    "RESEARCH_COMMANDS",
    "called",
    "command_named",
    "every_command",
    "main",
    "python",
    "utmost_command",
]
SOURCES = Path(utmost.__file__).parents[1]
PLAIN = {"PYTHONPATH": str(SOURCES), "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}


def python(*arguments, check=True, **options):
    """Run Python; text in, text out."""
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"} | PLAIN
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        **{"check": check, "capture_output": True, "text": True, "encoding": "utf-8", "env": environment} | options,
    )


def utmost_command(*arguments, check=False, **options):
    """Run the command line."""
    return python("-m", "utmost", *arguments, check=check, **options)


def called(*arguments, cwd="."):
    """Run the command line in this process, in another directory: the same answer, without the wait for a process.

    For tests of what a command says; what a process is and how it ends is for `utmost_command`.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, PLAIN),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        os.environ.pop("FORCE_COLOR", None)
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code or 0
    shown = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *shown)
