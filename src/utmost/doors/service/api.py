"""The API: one path for each verb of the service, and no more in it than reading the request and writing the answer."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import AfterValidator

from utmost.doors.service import answer_shapes as found
from utmost.doors.service import service_answers as answers
from utmost.doors.service.arriving import Arriving, name_of_part
from utmost.doors.service.asked_levels import read_level
from utmost.doors.service.axis_limits import check_axes
from utmost.doors.service.service import Service
from utmost.doors.service.shapes import (
    MOST_VERSIONS,
    RECORD_EXAMPLE,
    RECORD_NAME,
    Decided,
    NewLimit,
    NewOffer,
    NewOrder,
    NewToken,
    OrderDecided,
    Problem,
    Proposed,
    Publication,
    Receipt,
    Relaxation,
    TermsShape,
)
from utmost.doors.service.terms import Terms
from utmost.doors.service.tokens import Grant, Token
from utmost.errors import NotAuthenticated, OutOfRange
from utmost.publish.statements.counted_files import COUNTED_FORM

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": what}
    for status, what in {
        408: "the body did not come in time",
        401: "no token that is valid now",
        403: "the token does not allow it",
        404: "what was asked for is not there",
        409: "the ledger refuses, or a second person must confirm it",
        413: "the body is too long",
        414: "the address is too long",
        422: "the request is not of the right shape",
        429: "requests come too often",
        503: "the store cannot be reached; ask again",
    }.items()
}

router = APIRouter(prefix="/v1", responses=_PROBLEMS, route_class=Arriving)

# The routes with a body, and what whoever sends one must be allowed to do at all.
_SENT = {
    "publish": "publish",
    "relax": "relax",
    "propose": "propose",
    "decide": "decide proposals",
    "offer": "offer",
    "order": "order",
    "decide_order": "decide orders",
    "make_token": "tokens",
    "limit": "budgets",
    "check_receipt": "verify",
}
BRINGING = frozenset({"publish", "relax", "propose"})
"""What tables and strategies are brought for, which are longer than other bodies."""

_bearer = HTTPBearer(auto_error=False, description="a token of this service, or of its OpenID provider")


def _gives(shape: Any) -> dict[int | str, dict[str, Any]]:
    """What the description says of an answer."""
    return {200: {"model": shape, "description": "done"}}


def service_of(request: Request) -> Service:
    """The service behind a request."""
    service: Service = request.app.state.service
    return service


def identified(request: Request) -> Token:
    """The token that a request carries, looked up once.

    Raises:
        NotAuthenticated: where it carries none that is valid now.
    """
    known = getattr(request.state, "bearer", None)
    if isinstance(known, Token):
        return known
    scheme, _, presented = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not presented:
        request.app.state.limits.stranger(request.scope)
        raise NotAuthenticated("a request must carry a token", remedy="Send Authorization: Bearer utmost_...")
    return presented_to(request, presented)


def presented_to(request: Request, presented: str) -> Token:
    """The token that a bearer presents, which the request is then known by.

    Raises:
        NotAuthenticated: for none that is valid now.
    """
    service, openid = service_of(request), request.app.state.openid
    if openid is not None and presented.count(".") == 2:
        token = counted(request, lambda: service.bearers.of_claims(openid.issuer, openid.vouched(presented)))
    else:
        token = counted(request, lambda: service.bearers.authenticated(presented))
    request.state.bearer = token
    return token


def counted(request: Request, verified: Callable[[], Token]) -> Token:
    """The token of a request, which takes a turn of it; a request with none that is valid takes one of its address.

    Raises:
        NotAuthenticated: where there is none.
        Refused: where requests come too often.
    """
    limits = request.app.state.limits
    try:
        token = verified()
    except NotAuthenticated:
        limits.stranger(request.scope)
        raise
    request.state.token = token.name
    limits.known(f"{token.name} {token.owner}")
    return token


def arrived(request: Request) -> None:
    """Check who sends a body, and that the role may ever do what it is for, before any of it is read.

    Raises:
        NotAuthenticated, NotAllowed: where not.
    """
    token, verb = identified(request), _SENT.get(request.scope["route"].name)
    if verb is not None:
        token.check_role(verb)
        if verb in BRINGING:
            request.state.body.allow()


def token_of(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]) -> Token:
    """The token that a request carries.

    Raises:
        NotAuthenticated: where it carries none that is valid now.
    """
    return identified(request)


Served = Annotated[Service, Depends(service_of)]
Who = Annotated[Token, Depends(token_of)]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="a fresh text for each request; the same one when it is repeated, which then gives the same answer",
        examples=["7f1c2d"],
    ),
]
At = Annotated[str, Query(max_length=200, description='the level, exactly: "1/4"', examples=["1/4"])]
Confidence = Annotated[str, Query(max_length=200, description="the chance that the bar holds", examples=["0.95"])]
Dataset = Annotated[str | None, Query(max_length=200, examples=["admissions"])]
Version = Annotated[int | None, Query(ge=1, le=MOST_VERSIONS)]
After = Annotated[str, Query(pattern=r"^[0-9]{0,40}$", examples=["00001795349451353448"])]
Part = Annotated[str, Path(max_length=200, examples=["admissions"]), AfterValidator(name_of_part)]
Made = Annotated[str, Path(pattern=RECORD_NAME, examples=[RECORD_EXAMPLE])]


@router.get("/me", summary="What the token that comes allows", responses=_gives(found.TokenFound))
def me(who: Who) -> dict[str, Any]:
    """The token that came, without its secret."""
    return answers.token_answer(who)


@router.get("/releases", summary="The releases that the token is for", responses=_gives(found.ReleasesFound))
def releases(service: Served, who: Who) -> dict[str, Any]:
    """Every version, in the order published."""
    there = service.releases.all(who)
    return {"releases": [answers.release_answer(one, service.releases.levels(who, one)) for one in there]}


@router.post("/releases", summary="Publish a table", responses=_gives(found.TableFound | found.StrategyFound))
def publish(service: Served, who: Who, key: Key, asked: Publication) -> dict[str, Any]:
    """Publish a table at a first level; repeated under its key it gives the same answer."""
    at, terms = read_level(asked.epsilon), read_terms(asked.terms)
    options: dict[str, Any] = {"version": asked.version, "proposal": asked.proposal}
    made = service.releases.publish(who, key, asked.name, _brought(asked), at, terms, **options)
    return answers.table_answer(made)


@router.get("/releases/{name}", summary="A release: its promise and its levels", responses=_gives(found.ReleaseFound))
def release(service: Served, who: Who, name: Part, version: Version = None) -> dict[str, Any]:
    """One version of a release, or the newest."""
    one = service.releases.release(who, name, version)
    return answers.release_answer(one, service.releases.levels(who, one))


@router.get("/releases/{name}/view", summary="A release at a level", responses=_gives(found.ViewFound))
def view(service: Served, who: Who, name: Part, epsilon: At, version: Version = None) -> dict[str, Any]:
    """The released values, with error bar and statement: what is stored, or what follows from it. It spends nothing."""
    return answers.view_answer(service.releases.view(who, name, read_level(epsilon), version))


@router.get("/releases/{name}/radius", summary="The error bar at any level", responses=_gives(found.RadiusFound))
def radius(
    service: Served, who: Who, name: Part, epsilon: At, confidence: Confidence = "0.95", version: Version = None
) -> dict[str, Any]:
    """What relaxing would buy: it depends on the promise alone, and is no draw."""
    at = read_level(epsilon)
    bar = service.releases.radius(who, name, at, confidence=confidence, version=version)
    return {"epsilon": answers.plain(epsilon), "confidence": confidence, "radius": bar}


@router.post(
    "/releases/{name}/relax",
    summary="The same release at another level, with the table",
    responses=_gives(found.TableFound | found.StrategyFound),
)
def relax(service: Served, who: Who, key: Key, name: Part, asked: Relaxation) -> dict[str, Any]:
    """Relax a release; the values must be those that were published."""
    at = read_level(asked.epsilon)
    options: dict[str, Any] = {"version": asked.version, "proposal": asked.proposal}
    return answers.table_answer(service.releases.relax(who, key, name, _brought(asked), at, **options))


@router.get("/releases/{name}/rehearsal", summary="The budget as it would stand", responses=_gives(found.BudgetFound))
def rehearse(service: Served, who: Who, name: Part, epsilon: At, dataset: Dataset = None) -> dict[str, Any]:
    """After a release at this level; nothing is drawn, written or spent."""
    return answers.budget_answer(service.releases.rehearse(who, name, read_level(epsilon), dataset))


@router.get("/releases/{name}/history", summary="The events of a release", responses=_gives(found.EventsFound))
def release_history(service: Served, who: Who, name: Part) -> dict[str, Any]:
    """Oldest first."""
    return {"events": [answers.event_answer(one) for one in service.audit.history(who, name)]}


@router.get(
    "/proposals", summary="What waits for a second person, and what was decided", responses=_gives(found.ProposalsFound)
)
def proposals(service: Served, who: Who) -> dict[str, Any]:
    """Oldest first."""
    return {"proposals": [answers.proposal_answer(one) for one in service.proposals.all(who)]}


@router.post("/proposals", summary="Propose to publish or to relax", responses=_gives(found.ProposalFound))
def propose(service: Served, who: Who, key: Key, asked: Proposed) -> dict[str, Any]:
    """The public facts alone; the table comes once it is approved."""
    at, terms = read_level(asked.epsilon), None if asked.terms is None else read_terms(asked.terms)
    options: dict[str, Any] = {"version": asked.version, "terms": terms, "reason": asked.reason, "anyone": asked.anyone}
    made = service.proposals.propose(who, key, asked.verb, asked.release, at, **options)
    return answers.proposal_answer(made)


@router.post(
    "/proposals/{name}/decision", summary="Approve or refuse a proposal", responses=_gives(found.ProposalFound)
)
def decide(service: Served, who: Who, name: Made, asked: Decided) -> dict[str, Any]:
    """By somebody else than the proposer; to decide the same again changes nothing."""
    return answers.proposal_answer(service.proposals.decide(who, name, asked.state))


@router.get("/offers", summary="Levels that can be bought", responses=_gives(found.OffersFound))
def offers(service: Served, who: Who) -> dict[str, Any]:
    """Of the releases that the token is for."""
    return {"offers": [answers.offer_answer(one) for one in service.market.offers(who)]}


@router.post("/offers", summary="Offer levels at prices", responses=_gives(found.OfferFound))
def offer(service: Served, who: Who, key: Key, asked: NewOffer) -> dict[str, Any]:
    """Prices must not fall as the level grows: else a level could be had for less."""
    made = service.market.offer(who, key, asked.release, asked.prices, asked.currency, asked.version)
    return answers.offer_answer(made)


@router.post("/offers/{name}/closing", summary="Take an offer back", responses=_gives(found.OfferFound))
def close_offer(service: Served, who: Who, name: Made) -> dict[str, Any]:
    """Orders that were made stay."""
    return answers.offer_answer(service.market.close_offer(who, name))


@router.get("/orders", summary="Orders: a buyer's own, or those a curator decides", responses=_gives(found.OrdersFound))
def orders(service: Served, who: Who) -> dict[str, Any]:
    """Oldest first."""
    return {"orders": [answers.order_answer(one) for one in service.market.orders(who)]}


@router.post("/orders", summary="Order a level", responses=_gives(found.OrderFound))
def order(service: Served, who: Who, key: Key, asked: NewOrder) -> dict[str, Any]:
    """It costs its price, less what was paid for other levels of the release in this currency."""
    return answers.order_answer(service.market.order(who, key, asked.offer, read_level(asked.epsilon)))


@router.post(
    "/orders/{name}/decision", summary="Approve, refuse, refund or cancel an order", responses=_gives(found.OrderFound)
)
def decide_order(service: Served, who: Who, name: Made, asked: OrderDecided) -> dict[str, Any]:
    """By the curator, who knows whether it was paid; the buyer may cancel one that waits."""
    return answers.order_answer(service.market.decide_order(who, name, asked.state))


@router.get("/tokens", summary="All tokens", responses=_gives(found.TokensFound))
def tokens(service: Served, who: Who) -> dict[str, Any]:
    """Without their secrets, which nobody keeps."""
    return {"tokens": [answers.token_answer(one) for one in service.bearers.all(who)]}


@router.post("/tokens", summary="Make a token", responses=_gives(found.TokenMade))
def make_token(service: Served, who: Who, key: Key, asked: NewToken) -> dict[str, Any]:
    """What its bearer presents is said this once; repeated under its key, the request gives the token without it."""
    grants = tuple(
        Grant(grant.release, None if grant.up_to is None else read_level(grant.up_to)) for grant in asked.grants
    )
    options: dict[str, Any] = {"days": asked.days, "subject": asked.subject}
    not_there = service.releases.not_there(who, grants)  # before, so that nothing fails once there is a secret
    made, presented = service.bearers.make(who, key, asked.owner, asked.role, grants, **options)
    return {"token": answers.token_answer(made), "bearer": presented, "not_there": not_there}


@router.post("/tokens/{name}/revocation", summary="Revoke a token", responses=_gives(found.TokenFound))
def revoke(service: Served, who: Who, name: Made) -> dict[str, Any]:
    """At once. Whoever holds a token may revoke that one."""
    return answers.token_answer(service.bearers.revoke(who, name))


@router.get("/datasets/{dataset}/budget", summary="The budget of a dataset", responses=_gives(found.BudgetFound))
def budget(service: Served, who: Who, dataset: Part) -> dict[str, Any]:
    """What is spent, and what is left."""
    return answers.budget_answer(service.audit.budget(who, dataset))


@router.put("/datasets/{dataset}/budget", summary="Set the limit of a dataset", responses=_gives(found.LimitSet))
def limit(service: Served, who: Who, dataset: Part, asked: NewLimit) -> dict[str, Any]:
    """To set the same again changes nothing."""
    made = service.audit.limit(who, dataset, read_level(asked.epsilon))
    return answers.budget_answer(made) | {"is_unused": service.audit.is_unused(who, dataset)}


@router.get("/history", summary="The events of the ledger", responses=_gives(found.EventsFound))
def history(service: Served, who: Who) -> dict[str, Any]:
    """Oldest first."""
    return {"events": [answers.event_answer(one) for one in service.audit.history(who)]}


@router.get("/status", summary="Whether anything new may be said", responses=_gives(found.StatusFound))
def status(service: Served, who: Who) -> dict[str, Any]:
    """What the datasets have spent; and which releases were declared to be of nobody else's individuals."""
    return answers.status_answer(service.audit.status(who), service.audit.apart(who))


