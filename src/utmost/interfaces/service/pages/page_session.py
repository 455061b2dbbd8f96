"""Identify the viewer of a page by a cookie that no script can read, and accept forms of this service's pages only.

The cookie contains a token, or the secret of a session of an OpenID sign-in. The cookie is sent to this site
only (SameSite=Strict), hidden from scripts (HttpOnly), and over TLS never sent unencrypted (Secure, with a name that a
neighbouring site cannot set). Every form has a MAC of the cookie, so that a page of another site can send no form.
Before the sign-in the cookie contains a random number, so that nobody can be signed in as another person without
noticing.
"""

import csv
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser

from utmost.core.sampling.random_bits import entropy
from utmost.errors import NotAllowed, NotAuthenticated, OutOfRange
from utmost.interfaces.service.access.sessions import SESSION
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.requested_levels import read_whole_number
from utmost.interfaces.service.api.routes import ACTIONS_WITH_TABLE, count_request, service_of, token_presented

_COOKIE, _SIGN_IN_STATE = "utmost", "utmost-way"
_SIGN_IN_SECONDS = 600  # lifetime of the cookie of an unfinished sign-in
_GUEST = "guest."
_MOST_FIELDS, _MOST_TEXT, _MOST_FILES = 60, 1 << 20, 8  # of a form: fields, bytes of a field, uploaded files
_STRANGERS_FIELDS, _STRANGERS_TEXT = 8, 1 << 15  # of the sign-in form: 256 kB, no file
_FILE_IN_MEMORY = 1 << 40
"""Largest uploaded file that stays in memory, in bytes: a file may have true values, and must not go to a disk.
`Guards` limits the size of a body."""

# Forms with a table, and the action that the sender's role must allow.
_FORMS_WITH_TABLE = {
    "/publish": "publish",
    "/publish/preview": "publish",
    "/proposals": "propose",
    "/proposals/table": "publish",
    "/proposals/tables": "publish",
    "/publish/measures": "publish",
    "/publish/means": "publish",
    "/relax/measures": "relax",
    "/relax": "relax",
    "/verify/table": "list",
}
_MULTIPART, _URLENCODED = "multipart/form-data", "application/x-www-form-urlencoded"


def cookie_name(request: Request, name: str = _COOKIE) -> str:
    """Return the name of the cookie; over TLS a name that only this host can set."""
    return f"__Host-{name}" if request.url.scheme == "https" else name


def session(request: Request) -> str:
    """Return the content of the viewer's cookie: a token, a session's secret or a random number; empty without one."""
    return request.cookies.get(cookie_name(request), "")


def put_session(request: Request, response: Response, held: str) -> None:
    """Set the viewer's cookie, until the browser is closed."""
    secure = request.url.scheme == "https"
    response.set_cookie(cookie_name(request), held, httponly=True, samesite="strict", secure=secure, path="/")


def end_session(request: Request, response: Response) -> None:
    secure = request.url.scheme == "https"
    response.delete_cookie(cookie_name(request), httponly=True, samesite="strict", secure=secure, path="/")


def sign_in_state(request: Request) -> str:
    """Return the content of the cookie of an OpenID sign-in in progress; empty without one."""
    return request.cookies.get(cookie_name(request, _SIGN_IN_STATE), "")


def put_sign_in_state(request: Request, response: Response, held: str) -> None:
    """Set the cookie of an OpenID sign-in; it must be sent when the provider's site redirects back."""
    secure = request.url.scheme == "https"
    options: dict[str, Any] = {"httponly": True, "samesite": "lax", "secure": secure, "path": "/"}
    response.set_cookie(cookie_name(request, _SIGN_IN_STATE), held, max_age=_SIGN_IN_SECONDS, **options)


def end_sign_in_state(request: Request, response: Response) -> None:
    secure = request.url.scheme == "https"
    response.delete_cookie(cookie_name(request, _SIGN_IN_STATE), httponly=True, samesite="lax", secure=secure, path="/")


def fresh_guest() -> str:
    """Return random content for the cookie of a viewer who is not signed in."""
    return _GUEST + entropy(16).hex()


