"""Options that several commands share, written once: one by one, and in families that are read together."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utmost.doors.cli.file_options import file_of
from utmost.errors import LittleProtection, NotALevel, OutOfRange, RowsObserved

if TYPE_CHECKING:
    from utmost.laws.exact import Level

Epsilon = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The privacy level: 1, 0.5 or 1/2. This or --alpha; no default.")
]
Alpha = Annotated[str | None, typer.Option(metavar="NUMBER", help="The privacy level as alpha = exp(-epsilon).")]
Sensitivity = Annotated[
    str, typer.Option(metavar="NUMBER", help="The most by which one individual changes one cell: 1 for a count.")
]
Cells = Annotated[
    int,
    typer.Option(metavar="N", help="How many of the released cells one individual changes, over all released columns."),
]
Cost = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What an error costs: absolute, squared, moment:3 for its cube, or a .csv file of sizes and costs.",
    ),
]
Numbers = Annotated[str, typer.Option(metavar="NAME", help="Where the numbers live: integers or reals.")]
Neighbours = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="add-remove: one individual more or less. change-one: one record replaced, charged twice."
    ),
]
Relaxable = Annotated[
    bool, typer.Option("--relaxable", help="Use noise that can later be relaxed to a larger epsilon without loss.")
]
Confidence = Annotated[str, typer.Option(metavar="NUMBER", help="How surely an error bar must hold.")]
Prior = Annotated[
    str,
    typer.Option(
        metavar="PRIOR",
        help="What is believed before: a .csv file of probabilities, or uniform, binomial:0.3 or poisson:4.",
    ),
]
Loss = Annotated[
    str,
    typer.Option(
        metavar="LOSS",
        help="What an answer costs: absolute, squared, binary, power:1.5, asymmetric:OVER,UNDER, thresholded:T, "
        "capped:LIMIT, or a .csv file with a row for each secret and a column for each answer.",
    ),
]
SpaceSpec = Annotated[
    str | None, typer.Option("--space", metavar="SPEC", help="The secrets as text, such as grid:4x4 or cycle:7.")
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw into this .svg, .png or .pdf, too (needs utmost[plot])."),
]
Sign = Annotated[
    Path | None,
    typer.Option(
        metavar="KEYFILE", exists=True, dir_okay=False, help="Sign the statement with this Ed25519 key (needs --out)."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Go on at a level that protects practically nobody.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LedgerPlace = Annotated[
    str,
    typer.Option(
        "--ledger",
        metavar="PLACE",
        envvar="UTMOST_LEDGER",
        help="The ledger: an SQLite file, or postgresql://HOST/DATABASE without a password.",
    ),
]
LedgerName = Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the release in the ledger.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The file that holds the ledger's key; else UTMOST_LEDGER_KEY_FILE, or PLACE.key beside an SQLite ledger.",
    ),
]
WitnessFile = Annotated[
    Path | None,
    typer.Option(
        "--witness",
        metavar="FILE",
        help="The witness file; else PLACE.witness beside an SQLite ledger, or a file beside the key.",
    ),
]
DataVersion = Annotated[
    int | None, typer.Option("--data-version", metavar="N", help="Which version of the data; the newest if left out.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything, show what would be spent, draw and write nothing.")
]


@dataclass(frozen=True, slots=True)
class AskedLevel:
    """The level: one of two options, and never assumed."""

    epsilon: Epsilon = None
    alpha: Alpha = None

    @property
    def is_given(self) -> bool:
        """Whether either was given."""
        return self.epsilon is not None or self.alpha is not None

    def read(self) -> "Level":
        """The level.

        Raises:
            NotALevel: for none or both of them, and what is no level.
        """
        from utmost.laws.exact import level

        return level(*self._one())

    def per_unit(self, unit: str | None) -> "Level":
        """The level of one unit of distance, where it may be stated for another distance: "1 per 200 m".

        Raises:
            NotALevel: as for `read`. OutOfRange: for a distance in other units.
        """
        from utmost.design.spaces import level_per

        return level_per(*self._one(), unit=unit)

    def _one(self) -> tuple[str | None, str | None]:
        if (self.epsilon is None) == (self.alpha is None):
            came = "both" if self.is_given else "neither"
            raise NotALevel("exactly one of --epsilon and --alpha must be given", came=came)
        return self.epsilon, self.alpha


@dataclass(frozen=True, slots=True)
class Plane:
    """Columns that are the coordinates of one point, released together."""

    planar: Annotated[
        bool,
        typer.Option(
            "--planar",
            help="The columns are coordinates of a point; the level is for each --per of Euclidean distance.",
        ),
    ] = False
    per: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="With --planar: the distance that the level is for; 1 if left out."),
    ] = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a result goes that is data: to people, to a program, to a file.

    Raises:
        OutOfRange: for a file of another ending.
        Unsupported: where the file is there already.
    """

    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result here as JSON; - for standard output.")
    ] = None
    as_json: AsJson = False

    def __post_init__(self) -> None:
        from utmost.publish.tables.atomic import check_absent

        if self.file is not None:
            if self.file.suffix.lower() != ".json":
                raise OutOfRange("the result is written as .json", came=self.file.name, where="--out")
            check_absent(self.file)

    @property
    def file(self) -> Path | None:
        """The file to write, if any."""
        return file_of(self.out)

    def give(self, report: Any, show: Callable[[], object], document: Any = None) -> None:
        """Write the result as JSON where that was asked for, and print it: as JSON, or as ``show`` does.

        Args:
            report: what programs are told.
            show: tells people.
            document: what ``--out`` writes, where that can be read back; else the report.
        """
        from utmost.doors.documents.reports import print_json
        from utmost.publish.statements.codec import write
        from utmost.publish.tables.atomic import write_together

        written = report if document is None else document
        if self.file is not None:
            write_together({self.file: lambda file: write(written, file)})
        if self.as_json:
            print_json(report)
        elif self.out is not None and self.file is None:
            print_json(written)
        else:
            show()


def with_families(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: where a parameter is a family of options, these stand in its place."""
    asked = inspect.signature(command)
    families: dict[str, Any] = {
        name: one.annotation for name, one in asked.parameters.items() if is_dataclass(one.annotation)
    }
    spread: list[inspect.Parameter] = []
    for name, one in asked.parameters.items():
        own = inspect.signature(families[name]).parameters.values() if name in families else [one]
        spread += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own]

    def call(**given: Any) -> None:
        read = {
            name: family(**{option.name: given.pop(option.name) for option in fields(family)})
            for name, family in families.items()
        }
        command(**given, **read)

    call.__doc__, call.__name__ = command.__doc__, command.__name__
    # Typer reads the options from it; a function's type does not declare it.
    call.__signature__ = asked.replace(parameters=spread)  # type: ignore[attr-defined]
    call.__annotations__ = {option.name: option.annotation for option in spread}
    return call


@contextmanager
def protected(yes: bool) -> Iterator[None]:
    """Refuse a level at which practically nobody is protected, unless the user said yes; before anything is drawn.

    Raises:
        OutOfRange: where the library warns of `LittleProtection`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsObserved)  # the statement says it, on the screen and in the file
        warnings.simplefilter("ignore" if yes else "error", LittleProtection)
        try:
            yield
        except LittleProtection as warning:
            raise OutOfRange(str(warning).rstrip("."), remedy="Or pass --yes to go on all the same.") from None
