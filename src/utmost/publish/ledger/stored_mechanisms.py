"""Records of mechanisms that answer single persons: which mechanism a name has, and where its answers are stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_from_text
from utmost.errors import LedgerDamaged
from utmost.publish.counting.counted_facts import Part

OFFERED: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "version": (int,),
    "dataset": (str,),
    "mechanism": (str,),
    "level": (str,),
    "relation": (str,),
    "outcomes": (int,),
}
"""Types of the facts of the event that records a mechanism under a name."""

DRAWN: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "version": (int,),
    "persons": (int,),
    "parts": (int,),
    "root": (str,),
}
"""Types of the facts of an event that stores answers of persons."""


@dataclass(frozen=True, slots=True)
class StoredMechanism:
    """A mechanism that answers each person once.

    Attributes:
        name, version: Name and version of the mechanism.
        dataset: Dataset whose budget the mechanism spends.
        mechanism: SHA-256 of rows, level, secrets, distances and outcomes, see `LocalMechanism.digest`.
        spent: Level of the mechanism: the privacy loss between two secrets at distance 1.
        relation: Neighbouring relation that the level protects.
        outcomes: Number of possible answers.
        persons: Number of persons who have an answer.
        open: False if a rollback has lost answers. The ledger then repeats stored answers, and answers no new person.
        bound: Digest of all public facts about the mechanism, authenticated when its answers are encrypted.
    """

    name: str
    version: int
    dataset: str
    mechanism: str
    spent: Level
    relation: str
    outcomes: int
    persons: int = 0
    open: bool = True
    bound: bytes = b""

    @property
    def part(self) -> Part | None:
        """None: a mechanism is not restricted to a part of the population."""
        return None


@dataclass(frozen=True, slots=True)
class DrawnAnswers:
    """Where the answers of some persons are stored: the parts of one event."""

    item: tuple[str, int]  # Name and version of the mechanism
    event: int
    mac: bytes  # Mac of the event, which covers all events up to this one
    persons: int
    # Number of parts, and the digest of all parts
    parts: int
    root: str


def mechanism_of_facts(known: Mapping[tuple[str, int], StoredMechanism], facts: Mapping[str, Any]) -> StoredMechanism:
    about = {name: facts[name] for name in OFFERED}
    text = json.dumps(about, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    level = level_from_text(about.pop("level"))
    mechanism = StoredMechanism(**about, spent=level, bound=sha256(text.encode("ascii")).digest())
    item = mechanism.name, mechanism.version
    if (
        item in known
        or mechanism.version < 1
        or (mechanism.version > 1 and (mechanism.name, mechanism.version - 1) not in known)
    ):
        raise LedgerDamaged("the versions of a name must be numbered without gaps", came=f"version {mechanism.version}")
    return mechanism
