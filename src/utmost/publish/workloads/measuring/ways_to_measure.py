"""Choose how the sums of a plan are measured; other modules call only `measurement_of`.

To add a method of measuring, write a class with the protocol `Measurement` in a file of `ways`, and a line here.
"""

from collections.abc import Iterable

from utmost.core.exact.arguments import instance
from utmost.publish.workloads.measuring.marginal_spaces import by_marginals
from utmost.publish.workloads.measuring.measured_marginals import is_difference, is_hats
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.measuring.wanted_sums import is_unequal_tree
from utmost.publish.workloads.measuring.ways.difference_sums import DifferenceSums
from utmost.publish.workloads.measuring.ways.group_sums import GroupSums
from utmost.publish.workloads.measuring.ways.hat_sums import HatSums
from utmost.publish.workloads.measuring.ways.integer_rows import ListedRows
from utmost.publish.workloads.measuring.ways.marginal_sums import MarginalSums
from utmost.publish.workloads.measuring.ways.rotated_sums import RotatedSums
from utmost.publish.workloads.measuring.ways.tree_sums import TreeSums
from utmost.publish.workloads.measuring.ways.way import Measurement
from utmost.tables.axes.domain import Domain, Marginal


def measurement_of(
    domain: Domain, marginals: Iterable[Marginal], together: str | None = None, rows: ProductRows | None = None
) -> Measurement:
    """Return the method that measures these marginals, given the axis ``together`` and listed rows, if any."""
    measured = tuple(marginals)
    if rows is not None:
        return ListedRows(domain, instance(rows, ProductRows, "rows"), together)
    if together is not None:
        return RotatedSums(PairAxis.of(domain, together))
    if any(map(is_hats, measured)):
        return HatSums(domain)
    if by_marginals(domain, measured):
        return DifferenceSums(domain) if any(map(is_difference, measured)) else MarginalSums(domain)
    return TreeSums(domain) if is_unequal_tree(domain) else GroupSums(domain)
