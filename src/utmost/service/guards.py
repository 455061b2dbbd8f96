"""What stands before every request: its name, its size, how often it may come, how it is logged, and its headers."""

import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from utmost.sampling.random_bits import entropy
from utmost.service.problems import MEDIA_TYPE, problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOG = logging.getLogger("utmost.service")

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_MOST_CALLERS = 10_000
# One address may ask so many times as often as one token: people behind one proxy share it.
_MANY = 10
_PUBLIC_PART = 40  # "Bearer utmost_" and the name of a token


class Guards:
    """An application behind its guards.

    Each request gets a name of its own, which the log and the answer carry. A body beyond the limit is refused before
    it is read to its end. Whoever asks too often is told when to come again. The log names the route, the token and the
    status: no path with a name in it, no query, no body, no header.

    Args:
        app: the application.
        most_bytes: the longest body.
        rate, burst: requests a second for each caller, and how many at once.
    """

    def __init__(self, app: App, *, most_bytes: int, rate: float, burst: int) -> None:
        self._app, self._most_bytes, self._turns = app, most_bytes, Turns(rate, burst)
        self._of_address = Turns(_MANY * rate, _MANY * burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        name, began, said, body = entropy(8).hex(), time.perf_counter(), {"status": 0}, Body(receive, self._most_bytes)
        scope.setdefault("state", {})["request"] = name

        async def answered(message: Message) -> None:
            if body.is_refused:  # whatever is made of half a body
                return
            if message["type"] == "http.response.start":
                said["status"] = message["status"]
                own = [(b"x-request-id", name.encode()), *_HEADERS]
                there = {key for key, _ in message.get("headers", [])}
                if b"cache-control" not in there:
                    own.append((b"cache-control", b"no-store"))
                message["headers"] = [*message.get("headers", []), *own]
            await send(message)

        try:
            address, token = _caller(scope)
            wait = max(self._of_address.wait(address), self._turns.wait(f"{address} {token}"))
            if wait > 0:
                again = [(b"retry-after", str(math.ceil(wait)).encode())]
                return await _refuse(answered, 429, "TooOften", "Requests come too often.", again)
            if _declared(scope) > self._most_bytes:
                return await _refuse(answered, 413, "TooLarge", "The body is longer than this service takes.")
            await self._app(scope, body.receive, answered)
            if body.is_refused and not said["status"]:
                body.is_refused = False
                await _refuse(answered, 413, "TooLarge", "The body is longer than this service takes.")
        except Exception as error:
            body.is_refused = False
            LOG.error(json.dumps({"request": name, "broke": type(error).__name__}))
            if not said["status"]:
                detail = "The service cannot answer. Its operator finds the reason in the log."
                await _refuse(answered, 500, "ServiceBroken", detail)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            spent = round(1000 * (time.perf_counter() - began), 1)
            token = scope["state"].get("token")
            entry = {"request": name, "method": scope["method"], "route": route, "status": said["status"], "ms": spent}
            LOG.info(json.dumps(entry | ({} if token is None else {"token": token})))


class Body:
    """The body of a request, which is cut off where it goes beyond the limit.

    Attributes:
        is_refused: whether it went beyond.
    """

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left, self.is_refused = receive, most, False

    async def receive(self) -> Message:
        """The next message; the client is as good as gone where too much has come."""
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            self.is_refused = True
            return {"type": "http.disconnect"}
        return message


class Turns:
    """How long each caller must wait: a bucket of ``burst`` turns that fills at ``rate`` a second."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """0 and a turn less; or the seconds until there is one.

        >>> turns = Turns(2.0, 1, clock=lambda: 0.0)
        >>> turns.wait("a"), turns.wait("a"), turns.wait("b")
        (0.0, 0.5, 0.0)
        """
        now = self._clock()
        left, then = self._left.pop(caller, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._rate)
        has_turn = left >= 1
        self._left[caller] = (left - 1 if has_turn else left, now)
        while len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)
        return 0.0 if has_turn else (1 - left) / self._rate


def _caller(scope: Scope) -> tuple[str, str]:
    """Who asks: the address, and the public part of the token that comes, which need not be valid."""
    address = (scope.get("client") or ("",))[0]
    for key, value in scope["headers"]:
        if key in (b"authorization", b"cookie"):
            return str(address), value[:_PUBLIC_PART].decode("latin-1")
    return str(address), ""


def _declared(scope: Scope) -> int:
    for key, value in scope["headers"]:
        if key == b"content-length" and value.isdigit() and len(value) < 16:
            return int(value)
    return 0


async def _refuse(
    send: Send, status: int, title: str, detail: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = json.dumps(problem(status, title, detail)).encode()
    start = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode()), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
