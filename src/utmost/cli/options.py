"""Options that several commands share, written once."""

from pathlib import Path
from typing import Annotated

import typer

TableFile = Annotated[
    Path, typer.Argument(metavar="TABLE", exists=True, dir_okay=False, help="A .csv, .tsv or .parquet file.")
]
Epsilon = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The privacy level: 1, 0.5 or 1/2. This or --alpha.")
]
Alpha = Annotated[str | None, typer.Option(metavar="NUMBER", help="The privacy level as alpha = exp(-epsilon).")]
Sensitivity = Annotated[
    str, typer.Option(metavar="NUMBER", help="The most by which one individual changes one cell: 1 for a count.")
]
Cells = Annotated[
    int,
    typer.Option(metavar="N", help="How many of the released cells one individual changes, over all released columns."),
]
Cost = Annotated[
    str, typer.Option(metavar="NAME", help="What an error costs: absolute, squared, or moment:3 for its cube.")
]
Domain = Annotated[str, typer.Option(metavar="NAME", help="Where the numbers live: integers or reals.")]
Neighbours = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="add-remove: one individual more or less. change-one: one record replaced, charged twice."
    ),
]
Relaxable = Annotated[
    bool, typer.Option("--relaxable", help="Use noise that can later be relaxed to a larger epsilon without loss.")
]
Confidence = Annotated[str, typer.Option(metavar="NUMBER", help="How surely an error bar must hold.")]
Prior = Annotated[
    str,
    typer.Option(
        metavar="PRIOR",
        help="What is believed before: a .csv file of probabilities, or uniform, binomial:0.3 or poisson:4.",
    ),
]
Loss = Annotated[
    str,
    typer.Option(
        metavar="LOSS",
        help="What an answer costs: absolute, squared, binary, power:1.5, asymmetric:OVER,UNDER, thresholded:T, "
        "capped:LIMIT, or a .csv file with a row for each secret and a column for each answer.",
    ),
]
SpaceSpec = Annotated[
    str | None, typer.Option("--space", metavar="SPEC", help="The secrets as text, such as grid:4x4 or discrete:3.")
]
Line = Annotated[str | None, typer.Option("--line", metavar="N", help="N secrets in a row, at distance 1.")]
Counts = Annotated[str | None, typer.Option("--counts", metavar="N", help="The secrets are the counts 0..N.")]
Discrete = Annotated[str | None, typer.Option("--discrete", metavar="K", help="K secrets, all equally far apart.")]
Hamming = Annotated[str | None, typer.Option("--hamming", metavar="BITS", help="All strings of so many bits.")]
Grid = Annotated[str | None, typer.Option("--grid", metavar="RxC", help="The points of a lattice, Euclidean.")]
Manhattan = Annotated[
    str | None, typer.Option("--manhattan", metavar="RxC", help="The points of a lattice, Manhattan.")
]
Graph = Annotated[
    str | None,
    typer.Option("--graph", metavar="FILE", help="The nodes of a graph: a CSV file of edges, with lengths or none."),
]
Distances = Annotated[
    str | None, typer.Option("--distances", metavar="FILE", help="Any metric: a CSV file of all distances.")
]
Sign = Annotated[
    Path | None,
    typer.Option(
        metavar="KEYFILE", exists=True, dir_okay=False, help="Sign the statement with this Ed25519 key (needs --out)."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Go on at a level that protects practically nobody.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LedgerPlace = Annotated[
    str,
    typer.Option(
        "--ledger",
        metavar="PLACE",
        envvar="UTMOST_LEDGER",
        help="The ledger: an SQLite file, or postgresql://HOST/DATABASE without a password.",
    ),
]
LedgerName = Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the release in the ledger.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The file that holds the ledger's key; else UTMOST_LEDGER_KEY_FILE, or PLACE.key beside an SQLite ledger.",
    ),
]
WitnessFile = Annotated[
    Path | None,
    typer.Option(
        "--witness",
        metavar="FILE",
        help="The witness file; else PLACE.witness beside an SQLite ledger, or a file beside the key.",
    ),
]
DataVersion = Annotated[
    int | None, typer.Option("--data-version", metavar="N", help="Which version of the data; the newest if left out.")
]
LevelEpsilon = Annotated[
    str | None,
    typer.Option("--epsilon", "--level", metavar="NUMBER", help="The privacy level: 1, 0.5 or 1/2. This or --alpha."),
]
LedgerDryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything, show what would be spent, draw and write nothing.")
]
