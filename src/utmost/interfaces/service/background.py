"""Run a service in this process, for a notebook or a test, by a web server in a thread."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from utmost.core.exact.arguments import instance, integer
from utmost.errors import LedgerUnavailable, OutOfRange
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.settings import Settings

if TYPE_CHECKING:
    from utmost.interfaces.service.access.rate_limits import Guards

_PATIENCE = 30.0


def application(service: Service, settings: Settings | None = None) -> "Guards":
    """Return the ASGI application of a service, for an ASGI server that the caller runs.

    Args:
        service: Service whose requests the application answers; the caller closes its ledger.
        settings: Limits of requests, and the OpenID provider; by default `Settings()`.

    >>> from tempfile import mkdtemp
    >>> from utmost.ledger import Ledger
    >>> with Ledger.open(f"{mkdtemp()}/l.db", create=True, key=bytes(32), witness=False) as ledger:
    ...     callable(application(Service(ledger)))
    True
    """
    from utmost.interfaces.service import app

    return app.application(instance(service, Service, "service"), settings)


@contextmanager
def served(service: Service, settings: Settings | None = None, port: int = 0) -> Iterator[str]:
    """Run a web server for a service while the `with` block runs; the block gets the server's address.

    Args:
        service: Service to run; the caller closes its ledger.
        settings: Limits of requests; by default `Settings()`.
        port: Port of 127.0.0.1; a free one if left out.

    Raises:
        LedgerUnavailable: if the server does not start.
    """
    import uvicorn

    number = integer(port, "port")
    if not 0 <= number < 1 << 16:
        raise OutOfRange("port must be below 65536", came=port)
    config = uvicorn.Config(
        application(service, settings),
        host="127.0.0.1",
        port=number,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=settings is not None and settings.behind_proxy,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    last = time.monotonic() + _PATIENCE
    while not server.started:
        if not thread.is_alive() or time.monotonic() > last:
            raise LedgerUnavailable("the server must start", came=f"no answer on port {port}", where="service")
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
