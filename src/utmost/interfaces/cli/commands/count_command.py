"""`utmost count`: count events of people into the true table of a declared domain, with a proved privacy unit."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options, people_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.cli.unknown_keys import UnknownKeys
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.counted import CountedTable
from utmost.publish.statements.counted_files import COUNTED_FORM, read_domain
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.files import files
from utmost.tables.files.atomic import check_absent, write_together
from utmost.tables.files.json_files import write_json

WARNING = (
    "These counts are true: do not publish them, and show them only to their owner. Release them by `utmost release`."
)
_DRY = "Nothing was written. A release would protect the following."
DOMAIN_REMEDY = (
    "Add a file, for example --domain domain.json, such as "
    '{"region": ["North", "South"], "age": {"bins": [0, 100], "width": 10}}.'
)

FIRST = (
    *("--person", "--each-row", "--at-most", "--domain", "--values", "--step", "--each", "--per-cell", "--count-key"),
    *("--out", "--dry-run"),
)
AS_IN = {"utmost release": ("--by", "--mean", "--leave-out")}
RARE = (
    *(
        "--neighbours",
        "--most-events",
        "--in-total",
        "--measures",
        "--count-column",
        "--nested",
        "--part",
        "--together",
    ),
    *("--contributions", "--unknown-keys", "--delta", "--shares", "--epsilon", "--report", "--individual"),
)


def count(
    events: file_options.TableOrFolder,
    *,
    people: people_options.CountingOptions,
    part: Annotated[
        str | None, option("AXIS", "Axis; each of its labels gets a file, and each person is counted in one file only.")
    ] = None,
    together: Annotated[
        str | None,
        option("AXIS", "Axis of 2 to 5 values; a person's cells that differ only in it are kept or removed together."),
    ] = None,
    contributions: Annotated[
        str | None,
        option("BOUNDS", "Bounds to compare: at-most=1,2,5 or per-cell=10,100 or in-total=30,100,300."),
    ] = None,
    unknown: UnknownKeys,
    level: options.LevelOptions,
    spelling: table_options.NumberSpelling,
    out: Annotated[
        Path | None,
        option("FILE", "File for true counts and privacy unit (.json); keep it secret."),
    ] = None,
    report: Annotated[
        Path | None,
        option("FILE", "File for the counting report (.json); keep it secret."),
    ] = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Count events of people into a table, and prove how much one person can change it.

    utmost count events.csv --person user --at-most 3 --domain domain.json --out counted.json

    The counts are true: release the file with `utmost release`, and never publish it.

    More: docs/howto/count-people.md
    """
    out, events = table_options.output(out, form), spelling.of(events, is_counted=True)
    if report is not None:
        check_absent(report)
    if out is not None and out.suffix.lower() != ".json":
        table_options.check_output(out)
    elif out is not None:
        check_absent(out)

    if contributions is not None and (part or together or unknown.column):
        came = "--part" if part else "--together" if together else "--unknown-keys"
        raise OutOfRange(f"--contributions cannot be combined with {came}", came="both", remedy=f"Leave out {came}.")

    for name, given in (("--report", report is not None), ("--format", form is not None)):
        if given and unknown.column is not None:
            raise OutOfRange(f"--unknown-keys cannot be combined with {name}", came="both", remedy=f"Leave out {name}.")
    if part is not None and (people.counts is not None or people.nested is not None):
        remedy = "Leave out --part, or count events: --person COLUMN."
        raise OutOfRange(
            "--part needs events of people to count", came="a table of cells, already counted", remedy=remedy
        )

    if unknown.column is not None:
        if part is not None or together is not None or people.relation != "add-remove":
            came = "--part" if part is not None else "--together" if together is not None else "--neighbours"
            raise OutOfRange(f"--unknown-keys cannot be combined with {came}", came="both", remedy=f"Leave out {came}.")
        if out is not None and out.suffix.lower() != ".json":
            remedy = f"Write --out {out.with_suffix('.json')}."
            raise OutOfRange(
                "--out must end in .json, because --unknown-keys writes a domain", came=out.name, remedy=remedy
            )
        return unknown.select(
            events, people, level, out, spelling=spelling.cells, as_json=as_json, dry_run=dry_run, yes=yes
        )

    unknown.check_unused(level)
    if people.domain is None:
        remedy = f"{DOMAIN_REMEDY} If nobody can list the values, see --unknown-keys."
        required = "the possible values of each column must be listed in a file, without looking at the data"
        raise OutOfRange(required, came="none", where="--domain", remedy=remedy)
    declared = read_domain(people.domain)
    counted: Any
    if contributions is not None:
        counted = people.contributions(events, declared, spelling.cells, contributions)
    else:
        counted = people.counted(events, declared, spelling.cells, part, together)

    if report is not None:  # tables that were counted in one pass have one report
        tables: list[Any] = [counted]
        while isinstance(tables[0], dict):
            tables = [inner for table in tables for inner in table.values()]
        reports = [table.report for table in tables]
        if reports[0] is None:
            remedy = "Leave out --report, or count the events: --person and --by."
            required = "--report needs a table of events"
            raise OutOfRange(required, came="a table of cells, already counted", remedy=remedy)
        # All measures of a pass have the same report, except for their missing and clipped amounts.
        missing = {name: number for one in reports for name, number in one.without_amount.items()}
        clipped = {name: number for one in reports for name, number in one.clipped_amounts.items()}
        whole = reports[0].facts() | {"without_amount": missing, "clipped_amounts": clipped}
        write_together({report: lambda file: write_json(whole, file)}, owner_only=True)

    if isinstance(counted, dict):
        only_parts = None if people.several is not None else part
        return _write_several(counted, only_parts, out, as_json=as_json, dry_run=dry_run)
    if dry_run:
        return _print_summary(counted, None, people, as_json=as_json, headline=_DRY)
    if out is not None:
        write_together({out: lambda file: _write(counted, file, out)}, owner_only=True)
        _print_summary(counted, out, people, as_json=as_json, headline="Counted." if people.are_events else "Read.")
    elif as_json:
        print_json(COUNTED_FORM.document(counted))
    else:
        table_options.give_table(_columns(counted), form)
    screen(stderr=True).print(ScreenText(WARNING, style="bold"))


