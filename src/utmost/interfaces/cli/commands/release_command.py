"""`utmost release`: publish a table with noise, by the method that the options choose."""

from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.promise_options import TEXT_OPTIONS
from utmost.interfaces.cli.options.release_options import ReleaseOptions

FIRST = ("--recipe", "--epsilon", "--ledger", "--out", "--dry-run")

IN_RECIPE = (
    *("--neighbours", "--numbers", "--cost", *TEXT_OPTIONS),
    *("--independent", "--new-values", "--key-file", "--witness"),
    *("--currency", "--format", "--sign", "--confidence"),
)
"""Options for permanent properties of a job: only a recipe has them, not the command line."""

RARE = ("--per-cell", "--in-total", "--once", "--dataset", "--data-version", "--yes")
"""Rarely used options, which the help only names."""

ELSEWHERE = {
    **dict.fromkeys(
        (
            "--id",
            "--rows",
            "--grid",
            "--planar",
            "--per",
            "--largest",
            "--half-step",
            "--distribution",
            "--noise",
            "--relaxable",
        ),
        "Promise it first: utmost promise ... --out promise.json, then utmost release TABLE --promise promise.json.",
    ),
    **dict.fromkeys(
        (
            *("--values", "--step", "--each", "--most-events", "--measures"),
            *("--count-key", "--count-column", "--nested", "--part"),
        ),
        "Count first: utmost count TABLE ... --out counted.json, then utmost release counted.json.",
    ),
    **dict.fromkeys(
        ("--measure", "--weight", "--up-to"),
        "Several measures: utmost share visits.json spent.json --publish counted.json --out released.json.",
    ),
    "--tables": "Write the tables after the release: utmost total RELEASE.json --tables DIR --plan plan.json.",
    "--nonnegative": "Write --once row-counts.",
    "--together": "Write --once row if one person changes only the cells of one row, or --once row-counts if only "
    "upwards.",
    **dict.fromkeys(
        ("--group", "--detail"), "A release in two stages: utmost detail TABLE --group county --detail 'age sex=500'."
    ),
}
"""Options of other commands that people look for here, with advice."""


def release(table: file_options.TableOrFolder, *, request: ReleaseOptions) -> None:
    """Publish a table with the least noise that the privacy level allows, and its statement.

    utmost release survey.csv --each-row --by region,sex --domain domain.json --epsilon 1 --out released.csv

    Columns of a table that was counted elsewhere must be released, public or dropped. `utmost init` writes a recipe for
    a repeated release.

    More: docs/tutorial/first-release.md
    """
    from utmost.interfaces.cli.release_ways import publish_table

    with options.refusing_weak_levels(request.yes):
        publish_table(table, request)
