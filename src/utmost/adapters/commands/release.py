"""`utmost release`: publish a table with the least noise that its level allows."""

from pathlib import Path
from typing import Annotated

import typer

from utmost.adapters import files, options
from utmost.adapters.reports import print_json
from utmost.adapters.sidecar import check_free, publish
from utmost.release import TableRelease, rehearse_table, release_table

Columns = Annotated[
    list[str],
    typer.Option(metavar="NAMES", help="The columns to release, separated by commas; others pass as they are."),
]
IdColumn = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="A column whose cells must all be there and distinct.")
]
Grid = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="For reals: the width of the grid, a power of two such as 1/1024.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write here, and the statement to FILE.json; to standard output otherwise."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything, show what would be spent, draw nothing.")]


def release(
    table: options.TableFile,
    columns: Columns,
    sensitivity: options.Sensitivity,
    cells: options.Cells,
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    neighbours: options.Neighbours = "add-remove",
    relaxable: options.Relaxable = False,
    confidence: options.Confidence = "0.95",
    id_column: IdColumn = None,
    grid: Grid = None,
    out: Out = None,
    as_json: options.AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Publish a table with the least noise its level allows.

    Every cell of the released columns is noised once, exactly, so that the whole table costs epsilon for any one
    individual. The statement beside the table says what was promised. Nothing is written where anything is wrong.
    """
    from utmost.adapters.screens.progress import busy

    check_free(table, out)
    with busy(f"Checking and noising {table.name}"):
        made = (rehearse_table if dry_run else release_table)(
            files.read(table),
            columns=_names(columns),
            epsilon=epsilon,
            alpha=alpha,
            sensitivity=sensitivity,
            cells=cells,
            cost=cost,
            domain=domain,
            neighbours=neighbours,
            relaxable=relaxable,
            confidence=confidence,
            id_column=id_column,
            grid=grid,
        )
    _give(made, out, as_json=as_json)


def _names(columns: list[str]) -> list[str]:
    return [name.strip() for text in columns for name in text.split(",") if name.strip()]


def _give(made: TableRelease, out: Path | None, *, as_json: bool) -> None:
    """Write the files, then print: JSON for programs, a screen for people."""
    from utmost.adapters.screens.progress import watched
    from utmost.adapters.screens.release import show_release

    if made.table is not None and out is not None:
        publish(made, out, watched)
    if not as_json:
        show_release(made, out)
    elif made.table is None or out is not None:
        print_json(made.sidecar)
    else:
        print_json({"statement": made.sidecar, "table": files.columns(made.table)})
