"""Options for the formats of tables that are read and written."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TextIO

import click
from click.core import ParameterSource

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options

if TYPE_CHECKING:
    from utmost.tables.cells.spelling import Spelling
    from utmost.tables.files.signatures import Signer


_MARKS = ("--decimal", "--thousands", "--missing-marks", "--currency")
"""Options for the spelling of numbers and of missing cells."""


def check_output(out: Path | None, source: Path | None = None) -> None:
    """Check that a table can be written to this file, before the table is made."""
    from utmost.tables.files import files
    from utmost.tables.files.atomic import check_absent

    if out is not None:
        files.check_same_kind(source or Path("table.csv"), out)
        check_absent(out)


@dataclass(frozen=True, slots=True)
class TextFileOptions:
    """Options for a text file: the separator of cells, and the encoding."""

    title: ClassVar[str] = "Text files"

    separator: options.Separator = None
    encoding: options.Encoding = None

    @property
    def cells(self) -> "Spelling":
        """The marks of numbers in the cells; published tables have only a decimal point."""
        from utmost.tables.cells.spelling import PLAIN_SPELLING

        return PLAIN_SPELLING

    @property
    def names(self) -> list[str]:
        """The declared names of the columns; a published table has a header."""
        return []

    def of(self, table: Path, *, is_counted: bool = False) -> Path:
        """Return the file, as a `TextFile` with these options if any is given."""
        # `is_counted`: the rows are counted as events, whose text is read in the same way in every format.
        from utmost.tables.files import files
        from utmost.tables.files.text_files import TextFile

        given = list(options.typed_options(self))
        if not given:
            return table
        is_lines = not table.is_dir() and files.ending_of(table) in files.JSON_LINES
        is_text = not table.is_dir() and (is_lines or files.ending_of(table) in files.TEXT_ENDINGS)
        for name in given:
            remedy = options.without(name)
            if name in ("--separator", "--encoding") and not is_text:
                raise OutOfRange(f"{name} is only for text files", came=table.name, remedy=remedy)
            if name == "--header" and (is_lines or not is_text):
                raise OutOfRange("--header is only for text files without a header", came=table.name, remedy=remedy)
            if name in _MARKS and (is_lines or not is_text) and not is_counted:
                required = (
                    f"{name} is only for .csv and .tsv files, and for events to count: other formats store "
                    f"numbers as numbers"
                )
                raise OutOfRange(required, came=table.name, remedy=remedy)
        return TextFile.of(table, self.separator, self.encoding, self.cells, self.names) if is_text else table


@dataclass(frozen=True, slots=True)
class DecimalSpelling(TextFileOptions):
    """Options for a text file of public numbers."""

    decimal: options.Decimal = None

    @property
    def cells(self) -> "Spelling":
        from utmost.tables.cells.spelling import Spelling

        return Spelling(self.decimal)


@dataclass(frozen=True, slots=True)
class MarkedSpelling(DecimalSpelling):
    """Options for a text file of numbers to release."""

    thousands: options.Thousands = None

    @property
    def cells(self) -> "Spelling":
        from utmost.tables.cells.spelling import Spelling

        return Spelling(self.decimal, self.thousands)


@dataclass(frozen=True, slots=True)
class NumberSpelling(MarkedSpelling):
    """Options for a text file of events or cells to count."""

    missing_marks: options.MissingMarks = None
    currency: options.Currency = None
    header: options.Header = None

    @property
    def names(self) -> list[str]:
        from utmost.interfaces.cli.options.people_options import split_names

        return split_names(self.header or [])

    @property
    def cells(self) -> "Spelling":
        from utmost.interfaces.cli.options.people_options import split_names
        from utmost.tables.cells.spelling import Spelling

        marks = split_names(self.missing_marks or [])
        return Spelling(self.decimal, self.thousands, marks, currency=self.currency)


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """Options for the output of a released table: file, format, signature, and confidence of the margins."""

    title: ClassVar[str] = "Output"

    out: file_options.TableOut = None
    form: options.Format = None
    sign: options.Sign = None
    confidence: options.Confidence = DEFAULT_CONFIDENCE
    as_json: options.AsJson = False

    @property
    def file(self) -> Path | None:
        """The file to write, with its format; None for standard output."""
        return output(self.out, self.form)

    @property
    def signer(self) -> "Signer | None":
        from utmost.tables.files.signatures import signer_of

        return None if self.sign is None else signer_of(self.sign)

    def check_free(self, source: Path | None, *, draws: bool = False) -> None:
        """Check, before any draw, that a release of `source`, or of counts if `source` is None, can be written."""
        from utmost.tables.files.sidecars import check_free

        check_free(source or Path("counts.csv"), self.file, self.sign, draws=draws)


def check_fits(answer: TableAnswer, table: Any) -> None:
    """Check, before any draw, that the output can contain a table of `table_before_draw`; a .json file always can."""
    from utmost.tables.files import files

    file = answer.file
    if table is None or (answer.as_json if file is None else file.suffix.lower() == ".json"):
        return
    files.check_fits(table, _piped(answer.form) if file is None else file)


def output(out: Path | None, form: str | None) -> Path | None:
    """Return the file to write, with its format; for standard output, check the format and return None."""
    file = file_options.file_of(out)
    ending = _ending(form)
    if file is None:
        context = click.get_current_context(silent=True)
        # With --json, standard output is JSON, so a typed --format is refused. That of a recipe is only for files.
        if (
            context is not None
            and context.params.get("as_json")
            and context.get_parameter_source("form") is ParameterSource.COMMANDLINE
        ):
            raise OutOfRange(
                "--format cannot be combined with --json on standard output",
                came="both",
                remedy="Leave out --format for JSON, or --json for a table; or add --out FILE.",
            )
        _piped(form)
        return None
    if ending is None:
        return file
    from utmost.tables.files.text_files import FormattedFile

    return FormattedFile.of(file, ending)


def give_table(table: Any, form: str | None) -> None:
    from utmost.tables.files import files

    files.write(table, sys.stdout.buffer, _piped(form))
    sys.stdout.flush()


def check_list(out: Path | None, endings: tuple[str, ...] = (".csv", ".tsv", ".txt", ".json")) -> None:
    """Check that a list can be written in the format of the file's ending."""
    file = file_options.file_of(out)
    if file is not None and file.suffix.lower() not in endings:
        raise OutOfRange(f"--out must end in one of {', '.join(endings)}", came=file.name, where="--out")


