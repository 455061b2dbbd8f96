"""`utmost release`: publish a table with the least noise that its level allows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from utmost.adapters import files, options
from utmost.adapters.atomic import check_absent
from utmost.adapters.release_screen import show_release
from utmost.adapters.screen import busy, print_json
from utmost.adapters.sidecar import publish, sidecar_path
from utmost.release import rehearse_table, release_table

Columns = Annotated[
    list[str], typer.Option(metavar="NAMES", help="The columns to release, separated by commas; all others are published.")
]
Cells = Annotated[
    int,
    typer.Option(metavar="N", help="How many of the released cells one individual changes, over all released columns."),
]
Neighbours = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="add-remove: one individual more or less. change-one: one record replaced, charged twice."
    ),
]


def release(
    table: options.TableFile,
    columns: Columns,
    sensitivity: options.Sensitivity,
    cells: Cells,
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    neighbours: Neighbours = "add-remove",
    relaxable: Annotated[
        bool, typer.Option("--relaxable", help="Use noise that can later be relaxed to a larger epsilon without loss.")
    ] = False,
    confidence: options.Confidence = "0.95",
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="A column whose cells must all be there and distinct.")
    ] = None,
    grid: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="For reals: the width of the grid, a power of two such as 1/1024.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write here, and the statement to FILE.json; standard output otherwise."),
    ] = None,
    as_json: options.AsJson = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, show what would be spent, draw nothing.")
    ] = False,
) -> None:
    """Publish a table with the least noise that its privacy level allows.

    Every cell of the released columns is noised once, exactly, so that the whole table costs epsilon for any one
    individual. The statement beside the table says what was promised. Nothing is written where anything is wrong.
    """
    if out is not None:
        check_absent(out)
        check_absent(sidecar_path(out))
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
    if out is not None and not dry_run:
        publish(made, out)
    _show(made, out, as_json=as_json)


def _names(columns: list[str]) -> list[str]:
    return [name.strip() for text in columns for name in text.split(",") if name.strip()]


def _show(made: Any, out: Path | None, *, as_json: bool) -> None:
    if as_json:
        print_json(made.sidecar if made.table is None or out else {"statement": made.sidecar, "table": files.columns(made.table)})
    else:
        show_release(made, out)
