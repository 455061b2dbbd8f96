"""`utmost release`: publish a file, in whichever way its options say."""

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from utmost.doors.cli import file_options, options, people_options, release_ways, table_options

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
Request = Annotated[
    str | None,
    typer.Option(
        "--request",
        metavar="ID",
        help="With --ledger: a name for this run. Run again under it, it gives the same bytes, and ends well.",
    ),
]
NoiseBy = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="BY",
        help="With --ledger: rows, or items: a function of the ledger's key and of each --id, whatever their order.",
    ),
]
Create = Annotated[
    bool, typer.Option("--create", help="With --ledger: make the ledger where there is none, with its key and witness.")
]
PlanFile = Annotated[
    file_options.File | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        parser=file_options.readable,
        help="Measure what this plan says; utmost plan writes one.",
    ),
]
Tables = Annotated[
    Path | None,
    typer.Option("--tables", metavar="DIR", help="With --plan: a CSV file of each wanted table, with error bars."),
]


def release(
    table: file_options.TableOrLake,
    columns: Columns = None,
    sensitivity: Sensitivity = None,
    cells: Cells = None,
    *,
    together: Together = False,
    people: people_options.People,
    plan: PlanFile = None,
    tables: Tables = None,
    plane: options.Plane,
    public: Public = None,
    drop: Drop = None,
    rows: Rows = "declared",
    level: options.AskedLevel,
    cost: options.Cost = "absolute",
    numbers: options.Numbers = "integers",
    domain: file_options.DomainFile = None,
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
    request: Request = None,
    noise: NoiseBy = "rows",
    half_step: HalfStep = False,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    spelling: table_options.Spelling,
    out: file_options.TableOut = None,
    form: table_options.Format = None,
    as_json: options.AsJson = False,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    sign: options.Sign = None,
) -> None:
    """Publish a table, each cell with the least noise that its share of the level allows.

    The promise: whatever anyone concludes from the released table, the chance of concluding it is at most exp(epsilon)
    times what it would have been without any one individual. The statement, FILE.json beside the table, has it in full
    with all that it assumes. Every column must be released, declared public, or dropped.

    --person, --at-most and --domain FILE: the table holds events. They are counted first, which proves what one person
    changes.

    --plan: noise the sums that a plan chose. Every other sum then has its error bar: see utmost total.

    --ledger: keep the release, so that it can be published with less noise later, and each recipient gets a copy.

    --planar: the columns are the coordinates of one point, with epsilon for each unit of Euclidean distance.
    """
    asked = SimpleNamespace(**locals(), given=level)
    asked.out, asked.level = table_options.output(out, form), level.read()
    asked.table = spelling.of(table)
    asked.columns, asked.public, asked.drop = (
        None if columns is None else people_options.names_in(columns),
        people_options.names_in(public or []),
        people_options.names_in(drop or []),
    )
    with options.protected(yes):
        release_ways.way_of(asked)(asked)
