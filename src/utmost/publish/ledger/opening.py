"""Open, back up and restore a ledger; read one level of an encrypted copy with only the key of this level."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from utmost.core.exact import arguments
from utmost.core.exact.disk import force
from utmost.core.sampling.random_bits import entropy
from utmost.errors import KeyRefused, LedgerDamaged, LedgerUnavailable, NotPublished, OutOfRange, Unsupported
from utmost.publish.ledger.block_encryption import recipient_seal
from utmost.publish.ledger.creation_mark import CreationMark
from utmost.publish.ledger.event_log import EventLog, Transaction, open_log
from utmost.publish.ledger.events import START, read_event
from utmost.publish.ledger.key import GivenKey, Key, found_key, key_file_of, key_path
from utmost.publish.ledger.labels import opened_label_seal
from utmost.publish.ledger.responses import Answered, by_column, labels_of, stored_blocks
from utmost.publish.ledger.sqlite_store import SqliteStore
from utmost.publish.ledger.state import State, folded
from utmost.publish.ledger.store import EventPart, Rows, Store
from utmost.publish.ledger.verification import verify_events
from utmost.publish.ledger.witness import Witness
from utmost.publish.releases.answer import Answer
from utmost.tables.files.secret_file import witness_of

_LONGEST_WAIT = 10**6
StorePlace = str | Path

_POSTGRES = ("postgresql://", "postgres://")


def opened_log(
    place: StorePlace,
    *,
    create: bool,
    key: GivenKey,
    witness: StorePlace | bool | None,
    sealed: bool,
    derived: bool,
    timeout: float,
    identity: str,
) -> EventLog:
    """Open the event log of a ledger; with ``create``, make a ledger with this ``identity`` if there is none."""
    for name, value in (("create", create), ("sealed", sealed), ("derived", derived)):
        if not isinstance(value, bool):
            raise OutOfRange(f"{name} must be true or false", came=value, remedy=f"Pass {name}=True, or leave it out.")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= _LONGEST_WAIT:
        raise OutOfRange(
            f"timeout must be a positive number of seconds, at most {_LONGEST_WAIT}",
            came=timeout,
            remedy="Pass timeout=60.",
        )
    store = store_at(place, timeout)
    beside = store.path if isinstance(store, SqliteStore) else None
    watched = witness is not False
    opening = {"identity": identity, "sealed": sealed, "derived": derived, "witness": watched} if create else None
    key_file = None if beside is None else _with(beside, ".key")
    place_of_witness = witness_of(key_path(key)) if witness is None else witness
    watching = witness_finder(place_of_witness, beside, key_path(key), timeout)

    def checked_key(fresh: bool) -> Key:
        mark = mark_of(store, key_file_of(key, key_file)) if fresh else None
        # The version is read again: another process may have created the ledger meanwhile, and set the mark.
        if mark is not None and mark.exists and not store.transact(lambda rows: rows.version(), write=False):
            raise mark.lost_ledger_error()
        read_key = found_key(key, key_file, fresh=fresh)
        if fresh and create:
            # A new ledger without a place for its witness is refused before anything is written to the store.
            found = watching(State(0, b"", identity=identity, has_witness=watched))
            if found is not None and found.record().last and not store.transact(Rows.has_tables, write=False):
                raise OutOfRange(
                    "a new ledger needs its own witness",
                    came="the witness of another ledger",
                    where=str(found.path),
                    remedy="If the other ledger is lost, restore it: a new ledger forgets its budgets. "
                    "Otherwise pass witness=PATH, "
                    "a new file.",
                )
        return read_key

    with closed_on_error(store):
        try:
            log = open_log(store, checked_key, watching, opening)
        except LedgerUnavailable as error:
            mark = mark_of(store, key_file_of(key, key_file)) if error.is_absent else None
            if mark is not None and mark.exists:
                raise mark.lost_ledger_error() from None
            raise
        # An existing file is marked, too, since it may have been moved: if it is lost at its new path, nobody can
        # create another ledger there unnoticed.
        if create or beside is not None:
            set_mark(store, key_file_of(key, key_file))
        return log


def mark_of(store: Store, key_file: Path | None) -> CreationMark | None:
    """Return the mark of this ledger in the file beside the key file; None if the key is in no file."""
    if key_file is None:
        return None
    return CreationMark.of(key_file, store.path if isinstance(store, SqliteStore) else store.name_of_database())


def set_mark(store: Store, key_file: Path | None) -> None:
    mark = mark_of(store, key_file)
    if mark is not None:
        mark.write()


def check_only_ledger(mark: CreationMark | None) -> None:
    """Check that no other ledger uses this key file, since all ledgers of a key file have the same witness."""
    # Otherwise the restored ledger would take over the witness of the running ledger, which would then be in
    # quarantine.
    for other in () if mark is None else mark.other_ledgers():
        raise OutOfRange(
            "a ledger that is restored beside another ledger needs its own witness",
            came=f"the ledger {other.name}, whose witness the key file names",
            where="restore",
            remedy=f"To test a backup pass witness=PATH with a new file; to replace {other.name}, move it away first.",
        )


@contextmanager
def closed_on_error(store: Store) -> Iterator[None]:
    """Close the store if an exception leaves the block; report an OSError as LedgerUnavailable."""
    try:
        yield
    except OSError as error:
        store.close()
        raise LedgerUnavailable(
            "the files of the ledger must be readable and writable",
            came=error.strerror or type(error).__name__,
            where=store.place,
            remedy="Nothing was spent. Check the path, and the permissions of its folder.",
        ) from None
    except BaseException:
        store.close()
        raise


def store_at(place: StorePlace, timeout: float) -> Store:
    if isinstance(place, Path):
        return _file(place, timeout)
    if not isinstance(place, str) or not place:
        came = place if place is None or isinstance(place, str) else type(place).__name__  # bytes may be a key
        remedy = 'Pass a path, "releases.db", or "postgresql://...".'
        raise OutOfRange("the place of a ledger must be a path or an address", came=came, remedy=remedy)
    if place.startswith(_POSTGRES):
        try:
            import psycopg  # noqa: F401
        except ImportError:
            remedy = 'Run: pip install "utmost[postgres]"'
            raise Unsupported("a ledger in PostgreSQL needs the package psycopg", came="none", remedy=remedy) from None
        from utmost.publish.ledger.postgres_store import PostgresStore

        return PostgresStore(place, timeout)
    if place.startswith("sqlite:///"):
        return _file(Path(place.removeprefix("sqlite:///")), timeout)
    if "://" in place:
        remedy = 'Pass a path, "sqlite:///path" or "postgresql://...".'
        raise OutOfRange(
            "a ledger must be in SQLite or PostgreSQL", came=place.partition("://")[0] + "://", remedy=remedy
        )
    return _file(Path(place), timeout)


def _file(path: Path, timeout: float) -> Store:
    if path.name == ":memory:":
        remedy = "Name a file; or call ut.release, which remembers a release in this process alone."
        raise OutOfRange("the place of a ledger must be a file or a server", came=path.name, remedy=remedy)
    if not path.name:
        raise OutOfRange("the place of a ledger must name a file", came=str(path), remedy='Pass "releases.db".')
    arguments.path(path, "place")
    return SqliteStore(path, timeout)


def witness_finder(
    witness: StorePlace | bool | None, beside: Path | None, key_file: Path | None, timeout: float
) -> Callable[[State], Witness | None]:
    """Return a function from a ledger's state to its witness: the file ``witness``, or a file beside ledger or key."""
    if witness not in (None, False) and not (isinstance(witness, str | Path) and str(witness)):
        raise OutOfRange(
            "witness must be the path of a file", came=witness, remedy="Pass witness=False to keep no witness."
        )

    def found(state: State) -> Witness | None:
        if isinstance(witness, str | Path):
            return Witness(Path(witness), timeout, state.is_sealed)
        if witness is False or not state.has_witness:
            # A ledger made with a witness is not opened without it: nothing would detect an older copy.
            if state.has_witness and witness is False:
                remedy = (
                    "Pass witness=PATH, or leave out witness=. If the witness is lost: pass a new path, and resume "
                    "the ledger."
                )
                raise OutOfRange(
                    "a ledger that was created with a witness must be opened with it",
                    came="witness=False",
                    remedy=remedy,
                )
            return None
        if beside is not None:
            return Witness(_with(beside, ".witness"), timeout, state.is_sealed)
        path = None if key_file is None else _with(key_file, f".{state.identity[:8]}.witness")
        if path is None:
            remedy = "Pass witness=PATH, a file on this machine; or witness=False, for a new ledger, to keep none."
            raise OutOfRange("a ledger in a database server needs a place for its witness", came="none", remedy=remedy)
        return Witness(path, timeout, state.is_sealed)

    return found


