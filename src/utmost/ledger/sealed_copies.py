"""Reading one level of a sealed ledger with that level's key alone."""

import os
from pathlib import Path
from typing import Any

from utmost.errors import KeyRefused, LedgerDamaged, UnknownRelease
from utmost.exact import Level, possible_path
from utmost.ledger.blocks import BLOCK
from utmost.ledger.events import START, read_event
from utmost.ledger.publishing import written
from utmost.ledger.responses import stored_blocks
from utmost.ledger.sqlite_store import SqliteStore
from utmost.ledger.state import Published, State, folded
from utmost.ledger.store import Rows
from utmost.ledger.vault import handed_seal
from utmost.release.doors import table_of
from utmost.sampling.integers import joined


def read_sealed(path: str | Path, name: str, key: bytes, *, version: int | None = None) -> Any:
    """The released columns at the level whose key this is, from a copy of a sealed ledger.

    The key opens its level and no other, and opens it only where every public fact about the release is as it was
    published: the names and the order of the columns, the rows, the grid, the unit of privacy, the level. A recipient
    who may see a stricter level, too, can tighten for itself; to see the very response that others see there, it needs
    that level's key.

    Args:
        path: an SQLite ledger or a backup of any ledger.
        name, version: of the release; the newest version if left out.
        key: what `Ledger.level_key` gave.

    Returns:
        A table of the kind that was published, where that can be made here, else a dict of arrays.

    Raises:
        KeyRefused: where the key opens nothing, or a fact or a block has been changed.
        UnknownRelease: where there is no such release.
    """
    if not isinstance(key, bytes):
        raise KeyRefused("the key of a level must be bytes", came=type(key).__name__, where="read_sealed")
    place = Path(os.fsdecode(possible_path(path, "path")))
    if not place.exists():
        raise UnknownRelease("a ledger must be there", came=str(path), where="read_sealed")
    return SqliteStore(place, 60.0).transact(lambda rows: _read(rows, name, key, version), write=False)


def _read(rows: Rows, name: str, key: bytes, version: int | None) -> Any:
    events = [(read_event(number, body), mac) for number, body, mac in rows.events()]
    state = folded(State(0, START), events)
    release = state.release(name, version)
    for level in release.levels:
        try:
            return _opened(rows, state.identity, release, level, key)
        except (LedgerDamaged, KeyRefused):
            continue
    raise KeyRefused(
        "the key must open a level of the release, as it was published",
        came=f"{len(release.levels)} levels that it does not open",
        where=repr(name),
        mend="The key is of another level, version or ledger, or the file is not as the ledger wrote it.",
    )


def _opened(rows: Rows, identity: str, release: Published, level: Level, key: bytes) -> Any:
    seal = handed_seal(key, identity, release, level, release.responses[level].seal)
    blocks, each = list(stored_blocks(rows, release, level, seal)), -(-release.rows // BLOCK)
    columns = {
        column: joined(blocks[at * each : (at + 1) * each], release.rows) for at, column in enumerate(release.columns)
    }
    return table_of(release.kind, written(release.promise, columns))
