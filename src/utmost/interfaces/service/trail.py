"""Write and check the trail: who did what and when.

A line has a digest of all lines before it, and no confidential value.

A line is encrypted and has a MAC by the service's key, like every record. In addition, line k has

    chain(k) = SHA-256(chain(k - 1), name, line without chain),

in hexadecimal digits, over the JSON of the three. Without the key, somebody who has the database can make or change no
line, and can delete lines only at the end. A copy of the lines, or only of the last chain, reveals a missing end. A
copy of the lines can be checked without any key.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from utmost.errors import LedgerDamaged
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.records import RecordTransaction

_KIND, _ONCE, _DAY = "trail", "noted", 86_400
A_PAGE = 1000  # lines of the trail on a page of a list


def note(store: RecordTransaction, token: Token, now: float, done: str, **about: Any) -> None:
    """Add a line to the trail, after all other writes of a transaction: who did what, without confidential values."""
    last = store.last(_KIND)
    name = max(f"{int(now * 1e6):020d}", f"{int(last or 0) + 1:020d}")
    before = (store.get(_KIND, last) or {}).get("chain", "") if last else ""
    line = {"time": int(now), "owner": token.owner, "token": token.name, "done": done, **about}
    store.put(_KIND, name, line | {"chain": chained(before, name, line)})


def note_once_a_day(store: RecordTransaction, token: Token, now: float, done: str, **about: Any) -> None:
    """Add a line to the trail about a frequent action, at most once a day for each token with the same details."""
    # Records of earlier days are deleted, so that they do not pile up.
    day = f"{int(now // _DAY):08d}"
    name = f"{day} {store.hidden(_ONCE, token.name, token.owner, done, *map(str, about.values()))}"
    if store.get(_ONCE, name) is None:
        store.drop_before(_ONCE, day)
        store.put(_ONCE, name, {})
        note(store, token, now, done, **about)


def is_noted(store: RecordTransaction, token: Token, now: float, done: str, **about: Any) -> bool:
    """Check whether `note_once_a_day` has nothing to write."""
    hidden = store.hidden(_ONCE, token.name, token.owner, done, *map(str, about.values()))
    return store.get(_ONCE, f"{int(now // _DAY):08d} {hidden}") is not None


def chained(before: str, name: str, line: Mapping[str, Any]) -> str:
    """Return the chain of a line: a digest of its name, its fields and the chain of the line before it."""
    facts = {word: fact for word, fact in line.items() if word not in ("name", "chain")}
    return sha256(json.dumps([before, name, facts], sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_lines(lines: Iterable[Mapping[str, Any]], before: str = "") -> tuple[int, str]:
    """Return the number of lines and the last chain, after checking that each line follows from those before it."""
    # `lines` are exported lines with names, oldest first; `before` is the chain before the first line, or empty.
    number, last = 0, ""
    for line in lines:
        name = str(line.get("name"))
        if line.get("chain") != chained(before, name, line):
            raise LedgerDamaged("each line of the trail must follow from the lines before it", where=f"line {name}")
        if name <= last:
            raise LedgerDamaged("lines of the trail must be in the order of their names", where=f"line {name}")
        before, last, number = str(line["chain"]), name, number + 1
    return number, before