def _write_several(
    counted: Mapping[Any, Any], part: str | None, out: Path | None, *, as_json: bool, dry_run: bool
) -> None:
    """Write a file for each part, each measure, or each pair of part and measure; write all files or none."""
    tables: dict[Any, CountedTable] = {}
    for name, table in counted.items():
        tables |= {f"{name}-{of}": each for of, each in table.items()} if isinstance(table, dict) else {name: table}

    what, each, option = "measures", "NAME.json for each measure", "--measures"
    if part is not None:
        what, each, option = "parts", f"LABEL.json for each label of {part}", "--part"
    written: dict[str, str] = {}
    if out is not None:
        paths = {str(name): file_options.named_file(out, re.sub(r"[^\w.]+", "-", str(name))) for name in tables}
        if len(set(paths.values())) < len(tables):
            remedy = "Rename one: file names keep only letters, digits, dots and hyphens."
            raise OutOfRange(
                f"{what} must have different file names", came="the same name twice", where=option, remedy=remedy
            )
        if not dry_run:
            pairs = zip(paths.values(), tables.values(), strict=True)
            write_together({path: partial(_write, table, out=path) for path, table in pairs}, owner_only=True)
            written = {name: str(path) for name, path in paths.items()}
    elif not dry_run:
        remedy = f"Add --out counted.json: the files then have the names counted-{each}."
        raise OutOfRange(f"{option} needs --out: each of the {what} gets a file", came="none", remedy=remedy)

    report: dict[str, Any]
    if part is not None:  # each part has its own level, and a person is in one part only
        first = next(iter(tables.values()))
        report = {"part": part, "labels": list(map(str, tables)), "unit": first.unit.facts()}
        rows = {
            "parts": f"{len(tables)}, by {part}; each person is in one of them",
            "cells": f"{first.domain.size} in each ({', '.join(first.domain.columns)})",
            "one person": f"changes at most {first.unit.cells_text('cell')} of one part, each by at most "
            f"{first.unit.largest_change_named}",
        }
        levels = "a ledger charges the dataset only the largest of these levels"
    else:
        report = {"measures": {name: table.unit.facts() for name, table in tables.items()}}
        rows = {
            name: f"one person changes at most {table.unit.cells} of {table.domain.size} cells, each by at most "
            f"{table.unit.largest_change_named}"
            for name, table in tables.items()
        }
        levels = "the levels add up"
    if as_json:
        return print_json(report | {"out": written})
    if written:
        rows["written"] = ", ".join(written.values())
        rows["release them"] = f"each file at its own level; {levels}"
    nothing = _DRY if part is None else "Nothing was written. Releases would protect the following."
    screen().print(ScreenText("Counted." if written else nothing, style="bold"), facts(rows))
    screen(stderr=True).print(ScreenText(WARNING, style="bold"))


