"""`utmost release`: publish a table, each cell with the least noise that its share of the level allows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from utmost.adapters import files, options
from utmost.adapters.consent import protected
from utmost.adapters.reports import print_json
from utmost.adapters.sidecar import Signer, check_free, publish
from utmost.errors import OutOfRange
from utmost.release import TableRelease, rehearse_table, release_table

Columns = Annotated[
    list[str],
    typer.Option(metavar="NAMES", help="The columns to release, separated by commas."),
]
Public = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="The columns to publish as they are; no cell of them may depend on anybody."),
]
Drop = Annotated[list[str] | None, typer.Option(metavar="NAMES", help="The columns to leave out.")]
Rows = Annotated[
    str,
    typer.Option(metavar="ORIGIN", help="declared: the rows were listed beforehand. observed: found in the data."),
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
Ledger = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PLACE",
        help="Keep the release in a ledger (an SQLite file, or postgresql://HOST/DATABASE), to be relaxed and viewed.",
    ),
]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="With --ledger: the name of the release.")]
Dataset = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="With --ledger: the dataset whose budget is charged.")
]
Independent = Annotated[
    bool,
    typer.Option("--independent", help="With --ledger: these are other people's data than any other dataset's in it."),
]
Largest = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="With --ledger: a public bound on the size of any true value; smaller files."),
]
HalfStep = Annotated[
    bool, typer.Option("--half-step", help="With --ledger: half-step staircase noise, for odd sensitivities above 1.")
]
NewVersion = Annotated[
    int | None,
    typer.Option(
        "--data-version", metavar="N", help="With --ledger: 2, 3, ... for data that have changed; it adds up."
    ),
]
Create = Annotated[
    bool, typer.Option("--create", help="With --ledger: make the ledger where there is none, with its key and witness.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check everything, show what would be spent, draw nothing.")]


def release(
    table: options.TableFile,
    columns: Columns,
    sensitivity: options.Sensitivity,
    cells: options.Cells,
    public: Public = None,
    drop: Drop = None,
    rows: Rows = "declared",
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    cost: options.Cost = "absolute",
    domain: options.Domain = "integers",
    neighbours: options.Neighbours = "add-remove",
    relaxable: options.Relaxable = False,
    confidence: options.Confidence = "0.95",
    id_column: IdColumn = None,
    grid: Grid = None,
    ledger: Ledger = None,
    create: Create = False,
    name: Name = None,
    dataset: Dataset = None,
    independent: Independent = False,
    largest: Largest = None,
    version: NewVersion = None,
    half_step: HalfStep = False,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    out: Out = None,
    as_json: options.AsJson = False,
    dry_run: DryRun = False,
    yes: options.Yes = False,
    sign: options.Sign = None,
) -> None:
    """Publish a table, each cell with the least noise that its share of the level allows.

    Every cell of the released columns is noised once, exactly, so that the whole table costs epsilon for any one
    individual. Each other column must be declared public, or dropped. The statement beside the table says what was
    promised. Nothing is written where anything is wrong. With --ledger the responses are kept, so that the level can be
    relaxed later and each recipient be given its view.
    """
    promise = {
        "columns": _names(columns),
        "public": _names(public or []),
        "drop": _names(drop or []),
        "rows": rows,
        "epsilon": epsilon,
        "alpha": alpha,
        "sensitivity": sensitivity,
        "cells": cells,
        "domain": domain,
        "neighbours": neighbours,
        "id_column": id_column,
        "grid": grid,
    }
    at_once = {"cost": cost, "relaxable": relaxable, "confidence": confidence}
    kept = {"name": name, "dataset": dataset, "version": version, "half_step": half_step}
    kept |= {"independent": independent, "largest": largest}
    if ledger is None:
        _check_unused(kept | {"create": create, "key_file": key_file, "witness": witness}, "needs --ledger")
        with protected(yes):
            return _release(table, promise | at_once, out, sign, as_json=as_json, dry_run=dry_run)
    from utmost.adapters.ledgers.opening import Place
    from utmost.adapters.ledgers.publishing import publish_in_ledger

    _check_unused({"cost": cost != "absolute", "relaxable": relaxable}, "cannot be chosen with --ledger")
    if name is None:
        raise OutOfRange("a release in a ledger needs a name", came="none", where="--name")
    place = Place.of(ledger, key_file, witness)
    with protected(yes):
        publish_in_ledger(
            place, table, promise | kept, confidence, out, create=create, as_json=as_json, dry_run=dry_run, sign=sign
        )


def _release(
    table: Path, promise: dict[str, Any], out: Path | None, sign: Path | None, *, as_json: bool, dry_run: bool
) -> None:
    """Release a table once and for all."""
    from utmost.adapters.screens.progress import busy
    from utmost.adapters.signature import signer_of

    check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    with busy(f"Checking and noising {table.name}"):
        made = (rehearse_table if dry_run else release_table)(files.read(table), **promise)
    _give(made, out, signer, as_json=as_json)


def _check_unused(given: dict[str, object], why: str) -> None:
    for name, value in given.items():
        if value not in (None, False):
            raise OutOfRange(f"--{name.replace('_', '-')} {why}")


def _names(columns: list[str]) -> list[str]:
    return [name.strip() for text in columns for name in text.split(",") if name.strip()]


def _give(made: TableRelease, out: Path | None, signer: Signer | None, *, as_json: bool) -> None:
    """Write the files, then print: JSON for programs, a screen for people."""
    from utmost.adapters.screens.progress import watched
    from utmost.adapters.screens.release import show_release

    said = None
    if made.table is not None and out is not None:
        said = publish(made.table, made.said, out, watched, signer)
    if not as_json:
        show_release(made, out)
    elif made.table is None or out is not None:
        print_json(said or made.sidecar)
    else:
        print_json({"statement": made.sidecar, "table": files.columns(made.table)})
