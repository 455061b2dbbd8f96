"""Read published files of any kind: tables, releases by a plan, points, keys, tables with withheld cells.

Reading a file checks its statement as `utmost verify` does, but not its signature. A released table, a release by a
plan and any table of a plan are read as an `Answer`, which has no history.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import exact
from utmost.errors import BadTable, OutOfRange, Unsupported, UtmostError
from utmost.interfaces.documents.statement_readers import STATEMENT_READERS, stated_release
from utmost.publish.promises.statement import read_statement
from utmost.publish.promises.statement_kinds import CLEAN_KIND, NOISY_TABLE_KIND, STATEMENT_KIND, is_whole
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.detailed_release import DetailedSums, whole_release
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import NoisyTable, check_noisy_table
from utmost.publish.releases.release_facts import ReleaseFacts
from utmost.publish.releases.withheld import WithheldTable
from utmost.tables.files import files, sidecars
from utmost.tables.files.csv_table import CsvTable
from utmost.tables.files.json_files import read_json
from utmost.tables.files.text_files import TextFile
from utmost.tables.frames.table import Table

MOST_BYTES = 1 << 30
"""A download from a web address has at most 1 GB."""

_SECONDS = 60  # a web address must answer within these seconds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PublishedTable(Display):
    """A published table that is no `Answer`: selected keys, drawn responses, readings, a clean table.

    Attributes:
        table: Table as it was published.
        statement: Checked statement. The statement of a clean table follows from its release, see `check_clean`.
        stated: Statement in words, with the noise and its margins; None for a clean table.
    """

    _shown = ("kind",)

    table: Any = field(repr=False)
    statement: Mapping[str, Any] = field(repr=False)
    stated: ReleaseFacts | None = field(repr=False)

    @property
    def kind(self) -> str:
        """Kind of the publication."""
        return str(self.statement["kind"])


ReadRelease = Answer[Any] | DetailedSums | MeasuresTable | WithheldTable[Any] | NoisyTable | PublishedTable
"""The results of `read_release`."""


def read_release(
    path: Path | str, statement: Path | str | None = None, *, separator: str | None = None, encoding: str | None = None
) -> ReadRelease:
    """Read a published file of any kind, and check its statement.

    Args:
        path: Path of a table with its statement beside it, or of a .json release by a plan or in two stages; or the
            http or https address of such a file.
        statement: Path of the statement, if it is not beside the table.
        separator, encoding: Separator and encoding of a text file, if its header does not give them.

    Returns:
        An `Answer` without history for a released table, a release by a plan, or any table of a plan. Otherwise a
        `DetailedSums` for a release in two stages, a `MeasuresTable` for a table of several amounts, a `WithheldTable`
        for a table with withheld cells, a `NoisyTable` for a noisy table of another tool, and a `PublishedTable` for
        anything else.

    Raises:
        BadTable: if there is no such file, or if the statement is missing, inconsistent, or about another table.
        Unsupported: if the format is unknown, or if the address does not respond.
        WrongKind: if the path is neither text nor a `Path`.
        OSError: if the file cannot be read.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost import release
    >>> with TemporaryDirectory() as folder:
    ...     answer = release({"n": [601]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1)
    ...     _ = answer.save(f"{folder}/released.csv")
    ...     read_release(f"{folder}/released.csv").total() == answer.total()
    True
    """
    if isinstance(path, str) and is_address(path):
        with TemporaryDirectory() as folder:
            fetched_path = fetched(str(path), Path(folder), without_statement=statement is not None)
            published = read_release(fetched_path, statement, separator=separator, encoding=encoding)
            if isinstance(published, DetailedSums | MeasuresTable) or (
                isinstance(published, Answer) and published.is_by_plan
            ):
                return published
            # The table is read into memory, because the folder of the download is removed here.
            return replace(published, table=Table(files.columns(published.table)))
    file = _path(path, "path")
    beside = sidecars.sidecar_path(file) if statement is None else _path(statement, "statement")
    if file.suffix.lower() == ".json" and not sidecars.sidecar_path(file).is_file():
        document = read_json(file, "a release must")
        if not is_whole(document):
            kind = document.get("kind") if isinstance(document, dict) else None
            remedy = "Name a released table, or the .json file that utmost release --out wrote for a plan."
            if kind == "counted":
                remedy = "Release this file first, by utmost plan and utmost release."
            elif kind in (CLEAN_KIND, NOISY_TABLE_KIND, *STATEMENT_READERS):
                remedy = "Name the table instead: its statement is found in the same folder."
            came = "a document without a kind" if not isinstance(kind, str) else f"a document of the kind {kind[:60]!r}"
            raise BadTable(
                "a .json file must be a release by a plan or in two stages", came=came, where=str(file), remedy=remedy
            )
        if statement is not None:
            remedy = "Leave out statement=."
            raise OutOfRange("a release by a plan contains its own statement", came=str(statement), remedy=remedy)
        whole = whole_release(document)
        return Answer.of_sums(whole) if isinstance(whole, NoisySums) else whole
    if not beside.is_file():
        if not file.exists():
            raise BadTable(
                "the path must be a file that exists",
                came="none",
                where=str(file),
                remedy="Check the name of the file.",
            )
        remedy = (
            f"Copy {beside.name[-80:]} into this folder, from where the table was published. A release by a plan is "
            f"one .json "
            "file; a count without a statement is read by utmost read with --column, --n, --epsilon and --prior."
        )
        required = "a released table needs its statement in the same folder"
        raise BadTable(required, came=f"no {beside.name[-80:]}", remedy=remedy)
    facts = read_statement(beside)
    text_file = file if separator is None and encoding is None else TextFile.of(file, separator, encoding)
    if statement is None:
        sidecars.check_unchanged(file, facts)
    if facts["kind"] == STATEMENT_KIND:
        # A text file has numbers as text.
        answer = Answer.of_statement(files.read(text_file), facts)
        columns = Table(files.columns(answer.table))
        is_text = isinstance(answer.table, CsvTable)
        for name in (*answer.columns, *answer.noise.bars(answer.columns)) if is_text else ():
            columns[name] = [_number(cell) for cell in columns[name]]
        return replace(answer, table=columns)
    if facts["kind"] == NOISY_TABLE_KIND:
        return check_noisy_table(facts, files.read(text_file))
    if facts["kind"] == CLEAN_KIND:
        return PublishedTable(files.read(text_file), facts, None)
    known = STATEMENT_READERS[facts["kind"]].check(facts, text_file)
    if isinstance(known, NoisySums):
        return Answer.of_sums(known)
    if isinstance(known, WithheldTable | MeasuresTable):
        return known
    table = read_json(file, "a domain must") if file.suffix.lower() == ".json" else files.read(text_file)
    return PublishedTable(table, facts, stated_release(facts))


def _number(cell: str) -> int | float | str:
    """Return the number in a cell of text; return any other text, such as the name of a key, unchanged."""
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(exact(cell))
    except UtmostError:
        return cell


def _path(target: object, name: str) -> Path:
    if not isinstance(target, str | Path) or not str(target).strip() or "\0" in str(target) or not Path(target).name:
        raise wrong_kind(name, "the path of a file, or a URL", target)
    return target if isinstance(target, Path) else Path(target)  # a `TextFile` has its separator and encoding


def is_address(text: str) -> bool:
    return urlsplit(text).scheme.lower() in ("http", "https")


def fetched(address: str, folder: Path, *, without_statement: bool = False) -> Path:
    """Download a file into a folder; unless ``without_statement`` is true, also the statement beside a table."""
    parts = urlsplit(address)
    name = parts.path.rpartition("/")[2]
    if not name or name.startswith("."):
        raise OutOfRange("the address must be the URL of a file", came=repr(address[:200]), where="path")
    target = folder / Path(name).name
    _fetch(address, target)
    if target.suffix.lower() != ".json" and not without_statement:
        _fetch(urlunsplit(parts._replace(path=f"{parts.path}.json")), sidecars.sidecar_path(target))
    return target


def _fetch(address: str, target: Path) -> None:
    try:
        with urlopen(address, timeout=_SECONDS) as answer, target.open("wb") as file:
            left = MOST_BYTES
            while block := answer.read(1 << 20):
                file.write(block)
                left -= len(block)
                if left < 0:
                    raise ValueError(f"more than {MOST_BYTES} bytes")
    except (OSError, ValueError) as error:
        if isinstance(error, HTTPError):  # this error holds the connection open
            error.close()
        came = f"{type(error).__name__}: {error}"[:200]
        raise Unsupported(
            "the file must be available at the address",
            came=came,
            where=address[:200],
            remedy="Download the file with a browser, and name the saved file.",
        ) from None
