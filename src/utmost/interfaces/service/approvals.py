"""Proposals: what a curator wants to say and cannot take back, until a second person has confirmed it.

A proposal holds public facts alone: which release, at which level, under which promise. The table itself stays with the
curator, who brings it when the proposal is approved; so nothing true waits on a disk for a decision. An approval is for
those facts and no others, and what it allows can be done again at no cost, since the ledger repeats its answer.

The request, which may be long, lies beside the proposal, which has its digest: lists read no requests.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from utmost.core.exact.written_levels import level_from_text
from utmost.errors import NeedsApproval, NotAllowed, OutOfRange
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
from utmost.interfaces.service.publish_requests import approved_facts, read_request
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest

PROPOSED, APPROVED, REFUSED, WITHDRAWN = "proposed", "approved", "refused", "withdrawn"
ProposalState = Annotated[str, one_of((PROPOSED, APPROVED, REFUSED, WITHDRAWN))]
Verb = Literal["publish", "relax"]
VERBS: tuple[str, ...] = get_args(Verb)


@dataclass(frozen=True, slots=True)
class Proposal(JsonRecord):
    """Something to be said by the ledger.

    Attributes:
        name: Name of the proposal.
        verb: "publish" or "relax".
        release, version, level: Release, version of the data, as the ledger will count it, and level.
        digest, size: SHA-256 of the proposed request as JSON, and its number of characters, see `request_text`.
        reason: Reason in the proposer's words.
        proposer: the owner of the token that proposed it.
        made: Time of the proposal, in seconds since 1970.
        state: "proposed", "approved", "refused", or "withdrawn" by its proposer.
        decided_by, decided: Person and time of the decision, once there is one.
        decision_reason: Reason of the decision; a refusal has one.
        anyone: whether any curator may use the approval, and not its proposer alone.
        also: Other names by which the proposer is known as a person, see `Token.person`.
        number: its place among all proposals.
    """

    READ: ClassVar = {"level": level_from_text, "also": tuple}

    name: Record
    verb: Annotated[str, one_of(VERBS)]
    release: ReleaseName
    version: Count
    level: LevelText
    digest: Annotated[str, Field(examples=["9f86d081884c7d65"])]
    size: Count
    reason: Annotated[str, Field(examples=["the yearly table"])]
    proposer: Annotated[str, Field(examples=["Ada"])]
    made: Seconds
    state: ProposalState = PROPOSED
    decided_by: Person | None = None
    decided: Seconds | None = None
    decision_reason: Annotated[str, Field(examples=["epsilon 1 is enough"])] = ""
    anyone: bool = False
    also: Annotated[tuple[str, ...], HIDDEN] = ()
    number: Annotated[int, HIDDEN] = 0

    def is_of(self, token: Token) -> bool:
        """Whether it was proposed by the person that a token belongs to."""
        return token.is_of((self.proposer, *self.also))

    def decided_as(self, state: str, token: Token, now: float) -> "Proposal":
        """The proposal as decided by a token's owner; deciding the same again changes nothing.

        Raises:
            OutOfRange: for what is no decision.
            NotAllowed: for the proposer's own decision, and for another one than was made.
        """
        if state not in (APPROVED, REFUSED):
            raise OutOfRange("a decision must be approved or refused", came=state, remedy="Send one of these words.")
        if self.is_of(token):
            raise NotAllowed(
                "a second person must decide",
                came="the token of the proposer",
                where=self.name,
                remedy="Ask another person to decide.",
            )
        if self.state == PROPOSED:
            return replace(self, state=state, decided_by=token.owner, decided=int(now))
        if self.state != state:
            raise NotAllowed(f"This was already {self.state}; it cannot be changed")
        return self

    def request(self, facts: Mapping[str, Any]) -> PublishRequest | AnswerRequest:
        """The request that it proposes.

        Args:
            facts: Facts that are kept of a publication beside it, see `approved_facts`.

        Raises:
            UtmostError: for facts of another version, which are no request.
        """
        if self.verb == "publish":
            return read_request(facts)
        return AnswerRequest(self.release, self.level, self.version)

    def allows(self, request: PublishRequest | AnswerRequest) -> bool:
        """Whether it is approved, and for just this request."""
        wanted = (verb_of(request), request.name, request.version, request.level)
        return (
            self.state == APPROVED
            and wanted == (self.verb, self.release, self.version, self.level)
            and request_digest(approved_facts(request)) == self.digest
        )


def verb_of(request: PublishRequest | AnswerRequest) -> Verb:
    """The action of a request."""
    return "publish" if isinstance(request, PublishRequest) else "relax"


def request_text(facts: Mapping[str, Any]) -> str:
    """A proposed request as JSON, see `approved_facts`."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def request_digest(facts: Mapping[str, Any]) -> str:
    """The SHA-256 by which a proposed request is known: two are one where this is one."""
    return sha256(request_text(facts).encode("ascii")).hexdigest()


def check_approved(proposal: Proposal | None, token: Token, request: PublishRequest | AnswerRequest) -> None:
    """Check that a proposal allows a request to whoever makes it: its proposer, or anyone where it says so."""
    verb = verb_of(request)
    noun = "publication" if verb == "publish" else "relaxation"
    remedy = f"Propose to {verb} it, wait for another person's approval, and name the proposal in the request."
    if proposal is None:
        raise NeedsApproval(
            f"a {noun} cannot be undone, and needs the approval of a second person", came="no proposal", remedy=remedy
        )
    if proposal.state != APPROVED:
        raise NeedsApproval("the proposal must be approved", came=proposal.state, where=proposal.name, remedy=remedy)
    if not proposal.anyone and not proposal.is_of(token):
        raise NeedsApproval(
            "only its proposer may carry out this proposal, since it was not made for anyone",
            came="another curator",
            where=proposal.name,
            remedy=remedy,
        )
    if not proposal.allows(request):
        raise NeedsApproval(
            "the request must be the one that was approved", came="another", where=proposal.name, remedy=remedy
        )