def _write(counted: CountedTable, file: Any, out: Path) -> None:
    if out.suffix.lower() == ".json":
        write_json(COUNTED_FORM.document(counted), file)
    else:
        files.write(_columns(counted), file, out)


def _columns(counted: CountedTable) -> dict[str, Any]:
    columns: dict[str, Any] = files.columns(counted.table(counted.domain.finest))
    return columns


def _print_summary(
    counted: CountedTable, out: Path | None, people: people_options.CountingOptions, *, as_json: bool, headline: str
) -> None:
    """Print the cells, the unit and the next command of a counted table; print no counts, which a log would store."""
    unit = counted.unit
    if as_json:
        columns = list(counted.domain.columns)
        return print_json(
            {
                "cells": counted.domain.size,
                "columns": columns,
                "unit": unit.facts(),
                "out": out and str(out),
                "together": counted.together,
                "individual": counted.individual,
            }
        )
    assumed = "" if people.are_events else ", as your options say: utmost did not count these cells"
    changed = unit.cells_text("cell") if unit.is_shared else f"{unit.cells} of these cells"
    rows = {
        "cells": f"{counted.domain.size} ({', '.join(counted.domain.columns)})",
        "one person": f"changes at most {changed}, each by at most {unit.largest_change_named}{assumed}",
        "neighbours": unit.neighbours,
        **({} if counted.individual is None else {"one individual is": counted.individual}),
    }
    own = unit.amount.name if unit.amount is not None and unit.is_shared else None
    closed = [axis.levels[0] for axis in counted.domain.axes if axis.other is None and axis.levels[0] != own]
    if closed and people.are_events:
        axes = " or ".join(filter(None, (", ".join(closed[:-1]), closed[-1])))
        rows["left out"] = f'events with another {axes}; declare "other" in the domain to count them'
    if counted.together is not None:
        count = unit.cells // WholeRows.of(counted.domain, counted.together).values
        lines = f"{count} row{'s' * (count > 1)} along {counted.together}"
        rows["together"] = f"all cells of a person in at most {lines} are counted, and no others"
    if out is not None:
        rows["written"] = str(out)
        if out.suffix.lower() == ".json":
            rows["release it"] = f"utmost release {out} --epsilon ..., or utmost plan {out} --want ... first"
        elif unit.needs_sizes or unit.step != 1:
            rows["release it"] = f"count with --out {out.with_suffix('.json')}: only a .json file keeps the bounds"
        else:
            typed = f"--columns {counted.column} --public {','.join(counted.domain.columns)}"
            typed += f" --sensitivity {unit.sensitivity} --cells {unit.cells}"
            rows["release it"] = f"utmost release {out} {typed} --epsilon ..."
    screen().print(ScreenText(headline, style="bold"), facts(rows))
