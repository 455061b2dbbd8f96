"""Answer each person once: draw an answer, store it under a keyed digest of the person's name, and repeat it later.

An answer is stored as a record, in the parts of the event that drew it:

    HMAC(K_persons; person), 16 bytes || index of the answer, in as many bytes as the number of outcomes needs

with K_persons derived from the ledger's key, the mechanism's name and its version. Records are sorted by their first
bytes, and encrypted like the blocks of a release: their length reveals the number of persons answered, and nothing
else. Neither a secret nor the name of a person is stored.
"""

import hmac
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import takewhile
from typing import Any, Protocol, runtime_checkable

from utmost.core.exact.arguments import is_integer
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import AlreadyPublished, LedgerDamaged, NeedsTable, OutOfRange, Quarantined, WrongKind
from utmost.publish.ledger.block_encryption import Seal, checked_parts, level_seal, parts_digest
from utmost.publish.ledger.budgets import (
    Expense,
    check_budgets,
    check_named,
    check_names_differ,
    check_relation,
    warn_of_separate,
)
from utmost.publish.ledger.event_log import Transaction
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.state import ReleaseKey, State
from utmost.publish.ledger.store import Rows
from utmost.publish.ledger.stored_mechanisms import DrawnAnswers, StoredMechanism
from utmost.publish.promises.drawing import BLOCK

_TAG = 16

AnswerNumbers = dict[str, int]
"""{person: index of the person's answer among the mechanism's outcomes}"""


@dataclass(slots=True, eq=False, repr=False)
class AnswerIndex:
    """A cache of stored answers by the tag of the person; `found` adds the records that are newer than the cache."""

    _read: "dict[ReleaseKey, _Found]" = field(default_factory=dict)

    def found(self, transaction: Transaction, item: ReleaseKey, tags: Mapping[str, bytes]) -> AnswerNumbers:
        """Return the stored answers of the persons in ``tags``; leave out persons without one."""
        draws, before = transaction.state.draws, self._read.get(item)
        if before is None or (before.last is not None and draws.get(before.last.event) != before.last):
            # The last event that was read is not in this history, which may be rolled back: read everything again.
            before = _Found(None, {})
        after = 0 if before.last is None else before.last.event
        new = takewhile(lambda event: event > after, reversed(draws))
        mechanism = transaction.state.mechanisms[item]
        seal = _seal(transaction.key, transaction.state, mechanism)
        for draw in reversed([draws[event] for event in new if draws[event].item == item]):
            before.answers.update(
                (tag, (draw, number)) for tag, number in _records(transaction.rows, draw, mechanism, seal)
            )
            before = _Found(draw, before.answers)
        self._read[item] = before
        numbers: AnswerNumbers = {}
        for person, tag in tags.items():
            # The cache may have answers of later events, which another thread has read: they are left out.
            where, number = before.answers.get(tag, (None, 0))
            if where is not None and draws.get(where.event) == where:
                transaction.repeated.add(where.event)
                numbers[person] = number
        return numbers


