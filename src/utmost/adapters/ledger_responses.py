"""What the commands that answer from a ledger share: the question, and how an answer or a rehearsal is given."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utmost.adapters import files
from utmost.adapters.atomic import check_absent, write_together
from utmost.adapters.ledger_reports import answer_report, budget_report, plain
from utmost.adapters.reports import print_json
from utmost.exact import Level
from utmost.exact import level as level_of
from utmost.release.ledger import Budget, Ledger
from utmost.release.statement import level_facts


@dataclass(frozen=True, slots=True)
class Asked:
    """A release and a level, as they were named on the command line.

    Raises:
        NotALevel, NotANumber: for a level that is none; before any ledger is opened.
    """

    name: str
    version: int | None
    epsilon: str | None
    alpha: str | None
    confidence: str = "0.95"

    def __post_init__(self) -> None:
        level_of(self.epsilon, self.alpha)

    @property
    def at(self) -> Level:
        """The level."""
        return level_of(self.epsilon, self.alpha)

    @property
    def level(self) -> dict[str, Any]:
        """The level as the ledger's calls take it."""
        return {"epsilon": self.epsilon} if self.epsilon is not None else {"alpha": self.alpha}

    def rehearsed(self, ledger: Ledger, **more: Any) -> Budget:
        """What a call at this level would spend."""
        return ledger.rehearse(self.name, **self.level, version=self.version, **more)


def check_free(source: Path | None, out: Path | None) -> None:
    """Check, before anything is drawn, that the answer can be written.

    Raises:
        Unsupported: where the file exists, and for an ending of another kind than the table's.
    """
    if out is not None:
        files.check_same_kind(source or Path("columns.csv"), out)
        check_absent(out)


def show_spending(asked: Asked, after: Budget, *, as_json: bool) -> None:
    """Say what a call would spend; nothing was drawn or written."""
    _show(asked, budget_report(after), as_json=as_json, new=False)


def show_first_spending(asked: Asked, dataset: str, *, as_json: bool) -> None:
    """Say what a call would spend that makes the ledger."""
    after = {"dataset": dataset, "limit": None, "spent": plain(asked.at), "remaining": None}
    _show(asked, after, as_json=as_json, new=True)


def _show(asked: Asked, after: dict[str, Any], *, as_json: bool, new: bool) -> None:
    if as_json:
        facts = {"dry_run": True, "name": asked.name, **level_facts(asked.at)}
        return print_json(facts | {"after": after, "new_ledger": new})
    from utmost.adapters.screens.ledger import show_rehearsal

    show_rehearsal(after, asked.name, str(asked.at), new=new)


def give(ledger: Ledger, asked: Asked, table: Any, out: Path | None, *, as_json: bool) -> None:
    """Write the file, then print: JSON for programs, a screen for people."""
    from utmost.adapters.screens.progress import watched

    facts = answer_report(ledger, asked.name, asked.version, asked.at, asked.confidence)
    if out is not None:
        write_together({out: lambda file: files.write(table, file, out, watched)})
    if as_json:
        return print_json(facts if out is not None else facts | {"table": files.columns(table)})
    from utmost.adapters.screens.ledger import show_answer

    if out is None:
        files.write_text(table, sys.stdout.buffer)
        sys.stdout.flush()
    show_answer(facts, out)
