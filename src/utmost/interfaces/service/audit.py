"""The questions of auditors and admins to a service: budgets, history, verification, receipts, and the trail."""

from collections.abc import Iterator
from typing import Any

from utmost.core.exact.levels import Level
from utmost.errors import KeyRefused, OutOfRange
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.records import Records
from utmost.interfaces.service.service_context import ServiceContext
from utmost.interfaces.service.trail import A_PAGE, check_lines
from utmost.publish.ledger.events import Event
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.verification import Status, Verification


def _by_release(declared: dict[str, Any]) -> tuple[str, int, str]:
    return declared["release"], declared["version"], declared["declared_by"]


class Audit:
    """The ledger's own accounts, each for a token.

    Args:
        context: Records, names and time of the service.
        ledger: Ledger that is audited.
    """

    __slots__ = ("_context", "_ledger")

    def __init__(self, context: ServiceContext, ledger: Ledger) -> None:
        self._context, self._ledger = context, ledger

    def budget(self, token: Token, dataset: str) -> Budget:
        """The budget of a dataset."""
        token.check_any("budgets", "history")
        return self._ledger.budget(dataset)

    def limit(self, token: Token, dataset: str, limit: Level) -> Budget:
        """The budget of a dataset, after setting its limit; setting the same again changes nothing."""
        token.check("budgets")
        budget = self._ledger.budget(dataset, limit)
        self._context.records.write(lambda store: self._context.trail(store, token, "limit", dataset=dataset))
        return budget

    def charge(self, token: Token, dataset: str, spent: Level, what: str, *, independent: bool) -> Budget:
        """The budget of a dataset, after charging what another tool spent; the same charge again changes nothing."""
        token.check("budgets")
        budget = self._ledger.charge(dataset, epsilon=spent, what=what, independent=independent)
        self._context.records.write(lambda store: self._context.trail(store, token, "charge", dataset=dataset))
        return budget

    def is_unused(self, token: Token, dataset: str) -> bool:
        """Whether no release names a dataset: its limit waits for one, or its name was misspelt."""
        token.check_any("budgets", "history")
        return dataset not in {release.dataset for release in self._ledger.releases}

    def history(self, token: Token, name: str | None = None) -> tuple[Event, ...]:
        """The events of the ledger: all of them, or those of a release."""
        token.check("history", name)
        return self._ledger.history(name)

    def status(self, token: Token) -> Status:
        """The place of the ledger, its content, and whether anything new may be published."""
        token.check("verify")
        return self._ledger.status()

    def apart(self, token: Token) -> list[dict[str, Any]]:
        """The releases whose individuals were declared to be in no other dataset, and were compared with none.

        Each with its dataset, who declared it, and the other datasets: if somebody is in two, what they spend adds up,
        and no budget says so. By names alone: nothing here depends on a value.
        """
        token.check("verify")
        there = {(release.name, release.version): release.dataset for release in self._ledger.releases}
        records = [record for _, record in self._context.records.read(lambda store: store.all("apart"))]
        datasets = sorted(set(there.values()))
        current = {
            _by_release(record): record
            for record in records
            if there.get((record["release"], record["version"])) == record["dataset"]
        }
        return [
            record | {"others": [other for other in datasets if other != record["dataset"]]}
            for _, record in sorted(current.items())
        ]

    def lines(self, token: Token) -> Iterator[dict[str, Any]]:
        """The whole trail, oldest first, each line with its name: what is exported."""
        token.check("trail")
        return lines_of(self._context.records)

    def check_trail(self, token: Token) -> int:
        """The number of lines of the trail, each of which follows from those before it.

        Raises:
            LedgerDamaged: naming the first that does not.
        """
        token.check("verify")
        return check_lines(lines_of(self._context.records))[0]

    def refused(self, token: Token, request: str, why: str) -> None:
        """Write down that a token was refused something: once a day for each request and reason."""
        self._context.trail_once_a_day(token, "refused", request=request, why=why)

    def verify(self, token: Token) -> Verification:
        """Recompute everything in the ledger."""
        token.check("verify")
        return self._ledger.verify()

    def receipt(self, token: Token) -> str:
        """A line of text about the ledger as it is now, to keep elsewhere; it holds no secret."""
        token.check_any("history", "verify")
        return self._ledger.receipt()

    def check_receipt(self, token: Token, receipt: str) -> None:
        """Check that the ledger still holds what it held when a receipt was given.

        Raises:
            OutOfRange: for a receipt of another ledger, or none at all.
            Quarantined: where the ledger does not hold it any more.
        """
        token.check("verify")
        try:
            self._ledger.check(receipt)
        except KeyRefused as error:  # the service's own key is sound; what came is no receipt of this ledger
            raise OutOfRange(error.required, where="receipt") from None

    def trail(self, token: Token, after: str = "", most: int = 1000) -> list[tuple[str, dict[str, Any]]]:
        """The trail of the service, oldest first: who, when, what; no value."""
        token.check("trail")
        return self._context.records.read(lambda store: store.all("trail", after, most))


def lines_of(records: Records) -> Iterator[dict[str, Any]]:
    """The whole trail among some records, oldest first, each line with its name."""

    def following(after: str) -> list[tuple[str, dict[str, Any]]]:
        return records.read(lambda store: store.all("trail", after, A_PAGE))

    page = following("")
    while page:
        yield from ({"name": name, **line} for name, line in page)
        page = following(page[-1][0])
