"""The reading of requests: the sender is known before the body, and its JSON has no wrong number, no name twice.

The JSON of Python takes NaN and infinities, the last of columns of one name, integers of any length, and nests until
the stack ends. Here each of these is a request of the wrong shape, like text that is no JSON at all.
"""

import json
from collections.abc import Callable, Coroutine, MutableMapping
from typing import Any
from urllib.parse import unquote

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from utmost.interfaces.service.api.request_models import ValidatedTable
from utmost.tables.files.json_files import members_once

_MOST_MEMBERS = 100
# A slash inside a name, while the path is taken apart; no name holds it.
_SLASH = "\x1f"


class StrictJson(Request):
    """A request whose body is strict JSON."""

    async def json(self) -> Any:
        """The body."""
        if not hasattr(self, "_json"):
            self._json = await run_in_threadpool(_parsed, await self.body())
        return self._json


class AuthenticatedRoute(APIRoute):
    """A route that asks who sends before it reads what is sent: nobody without a token makes this machine read a table.

    The application says whether it may be sent by ``app.state.arrived``, a function of the request.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, behind that question."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            arrived = StrictJson(request.scope, request.receive)
            if self.body_field is not None:
                await run_in_threadpool(request.app.state.arrived, arrived)
            return await handle(arrived)

        return handler


def _parsed(body: bytes) -> Any:
    """The content of a body, its table checked, both away from the loop that answers everybody."""
    parsed = strict_json(body)
    if isinstance(parsed, dict):
        measures = parsed.get("measures")
        for holder in (parsed, *(measures if isinstance(measures, list) else ())):
            if isinstance(holder, dict) and type(holder.get("table")) is dict:
                holder["table"] = ValidatedTable.of(holder["table"])
    return parsed


def strict_json(body: bytes) -> Any:
    """The values in a JSON text.

    >>> strict_json(b'{"a": [1, 0.5, "x"]}')
    {'a': [1, 0.5, 'x']}
    >>> strict_json(b'{"a": NaN}')
    Traceback (most recent call last):
    ...
    json.decoder.JSONDecodeError: no JSON: line 1 column 1 (char 0)
    """
    try:
        parsed = json.loads(body, parse_constant=_refused, object_pairs_hook=members_once)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError("no JSON", "", error.pos) from None
    except (
        ValueError,
        RecursionError,
    ):  # names twice, thousands of digits, bytes that are no text, endless nests
        raise json.JSONDecodeError("no JSON", "", 0) from None
    if isinstance(parsed, dict) and len(parsed) > _MOST_MEMBERS:
        raise json.JSONDecodeError("too many members", "", 0)
    return parsed


def routed(scope: MutableMapping[str, Any]) -> None:
    """Let a name with a slash in it be one part of the path, as it was sent: ``a%2Fb``."""
    raw = scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        parts = raw.split(b"?", 1)[0].decode("latin-1").split("/")
        scope["path"] = "/".join(unquote(part).replace("/", _SLASH) for part in parts)


def name_of_part(part: str) -> str:
    """The name that `routed` made one part of the path of."""
    return part.replace(_SLASH, "/")


def _refused(constant: str) -> Any:
    raise ValueError(constant)
