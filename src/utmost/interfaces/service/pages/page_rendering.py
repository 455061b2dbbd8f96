"""Render pages from templates that escape all values, and serve static files, forms' messages and error pages."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from utmost.core.exact.field_forms import texts_of
from utmost.core.exact.written_levels import level_text, level_words
from utmost.core.sampling.random_bits import entropy
from utmost.interfaces.figures.inline_svg import short
from utmost.interfaces.service.access.bearers import SOON
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.pages.page_session import end_session, form_proof, fresh_guest, put_session, session
from utmost.interfaces.service.token_releases import View
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.release_facts import short_bar
from utmost.version import __version__

_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_JSON_ROADS = ("/v1/", "/health/", "/metrics")

WAITING = "/waiting"
PLACES = (
    ("Releases", (("/releases", "Releases", "list"), ("/publish", "Publish", "publish"))),
    (
        "Decisions",
        (
            (WAITING, "Waiting for you", "decide proposals|publish"),
            ("/proposals", "Proposals", "read proposals"),
        ),
    ),
    (
        "Understand",
        (
            ("/read", "Reader", "list"),
            ("/explore", "Explorer", "list"),
            ("/channel", "Channel of a count", "list"),
            ("/map", "Small maps", "list"),
            ("/trust", "Levels of trust", "list"),
        ),
    ),
    (
        "Oversight",
        (
            ("/verify", "Verify", "list"),
            ("/history", "History", "history"),
            ("/budgets", "Budgets", "budgets"),
            ("/tokens", "Tokens", "tokens"),
            ("/trail", "Trail", "trail"),
        ),
    ),
)
"""Menu of pages: path, title, and the actions of which a viewer needs one."""

FIELDS = {
    **{name: f"{title[0].upper()}{title[1:]}" for name, title in texts_of(Promise).items()},
    "name": "Name of the release",
    "dataset": "Spends the budget of",
    "version": "Version of the data",
    "columns": "Columns to release",
    "public": "Public columns",
    "drop": "Columns to leave out",
    "epsilon": "Level ε",
    "sensitivity": "One person changes a cell by at most",
    "cells": "Most cells that one person changes",
    "neighbours": "What is hidden",
    "rows": "The list of rows",
    "numbers": "The values",
    "grid": "Grid of reals",
    "largest": "Largest true value",
    "id_column": "Column of identifiers",
    "half_step": "noise in half steps",
    "independent": "none of these people is in another dataset of this ledger",
}
"""Labels of the fields of forms, by the library's names of the arguments."""

_ARGUMENT = re.compile(
    rf"(?:\b([Pp])ass(, for example,)? )?\b({'|'.join(FIELDS)})=(\[[^\]]*\]|\"[^\"]*\"|'[^']*'|[\w/.-]*\w)?"
)
_LEVEL = re.compile(r"\blevel\(epsilon=[\"']?([^\"'()]+)[\"']?\)")
_SUBJECT = re.compile(rf"^({'|'.join(FIELDS)})(?=: | must )")
_CALL_OF_SPELLING = re.compile(r"(?:If|Declare|Make) [^()]*ut\.count_table\(.*\)\)[^.]*\.")
"""Advice to declare marks of numbers by a call of the library; a page reads plain numbers alone."""
_FILES = {
    re.compile(r"--release( release\.json)?"): "Whole release, as JSON",
    re.compile("--statement"): "Statement, as JSON",
}
"""Labels of the file fields of the page that verifies files; each replaces an option of `utmost verify`."""

DONE = {
    "proposed": "The proposal waits for a second person.",
    "approved": "Approved.",
    "refused": "Refused.",
    "withdrawn": "Withdrawn.",
    "published": "Published.",
    "relaxed": "Relaxed. The earlier levels stay as they were.",
    "revoked": "The token is revoked.",
    "limited": "The limit is set.",
    "waits": "The limit is set. No release uses this dataset yet: check the spelling of its name.",
    "holds": "The ledger still has all events of the receipt, or was charged for those that it lost.",
}
"""Messages that a page shows after a form, by the value of `done` in the address; the value itself is never shown."""


@cache
def static_files() -> Mapping[str, tuple[bytes, str, str]]:
    """Return the content, media type and digest of each static file, by name."""
    served = {}
    for file in files("utmost.interfaces.service").joinpath("static").iterdir():
        content = file.read_bytes()
        kind = _KINDS.get("." + file.name.rpartition(".")[2], "application/octet-stream")
        served[file.name] = (content, kind, sha256(content).hexdigest()[:12])
    return served


def static_address(name: str) -> str:
    """Return the address of a static file; it changes with the content."""
    return f"/static/{name}?v={static_files()[name][2]}"


def link(path: str, **query: Any) -> str:
    """Return an address on this site; query parameters that are None or empty are left out."""
    filled = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(filled)}" if filled else path


