"""Routes of the HTTP API: each reads a request, calls the service, and writes the answer."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response, Security
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import AfterValidator, TypeAdapter

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.errors import NotAuthenticated, OutOfRange
from utmost.interfaces.service.access.tokens import Grant, Token
from utmost.interfaces.service.api import response_models as answers
from utmost.interfaces.service.api.problems import LINES_TYPE
from utmost.interfaces.service.api.record_forms import RECORD_EXAMPLE, RECORD_NAME
from utmost.interfaces.service.api.request_models import (
    SPELLED,
    DataVersion,
    Decided,
    NamedRelaxBody,
    NewCharge,
    NewLimit,
    NewToken,
    Problem,
    Proposed,
    Publications,
    PublishBody,
    Receipt,
    Relaxations,
    RelaxBody,
)
from utmost.interfaces.service.api.request_parsing import (
    AuthenticatedRoute,
    check_known_query,
    check_query,
    name_of_part,
)
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.approvals import Proposal
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.workers.axis_limits import check_axes
from utmost.publish.ledger.events import Event
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.state import Published
from utmost.publish.statements.counted_files import COUNTED_FORM

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": what}
    for status, what in {
        408: "the body did not arrive in time",
        401: "no valid token",
        403: "the token does not allow this action",
        404: "nothing has this name",
        409: "the ledger refuses the request, or a second person must approve it",
        413: "the body is too long",
        414: "the address is too long",
        422: "the request has the wrong shape",
        429: "requests come too often",
        503: "the store cannot be reached; try again",
    }.items()
}


class JsonLinesResponse(StreamingResponse):
    """An answer with a JSON object in each line."""

    media_type = LINES_TYPE


router = APIRouter(
    prefix="/v1",
    responses=_PROBLEMS,
    dependencies=[Depends(check_query), Depends(check_known_query)],
    route_class=AuthenticatedRoute,
    generate_unique_id_function=lambda route: route.name,  # a generated client calls `publish`, `relax`, `view`
)

# Routes with a body, and the action that the caller's role must allow.
_ROLES_OF_BODIES = {
    "publish": "publish",
    "relax": "relax",
    "publish_measures": "publish",
    "relax_measures": "relax",
    "propose": "propose",
    "decide": "decide proposals",
    "make_token": "tokens",
    "limit": "budgets",
    "charge": "budgets",
    "check_receipt": "verify",
}
ACTIONS_WITH_TABLE = frozenset({"publish", "relax", "publish_measures", "relax_measures", "propose"})
"""Actions whose body has a table or a plan, and may be longer."""

MOST = 1000
"""The largest number of items on a page of the API."""

_bearer = HTTPBearer(auto_error=False, description="a token of this service, or of its OpenID provider")


def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def identify(request: Request) -> Token:
    """Return the token of a request; a second call for the request does not look it up again."""
    known = getattr(request.state, "bearer", None)
    if isinstance(known, Token):
        return known
    scheme, _, presented = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not presented:
        request.app.state.limits.count_stranger(request.scope)
        raise NotAuthenticated("a request must carry a token", remedy="Send Authorization: Bearer utmost_...")
    return token_presented(request, presented)


def token_presented(request: Request, presented: str) -> Token:
    """Return the token that a bearer presents, and record it in the request."""
    service, openid = service_of(request), request.app.state.openid

    def verified() -> Token:
        # A token of an OpenID provider has two points, a token of this service none.
        if openid is not None and presented.count(".") == 2:
            return service.bearers.of_claims(openid.issuer, openid.signed_claims(presented))
        return service.bearers.authenticated(presented)

    token = count_request(request, verified)
    request.state.bearer = token
    return token


def count_request(request: Request, verified: Callable[[], Token]) -> Token:
    """Return the token that `verified` finds; count the request for this token or, without one, for the address."""
    limits = request.app.state.limits
    try:
        token = verified()
    except NotAuthenticated:
        limits.count_stranger(request.scope)
        raise
    request.state.token = token.name
    limits.count_token(f"{token.name} {token.owner}")
    return token


def check_before_body(request: Request) -> None:
    """Check the caller and the role before any of the body is read."""
    token, verb = identify(request), _ROLES_OF_BODIES.get(request.scope["route"].name)
    if verb is not None:
        token.check_role(verb)
        if verb in ACTIONS_WITH_TABLE:
            request.state.body.allow()


def token_of(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]) -> Token:
    """Return the token of a request; the second argument puts the security scheme into the API description."""
    return identify(request)


async def served(request: Request) -> Service:
    """Return `service_of` on the event loop: a thread would take longer to start than this call."""
    return service_of(request)


Served = Annotated[Service, Depends(served)]
Who = Annotated[Token, Depends(token_of)]
IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="a new text for each request; a repeated request sends the same text, and gets the same answer",
        examples=["7f1c2d"],
    ),
]
At = Annotated[str, Query(max_length=200, description='the level, exactly: "1/4"', examples=["1/4"])]
ConfidenceQuery = Annotated[
    str, Query(max_length=200, description="the probability that the margin holds", examples=["0.95"])
]
DatasetQuery = Annotated[str | None, Query(max_length=200, examples=["admissions"])]
Version = Annotated[DataVersion | None, Query()]
After = Annotated[str, Query(pattern=r"^[0-9]{0,40}$", examples=["00001795349451353448"])]
NextPage = Annotated[
    str, Query(max_length=300, description='"next" of the page before, percent-encoded', examples=[""])
]
Most = Annotated[int, Query(ge=1, le=MOST, description="how many"), SPELLED]
ViewResponse = answers.TableViewed | answers.PlanViewed
PublishedResponse = answers.TablePublished | answers.PlanPublished
_VIEWED: TypeAdapter[ViewResponse] = TypeAdapter(ViewResponse)
PathPart = Annotated[str, Path(max_length=200, examples=["admissions"]), AfterValidator(name_of_part)]
Made = Annotated[str, Path(pattern=RECORD_NAME, examples=[RECORD_EXAMPLE])]


@router.get("/me", summary="The rights of the token")
def me(who: Who) -> Token:
    """Return the token of this request without its secret: role, releases, levels and expiry."""
    return who


@router.get("/releases", summary="The releases that the token may see")
def releases(service: Served, who: Who, after: NextPage = "", most: Most = MOST) -> answers.ReleasesResponse:
    """Return every version of each release, in the order of publication."""
    page, following = answers.paged(service.releases.all(who), after, most, version_name)
    levels = service.releases.levels(who, *page)
    return answers.ReleasesResponse(list(map(answers.ReleaseResponse.of, page, levels)), following)


def version_name(published: Published) -> str:
    """Return the name after which the next page of releases begins."""
    return f"{published.version} {published.name}"


@router.post("/releases", summary="Publish a table")
def publish(service: Served, who: Who, key: IdempotencyKey, body: PublishBody) -> PublishedResponse:
    """Publish a table at a first level; a repetition under the same idempotency key returns the same answer."""
    request = body.read()
    tables, proposals = {request.name: _table(body)}, {request.name: body.proposal}
    published = service.releases.publish_measures(who, key, [request], tables, proposals)
    return answers.published_found(published, request.name)


@router.get("/releases/{name}", summary="A release: its promise and its levels")
def release(service: Served, who: Who, name: PathPart, version: Version = None) -> answers.ReleaseResponse:
    """Return one version of a release, by default the newest."""
    published = service.releases.release(who, name, version)
    return answers.ReleaseResponse.of(published, *service.releases.levels(who, published))


@router.get(
    "/releases/{name}/view",
    summary="A release at a level",
    response_model=ViewResponse,
    openapi_extra={"security": [{_bearer.scheme_name: []}]},
)
def view(request: Request, name: PathPart, epsilon: At, version: Version = None) -> Response:
    """Return the released values with margin and statement, stored or derived from stored values; spend nothing."""
    # One thread does it all: FastAPI would use another thread to identify the caller, and one to validate the answer.
    seen = service_of(request).releases.view(identify(request), name, read_level(epsilon), version)
    answer = answers.view_found(seen)
    return Response(_VIEWED.dump_json(answer), media_type="application/json")


@router.get("/releases/{name}/margin", summary="The margin at any level")
def margin(
    service: Served,
    who: Who,
    name: PathPart,
    epsilon: At,
    confidence: ConfidenceQuery = DEFAULT_CONFIDENCE,
    version: Version = None,
) -> answers.MarginResponse:
    """Return the margin of error at a level; it depends only on the promise, and the call draws nothing."""
    at = read_level(epsilon)
    bar = service.releases.margin(who, name, at, confidence=confidence, version=version)
    return answers.MarginResponse(epsilon, confidence, bar)


@router.post("/releases/{name}/relax", summary="The same release at another level, with the table")
def relax(service: Served, who: Who, key: IdempotencyKey, name: PathPart, body: RelaxBody) -> PublishedResponse:
    """Relax a release to a larger epsilon; the table must have the values that were published."""
    tables, proposals = {name: _table(body)}, {name: body.proposal}
    relaxed = service.releases.relax_measures(who, key, [body.read(name)], tables, proposals)
    return answers.published_found(relaxed, name)


@router.post("/publications", summary="Publish several tables of one dataset, all or none")
def publish_measures(service: Served, who: Who, key: IdempotencyKey, body: Publications) -> answers.MeasuresResponse:
    """Publish each table at its level, with its own approval, in one transaction; a repetition changes nothing."""
    requests = [measure.read() for measure in body.measures]
    tables, proposals = _tables(requests, body.measures)
    return answers.measures_found(service.releases.publish_measures(who, key, requests, tables, proposals))


@router.post("/relaxations", summary="Relax several releases, all or none")
def relax_measures(service: Served, who: Who, key: IdempotencyKey, body: Relaxations) -> answers.MeasuresResponse:
    """Relax each release to its level in one transaction; the tables must have the values that were published."""
    requests = [measure.read() for measure in body.measures]
    tables, proposals = _tables(requests, body.measures)
    return answers.measures_found(service.releases.relax_measures(who, key, requests, tables, proposals))


@router.get("/releases/{name}/rehearsal", summary="The budget after a release")
def rehearse(
    service: Served, who: Who, name: PathPart, epsilon: At, dataset: DatasetQuery = None
) -> answers.BudgetResponse:
    """Return the budget that a release at this level would leave; the call draws, writes and spends nothing."""
    return answers.BudgetResponse.of(service.releases.rehearse(who, name, read_level(epsilon), dataset))


@router.get("/releases/{name}/history", summary="The events of a release")
def release_history(
    service: Served, who: Who, name: PathPart, after: NextPage = "", most: Most = MOST
) -> answers.EventsResponse:
    """Return the events of a release, oldest first."""
    return _events(service.audit.history(who, name), after, most)


@router.get("/proposals", summary="Open and decided proposals")
def proposals(service: Served, who: Who, after: NextPage = "", most: Most = MOST) -> answers.ProposalsResponse:
    """Return proposals without their requests, oldest first."""
    return answers.ProposalsResponse(*service.proposals.page(who, after, most))


@router.post("/proposals", summary="Propose to publish or to relax")
def propose(service: Served, who: Who, key: IdempotencyKey, body: Proposed) -> Proposal:
    """Propose to publish or to relax, with public facts only; the table is sent after the approval."""
    return service.proposals.propose(who, key, body.read(), reason=body.reason, anyone=body.anyone)


@router.get("/proposals/{name}", summary="A proposal with its complete request")
def proposal(service: Served, who: Who, name: Made) -> answers.ProposalResponse:
    """Return the complete request, and the promise in words: guarantee, protected individuals, columns and labels."""
    found, request = service.proposals.one(who, name)
    shown, answered = service.proposals.shown(found, request), service.proposals.answered(found)
    return answers.ProposalResponse(found, request, shown, answered)


@router.post("/proposals/{name}/decision", summary="Approve or refuse a proposal")
def decide(service: Served, who: Who, name: Made, body: Decided) -> Proposal:
    """Approve or refuse a proposal of another person; a refusal needs a reason. A repetition changes nothing."""
    return service.proposals.decide(who, name, body.state, body.reason)


@router.post("/proposals/{name}/withdrawal", summary="Withdraw a proposal")
def withdraw(service: Served, who: Who, name: Made) -> Proposal:
    """Withdraw one's own proposal before its table is sent. A repetition changes nothing."""
    return service.proposals.withdraw(who, name)


