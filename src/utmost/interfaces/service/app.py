"""Build the ASGI application of a service: API, pages, health and metrics, behind checks of each request."""

import asyncio
import json
import logging
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from math import ceil
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from utmost.errors import (
    BudgetExceeded,
    LedgerUnavailable,
    NeedsApproval,
    NotAllowed,
    NotAuthenticated,
    PrivacyWarning,
    Quarantined,
    TooOften,
    UtmostError,
    WitnessMissing,
)
from utmost.interfaces.service.access.openid import OpenId
from utmost.interfaces.service.access.openid_sign_in import SignIn, client_secret
from utmost.interfaces.service.access.rate_limits import LOG, Guards, JsonLogFormatter, RateLimits
from utmost.interfaces.service.api.description import describe
from utmost.interfaces.service.api.problems import (
    BROKEN,
    MEDIA_TYPE,
    Refused,
    problem,
    problem_of,
    problem_of_shape,
    status_of,
)
from utmost.interfaces.service.api.routes import Who, check_before_body, identify, router
from utmost.interfaces.service.metrics import Metrics
from utmost.interfaces.service.notices import Notices
from utmost.interfaces.service.pages.page_downloads import FileCache
from utmost.interfaces.service.pages.page_forms import forms
from utmost.interfaces.service.pages.page_rendering import problem_page, wants_page
from utmost.interfaces.service.pages.pages import pages
from utmost.interfaces.service.records import SECONDS_TO_WAIT
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.settings import Settings
from utmost.interfaces.service.workers.processes import WORKERS
from utmost.publish.ledger.ledger import Ledger
from utmost.version import __version__

_SECONDS_TO_BE_READY = 5.0
_IN_TRAIL = (NotAllowed, NeedsApproval, BudgetExceeded)


def application(service: Service, settings: Settings | None = None) -> Guards:
    """Return the application of a service; the caller closes the service."""
    settings = Settings() if settings is None else settings
    return _guarded(_built(service, settings), settings)


def of_environment() -> Guards:
    """Return the application for the settings in the environment; each worker of a server calls this function."""
    lines = logging.StreamHandler()
    lines.setFormatter(JsonLogFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[lines])
    # Warnings about a request name releases and datasets; a log must not name them.
    warnings.simplefilter("ignore", PrivacyWarning)
    warnings.simplefilter("default", WitnessMissing)  # names no release, and only the operator can put the file back
    logging.captureWarnings(True)  # other warnings become log lines
    settings = Settings.of_environment()
    service = Service(
        Ledger.open(settings.ledger, witness=settings.witness or None, timeout=SECONDS_TO_WAIT),
        approvals=settings.approvals,
        most_levels=settings.most_levels,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        WORKERS.close()
        if app.state.notices is not None:
            app.state.notices.close()
        service.close()

    return _guarded(_built(service, settings, lifespan), settings)


def _guarded(app: FastAPI, settings: Settings) -> Guards:
    return Guards(
        app,
        most_bytes=settings.most_bytes,
        few_bytes=settings.few_bytes,
        limits=app.state.limits,
        patience=settings.patience,
        counted=app.state.metrics.counted,
    )


def _built(service: Service, settings: Settings, lifespan: Any = None) -> FastAPI:
    app = FastAPI(
        title="utmost",
        version=__version__,
        description="Releases that can be relaxed for years, for teams. "
        "Publishing, relaxing, proposing and making tokens take an Idempotency-Key.",
        openapi_url="/v1/openapi.json" if settings.docs else None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service, app.state.metrics, app.state.files = service, Metrics(), FileCache()
    app.state.limits = RateLimits(settings.rate, settings.burst)
    app.state.openid = OpenId(settings.oidc_issuer, settings.oidc_audience) if settings.oidc_issuer else None
    app.state.sign_in = None
    if settings.oidc_client:
        key = service.ledger.beside("service sign-in")[1]
        secret = client_secret(settings.oidc_secret_file)
        app.state.sign_in = SignIn(
            app.state.openid, settings.oidc_client, secret, settings.address, settings.oidc_scopes, key
        )
    app.state.address = settings.address
    app.state.notices = Notices(service, settings) if settings.webhook or settings.mail_to else None
    app.state.session_hours = settings.session_hours
    app.state.check_before_body = check_before_body
    for router_part in (router, pages, forms):
        app.router.routes.extend(router_part.routes)  # include_router would build each route again
    app.add_exception_handler(UtmostError, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _answer_wrong_shape)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_broken)
    _add_health(app)
    describe(app)
    return app


def _add_health(app: FastAPI) -> None:
    own_thread = CapacityLimiter(1)  # a separate thread, so that health checks do not wait for requests

    @app.get("/health/live", include_in_schema=False)
    async def live() -> dict[str, bool]:
        return {"live": True}

    @app.get("/health/ready", include_in_schema=False)
    async def ready() -> dict[str, bool]:
        try:
            async with asyncio.timeout(_SECONDS_TO_BE_READY):
                check = app.state.service.is_ready
                return {"ready": await to_thread.run_sync(check, limiter=own_thread, abandon_on_cancel=True)}
        except TimeoutError:
            raise LedgerUnavailable(
                "the store of the service must answer", came=f"nothing for {_SECONDS_TO_BE_READY:g} s"
            ) from None

    @app.get("/metrics", include_in_schema=False)
    def metrics(who: Who) -> Response:
        who.check("metrics")
        content, kind = app.state.metrics.text()
        return Response(content, media_type=kind)


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, UtmostError)
    if status_of(error) >= 500 or isinstance(error, Quarantined):  # only the operator can mend these
        name = request.scope["state"].get("request")
        LOG.error(json.dumps({"request": name, "broke": type(error).__name__, "required": error.required}))
    if isinstance(error, _IN_TRAIL):
        await to_thread.run_sync(_note_refusal, request, error)
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, NotAuthenticated) else {}
    if status_of(error) == 503:
        headers["Retry-After"] = "1"
    elif isinstance(error, TooOften):
        headers["Retry-After"] = str(ceil(error.again))
    return _problem_answer(request, problem_of(error), headers)