def give_rows(names: list[str], rows: Iterable[list[str]], out: Path, document: Callable[[TextIO], None]) -> None:
    """Write rows of text one by one as CSV to standard output or a file; for a .json file, call `document` instead."""
    from utmost.tables.files import files
    from utmost.tables.files.atomic import write_together

    check_list(out)
    if file_options.file_of(out) is None:
        return files.write_rows(names, rows, sys.stdout.buffer, Path("table.csv"))
    if out.suffix.lower() == ".json":

        def write(file: BinaryIO) -> None:
            text = TextIOWrapper(file, encoding="utf-8", newline="\n")
            document(text)
            text.detach()  # otherwise the wrapper would close the file, but `write_together` closes it

        return write_together({out: write})
    write_together({out: lambda file: files.write_rows(names, rows, file, out)})


def _piped(form: str | None) -> Path:
    """Return the name of a file whose format is the format for standard output."""
    named = Path(f"table{_ending(form) or '.csv'}")
    if form is not None:
        from utmost.tables.files import files

        files.check_same_kind(Path("table.csv"), named)
        if not files.TABLE_FORMATS[form].is_text and sys.stdout.isatty():
            raise OutOfRange(
                "only text can be shown on a terminal",
                came=form,
                where="--format",
                remedy="Name a file, for example --out table.parquet.",
            )
    return named


def _ending(form: str | None) -> str | None:
    from utmost.tables.files import files

    if form is not None and form not in files.FORMATS:
        raise OutOfRange(f"the format must be one of {', '.join(files.FORMATS)}", came=repr(form), where="--format")
    return None if form is None else files.FORMATS[form]
