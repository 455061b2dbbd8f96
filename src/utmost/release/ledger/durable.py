"""Making a new name in a directory last through a power cut."""

import os
from pathlib import Path


def sync_directory(path: Path) -> None:
    """Write the directory's entries to its disk, where the system has a call for that."""
    if os.name != "posix":
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