def in_fields(text: str) -> str:
    """Replace the arguments named in an error message by the labels of a page's fields."""

    def field(match: re.Match[str]) -> str:
        begin, example, value = match[1], match[2] or "", (match[4] or "").strip("[]\"'")
        label = f"“{FIELDS[match[3]]}”"
        if match[3] == "epsilon" and value and not begin:  # a level, not the argument
            return f"epsilon = {value}"
        if value == "True":
            return f"{'T' if begin == 'P' else 't'}ick {label}" if begin else label
        if begin:
            return f"{'W' if begin == 'P' else 'w'}rite{example} {value or 'a value'} in the field {label}"
        return f"{label}: {value}" if value else f"the field {label}"

    text = _CALL_OF_SPELLING.sub("Write numbers with digits and a decimal point alone.", text)
    text = _LEVEL.sub(r"epsilon=\1", text)
    for option, label in _FILES.items():
        text = option.sub(f"the field “{label}”", text)
    return _ARGUMENT.sub(field, _SUBJECT.sub(lambda match: f"“{FIELDS[match[1]]}”", text))


def moment(seconds: int | float | str | None) -> str:
    """Return a time in UTC to the minute, from seconds since 1970 or ISO 8601 text; "" for None."""
    if seconds is None:
        return ""
    if isinstance(seconds, str):
        return seconds[:16].replace("T", " ")
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("utmost.interfaces.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"moment": moment, "short": short, "bar": short_bar}
    environment.filters |= {"level": level_text, "level_words": level_words, "in_fields": in_fields}
    environment.globals |= {"static": static_address, "link": link, "release_of_utmost": __version__, "fields": FIELDS}
    return environment


def may_any(token: Token, verbs: str) -> bool:
    """Check whether a token's role allows one of the actions, which are separated by bars."""
    return any(token.may_ever(verb) for verb in verbs.split("|"))


def render(request: Request, template: str, viewer: Token | None, /, status: int = 200, **shown: Any) -> HTMLResponse:
    """Return a page made from a template with the values `shown`, which are escaped unless they are charts."""
    # Forms need a cookie also before the sign-in; a browser without one gets a random one.
    guest = "" if session(request) else fresh_guest()
    places = [
        (group, [(path, name) for path, name, verbs in pages if viewer is not None and may_any(viewer, verbs)])
        for group, pages in PLACES
    ]
    waits = ""
    if viewer is not None and status < 400:
        with suppress(Exception):  # the page is shown without the number of waiting things
            waits = request.app.state.service.waiting.count(viewer)
    shared = {
        "viewer": viewer,
        "may": (lambda verbs: viewer is not None and may_any(viewer, verbs)),
        "places": [(group, pages) for group, pages in places if pages],
        "here": request.url.path,
        "waits": waits,
        "ends": viewer.expires
        if viewer and viewer.expires - request.app.state.service.context.clock() < SOON
        else None,
        "proof": form_proof(request, guest or None),
        "fresh_key": lambda: entropy(16).hex(),
        "done": DONE.get(request.query_params.get("done", ""), ""),
    }
    content = _environment().get_template(template).render(**(shared | shown))
    response = HTMLResponse(content, status)
    if guest:
        put_session(request, response, guest)
    return response


def redirect(request: Request, path: str, **query: Any) -> Response:
    """Redirect the browser to a page, after a form."""
    redirection = RedirectResponse(link(path, **query), 303)
    # A redirected script would insert the page into the page, so a header names the address.
    if is_part(request):
        return Response(status_code=204, headers={"HX-Redirect": redirection.headers["location"]})
    return redirection


def published(request: Request, viewer: Token, views: Mapping[str, View], path: str, **query: Any) -> Response:
    """Redirect the curator to a page after publishing or relaxing; if there are warnings, show these first."""
    # A warning may depend on true values: it is shown in this answer alone, and an address could not keep it secret.
    warned = next(iter(views.values())).warnings
    if not warned:
        return redirect(request, path, **query)
    shown: dict[str, Any] = {"warnings": list(map(str, warned)), "following": link(path, **query)}
    shown["said"] = DONE[query["done"]]
    return render(request, "published.html", viewer, whole=not is_part(request), **shown)


def is_part(request: Request) -> bool:
    """Check whether a page's script sent the request, to put the answer into the page."""
    return request.headers.get("hx-request") == "true"


def wants_page(request: Request) -> bool:
    """Check whether the answer must be a page for a browser; otherwise it is JSON for a program."""
    path = request.url.path
    accepts = "text/html" in request.headers.get("accept", "") or is_part(request)
    return accepts and not path.startswith(_JSON_ROADS)


def problem_page(request: Request, problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """Show an error: as a line in the form that was sent, as a page, or, without a valid token, as the sign-in."""
    forwarded = {name: value for name, value in headers.items() if name.lower() != "www-authenticate"}
    if problem["status"] == 401 and request.url.path != "/login":
        next_path = request.url.path if request.method == "GET" and request.url.path != "/" else None
        query = f"?{request.url.query}" if request.url.query else ""
        response = redirect(request, "/login", next=None if next_path is None else next_path + query)
        if session(request):
            end_session(request, response)
        return response
    template = "problem_part.html" if is_part(request) else "problem.html"
    response = render(
        request, template, getattr(request.state, "viewer", None), problem["status"], problem={"wrong": None, **problem}
    )
    response.headers.update(forwarded)
    return response
