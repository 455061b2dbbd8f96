"""Proposals: made by a curator, decided by somebody else, and asked for before anything is said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from utmost.core.exact.written_levels import level_text
from utmost.errors import NotAllowed, NotPublished, OutOfRange, Unsupported, UtmostError, WrongKind
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.approvals import (
    APPROVED,
    PROPOSED,
    REFUSED,
    WITHDRAWN,
    Proposal,
    check_approved,
    request_digest,
    request_text,
    verb_of,
)
from utmost.interfaces.service.pages.shown_promise import ShownPromise, of_release, of_request
from utmost.interfaces.service.pending_queue import note_done, note_proposal, open_proposals, undecided, waits
from utmost.interfaces.service.proposal_preview import UNREADABLE
from utmost.interfaces.service.publish_requests import (
    LONGEST_REQUEST,
    approved_facts,
    proposable,
    read_request,
    served,
)
from utmost.interfaces.service.records import RecordTransaction
from utmost.interfaces.service.service_context import ServiceContext
from utmost.publish.ledger.budgets import name_as_read
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest

_LONGEST_REASON, _A_PAGE = 1000, 1000
_PUBLICATION, _LISTED, _PROPOSER = "publication", "proposals", "proposer"

MOST_WAITING_OF_ONE = 50
"""The largest number of proposals of one person that wait for a decision."""

MOST_CHARACTERS_OF_ONE = 4 << 20
"""The largest number of characters of those requests together."""

MOST_A_DAY = 500
"""The largest number of proposals that one person makes within a day."""


def check_declared(token: Token, verb: str, request: PublishRequest) -> None:
    """Check that whoever is not shown whether others' data are the same has said that they are not.

    The ledger refuses the values of another dataset, so that what one person has spent adds up. To whoever is for some
    releases alone that refusal would confirm a guess of others' values: so it is not made, and nothing but a
    declaration stands between two budgets for one person. It must be made, and is among the facts that are approved.
    """
    if token.may(verb) or request.independent:
        return
    raise NotAllowed(
        "with a token for some releases you must declare that none of the individuals is in another dataset",
        came="no such declaration",
        remedy="Pass independent=True if that is so; else ask a curator of all releases to publish it.",
    )


def note_declaration(store: RecordTransaction, token: Token, request: PublishRequest) -> None:
    """Write down for auditors that a release was declared to be of nobody else's individuals, and not compared.

    Only what `check_declared` asks of everybody alike: whoever is for all releases declares it where values agree, and
    to write that down would say so.
    """
    about: dict[str, str | int] = {"release": request.name, "version": request.version or 1}
    about |= {"dataset": request.dataset, "declared_by": token.owner}
    store.put("apart", store.hidden("apart", *about.values()), about)  # beside what others declared, never over it


class Proposals:
    """Proposals: publications and relaxations that a second person must confirm.

    Args:
        context: Records, names and time of the service.
        ledger: Ledger of the releases.
        required: whether anything must be confirmed at all.
    """

    __slots__ = ("_context", "_ledger", "required")

    def __init__(self, context: ServiceContext, ledger: Ledger, *, required: bool) -> None:
        self._context, self._ledger, self.required = context, ledger, required

    def propose(
        self,
        token: Token,
        key: str,
        request: PublishRequest | AnswerRequest,
        *,
        reason: str = "",
        anyone: bool = False,
    ) -> Proposal:
        """Propose to publish or to relax a release.

        Args:
            token: Token of a curator.
            key: Idempotency key.
            request: The request; the first version of the data where it names none.
            reason: Reason, for whoever decides; at most 1 000 characters.
            anyone: Whether any curator may use the approval, and not its proposer alone.

        Raises:
            NotAllowed: where too much of the proposer's waits, or was proposed within the day.
        """
        token.check("propose", request.name, request.level)
        _check_reason(reason)
        if not isinstance(anyone, bool):
            raise WrongKind("anyone must be true or false", came=type(anyone).__name__, where="anyone")
        if isinstance(request, PublishRequest):
            request = proposable(served(request))
            check_declared(token, "propose", request)
        facts, verb, version = approved_facts(request), verb_of(request), request.version or 1
        _check_shown_whole(facts)
        name, now = self._context.name("proposal", token, key), int(self._context.clock())
        about = (name, verb, request.name, version, request.level)
        made = (request_digest(facts), len(request_text(facts)), reason, token.owner, now)
        wanted = [verb, request.name, version, level_text(request.level), facts, reason, *([True] if anyone else [])]

        def work(store: RecordTransaction) -> Proposal:
            record = self._context.again(store, "proposal", name, wanted)
            if record is not None:
                return Proposal.of_kept(name, record)
            number = int(store.last(_LISTED) or 0) + 1
            proposal = Proposal(*about, *made, anyone=anyone, also=token.names[1:], number=number)
            _note_waiting(store, proposal, self._context.person(store, token))
            store.put("proposal", name, proposal.kept())
            if facts:
                store.put(_PUBLICATION, name, facts)
            for listed in (_LISTED, _listed_of(store, request.name)):
                store.put(listed, _place(number), {"proposal": name})
            note_proposal(store, proposal)
            about_it = {"proposal": name, "verb": verb, "release": request.name, "level": level_text(request.level)}
            self._context.trail(store, token, "propose", **about_it)
            return proposal

        return self._context.records.write(work)

    def all(self, token: Token) -> list[Proposal]:
        """The proposals about releases that a token is for, oldest first, without the requests."""
        listed, after = list[Proposal](), ""
        while True:
            page, following = self.page(token, after, _A_PAGE)
            listed += page
            if following is None:
                return listed
            after = following

    def page(
        self, token: Token, after: str = "", most: int = 1000, *, newest_first: bool = False
    ) -> tuple[list[Proposal], str | None]:
        """Some of the proposals about releases that a token is for, and the name after which the next page begins.

        What is read is as long as the page, whatever else was proposed, for those releases or for others.

        Raises:
            UnknownRecord: where no proposal that the token is for has the name to begin after.
        """
        self._check_sees(token)

        def work(store: RecordTransaction) -> list[Proposal]:
            begin = _place(self._found(store, token, after).number) if after else ""
            lists = [_LISTED] if token.may("list") else [_listed_of(store, grant.release) for grant in token.grants]
            found: dict[str, str] = {}
            for listed in dict.fromkeys(lists):
                read = store.newest if newest_first else store.all
                found |= {place: line["proposal"] for place, line in read(listed, begin, most + 1)}
            names = [found[place] for place in sorted(found, reverse=newest_first)]
            return [proposal for name in names[: most + 1] if (proposal := _proposal(store, name)) is not None]

        found = self._context.records.read(work)
        return found[:most], found[most - 1].name if len(found) > most else None

    def waiting(self, token: Token, most: int = 1000) -> list[Proposal]:
        """The proposals about releases that a token is for and that nobody has decided, newest first.

        Cost: reads a thousand short records at most, and those that are given.
        """
        self._check_sees(token)

        def work(store: RecordTransaction) -> list[Proposal]:
            mine = [waiting for waiting in undecided(store) if token.may("list", waiting.release)]
            mine.sort(key=lambda waiting: (-waiting.made, waiting.name))
            return [one for waiting in mine[:most] if (one := _proposal(store, waiting.name)) is not None]

        return self._context.records.read(work)

    def beside(self, token: Token, name: str, dataset: str) -> list[Proposal]:
        """The other proposals on a dataset that wait for a decision or for their table, oldest first.

        Of releases that a token is for.

        Cost: reads at most a thousand requests.
        """
        self._check_sees(token)

        def work(store: RecordTransaction) -> list[tuple[Proposal, dict[str, Any]]]:
            mine = [waiting for waiting in open_proposals(store) if token.may("list", waiting.release)]
            there = [_proposal(store, waiting.name) for waiting in mine if waiting.name != name]
            return [(one, store.get(_PUBLICATION, one.name) or {}) for one in there if one is not None]

        found = [one for one, facts in self._context.records.read(work) if self._dataset(one, facts) == dataset]
        return sorted(found, key=lambda one: one.number)

    def _dataset(self, proposal: Proposal, facts: Mapping[str, Any]) -> Any:
        """The dataset that a proposal would spend; None for the relaxation of a release that is not there."""
        if proposal.verb == "publish":
            return facts.get("dataset")
        try:
            return self._ledger.release(proposal.release, proposal.version).dataset
        except NotPublished:
            return None

    def one(self, token: Token, name: object) -> tuple[Proposal, dict[str, Any]]:
        """A proposal, and the whole request to publish: what an approval is for; nothing more of a relaxation.

        Raises:
            UnknownRecord: where no proposal has this name, or the token is not for its release.
        """
        self._check_sees(token)

        def work(store: RecordTransaction) -> tuple[Proposal, dict[str, Any]]:
            proposal = self._found(store, token, name)
            return proposal, store.get(_PUBLICATION, proposal.name) or {}

        return self._context.records.read(work)

    def shown(self, proposal: Proposal, facts: Mapping[str, Any]) -> ShownPromise | None:
        """The promise that an approval would be for, whole; None for the relaxation of a release that is not there."""
        if proposal.verb == "publish":
            return of_request(facts, proposal.proposer)
        try:
            return of_release(self._ledger.release(proposal.release, proposal.version), proposal.level)
        except NotPublished:
            return None

    def decide(self, token: Token, name: str, state: str, reason: str = "") -> Proposal:
        """Approve or refuse a proposal; to decide the same again changes nothing.

        Args:
            reason: Reason; a refusal must give one to the proposer. At most 1 000 characters.

        Raises:
            Unsupported: for the approval of what nobody is shown whole: a request that is too long or unreadable, and
                the relaxation of a release that is not there.
        """
        _check_reason(reason)
        if state == REFUSED and not reason.strip():
            remedy = "Write why: the proposer reads it."
            raise OutOfRange("a refusal must have a reason", came="none", where="reason", remedy=remedy)

        def decision(store: RecordTransaction) -> tuple[Proposal, Proposal]:
            proposal = Proposal.of_kept(name, self._context.known(store, "proposal", name, token, "decide proposals"))
            token.check("decide proposals", proposal.release, proposal.level)
            return proposal, proposal.decided_as(state, self._context.person(store, token), self._context.clock())

        proposal, decided = self._context.records.read(decision)
        if decided != proposal and state == APPROVED:  # before the write, for which others wait
            self._check_approvable(*self.one(token, name))

        def work(store: RecordTransaction) -> Proposal:
            proposal, decided = decision(store)
            if decided == proposal:
                return proposal
            decided = replace(decided, decision_reason=reason)
            _note_decided(store, decided)
            store.put("proposal", name, decided.kept())
            note_proposal(store, decided)
            self._context.trail(store, token, state, proposal=name)
            return decided

        return self._context.records.write(work)

    def withdraw(self, token: Token, name: str) -> Proposal:
        """Take a proposal of one's own back, decided or not, as long as its table was not brought.

        The request that nobody decided about goes with it.

        Raises:
            NotAllowed: for another's proposal, one that was refused, and one whose table was brought.
        """

        def work(store: RecordTransaction) -> Proposal:
            proposal = Proposal.of_kept(name, self._context.known(store, "proposal", name, token, "propose"))
            if not proposal.is_of(self._context.person(store, token)):
                raise NotAllowed(
                    "a proposal must be withdrawn by its proposer",
                    came="another person",
                    where=name,
                    remedy="Refuse it, with a reason.",
                )
            if proposal.state == WITHDRAWN:
                return proposal
            if proposal.state == REFUSED:
                raise NotAllowed("This was already refused; it cannot be changed")
            if proposal.state == APPROVED and not waits(store, name):
                raise NotAllowed(
                    "a proposal that was carried out cannot be withdrawn",
                    came="one that was",
                    where=name,
                    remedy="The release stays.",
                )
            withdrawn = replace(proposal, state=WITHDRAWN, decided_by=token.owner, decided=int(self._context.clock()))
            _note_decided(store, withdrawn)
            store.put("proposal", name, withdrawn.kept())
            if proposal.state == PROPOSED:  # what was approved may be on its way: auditors find what it was
                store.drop(_PUBLICATION, name)
            note_proposal(store, withdrawn)
            self._context.trail(store, token, "withdraw", proposal=name)
            return withdrawn

        return self._context.records.write(work)

    def begun(self, token: Token, key: str, verb: str, release: str) -> int | None:
        """The version of a release that a request with this key was about, where it came before."""
        name = self._context.name(verb, token, key)
        before = self._context.records.read(lambda store: store.get("begun", name)) or {}
        version: int | None = before.get("versions", {}).get(release, before.get("version"))
        return version

    def beginning(
        self,
        token: Token,
        key: str,
        requests: Sequence[PublishRequest] | Sequence[AnswerRequest],
        proposals: Mapping[str, str | None],
        new: Sequence[PublishRequest | AnswerRequest],
    ) -> Callable[[RecordTransaction], None]:
        """The work of a transaction that checks that all that is new is approved, and writes down who does it.

        Args:
            requests: Requests as they are approved, see `proposable`.
            proposals: The approved proposal, by the name of the release.
            new: The requests that are not answered yet: the others need no approval.

        Raises:
            NeedsApproval: in the transaction, where something is not approved.
            RequestReused: there, for another request under a key.
        """
        verb = verb_of(requests[0])
        name = self._context.name(verb, token, key)

        def work(store: RecordTransaction) -> None:
            again = self._context.again(store, "begun", name, _wanted(requests))
            # Also where the request began before: an approval must hold when something is said.
            self._check_all(store, token, new, proposals)
            if again is None:
                versions = {request.name: request.version for request in requests}
                first, *others = versions.values()
                store.put("begun", name, {"versions": versions} if others else {"version": first})
                for request in requests:
                    if isinstance(request, PublishRequest) and not token.may(verb):
                        note_declaration(store, token, request)
                    facts = {"release": request.name, "version": request.version, "level": level_text(request.level)}
                    self._context.trail(store, token, verb, **facts)

        return work

    def done(
        self, requests: Sequence[PublishRequest] | Sequence[AnswerRequest], proposals: Mapping[str, str | None]
    ) -> None:
        """Write down that the tables of proposals have been brought, so that they wait for nobody any more."""

        def work(store: RecordTransaction) -> None:
            for request in requests:
                stored = _proposal(store, proposals.get(request.name))
                if stored is not None and stored.allows(request):
                    note_done(store, stored.name)

        if any(proposal is not None for proposal in proposals.values()):
            self._context.records.write(work)

    def _check_all(
        self,
        store: RecordTransaction,
        token: Token,
        new: Sequence[PublishRequest | AnswerRequest],
        proposals: Mapping[str, str | None],
    ) -> None:
        if self.required and new:
            person = self._context.person(store, token)
            for request in new:
                check_approved(_proposal(store, proposals.get(request.name)), person, request)

    def _check_sees(self, token: Token) -> None:
        if not token.may_ever("propose"):
            token.check_role("decide proposals")

    def _found(self, store: RecordTransaction, token: Token, name: object) -> Proposal:
        record = self._context.known(store, "proposal", name, token, "list")
        return Proposal.of_kept(str(name), record)

    def _check_approvable(self, proposal: Proposal, facts: Mapping[str, Any]) -> None:
        """Check that whoever approves could be shown what that is, whole."""
        remedy = "Refuse it, and let it be proposed again."
        required = "an approver must have been shown the whole request"
        if proposal.verb == "relax":
            if self.shown(proposal, facts) is None:
                came = "the relaxation of a release that is not there, whose promise nobody can read"
                raise Unsupported(required, came=came, where=proposal.name, remedy=remedy)
            return
        _check_shown_whole(facts)
        if request_digest(facts) != proposal.digest:
            raise Unsupported(required, came="a request that is not there", where=proposal.name, remedy=remedy)
        try:
            read_request(facts)
        except (UtmostError, *UNREADABLE):
            came = "a request that cannot be read"
            raise Unsupported(required, came=came, where=proposal.name, remedy=remedy) from None


def _proposal(store: RecordTransaction, name: str | None) -> Proposal | None:
    record = None if name is None else store.get("proposal", name)
    return None if name is None or record is None else Proposal.of_kept(name, record)


def _wanted(requests: Sequence[PublishRequest | AnswerRequest]) -> Any:
    """The facts of a call that its key is kept for."""
    wanted = [
        [verb_of(request), request.name, request.version, level_text(request.level), approved_facts(request)]
        for request in requests
    ]
    return wanted[0] if len(wanted) == 1 else wanted


def _check_reason(reason: object) -> None:
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
        raise OutOfRange(
            f"reason must be text of at most {_LONGEST_REASON} characters",
            came="more, or no text",
            remedy="Shorten it.",
        )


def _check_shown_whole(facts: Mapping[str, Any]) -> None:
    """Check that a page shows a request whole: nobody approves what he cannot read."""
    size = len(request_text(facts))
    if size > LONGEST_REQUEST:
        required = f"a request must be at most {LONGEST_REQUEST} characters of JSON, which a page shows whole"
        remedy = "Promise fewer columns or labels; or publish it on the machine that has the ledger."
        raise OutOfRange(required, came=f"{size} characters", where="promise", remedy=remedy)


def _place(number: int) -> str:
    """The name in a list of what has a number: names are in the order of the numbers."""
    return f"{number:012d}"


def _listed_of(store: RecordTransaction, release: str) -> str:
    """The kind of the list of the proposals about one release."""
    return f"{_LISTED} {store.hidden(_LISTED, release)}"


def _waiting_of(store: RecordTransaction, person: str) -> str:
    return store.hidden(_PROPOSER, person)


def _note_waiting(store: RecordTransaction, proposal: Proposal, person: Token) -> None:
    """Write down that one more proposal of a person waits.

    Raises:
        NotAllowed: where too many, or too long ones, wait; and where as many were made within the day.
    """
    day = proposal.made // 86_400
    records = [store.get(_PROPOSER, _waiting_of(store, name)) for name in person.person]
    there = [record for record in records if record is not None]
    sizes = [size for record in there for size in record["waiting"].values()]
    today = sum(record["made"] for record in there if record["day"] == day)
    if len(sizes) >= MOST_WAITING_OF_ONE or sum(sizes) + proposal.size > MOST_CHARACTERS_OF_ONE:
        came = f"{len(sizes)} of {sum(sizes)} characters, and one of {proposal.size}"
        required = (
            f"at most {MOST_WAITING_OF_ONE} proposals of one person, of {MOST_CHARACTERS_OF_ONE} characters, may wait"
        )
        raise NotAllowed(required, came=came, remedy="Wait for their decisions, or withdraw some.")
    if today >= MOST_A_DAY:
        raise NotAllowed(
            f"one person may make at most {MOST_A_DAY} proposals a day", came="one more", remedy="Make it tomorrow."
        )
    own = _waiting_of(store, name_as_read(proposal.proposer))
    record = store.get(_PROPOSER, own) or {"waiting": {}, "day": day, "made": 0}
    made = record["made"] if record["day"] == day else 0
    waiting = record["waiting"] | {proposal.name: proposal.size}
    store.put(_PROPOSER, own, {"waiting": waiting, "day": day, "made": made + 1})


def _note_decided(store: RecordTransaction, proposal: Proposal) -> None:
    """Write down that a proposal does not wait for a decision any more."""
    own = _waiting_of(store, name_as_read(proposal.proposer))
    record = store.get(_PROPOSER, own)
    if record is not None and proposal.name in record["waiting"]:
        waiting = {name: size for name, size in record["waiting"].items() if name != proposal.name}
        store.put(_PROPOSER, own, record | {"waiting": waiting})
