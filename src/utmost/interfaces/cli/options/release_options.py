"""The options of `utmost release` beside the table, family by family."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from utmost.interfaces.cli.ledger_place import LedgerOptions
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.options.people_options import PersonOptions
from utmost.interfaces.cli.options.promise_options import (
    Changed,
    ColumnOptions,
    LastingNoise,
    Promised,
    PromisedNoise,
    PromiseFile,
    PromiseTexts,
    Protected,
    ReleasedColumnOptions,
    ReleasedNoise,
    StopRule,
)
from utmost.interfaces.cli.options.table_options import NumberSpelling, TableAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPromise:
    """The promise: in a file that `utmost promise` wrote, or by the options that are needed every day."""

    title: ClassVar[str] = "Plans and promises"

    columns: ReleasedColumnOptions
    changed: Changed
    texts: PromiseTexts
    promise: PromiseFile = None
    noise: ReleasedNoise
    stopping: StopRule
    want: Annotated[
        list[str] | None,
        option("SUMS", 'Tables wanted, of one plan: "region age", "sex=2" (weight 2), "" (total).'),
    ] = None

    @property
    def whole(self) -> Promised:
        """These options with all that a promise may say."""
        return Promised(
            columns=options.widened(ColumnOptions, self.columns),
            protected=options.widened(Protected, self.changed),
            texts=self.texts,
            promise=self.promise,
            noise=options.widened(PromisedNoise, self.noise),
            plane=options.Plane(),
            lasting=LastingNoise(),
            stopping=self.stopping,
        )


MadeOnce = Literal["cells", "counts", "row", "row-counts", "one-way", "tables"]
"""The noise that is made once: of all released cells, whichever way one individual moves them, or where nobody lowers
one; of columns where one individual changes one row, likewise; of all one-way tables; the least for wanted tables."""


@dataclass(frozen=True, slots=True)
class Once:
    """Options that exist only for noise that is drawn once and kept by nobody."""

    title: ClassVar[str] = "Without a ledger"

    cost: options.CostName = "absolute"
    once: Annotated[
        MadeOnce | None,
        option(
            "WHAT",
            "Noise made once, never relaxed: cells in one draw (one person moves them up or down), counts (the same "
            "way), row or row-counts (of one row only), one-way tables, or the least for the tables of --want.",
        ),
    ] = None

    @property
    def is_of_rows(self) -> bool:
        """Whether one individual changes the cells of one row, and no other."""
        return self.once in ("row", "row-counts")


@dataclass(frozen=True, slots=True)
class ReleaseMemory(LedgerOptions):
    """The ledger that keeps a release, and a name for the run."""

    request: Annotated[
        str | None,
        option("ID", "Name of this run; a re-run writes the same."),
    ] = None


def _take_recipe(context: Any, path: Path) -> None:
    from utmost.interfaces.cli.options.recipe_options import take_recipe

    take_recipe(context, path)


RecipeFile = Annotated[
    file_options.File | None,
    file_options.file_option("FILE", "Recipe of `utmost init`, in place of these options.", first=_take_recipe),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """The promise, the level, the counting, the memory and the destination of a release."""

    title: ClassVar[str] = "Output"

    recipe: RecipeFile = None
    level: options.AskedLevel
    people: PersonOptions
    asked: AskedPromise
    once: Once
    memory: ReleaseMemory
    spelling: NumberSpelling
    answer: TableAnswer
    dry_run: options.DryRun = False
    yes: options.Yes = False

    promised: Promised = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "promised", self.asked.whole)

    @property
    def neighbours(self) -> str:
        """The relation between neighbours under which events are counted."""
        return self.people.neighbours or self.promised.neighbours

    @property
    def count_key(self) -> Path | None:
        """The file with the counting key, where the ledger's key is in a secret file."""
        return self.memory.secret_file

    @property
    def is_repeatable(self) -> bool:
        """Whether the file that is written may be there, as the answer of a request that is made again."""
        return self.memory.ledger is not None and self.memory.request is not None
