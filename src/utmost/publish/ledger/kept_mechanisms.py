"""Mechanisms that answer persons, as a ledger keeps them: one for each name, and the place of each answer."""

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
"""The facts of an event by which a mechanism is bound to a name."""

DRAWN: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "version": (int,),
    "persons": (int,),
    "parts": (int,),
    "root": (str,),
}
"""The facts of an event by which persons are answered."""


@dataclass(frozen=True, slots=True)
class KeptMechanism:
    """A mechanism from which each person is answered once.

    Attributes:
        name, version: Name and version of the mechanism.
        dataset: Dataset whose budget it spends.
        mechanism: the SHA-256 of rows, level, secrets, distances and outcomes, see `Answering`.
        spent: its level: what one answer costs a person whose secret moves by a distance of 1.
        relation: against what that protects.
        outcomes: Number of possible answers.
        persons: Number of persons answered.
        open: False once a rollback has lost answers: those that are kept are repeated, and nobody new is answered.
        bound: the digest of all public facts about it: the seals of its answers bind it.
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
        """None: anybody may be asked."""
        return None


@dataclass(frozen=True, slots=True)
class DrawnAnswers:
    """The place of some persons' answers: the parts of an event.

    Attributes:
        item: name and version of the mechanism.
        event: the number of the event.
        mac: Mac of the event, which stands for all that was written up to it.
        persons: Number of persons answered.
        parts, root: Number of parts, and the digest of them all.
    """

    item: tuple[str, int]
    event: int
    mac: bytes
    persons: int
    parts: int
    root: str


def offered(known: Mapping[tuple[str, int], KeptMechanism], facts: Mapping[str, Any]) -> KeptMechanism:
    """A mechanism that an event binds to the next version of a name."""
    about = {name: facts[name] for name in OFFERED}
    text = json.dumps(about, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    level = level_from_text(about.pop("level"))
    mechanism = KeptMechanism(**about, spent=level, bound=sha256(text.encode("ascii")).digest())
    item = mechanism.name, mechanism.version
    if (
        item in known
        or mechanism.version < 1
        or (mechanism.version > 1 and (mechanism.name, mechanism.version - 1) not in known)
    ):
        raise LedgerDamaged("versions must follow one another", came=f"version {mechanism.version}")
    return mechanism


def drawn(facts: Mapping[str, Any], event: int, mac: bytes) -> DrawnAnswers:
    """Answers as an event says them."""
    item = facts["name"], facts["version"]
    return DrawnAnswers(item, event, mac, facts["persons"], facts["parts"], facts["root"])
