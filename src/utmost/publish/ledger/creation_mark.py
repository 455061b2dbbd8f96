"""The mark of a ledger's first creation, beside its key: a ledger that is lost is not begun anew in silence.

A key without a mark looks like that of a new installation, and is used. Where the mark stands and the ledger is gone,
its budgets and answers are gone, too: it is restored from a backup, or begun anew by somebody who says so.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from utmost.core.exact.disk import force
from utmost.errors import LedgerUnavailable
from utmost.publish.ledger.key import make_file

_TITLE = "# Ledgers that were begun with this key. One that is lost is restored from a backup, or its line is removed."


@dataclass(frozen=True, slots=True)
class CreationMark:
    """A line for one ledger, in a file that stands beside the key file.

    Attributes:
        path: Path of the file of marks.
        line: Ledger: the path of its file as seen from the key's folder, or the address of its database.
    """

    path: Path
    line: str

    @classmethod
    def of(cls, key_file: Path, ledger: Path | str) -> "CreationMark":
        """The mark of a ledger in a file, or at an address that holds no password."""
        folder = key_file.absolute().parent.resolve()
        if isinstance(ledger, Path):
            file = ledger.absolute()
            with suppress(ValueError):  # another drive of Windows
                ledger = os.path.relpath(file.parent.resolve() / file.name, folder)
        return cls(key_file.with_name(key_file.name + ".ledgers"), str(ledger))

    @property
    def stands(self) -> bool:
        """Whether this ledger was begun with this key."""
        try:
            return self.line in self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False

    def set(self) -> None:
        """Write the mark where it is not there; nothing where the key's folder may not be written."""
        place = self.path if self.path.exists() else self.path.parent
        if self.stands or not os.access(place, os.W_OK):
            return
        text = f"{self.line}\n" if self.path.exists() else f"{_TITLE}\n{self.line}\n"
        make_file(self.path)
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        force(self.path.parent)

    def lost(self) -> LedgerUnavailable:
        """The refusal to begin a ledger anew that was begun before."""
        remedy = (
            "If it was moved, name its place. Restore a backup by Ledger.restore, or utmost ledger restore. To start "
            f"over on purpose, which forgets all that it has spent, remove the line {self.line!r} from {self.path}."
        )
        required = "a ledger that was begun with this key must be there"
        return LedgerUnavailable(required, came="none", where=self.line, remedy=remedy)
