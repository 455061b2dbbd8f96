"""Options that several commands share, written once: one by one, and in families that are read together."""

import inspect
import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from utmost.errors import LittleProtection, NotALevel, OutOfRange, RowsObserved

if TYPE_CHECKING:
    from utmost.exact import Level
    from utmost.release.counted import CountedTable
    from utmost.workloads import Domain

    File = Path
else:

    class File:
        """A file to read, as `readable` gives it: typer would make a plain path again of what is said to be one."""


PIPE = "-"
"""The name of the pipe: standard input where something is read, standard output where something is written."""


class StandardInput(type(Path())):  # type: ignore[misc]
    """Standard input as a file that can be read again: its bytes stay in memory, and are written nowhere."""

    def open(
        self, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None
    ) -> Any:
        """What came through the pipe, from its beginning."""
        content = io.BytesIO(_read(sys.stdin))
        return content if "b" in mode else io.TextIOWrapper(content, encoding, errors, newline)

    def with_name(self, name: str) -> Path:
        """A file of another name, which is no pipe."""
        return Path(name)

    @property
    def suffix(self) -> str:
        """The ending that a file of this content would have."""
        from utmost.tables.text_files import ending_of_content

        return ending_of_content(_read(sys.stdin))


@cache
def _read(stream: TextIO | None) -> bytes:
    if stream is None:
        raise OutOfRange("standard input must be open to be read", came="none", where=PIPE)
    from utmost.tables.text_files import unzipped

    return unzipped(stream.buffer.read(), PIPE)


def readable(text: str) -> Path:
    """The file of this name, which must be there; ``-`` is standard input."""
    if text == PIPE:
        return StandardInput("standard input")
    if not Path(text).exists() or Path(text).is_dir():
        raise typer.BadParameter(f"{text!r} is a folder" if Path(text).is_dir() else f"{text!r} does not exist")
    return Path(text)


def lake(text: str) -> Path:
    """The file of this name, or the directory; ``-`` is standard input."""
    return Path(text) if text != PIPE and Path(text).is_dir() else readable(text)


DomainFile = Annotated[
    File | None,
    typer.Option(
        "--domain",
        metavar="FILE",
        parser=readable,
        help='The declared domain as JSON: {"sex": ["men", "women"], "age": {"bins": [0, 100], "width": 10}}.',
    ),
]


def file_of(out: Path | None) -> Path | None:
    """The file to write; None where ``--out`` was left out, or is the pipe."""
    return None if out is None or str(out) == PIPE else out