def viewer_of(request: Request) -> Token:
    """Return the token of the viewer; refuse without a valid token in the cookie."""
    content = session(request)
    if not content or content.startswith(_GUEST):
        raise NotAuthenticated("you must be signed in to see this page", remedy="Sign in.")
    if content.startswith(SESSION):  # the secret of a session after a sign-in through the OpenID provider
        openid = request.app.state.openid
        if openid is None:
            raise NotAuthenticated("you must be signed in, and your session has ended or never began")
        viewer = count_request(request, lambda: service_of(request).sessions.bearer(content, openid.issuer))
    else:
        viewer = token_presented(request, content)
    request.state.viewer = viewer
    return viewer


Viewer = Annotated[Token, Depends(viewer_of)]


def form_proof(request: Request, content: str | None = None) -> str:
    """Return the hidden field of every form: a MAC of the cookie's content by a key of the service."""
    content = session(request) if content is None else content
    _, key = service_of(request).ledger.beside("service pages")
    return hmac.digest(key, content.encode(), sha256).hex()


@dataclass(frozen=True, slots=True)
class FilledForm:
    """A form from a page of this service; empty file fields are missing in `files`."""

    fields: Mapping[str, str]
    files: Mapping[str, bytes]

    def text(self, name: str) -> str:
        """Return a field without surrounding spaces; empty if not filled."""
        return self.fields.get(name, "").strip()

    def optional(self, name: str) -> str | None:
        """Return a field; None if not filled."""
        return self.text(name) or None

    def number(self, name: str) -> int | None:
        return read_whole_number(self.text(name), name)

    def ticked(self, name: str) -> bool:
        return name in self.fields

    def names(self, name: str) -> tuple[str, ...]:
        """Split a field of names at commas; a name with a comma is in quotes, as in a CSV file."""
        try:
            parts = next(csv.reader([self.text(name)], skipinitialspace=True), [])
        except csv.Error:
            parts = self.text(name).split(",")
        return tuple(part.strip() for part in parts if part.strip())

    def file(self, name: str) -> bytes:
        if name not in self.files:
            raise OutOfRange(
                "a file must be chosen", came="none", where=name, remedy="Choose a file, and send the form again."
            )
        return self.files[name]


async def filled_form(request: Request) -> FilledForm:
    """Return the form in a request, after a check that a page of this service sent it."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise NotAllowed(
            "a form must be sent from a page of this service",
            came="a form of another site",
            remedy="Open the page of this service, and send its form.",
        )
    verb = _FORMS_WITH_TABLE.get(request.scope["route"].path)
    if verb is not None and hasattr(request.state, "viewer"):
        if verb in ACTIONS_WITH_TABLE:
            request.state.viewer.check_role(verb)
        if request.state.viewer.may_ever("publish"):
            request.state.body.allow()
    filled = await _parsed_form(request)
    if not hmac.compare_digest(filled.text("proof").encode(), form_proof(request).encode()):
        remedy = "Load the page again, and send the form once more."
        raise NotAllowed(
            "a form must be sent from a page that this session opened", came="a form of another session", remedy=remedy
        )
    return filled


Sent = Annotated[FilledForm, Depends(filled_form)]


async def _parsed_form(request: Request) -> FilledForm:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (_MULTIPART, _URLENCODED):
        raise HTTPException(415, "The body must be a form.")
    is_known = hasattr(request.state, "viewer")  # from unknown senders, read no more than a sign-in needs
    limits = {
        "max_fields": _MOST_FIELDS if is_known else _STRANGERS_FIELDS,
        "max_part_size": _MOST_TEXT if is_known else _STRANGERS_TEXT,
    }
    parser: MultiPartParser | FormParser
    if kind == _MULTIPART:
        most_files = _MOST_FILES if is_known else 0
        parser = MultiPartParser(request.headers, request.stream(), max_files=most_files, **limits)
        parser.spool_max_size = _FILE_IN_MEMORY
    else:
        parser = FormParser(request.headers, request.stream(), **limits)
    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}
    try:
        form = await parser.parse()
        for name, value in form.multi_items():
            if name in fields or name in files:
                raise HTTPException(400, f"The form has the field {name!r} twice.")
            if not isinstance(value, UploadFile):
                fields[name] = value
            elif value.filename:
                files[name] = await value.read()
    except MultiPartException:
        raise HTTPException(400, "The form cannot be read.") from None
    finally:  # the parser would keep the files of a truncated form open
        for file in getattr(parser, "_files_to_close_on_error", ()):
            file.close()
    return FilledForm(fields, files)
