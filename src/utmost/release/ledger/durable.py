"""Files that only their owner reads, from their creation on, and names in a directory that last through a power cut."""

import os
from pathlib import Path

from utmost.errors import LedgerUnavailable

OWNER_ONLY = 0o600


def make_file(path: Path) -> None:
    """Make an empty file of mode 0600, whatever the umask is; one that is there stays as it is.

    Raises:
        LedgerUnavailable: where it cannot be made.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        return
    except OSError as error:
        mend = "Nothing was spent; make the same call again once the cause is mended."
        raise LedgerUnavailable(
            "the ledger's files must be writable", came=error.strerror, where=str(path), mend=mend
        ) from None
    try:
        owner_only(file)
    finally:
        os.close(file)


def owner_only(file: int) -> None:
    """Give an open file the mode 0600: a umask can take from the mode that it was created with."""
    if os.name == "posix":
        os.fchmod(file, OWNER_ONLY)


def sync_directory(path: Path) -> None:
    """Write the directory's entries to its disk, where the system has a call for that."""
    if os.name != "posix":
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