@router.post("/verification", summary="Recompute everything in the ledger", responses=_gives(found.VerificationFound))
def verify(service: Served, who: Who) -> dict[str, Any]:
    """The database's own check, the chain, all digests and seals, levels and budgets."""
    return answers.verification_answer(service.audit.verify(who))


@router.get("/receipt", summary="A line to keep elsewhere", responses=_gives(found.ReceiptFound))
def receipt(service: Served, who: Who) -> dict[str, Any]:
    """It proves later that the ledger still holds what it holds now."""
    return {"receipt": service.audit.receipt(who)}


@router.post("/receipt/check", summary="Check a receipt", responses=_gives(found.ReceiptHolds))
def check_receipt(service: Served, who: Who, asked: Receipt) -> dict[str, Any]:
    """A ledger that does not hold it any more is in quarantine from then on."""
    service.audit.check_receipt(who, asked.receipt)
    return {"holds": True}


@router.get("/trail", summary="Who did what", responses=_gives(found.TrailFound))
def trail(
    service: Served,
    who: Who,
    after: After = "",
    most: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> dict[str, Any]:
    """Through this service, oldest first; no value."""
    return {"entries": [{"name": name, **entry} for name, entry in service.audit.trail(who, after, most)]}


def read_terms(shape: TermsShape) -> Terms:
    """The terms that a request states."""
    return Terms.read(shape.model_dump())


def _brought(asked: Publication | Relaxation) -> Any:
    """The table in a request: columns, or a counted table for a strategy."""
    if (asked.table is None) == (asked.counted is None):
        raise OutOfRange("a request must bring a table or a counted table, one of the two", where="table")
    counted = asked.counted
    if counted is None:
        return asked.table
    check_axes(counted.get("domain"))
    return COUNTED_FORM.of(counted, "counted")
