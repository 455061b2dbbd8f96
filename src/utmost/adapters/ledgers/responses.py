"""What the commands that answer from a ledger share: the question, and how an answer or a rehearsal is given."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utmost.adapters import files, sidecar
from utmost.adapters.ledgers.reports import budget_report, response_report
from utmost.adapters.reports import print_json
from utmost.adapters.sidecar import Signer
from utmost.exact import Level
from utmost.exact import level as level_of
from utmost.noise.law import read_confidence
from utmost.release.ledger import Budget, Ledger
from utmost.release.statement import cells_digest, level_facts, level_text


@dataclass(frozen=True, slots=True)
class Asked:
    """A release and a level, as they were named on the command line.

    Raises:
        NotALevel, NotANumber, OutOfRange: for a level or a confidence that is none; before any ledger is opened.
    """

    name: str
    version: int | None
    epsilon: str | None
    alpha: str | None
    confidence: str = "0.95"

    def __post_init__(self) -> None:
        level_of(self.epsilon, self.alpha)
        read_confidence(self.confidence)

    @property
    def at(self) -> Level:
        """The level."""
        return level_of(self.epsilon, self.alpha)


def check_free(source: Path | None, out: Path | None, sign: Path | None = None) -> None:
    """Check, before anything is drawn, that the answer and its statement can be written.

    Raises:
        Unsupported: where one of the files exists, and for an ending of another kind than the table's.
    """
    sidecar.check_free(source or Path("columns.csv"), out, sign)


def show_spending(asked: Asked, after: Budget, *, as_json: bool) -> None:
    """Say what a call would spend; nothing was drawn or written."""
    _show(asked, budget_report(after), as_json=as_json, new=False)


def show_first_spending(asked: Asked, dataset: str, *, as_json: bool) -> None:
    """Say what a call would spend that makes the ledger."""
    after = {"dataset": dataset, "limit": None, "spent": level_text(asked.at), "remaining": None}
    _show(asked, after, as_json=as_json, new=True)


def _show(asked: Asked, after: dict[str, Any], *, as_json: bool, new: bool) -> None:
    if as_json:
        facts = {"dry_run": True, "name": asked.name, **level_facts(asked.at)}
        return print_json(facts | {"after": after, "new_ledger": new})
    from utmost.adapters.screens.ledger import show_rehearsal

    show_rehearsal(after, asked.name, level_text(asked.at), new=new)


def give(
    ledger: Ledger, asked: Asked, table: Any, out: Path | None, *, as_json: bool, signer: Signer | None = None
) -> None:
    """Write the table and its statement, then print: JSON for programs, a screen for people."""
    from utmost.adapters.screens.progress import watched

    versions = [one for one in ledger.releases if one.name == asked.name]
    release = next(one for one in reversed(versions) if asked.version in (None, one.version))
    public = [name for name in files.head(table, 0)[0] if name not in release.columns]

    def report(digest: dict[str, str]) -> dict[str, Any]:
        return response_report(ledger, release, asked.at, asked.confidence, public, digest)

    said = report(cells_digest(table)) if out is None else sidecar.publish(table, report, out, watched, signer)
    if as_json:
        return print_json(said if out is not None else {"statement": said, "table": files.columns(table)})
    from utmost.adapters.screens.ledger import show_answer

    if out is None:
        files.write_text(table, sys.stdout.buffer)
        sys.stdout.flush()
    show_answer(said, out)
