"""Where tests write: a file system in memory where the machine has one with room, on which nobody waits for a disk.

A ledger syncs its files several times for each answer. What it asks of the disk, and in which order, is seen by
`disk.py`, and what a process leaves that is killed is left on either; so nothing is lost but the wait.
"""

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_ROOM = 4 << 30
"""Bytes that must be free: some ten times what a run of the default tests writes."""


@cache
def in_memory():
    """The folder under which temporary files are made."""
    folder = Path("/dev/shm")
    if os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free >= _ROOM:
        return folder
    return Path(tempfile.gettempdir())