TableFile = Annotated[
    File,
    typer.Argument(
        metavar="TABLE", parser=readable, help="A file: .csv, .tsv, .jsonl, .feather or .parquet; - for the pipe."
    ),
]
TableOrLake = Annotated[
    File,
    typer.Argument(
        metavar="TABLE",
        parser=lake,
        help="A .csv, .tsv, .jsonl, .feather or .parquet file, or a folder of .parquet files; - for the pipe.",
    ),
]
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
TableOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the table here, and its statement to FILE.json; - or left out: to standard output.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw into this .svg, .png or .pdf, too (needs utmost[plot])."),
]
Check = Annotated[
    File | None,
    typer.Option("--check", metavar="FILE", parser=readable, help="Check the proof that --out wrote, nothing else."),
]
StatementFile = Annotated[
    File | None,
    typer.Option("--statement", metavar="FILE", parser=readable, help="The statement; by default the one beside it."),
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
        from utmost.exact import level

        return level(*self._one())

    def per_unit(self, unit: str | None) -> "Level":
        """The level of one unit of distance, where it may be stated for another distance: "1 per 200 m".

        Raises:
            NotALevel: as for `read`. OutOfRange: for a distance in other units.
        """
        from utmost.spaces import level_per

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
class People:
    """How events are counted: whose they are, by what, and how much one person may change."""

    person: Annotated[
        str | None, typer.Option("--person", metavar="COLUMN", help="Count events: the column that says whose each is.")
    ] = None
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="NAMES", help="The axes of the domain to count by, in this order; all if left out."
        ),
    ] = None
    at_most: Annotated[
        int | None, typer.Option("--at-most", metavar="K", help="How many atoms one person may change.")
    ] = None
    per_atom: Annotated[
        str,
        typer.Option("--per-atom", metavar="S", help="The most by which one may change an atom; or LOW,HIGH for sums."),
    ] = "1"
    values: Annotated[
        str | None, typer.Option("--values", metavar="COLUMN", help="Integers to be summed; else events are counted.")
    ] = None
    count_key: Annotated[
        Path | None,
        typer.Option(
            "--count-key",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="A file of bytes; with the same one the same atoms of each person are kept.",
        ),
    ] = None

    counts: Annotated[
        str | None,
        typer.Option(
            "--count-column", metavar="COLUMN", help="Instead of --person: a row for each atom, counted here."
        ),
    ] = None
    nested: Annotated[
        str | None,
        typer.Option(
            "--nested",
            metavar="AXIS=NAMES",
            help="Or columns that count an axis, each with all before it: outcome=admitted,applicants.",
        ),
    ] = None

    @property
    def are_given(self) -> bool:
        """Whether events are to be counted, or a table of atoms is to be read."""
        return not (self.person is None and self.counts is None and self.nested is None)

    def counted(
        self, events: Path, domain: "Domain", neighbours: str, part: str | None = None, together: str | None = None
    ) -> Any:
        """The table of the events in a file, counted over a domain, with a bar on a terminal; by label for parts.

        Args:
            together: an axis of two values along which a person's atoms are kept by rows, see `count_table`.

        Raises:
            OutOfRange: where it is not said who the persons are, or how much one may change.
        """
        from utmost.cli.screen import counted
        from utmost.tables import count_table

        if self.counts is not None or self.nested is not None:
            return replace(self._read(events, domain, neighbours), together=together)
        for option, value in (("--person", self.person), ("--at-most", self.at_most)):
            if value is None:
                remedy = "Name the column of persons, and how many atoms one of them may change."
                raise OutOfRange(
                    "people are counted by --person, --at-most and --domain", came="no " + option, remedy=remedy
                )
        with counted(f"Counting {events.name}") as progress:
            return count_table(
                events,
                person=str(self.person),
                domain=domain,
                by=None if self.by is None else names_in(self.by),
                together=together,
                at_most=int(self.at_most or 0),
                per_atom=self.bounds,
                values=self.values,
                part=part,
                key=self.key,
                neighbours=neighbours,
                progress=progress,
            )

    @property
    def bounds(self) -> Any:
        """The most by which one person may change an atom, or both ends."""
        ends = self.per_atom.split(",")
        return ends if len(ends) > 1 else self.per_atom

    @property
    def key(self) -> bytes | None:
        """The bytes of the key of the count."""
        return None if self.count_key is None else self.count_key.read_bytes()

    def _read(self, table: Path, domain: "Domain", neighbours: str) -> "CountedTable":
        """A table that was counted elsewhere, with the unit that is said."""
        from utmost.privacy import Unit
        from utmost.tables import atoms_table, files

        if self.counts is not None and self.nested is not None:
            raise OutOfRange("one of --count-column and --nested says which columns count", came="both")
        if self.at_most is None:
            remedy = "Say how many atoms one person changes: of a table that is counted already it cannot be proved."
            raise OutOfRange("a table of atoms needs its unit", came="no --at-most", remedy=remedy)
        if self != People(at_most=self.at_most, per_atom=self.per_atom, counts=self.counts, nested=self.nested):
            raise OutOfRange(
                "--person, --by, --values and --count-key are for events", came="--count-column or --nested"
            )
        nested = None
        if self.nested is not None:
            axis, equals, columns = self.nested.partition("=")
            if not equals:
                remedy = "Say outcome=admitted,applicants."
                raise OutOfRange("nested columns must be said as AXIS=NAMES", came=repr(self.nested), remedy=remedy)
            nested = {axis.strip(): names_in([columns])}
        unit = Unit(self.per_atom, min(self.at_most, domain.size), neighbours)
        return atoms_table(files.read(table), domain, unit=unit, counts=self.counts, nested=nested)


def names_in(texts: list[str]) -> list[str]:
    """Names that were given one by one, or several with commas between them.

    >>> names_in(["region, age", "sex"])
    ['region', 'age', 'sex']
    """
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


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
        from utmost.tables.atomic import check_absent

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
        from utmost.documents.codec import write
        from utmost.documents.reports import print_json
        from utmost.tables.atomic import write_together

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
