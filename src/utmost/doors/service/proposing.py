"""Proposals at a service's desk: made by a curator, decided by somebody else, and asked for before anything is said."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from utmost.doors.service.approvals import VERBS, Proposal, check_approved
from utmost.doors.service.desk import Desk
from utmost.doors.service.records import Shelf
from utmost.doors.service.terms import LONGEST_TERMS, Terms
from utmost.doors.service.tokens import Token
from utmost.doors.service.waiting import note_done, note_proposal
from utmost.errors import NotAllowed, OutOfRange, WrongKind
from utmost.laws.exact import Level, exact_integer
from utmost.laws.exact.kinds import spelled
from utmost.laws.exact.written_levels import level_text
from utmost.publish.ledger.events import check_name

_LONGEST_REASON = 1000


def check_declared(token: Token, verb: str, terms: Terms) -> None:
    """Check that whoever is not shown whether others' data are the same has said that they are not.

    The ledger refuses the values of another dataset, so that what one person has spent adds up. To whoever is for some
    releases alone that refusal would confirm a guess of others' values: so it is not made, and nothing but a
    declaration stands between two budgets for one person. It must be made, and is among the facts that are approved.
    """
    if token.may(verb) or terms.independent:
        return
    raise NotAllowed(
        "a token for some releases must declare that none of the individuals is in another dataset",
        came="no such declaration",
        remedy="Say independent=True where that is so; else ask a curator for all releases to publish it.",
    )


def note_apart(shelf: Shelf, token: Token, release: str, version: int, facts: Mapping[str, Any]) -> None:
    """Write down for auditors that a release was declared to be of nobody else's individuals, and not compared.

    Only what `check_declared` asks of everybody alike: whoever is for all releases declares it where values agree, and
    to write that down would say so.
    """
    dataset = release if facts["dataset"] is None else facts["dataset"]
    about = {"release": release, "version": version, "dataset": dataset, "declared_by": token.owner}
    shelf.put("apart", shelf.hidden("apart", *about.values()), about)  # beside what others declared, never over it


def _said_now(proposal: Proposal) -> Proposal:
    """A proposal with its facts as they are said today, where an older version of the service wrote it."""
    return replace(proposal, facts=Terms.read(proposal.facts).facts()) if proposal.facts else proposal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Saying:
    """What is about to be said by the ledger.

    Attributes:
        release, version, level: of what.
        facts: of a publication, those that are approved; empty for a relaxation.
        proposal: the name of the one that allows it, if any.
        is_new: False for what has been said: it needs no approval.
    """

    release: str
    version: int
    level: Level
    facts: Mapping[str, Any]
    proposal: str | None
    is_new: bool = True

    @property
    def about(self) -> tuple[str, int, Level, Mapping[str, Any]]:
        """What an approval is for."""
        return self.release, self.version, self.level, self.facts


class ProposalWords(TypedDict, total=False):
    """The words of a proposal, see `Proposals.propose`."""

    version: int
    terms: Terms | None
    reason: str
    anyone: bool


class Proposals:
    """What a second person must confirm.

    Args:
        desk: what all verbs share.
        required: whether anything must be confirmed at all.
    """

    __slots__ = ("_desk", "required")

    def __init__(self, desk: Desk, *, required: bool) -> None:
        self._desk, self.required = desk, required

    @spelled
    def propose(
        self, token: Token, key: str, verb: str, release: str, at: Level, **words: Unpack[ProposalWords]
    ) -> Proposal:
        """Propose to publish or to relax a release.

        Args:
            token: a curator's.
            key: an idempotency key.
            verb: "publish" or "relax".
            release, version, at: what is to be said.
            terms: of a publication.
            reason: why, for whoever decides; at most 1 000 characters.
            anyone: whether any curator may use the approval, and not its proposer alone.
        """
        if verb not in VERBS:
            raise OutOfRange("a proposal must be to publish or to relax", came=verb)
        terms, reason, anyone = words.get("terms"), words.get("reason", ""), words.get("anyone", False)
        token.check("propose", check_name(release, "name"), at)
        if not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
            raise OutOfRange(f"a reason must be text of at most {_LONGEST_REASON} characters", where="reason")
        if not isinstance(anyone, bool):
            raise WrongKind("anyone must be true or false", came=type(anyone).__name__, where="anyone")
        if (terms is None) != (verb == "relax"):
            raise OutOfRange("terms belong to a publication, and to nothing else", where="terms")
        if terms is not None:
            check_declared(token, "propose", terms)
        facts = {} if terms is None else terms.facts()
        if len(json.dumps(facts)) > LONGEST_TERMS:
            raise OutOfRange("terms must be at most 2 MiB of JSON", came="more", where="terms")
        name, now = self._desk.name("proposal", token, key), int(self._desk.clock())
        wanted = exact_integer(words.get("version", 1), "version")
        proposal = Proposal(
            name, verb, release, wanted, at, facts, reason, token.owner, now, anyone=anyone, also=token.names[1:]
        )
        wanted_things = [verb, release, wanted, level_text(at), facts, reason, *([True] if anyone else [])]

        def work(shelf: Shelf) -> Proposal:
            record = self._desk.again(shelf, "proposal", name, wanted_things)
            if record is not None:
                return Proposal.of_kept(name, record)
            shelf.put("proposal", name, proposal.kept())
            note_proposal(shelf, proposal)
            about = {"proposal": name, "verb": verb, "release": release, "level": level_text(at)}
            self._desk.trail(shelf, token, "propose", **about)
            return proposal

        return self._desk.records.write(work)

    def all(self, token: Token) -> list[Proposal]:
        """The proposals about releases that a token is for, oldest first."""
        if not token.may_ever("propose"):
            token.check_role("decide proposals")
        records = self._desk.records.read(lambda shelf: shelf.all("proposal"))
        proposals = (Proposal.of_kept(name, proposal) for name, proposal in records)
        return sorted(
            (proposal for proposal in proposals if token.may("list", proposal.release)),
            key=lambda proposal: (proposal.made, proposal.name),
        )

    def decide(self, token: Token, name: str, state: str) -> Proposal:
        """Approve or refuse a proposal; to decide the same again changes nothing."""

        def work(shelf: Shelf) -> Proposal:
            proposal = Proposal.of_kept(name, self._desk.known(shelf, "proposal", name, token, "decide proposals"))
            token.check("decide proposals", proposal.release, proposal.level)
            decided = proposal.decided_as(state, self._desk.person(shelf, token), self._desk.clock())
            if decided != proposal:
                shelf.put("proposal", name, decided.kept())
                note_proposal(shelf, decided)
                self._desk.trail(shelf, token, state, proposal=name)
            return decided

        return self._desk.records.write(work)

    def begun(self, token: Token, key: str, verb: str, release: str) -> int | None:
        """The version of a release that a request with this key was about, where it came before."""
        name = self._desk.name(verb, token, key)
        before = self._desk.records.read(lambda shelf: shelf.get("begun", name)) or {}
        version: int | None = before.get("versions", {}).get(release, before.get("version"))
        return version

    def begin(self, token: Token, key: str, verb: str, *sayings: Saying) -> None:
        """Check that all that is about to be said is approved, and write down who says it, in one write."""
        name = self._desk.name(verb, token, key)
        wanted = [[verb, *saying.about[:2], level_text(saying.level), dict(saying.facts)] for saying in sayings]

        def work(shelf: Shelf) -> None:
            again = self._desk.again(shelf, "begun", name, wanted[0] if len(wanted) == 1 else wanted)
            # Also where the request began before: an approval must hold when something is said.
            unapproved = [saying for saying in sayings if self.required and saying.is_new]
            person = self._desk.person(shelf, token) if unapproved else token
            for saying in unapproved:
                check_approved(_proposal_of(shelf, saying.proposal), person, verb, saying.about)
            if again is None:
                versions = {saying.release: saying.version for saying in sayings}
                first, *others = versions.values()
                shelf.put("begun", name, {"versions": versions} if others else {"version": first})
                for saying in sayings:
                    if verb == "publish" and not token.may(verb):
                        note_apart(shelf, token, saying.release, saying.version, saying.facts)
                    facts = {"release": saying.release, "version": saying.version, "level": level_text(saying.level)}
                    self._desk.trail(shelf, token, verb, **facts)

        self._desk.records.write(work)

    def done(self, verb: str, *sayings: Saying) -> None:
        """Write down that the tables of proposals have been brought, so that they wait for nobody any more."""

        def work(shelf: Shelf) -> None:
            for saying in sayings:
                stored = _proposal_of(shelf, saying.proposal)
                if stored is not None and stored.allows(verb, *saying.about):
                    note_done(shelf, stored.name)

        if any(saying.proposal is not None for saying in sayings):
            self._desk.records.write(work)


def _proposal_of(shelf: Shelf, name: str | None) -> Proposal | None:
    record = None if name is None else shelf.get("proposal", name)
    return None if name is None or record is None else _said_now(Proposal.of_kept(name, record))
