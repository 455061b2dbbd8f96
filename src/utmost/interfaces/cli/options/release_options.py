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
    TOGETHER_HELP,
    Changed,
    Changes,
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


InOneDraw = Literal["cells", "counts", "one-way"]
"""All released cells, whichever way one individual moves them; the same where nobody lowers one; all one-way tables."""


@dataclass(frozen=True, slots=True)
class Once:
    """Options that exist only for noise that is drawn once and kept by nobody."""

    title: ClassVar[str] = "Without a ledger"

    cost: options.CostName = "absolute"
    together: Annotated[Changes | None, option("CHANGES", TOGETHER_HELP)] = None
    once: Annotated[
        InOneDraw | None,
        option("WHAT", "All in one draw, never relaxed: cells (up or down), counts (same way), or one-way tables."),
    ] = None
    total_share: Annotated[
        str | None, option("NUMBER", "Part of epsilon for a total of its own, with --once; utmost plan says which.")
    ] = None


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
