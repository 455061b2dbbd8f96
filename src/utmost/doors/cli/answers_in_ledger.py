"""The options of `utmost respond` by which a ledger keeps one answer for each person."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from utmost.doors.cli import options
from utmost.doors.cli.ledger_place import Place
from utmost.doors.documents.answers import SavedMechanism
from utmost.errors import OutOfRange
from utmost.laws.exact.written_levels import level_text

InLedger = Annotated[
    str | None,
    typer.Option("--ledger", metavar="PLACE", help="With --id: keep one answer for each person here, and repeat it."),
]
Create = Annotated[
    bool, typer.Option("--create", help="With --ledger: make the ledger where there is none, with its key and witness.")
]
Name = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", help="With --ledger: under which the answers are kept; else DESIGN's name."),
]
Dataset = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="With --ledger: the dataset whose budget is charged.")
]
Independent = Annotated[
    bool, typer.Option("--independent", help="With --ledger: a dataset without a limit is meant, beside one with.")
]
NewVersion = Annotated[
    int | None,
    typer.Option("--data-version", metavar="N", help="With --ledger: 2, 3, ... asks everybody anew; it adds up."),
]


@dataclass(frozen=True, slots=True)
class AnswersLedger:
    """Where answers are kept, and under which name.

    Raises:
        OutOfRange: for an option that needs --ledger.
    """

    ledger: InLedger = None
    create: Create = False
    name: Name = None
    dataset: Dataset = None
    independent: Independent = False
    version: NewVersion = None
    key_file: options.KeyFile = None
    witness: options.WitnessFile = None

    def __post_init__(self) -> None:
        for field in fields(self):
            if self.ledger is None and getattr(self, field.name) != field.default:
                named = {"version": "data-version"}.get(field.name, field.name.replace("_", "-"))
                raise OutOfRange("it needs --ledger", came="none", where=f"--{named}")

    def kept(self, saved: SavedMechanism, design: Path) -> "KeptAnswers | None":
        """Answers that the ledger keeps; None where none is named."""
        if self.ledger is None:
            return None
        under = {"name": self.name or design.stem, "dataset": self.dataset, "version": self.version}
        place = Place(self.ledger, self.key_file, self.witness)
        return KeptAnswers(saved, place, self.create, under | {"independent": self.independent})


@dataclass(frozen=True, slots=True, eq=False)
class KeptAnswers:
    """A mechanism whose answers a ledger keeps.

    Attributes:
        saved: the mechanism.
        place: of the ledger.
        create: whether it may be made.
        under: name, dataset, version and independent.
    """

    saved: SavedMechanism
    place: Place
    create: bool
    under: dict[str, Any]

    def answers(self, persons: Mapping[str, str | None]) -> tuple[dict[str, str], int]:
        """One answer for each person, and how many of them were there before."""
        self.saved.rows([text for text in persons.values() if text is not None])  # before a ledger is made
        with self.place.opened(create=self.create) as ledger:
            return self.saved.keep(ledger, persons, **self.under)

    def facts(self) -> dict[str, Any]:
        """Under which name and version the answers are kept, and what all that are kept under the name cost."""
        with self.place.opened() as ledger:
            kept = [mechanism for mechanism in ledger.mechanisms if mechanism.name == self.under["name"]]
            spent = ledger.spent(self.under["name"]) if kept else None
        version = self.under["version"] or len(kept)
        together = None if spent is None else level_text(spent)
        return {"name": self.under["name"], "data_version": version, "together": together}