@runtime_checkable
class LocalMechanism(Protocol):
    """A local mechanism whose level has been checked; implemented in `utmost.local`."""

    @property
    def level(self) -> Level:
        """The level of one answer: the privacy loss between two secrets at distance 1."""

    @property
    def relation(self) -> str:
        """The neighbouring relation that the level protects: a distance in a space."""

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that determines an answer and its guarantee."""

    @property
    def outcomes(self) -> int: ...

    @property
    def names(self) -> Sequence[Hashable]:
        """The possible answers."""

    def rows(self, secrets: Sequence[Any]) -> list[int | None]:
        """Return the index of each secret's row in the channel; None for a missing secret."""

    def drawn(self, rows: list[int], randomness: Randomness) -> list[int]:
        """Draw an answer for each row, independently and exactly; return the indices of the answers."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Found:
    """The answers that were read up to the event ``last``."""

    last: DrawnAnswers | None
    answers: dict[bytes, tuple[DrawnAnswers, int]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResponseRequest:
    name: str  # Name of the mechanism
    dataset: str | None  # Charged dataset; None: that of the known mechanism, or the name of a new one
    version: int | None  # None for the newest version
    independent: bool  # Whether a dataset without a limit is allowed while a limit is set on an unused dataset
    answering: LocalMechanism
    rows: Mapping[str, int | None]  # By person: index of the row of the secret; None for a missing secret
    index: AnswerIndex

    @classmethod
    def read(
        cls,
        name: object,
        persons: Mapping[str, Any],
        answering: LocalMechanism,
        index: AnswerIndex,
        *,
        dataset: str | None,
        version: object,
        independent: bool,
    ) -> "ResponseRequest":
        """Parse and check a request; messages of errors repeat no name, person or secret."""
        if not isinstance(independent, bool):
            raise OutOfRange("independent= must be true or false", came=independent, remedy="Leave it out.")
        if len(answering.names) != answering.outcomes:
            required = f"a mechanism must have a name for each of its {answering.outcomes} outcomes"
            raise WrongKind(required, came=f"{len(answering.names)} names", where="mechanism")
        rows = dict(zip(persons, answering.rows(list(persons.values())), strict=True))
        named = check_name(name, "name")
        group = None if dataset is None else check_name(dataset, "dataset")
        wanted = None if version is None else exact_integer(version, "version")
        return cls(named, group, wanted, independent, answering, rows, index)

    def answers(self, transaction: Transaction, randomness: Randomness, *, may_draw: bool) -> AnswerNumbers | None:
        """Return the answers of all persons, some newly drawn; None if one is missing and ``may_draw`` is False."""
        mechanism = self._known_mechanism(transaction.state)
        stored = {} if mechanism is None else self._found(transaction, mechanism)
        # A person who has an answer gets the same one again, even if the secret has changed since.
        if len(stored) == len(self.rows) or not may_draw:
            return stored if len(stored) == len(self.rows) else None
        new = {person: row for person, row in self.rows.items() if person not in stored}
        # All persons are checked before anything is drawn or charged: a call answers everybody or nobody.
        missing = sum(row is None for row in new.values())
        if missing:
            remedy = (
                "Pass the secrets of these persons: only for a person who was answered before, the "
                "secret may be left out."
            )
            raise NeedsTable(
                "each person who was never answered before needs a secret",
                came=f"{missing} persons without a secret",
                remedy=remedy,
            )
        if mechanism is None:
            mechanism = self._recorded(transaction)
        if not mechanism.open:
            raise Quarantined(
                "a mechanism that lost answers in a rollback cannot answer new persons",
                came=f"{len(new)} persons",
                where=f"{mechanism.name!r}, version {mechanism.version}",
                remedy=f"Pass version={mechanism.version + 1}, a new version, whose epsilon is added.",
            )
        numbers = list(self.answering.drawn([row for row in new.values() if row is not None], randomness))
        # A number that is no outcome would be stored, and nothing could read this ledger's answers any more.
        if len(numbers) != len(new) or not all(is_integer(x) and 0 <= x < mechanism.outcomes for x in numbers):
            raise WrongKind(
                f"a mechanism must draw one of its {mechanism.outcomes} outcomes for each person, by number",
                came="other numbers",
                where="mechanism",
                remedy="Correct its method drawn; or pass a mechanism of utmost.local.read_mechanism.",
            )
        drawn = dict(zip(new, map(int, numbers), strict=True))
        # The event stores the answers in the order of the persons' tags, which is random without the key: the order of
        # the call would reveal who was answered together.
        answers = {tag: drawn[person] for person, tag in person_tags(transaction.key, mechanism, drawn).items()}
        event, width = transaction.state.number + 1, _width(mechanism)
        seal = _seal(transaction.key, transaction.state, mechanism)
        records = [tag + answers[tag].to_bytes(width, "big") for tag in sorted(answers)]
        parts = [
            seal.sealed(event, part, b"".join(records[start : start + BLOCK]))
            for part, start in enumerate(range(0, len(records), BLOCK))
        ]
        facts = {"name": mechanism.name, "version": mechanism.version, "persons": len(records)}
        transaction.append("drawn", facts | {"parts": len(parts), "root": parts_digest(parts)}, parts)
        return {person: stored[person] if person in stored else drawn[person] for person in self.rows}

    def _known_mechanism(self, state: State) -> StoredMechanism | None:
        """Return the mechanism of this name and version; None if the ledger has no such mechanism yet."""
        if (self.name, 1) in state.releases:
            raise AlreadyPublished(
                "one name must not belong to both a release and a mechanism",
                came="the name of a release",
                where=repr(self.name),
                remedy="Pass another name.",
            )
        meant = state.version_meant(self.name, self.version)
        if meant is None:
            return None
        mechanism = state.mechanisms[self.name, meant]
        if mechanism.mechanism != self.answering.digest:
            following = state.newest(self.name) + 1
            remedy = f"Pass the design first used under this name; or pass version={following}, whose epsilon is added."
            where = f"{self.name!r}, version {meant}"
            raise AlreadyPublished(
                "a version of a mechanism must keep its design", came="another design", where=where, remedy=remedy
            )
        if self.dataset not in (None, mechanism.dataset):
            remedy = f"Leave out dataset=: the mechanism belongs to dataset {mechanism.dataset!r}."
            raise OutOfRange(
                "all versions of a mechanism must belong to one dataset",
                came=self.dataset,
                where=self.name,
                remedy=remedy,
            )
        return mechanism

    def _found(self, transaction: Transaction, mechanism: StoredMechanism) -> AnswerNumbers:
        return self.index.found(
            transaction, (mechanism.name, mechanism.version), person_tags(transaction.key, mechanism, self.rows)
        )

    def _recorded(self, transaction: Transaction) -> StoredMechanism:
        """Record the mechanism under its name, and charge its level to the dataset."""
        state, answering = transaction.state, self.answering
        version = state.newest(self.name) + 1
        dataset = self.dataset or (self.name if version == 1 else state.mechanisms[self.name, 1].dataset)
        if version > 1 and state.mechanisms[self.name, 1].dataset != dataset:
            raise OutOfRange(
                "all versions of a mechanism must belong to one dataset",
                came=repr(dataset),
                where=repr(self.name),
                remedy="Leave out dataset=.",
            )
        check_names_differ(state, dataset)
        check_relation(state, dataset, answering.relation, self.name)
        if not self.independent:
            check_named(state, dataset)
        check_budgets(state, [Expense(dataset, answering.level)])
        if not self.independent:
            warn_of_separate(state, dataset)
        about = {"name": self.name, "version": version, "dataset": dataset, "mechanism": answering.digest}
        promise = {"level": level_text(answering.level), "relation": answering.relation, "outcomes": answering.outcomes}
        transaction.append("offered", about | promise)
        return transaction.state.mechanisms[self.name, version]


def check_persons(persons: object) -> dict[str, Any]:
    """Return {person: secret or None} from a mapping or a list; names become Unicode normal form NFC, none twice."""
    if isinstance(persons, str | bytes) or not isinstance(persons, Iterable) or getattr(persons, "ndim", 1) != 1:
        raise WrongKind("persons must be a mapping or a list", came=type(persons).__name__, where="persons")
    rows: dict[str, Any] = {}
    for at, person in enumerate(persons):
        name = check_person(person, f"persons, place {at}")
        if name in rows:
            raise OutOfRange(
                "each person must be named once",
                came="a person twice",
                where=f"persons, place {at}",
                remedy="Leave out one of the two.",
            )
        rows[name] = persons[person] if isinstance(persons, Mapping) else None
    return rows


def check_person(person: object, where: str) -> str:
    """Return a person's name in Unicode normal form NFC."""
    if not isinstance(person, str):
        raise WrongKind(
            "a person's name must be text", came=type(person).__name__, where=where, remedy="Pass str(name)."
        )
    name = unicodedata.normalize("NFC", person)
    if not name or name != name.strip():
        raise OutOfRange(
            "a person's name must be text without blanks at its ends",
            came="a name with blanks, or without characters",
            where=where,
            remedy="Call strip() on the name.",
        )
    return name


