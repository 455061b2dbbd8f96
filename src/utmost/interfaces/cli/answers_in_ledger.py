"""Options of `utmost respond` with which a ledger stores one answer for each person."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utmost.core.exact.written_levels import level_text
from utmost.errors import OutOfRange
from utmost.interfaces.cli.ledger_place import LedgerOptions, LedgerPlaceOptions
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.documents.answers import SavedMechanism


@dataclass(frozen=True, slots=True)
class AnswerLedgerOptions(LedgerOptions):
    """Options for a ledger that stores answers, and for the name of the mechanism in this ledger."""

    def __post_init__(self) -> None:
        for name in options.typed_options(self) if self.ledger is None else ():
            raise OutOfRange(
                f"{name} needs --ledger", came="none", remedy=f"Add --ledger answers.db, or leave out {name}."
            )

    def kept(self, saved: SavedMechanism, design: Path) -> "AnswersInLedger | None":
        """Return the mechanism, and where a ledger stores its answers; None without a ledger."""
        if self.ledger is None:
            return None
        return AnswersInLedger(
            saved=saved,
            place=self.place,
            name=self.name or design.stem,
            dataset=self.dataset,
            version=self.version,
            independent=self.independent,
        )


@dataclass(frozen=True, slots=True, eq=False)
class AnswersInLedger:
    """A mechanism, and the ledger that stores its answers under a name, dataset and version."""

    saved: SavedMechanism
    place: LedgerPlaceOptions
    name: str
    dataset: str | None
    version: int | None
    independent: bool

    def answers(self, persons: Mapping[str, str | None]) -> tuple[dict[str, str], int]:
        """Return an answer by person, and how many answers were stored before; `persons` maps persons to secrets."""
        self.saved.rows([text for text in persons.values() if text is not None])  # refuse wrong secrets first
        with self.place.opened() as ledger:
            return self.saved.answers_in_ledger(
                ledger,
                persons,
                name=self.name,
                dataset=self.dataset,
                version=self.version,
                independent=self.independent,
            )

    def facts(self) -> dict[str, Any]:
        """Return the name and version of the mechanism, and the level that all its released answers cost together."""
        with self.place.opened() as ledger:
            named = [mechanism for mechanism in ledger.mechanisms if mechanism.name == self.name]
            spent = ledger.spent(self.name) if named else None
        version = self.version or len(named)
        together = None if spent is None else level_text(spent)
        return {"name": self.name, "data_version": version, "together": together}
