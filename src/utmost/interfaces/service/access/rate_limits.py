"""The checks before every request: its name, its size, how often it may come, how it is logged, and its headers."""

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
    """Every line of a log as JSON: the service's own as they are, those of others with when, what and whose.

    >>> record = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, "Started on %s", ("::1",), None)
    >>> sorted(json.loads(JsonLogFormatter().format(record)))
    ['level', 'logger', 'said', 'time']
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        if record.name == LOG.name:
            return record.getMessage()
        line = {"time": int(record.created), "level": record.levelname, "logger": record.name}
        line["said"] = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            line["broke"] = record.exc_info[0].__name__
        return json.dumps(line)


TOO_LARGE: Refusal = (413, "TooLarge", "The body is longer than this service takes.")
TOO_SLOW: Refusal = (408, "TooSlow", "The body did not come in time.")
TOO_MANY: Refusal = (503, "Busy", BUSY)
TOO_LONG: Refusal = (414, "TooLong", "The address is longer than this service takes.")

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
_LONGEST_ADDRESS = 1 << 16
_HELD = 2
"""The number of bodies of the largest size that may be in memory at once, or as much in smaller ones."""


def _no_one(route: str, method: str, status: int, seconds: float) -> None:
    """Count nothing."""


class Guards:
    """An application behind its guards.

    Each request gets a name of its own, which the log and the answer carry. A body beyond the limit is refused before
    it is read to its end, and so is one that takes too long to come, or that comes when too many others are in memory.
    Only where the application has let a longer body in, for somebody whom it knows, is it more than ``few_bytes``.
    Whoever asks too often is told when to come again.
    The log names the route, the token and the status: no path with a name in it, no query, no body, no header.

    Args:
        app: the application.
        most_bytes: the longest body.
        few_bytes: the longest body of somebody who brings no table.
        limits: Limits of each caller.
        patience: seconds within which the whole body must come.
        counted: told the route, method, status and seconds of each answer.

    Attributes:
        inside: the application.
    """

    def __init__(
        self,
        app: App,
        *,
        most_bytes: int,
        few_bytes: int,
        limits: "RateLimits",
        patience: float = 60.0,
        counted: CountRequest = _no_one,
    ) -> None:
        self.inside, self._most_bytes, self._few_bytes = app, most_bytes, min(few_bytes, most_bytes)
        self._limits, self._held = limits, Held(_HELD * most_bytes)
        self._patience, self._counted = patience, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self.inside(scope, receive, send)
        method = scope["method"]
        if method == "HEAD":  # answered as GET is, without the body
            scope = {**scope, "method": "GET"}
        name, began, sent, body = entropy(8).hex(), time.perf_counter(), {"status": 0}, self._body(receive)
        scope.setdefault("state", {}).update(request=name, body=body)
        routed(scope)

        async def answered(message: Message) -> None:
            if body.refusal is not None:  # whatever is made of half a body
                return
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                own = [(b"x-request-id", name.encode()), *_HEADERS]
                there = {key for key, _ in message.get("headers", [])}
                if b"cache-control" not in there:
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
            if _declared(scope) > self._most_bytes:
                return await _refuse(answered, *TOO_LARGE)
            try:
                await self.inside(scope, body.receive, answered)
            except Exception:
                if body.refusal is None:  # else it is what is made of half a body
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

    def _body(self, receive: Receive) -> "Body":
        until = time.monotonic() + self._patience
        return Body(receive, self._few_bytes, until, longer=self._most_bytes, held=self._held)


class Body:
    """The body of a request, which is cut off where it goes beyond the limit or does not come in time.

    Args:
        receive: gives the next message of the client.
        most: the longest body.
        until: Time by which it must be there, by the monotonic clock.
        longer: the longest body once `allow` was called; ``most`` if left out.
        held: counts what is in memory of all bodies.

    Attributes:
        refusal: status, name and words for a body that was cut off; None for one that was not.
    """

    def __init__(
        self, receive: Receive, most: int, until: float, *, longer: int | None = None, held: "Held | None" = None
    ) -> None:
        self._receive, self._most, self._until, self._is_whole = receive, most, until, False
        self._longer, self._held, self._came = most if longer is None else longer, held or Held(), 0
        self.refusal: Refusal | None = None

    def allow(self) -> None:
        """Let a longer body in: of somebody who may bring a table, where tables are brought."""
        self._most = self._longer

    def forget(self) -> None:
        """The body is no more in memory."""
        self._held.now -= self._came
        self._came = 0

    async def receive(self) -> Message:
        """The next message; the client is as good as gone where too much has come, or nothing for too long."""
        if self._is_whole:  # what is waited for now is that the client goes
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            return self._cut(TOO_SLOW)
        size = len(message.get("body", b""))
        # Counted before it is judged: what is forgotten later is what was counted.
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
class Held:
    """The number of bytes of bodies in memory, and the largest number.

    Attributes:
        most: Largest number of bytes.
        now: Number of bytes now.
    """

    most: float = math.inf
    now: int = 0


class RateLimits:
    """The rate of each caller: by the address, and by the token once it is verified, never by what is presented.

    People behind one proxy share an address, so it has ten times the turns of a token. Whoever presents what is no
    valid token has the turns of one, by the address.

    Args:
        rate, burst: requests a second for each token, and how many at once.
    """

    __slots__ = ("_addresses", "_strangers", "_tokens")

    def __init__(self, rate: float, burst: int) -> None:
        self._addresses = Turns(_MANY * rate, _MANY * burst)
        self._tokens, self._strangers = Turns(rate, burst), Turns(rate, burst)

    def wait(self, address: str) -> float:
        """0, and a turn less for an address; or the seconds until there is one."""
        return self._addresses.wait(address)

    def known(self, who: str) -> None:
        """Take a turn of whoever was verified.

        Raises:
            Refused: where there is none.
        """
        _take(self._tokens, who)

    def stranger(self, scope: Scope) -> None:
        """Take a turn of an address from which somebody comes who is not known.

        Raises:
            Refused: where there is none.
        """
        _take(self._strangers, address_of(scope))


def _take(turns: "Turns", caller: str) -> None:
    wait = turns.wait(caller)
    if wait > 0:
        raise too_often(wait)


class Turns:
    """The wait of each caller: a bucket of ``burst`` turns that fills at ``rate`` a second."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, caller: str) -> float:
        """0 and a turn less; or the seconds until there is one.

        >>> turns = Turns(2.0, 1, clock=lambda: 0.0)
        >>> turns.wait("a"), turns.wait("a"), turns.wait("b")
        (0.0, 0.5, 0.0)
        """
        with self._lock:
            now = self._clock()
            left, then = self._left.pop(caller, (float(self._burst), now))
            left = min(self._burst, left + (now - then) * self._rate)
            has_turn = left >= 1
            self._left[caller] = (left - 1 if has_turn else left, now)
            # Who was not seen for longest is forgotten: by then the bucket is full again.
            while len(self._left) > _MOST_CALLERS:
                self._left.popitem(last=False)
        return 0.0 if has_turn else (1 - left) / self._rate


def address_of(scope: Scope) -> str:
    """The address from which a request comes; empty where there is none."""
    return str((scope.get("client") or ("",))[0])


def _declared(scope: Scope) -> int:
    for key, value in scope["headers"]:
        # A length that no body has is none; reading a million digits of it would take seconds.
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
