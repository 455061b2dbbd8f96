"""`utmost verify`: check a published table against its statement, and its signature."""

from pathlib import Path
from typing import Annotated

from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.verified_files import verified, verified_in_words


def verify(
    release: Annotated[
        file_options.File,
        file_options.file_argument("RELEASE", "Published file: a table, or the .json of a release by a plan."),
    ],
    *,
    statement: file_options.StatementFile = None,
    public_key: Annotated[
        Path | None,
        option("FILE", "Curator's public Ed25519 key, to check the signature.", exists=True, dir_okay=False),
    ] = None,
    whole: Annotated[
        Path | None,
        option(
            "FILE",
            "Release from which a clean or withheld table was made, or design from which answers were drawn.",
            "--release",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    spelling: table_options.TextFileOptions,
    answer: options.Output,
) -> None:
    """Check a published table against its statement: noise, margins, promise, values and signature.

    utmost verify released.csv --public-key curator.pub

    The output also lists assumptions that no check can show.

    More: docs/howto/check-and-read-a-release.md
    """
    if statement is None and isinstance(release, file_options.StandardInput) and release.suffix != ".json":
        raise OutOfRange("a table from standard input needs --statement", came="none", remedy="Add --statement FILE.")
    try:
        report = verified(release, statement, whole=whole, public_key=public_key, text_file=spelling.of(release))
    except BadTable as error:
        if error.where is not None and str(release) not in error.where:  # a field of the statement
            error.where = f"{release}, {error.where}"
        raise
    if answer.give(report):
        screen().print(
            ScreenText(f"{report['release']} is what its statement says.", style="bold"),
            ScreenText(f"{report['promise']}\n"),
            facts(verified_in_words(report)),
        )
