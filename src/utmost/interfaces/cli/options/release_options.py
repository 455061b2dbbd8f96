"""What `utmost release` is told beside the table, family by family."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from utmost.interfaces.cli.ledger_place import Memory
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.people_options import People
from utmost.interfaces.cli.options.promise_options import Promised
from utmost.interfaces.cli.options.table_options import NumberSpelling, TableAnswer


@dataclass(frozen=True, slots=True)
class Once:
    """What there is only for noise that is drawn once and kept by nobody."""

    title: ClassVar[str] = "Without a ledger"

    cost: options.Cost = "absolute"
    relaxable: options.Relaxable = False
    together: Annotated[
        bool, flag("One individual changes the released cells of one row, and no other: less noise for them.")
    ] = False
    nonnegative: Annotated[
        bool, flag("With --together: one individual lowers no cell, as in counts. Less noise for three and more.")
    ] = False
    tables: Annotated[Path | None, option("DIR", "With --plan: a CSV file of each wanted table, with error bars.")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class Measures:
    """Several measures of the same people, each by its plan, that share the level."""

    title: ClassVar[str] = "Several measures at one level"

    measure: Annotated[
        list[str] | None,
        option(
            "NAME=PLAN", "Release this measure by this plan; one for each of --measures. All are released, or none."
        ),
    ] = None
    weight: Annotated[
        list[str] | None, option("NAME=NUMBER", "How much the error of a measure counts; 1 if left out.", "--weight")
    ] = None
    up_to: Annotated[str | None, option("NUMBER", "The largest epsilon they will ever be relaxed to.", "--up-to")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class Details:
    """Two stages: noisy sums of groups choose in how much detail each group is counted."""

    title: ClassVar[str] = "In two stages"

    group: Annotated[
        str | None, option("LEVEL", "Release the sums of this level first; they choose the --detail of each group.")
    ] = None
    detail: Annotated[
        list[str] | None,
        option("NAMES=NUMBER", "A breakdown, and the noisy sum from which on a group has it: 'age sex=500'."),
    ] = None
    first: Annotated[str, option("SHARE", "The share of the level that the sums of groups have.")] = "1/8"


@dataclass(frozen=True, slots=True)
class ReleaseMemory(Memory):
    """The ledger that keeps a release, and a name for the run."""

    request: Annotated[
        str | None,
        option("ID", "With --ledger: a name for this run. Run again under it, it gives the same bytes, and ends well."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """What is promised, at which level, who is counted, who remembers it, and where it goes."""

    title: ClassVar[str] = "What comes out"

    promised: Promised
    level: options.AskedLevel
    people: People
    measures: Measures
    details: Details
    once: Once
    memory: ReleaseMemory
    spelling: NumberSpelling
    answer: TableAnswer
    dry_run: options.DryRun = False
    yes: options.Yes = False

    @property
    def is_repeatable(self) -> bool:
        """Whether the file that is written may be there, as the answer of a request that is made again."""
        return self.memory.ledger is not None and self.memory.request is not None
