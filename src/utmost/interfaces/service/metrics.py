"""Metrics of requests for Prometheus: counts and times by route, method and status, never by release or token."""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

_METHODS = frozenset({"GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH"})
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder that the workers of a service share for their counts."""


class Metrics:
    """Counts and times the requests of a service, over all workers that share a folder."""

    __slots__ = ("_registry", "_requests", "_seconds")

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "utmost_requests", "requests answered", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "utmost_request_seconds", "seconds to answer a request", ["route"], registry=self._registry
        )

    def counted(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request; all methods outside a fixed list count as "other"."""
        named = method if method in _METHODS else "other"
        self._requests.labels(route, named, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> tuple[bytes, str]:
        """Return all metrics, and their media type."""
        registry = self._registry
        if FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        return generate_latest(registry), CONTENT_TYPE_LATEST
