"""The options of `utmost release`, in groups."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from utmost.interfaces.cli.ledger_place import LedgerOptions
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.people_options import PersonOptions
from utmost.interfaces.cli.options.promise_options import (
    ChangeOptions,
    ColumnOptions,
    EverydayNoiseOptions,
    LedgerNoiseOptions,
    NoiseOptions,
    PromiseFile,
    PromiseOptions,
    PromiseTexts,
    ReleasedColumnOptions,
    StopOptions,
    UnitOptions,
)
from utmost.interfaces.cli.options.table_options import NumberSpelling, TableAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayPromiseOptions:
    """Options for the promise: a file of `utmost promise`, or the options that most releases use."""

    title: ClassVar[str] = "Plans and promises"

    columns: ReleasedColumnOptions
    changed: ChangeOptions
    texts: PromiseTexts
    promise: PromiseFile = None
    noise: EverydayNoiseOptions
    stopping: StopOptions
    want: Annotated[
        list[str] | None,
        option("SUMS", 'Wanted tables, planned together: "region age", "sex=2" (weight 2), "" (total).'),
    ] = None

    @property
    def complete(self) -> PromiseOptions:
        """The same promise, as the group of all options that a promise can have."""
        return PromiseOptions(
            columns=options.widened(ColumnOptions, self.columns),
            protected=options.widened(UnitOptions, self.changed),
            texts=self.texts,
            promise=self.promise,
            noise=options.widened(NoiseOptions, self.noise),
            plane=options.PlanarOptions(),
            lasting=LedgerNoiseOptions(),
            stopping=self.stopping,
        )


MadeOnce = Literal["cells", "counts", "row", "row-counts", "one-way", "tables"]
"""Noise that is drawn once: "cells" or "counts" for all released cells (an individual changes them in any direction, or
only upwards); "row" or "row-counts" if an individual changes one row; all one-way tables; or the requested tables."""


@dataclass(frozen=True, slots=True)
class OnceOptions:
    """Options for noise that is drawn once, without a ledger."""

    title: ClassVar[str] = "Without a ledger"

    cost: options.CostName = "absolute"
    once: Annotated[
        MadeOnce | None,
        option(
            "WHAT",
            "Noise that is drawn once and never relaxed, for cells (one person raises or lowers them), counts (one "
            "person only raises them), row or row-counts (cells or counts of which one person changes only one row), "
            "one-way (all one-way tables) or tables (those of --want).",
        ),
    ] = None

    @property
    def is_of_rows(self) -> bool:
        """Whether one individual changes only the cells of one row."""
        return self.once in ("row", "row-counts")


@dataclass(frozen=True, slots=True)
class RepeatedReleaseOptions(LedgerOptions):
    """Options for the ledger that stores the releases of a repeated job."""

    new_values: Annotated[bool, flag("Refuse values that another release already has.")] = False


@dataclass(frozen=True, slots=True)
class ReleaseLedgerOptions(RepeatedReleaseOptions):
    """Options for the ledger that stores a release, and for a name of the run."""

    request: Annotated[
        str | None,
        option("ID", "Name of this run; another run with this name gives the same answer."),
    ] = None


def _take_recipe(context: Any, path: Path) -> None:
    from utmost.interfaces.cli.options.recipe_options import take_recipe

    take_recipe(context, path)


RecipeFile = Annotated[
    file_options.File | None,
    file_options.file_option("FILE", "Recipe that `utmost init` wrote.", first=_take_recipe),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """All options of a release: promise, level, counting, ledger and output."""

    title: ClassVar[str] = "Output"

    recipe: RecipeFile = None
    level: options.LevelOptions
    people: PersonOptions
    everyday: EverydayPromiseOptions
    once: OnceOptions
    memory: ReleaseLedgerOptions
    spelling: NumberSpelling
    answer: TableAnswer
    dry_run: options.DryRun = False
    yes: options.Yes = False

    promised: PromiseOptions = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "promised", self.everyday.complete)

    def check_free(self, table: Path, *, draws: bool) -> None:
        """Check, before any draw, that the answer can be written; if events are counted, TABLE may have any format."""
        self.answer.check_free(None if self.people.are_events else table, draws=draws)

    @property
    def counting(self) -> PersonOptions:
        """The options for counting events, with the neighbouring relation of the promise."""
        if not self.people.are_events:
            return self.people
        return replace(self.people, neighbours=self.people.neighbours or self.promised.neighbours)

    def counting_key(self) -> bytes | None:
        """Return the key that decides which cells of a person are counted; None without a ledger or persons."""
        if self.memory.ledger is None or self.people.person is None:
            return None
        return self.memory.place.counting_key()

    @property
    def is_repeatable(self) -> bool:
        """Whether the output file may exist already, because a ledger repeats its answers."""
        return self.memory.ledger is not None
