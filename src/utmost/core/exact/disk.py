"""What has been written reaches the disk."""

import os
from pathlib import Path


def force(path: Path) -> None:
    """Force a file, or a folder's names, to the disk; of a folder only where the system has a call for that.

    Raises:
        OSError: where there is none, and where the disk refuses.
    """
    if os.name == "nt" and path.is_dir():  # a directory cannot be opened there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