@router.get("/waiting", summary="Proposals and tables that wait for the bearer")
def waiting(service: Served, who: Who, after: NextPage = "", most: Most = MOST) -> answers.WaitingResponse:
    """Return proposals to decide, and tables to send; the longest waiting first."""
    return answers.WaitingResponse(*answers.paged(service.waiting.all(who), after, most))


@router.get("/tokens", summary="All tokens")
def tokens(service: Served, who: Who, after: NextPage = "", most: Most = MOST) -> answers.TokensResponse:
    """Return all tokens, oldest first, without their secrets, which are stored nowhere."""
    return answers.TokensResponse(*answers.paged(service.bearers.all(who), after, most))


@router.post("/tokens", summary="Make a token")
def make_token(service: Served, who: Who, key: IdempotencyKey, body: NewToken) -> answers.TokenMade:
    """Make a token; the first answer has its secret, a repetition under the same idempotency key does not."""
    grants = tuple(
        Grant(grant.release, None if grant.up_to is None else read_level(grant.up_to)) for grant in body.grants
    )
    options: dict[str, Any] = {"days": body.days, "subject": body.subject}
    missing_releases = service.releases.missing_releases(
        who, grants
    )  # first, so that nothing can fail after the secret is made
    return answers.TokenMade(
        *service.bearers.make(who, key, body.owner, body.role, grants, **options), missing_releases
    )