def _note_refusal(request: Request, error: UtmostError) -> None:
    """Record a refusal in the trail; the refusal is sent even if the store cannot be written."""
    token = getattr(request.state, "bearer", None) or getattr(request.state, "viewer", None)
    if token is None:
        return
    try:
        request.app.state.service.audit.refused(token, request.scope["route"].name, type(error).__name__)
    except (KeyError, UtmostError) as broken:
        LOG.error(json.dumps({"broke": type(broken).__name__, "required": "a refusal is written into the trail"}))


async def _answer_wrong_shape(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    try:
        if request.url.path.startswith("/v1/"):  # identify the caller before reporting what is wrong
            await to_thread.run_sync(identify, request)
    except UtmostError as unknown:
        return await _answer_refusal(request, unknown)
    except HTTPException as unknown:
        return await _answer_http_error(request, unknown)
    return _problem_answer(request, problem_of_shape(error.errors()), {})


_OF_ADDRESSES = {
    404: "This address does not exist.",
    405: "This address needs another method, which the header Allow names.",
}


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = error.title if isinstance(error, Refused) else HTTPStatus(error.status_code).phrase.title()
    phrase, detail = HTTPStatus(error.status_code).phrase, str(error.detail)
    if detail == phrase:
        detail = _OF_ADDRESSES.get(error.status_code, detail)
        if error.status_code == 404 and (described := request.app.openapi_url) is not None:
            detail += f" {described} lists the addresses of the API."
    page_problem = problem(error.status_code, "".join(title.split()), detail)
    return _problem_answer(request, page_problem, dict(error.headers or {}))


async def _answer_broken(request: Request, error: Exception) -> Response:
    """Answer a request that failed with an unexpected error; `Guards` logs the error."""
    return _problem_answer(request, problem(500, "ServiceBroken", BROKEN), {})


def _problem_answer(request: Request, facts: dict[str, Any], headers: dict[str, str]) -> Response:
    if wants_page(request):
        return problem_page(request, facts, headers)
    return JSONResponse(facts, status_code=facts["status"], media_type=MEDIA_TYPE, headers=headers)
