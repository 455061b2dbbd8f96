"""The ways to measure, in one tuple: strategies, releases, ledgers, statements and pictures ask for nothing else.

A new way is a class with the protocol `Measurement` in a file of `ways`, and an entry here.
"""

from collections.abc import Iterable

from utmost.core.exact.arguments import instance
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.measuring.ways.difference_sums import DifferenceSums
from utmost.publish.workloads.measuring.ways.group_sums import GroupSums
from utmost.publish.workloads.measuring.ways.hat_sums import HatSums
from utmost.publish.workloads.measuring.ways.integer_rows import IntegerRows
from utmost.publish.workloads.measuring.ways.marginal_sums import MarginalSums
from utmost.publish.workloads.measuring.ways.rotated_sums import RotatedSums
from utmost.publish.workloads.measuring.ways.tree_sums import TreeSums
from utmost.publish.workloads.measuring.ways.way import Measurement
from utmost.tables.axes.domain import Domain, Family

WAYS: tuple[type[Measurement], ...] = (
    IntegerRows,
    RotatedSums,
    HatSums,
    DifferenceSums,
    MarginalSums,
    TreeSums,
    GroupSums,
)
"""All ways to measure; the first that a strategy describes is its own."""


def measurement_of(
    domain: Domain, families: Iterable[Family], together: str | None = None, rows: ProductRows | None = None
) -> Measurement:
    """What a strategy measures, from its own words.

    Raises:
        WrongKind: for rows that are none.
        OutOfRange: for an axis that is not of two values, and rows of another domain.

    >>> table = Domain(row=list("ABC"), column=["applied", "admitted"])
    >>> [measurement_of(table, [(0, 0)], together).words((0, 0)) for together in (None, "column")]
    ['row column', 'row, differences of column']
    """
    if rows is not None:
        instance(rows, ProductRows, "rows")
    listed = tuple(families)
    found = (way.of(domain, listed, together, rows) for way in WAYS)
    return next(measurement for measurement in found if measurement is not None)
