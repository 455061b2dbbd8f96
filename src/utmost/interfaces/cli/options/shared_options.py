"""Options that several commands share: single options, and groups of options, which are dataclasses."""

import inspect
import re
import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import click
from click.core import ParameterSource

from utmost.errors import LittleProtection, NotALevel, OutOfRange, RowsObserved
from utmost.interfaces.cli.options.file_options import file_of
from utmost.interfaces.cli.options.option_kinds import SHARED, Declared, flag, option

if TYPE_CHECKING:
    from utmost.core.exact.levels import Level

T = TypeVar("T")

NEEDED = "Most used"
"""Title of the first group in the help."""

Epsilon = Annotated[str | None, option("LEVEL", "Privacy level.")]
Sensitivity = Annotated[str, option("NUMBER", "One person's largest change of a cell.")]
CellsChanged = Annotated[int, option("N", "Number of released cells that one person may change.")]
CostName = Annotated[
    str,
    option("NAME", "Cost of an error: absolute, squared, moment:3 or costs.csv."),
]
Numbers = Annotated[str, option("NAME", "Kind of numbers: integers or reals.")]
NeighboursName = Annotated[str, option("NAME", "Neighbours: add-remove (default), or change-one (twice the noise).")]
Relaxable = Annotated[bool, flag("Use noise that can be relaxed later without loss.")]
Confidence = Annotated[str, option("NUMBER", "Confidence of the margins; default 0.95.")]
PriorName = Annotated[
    str,
    option("PRIOR", "Prior: uniform, binomial:0.3, poisson:4 or prior.csv."),
]
LOSS = option("LOSS", "Loss: absolute, squared, binary, power:1.5 or losses.csv.")
LossName = Annotated[str, LOSS]
SpaceSpec = Annotated[
    str | None,
    option("KIND:SIZE", "Secrets: line:6 or places:towns.csv."),
]
Plot = Annotated[Path | None, option("FILE", "Picture to draw (.svg, .png, .pdf).")]
Sign = Annotated[
    Path | None,
    option("KEYFILE", "Private Ed25519 key that signs the statement.", exists=True, dir_okay=False),
]
Yes = Annotated[bool, flag("Accept an epsilon that protects hardly anybody.")]
AsJson = Annotated[bool, flag("Print results and errors as JSON (every command but demo and serve).", "--json")]
LedgerPlace = Annotated[
    str,
    option("PLACE", "Ledger, or set UTMOST_LEDGER.", envvar="UTMOST_LEDGER", show_envvar=False),
]
LedgerName = Annotated[str, option("NAME", "Name of the release.")]
KeyFile = Annotated[
    Path | None,
    option(
        "FILE",
        "File of the ledger's key, or secret file of `utmost init`; default: PLACE.key.",
    ),
]
WitnessFile = Annotated[
    Path | None,
    option("FILE", "Ledger's witness; default: PLACE.witness."),
]
NewDataVersion = Annotated[
    int | None,
    option("N", "Version of the data, if they changed, say 2; epsilons of versions add up.", "--data-version"),
]
DryRun = Annotated[bool, flag("Show the run's cost; write nothing.")]
Format = Annotated[str | None, option("NAME", "Table format: csv, tsv, jsonl, feather, parquet or xlsx.", "--format")]
Separator = Annotated[str | None, option("CHAR", "Cell separator, say ;")]
Encoding = Annotated[str | None, option("NAME", "Text encoding, say cp1252.")]
Decimal = Annotated[str | None, option("MARK", "Decimal mark, if not a point.")]
Header = Annotated[list[str] | None, option("NAMES", "Column names, if a text file has no header.")]
MissingMarks = Annotated[list[str] | None, option("MARKS", "Texts that mark missing cells, say NA,n/a.")]
Thousands = Annotated[str | None, option("MARK", "Thousands mark: , . ' or space.")]

Currency = Annotated[str | None, option("SIGN", "Currency or unit beside numbers, say $ or EUR.")]
ResultFile = Annotated[Path | None, option("FILE", "File for results other than tables (.json).")]

EXPLAINED_ONCE: dict[str, Any] = {
    "separator": Separator,
    "encoding": Encoding,
    "header": Header,
    "decimal": Decimal,
    "thousands": Thousands,
    "missing_marks": MissingMarks,
    "currency": Currency,
    "format": Format,
    "sign": Sign,
    "plot": Plot,
    "confidence": Confidence,
    "key_file": KeyFile,
    "witness": WitnessFile,
    "out": ResultFile,
    "json": AsJson,
}
"""Options that `utmost --help` explains once, by parameter."""


