"""Options that name files (tables, domains, statements); "-" stands for standard input."""

import atexit
import os
import re
import sys
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import click

from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.options.option_kinds import argument, option
from utmost.tables.files.text_files import PIPE, MemoryFile, sheet_named, unzipped

if TYPE_CHECKING:
    File = Path
else:

    class File:
        """A file to read, checked by `readable`."""


class StandardInput(MemoryFile):
    """Standard input as a file that can be read again: its bytes stay in memory, and are written nowhere."""

    @property
    def content(self) -> bytes:  # type: ignore[override]  # read on first use
        """Content of the pipe, read on first use."""
        return _read(sys.stdin)


@cache
def _read(stream: TextIO | None) -> bytes:
    if stream is None:
        raise OutOfRange("standard input must be open to be read", came="none", where=PIPE)
    return unzipped(stream.buffer.read(), PIPE)


def readable(text: str) -> Path:
    """Return the file of this name; refuse a missing one. The name ``-`` is standard input."""
    if text == PIPE:
        return StandardInput("standard input")
    if Path(text).is_dir():
        raise click.BadParameter(f"{text!r} is a folder. Name a file in it.")
    if not sheet_named(Path(text))[0].exists():
        raise click.BadParameter(f"{text!r} does not exist.{_near(text)}")
    return Path(text)


def table_file(text: str) -> Path:
    """Return the file of a table; a missing file has exit code 1, not 2, because a job may wait for the file."""
    if text != PIPE and not os.path.lexists(sheet_named(Path(text))[0]):
        raise BadTable(
            "the table must be an existing file",
            came=f"{text!r}, which does not exist",
            remedy=f"Run the command again when the file exists, or correct its name.{_near(text)}",
        )
    return readable(text)


def _near(text: str) -> str:
    """Return a question that names a file with a similar name, if there is one in the folder."""
    folder = Path(text).parent
    # A name that differs in its digits alone is that of another month or version, and no misspelling.
    without_digits = re.sub(r"\d", "", Path(text).name)
    names = [
        name for name in (os.listdir(folder) if folder.is_dir() else ()) if re.sub(r"\d", "", name) != without_digits
    ]
    near = get_close_matches(Path(text).name, names, 1)
    return f" Did you mean {str(folder / near[0])!r}?" if near else ""


def file_option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    return option(metavar, help, *names, parser=readable, **more)


def file_argument(metavar: str, help: str) -> Any:
    return argument(metavar, help, parser=readable)


def published(text: str) -> Path:
    """Return the published file of this name; if it is a web address, download the file and its statement."""
    if text.lower().startswith(("http://", "https://")):
        from utmost.interfaces.documents.published_files import fetched

        return fetched(text, _folder())
    return readable(text)


@cache
def _folder() -> Path:
    """Return a temporary folder for downloads, which is deleted when this process ends."""
    folder = TemporaryDirectory(prefix="utmost-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def table_or_folder(text: str) -> Path:
    """Return the file or folder of this name; ``-`` is standard input."""
    return Path(text) if text != PIPE and Path(text).is_dir() else table_file(text)


DomainFile = Annotated[
    File | None,
    file_option("FILE", 'Declared domain: {"sex": ["men", "women"], "age": {"bins": [0, 100], "width": 10}}.'),
]


def named_file(path: Path, name: str) -> Path:
    """Return a path with a name added to the stem: counted-visits.json for counted.json and "visits"."""
    if not path.name:
        raise OutOfRange("--out must name a file, because several files are written", came=str(path), where="--out")
    return path.with_name(f"{path.stem}-{name}{path.suffix}")


def file_of(out: Path | None) -> Path | None:
    """Return the file to write; None if ``--out`` is missing or "-"."""
    return None if out is None or str(out) == PIPE else out


ReleaseFile = Annotated[
    File,
    argument(
        "RELEASE",
        "Released file, or its https:// address.",
        parser=published,
    ),
]
TableFile = Annotated[
    File,
    argument("TABLE", "File of the table.", parser=table_file),
]
TableOrFolder = Annotated[
    File,
    argument("TABLE", "Table file, or folder of .parquet files.", parser=table_or_folder),
]
TableOut = Annotated[
    Path | None,
    option("FILE", "File for the table; its statement goes to FILE.json."),
]
Check = Annotated[File | None, file_option("FILE", "Proof to check, which --out wrote.")]
StatementFile = Annotated[File | None, file_option("FILE", "Statement, if not beside the table.")]
