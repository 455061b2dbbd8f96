"""The shapes of answers, as the API description has them, each with an example.

They describe and do not filter: an answer is made by `service_answers`, and tests compare it with these.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_NAME, _TIME = "0f9c1b7a3d5e2846ab90cd12", 1_795_349_451
_GRANT = {"release": "admissions", "up_to": "1/4"}
_TOKEN = {
    "name": _NAME,
    "owner": "Bo",
    "role": "recipient",
    "grants": [_GRANT],
    "made": _TIME,
    "expires": _TIME + 7_776_000,
    "subject": None,
    "revoked": None,
}
_PROMISE = {"relation": "adding or removing one individual", "sensitivity": "1", "cells": 1}
_RELEASE = {
    "name": "admissions",
    "version": 1,
    "columns": ["admitted"],
    "public": ["department"],
    "rows": 3,
    "promise": _PROMISE,
    "levels": ["1/4", "1"],
}
_COLUMNS = {"admitted": [598, 371, 325]}
_VIEW: dict[str, Any] = {name: value for name, value in _RELEASE.items() if name != "levels"} | {
    "epsilon": "1/4",
    "radius": 12,
    "columns": _COLUMNS,
    "statement": {"epsilon": "1/4"},
}
_TERMS = {"columns": ["admitted"], "public": ["department"], "sensitivity": "1", "cells": "1"}
_DECISION: dict[str, Any] = {"decided_by": None, "decided": None}
_PROPOSAL = {
    "name": _NAME,
    "verb": "publish",
    "release": "admissions",
    "version": 1,
    "level": "1/4",
    "facts": _TERMS,
    "reason": "the yearly table",
    "proposer": "Ada",
    "made": _TIME,
    "anyone": False,
    "state": "proposed",
    **_DECISION,
}
_OFFER = {
    "name": _NAME,
    "release": "admissions",
    "version": 1,
    "currency": "EUR",
    "is_open": True,
    "prices": [["1/4", "10"], ["1", "35"]],
}
_ORDER = {
    "name": _NAME,
    "offer": _NAME,
    "release": "admissions",
    "version": 1,
    "buyer": "Bo",
    "currency": "EUR",
    "made": _TIME,
    "state": "asked",
    "level": "1",
    "held": "1/4",
    "due": "25",
    **_DECISION,
}
_APART = {
    "release": "wages",
    "version": 1,
    "dataset": "wages",
    "declared_by": "Ada",
    "others": ["admissions"],
}
_BUDGET = {"dataset": "admissions", "limit": "2", "spent": "1", "remaining": "1"}
_EVENT: dict[str, Any] = {
    "number": 2,
    "time": "2027-01-15T08:00:00Z",
    "kind": "published",
    "facts": {"name": "admissions"},
}
_ENTRY: dict[str, Any] = {
    "name": "00001795349451353448",
    "time": _TIME,
    "owner": "Ada",
    "token": _NAME,
    "done": "publish",
}

Level = Annotated[str, Field(description="a level, exactly: its epsilon, or alpha where that is not rational")]
Record = Annotated[str, Field(pattern="^[0-9a-f]{24}$")]
Seconds = Annotated[int, Field(description="seconds since 1970")]
State = Literal["proposed", "asked", "approved", "refused", "cancelled", "refunded"]


def _like(example: dict[str, Any], **more: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example | more]})


class GrantFound(BaseModel):
    """A release that a token is for, up to a level."""

    model_config = _like(_GRANT)
    release: str
    up_to: Level | None


class TokenFound(BaseModel):
    """A token without its secret."""

    model_config = _like(_TOKEN)
    name: Record
    owner: str
    role: str
    grants: list[GrantFound]
    made: Seconds
    expires: Seconds
    subject: str | None
    revoked: Seconds | None


class TokensFound(BaseModel):
    """All tokens."""

    model_config = _like({"tokens": [_TOKEN]})
    tokens: list[TokenFound]


class TokenMade(BaseModel):
    """A new token, and what its bearer presents: said once."""

    model_config = _like({"token": _TOKEN, "bearer": f"utmost_{_NAME}_{'A' * 43}", "not_there": []})
    token: TokenFound
    bearer: str | None
    not_there: list[str]


class _Version(BaseModel):
    """A version of a release."""

    name: str
    version: int
    columns: list[str]
    public: list[str]
    rows: int
    promise: dict[str, Any]


class ReleaseFound(_Version):
    """A version of a release, with the levels that the token may see."""

    model_config = _like(_RELEASE)
    levels: list[Level]


class ReleasesFound(BaseModel):
    """Releases, in the order published."""

    model_config = _like({"releases": [_RELEASE]})
    releases: list[ReleaseFound]


class TableFound(BaseModel):
    """A released table, column by column."""

    model_config = _like({"columns": _COLUMNS})
    columns: dict[str, list[Any]]


class StrategyFound(BaseModel):
    """What a strategy measured."""

    model_config = _like({"release": {"values": [598, 371]}})
    release: dict[str, Any]


class ViewFound(_Version):
    """A release at a level: its values with their statement, or what a strategy measured."""

    model_config = ConfigDict(json_schema_extra={"examples": [_VIEW]}, extra="forbid", title="ViewFound")
    epsilon: Level
    radius: Annotated[float, Field(description="a released value lies so near the true one, with 95 % confidence")]
    columns: Any = None
    statement: dict[str, Any] = {}
    release: dict[str, Any] = {}


class RadiusFound(BaseModel):
    """An error bar."""

    model_config = _like({"epsilon": "1", "confidence": "0.95", "radius": 3})
    epsilon: str
    confidence: str
    radius: float


class _Undecided(BaseModel):
    """What somebody else decides."""

    name: Record
    release: str
    version: int
    level: Level
    made: Seconds
    state: State
    decided_by: str | None
    decided: Seconds | None


class ProposalFound(_Undecided):
    """A proposal."""

    model_config = _like(_PROPOSAL)
    verb: Literal["publish", "relax"]
    facts: dict[str, Any]
    reason: str
    proposer: str
    anyone: bool


class ProposalsFound(BaseModel):
    """Proposals, oldest first."""

    model_config = _like({"proposals": [_PROPOSAL]})
    proposals: list[ProposalFound]


class OfferFound(BaseModel):
    """An offer: pairs of a level and its price."""

    model_config = _like(_OFFER)
    name: Record
    release: str
    version: int
    currency: str
    is_open: bool
    prices: list[list[str]]


class OffersFound(BaseModel):
    """Offers."""

    model_config = _like({"offers": [_OFFER]})
    offers: list[OfferFound]


class OrderFound(_Undecided):
    """An order: what is ordered, what was held, and what is due."""

    model_config = _like(_ORDER)
    offer: Record
    buyer: str
    currency: str
    held: Level | None
    due: str


class OrdersFound(BaseModel):
    """Orders, oldest first."""

    model_config = _like({"orders": [_ORDER]})
    orders: list[OrderFound]


class BudgetFound(BaseModel):
    """A budget; what cannot be written exactly is rounded to the safe side."""

    model_config = _like(_BUDGET)
    dataset: str
    limit: Level | None
    spent: str
    remaining: str | None


class LimitSet(BudgetFound):
    """A budget, and whether no release names its dataset yet."""

    model_config = _like(_BUDGET | {"is_unused": False})
    is_unused: bool


class EventFound(BaseModel):
    """An event of the ledger."""

    model_config = _like(_EVENT)
    number: int
    time: str
    kind: str
    facts: dict[str, Any]


class EventsFound(BaseModel):
    """Events, oldest first."""

    model_config = _like({"events": [_EVENT]})
    events: list[EventFound]


class ApartFound(BaseModel):
    """A release whose individuals were declared to be in none of the other datasets, which it was not compared with."""

    model_config = _like(_APART)
    release: str
    version: int
    dataset: str
    declared_by: str
    others: list[str]


class StatusFound(BaseModel):
    """Whether anything new may be said, what the datasets have spent, and what was declared and not compared."""

    model_config = _like(
        {"identity": "886e85a0", "events": 9, "quarantine": None, "datasets": [_BUDGET], "declared_apart": [_APART]}
    )
    identity: str
    events: int
    quarantine: str | None
    datasets: list[BudgetFound]
    declared_apart: list[ApartFound]


class VerificationFound(BaseModel):
    """What was found sound."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"events": 9, "responses": 3}]})
    events: int
    responses: int


class ReceiptFound(BaseModel):
    """A line to keep elsewhere."""

    model_config = _like({"receipt": "utmost-receipt:886e85a0:9:a908f7f8:4ab9f5eb"})
    receipt: str


class ReceiptHolds(BaseModel):
    """The ledger holds what the receipt is about."""

    model_config = _like({"holds": True})
    holds: Literal[True]


class EntryFound(BaseModel):
    """Who did what, when; beside these fields, what it was about."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ENTRY]}, extra="allow")
    name: str
    time: Seconds
    owner: str
    token: Record
    done: str


class TrailFound(BaseModel):
    """Entries, oldest first; the name of the last one is where the next page begins."""

    model_config = _like({"entries": [_ENTRY]})
    entries: list[EntryFound]
