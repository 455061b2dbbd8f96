"""`utmost demo`: run the commands that count, release, read, relax, view and verify a public table."""

import csv
import json
import shlex
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated

from utmost.errors import Unsupported
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.tables.admissions import ADMISSIONS_DOMAIN, admission_rows

EVENTS, DOMAIN = "applicants.csv", "domain.json"
STEPS = (
    (
        "1. Count. Each row is one of 4 526 applicants to six departments of Berkeley, 1973, and is in one cell.",
        "count applicants.csv --person applicant --at-most 1 --domain domain.json --out counted.json",
    ),
    (
        "2. Release. Publish the counts at a small epsilon, in a ledger, so that they can be relaxed later.",
        "ledger create releases.db",
    ),
    (
        "",
        "release counted.json --columns count --epsilon 1/4 --ledger releases.db --name admissions --out early.csv",
    ),
    (
        "3. Read. See the margin of each cell, and the margins at larger epsilons.",
        "read early.csv --at 1",
    ),
    (
        "4. Relax. Publish again with a quarter of the noise. Both answers together cost epsilon = 1, not 5/4.",
        "relax counted.json --ledger releases.db --name admissions --epsilon 1 --out sharper.csv",
    ),
    (
        "5. View. A noisier copy for a partner: it needs no data, and costs nothing.",
        "view --ledger releases.db --name admissions --epsilon 1/2 --out partner.csv",
    ),
    (
        "6. Verify. Anyone can check the file against its statement; whoever has the key can check the ledger.",
        "verify sharper.csv",
    ),
    ("", "ledger verify --ledger releases.db"),
    (
        "7. Write the statement as a page to print.",
        "statement sharper.csv --title 'Admissions to Berkeley, 1973' --html statement.html",
    ),
)
"""Headings and commands; a test runs each command as a user would type it."""


def demo(*, keep: Annotated[Path | None, option("DIR", "New folder for the files.")] = None) -> None:
    """Count, release, read, relax, view and verify a public table.

    Show each step as a command.
    """
    from utmost.interfaces.cli.main import command_named  # main imports this module when the demo is called

    begun = monotonic()
    if keep is not None:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise Unsupported("--keep must name a new or empty folder", came=str(keep), remedy="Name another folder.")
        keep.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="utmost-demo-") as temporary, chdir(keep or temporary):
        write_events()
        for words, line in STEPS:
            console = screen()
            if words:
                console.print(ScreenText(f"\n{words}", style="bold"))
            console.print(ScreenText(f"$ utmost {line}\n", style="cyan"))
            # Errors propagate to the demo, and do not end the process in a command.
            name, *arguments = shlex.split(line)
            command_named(name).main(args=arguments, prog_name=f"utmost {name}", standalone_mode=False)
    took = f"That took {monotonic() - begun:.1f} seconds."
    where = f"The files are in {keep}." if keep is not None else "The files were deleted; --keep DIR would keep them."
    screen().print(ScreenText(f"\n{took} {where}", style="bold"))


def write_events() -> None:
    """Write the applicants and the declared domain into the current folder."""
    with Path(EVENTS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["applicant", "department", "sex", "outcome"])
        writer.writerows(admission_rows())
    Path(DOMAIN).write_text(json.dumps(ADMISSIONS_DOMAIN) + "\n", encoding="utf-8")
