"""Back up a service into a folder, and restore each new backup once as a test.

A backup is a folder of two SQLite files, whatever the store: the ledger, and the encrypted records of the service.
Neither file contains the ledger's key, which must be kept elsewhere. The test restores both files by `put_back` into a
temporary folder, and checks every MAC, digest, level, budget and line of the trail there.
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

LEDGER, RECORDS, _PATIENCE = "ledger.db", "ledger.db.service", 60.0


@dataclass(frozen=True, slots=True)
class Restored:
    """The numbers of events, responses, records and lines that were checked in a restored backup; none has a fault."""

    events: int  # of the ledger
    responses: int
    records: int  # documents of the service
    trail: int  # lines of the trail


def back_up(service: Service, folder: Path, *, key: str | None = None) -> Restored:
    """Copy a service, which may be running, into a new folder, and test that the copy can be restored."""
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise OutOfRange("a backup needs a new folder", came=error.strerror, where=str(folder)) from None
    store, secret = SqliteStore(folder / LEDGER, _PATIENCE), service.ledger.beside(PURPOSE)[1]
    # The records are copied first: events that the ledger gets between the two copies do no harm.
    service.context.records.copy_to(Records(store, secret))
    service.ledger.backup(folder / LEDGER)
    with TemporaryDirectory(prefix="utmost-rehearsal-") as elsewhere:
        return put_back(folder, os.path.join(elsewhere, LEDGER), key=key, witness=os.path.join(elsewhere, "witness"))


def put_back(folder: Path, place: str, *, key: str | None = None, witness: str | None = None) -> Restored:
    """Restore a backup at `place`, a path or PostgreSQL address without a ledger, and check everything in it."""
    # The ledger is in quarantine until it is resumed; tokens revoked since the backup are valid again.
    if not (folder / RECORDS).is_file():  # opening the file would create it, without a record
        remedy = f"Copy both files of the backup; for a ledger without a service, use: utmost ledger restore {LEDGER}."
        raise OutOfRange(
            f"a backup of a service must have the file {RECORDS}", came="none", where=str(folder), remedy=remedy
        )
    with Ledger.restore(folder / LEDGER, place, key=key, witness=witness) as ledger:
        store, secret = ledger.beside(PURPOSE)
        source, records = Records(SqliteStore(folder / LEDGER, _PATIENCE), secret), Records(store, secret)
        source.copy_to(records)
        number = records.check()
        if number != source.check():
            raise LedgerDamaged("every record of the backup must be restored", came=number, where=str(folder))
        sound, (lines, _) = ledger.verify(), check_lines(lines_of(records))
        return Restored(sound.events, sound.responses, number, lines)
