"""Limit the size and rate of requests, log each request, and add security headers to each answer."""

import asyncio
import json
import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from utmost.core.sampling.random_bits import entropy
from utmost.interfaces.service.api.problems import BROKEN, BUSY, MEDIA_TYPE, TOO_OFTEN, problem, too_often
from utmost.interfaces.service.api.request_parsing import routed

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CountRequest = Callable[[str, str, int, float], None]
Refusal = tuple[int, str, str]

LOG = logging.getLogger("utmost.interfaces.service")


class JsonLogFormatter(logging.Formatter):
    """Writes log lines as JSON: lines of the service are JSON already; others get time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name == LOG.name:
            return record.getMessage()
        line = {"time": int(record.created), "level": record.levelname, "logger": record.name}
        line["said"] = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            line["broke"] = record.exc_info[0].__name__
        return json.dumps(line)


TOO_LARGE: Refusal = (413, "TooLarge", "The body of the request is longer than this service accepts.")
TOO_SLOW: Refusal = (408, "TooSlow", "The body of the request did not arrive in time.")
TOO_MANY: Refusal = (503, "Busy", BUSY)
TOO_LONG: Refusal = (414, "TooLong", "The address of the request is longer than this service accepts.")

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
# An address may make ten times as many requests as a token: people behind one proxy share an address.
_MANY = 10
_LONGEST_ADDRESS = 1 << 16  # status 414 beyond 64 kB
_MOST_BODIES = 2
"""All bodies in memory may together be this many times as large as the largest allowed body."""


class Guards:
    """Wraps an ASGI application; checks and logs each request."""

    # The log and the answer have an identifier of the request. A body is refused before its end if it is too long,
    # too slow, or if too many bodies are in memory. Only after `Body.allow` may a body be longer than `few_bytes`. A
    # caller with too many requests learns when to try again. The log has the route, the token and the status: no path,
    # query, body or header.

    def __init__(
        self,
        app: App,
        *,
        most_bytes: int,
        few_bytes: int,
        limits: "RateLimits",
        patience: float = 60.0,
        counted: CountRequest = lambda route, method, status, seconds: None,
    ) -> None:
        self.inside, self._most_bytes, self._few_bytes = app, most_bytes, min(few_bytes, most_bytes)
        self._limits, self._held = limits, BytesInMemory(_MOST_BODIES * most_bytes)
        self._patience, self._counted = patience, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.inside(scope, receive, send)
        method = scope["method"]
        if method == "HEAD":  # answered as GET is, without the body
            scope = {**scope, "method": "GET"}
        name, began, sent = entropy(8).hex(), time.perf_counter(), {"status": 0}
        until = time.monotonic() + self._patience
        body = Body(receive, self._few_bytes, until, longer=self._most_bytes, held=self._held)
        scope.setdefault("state", {}).update(request=name, body=body)
        routed(scope)

        async def answered(message: Message) -> None:
            if body.refusal is not None:  # ignore the application's answer to a truncated body
                return
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                own = [(b"x-request-id", name.encode()), *_HEADERS]
                given_headers = {key for key, _ in message.get("headers", [])}
                if b"cache-control" not in given_headers:
                    own.append((b"cache-control", b"no-store"))
                message["headers"] = [*message.get("headers", []), *own]
            if method == "HEAD" and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        try:
            wait = self._limits.wait(address_of(scope))
            if wait > 0:
                again = [(b"retry-after", str(math.ceil(wait)).encode())]
                return await _refuse(answered, 429, "TooOften", TOO_OFTEN, again)
            if len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > _LONGEST_ADDRESS:
                return await _refuse(answered, *TOO_LONG)
            if _declared_length(scope) > self._most_bytes:
                return await _refuse(answered, *TOO_LARGE)
            try:
                await self.inside(scope, body.receive, answered)
            except Exception:
                if body.refusal is None:  # otherwise the error follows from a truncated body
                    raise
            if body.refusal is not None and not sent["status"]:
                why, body.refusal = body.refusal, None
                again = [(b"retry-after", b"5")] if why is TOO_MANY else []
                await _refuse(answered, *why, [(b"connection", b"close"), *again])
        except Exception as error:
            LOG.error(json.dumps({"request": name, "broke": type(error).__name__}))
            if not sent["status"]:
                await _refuse(answered, 500, "ServiceBroken", BROKEN)
        finally:
            body.forget()
            route = getattr(scope.get("route"), "path", "none")
            seconds = time.perf_counter() - began
            token = scope["state"].get("token")
            entry: dict[str, Any] = {"request": name, "method": method, "route": route}
            entry |= {"status": sent["status"], "ms": round(1000 * seconds, 1)}
            LOG.info(json.dumps(entry | ({} if token is None else {"token": token})))
            self._counted(route, method, sent["status"], seconds)


class Body:
    """Receives the body of a request, and cuts it off if it is too long or too slow."""

    # `until` is in seconds of the monotonic clock; `longer` is the largest size after `allow`, in bytes. `refusal`
    # is the status, name and words for a body that was cut off, else None.

    def __init__(
        self,
        receive: Receive,
        most: int,
        until: float,
        *,
        longer: int | None = None,
        held: "BytesInMemory | None" = None,
    ) -> None:
        self._receive, self._most, self._until, self._is_whole = receive, most, until, False
        self._longer, self._held, self._came = most if longer is None else longer, held or BytesInMemory(), 0
        self.refusal: Refusal | None = None

    def allow(self) -> None:
        """Allow the larger size, for a caller who may send a table to a route that takes tables."""
        self._most = self._longer

    def forget(self) -> None:
        """Subtract this body from the memory in use."""
        self._held.now -= self._came
        self._came = 0

    async def receive(self) -> Message:
        """Return the next message; for a body that is too long or too slow, a message that the client disconnected."""
        if self._is_whole:  # the application now waits for the client to disconnect
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            return self._cut(TOO_SLOW)
        size = len(message.get("body", b""))
        # Count before the check, because `forget` subtracts all that came.
        self._came += size
        self._held.now += size
        self._is_whole = not message.get("more_body", False)
        if self._came > self._most:
            return self._cut(TOO_LARGE)
        return self._cut(TOO_MANY) if self._held.now > self._held.most else message

    def _cut(self, why: Refusal) -> Message:
        self.refusal = why
        return {"type": "http.disconnect"}


@dataclass(slots=True)
class BytesInMemory:
    """The number of bytes of all request bodies in memory, and the largest number allowed."""

    most: float = math.inf
    now: int = 0


class RateLimits:
    """Limits the requests of each address, and those of each token once the token is verified."""

    # People behind one proxy share an address, so an address gets ten times the rate of a token. Requests with an
    # invalid token are limited by address, to the rate of a token.

    __slots__ = ("_addresses", "_strangers", "_tokens")

    def __init__(self, rate: float, burst: int) -> None:
        self._addresses = RequestBuckets(_MANY * rate, _MANY * burst)
        self._tokens, self._strangers = RequestBuckets(rate, burst), RequestBuckets(rate, burst)

    def wait(self, address: str) -> float:
        """Count a request of an address; return 0, or the seconds to wait."""
        return self._addresses.wait(address)

    def count_token(self, who: str) -> None:
        """Count a request of a verified caller; refuse it above the rate."""
        _count_or_refuse(self._tokens, who)

    def count_stranger(self, scope: Scope) -> None:
        """Count a request with an invalid token for its address; refuse it above the rate."""
        _count_or_refuse(self._strangers, address_of(scope))


def _count_or_refuse(buckets: "RequestBuckets", caller: str) -> None:
    wait = buckets.wait(caller)
    if wait > 0:
        raise too_often(wait)


class RequestBuckets:
    """Limits each caller: a bucket has room for `burst` requests, and refills by `rate` requests a second."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, caller: str) -> float:
        """Count a request of a caller; return 0, or the seconds to wait."""
        with self._lock:
            now = self._clock()
            left, then = self._left.pop(caller, (float(self._burst), now))
            left = min(self._burst, left + (now - then) * self._rate)
            is_allowed = left >= 1
            self._left[caller] = (left - 1 if is_allowed else left, now)
            # Forget the caller with the oldest request, whose bucket is full again.
            while len(self._left) > _MOST_CALLERS:
                self._left.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / self._rate


def address_of(scope: Scope) -> str:
    """Return the address that a request comes from; empty if unknown."""
    return str((scope.get("client") or ("",))[0])


def _declared_length(scope: Scope) -> int:
    for key, value in scope["headers"]:
        # Ignore an impossible length: reading a million digits would take seconds.
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
