"""A backup of a service, put back in a rehearsal when it is made: a copy that nobody ever opened is a hope.

It is a folder of two SQLite files, whatever the store: the ledger, and the service's records beside it, sealed as they
are. The ledger's key is in neither, and must be kept elsewhere. The rehearsal puts both back as `put_back` does, in a
folder that is gone afterwards, and checks every seal, digest, level, budget and line of the trail there.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from utmost.errors import LedgerDamaged, OutOfRange
from utmost.interfaces.service.audit import lines_of
from utmost.interfaces.service.records import Records
from utmost.interfaces.service.service import PURPOSE, Service
from utmost.interfaces.service.trail import check_lines
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.sqlite_store import SqliteStore

LEDGER, _PATIENCE = "ledger.db", 60.0


@dataclass(frozen=True, slots=True)
class Restored:
    """The content of a backup when it was put back: numbers of things that were found sound.

    Attributes:
        events, responses: Numbers of events and responses of the ledger.
        records, trail: Numbers of documents of the service, and of lines of its trail.
    """

    events: int
    responses: int
    records: int
    trail: int


def back_up(service: Service, folder: Path, *, key: str | None = None) -> Restored:
    """Copy a service, which may be serving, into a new folder, and rehearse putting it back.

    Args:
        service: Service to be copied.
        folder: Folder to make; it must not be there.
        key: the path of the ledger's key; None for where the environment says.

    Raises:
        OutOfRange: where the folder is there, or can not be made.
        LedgerDamaged: where the copy is not sound.
    """
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise OutOfRange("a backup needs a new folder", came=error.strerror, where=str(folder)) from None
    store, secret = SqliteStore(folder / LEDGER, _PATIENCE), service.ledger.beside(PURPOSE)[1]
    service.context.records.copy_to(Records(store, secret))  # first: what the ledger knows beyond it harms nothing
    service.ledger.backup(folder / LEDGER)
    with TemporaryDirectory(prefix="utmost-rehearsal-") as elsewhere:
        return put_back(folder, os.path.join(elsewhere, LEDGER), key=key, witness=os.path.join(elsewhere, "witness"))


def put_back(folder: Path, place: str, *, key: str | None = None, witness: str | None = None) -> Restored:
    """Make the ledger and the records of a backup in a place that holds neither, and check them.

    The ledger is in quarantine until it is resumed; tokens revoked since the backup are valid again.

    Args:
        folder: Folder that `back_up` made.
        place, key, witness: Arguments as for `Ledger.restore`.

    Raises:
        OutOfRange: where there is no backup, or there is a ledger already.
        LedgerDamaged: where anything is not as it was written.
    """
    with Ledger.restore(folder / LEDGER, place, key=key, witness=witness) as ledger:
        store, secret = ledger.beside(PURPOSE)
        source, records = Records(SqliteStore(folder / LEDGER, _PATIENCE), secret), Records(store, secret)
        source.copy_to(records)
        number = records.check()
        if number != source.check():
            raise LedgerDamaged("every record must be put back", came=number, where=str(folder))
        sound, (lines, _) = ledger.verify(), check_lines(lines_of(records))
        return Restored(sound.events, sound.responses, number, lines)
