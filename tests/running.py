"""Running Python and the command line in a process of their own, on the package under test."""

import os
import subprocess
import sys
from pathlib import Path

import utmost

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