@router.post("/tokens/{name}/revocation", summary="Revoke a token")
def revoke(service: Served, who: Who, name: Made) -> Token:
    """Revoke a token from the next request on. The holder of a token may revoke it, unless a group shares it."""
    return service.bearers.revoke(who, name)


@router.get("/datasets/{dataset}/budget", summary="The budget of a dataset")
def budget(service: Served, who: Who, dataset: PathPart) -> answers.BudgetResponse:
    """Return the level that a dataset has spent, and the level that is left."""
    return answers.BudgetResponse.of(service.audit.budget(who, dataset))


@router.put("/datasets/{dataset}/budget", summary="Set the limit of a dataset")
def limit(service: Served, who: Who, dataset: PathPart, body: NewLimit) -> answers.LimitSet:
    """Set the limit of a dataset's budget; setting the same limit again changes nothing."""
    limited = service.audit.limit(who, dataset, read_level(body.epsilon))
    return answers.LimitSet.of(limited, service.audit.is_unused(who, dataset))


@router.put("/datasets/{dataset}/charges", summary="Charge a level that another tool spent")
def charge(service: Served, who: Who, dataset: PathPart, body: NewCharge) -> answers.BudgetResponse:
    """Add a level to the amount that the dataset has spent; the same charge again changes nothing."""
    budget = service.audit.charge(who, dataset, read_level(body.epsilon), body.what, independent=body.independent)
    return answers.BudgetResponse.of(budget)


