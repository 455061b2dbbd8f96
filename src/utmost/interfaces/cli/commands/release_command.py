"""`utmost release`: publish a file, in whichever way its options say."""

from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.release_options import ReleaseOptions

FIRST = (
    "--columns", "--public", "--drop", "--sensitivity", "--cells", "--promise", "--epsilon", "--ledger", "--out",
    "--dry-run",
)  # fmt: skip


def release(table: file_options.TableOrLake, *, told: ReleaseOptions) -> None:
    """Publish a table, each cell with the least noise that its share of the level allows.

    The promise: whatever anyone concludes from the released table, the chance of concluding it is at most exp(epsilon)
    times what it would have been without any one individual. The statement, FILE.json beside the table, has it in full
    with all that it assumes. Every column must be released, declared public, or dropped.

    --person, --at-most and --domain FILE: the table holds events. They are counted first, which proves what one person
    changes.

    --plan: noise the sums that a plan chose. Every other sum then has its error bar: see utmost total.

    --promise: what is promised stands in a file, which utmost promise wrote, and not in options.

    --ledger: keep the release, so that it can be published with less noise later, and each recipient gets a copy.

    --planar: the columns are the coordinates of one point, with epsilon for each unit of Euclidean distance.
    """
    from utmost.interfaces.cli.release_ways import publish_table

    with options.protected(told.yes):
        publish_table(table, told)
