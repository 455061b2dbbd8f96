"""Give many people access to one ledger, each by a token; the HTTP API and the pages call these methods."""

import time
from collections.abc import Callable

from utmost.core.exact.arguments import instance, integer, truth
from utmost.errors import KeyRefused, Quarantined
from utmost.interfaces.service.access.bearers import Bearers
from utmost.interfaces.service.access.sessions import Sessions
from utmost.interfaces.service.audit import Audit
from utmost.interfaces.service.pending_queue import PendingQueue
from utmost.interfaces.service.proposals import Proposals
from utmost.interfaces.service.records import Records
from utmost.interfaces.service.service_context import ServiceContext, newest_receipt, put_receipt
from utmost.interfaces.service.token_releases import Releases
from utmost.publish.ledger.ledger import Ledger

PURPOSE = "service records"
"""Purpose of the derived key for the records, see `Ledger.beside`."""


class Service:
    """Gives many people access to a ledger, each by a token.

    Every action checks its token first; a refusal does not depend on whether the requested thing exists.

    Args:
        ledger: Ledger that the service gives access to.
        approvals: Whether a second person must approve what cannot be undone.
        most_levels: Number of new levels of a release that a recipient may make.
        clock: Function that returns seconds since 1970.

    Attributes:
        bearers, sessions, releases, proposals, audit, waiting: The actions, grouped by subject.

    >>> from utmost import Unit
    >>> from tempfile import TemporaryDirectory
    >>> from utmost.exact import level
    >>> from utmost.service import Grant
    >>> from utmost.ledger import PublishRequest
    >>> from utmost.promises import Promise
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
    ...     service = Service(ledger, approvals=False)
    ...     curator, _ = service.bearers.make(None, "first", "Ada", "curator", (Grant("*"),))
    ...     reader, _ = service.bearers.make(None, "second", "Bo", "recipient", (Grant("admissions", level("1/2")),))
    ...     promise = Promise("admitted", unit=Unit(1, 1))
    ...     request = PublishRequest("admissions", promise, level(1), "admissions", None, None, independent=False)
    ...     tables = {"admissions": {"admitted": [601, 370]}}
    ...     answer = service.releases.publish_measures(curator, "k", [request], tables, {})
    ...     service.releases.view(reader, "admissions", level("1/2")).margin
    6
    """

    __slots__ = ("audit", "bearers", "context", "ledger", "proposals", "releases", "sessions", "waiting")

    def __init__(
        self, ledger: Ledger, *, approvals: bool = True, most_levels: int = 64, clock: Callable[[], float] = time.time
    ) -> None:
        records = Records(*instance(ledger, Ledger, "ledger").beside(PURPOSE))
        self.ledger, self.context = ledger, ServiceContext(records, ledger.beside("service names")[1], clock)
        self.bearers = Bearers(self.context)
        self.sessions = Sessions(self.context, self.bearers)
        self.proposals = Proposals(self.context, ledger, required=truth(approvals, "approvals"))
        self.releases = Releases(self.context, ledger, self.proposals, integer(most_levels, "most_levels"))
        self.audit = Audit(self.context, ledger)
        self.waiting = PendingQueue(self.context)

    def check_newest_receipt(self) -> None:
        """Check that the ledger has all events of the newest receipt; otherwise it goes into quarantine, once."""
        # The witness shows nothing if it was replaced together with the ledger by older copies.
        receipt = self.context.records.read(newest_receipt)
        if receipt is None:
            return
        try:
            self.ledger.check(receipt)
        except (KeyRefused, Quarantined):  # of another ledger with this key; or events were lost
            held = self.ledger.receipt()
            self.context.records.write(lambda store: put_receipt(store, held, only_newer=False))

    def is_ready(self) -> bool:
        """Check that the stores of the records and of the ledger respond."""
        self.bearers.any()
        self.ledger.status()
        return True

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def __repr__(self) -> str:
        return f"Service({self.context.records.place!r})"
