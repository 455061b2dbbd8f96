"""Force written files to the disk."""

import os
from pathlib import Path


def force(path: Path) -> None:
    """Force a file, or the entries of a folder, to the disk. On Windows nothing is done for folders."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