def _with(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


RESTORED = "it was restored from a backup"


def write_backup(log: EventLog, path: Path) -> None:
    """Copy the ledger, as it is at one moment, into a new SQLite file; the file appears complete or not at all."""
    if path.exists():
        raise _taken(path)
    # A unique name, so that two simultaneous backups do not collide.
    draft = path.with_name(f"{path.name}.{os.getpid()}.{entropy(4).hex()}.part")
    store = SqliteStore(draft, 60.0)
    try:
        # A reading transaction surrounds the copy, which is of one moment even if others write meanwhile.
        log.read(lambda transaction: store.transact(lambda to: copy_rows(transaction.rows, to), write=True))
        try:
            os.link(draft, path)
        except FileExistsError:
            raise _taken(path) from None
        # A link fails if the name is taken; a rename would replace the other backup.
        except OSError:  # a file system without links
            draft.replace(path)
        force(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _taken(path: Path) -> OutOfRange:
    return OutOfRange(
        "the path of a backup must be a new file", came=str(path), where="backup", remedy="Pass another path."
    )


def restore_backup(
    backup: Path, place: StorePlace, *, key: GivenKey, witness: StorePlace | bool | None, timeout: float
) -> EventLog:
    """Verify a backup, copy it to a place without a ledger, and put the copy in quarantine, in one transaction."""
    if not backup.exists():
        raise OutOfRange(
            "the backup must be a file that exists",
            came=str(backup),
            where="restore",
            remedy="Check the path of the backup.",
        )
    source, target = SqliteStore(backup, timeout), store_at(place, timeout)
    beside = target.path if isinstance(target, SqliteStore) else None
    key_file = None if beside is None else _with(beside, ".key")
    place_of_witness = witness_of(key_path(key)) if witness is None else witness
    if witness is None and place_of_witness is not None:
        check_only_ledger(mark_of(target, key_file_of(key, key_file)))
    watching = witness_finder(place_of_witness, beside, key_path(key), timeout)
    read_key = found_key(key, key_file, fresh=False)
    old = open_log(source, lambda fresh: read_key, lambda _: None, None)

    def work(rows: Rows) -> None:
        if rows.version():
            raise OutOfRange(
                "a backup must be restored to a place without a ledger",
                came=target.place,
                remedy="Pass the path of a new file, or the address of an empty database.",
            )

        def copy(transaction: Transaction) -> None:
            verify_events(transaction.key, transaction)
            copy_rows(transaction.rows, rows)

        # One transaction verifies and copies the backup, so that nobody can exchange it in between.
        old.read(copy)
        transaction = EventLog(target, read_key, None).transaction(rows)
        # A restored ledger is in quarantine: the backup lacks the answers given after it, so nothing new is published
        # until `resume`, when somebody has assessed the loss.
        transaction.append("quarantined", {"reason": RESTORED})
        transaction.write_down()

    with closed_on_error(target):
        old.read(lambda transaction: watching(transaction.state))
        target.transact(work, write=True)
        log = open_log(target, lambda fresh: read_key, watching, None)
        set_mark(target, key_file_of(key, key_file))
        return log


def copy_rows(source: Rows, to: Rows) -> None:
    to.create()
    head = source.head()
    if head is None:
        raise LedgerDamaged("a ledger must have a first event", where="event 1")

    def parts() -> Iterator[EventPart]:
        for event, part in source.parts():
            content = source.part(event, part)
            if content is None:
                raise LedgerDamaged(
                    "the store must contain every part of an event", came=f"no part {part}", where=f"event {event}"
                )
            yield event, part, content

    to.write(source.events(), head[1], parts())


def read_sealed(path: str | Path, name: str, key: bytes, *, version: int | None = None) -> Answer[Any]:
    """Return the released columns at one level, decrypted from a copy of a ledger with the key of this level.

    The key decrypts this level and no other, and only if every public fact about the release is as published: the names
    and order of the columns, the rows, the grid, the unit of privacy, the level. The recipient can compute values at a
    smaller epsilon by adding noise to these values. To read the response that other recipients see at the smaller
    epsilon, the recipient needs the key of that level.

    Args:
        path: Path of an SQLite ledger, or of a backup of any ledger.
        name, version: Name and version of the release; the newest version if ``version`` is left out.
        key: Key from `Ledger.level_key`.

    Returns:
        The answer at the level, with a table of the published kind if its package is installed, else a dict of arrays.
        The answer has no `Answer.release`, since one key reads one level.

    Raises:
        KeyRefused: if the key decrypts no level, or if a public fact or a block has been changed.
        NotPublished: if there is no such release.
    """
    if not isinstance(key, bytes):
        raise KeyRefused(
            "key must be the bytes that level_key returned",
            came=type(key).__name__,
            where="read_sealed",
            remedy="For a key in hexadecimal text, pass bytes.fromhex(text).",
        )
    place = Path(os.fsdecode(arguments.path(path, "path")))
    if not place.exists():
        raise NotPublished(
            "path must be the path of an existing ledger", came=str(path), where="read_sealed", remedy="Check the path."
        )
    return SqliteStore(place, 60.0).transact(lambda rows: _read(rows, name, key, version), write=False)


def _read(rows: Rows, name: str, key: bytes, version: int | None) -> Answer[Any]:
    events = [(read_event(number, body), mac) for number, body, mac in rows.events()]
    state = folded(State(0, START), events)
    release = state.release(name, version)
    # A key does not name its level: it is tried on each level, and fails authentication on all but its own.
    for level in release.levels:
        try:
            seal = recipient_seal(key, state.identity, release, level)
            columns = by_column(release, list(stored_blocks(rows, release, level, seal)))
            response = release.responses[level]
            labels = labels_of(rows, release, opened_label_seal(seal, response.event, response.label_key))
            facts = state.ledger_facts(release.key, level).seen_at(level)
            return Answered(level, columns, facts).without_table(release, labels)
        except (LedgerDamaged, KeyRefused):
            continue
    raise KeyRefused(
        "key must decrypt an answered level of the release",
        came=f"a key that decrypts none of its {len(release.levels)} levels",
        where=repr(name),
        remedy="Ask for the key of an answered level of this version, or for the file again: one of the "
        "two does not fit.",
    )
