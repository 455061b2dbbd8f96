"""Queue of waiting proposals: each has a short record, which exists as long as the proposal waits.

A record is written in the transaction that proposes or decides, so the queue always agrees with the other records. No
page has to open all proposals to count those that wait.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from utmost.core.exact.written_levels import level_from_text
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.record_forms import (
    HIDDEN,
    Count,
    JsonRecord,
    LevelText,
    Person,
    Record,
    ReleaseName,
    Seconds,
    one_of,
)
from utmost.interfaces.service.approvals import APPROVED, PROPOSED, Proposal
from utmost.interfaces.service.records import RecordTransaction
from utmost.interfaces.service.service_context import ServiceContext

_KIND = "waiting"
MOST_WAITING = 1000
"""Largest number of waiting proposals, of all people, that a page of waiting proposals reads."""

_MOST_COUNTED = 100  # the menu counts what waits up to 100

DECISION, TABLE = "decide proposals", "publish"


@dataclass(frozen=True, slots=True)
class Waiting(JsonRecord):
    """A proposal that waits for a person."""

    READ: ClassVar = {"level": level_from_text, "also": tuple}

    name: Record
    # The action that the proposal waits for: "decide proposals", or "publish" for the table after an approval.
    verb: Annotated[str, one_of((DECISION, TABLE))]
    release: ReleaseName
    version: Count
    level: LevelText
    proposer: Person
    # Time when the waiting began, in seconds since 1970.
    made: Seconds
    # Whether any curator may send the table.
    anyone: bool = False
    # The proposer's other names, see `Token.person`.
    also: Annotated[tuple[str, ...], HIDDEN] = ()

    def is_for(self, person: Token) -> bool:
        """Check whether a person may act: all but the proposer may decide; the proposer or anyone may send a table."""
        is_own = person.is_of((self.proposer, *self.also))
        return is_own or self.anyone if self.verb == TABLE else not is_own


def note_proposal(store: RecordTransaction, proposal: Proposal) -> None:
    """Record what a proposal waits for now: a decision, then a table, then nothing."""
    verb = {PROPOSED: DECISION, APPROVED: TABLE}.get(proposal.state)
    if verb is None:
        return note_done(store, proposal.name)
    about = (proposal.release, proposal.version, proposal.level, proposal.proposer)
    since = proposal.made if proposal.decided is None else proposal.decided
    waiting = Waiting(proposal.name, verb, *about, since, proposal.anyone, proposal.also)
    store.put(_KIND, proposal.name, waiting.kept())
    store.notices.append(verb)


def note_done(store: RecordTransaction, name: str) -> None:
    """Delete the record of a proposal that waits for nobody any more."""
    store.drop(_KIND, name)


def open_proposals(store: RecordTransaction) -> list[Waiting]:
    """Return the first thousand proposals that wait for a decision or for their table."""
    return [Waiting.of_kept(name, record) for name, record in store.all(_KIND, most=MOST_WAITING)]


def undecided(store: RecordTransaction) -> list[Waiting]:
    """Return the proposals that wait for a decision, among the first thousand that wait."""
    return [waiting for waiting in open_proposals(store) if waiting.verb == DECISION]


def waits(store: RecordTransaction, name: str) -> bool:
    return store.get(_KIND, name) is not None


class PendingQueue:
    """Finds and counts the proposals that wait for the owner of a token."""

    __slots__ = ("_context",)

    def __init__(self, context: ServiceContext) -> None:
        self._context = context

    def all(self, token: Token) -> list[Waiting]:
        """Return which of the first thousand waiting proposals wait for a token's owner, the longest waiting first."""
        # Cost: reads at most a thousand short records, and all tokens if one of the records may be for this token.
        return sorted(self._first(token, MOST_WAITING)[0], key=lambda waiting: (waiting.made, waiting.name))

    def has(self, name: str) -> bool:
        """Check whether a proposal waits for a decision, or for its table."""
        return self._context.records.read(lambda store: waits(store, name))

    def among(self, proposals: Iterable[Proposal]) -> set[str]:
        """Return the names of those proposals that wait for a decision, or for their table."""
        names = [proposal.name for proposal in proposals]
        return self._context.records.read(lambda store: {name for name in names if waits(store, name)})

    def count(self, token: Token) -> str:
        """Return, for the menu, how many of the first hundred waiting proposals wait for a person; "+" if more wait."""
        mine, is_all = self._first(token, _MOST_COUNTED)
        return f"{len(mine)}{'' if is_all else '+'}" if mine or not is_all else ""

    def _first(self, token: Token, most: int) -> tuple[list[Waiting], bool]:
        """Return which of the first `most` waiting proposals wait for a token's owner, and whether no others wait."""
        if not token.may_ever(TABLE):
            token.check_role(DECISION)

        def work(store: RecordTransaction) -> tuple[list[Waiting], bool]:
            records = store.all(_KIND, most=most + 1)
            waiting_records = [Waiting.of_kept(name, record) for name, record in records[:most]]
            mine = [waiting for waiting in waiting_records if token.may(waiting.verb, waiting.release, waiting.level)]
            if mine:
                person = self._context.person(store, token)
                mine = [waiting for waiting in mine if waiting.is_for(person)]
            return mine, len(records) <= most

        return self._context.records.read(work)