@router.get("/history", summary="The events of the ledger")
def history(service: Served, who: Who, after: NextPage = "", most: Most = MOST) -> answers.EventsResponse:
    """Return the events of the ledger, oldest first."""
    return _events(service.audit.history(who), after, most)


def _events(events: tuple[Event, ...], after: str, most: int) -> answers.EventsResponse:
    page, following = answers.paged(events, after, most, lambda event: str(event.number))
    events_sent = [answers.EventResponse(event.number, event.time, event.kind, event.facts) for event in page]
    return answers.EventsResponse(events_sent, following)


@router.get("/status", summary="Budgets, and whether new answers are possible")
def status(service: Served, who: Who) -> answers.StatusResponse:
    """Return the budget of each dataset, and the releases whose individuals were declared to be in no other dataset."""
    found, separate = service.audit.status(who), service.audit.separate_datasets(who)
    budgets = [answers.BudgetResponse.of(budget) for budget in found.datasets]
    declared = [answers.SeparateDatasetsResponse(**release) for release in separate]
    return answers.StatusResponse(found.identity, found.events, found.quarantine, budgets, declared)


@router.post("/verification", summary="Recompute everything in the ledger")
def verify(service: Served, who: Who) -> answers.VerificationResponse:
    """Check the database, the chain of events, all digests, MACs, levels and budgets, and the chain of the trail."""
    sound = service.audit.verify(who)
    lines = service.audit.check_trail(who)
    return answers.VerificationResponse(sound.events, sound.responses, sound.cells, sound.answers, lines)


