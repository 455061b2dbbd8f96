"""Proposals: a publication or a relaxation cannot be undone, so a second person approves it first.

A proposal has only public facts: the release, the level and the promise. The curator keeps the table, and sends it
after the approval, so that no true value waits on a disk. An approval is for these facts only, and neither a proposal
nor an approval ever expires. Sending an approved request twice costs nothing, because the ledger repeats its answer.

The request may be long and has a record of its own. The proposal has only the digest of the request, so that a list
of proposals reads no requests.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from utmost.core.exact.written_levels import level_from_text, level_text
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
    """A proposed publication or relaxation."""

    READ: ClassVar = {"level": level_from_text, "also": tuple}

    name: Record
    # "publish" or "relax".
    verb: Annotated[str, one_of(VERBS)]
    release: ReleaseName
    # Version of the data, as the ledger will count it.
    version: Count
    level: LevelText
    # SHA-256 of the request as JSON, see `request_text`, and its number of characters.
    digest: Annotated[str, Field(examples=["9f86d081884c7d65"])]
    size: Count
    reason: Annotated[str, Field(examples=["the yearly table"])]
    # Owner of the token that proposed.
    proposer: Annotated[str, Field(examples=["Ada"])]
    made: Seconds
    state: ProposalState = PROPOSED
    decided_by: Person | None = None
    decided: Seconds | None = None
    decision_reason: Annotated[str, Field(examples=["epsilon 1 is enough"])] = ""
    # Whether any curator may use the approval, not only the proposer.
    anyone: bool = False
    # The proposer's other names, see `Token.person`.
    also: Annotated[tuple[str, ...], HIDDEN] = ()
    # Position among all proposals.
    number: Annotated[int, HIDDEN] = 0

    def is_of(self, token: Token) -> bool:
        """Check whether the owner of a token made the proposal."""
        return token.is_of((self.proposer, *self.also))

    def decided_as(self, state: str, token: Token, now: float) -> "Proposal":
        """Return the proposal as decided by a token's owner; the proposer may not decide, and decisions are final."""
        if state not in (APPROVED, REFUSED):
            raise OutOfRange('state must be "approved" or "refused"', came=state, remedy="Send one of these two words.")
        if self.is_of(token):
            raise NotAllowed(
                "a second person must decide about a proposal",
                came="the token of the proposer",
                where=self.name,
                remedy="Ask another person to decide.",
            )
        if self.state == PROPOSED:
            return replace(self, state=state, decided_by=token.owner, decided=int(now))
        if self.state != state:
            raise NotAllowed(f"This proposal was already {self.state}; a decision cannot be changed")
        return self

    def request(self, facts: Mapping[str, Any]) -> PublishRequest | AnswerRequest:
        """Return the proposed request; `facts` are the stored facts of a publication, see `approved_facts`."""
        if self.verb == "publish":
            return read_request(facts)
        return AnswerRequest(self.release, self.level, self.version)

    def allows(self, request: PublishRequest | AnswerRequest) -> bool:
        """Check whether the proposal is approved, and for exactly this request."""
        requested = (verb_of(request), request.name, request.version, request.level)
        return (
            self.state == APPROVED
            and requested == (self.verb, self.release, self.version, self.level)
            # All else in the request to relax is the promise of the release, which never changes.
            and (self.verb == "relax" or request_digest(approved_facts(request)) == self.digest)
        )


def verb_of(request: PublishRequest | AnswerRequest) -> Verb:
    return "publish" if isinstance(request, PublishRequest) else "relax"


def request_text(facts: Mapping[str, Any]) -> str:
    """Return a proposed request as JSON text, see `approved_facts`."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def request_digest(facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 that identifies a proposed request."""
    return sha256(request_text(facts).encode("ascii")).hexdigest()


def check_approved(
    proposal: Proposal | None,
    token: Token,
    request: PublishRequest | AnswerRequest,
    approved: Mapping[str, Any],
) -> None:
    """Check that a proposal allows this request by a token's owner: the proposer, or any curator if `anyone` is set."""
    # `approved` are the stored facts of the proposal, see `approved_facts`.
    verb = verb_of(request)
    noun = "publication" if verb == "publish" else "relaxation"
    remedy = (
        f"Propose to {verb} the release, wait for the approval of another person, and name the proposal in the request."
    )
    if proposal is None:
        raise NeedsApproval(
            f"a {noun} cannot be undone, and needs the approval of a second person", came="no proposal", remedy=remedy
        )
    if proposal.state != APPROVED:
        raise NeedsApproval("the proposal must be approved", came=proposal.state, where=proposal.name, remedy=remedy)
    if not proposal.anyone and not proposal.is_of(token):
        raise NeedsApproval(
            "only the proposer may carry out a proposal, unless its field anyone is true",
            came="another curator",
            where=proposal.name,
            remedy=remedy,
        )
    if not proposal.allows(request):
        field, value = first_difference(proposal, approved, request)
        came = f"another {field}"
        if proposal.is_of(token):  # another curator may have no right to see the approved level or promise
            remedy = f"Send the approved request, whose {field} is {value}, or make a new proposal."
        raise NeedsApproval(
            "the request must be equal to the approved request", came=came, where=proposal.name, remedy=remedy
        )


def first_difference(
    proposal: Proposal, approved: Mapping[str, Any], request: PublishRequest | AnswerRequest
) -> tuple[str, str]:
    """Return the first field in which a request differs from the approved one, and its approved value as text."""
    sent = request.facts() | {"verb": verb_of(request)}
    agreed = {
        "verb": proposal.verb,
        "name": proposal.release,
        "version": proposal.version,
        "level": level_text(proposal.level),
        **approved,
    }
    field = next((name for name in agreed | sent if sent.get(name) != agreed.get(name)), "request")
    new, old = sent.get(field), agreed.get(field)
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        part = next((name for name in {**old, **new} if new.get(name) != old.get(name)), field)
        return f"{part} in its promise", _value_text(old.get(part))
    return field, _value_text(old)


def _value_text(value: Any) -> str:
    """Return a value of a request as JSON, cut off after 200 characters."""
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


_LONGEST_VALUE = 200  # characters
