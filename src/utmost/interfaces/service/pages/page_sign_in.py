"""Sign people in and out on pages, by a token or through an OpenID provider."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from utmost.errors import UtmostError
from utmost.interfaces.service.access.openid_sign_in import REDIRECT_PATH, SignIn
from utmost.interfaces.service.access.sessions import SESSION
from utmost.interfaces.service.api.problems import status_of
from utmost.interfaces.service.api.routes import Served, token_presented
from utmost.interfaces.service.pages.page_rendering import redirect, render
from utmost.interfaces.service.pages.page_session import (
    Sent,
    end_sign_in_state,
    fresh_guest,
    put_session,
    put_sign_in_state,
    session,
    sign_in_state,
)

sign_in = APIRouter(include_in_schema=False)

Following = Annotated[str, Query(max_length=4000)]

_NOT_VALID = "This token is not valid: it may have expired, been revoked, or been cut short."
_NOT_SIGNED_IN = (
    "You are not signed in: the sign-in did not begin in this browser, took more than ten minutes, was refused by the "
    "provider, or you have no valid token here."
)


@sign_in.get("/login")
def login_page(request: Request, next: Following = "") -> Response:
    """Show the page where people paste a token, or go to the OpenID provider."""
    return _login_page(request, _own_path(next))


@sign_in.post("/login")
def login(request: Request, sent: Sent) -> Response:
    """Store a valid token in the cookie."""
    presented, following = sent.text("token"), _own_path(sent.text("next"))
    try:
        token_presented(request, presented)
    except UtmostError as error:
        if status_of(error) != 401:
            raise
        return _login_page(request, following, _NOT_VALID)
    response = redirect(request, following or "/releases")
    put_session(request, response, presented)
    return response


@sign_in.get("/login/openid")
def begin_sign_in(request: Request, next: Following = "") -> Response:
    """Redirect the browser to the OpenID provider."""
    address, content = _provider(request).start(_own_path(next))
    response = RedirectResponse(address, 303)
    put_sign_in_state(request, response, content)
    return response


@sign_in.get(REDIRECT_PATH)
def finish_sign_in(request: Request, service: Served) -> Response:
    """Begin a session for the person whom the OpenID provider identifies."""
    # The answer is a page that continues by itself, not a redirect: a redirect would count as sent by the provider's
    # site, and the browser would not send the session's cookie.
    provider = _provider(request)
    try:
        claims, state, following = provider.finish(dict(request.query_params), sign_in_state(request))
        hours = request.app.state.session_hours
        content = service.sessions.begin(provider.openid.issuer, claims, state, 3600 * hours)
    except UtmostError as error:
        if status_of(error) != 401:
            raise
        response = _login_page(request, "", _NOT_SIGNED_IN)
    else:
        response = render(request, "signed_in.html", None, following=_own_path(following) or "/releases")
        put_session(request, response, content)
    end_sign_in_state(request, response)
    return response


@sign_in.post("/logout")
def logout(request: Request, service: Served, sent: Sent) -> Response:
    """Delete the token in this browser (the token stays valid elsewhere), or end the session."""
    content = session(request)
    if content.startswith(SESSION):
        service.sessions.end(content)
    response = redirect(request, "/login")
    put_session(request, response, fresh_guest())  # replaces the token or session
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def _provider(request: Request) -> SignIn:
    sign_in: SignIn | None = request.app.state.sign_in
    if sign_in is None:
        raise HTTPException(404, "This service has no OpenID provider.")
    return sign_in


def _login_page(request: Request, following: str, problem: str = "") -> Response:
    sign_in: Any = request.app.state.sign_in
    provider = None if sign_in is None else sign_in.openid.issuer.partition("://")[2].rstrip("/")
    shown = {"following": following, "problem": problem, "provider": provider}
    return render(request, "login.html", None, 401 if problem else 200, **shown)


def _own_path(text: str) -> str:
    """Return a path of this site, or empty text: a sign-in must not lead to another site."""
    is_own = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and len(text) < 2000
    return text if is_own else ""
