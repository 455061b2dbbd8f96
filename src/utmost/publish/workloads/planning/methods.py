"""The methods of `choose_plan`: which searches each names, and the least error among those that apply."""

from typing import NamedTuple

from utmost.errors import Unsupported
from utmost.publish.workloads.planning.searches.differences import DifferenceSearch
from utmost.publish.workloads.planning.searches.hat_functions import HatSearch
from utmost.publish.workloads.planning.searches.integer_rows import RowSearch
from utmost.publish.workloads.planning.searches.marginals import MarginalSearch
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, PlanSearch
from utmost.publish.workloads.planning.searches.rotated_pair import RotatedSearch
from utmost.publish.workloads.planning.searches.signed_rows import SignedSearch
from utmost.publish.workloads.row_unit import WholeRows

_EQUAL = 1e-9  # errors that are so near are the same, and the plainer sums are taken

MARGINALS, HAT_FUNCTIONS, DIFFERENCES = MarginalSearch(), HatSearch(), DifferenceSearch()
ROTATED_PAIR, SIGNED_ROWS, INTEGER_ROWS = RotatedSearch(), SignedSearch(), RowSearch()

SEARCHES: tuple[PlanSearch, ...] = (
    MARGINALS,
    HAT_FUNCTIONS,
    DIFFERENCES,
    ROTATED_PAIR,
    SIGNED_ROWS,
    INTEGER_ROWS,
)
"""All searches, the plainest first."""


class Method(NamedTuple):
    """The searches that a method names, of which one must apply, and others that run beside them."""

    named: tuple[PlanSearch, ...]
    beside: tuple[PlanSearch, ...] = ()


METHODS = {
    "marginals": Method((MARGINALS,)),
    "hat functions": Method((HAT_FUNCTIONS,)),
    "independent": Method((MARGINALS,), beside=(HAT_FUNCTIONS,)),
    "rotated": Method((ROTATED_PAIR,)),
    "signed": Method((SIGNED_ROWS,)),
    "rows": Method((DIFFERENCES, INTEGER_ROWS), beside=(MARGINALS, HAT_FUNCTIONS)),
}
"""Sums that may be measured, by name; see `choose_plan`."""


def method_of(rows: WholeRows | None) -> Method:
    """The searches for a unit of cells, or of whole rows, where no method is named."""
    if rows is None:
        return METHODS["independent"]
    return Method((ROTATED_PAIR if rows.values == 2 else SIGNED_ROWS,), beside=(MARGINALS, HAT_FUNCTIONS))


def least_measured(request: PlanRequest, method: Method) -> FoundSums:
    """The sums of least error at the highest level, of the searches of a method that apply; of equal ones the plainer.

    Raises:
        Unsupported: where none that the method names applies.
    """
    obstacles = [obstacle for search in method.named if (obstacle := search.obstacle(request)) is not None]
    if len(obstacles) == len(method.named):
        raise Unsupported("; ".join(obstacle.reason for obstacle in obstacles), remedy=obstacles[-1].remedy)
    considered = [search for search in SEARCHES if search in (*method.named, *method.beside)]
    applicable = [search for search in considered if search.obstacle(request) is None]
    if len(applicable) == 1:
        return applicable[0].search(request)
    found: list[tuple[float, FoundSums]] = []
    refused: Unsupported | None = None
    for search in applicable:
        try:
            measured = search.search(request)
            found.append((measured.value(request), measured))
        except Unsupported as error:  # it is known from the search alone
            refused = error
    if not found:
        assert refused is not None, "some search applies"
        raise refused
    least = min(value for value, _ in found)
    return next(measured for value, measured in found if value * (1 - _EQUAL) <= least)
