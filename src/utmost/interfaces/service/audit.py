"""Methods for auditors and admins: budgets, history, verification, receipts, and the trail."""

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


class Audit:
    """Budgets, history and verification of a ledger; each method checks the rights of a token."""

    __slots__ = ("_context", "_ledger")

    def __init__(self, context: ServiceContext, ledger: Ledger) -> None:
        self._context, self._ledger = context, ledger

    def budget(self, token: Token, dataset: str) -> Budget:
        token.check_any("budgets", "history")
        return self._ledger.budget(dataset)

    def limit(self, token: Token, dataset: str, limit: Level) -> Budget:
        """Set the limit of a dataset, and return its budget; setting the same limit again changes nothing."""
        token.check("budgets")
        budget = self._ledger.budget(dataset, limit)
        self._context.records.write(lambda store: self._context.trail(store, token, "limit", dataset=dataset))
        return budget

    def charge(self, token: Token, dataset: str, spent: Level, what: str, *, independent: bool) -> Budget:
        """Charge a level that another tool spent, and return the budget; the same charge again changes nothing."""
        token.check("budgets")
        budget = self._ledger.charge(dataset, epsilon=spent, what=what, independent=independent)
        self._context.records.write(lambda store: self._context.trail(store, token, "charge", dataset=dataset))
        return budget

    def is_unused(self, token: Token, dataset: str) -> bool:
        """Check whether no release uses a dataset, whose name may then be misspelt."""
        token.check_any("budgets", "history")
        return dataset not in {release.dataset for release in self._ledger.releases}

    def history(self, token: Token, name: str | None = None) -> tuple[Event, ...]:
        """Return the events of a release; None stands for all events of the ledger."""
        token.check("history", name)
        return self._ledger.history(name)

    def status(self, token: Token) -> Status:
        """Return the size and budgets of the ledger, and whether new answers are possible."""
        token.check("verify")
        return self._ledger.status()

    def separate_datasets(self, token: Token) -> list[dict[str, Any]]:
        """Return the releases whose individuals were declared, without a comparison, to be in no other dataset."""
        # Each release has its dataset, the person who declared this, and the other datasets. If an individual is in two
        # datasets, the levels add up, and no budget shows it. The list has only names, and depends on no cell.
        token.check("verify")
        dataset_of = {(release.name, release.version): release.dataset for release in self._ledger.releases}
        records = [record for _, record in self._context.records.read(lambda store: store.all("separate"))]
        datasets = sorted(set(dataset_of.values()))
        current = {
            (record["release"], record["version"], record["declared_by"]): record
            for record in records
            if dataset_of.get((record["release"], record["version"])) == record["dataset"]
        }
        return [
            record | {"others": [other for other in datasets if other != record["dataset"]]}
            for _, record in sorted(current.items())
        ]

    def lines(self, token: Token) -> Iterator[dict[str, Any]]:
        """Return all lines of the trail for export, oldest first, each with its name."""
        token.check("trail")
        return lines_of(self._context.records)

    def check_trail(self, token: Token) -> int:
        """Return the number of lines of the trail, after checking that each follows from the lines before it."""
        token.check("verify")
        return check_lines(lines_of(self._context.records))[0]

    def refused(self, token: Token, request: str, why: str) -> None:
        """Record a refusal in the trail, once a day for each token, request and reason."""
        self._context.trail_once_a_day(token, "refused", request=request, why=why)

    def verify(self, token: Token) -> Verification:
        token.check("verify")
        return self._ledger.verify()

    def receipt(self, token: Token) -> str:
        """Return a receipt: a line of text about the present ledger, without secrets."""
        token.check_any("history", "verify")
        return self._ledger.receipt()

    def check_receipt(self, token: Token, receipt: str) -> None:
        """Check that the ledger still has all events of a receipt; otherwise the ledger goes into quarantine."""
        token.check("verify")
        try:
            self._ledger.check(receipt)
        except KeyRefused as error:  # the key is right, so the text is no receipt of this ledger
            raise OutOfRange(error.required, where="receipt") from None

    def trail(self, token: Token, after: str = "", most: int = 1000) -> list[tuple[str, dict[str, Any]]]:
        """Return the trail of the service, oldest first: who did what and when, without confidential values."""
        token.check("trail")
        return self._context.records.read(lambda store: store.all("trail", after, most))


def lines_of(records: Records) -> Iterator[dict[str, Any]]:
    """Yield all lines of the trail in a store of records, oldest first, each with its name."""

    def following(after: str) -> list[tuple[str, dict[str, Any]]]:
        return records.read(lambda store: store.all("trail", after, A_PAGE))

    page = following("")
    while page:
        yield from ({"name": name, **line} for name, line in page)
        page = following(page[-1][0])