@router.get("/receipt", summary="A receipt to keep elsewhere")
def receipt(service: Served, who: Who) -> answers.ReceiptResponse:
    """Return a receipt, which proves later that the ledger still has all its present events."""
    return answers.ReceiptResponse(service.audit.receipt(who))


@router.post("/receipt/check", summary="Check a receipt")
def check_receipt(service: Served, who: Who, body: Receipt) -> answers.ReceiptHolds:
    """Check a receipt; a ledger that has lost an event goes into quarantine."""
    service.audit.check_receipt(who, body.receipt)
    return answers.ReceiptHolds()


@router.get("/trail", summary="Who did what")
def trail(service: Served, who: Who, after: After = "", most: Most = MOST) -> answers.TrailResponse:
    """Return the actions through this service, oldest first, without confidential values."""
    entries: list[Any] = [{"name": name, **entry} for name, entry in service.audit.trail(who, after, most + 1)]
    return answers.TrailResponse(entries[:most], entries[most - 1]["name"] if len(entries) > most else None)


@router.get("/trail/lines", summary="The whole trail, as JSON lines", response_class=JsonLinesResponse)
def trail_lines(service: Served, who: Who) -> JsonLinesResponse:
    """Send the trail, oldest first. A line has a digest of all lines before it: a copy can be checked by itself."""
    lines = service.audit.lines(who)
    return JsonLinesResponse(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _tables(
    requests: Sequence[PublishRequest | AnswerRequest], bodies: Sequence[PublishBody | NamedRelaxBody]
) -> tuple[dict[str, Any], dict[str, str | None]]:
    """Return the table and the approved proposal of each release: two dicts from the names of the releases."""
    names = [request.name for request in requests]
    if len({*names}) < len(names):
        raise OutOfRange(
            "measures must name each release once", came="one release twice", remedy="Leave out one of the two."
        )
    tables = {name: _table(body) for name, body in zip(names, bodies, strict=True)}
    return tables, {name: body.proposal for name, body in zip(names, bodies, strict=True)}


def _table(body: PublishBody | RelaxBody | NamedRelaxBody) -> Any:
    """Return the table of a request: columns, or a counted table for a plan."""
    if (body.table is None) == (body.counted is None):
        came = "neither" if body.table is None else "both"
        remedy = (
            "Send table, which maps the name of each column to its cells; or, for a plan, send counted, the document "
            "that utmost count wrote."
        )
        raise OutOfRange("exactly one of table and counted must be sent", came=came, remedy=remedy)
    counted = body.counted
    if counted is None:
        return body.table
    check_axes(counted.get("domain"))
    return COUNTED_FORM.of(counted, "counted")
