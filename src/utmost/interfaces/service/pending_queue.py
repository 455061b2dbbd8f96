"""The queue of what waits for whom: an index of a few words each, written when waiting begins, dropped when it ends.

It is written in the very transaction that proposes or decides, so it never says anything else than the records;
and no page has to open all proposals to count those that wait.
"""

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
"""The number of waiting things, for whomever, that are looked at for the page that lists them."""

_MOST_COUNTED = 100

DECISION, TABLE = "decide proposals", "publish"


@dataclass(frozen=True, slots=True)
class Waiting(JsonRecord):
    """Something that waits for somebody.

    Attributes:
        name: Name of the proposal.
        verb: Action it waits for: "decide proposals", or "publish", for the table of what was approved.
        release, version, level: Release, version and level of the proposal.
        asker: Person who proposed it.
        made: Time since which it waits, in seconds since 1970.
        anyone: whether any curator may bring the table, and not the asker alone.
        also: Other names by which the asker is known as a person, see `Token.person`.
    """

    READ: ClassVar = {"level": level_from_text, "also": tuple}

    name: Record
    verb: Annotated[str, one_of((DECISION, TABLE))]
    release: ReleaseName
    version: Count
    level: LevelText
    asker: Person
    made: Seconds
    anyone: bool = False
    also: Annotated[tuple[str, ...], HIDDEN] = ()

    def is_for(self, person: Token) -> bool:
        """Whether it waits for a person who may do it: others' proposals, and own tables."""
        is_own = person.is_of((self.asker, *self.also))
        return is_own or self.anyone if self.verb == TABLE else not is_own


def note_proposal(store: RecordTransaction, proposal: Proposal) -> None:
    """Write down what a proposal waits for now: a second person, then the table, then nothing."""
    verb = {PROPOSED: DECISION, APPROVED: TABLE}.get(proposal.state)
    about = (proposal.release, proposal.version, proposal.level, proposal.proposer)
    since = proposal.made if proposal.decided is None else proposal.decided
    _note(store, proposal.name, verb and Waiting(proposal.name, verb, *about, since, proposal.anyone, proposal.also))


def note_done(store: RecordTransaction, name: str) -> None:
    """Write down that something waits for nobody any more."""
    _note(store, name, None)


def open_proposals(store: RecordTransaction) -> list[Waiting]:
    """The proposals that wait for a decision or for their table: the first thousand."""
    return [Waiting.of_kept(name, record) for name, record in store.all(_KIND, most=MOST_WAITING)]


def undecided(store: RecordTransaction) -> list[Waiting]:
    """The proposals that wait for a decision, among the first thousand of all that waits."""
    return [waiting for waiting in open_proposals(store) if waiting.verb == DECISION]


def waits(store: RecordTransaction, name: str) -> bool:
    """Whether a proposal waits for anybody."""
    return store.get(_KIND, name) is not None


def _note(store: RecordTransaction, name: str, waiting: Waiting | str | bool | None) -> None:
    if isinstance(waiting, Waiting):
        store.put(_KIND, name, waiting.kept())
        store.told.append(waiting.verb)
    else:
        store.drop(_KIND, name)


class PendingQueue:
    """The things that wait, for each token.

    Args:
        context: Records, names and time of the service.
    """

    __slots__ = ("_context",)

    def __init__(self, context: ServiceContext) -> None:
        self._context = context

    def all(self, token: Token) -> list[Waiting]:
        """The things that wait for whoever holds a token, longest first: of the first thousand that wait for anybody.

        Cost: reads a thousand short records at most, and all tokens where any of those may be for this one.
        """
        return sorted(self._first(token, MOST_WAITING)[0], key=lambda waiting: (waiting.made, waiting.name))

    def has(self, name: str) -> bool:
        """Whether a proposal waits for anybody: for a decision, or for its table."""
        return self._context.records.read(lambda store: waits(store, name))

    def count(self, token: Token) -> str:
        """The number of waiting things, for the menu of every page: of the first hundred, with a sign for more."""
        mine, is_all = self._first(token, _MOST_COUNTED)
        return f"{len(mine)}{'' if is_all else '+'}" if mine or not is_all else ""

    def _first(self, token: Token, most: int) -> tuple[list[Waiting], bool]:
        """The things that wait for a token, among so many that wait for anybody; and whether those are all."""
        if not token.may_ever(TABLE):
            token.check_role(DECISION)

        def work(store: RecordTransaction) -> tuple[list[Waiting], bool]:
            records = store.all(_KIND, most=most + 1)
            there = [Waiting.of_kept(name, record) for name, record in records[:most]]
            mine = [waiting for waiting in there if token.may(waiting.verb, waiting.release, waiting.level)]
            if mine:
                person = self._context.person(store, token)
                mine = [waiting for waiting in mine if waiting.is_for(person)]
            return mine, len(records) <= most

        return self._context.records.read(work)
