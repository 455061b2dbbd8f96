"""Options that several commands share, written once: one by one, and in families that are read together."""

import inspect
import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from utmost.errors import LittleProtection, NotALevel, OutOfRange, RowsObserved
from utmost.interfaces.cli.options.file_options import file_of
from utmost.interfaces.cli.options.option_kinds import Word, flag, option

if TYPE_CHECKING:
    from utmost.core.exact.levels import Level

NEEDED = "Most used"
"""The group of the help that comes first."""

Epsilon = Annotated[str | None, option("NUMBER", "The privacy level: 1, 0.5 or 1/2. This or --alpha; no default.")]
Alpha = Annotated[str | None, option("NUMBER", "The privacy level as alpha = exp(-epsilon).")]
Sensitivity = Annotated[str, option("NUMBER", "The most by which one individual changes one cell: 1 for a count.")]
Cells = Annotated[int, option("N", "Number of released cells that one individual changes, over all released columns.")]
Cost = Annotated[
    str,
    option("NAME", "Cost of an error: absolute, squared, moment:3 for its cube, or a .csv file of sizes and costs."),
]
Numbers = Annotated[str, option("NAME", "Kind of the numbers: integers or reals.")]
Neighbours = Annotated[
    str, option("NAME", "add-remove: one individual more or less. change-one: one record replaced, charged twice.")
]
Relaxable = Annotated[bool, flag("Use noise that can later be relaxed to a larger epsilon without loss.")]
Confidence = Annotated[str, option("NUMBER", "Confidence of the margins; 0.95 if left out.")]
Prior = Annotated[
    str,
    option("PRIOR", "Belief before the answer: a .csv file of probabilities, or uniform, binomial:0.3 or poisson:4."),
]
Loss = Annotated[
    str,
    option(
        "LOSS",
        "Cost of an answer: absolute, squared, binary, power:1.5, asymmetric:OVER,UNDER, thresholded:T, "
        "capped:LIMIT, or a .csv file with a row for each secret and a column for each answer.",
    ),
]
SpaceSpec = Annotated[str | None, option("SPEC", "The secrets as text, such as grid:4x4 or cycle:7.")]
Plot = Annotated[Path | None, option("FILE", "Draw into this .svg, .png or .pdf, too (needs utmost[plot]).")]
Sign = Annotated[
    Path | None,
    option("KEYFILE", "Sign the statement with this Ed25519 key (needs --out).", exists=True, dir_okay=False),
]
Yes = Annotated[bool, flag("Continue at a level that protects practically nobody.")]
AsJson = Annotated[bool, flag("Print JSON for programs.", "--json")]
LedgerPlace = Annotated[
    str,
    option(
        "PLACE", "The ledger: an SQLite file, or postgresql://HOST/DATABASE without a password.", envvar="UTMOST_LEDGER"
    ),
]
LedgerName = Annotated[str, option("NAME", "The name of the release in the ledger.")]
KeyFile = Annotated[
    Path | None,
    option(
        "FILE",
        "The file that holds the ledger's key; else UTMOST_LEDGER_KEY_FILE, or PLACE.key beside an SQLite ledger.",
    ),
]
WitnessFile = Annotated[
    Path | None,
    option("FILE", "The witness file; else PLACE.witness beside an SQLite ledger, or a file beside the key."),
]
DataVersion = Annotated[int | None, option("N", "Version of the data; the newest if left out.", "--data-version")]
DryRun = Annotated[bool, flag("Check everything, show what would be spent, draw and write nothing.")]


@dataclass(frozen=True, slots=True)
class AskedEpsilon:
    """The level, which is never assumed."""

    epsilon: Annotated[str | None, option("NUMBER", "The privacy level: 1, 0.5 or 1/2; no default.")] = None

    def read(self) -> "Level":
        """The level."""
        from utmost.core.exact.levels import level

        if self.epsilon is None:
            raise NotALevel("--epsilon must be given", came="none")
        return level(self.epsilon)


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
        """The level."""
        from utmost.core.exact.levels import level

        return level(*self._one())

    def per_unit(self, unit: str | None) -> "Level":
        """The level of one unit of distance, where it may be stated for another distance: "1 per 200 m"."""
        from utmost.design.spaces.distance_units import level_per

        return level_per(*self._one(), unit=unit)

    def _one(self) -> tuple[str | None, str | None]:
        if (self.epsilon is None) == (self.alpha is None):
            came = "both" if self.is_given else "neither"
            raise NotALevel("exactly one of --epsilon and --alpha must be given", came=came)
        return self.epsilon, self.alpha


