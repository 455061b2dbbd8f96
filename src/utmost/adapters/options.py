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
    typer.Option("--witness", metavar="FILE", help="The witness file; else PLACE.witness beside an SQLite ledger."),
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