def explained_once() -> Iterator[click.Parameter]:
    """Yield the options that `utmost --help` explains, as parameters of click."""
    for name, kind in EXPLAINED_ONCE.items():
        yield kind.__metadata__[0].parameter(name, kind.__origin__, False if kind is AsJson else None, None)


@dataclass(frozen=True, slots=True)
class LevelOptions:
    """The option for the privacy level; it has no default."""

    epsilon: Epsilon = None

    @property
    def is_given(self) -> bool:
        return self.epsilon is not None

    def read(self) -> "Level":
        return written_level(self._given())

    def per_unit(self, unit: str | None) -> "Level":
        """Return the level of one unit of distance; the option may name another distance: "1 per 200m"."""
        return level_of_distance(self._given(), unit)

    def _given(self) -> str:
        if self.epsilon is None:
            raise NotALevel(
                "--epsilon must be given", came="none", remedy="Add, for example, --epsilon 1: there is no default."
            )
        return self.epsilon


def written_level(text: str) -> "Level":
    """Read a level from text: a number, a logarithm such as ln2, or alpha."""
    if re.search(r"\bper\b", text):
        raise NotALevel(
            "an epsilon of this command must have no distance", came=text, remedy="Write, for example, --epsilon 1."
        )
    if re.fullmatch(r"[0-9./]+", text):  # so that an everyday release imports no module of designs
        from utmost.core.exact.levels import level

        return level(text)
    return level_of_distance(text, None)


def level_of_distance(text: str, unit: str | None) -> "Level":
    """Read the level for one unit of distance from text, which may name another distance: "1 per 200m"."""
    from utmost.design.spaces.distance_units import level_per

    name, equals, alpha = text.partition("=")
    if not equals or name.strip() != "alpha":
        return level_per(text, unit=unit)
    alpha, *distance = re.split(r"\bper\b", alpha, maxsplit=1)
    return level_per(alpha=alpha.strip(), per=distance[0].strip() if distance else None, unit=unit)


@dataclass(frozen=True, slots=True)
class PlanarOptions:
    """Options for points: the columns are coordinates and are released together."""

    title: ClassVar[str] = "Points"

    planar: Annotated[bool, flag("Columns are coordinates of points; see --per.")] = False
    per: Annotated[str | None, option("NUMBER", "Distance between points at which --epsilon holds; default 1.")] = None


@dataclass(frozen=True, slots=True)
class Output:
    """Options for the destination of a result: a screen, a program, or a new .json file."""

    out: ResultFile = None
    as_json: AsJson = False

    def __post_init__(self) -> None:
        from utmost.tables.files.atomic import check_absent

        if self.file is not None:
            if self.file.suffix.lower() != ".json":
                remedy = f"Write --out {self.file.with_suffix('.json')}."
                raise OutOfRange(
                    "the result must be written as .json", came=self.file.name, where="--out", remedy=remedy
                )
            check_absent(self.file)

    @property
    def file(self) -> Path | None:
        return file_of(self.out)

    def give(self, report: Any, document: Any = None) -> bool:
        """Write the result to --out; print it as JSON if --json is set, or if --out is standard output.

        Return True if nothing was printed, so that the caller must still show the result on the screen.
        """
        # `document` is written in place of the report if another command can read the file.
        from utmost.interfaces.documents.reports import print_json
        from utmost.tables.files.atomic import write_together
        from utmost.tables.files.json_files import write_json

        written = report if document is None else document
        if self.file is not None:
            write_together({self.file: lambda file: write_json(written, file)})
        to_pipe = self.out is not None and self.file is None
        if self.as_json or to_pipe:
            print_json(report if self.as_json else written)
        return not (self.as_json or to_pipe)


def with_groups(command: Callable[..., None], needed: Collection[str]) -> tuple[Callable[..., None], list[Any]]:
    """Return a command that takes every option by name, and its options for click."""
    # A parameter whose type is a group (of options, or of other groups) is replaced by the options of the group. The
    # help shows these options under the `title` of the group, but those in `needed` first.
    parameters = inspect.signature(command).parameters.values()

    def call(**values: Any) -> None:
        groups = {
            parameter.name: _group(parameter.annotation, values)
            for parameter in parameters
            if is_dataclass(parameter.annotation)
        }
        command(**values, **groups)

    return call, list(_options(parameters, needed))


