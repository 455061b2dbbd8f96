"""Make, list, decide and withdraw proposals, which a second person approves before anything is published."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from utmost.core.exact.levels import Level
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
from utmost.interfaces.service.pages.shown_promise import ShownPromise, of_release, of_request, relaxed_facts
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
from utmost.interfaces.service.service_context import ServiceContext, granted_level, is_granted, put_receipt
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.names import check_name_differs, name_as_read
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.state import Published

_LONGEST_REASON, _A_PAGE = 1000, 1000  # characters of a reason, proposals of a page
_PUBLICATION, _LISTED, _PROPOSER = "publication", "proposals", "proposer"


def check_declared(token: Token, verb: str, request: PublishRequest) -> None:
    """Refuse a request to publish by a token that is for some releases only, unless the request has
    ``independent=True``, which declares that no individual is in another dataset.
    """
    # The ledger refuses values that another dataset already has, so that the levels of one person add up. For a caller
    # with a token for some releases, that refusal would confirm guesses of other people's values. Such values
    # are not compared: only this declaration, a part of the approved request, ensures that nobody is in two budgets.
    if token.may(verb) or request.independent:
        return
    raise NotAllowed(
        "with a token for some releases, you must declare that none of the individuals is in another dataset",
        came="no such declaration",
        remedy="Pass independent=True if no individual is in another dataset; otherwise ask a curator of "
        "all releases to publish the table.",
    )


def note_declaration(store: RecordTransaction, token: Token, request: PublishRequest) -> None:
    """Record for auditors that the individuals were declared to be in no other dataset, without a comparison."""
    # Only a declaration that `check_declared` requires is recorded. A caller with a token for all releases declares
    # this only if values agree with those of another dataset, so a record would reveal that they agree.
    about: dict[str, str | int] = {"release": request.name, "version": request.version or 1}
    about |= {"dataset": request.dataset, "declared_by": token.owner}
    # The record's name includes the person, so it never replaces the declaration of another person.
    store.put("separate", store.hidden("separate", *about.values()), about)


class Proposals:
    """Makes, lists and decides the publications and relaxations that a second person must approve."""

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
        # Refuse if too many or too long proposals of this person wait, or too many were made within a day.
        token.check("propose", request.name, request.level)
        _check_reason(reason)
        if not isinstance(anyone, bool):
            raise WrongKind("the field anyone must be true or false", came=type(anyone).__name__, where="anyone")
        if isinstance(request, PublishRequest):
            request = proposable(served(request))
            check_declared(token, "propose", request)
            facts, relaxed = request.facts(), None
            _check_shown_whole(facts)
        else:
            relaxed = self._ledger.release(request.name, request.version or 1)
            facts = relaxed_facts(relaxed, request.level)
        there = self._ledger.releases
        verb, version = verb_of(request), request.version or 1
        name, now = self._context.record_name("proposal", token, key), int(self._context.clock())
        about = (name, verb, request.name, version, request.level)
        made = (request_digest(facts), len(request_text(facts)), reason, token.owner, now)
        call = [verb, request.name, version, level_text(request.level), facts, reason, *([True] if anyone else [])]

        def work(store: RecordTransaction) -> Proposal:
            record = self._context.earlier_record(store, "proposal", name, call)
            if record is not None:
                return Proposal.of_kept(name, record)
            if isinstance(request, PublishRequest):
                _check_new_version(request, there)
            elif relaxed is not None:
                _check_relaxable(relaxed, request.level, granted_level(token, request.name))
            number = int(store.last(_LISTED) or 0) + 1
            proposal = Proposal(*about, *made, anyone=anyone, also=token.names[1:], number=number)
            _note_waiting(store, proposal, self._context.person(store, token))
            store.put("proposal", name, proposal.kept())
            if verb == "publish":
                store.put(_PUBLICATION, name, facts)
            for listed in (_LISTED, _listed_of(store, request.name)):
                store.put(listed, _sortable_name(number), {"proposal": name})
            note_proposal(store, proposal)
            about_it = {"proposal": name, "verb": verb, "release": request.name, "level": level_text(request.level)}
            self._context.trail(store, token, "propose", **about_it)
            return proposal

        return self._context.records.write(work)

    def all(self, token: Token) -> list[Proposal]:
        """Return the proposals about releases that a token may see, oldest first, without the requests."""
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
        """Return some proposals about releases that a token may see, and the name after which the next page begins."""
        # Reads only the records of the page, however many other proposals there are.
        self._check_sees(token)

        def work(store: RecordTransaction) -> list[Proposal]:
            begin = _sortable_name(self._found(store, token, after).number) if after else ""
            lists = [_LISTED] if token.may("list") else [_listed_of(store, grant.release) for grant in token.grants]
            found: dict[str, str] = {}
            for listed in dict.fromkeys(lists):
                read = store.newest if newest_first else store.all
                found |= {name_in_list: line["proposal"] for name_in_list, line in read(listed, begin, most + 1)}
            names = [found[name_in_list] for name_in_list in sorted(found, reverse=newest_first)]
            return [proposal for name in names[: most + 1] if (proposal := _proposal(store, name)) is not None]

        found = self._context.records.read(work)
        return found[:most], found[most - 1].name if len(found) > most else None

    def waiting(self, token: Token, most: int = 1000) -> list[Proposal]:
        """Return the undecided proposals about releases that a token may see, newest first."""
        # Cost: reads at most a thousand short records, and the returned proposals.
        self._check_sees(token)

        def work(store: RecordTransaction) -> list[Proposal]:
            mine = [waiting for waiting in undecided(store) if token.may("list", waiting.release)]
            mine.sort(key=lambda waiting: (-waiting.made, waiting.name))
            return [one for waiting in mine[:most] if (one := _proposal(store, waiting.name)) is not None]

        return self._context.records.read(work)

    def others_waiting(self, token: Token, name: str, dataset: str) -> list[Proposal]:
        """Return the waiting proposals on a dataset, except `name`, for releases that a token may see; oldest first."""
        # Cost: reads at most a thousand requests.
        self._check_sees(token)

        def work(store: RecordTransaction) -> list[tuple[Proposal, dict[str, Any]]]:
            mine = [waiting for waiting in open_proposals(store) if token.may("list", waiting.release)]
            others_found = [_proposal(store, waiting.name) for waiting in mine if waiting.name != name]
            return [(one, store.get(_PUBLICATION, one.name) or {}) for one in others_found if one is not None]

        others = []
        for one, facts in self._context.records.read(work):
            relaxed = self.relaxed(one)
            if dataset == (facts.get("dataset") if relaxed is None else relaxed.dataset):
                others.append(one)
        return sorted(others, key=lambda one: one.number)

    def relaxed(self, proposal: Proposal) -> Published | None:
        """Return the release that a proposal relaxes; None if it publishes, or if there is no such release."""
        try:
            return None if proposal.verb == "publish" else self._ledger.release(proposal.release, proposal.version)
        except NotPublished:
            return None

    def answered(self, proposal: Proposal) -> tuple[Level, ...]:
        """Return the answered levels of the release that a proposal relaxes; none for a publication."""
        release = self.relaxed(proposal)
        return () if release is None else release.levels

    def one(self, token: Token, name: object) -> tuple[Proposal, dict[str, Any]]:
        """Return a proposal and its request: the stored publication, or for a relaxation the release's promise."""
        self._check_sees(token)

        def work(store: RecordTransaction) -> tuple[Proposal, dict[str, Any]]:
            proposal = self._found(store, token, name)
            return proposal, store.get(_PUBLICATION, proposal.name) or {}

        proposal, facts = self._context.records.read(work)
        release = self.relaxed(proposal)
        return proposal, facts if release is None else relaxed_facts(release, proposal.level)

    def shown(self, proposal: Proposal, facts: Mapping[str, Any]) -> ShownPromise | None:
        """Return the promise of a proposal; None for the relaxation of a release that does not exist."""
        if proposal.verb == "publish":
            return of_request(facts, proposal.proposer)
        relaxed = self.relaxed(proposal)
        return None if relaxed is None else of_release(relaxed, proposal.level)

    def decide(self, token: Token, name: str, state: str, reason: str = "") -> Proposal:
        """Approve or refuse a proposal; the same decision again changes nothing."""
        # A request that cannot be shown whole to the approver cannot be approved: too long, unreadable, or about a
        # release that does not exist.
        _check_reason(reason)
        if state == REFUSED and not reason.strip():  # a refusal has a reason, which the proposer reads
            remedy = "Write the reason, which the proposer reads."
            raise OutOfRange("a refusal must have a reason", came="no reason", where="reason", remedy=remedy)

        def decision(store: RecordTransaction) -> tuple[Proposal, Proposal]:
            proposal = self._found(store, token, name, "decide proposals")
            token.check("decide proposals", proposal.release, proposal.level)
            return proposal, proposal.decided_as(state, self._context.person(store, token), self._context.clock())

        proposal, decided = self._context.records.read(decision)
        if decided != proposal and state == APPROVED:  # before the write, which blocks other writers
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
        """Withdraw one's own proposal, decided or not, before its table is sent."""
        # An undecided request is deleted.

        def work(store: RecordTransaction) -> Proposal:
            proposal = self._found(store, token, name, "propose")
            if not proposal.is_of(self._context.person(store, token)):
                raise NotAllowed(
                    "only the proposer of a proposal can withdraw it",
                    came="another person",
                    where=name,
                    remedy="Refuse the proposal, with a reason.",
                )
            if proposal.state == WITHDRAWN:
                return proposal
            if proposal.state == REFUSED:
                raise NotAllowed("This proposal was already refused; a decision cannot be changed")
            if proposal.state == APPROVED and not waits(store, name):
                raise NotAllowed(
                    "a proposal that was carried out cannot be withdrawn",
                    came="a proposal whose table was sent",
                    where=name,
                    remedy="Leave the proposal as it is: its release cannot be undone.",
                )
            withdrawn = replace(proposal, state=WITHDRAWN, decided_by=token.owner, decided=int(self._context.clock()))
            _note_decided(store, withdrawn)
            store.put("proposal", name, withdrawn.kept())
            if proposal.state == PROPOSED:  # an approved request stays for auditors, because it may be under way
                store.drop(_PUBLICATION, name)
            note_proposal(store, withdrawn)
            self._context.trail(store, token, "withdraw", proposal=name)
            return withdrawn

        return self._context.records.write(work)

    def earlier_version(self, token: Token, key: str, verb: str, release: str) -> int | None:
        """Return the version of a release in an earlier request with this key; None if there was none."""
        name = self._context.record_name(verb, token, key)
        before = self._context.records.read(lambda store: store.get("begun", name)) or {}
        version: int | None = before.get("versions", {}).get(release, before.get("version"))
        return version

    def begin_work(
        self,
        token: Token,
        key: str,
        requests: Sequence[PublishRequest] | Sequence[AnswerRequest],
        proposals: Mapping[str, str | None],
        new: Sequence[PublishRequest | AnswerRequest],
    ) -> Callable[[RecordTransaction], bool]:
        """Return a function for one transaction: it checks all approvals, and records who carries out the requests."""
        # `new` are the requests without a stored answer: only they need an approval. The function refuses missing
        # approvals, and another request under the same key; it returns whether this request was answered.
        verb = verb_of(requests[0])
        name = self._context.record_name(verb, token, key)

        def work(store: RecordTransaction) -> bool:
            # A repetition of the call under its key must have the same facts.
            calls = [
                [verb_of(request), request.name, request.version, level_text(request.level), approved_facts(request)]
                for request in requests
            ]
            again = self._context.earlier_record(store, "begun", name, (calls[0] if len(calls) == 1 else calls))
            # A repeated request is checked, too: the approval must hold when the answer is given.
            if self.required and new:
                person = self._context.person(store, token)
                for request in new:
                    proposal = _proposal(store, proposals.get(request.name))
                    facts = {} if proposal is None else store.get(_PUBLICATION, proposal.name) or {}
                    check_approved(proposal, person, request, facts)
            if again is None:
                versions = {request.name: request.version for request in requests}
                first, *others = versions.values()
                store.put("begun", name, {"versions": versions} if others else {"version": first})
                for request in requests:
                    if isinstance(request, PublishRequest) and not token.may(verb):
                        note_declaration(store, token, request)
                    facts = {"release": request.name, "version": request.version, "level": level_text(request.level)}
                    self._context.trail(store, token, verb, **facts)
            return again is not None and "answered" in again

        return work

    def note_sent(
        self,
        token: Token,
        key: str,
        requests: Sequence[PublishRequest] | Sequence[AnswerRequest],
        proposals: Mapping[str, str | None],
    ) -> None:
        """Record that requests were answered, and that their proposals wait for nobody any more."""
        name, receipt = self._context.record_name(verb_of(requests[0]), token, key), self._ledger.receipt()

        def work(store: RecordTransaction) -> None:
            store.put("begun", name, (store.get("begun", name) or {}) | {"answered": True})
            put_receipt(store, receipt)
            for request in requests:
                stored = _proposal(store, proposals.get(request.name))
                if stored is not None and stored.allows(request):
                    note_done(store, stored.name)

        self._context.records.write(work)

    def _check_sees(self, token: Token) -> None:
        token.check_role("read proposals")

    def _found(self, store: RecordTransaction, token: Token, name: object, verb: str = "list") -> Proposal:
        return Proposal.of_kept(str(name), self._context.visible_record(store, "proposal", name, token, verb))

    def _check_approvable(self, proposal: Proposal, facts: Mapping[str, Any]) -> None:
        """Check that a page can show the complete request to an approver."""
        remedy = "Refuse the proposal, and ask for a new proposal."
        required = "the complete request must be visible to an approver"
        if proposal.verb == "relax":
            if self.relaxed(proposal) is None:
                came = "the relaxation of a release that does not exist"
                raise Unsupported(required, came=came, where=proposal.name, remedy=remedy)
        else:
            _check_shown_whole(facts)
        if request_digest(facts) != proposal.digest:
            raise Unsupported(required, came="a request that does not exist", where=proposal.name, remedy=remedy)
        try:
            if proposal.verb == "publish":
                read_request(facts)
        except (UtmostError, *UNREADABLE):
            came = "a request that cannot be read"
            raise Unsupported(required, came=came, where=proposal.name, remedy=remedy) from None


