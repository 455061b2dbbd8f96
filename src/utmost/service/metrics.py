"""Counts and times of requests for Prometheus: by route, method and status, never by release or token."""

import time
from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST


class Metrics:
    """The metrics of one worker."""

    __slots__ = ("_registry", "_requests", "_seconds")

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "utmost_requests", "requests answered", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "utmost_request_seconds", "seconds to answer a request", ["route"], registry=self._registry
        )

    async def counted(self, request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        """Answer a request, and count it."""
        began = time.perf_counter()
        response = await call(request)
        route = getattr(request.scope.get("route"), "path", "none")
        self._requests.labels(route, request.method, str(response.status_code)).inc()
        self._seconds.labels(route).observe(time.perf_counter() - began)
        return response

    def text(self) -> tuple[bytes, str]:
        """All metrics, and the media type of the text."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
