"""A file beside the key file lists the ledgers opened with the key, so that a lost ledger is not silently replaced.

Each line of this file is the mark of one ledger. A key without a mark is the key of a new installation. If the mark
exists and the ledger does not, the budgets and answers of the ledger are lost: somebody must restore a backup, or
remove the mark on purpose.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from utmost.core.exact.disk import force
from utmost.errors import LedgerUnavailable
from utmost.publish.ledger.key import make_file

_TITLE = "# Ledgers used with this key. If one is lost, restore it from a backup; to give it up, remove its line."


@dataclass(frozen=True, slots=True)
class CreationMark:
    """The line of one ledger, in a file beside the key file."""

    path: Path
    line: str  # Path of the ledger's file relative to the folder of the key, or the address of its database

    @classmethod
    def of(cls, key_file: Path, ledger: Path | str) -> "CreationMark":
        """Return the mark of a ledger at a path, or at a database address without a password."""
        folder = key_file.absolute().parent.resolve()
        if isinstance(ledger, Path):
            file = ledger.absolute()
            with suppress(ValueError):  # on Windows: a path on another drive
                ledger = os.path.relpath(file.parent.resolve() / file.name, folder)
        return cls(key_file.with_name(key_file.name + ".ledgers"), str(ledger))

    @property
    def exists(self) -> bool:
        """Whether the file lists this ledger."""
        try:
            return self.line in self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False

    def other_ledgers(self) -> list[Path]:
        """Return the existing files of other ledgers that were used with this key."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        files = [self.path.parent / line for line in lines if line != self.line and not line.startswith("#")]
        return [file for file in files if file.is_file()]

    def write(self) -> None:
        """Write the mark unless it exists; do nothing if the folder of the key is not writable."""
        place = self.path if self.path.exists() else self.path.parent
        if self.exists or not os.access(place, os.W_OK):
            return
        text = f"{self.line}\n" if self.path.exists() else f"{_TITLE}\n{self.line}\n"
        make_file(self.path)
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        force(self.path.parent)

    def lost_ledger_error(self) -> LedgerUnavailable:
        """Return the error for a lost ledger: the file beside the key file lists a ledger that does not exist."""
        remedy = (
            "If the ledger was moved, pass its new path. Restore a backup by Ledger.restore, or utmost ledger "
            "restore. To "
            f"start over on purpose, which forgets all spent budgets, remove the line {self.line!r} from {self.path}."
        )
        required = "the ledger that was used with this key must exist"
        return LedgerUnavailable(required, came="none", where=self.line, remedy=remedy)