def person_tags(key: Key, mechanism: StoredMechanism, persons: Mapping[str, Any]) -> dict[str, bytes]:
    """Return a keyed digest of each name, by which the ledger finds a person again; without the key nobody can."""
    # The key depends on name and version, so that nobody can follow a person from one mechanism to another.
    secret = key.derived("persons", mechanism.name, str(mechanism.version))
    return {person: hmac.digest(secret, person.encode("utf-8", "surrogatepass"), sha256)[:_TAG] for person in persons}


def checked_answers(key: Key, rows: Rows, state: State) -> int:
    """Check that all stored answers are unchanged and no person has two; return the number of answers."""
    seen: dict[ReleaseKey, set[bytes]] = {}
    for event, draw in state.draws.items():
        mechanism, tags = state.mechanisms[draw.item], seen.setdefault(draw.item, set())
        new = [tag for tag, _ in _records(rows, draw, mechanism, _seal(key, state, mechanism))]
        if len(new) != draw.persons or len({*new}) != len(new) or not tags.isdisjoint(new):
            raise LedgerDamaged(
                "each person must be answered once", came="another number of answers", where=f"event {event}"
            )
        tags.update(new)
    return sum(map(len, seen.values()))


def _records(rows: Rows, draw: DrawnAnswers, mechanism: StoredMechanism, seal: Seal) -> Iterator[tuple[bytes, int]]:
    """Verify all parts of an event; return the tag of each person and the index of the person's answer."""
    parts = [
        seal.opened(draw.event, at, content)
        for at, content in enumerate(checked_parts(rows, draw.event, draw.parts, draw.root))
    ]
    content, width = b"".join(parts), _TAG + _width(mechanism)
    records = [content[at : at + width] for at in range(0, len(content), width)]
    if len(content) != width * draw.persons:
        required = "stored answers must have the length that their event states"
        raise LedgerDamaged(required, came=len(content), where=f"event {draw.event}")
    numbers = [int.from_bytes(record[_TAG:], "big") for record in records]
    # Only a ledger without encryption needs this check: encrypted bytes that can be decrypted are authentic.
    if max(numbers, default=0) >= mechanism.outcomes:
        raise LedgerDamaged(
            "a stored answer must be one of the outcomes of its mechanism",
            came="another number",
            where=f"event {draw.event}",
        )
    return zip((record[:_TAG] for record in records), numbers, strict=True)


def _seal(key: Key, state: State, mechanism: StoredMechanism) -> Seal:
    return level_seal(key, state, mechanism, mechanism.spent)


def _width(mechanism: StoredMechanism) -> int:
    return max(1, -(-(mechanism.outcomes - 1).bit_length() // 8))


def answered(
    transaction: Transaction, name: str, version: int | None, persons: Mapping[str, Any], index: AnswerIndex
) -> list[str]:
    """List the persons whom a version of a mechanism has answered; the newest version if ``version`` is None."""
    wanted = transaction.state.newest(name) if version is None else version
    mechanism = transaction.state.mechanisms.get((name, wanted))
    return (
        []
        if mechanism is None
        else list(index.found(transaction, (name, wanted), person_tags(transaction.key, mechanism, persons)))
    )