def _proposal(store: RecordTransaction, name: str | None) -> Proposal | None:
    record = None if name is None else store.get("proposal", name)
    return None if name is None or record is None else Proposal.of_kept(name, record)


def _check_reason(reason: object) -> None:
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
        raise OutOfRange(
            f"reason must be text of at most {_LONGEST_REASON} characters",
            came="a longer text, or no text",
            remedy="Shorten the reason.",
        )


def _check_new_version(request: PublishRequest, there: Sequence[Published]) -> None:
    """Check that a proposed name does not look like another, and that its version exists already or is the next one."""
    check_name_differs(request.name, (one.name for one in there))
    following = 1 + max((one.version for one in there if one.name == request.name), default=0)
    if request.version is not None and request.version > following:
        required = f"version must be {following}, the next version of the release"
        raise OutOfRange(required, came=request.version, where="version", remedy=f"Propose version {following}.")


def _check_relaxable(release: Published, level: Level, most: Level | str | None) -> None:
    """Check that a release can be relaxed to a level; `most` is the largest level that the proposer may see."""
    if any(not level > at for at in release.levels if is_granted(most, at)):
        required = "level must have a larger epsilon than all answers so far"
        raise OutOfRange(
            required, came=level, where="level", remedy="View the release instead: a noisier copy spends nothing."
        )
    if not release.noise.is_relaxed:
        release.noise.check_tightened(level, repr(release.name))


