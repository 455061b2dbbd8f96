"""`utmost verify`: whether a published table is what its statement says, and who signed it."""

from pathlib import Path
from typing import Annotated, Any

from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import Group, Text
from utmost.interfaces.documents.verified_files import verified, verified_in_words

Release = Annotated[file_options.File, file_options.file_argument("RELEASE", "A released table; - for the pipe.")]
PublicKey = Annotated[
    Path | None,
    option("FILE", "Ed25519 public key of the curator, to check the signature as well.", exists=True, dir_okay=False),
]

Of = Annotated[
    Path | None,
    option(
        "FILE",
        "Whole release that a clean table, or one with withheld cells, is made of.",
        "--release",
        exists=True,
        dir_okay=False,
    ),
]


def verify(
    release: Release,
    *,
    statement: file_options.StatementFile = None,
    public_key: PublicKey = None,
    of: Of = None,
    spelling: table_options.Spelling,
    answer: options.Output,
) -> None:
    """Check a published table: the statement's figures, that the table is unchanged, and who signed it.

    The level, the noise, the error bar and the sentences of the statement are computed again and compared. What no
    check can show, such as how many cells one individual changes, is listed as taken on trust. A release by a plan is
    one file, which holds its statement. A clean table has a certificate, which proves how near it is to its release. Of
    a table with withheld cells no shown one may break the rule; beside the release just the right ones must be missing.
    """
    if statement is None and isinstance(release, file_options.StandardInput) and release.suffix != ".json":
        raise OutOfRange("a table from the pipe needs its statement", came="none", where="--statement")
    report = verified(release, statement, of=of, public_key=public_key, spelled=spelling.of(release))
    answer.give(report, lambda: _show(report))


def _show(report: dict[str, Any]) -> None:
    """Print what was computed again and compared, and what could not be."""
    headline = Text(f"{report['release']} is what its statement says.", style="bold")
    promise = Text(f"{report['promise']}\n")
    screen().print(Group(headline, promise, facts(verified_in_words(report))))
