"""Quarantine: how a rolled-back ledger is found out, and what it takes to go on."""

import hmac
from collections.abc import Mapping
from hashlib import sha256

from utmost.errors import KeyRefused, OutOfRange, Quarantined
from utmost.exact import Level, Number, level
from utmost.ledger.book import Book, Page
from utmost.ledger.events import check_name
from utmost.ledger.key import Key
from utmost.ledger.state import State
from utmost.ledger.witness import RollbackLoss
from utmost.release.statements import level_text

_MEND = "Pass missing={dataset: epsilon}, or missing={} if it is certain that nothing was lost."


def receipt(key: Key, state: State) -> str:
    """A line that says how far the ledger had come: identity, number and mac of the last event, and a mac of these."""
    text = f"utmost-receipt:{state.identity}:{state.number}:{state.mac.hex()}"
    return f"{text}:{_signed(key, text)}"


def check_receipt(book: Book, line: str) -> None:
    """Find out whether a ledger still holds what it held; if not, it is in quarantine from now on.

    Raises:
        KeyRefused: for a receipt of another ledger, or none at all.
        Quarantined: where it does not.
    """
    text, _, signed = line.strip().rpartition(":") if isinstance(line, str) else ("", "", "")
    if not hmac.compare_digest(signed.encode(), _signed(book.key, text).encode()):
        raise KeyRefused("a receipt must be this ledger's, unchanged", where="receipt")
    _, _, number, mac = text.split(":")

    def work(page: Page) -> bool:
        if page.rows.mac(int(number)) == bytes.fromhex(mac):
            return True
        if page.state.quarantine is None:
            page.append("quarantined", {"reason": f"a receipt tells of {number} events that it does not hold"})
        return False

    if not book.write(work, quarantined=True):
        raise Quarantined("the ledger must hold what it held", came="an earlier or another state", where="receipt")


def resumed(book: Book, reason: str, missing: Mapping[str, Number | Level] | None) -> None:
    """Write the event that ends a quarantine, and let the witness start over.

    Raises:
        OutOfRange: where there is no quarantine, or nobody knows what is missing.
    """
    check_name(reason, "reason")
    said = {check_name(dataset, "dataset"): level(epsilon) for dataset, epsilon in (missing or {}).items()}

    def work(page: Page) -> None:
        if page.reason is None:
            raise OutOfRange("only a quarantine can be ended", came="a ledger that is in none", where="resume")
        known = book.loss(page)
        if known is None and missing is None:
            raise OutOfRange("somebody must know what is missing", came="no witness", where="resume", mend=_MEND)
        for dataset, limit in ({} if known is None else known.limits).items():
            page.append("budgeted", {"dataset": dataset, "limit": level_text(limit)})
        page.append("resumed", _facts(reason, page.state, known, said))

    book.write(work, quarantined=True, over=True)


def _facts(reason: str, state: State, known: RollbackLoss | None, said: Mapping[str, Level]) -> dict[str, object]:
    """Where no witness tells which releases lost something, all are closed; derived noise can only repeat itself."""
    missing = {} if known is None else {dataset: list(levels) for dataset, levels in known.missing.items()}
    for dataset, one in said.items():
        missing.setdefault(dataset, []).append(one)
    closed = () if state.is_derived else tuple(state.releases) if known is None else known.closed
    return {
        "reason": reason,
        "missing": {dataset: [level_text(one) for one in levels] for dataset, levels in missing.items()},
        "closed": [list(item) for item in closed],
    }


def _signed(key: Key, text: str) -> str:
    return hmac.digest(key.derived("receipt"), text.encode(), sha256).hex()
