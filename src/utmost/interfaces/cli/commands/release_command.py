"""`utmost release`: publish a file, in whichever way its options say."""

from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.release_options import ReleaseOptions

FIRST = (
    "--each-row", "--domain", "--by", "--mean", "--columns", "--public", "--drop", "--sensitivity", "--cells",
    "--epsilon", "--ledger", "--out", "--dry-run",
)  # fmt: skip

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
            "--noise",
            "--relaxable",
        ),
        "Promise it first: utmost promise ... --out promise.json, then utmost release TABLE --promise promise.json.",
    ),
    **dict.fromkeys(
        (
            *("--per-cell", "--values", "--step", "--each", "--most-events", "--in-all", "--measures"),
            *("--count-key", "--count-column", "--nested", "--part"),
        ),
        "Count first: utmost count TABLE ... --out counted.json, then utmost release counted.json.",
    ),
    **dict.fromkeys(
        ("--measure", "--weight", "--up-to"),
        "Several measures: utmost share visits.json spent.json --publish counted.json --out released.json.",
    ),
    "--tables": "After the release: utmost total RELEASE.json --tables DIR --plan plan.json.",
    "--nonnegative": "Write --together counts.",
    **dict.fromkeys(
        ("--group", "--detail"), "In two stages: utmost detail TABLE --group county --detail 'age sex=500'."
    ),
    "--alpha": "Write --epsilon; alpha is exp(-epsilon).",
}
"""Options that people look for here, and where each of them is."""


def release(table: file_options.TableOrLake, *, told: ReleaseOptions) -> None:
    """Publish a table, each cell with the least noise that its share of the level allows.

    --each-row, --by and --domain FILE count people first: a row each, as in a survey. --mean income=0,200000 adds the
    sum and the mean of a column to the table, at no more privacy loss.

    The promise: whatever anyone concludes from the released table, the chance of concluding it is at most exp(epsilon)
    times what it would have been without any one individual. The statement, FILE.json beside the table, has it in full
    with all that it assumes. Every column must be released, declared public, or dropped.

    --person and --at-most in place of --each-row: the table holds events, several of a person. Counting proves what one
    person changes. Several measures, tables of cells: utmost count first, then release counted.json.

    --plan: noise the sums that a plan chose. Every other sum then has its error bar: see utmost total.

    --promise: what is promised stands in a file, which utmost promise wrote, and not in options. Points in the plane,
    grids of reals and noise by identifier are promised so.

    --ledger: keep the release, so that it can be published with less noise later, and each recipient gets a copy.
    """
    from utmost.interfaces.cli.release_ways import publish_table

    with options.protected(told.yes):
        publish_table(table, told)
