"""Backups and restored ledgers: the same events and parts, in another place."""

from collections.abc import Iterator
from pathlib import Path

from utmost.errors import LedgerDamaged, OutOfRange
from utmost.release.ledger.book import Book, Page, open_book
from utmost.release.ledger.durable import sync_directory
from utmost.release.ledger.key import Given, found_key, key_path
from utmost.release.ledger.opening import Place, closed_on_error, store_at, watching_at
from utmost.release.ledger.sqlite_store import SqliteStore
from utmost.release.ledger.store import Part, Rows
from utmost.release.ledger.verification import verified

RESTORED = "it was restored from a backup"


def backed_up(book: Book, path: Path) -> None:
    """Copy all that a ledger holds at one moment into a new SQLite file; the file appears whole or not at all.

    Raises:
        OutOfRange: where the file is there.
    """
    if path.exists():
        raise OutOfRange("a backup must be a new file", came=str(path), where="backup", mend="Give another name.")
    draft = path.with_name(f"{path.name}.part")
    draft.unlink(missing_ok=True)
    store = SqliteStore(draft, 60.0)
    try:
        book.read(lambda page: store.transact(lambda to: copied(page.rows, to), write=True))
        draft.replace(path)
        sync_directory(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def restored(backup: Path, place: Place, *, key: Given, witness: Place | bool | None, timeout: float) -> Book:
    """Verify a backup, copy it to a place that holds no ledger, and put it in quarantine; one transaction.

    Raises:
        OutOfRange: where there is no backup, or there is a ledger.
    """
    if not backup.exists():
        raise OutOfRange("a backup must be there", came=str(backup), where="restore")
    source, target = SqliteStore(backup, timeout), store_at(place, timeout)
    beside = target.path if isinstance(target, SqliteStore) else None
    key_file = None if beside is None else beside.with_name(f"{beside.name}.key")
    watching = watching_at(witness, beside, key_path(key), timeout)
    found = found_key(key, key_file, fresh=False)
    old = open_book(source, lambda fresh: found, lambda _: None, None)

    def work(rows: Rows) -> None:
        if rows.version():
            raise OutOfRange("a ledger is restored to where there is none", came=target.place, where="restore")
        old.read(lambda page: _verified_copy(page, rows))
        page = Book(target, found, None).page(rows)
        page.append("quarantined", {"reason": RESTORED})
        page.write_down()

    with closed_on_error(target):
        old.read(lambda page: watching(page.state))
        target.transact(work, write=True)
        return open_book(target, lambda fresh: found, watching, None)


def _verified_copy(page: Page, to: Rows) -> None:
    verified(page.key, page)
    copied(page.rows, to)


def copied(source: Rows, to: Rows) -> None:
    """Copy every row."""
    to.migrate(0)
    head = source.head()
    if head is None:
        raise LedgerDamaged("a ledger must have a first event", where="event 1")
    to.write(source.events(), head[1], _parts(source))


def _parts(source: Rows) -> Iterator[Part]:
    for event, part in source.parts():
        content = source.part(event, part)
        if content is None:
            raise LedgerDamaged("every part must be there", came=f"no part {part}", where=f"event {event}")
        yield event, part, content
