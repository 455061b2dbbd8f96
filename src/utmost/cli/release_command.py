"""`utmost release`: the promise in plain words, and the table with its error bars."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from utmost.cli import options
from utmost.cli.places_screen import publish_places
from utmost.cli.screen import busy, facts, number, percent, screen, watched
from utmost.documents.reports import print_json
from utmost.documents.statement_files import Signer, check_free, publish, sidecar_path, signer_of
from utmost.errors import OutOfRange
from utmost.noise.law import read_confidence
from utmost.release import TableRelease, rehearse_table, release_table
from utmost.tables import files

_SHOWN = 12
_BAR = 24


def show_release(release: TableRelease, out: Path | None) -> None:
    """Print the statement, and the table: as a picture where it went to a file, as CSV on standard output otherwise."""
    if release.table is None:
        screen().print(_statement(release, "Nothing was drawn. This is what a release would promise.", None))
    elif out is None:
        files.write_text(release.table, sys.stdout.buffer)
        sys.stdout.flush()
        screen(stderr=True).print(Text(), _statement(release, "Released.", None), sep="\n")
    else:
        screen().print(_picture(release), _statement(release, "Released.", out))


def _statement(release: TableRelease, headline: str, out: Path | None) -> Group:
    said = release.said(None)
    sure = percent(release.plan.confidence)
    rows = {
        "released": f"{', '.join(release.columns)} ({release.rows} rows)",
        "public": ", ".join(release.public) or "no other column",
        "rows": {"declared": "listed beforehand", "observed": "found in the data, and reported"}[release.rows_from],
        "level": f"epsilon = {said['epsilon']} in all, epsilon = {said['per_cell']['epsilon']} for each cell",
        "neighbours": said["neighbours"],
        "noise": _noise(release),
        "why this noise": release.plan.theorem,
        "error bar": f"± {number(release.radius)} around each released cell, at {sure} confidence",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    return Group(Text(headline, style="bold"), Padding(Text(said["guarantee"]), (0, 0, 1, 0)), facts(rows))


def _noise(release: TableRelease) -> str:
    snapped = "" if release.plan.grid is None else f", in steps of {release.plan.grid}"
    return f"{release.plan.drawn!r}{snapped}"


def _picture(release: TableRelease) -> Table:
    """The first rows, each released number with its error bar."""
    names, rows = files.head(release.table, _SHOWN)
    radii = {f"{name}_radius" for name in release.columns}
    picture = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    cells: list[list[Any]] = []
    for at, name in enumerate(names):
        column = [row[at] for row in rows]
        if name in release.columns:
            picture.add_column(escape(name), justify="right", no_wrap=True)
            picture.add_column("", no_wrap=True, min_width=_BAR // len(release.columns) + 1)
            width = _BAR // len(release.columns)
            cells += [[f"{cell} ± {number(release.radius)}" for cell in column], _bars(column, release.radius, width)]
        elif name not in radii:
            picture.add_column(escape(name), justify="right" if all(map(_is_number, column)) else "left")
            cells.append([escape(cell) for cell in column])
    for row in zip(*cells, strict=True):
        picture.add_row(*row)
    if release.rows > len(rows):
        picture.caption = f"and {release.rows - len(rows)} more rows"
    return picture


def _bars(column: Sequence[str], radius: int | float, width: int) -> list[Text]:
    """Each number as a bar from zero, its end between the two ends of its error bar."""
    values = [float(cell) for cell in column]
    top = max((abs(value) for value in values), default=0.0) + float(radius)
    scale = width / top if top else 0.0
    return [_bar(abs(value) * scale, float(radius) * scale, width) for value in values]


def _bar(end: float, radius: float, width: int) -> Text:
    low, at, high = (min(width, max(0, round(x))) for x in (end - radius, end, end + radius))
    line = Text("━" * low, style="cyan")
    line.append("─" * (at - low), style="dim")
    line.append("●", style="bold cyan")
    return line.append("─" * (high - at), style="dim")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="The columns to release, separated by commas."),
]
Sensitivity = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="The most by which one individual changes one cell: 1 for a count."),
]
Cells = Annotated[
    int | None,
    typer.Option(metavar="N", help="How many of the released cells one individual changes, over all released columns."),
]
Domain = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where the numbers live: integers or reals. With --person: the file of the declared domain.",
    ),
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
Together = Annotated[
    bool,
    typer.Option(
        "--together", help="One individual changes the released cells of one row, and no other: less noise for them."
    ),
]
Grid = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="For reals: the width of the grid, a power of two such as 1/1024; with --planar any width.",
    ),
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
PlanFile = Annotated[
    options.File | None,
    typer.Option(
        "--plan", metavar="FILE", parser=options.readable, help="Measure what this plan says; utmost plan writes one."
    ),
]
Tables = Annotated[
    Path | None,
    typer.Option("--tables", metavar="DIR", help="With --plan: a CSV file of each wanted table, with error bars."),
]


def release(
    table: options.TableFile,
    columns: Columns = None,
    sensitivity: Sensitivity = None,
    cells: Cells = None,
    *,
    together: Together = False,
    people: options.People,
    plan: PlanFile = None,
    tables: Tables = None,
    plane: options.Plane,
    public: Public = None,
    drop: Drop = None,
    rows: Rows = "declared",
    level: options.AskedLevel,
    cost: options.Cost = "absolute",
    domain: Domain = "integers",
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
    out: options.TableOut = None,
    as_json: options.AsJson = False,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    sign: options.Sign = None,
) -> None:
    """Publish a table, each cell with the least noise that its share of the level allows.

    Every cell of the released columns is noised once, exactly, so that the whole table costs epsilon for any one
    individual. Each other column must be declared public, or dropped. The statement beside the table says what was
    promised. Nothing is written where anything is wrong. With --ledger the responses are kept, so that the level can be
    relaxed later and each recipient be given its view. With --person, --at-most and --domain FILE the table holds
    events, and is counted first: its labels are public then, and what one person changes is proved. With --plan the
    sums of a plan are measured, and the release answers every other sum, with error bars: see utmost total. With
    --planar the columns are the coordinates of one point, which is noised as a whole: epsilon for each unit of
    Euclidean distance.
    """
    out, asked_level = options.file_of(out), level.read()
    kept: dict[str, Any] = {"name": name, "dataset": dataset, "version": version, "half_step": half_step}
    kept |= {"independent": independent, "largest": largest}
    place_options: dict[str, Any] = {"create": create, "key_file": key_file, "witness": witness}
    table_options: dict[str, Any] = {"public": options.names_in(public or []), "drop": options.names_in(drop or [])}
    table_options |= {"rows": rows, "id_column": id_column, "grid": grid, "epsilon": asked_level}
    if plane != options.Plane():
        counted = {"sensitivity": sensitivity, "cells": cells, "cost": cost != "absolute", "relaxable": relaxable}
        counted |= {
            "domain": domain != "integers",
            "neighbours": neighbours != "add-remove",
            "person": people != options.People(),
        }
        _check_unused(
            {"ledger": ledger, "together": together} | counted | kept | place_options, "does not go with --planar"
        )
        points = table_options | {"confidence": confidence}
        with options.protected(yes):
            return publish_places(table, columns, plane, points, out, sign, as_json=as_json, dry_run=dry_run)
    if together:
        unused: dict[str, object] = {
            "cells": cells,
            "ledger": ledger,
            "person": people.person,
            "grid": grid,
            "name": name,
            "plan": plan,
            "tables": tables,
            "nested": people.nested,
            "count_column": people.counts,
        }
        unused |= {"domain": domain != "integers", "cost": cost != "absolute"}
        _check_unused(unused, "goes not with --together")
        _check_given({"--columns": columns, "--sensitivity": sensitivity})
        what: dict[str, Any] = {"columns": options.names_in(columns or []), "public": options.names_in(public or [])}
        what |= {"drop": options.names_in(drop or []), "rows": rows, "id_column": id_column}
        how: dict[str, Any] = {"epsilon": asked_level, "sensitivity": sensitivity, "neighbours": neighbours}
        how |= {"relaxable": relaxable, "confidence": confidence}
        from utmost.cli.together_release import publish_together

        with options.protected(yes):
            return publish_together(table, what, how, out, sign, as_json=as_json, dry_run=dry_run)
    _check_before_counting(table, people, out, sign, planned=plan is not None, kept=ledger is not None)
    fixed: dict[str, object] = {"columns": columns, "public": public, "drop": drop, "id": id_column, "grid": grid}
    fixed |= {"sensitivity": sensitivity, "cells": cells}
    fixed |= {"rows": rows != "declared", "cost": cost != "absolute"}
    if plan is None:
        _check_unused({"tables": tables}, "needs --plan")
        strategy, (brought, domain) = None, _counted(table, people, domain, neighbours)
    else:
        _check_unused(fixed | {"relaxable": relaxable, "half_step": half_step}, "cannot be chosen with --plan")
        from utmost.cli.planned_release import planned_table, read_plan

        strategy = read_plan(plan)
        brought = planned_table(table, people, domain, neighbours, strategy)
    if brought is None:
        _check_given({"--columns": columns, "--sensitivity": sensitivity, "--cells": cells})
    promise: dict[str, Any] = {"strategy": strategy, "epsilon": asked_level}
    if strategy is None:
        promise = table_options | {
            "columns": options.names_in(columns or ["count"]),
            "sensitivity": sensitivity,
            "cells": cells,
            "domain": domain,
            "neighbours": neighbours,
        }
    at_once = {"cost": cost, "relaxable": relaxable, "confidence": confidence}
    if ledger is not None:
        _check_unused({"tables": tables}, "cannot be chosen with --ledger")
    else:
        _check_unused(kept | place_options, "needs --ledger")
        with options.protected(yes):
            if strategy is not None:
                from utmost.cli.workload_screens import release_by_plan

                sure, signer = read_confidence(confidence), None if sign is None else signer_of(sign)
                given = (asked_level, sure, out, signer, tables)
                return release_by_plan(brought, strategy, *given, as_json=as_json, dry_run=dry_run)
            return _release(table, brought, promise | at_once, out, sign, as_json=as_json, dry_run=dry_run)
    _check_unused({"cost": cost != "absolute", "relaxable": relaxable}, "cannot be chosen with --ledger")
    if name is None:
        raise OutOfRange("a release in a ledger needs a name", came="none", where="--name")
    from utmost.cli.ledger_answers import Question, publish_in_ledger
    from utmost.cli.ledger_place import Place

    asked = Question(name, level.epsilon, level.alpha, version, confidence, out, sign, as_json)
    place = Place(ledger, key_file, witness)
    with options.protected(yes):
        publish_in_ledger(place, table, promise | kept, asked, create=create, dry_run=dry_run, brought=brought)


def _check_before_counting(
    table: Path, people: options.People, out: Path | None, sign: Path | None, *, planned: bool, kept: bool
) -> None:
    """Check what can be checked before a count that may take a minute: where the answer goes, and the key."""
    if planned:
        from utmost.cli.workload_screens import check_document

        check_document(out, sign)
    elif people.person is not None:
        check_free(table, out, sign)
    if kept and people.person is not None and people.count_key is None:
        remedy = "Keep a file of 32 random bytes for it; or let utmost count write the table, and release its file."
        raise OutOfRange("what a ledger keeps is counted alike each time", came="no --count-key", remedy=remedy)


def _counted(table: Path, people: options.People, domain: str, neighbours: str) -> tuple[Any, str]:
    """The counted table where the file holds events, or one that `utmost count` wrote; and where the numbers live."""
    if people.are_given:
        from utmost.cli.count_command import DOMAIN_REMEDY
        from utmost.documents.counted_files import read_domain

        if domain in ("integers", "reals"):
            raise OutOfRange(
                "events are counted over a declared domain", came="no file", where="--domain", remedy=DOMAIN_REMEDY
            )
        return people.counted(table, read_domain(options.readable(domain)), neighbours), "integers"
    if people != options.People():
        raise OutOfRange(
            "--by, --at-most, --per-atom, --values and --count-key need --person, --count-column or --nested"
        )
    if table.suffix.lower() != ".json":
        return None, domain
    from utmost.documents.counted_files import COUNTED_FORM

    made = COUNTED_FORM.read(table)
    if made.unit.neighbours != neighbours == "add-remove":
        raise OutOfRange(f"this table was counted for {made.unit.neighbours}", came=neighbours, where="--neighbours")
    return made, domain


def _check_given(needed: dict[str, object]) -> None:
    missing = [option for option, value in needed.items() if value is None]
    if missing:
        raise OutOfRange(
            "a release must say which columns it releases, and what one individual changes",
            came=f"no {' and no '.join(missing)}",
            remedy="Or count people first: --person, --at-most and --domain FILE.",
        )


def _release(
    table: Path,
    brought: Any,
    promise: dict[str, Any],
    out: Path | None,
    sign: Path | None,
    *,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Release a table once and for all."""
    check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    with busy(f"Checking and noising {table.name}"):
        source = files.read(table) if brought is None else brought
        made = (rehearse_table if dry_run else release_table)(source, **promise)
    _give(made, out, signer, as_json=as_json)


def _check_unused(given: dict[str, object], why: str) -> None:
    for name, value in given.items():
        if value not in (None, False):
            raise OutOfRange(f"--{name.replace('_', '-')} {why}")


def _give(made: TableRelease, out: Path | None, signer: Signer | None, *, as_json: bool) -> None:
    """Write the files, then print: JSON for programs, a screen for people."""
    said = None
    if made.table is not None and out is not None:
        said = publish(made.table, made.said, out, watched, signer)
    if not as_json:
        show_release(made, out)
    elif made.table is None or out is not None:
        print_json(said or made.sidecar)
    else:
        print_json({"statement": made.sidecar, "table": files.columns(made.table)})