def _check_shown_whole(facts: Mapping[str, Any]) -> None:
    """Check that a page can show a request completely."""
    size = len(request_text(facts))
    if size > LONGEST_REQUEST:
        required = f"a request must have at most {LONGEST_REQUEST} characters as JSON, so that a page can show it"
        remedy = "Name fewer columns or labels in the promise; or publish the table on the machine that has the ledger."
        raise OutOfRange(required, came=f"{size} characters", where="promise", remedy=remedy)


def _sortable_name(number: int) -> str:
    """Return a number as text of twelve digits, so that names sort as numbers do."""
    return f"{number:012d}"


def _listed_of(store: RecordTransaction, release: str) -> str:
    """Return the kind of the records that list the proposals about one release."""
    return f"{_LISTED} {store.hidden(_LISTED, release)}"


def _waiting_of(store: RecordTransaction, person: str) -> str:
    return store.hidden(_PROPOSER, person)


MOST_WAITING_OF_ONE = 50
"""One person has at most 50 proposals waiting, undecided."""

MOST_CHARACTERS_OF_ONE = 4 << 20
"""The largest number of characters in the undecided requests of one person together."""

MOST_A_DAY = 500
"""One person makes at most 500 proposals a day."""


def _note_waiting(store: RecordTransaction, proposal: Proposal, person: Token) -> None:
    """Count one more proposal of a person; refuse it if too many of that person's proposals wait, or are of today."""
    day = proposal.made // 86_400
    records = [store.get(_PROPOSER, _waiting_of(store, name)) for name in person.person]
    records_found = [record for record in records if record is not None]
    sizes = [size for record in records_found for size in record["waiting"].values()]
    today = sum(record["made"] for record in records_found if record["day"] == day)
    if len(sizes) >= MOST_WAITING_OF_ONE or sum(sizes) + proposal.size > MOST_CHARACTERS_OF_ONE:
        came = f"{len(sizes)} with {sum(sizes)} characters, and another one with {proposal.size}"
        most = f"{MOST_WAITING_OF_ONE} proposals of one person, with {MOST_CHARACTERS_OF_ONE} characters together"
        required = f"at most {most}, may wait"
        raise NotAllowed(required, came=came, remedy="Wait for decisions, or withdraw some proposals.")
    if today >= MOST_A_DAY:
        raise NotAllowed(
            f"one person may make at most {MOST_A_DAY} proposals a day",
            came="one more proposal",
            remedy="Make the proposal tomorrow.",
        )
    own = _waiting_of(store, name_as_read(proposal.proposer))
    record = store.get(_PROPOSER, own) or {"waiting": {}, "day": day, "made": 0}
    made = record["made"] if record["day"] == day else 0
    waiting = record["waiting"] | {proposal.name: proposal.size}
    store.put(_PROPOSER, own, {"waiting": waiting, "day": day, "made": made + 1})


def _note_decided(store: RecordTransaction, proposal: Proposal) -> None:
    """Record that a proposal no longer waits for a decision."""
    own = _waiting_of(store, name_as_read(proposal.proposer))
    record = store.get(_PROPOSER, own)
    if record is not None and proposal.name in record["waiting"]:
        waiting = {name: size for name, size in record["waiting"].items() if name != proposal.name}
        store.put(_PROPOSER, own, record | {"waiting": waiting})
