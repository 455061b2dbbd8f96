"""`utmost count`: events of people into the true table of a declared domain, with the unit that the counting proved."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from utmost.cli import options
from utmost.cli.screen import facts, screen
from utmost.documents.codec import write
from utmost.documents.counted_files import COUNTED_FORM, read_domain
from utmost.documents.reports import print_json
from utmost.errors import OutOfRange
from utmost.release.counted import CountedTable
from utmost.tables import files
from utmost.tables.atomic import check_absent, write_together

WARNING = "True counts: not to be published. They are for `utmost release`, and for their owner alone."
DOMAIN_REMEDY = 'Pass a JSON file such as {"region": ["North", "South"], "age": {"bins": [0, 100], "width": 10}}.'

DomainFile = Annotated[
    options.File,
    typer.Option(
        "--domain",
        metavar="FILE",
        parser=options.readable,
        help='The declared domain as JSON: {"sex": ["men", "women"], "age": {"bins": [0, 100], "width": 10}}.',
    ),
]
CountedOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write it here, for its owner alone: .json keeps the unit, .csv the counts; - for the pipe.",
    ),
]


def count(
    events: options.TableFile,
    domain: DomainFile,
    *,
    people: options.People,
    neighbours: options.Neighbours = "add-remove",
    out: CountedOut = None,
    as_json: options.AsJson = False,
    dry_run: options.DryRun = False,
) -> None:
    """Count the events of people over a declared domain, so that one person changes no more than is said.

    Of each person --at-most atoms are kept, each changed by --per-atom at most; atoms with nobody in them hold 0, and
    what the domain does not declare is left out. The counts are true: they are written for `utmost release`, readable
    by their owner alone, and are not to be published.
    """
    out = options.file_of(out)
    if out is not None:
        if out.suffix.lower() not in (".json", ".csv", ".tsv"):
            raise OutOfRange("a counted table is written as .json or .csv", came=out.name, where="--out")
        check_absent(out)
    made = people.counted(events, read_domain(domain), neighbours)
    if dry_run:
        return _tell(made, None, as_json=as_json, headline="Nothing was written. This is what a release would protect.")
    if out is not None:
        write_together({out: lambda file: _write(made, file, out)}, owner_only=True)
        _tell(made, out, as_json=as_json, headline="Counted.")
    elif as_json:
        print_json(COUNTED_FORM.document(made))
    else:
        files.write_text(_columns(made), sys.stdout.buffer)
        sys.stdout.flush()
    screen(stderr=True).print(Text(WARNING, style="bold"))


def _write(made: CountedTable, file: Any, out: Path) -> None:
    if out.suffix.lower() == ".json":
        write(COUNTED_FORM.document(made), file)
    else:
        files.write(_columns(made), file, out)


def _columns(made: CountedTable) -> dict[str, Any]:
    finest = made.domain.finest
    sums = made.domain.sums(made.atoms, finest).ravel()
    return {**made.domain.group_labels(finest), "count": sums}


def _tell(made: CountedTable, out: Path | None, *, as_json: bool, headline: str) -> None:
    """Say what was counted and what one person changes; no count, which a log would keep."""
    unit = made.unit
    if as_json:
        proved = {"sensitivity": str(unit.sensitivity), "cells": unit.cells, "neighbours": unit.neighbours}
        columns = list(made.domain.columns)
        return print_json({"atoms": made.domain.size, "columns": columns, "unit": proved, "out": out and str(out)})
    rows = {
        "atoms": f"{made.domain.size} ({', '.join(made.domain.columns)})",
        "one person": f"changes at most {unit.cells} of them, each by at most {unit.sensitivity}",
        "neighbours": unit.neighbours,
    }
    if out is not None:
        rows["written"] = str(out)
        if out.suffix.lower() == ".json":
            rows["release it"] = f"utmost release {out} --epsilon ..."
        else:
            rows["release it"] = f"with --sensitivity {unit.sensitivity} --cells {unit.cells}"
    screen().print(Text(headline, style="bold"), facts(rows))