@dataclass(frozen=True, slots=True)
class Plane:
    """Columns that are the coordinates of one point, released together."""

    title: ClassVar[str] = "Points"

    planar: Annotated[
        bool, flag("The columns are coordinates of a point; the level is for each --per of Euclidean distance.")
    ] = False
    per: Annotated[
        str | None, option("NUMBER", "With --planar: the distance that the level is for; 1 if left out.")
    ] = None


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result goes that is data: to people, to a program, to a file.

    Raises:
        OutOfRange: for a file of another ending.
        Unsupported: where the file is there already.
    """

    out: Annotated[Path | None, option("FILE", "Write the result here as JSON; - for standard output.")] = None
    as_json: AsJson = False

    def __post_init__(self) -> None:
        from utmost.tables.files.atomic import check_absent

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
        from utmost.interfaces.documents.reports import print_json
        from utmost.tables.files.atomic import write_together
        from utmost.tables.files.json_files import write_json

        written = report if document is None else document
        if self.file is not None:
            write_together({self.file: lambda file: write_json(written, file)})
        if self.as_json:
            print_json(report)
        elif self.out is not None and self.file is None:
            print_json(written)
        else:
            show()


def with_families(command: Callable[..., None], needed: Collection[str] = ()) -> tuple[Callable[..., None], list[Any]]:
    """A command that takes every option by its name, and the options as click reads them.

    Where a parameter is a family of options, these stand in its place; a family may hold others. The help shows its
    options under its ``title``, and those that are ``needed`` first.
    """
    parameters = inspect.signature(command).parameters.values()

    def call(**values: Any) -> None:
        families = {
            parameter.name: _family(parameter.annotation, values)
            for parameter in parameters
            if is_dataclass(parameter.annotation)
        }
        command(**values, **families)

    return call, list(_options(parameters, needed))


def _options(
    parameters: Iterable[inspect.Parameter], needed: Collection[str], title: str | None = None
) -> Iterator[Any]:
    """The options that parameters declare, and those of families among them."""
    for parameter in parameters:
        kind: Any = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            members = inspect.signature(kind).parameters.values()
            yield from _options(members, needed, getattr(kind, "title", None))
        else:
            word: Word = kind.__metadata__[0]
            above = NEEDED if word.spelled(parameter.name) in needed else title
            yield word.parameter(parameter.name, kind.__origin__, parameter.default, above)


def _family(family: Any, values: dict[str, Any]) -> Any:
    """A family of the values of its options, which are taken away."""
    return family(
        **{
            field.name: _family(field.type, values) if is_dataclass(field.type) else values.pop(field.name)
            for field in fields(family)
            if field.init
        }
    )


def told(family: Any) -> Iterator[str]:
    """The options of a family that were given, as they are spelled.

    >>> list(told(Plane(planar=True)))
    ['--planar']
    """
    return (name for name, _ in given_options(family))


def given_options(family: Any) -> Iterator[tuple[str, Any]]:
    """The options of a family that were given, as they are spelled, each with its value."""
    for field in fields(family):
        value = getattr(family, field.name)
        if is_dataclass(value) and field.init:
            yield from given_options(value)
        elif value != field.default and field.init:
            declared: Any = field.type
            yield declared.__metadata__[0].spelled(field.name), value


def typed_again(*families: Any) -> str:
    """The options that were given, as they can be pasted into a shell.

    >>> typed_again(Plane(planar=True, per="1 km"))
    "--planar --per '1 km'"
    """
    words: list[str] = []
    for family in families:
        for name, value in given_options(family):
            values = value if isinstance(value, list) else [value]
            words += [name] if value is True else [word for one in values for word in (name, str(one))]
    return shlex.join(words)


def refuse(why: str, *families: Any) -> None:
    """Refuse the options of families that nobody would read.

    Raises:
        OutOfRange: naming the first that was given, and why it must not.

    >>> refuse("does not go with --together", Plane(planar=True))
    Traceback (most recent call last):
    utmost.errors.OutOfRange: --planar does not go with --together.
    """
    for family in families:
        for name in told(family):
            raise OutOfRange(f"{name} {why}")


def named_value(text: str, written: str, where: str, example: str) -> tuple[str, str]:
    """A name and what is said of it, as people write them.

    >>> named_value("visits=3", "a weight is written NAME=NUMBER", "--weight", "visits=3")
    ('visits', '3')
    """
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise OutOfRange(written, came=repr(text), where=where, remedy=f"Write {example}.")
    return name, value


def named_values(texts: list[str] | None, written: str, where: str, example: str) -> dict[str, str]:
    """`named_value` of each text; a name that is said twice is refused, since one of the two would be lost."""
    pairs = [named_value(text, written, where, example) for text in texts or []]
    values = dict(pairs)
    if len(values) < len(pairs):
        raise OutOfRange(f"{written}, each name once", came="one twice", where=where, remedy=f"Write {example}.")
    return values


@contextmanager
def protected(yes: bool) -> Iterator[None]:
    """Refuse a level at which practically nobody is protected, unless the user said yes; before anything is drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsObserved)  # the statement says it, on the screen and in the file
        warnings.simplefilter("ignore" if yes else "error", LittleProtection)
        try:
            yield
        except LittleProtection as warning:
            raise OutOfRange(str(warning).rstrip("."), remedy="Or pass --yes to go on all the same.") from None
