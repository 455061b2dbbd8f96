"""`utmost clean`: whole numbers, none negative, whose sums all agree, beside a release by a plan."""

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from utmost.cli import options
from utmost.cli.screen import busy, facts, number, screen
from utmost.cli.total_command import ReleaseFile
from utmost.documents.codec import write
from utmost.documents.reports import print_json
from utmost.documents.statement_files import sidecar_path
from utmost.documents.workload_files import read_workload
from utmost.errors import OutOfRange
from utmost.release import CleanRelease, WorkloadRelease
from utmost.release.workload_statements import sums_digest
from utmost.tables import files
from utmost.tables.atomic import check_absent, write_together
from utmost.workloads.sums_in_words import TOTAL, read_family

Families = Annotated[
    str | None,
    typer.Option("--family", metavar="LEVELS", help='Which table: "department sex"; that of the atoms if left out.'),
]
CleanOut = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write it to this .csv, and what must be said of it to FILE.json; - for the pipe."
    ),
]


def clean(
    release: ReleaseFile,
    *,
    family: Families = None,
    out: CleanOut = None,
    as_json: options.AsJson = False,
) -> None:
    """Round a release to whole numbers, none negative, whose sums all agree. Publish them beside it, not instead.

    All clean tables of one release agree with each other. They are biased; the unbiased estimates and their error bars
    stand in the same file. It costs nothing.
    """
    out = options.file_of(out)
    if out is not None:
        if out.suffix.lower() not in (".csv", ".tsv"):
            raise OutOfRange("a clean table is written as .csv or .tsv", came=out.name, where="--out")
        for path in (out, sidecar_path(out)):
            check_absent(path)
    read = read_workload(release)
    words = read.domain.level_names(read.domain.finest) if family is None else read_family(read.domain, _total(family))
    if not all(isinstance(word, str) for word in words):
        raise OutOfRange("a clean table is of whole levels", came=repr(family), where="--family")
    with busy("Making whole numbers"):
        made = read.clean()
    table, report = _table(read, made, list(words)), _report(read, made, list(words))
    if out is not None:
        statement = sidecar_path(out)
        write_together({out: lambda file: files.write(table, file, out), statement: lambda file: write(report, file)})
    if as_json:
        return print_json(report | {"table": files.columns(table)})
    if out is None:
        files.write_text(table, sys.stdout.buffer)
        sys.stdout.flush()
    _show(report, out)


def _total(family: str) -> str:
    return "" if family.strip() == TOTAL else family


def _table(read: WorkloadRelease, made: CleanRelease, words: list[str]) -> dict[str, Any]:
    """The estimates and their error bars as they were released, and the whole numbers beside them."""
    columns = files.columns(read[words])
    columns["clean"] = files.columns(made[words])["clean"]
    return {name: np.array(column, dtype=object) for name, column in columns.items()}


def _report(read: WorkloadRelease, made: CleanRelease, words: list[str]) -> dict[str, Any]:
    said = made.facts()
    kept = ("words", "zero_bias", "zero_bias_is_exact", "exact_rounding", "largest_move", "residual")
    return {
        "kind": "utmost clean table",
        "format": 1,
        "family": " ".join(words),
        "of": {"measured": sums_digest(read)},
        **{name: said[name] for name in kept},
    }


def _show(report: dict[str, Any], out: Path | None) -> None:
    exactly = "" if report["zero_bias_is_exact"] else "at most "
    rows = {
        "table": report["family"] or TOTAL,
        "bias": f"a true zero is raised by {exactly}{number(report['zero_bias'], 4)} on average",
        "largest move": f"{number(report['largest_move'], 3)}, of a measured sum, in rounding",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    headline = Text("Clean, for display and for programs that need counts.", style="bold")
    shown = Group(headline, Padding(Text(report["words"]), (0, 0, 1, 0)), facts(rows))
    screen(stderr=out is None).print(shown)
