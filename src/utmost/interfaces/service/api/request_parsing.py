"""Parse requests: identify the caller before reading the body, and read JSON strictly.

Python's JSON accepts NaN and infinities, repeated names (the last one wins), integers of any length, and nesting as
deep as the stack allows. This parser refuses all four.
"""

import json
from collections import Counter
from collections.abc import Callable, Coroutine, MutableMapping
from typing import Any
from urllib.parse import unquote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from utmost.interfaces.service.api.request_models import ValidatedTable
from utmost.tables.files.json_files import members_once

_MOST_MEMBERS = 100  # fields of a JSON object in a request
# Stands for a slash inside a name while the path is split; no name contains it.
_SLASH = "\x1f"


class StrictJson(Request):
    """A request whose body is strict JSON."""

    async def json(self) -> Any:
        def parse_with_tables(body: bytes) -> Any:
            parsed = strict_json(body)
            if isinstance(parsed, dict):
                measures = parsed.get("measures")
                for holder in (parsed, *(measures if isinstance(measures, list) else ())):
                    if isinstance(holder, dict) and type(holder.get("table")) is dict:
                        holder["table"] = ValidatedTable.of(holder["table"])
            return parsed

        if not hasattr(self, "_json"):
            self._json = await run_in_threadpool(parse_with_tables, await self.body())  # parsing takes long
        return self._json


class AuthenticatedRoute(APIRoute):
    """A route that identifies the caller before it reads the body, so that strangers cannot make it parse tables."""

    # ``app.state.check_before_body``, a function of the request, refuses the caller or returns.

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            strict = StrictJson(request.scope, request.receive)
            if self.body_field is not None:
                await run_in_threadpool(request.app.state.check_before_body, strict)
            return await handle(strict)

        return handler


def strict_json(body: bytes) -> Any:
    def refuse(constant: str) -> Any:  # NaN and infinities
        raise ValueError(constant)

    try:
        parsed = json.loads(body, parse_constant=refuse, object_pairs_hook=members_once)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError("no JSON", "", error.pos) from None
    except (ValueError, RecursionError):  # repeated names, thousands of digits, bytes that are no text, deep nesting
        raise json.JSONDecodeError("no JSON", "", 0) from None
    if isinstance(parsed, dict) and len(parsed) > _MOST_MEMBERS:
        raise json.JSONDecodeError("too many members", "", 0)
    return parsed


async def check_query(request: Request) -> None:
    """Refuse an address that gives a parameter twice, because only one of the two values would count."""
    times = Counter(name for name, _ in request.query_params.multi_items())
    if twice := [name for name, number in times.items() if number > 1]:
        raise RequestValidationError([{"loc": ("query", name), "type": "given_twice"} for name in twice])


async def check_known_query(request: Request) -> None:
    """Refuse an address with a parameter that the path does not take, because it would be ignored."""
    known = [field.alias for field in request.scope["route"].dependant.query_params]
    if unknown := [name for name in request.query_params if name not in known]:
        words = f"unknown: the parameters of this path are {', '.join(known)}" if known else "this path takes none"
        raise RequestValidationError([{"loc": ("query", name), "type": words} for name in unknown])


def routed(scope: MutableMapping[str, Any]) -> None:
    """Rewrite the path of a request so that a name with an encoded slash (``a%2Fb``) stays one part of it."""
    raw = scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        parts = raw.split(b"?", 1)[0].decode("latin-1").split("/")
        scope["path"] = "/".join(unquote(part).replace("/", _SLASH) for part in parts)


def name_of_part(part: str) -> str:
    """Return the name that is one part of a path rewritten by `routed`."""
    return part.replace(_SLASH, "/")