def _options(
    parameters: Iterable[inspect.Parameter], needed: Collection[str], title: str | None = None
) -> Iterator[Any]:
    """Yield the options of parameters, and the options in their groups."""
    for parameter in parameters:
        kind: Any = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            members = inspect.signature(kind).parameters.values()
            yield from _options(members, needed, getattr(kind, "title", None))
        else:
            word: Declared = kind.__metadata__[0]
            group_title = SHARED if kind in EXPLAINED_ONCE.values() else title
            group_title = NEEDED if word.spelled(parameter.name) in needed else group_title
            yield word.parameter(parameter.name, kind.__origin__, parameter.default, group_title)


def _group(group: Any, values: dict[str, Any]) -> Any:
    """Take the values of a group's options out of `values`, and return the group; a missing value is the default."""
    return group(
        **{
            field.name: _group(field.type, values)
            if is_dataclass(field.type)
            else values.pop(field.name, field.default)
            for field in fields(group)
            if field.init
        }
    )


def typed_options(group: Any) -> Iterator[str]:
    """Yield the given options of a group, as they are spelled."""
    return (name for name, _ in given_options(group))


def given_options(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the given options of a group, as they are spelled, each with its value."""
    for field in fields(group):
        value = getattr(group, field.name)
        if is_dataclass(value) and field.init:
            yield from given_options(value)
        elif value != field.default and field.init:
            declared: Any = field.type
            yield declared.__metadata__[0].spelled(field.name), value


def typed_again(*groups: Any, beside_recipe: bool = False) -> str:
    """Return the given options as text for a shell; an option that only a recipe has becomes a line of the recipe."""
    from utmost.tables.files.toml_files import toml_value

    context = click.get_current_context(silent=True)
    keys = {key.opts[-1] for key in getattr(context.command, "recipe_keys", ())} if context is not None else set()
    recipe_values = {} if context is None or not beside_recipe else context.default_map or {}
    words: list[str] = []
    lines: list[str] = []
    for name, value in chain.from_iterable(map(given_options, groups)):
        values = value if isinstance(value, list) else [value]
        if name in keys:
            lines += [] if recipe_values else [f"{name.removeprefix('--')} = {toml_value(value)} in the recipe"]
        elif name.removeprefix("--").replace("-", "_") not in recipe_values:
            words += [name] if value is True else [word for one in values for word in (name, str(one))]
    if recipe_values and context is not None:
        words = ["--recipe", str(context.params["recipe"]), *words]
    return " and ".join([*([shlex.join(words)] if words else []), *lines])


def widened(kind: type[T], narrow: Any) -> T:
    """Return a larger group of options that has the values of a smaller group."""
    return kind(**{each.name: getattr(narrow, each.name) for each in fields(narrow)})


def refuse(why: str, *groups: Any) -> None:
    """Refuse given options of these groups; `why` completes the sentence "--option ..."."""
    for group in groups:
        for name in typed_options(group):
            raise OutOfRange(f"{name} {why}", remedy=without(name))


def without(name: str) -> str:
    """Return the remedy that leaves an option out: of the call, or of the recipe that contains the option."""
    context = click.get_current_context(silent=True)
    if context is not None:
        typed = next((each.name for each in context.command.params if name in each.opts), None)
        if typed is not None and context.get_parameter_source(typed) is ParameterSource.DEFAULT_MAP:
            return f"Leave out {name.removeprefix('--')} in the recipe."
    return f"Leave out {name}."


def named_value(text: str, written: str, where: str, example: str) -> tuple[str, str]:
    """Split NAME=VALUE at the last equals sign."""
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise OutOfRange(written, came=repr(text), where=where, remedy=f"Write {example}.")
    return name, value


def named_values(texts: list[str] | None, written: str, where: str, example: str) -> dict[str, str]:
    """Split each text by `named_value`; refuse a repeated name, since one of its values would be lost."""
    pairs = [named_value(text, written, where, example) for text in texts or []]
    values = dict(pairs)
    if len(values) < len(pairs):
        raise OutOfRange(
            f"{written}, with each name only once", came="one twice", where=where, remedy=f"Write {example}."
        )
    return values


@contextmanager
def refusing_weak_levels(yes: bool) -> Iterator[None]:
    """Refuse a level at which practically nobody is protected (as `weakness_of` decides), unless --yes is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsObserved)  # the statement on the screen and in the file says the same
        warnings.simplefilter("ignore" if yes else "error", LittleProtection)
        try:
            yield
        except LittleProtection as warning:
            raise OutOfRange(str(warning).rstrip("."), remedy="Or add --yes to accept this level.") from None
