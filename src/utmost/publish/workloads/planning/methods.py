"""The methods of `choose_plan`: which searches each names, and the least error among those that apply."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.planning.searches.differences import DifferenceSearch
from utmost.publish.workloads.planning.searches.hat_functions import HatSearch
from utmost.publish.workloads.planning.searches.integer_rows import RowSearch
from utmost.publish.workloads.planning.searches.marginals import MarginalSearch
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, PlanSearch
from utmost.publish.workloads.planning.searches.rotated_pair import RotatedSearch
from utmost.publish.workloads.planning.searches.signed_rows import SignedSearch
from utmost.publish.workloads.planning.table_limits import is_within, table_limits
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


class PlanMethod(NamedTuple):
    """The searches that a method names, of which one must apply, and others that run beside them."""

    named: tuple[PlanSearch, ...]
    beside: tuple[PlanSearch, ...] = ()


METHODS = {
    "marginals": PlanMethod((MARGINALS,)),
    "hat functions": PlanMethod((HAT_FUNCTIONS,)),
    "independent": PlanMethod((MARGINALS,), beside=(HAT_FUNCTIONS,)),
    "rotated": PlanMethod((ROTATED_PAIR,)),
    "signed": PlanMethod((SIGNED_ROWS,)),
    "rows": PlanMethod((DIFFERENCES, INTEGER_ROWS), beside=(MARGINALS, HAT_FUNCTIONS)),
}
"""Sums that may be measured, by name; see `choose_plan`."""


class SearchOutcome(NamedTuple):
    """The result of all searches.

    Attributes:
        sums: the sums of least error.
        errors: the weighted error that each search found, by its name; None where one alone was made.
    """

    sums: FoundSums
    errors: Mapping[str, float | None]


def method_of(rows: WholeRows | None) -> PlanMethod:
    """The searches for a unit of cells, or of whole rows, where no method is named."""
    if rows is None:
        return METHODS["independent"]
    return PlanMethod((_search_of(rows),), beside=(MARGINALS, HAT_FUNCTIONS))


def _search_of(rows: WholeRows) -> PlanSearch:
    return ROTATED_PAIR if rows.values == 2 else SIGNED_ROWS


def least_found(request: PlanRequest, method: PlanMethod | None) -> SearchOutcome:
    """The sums of least error at the highest level, of the searches of a method that apply; of equal ones the plainer.

    Args:
        request: the arguments of `choose_plan`.
        method: the searches; if None, all that take seconds, for whole rows also where one individual may change every
            cell, so that the cells of a row change together along whatever axis.

    Raises:
        Unsupported: where none that the method names applies.
    """
    tried = list(_searched(request, method_of(request.together) if method is None else method))
    if method is None and request.together is None:
        for rows in _rows_of_all(request):
            tried += _searched(replace(request, together=rows), PlanMethod((_search_of(rows),)), refuses=False)
    if len(tried) == 1:
        return SearchOutcome(tried[0].sums, {tried[0].name: None})
    errors = {one.name: min(other.error for other in tried if other.name == one.name) for one in tried}
    kept = tried
    if request.has_limits:
        limits = table_limits(request)
        kept = [one for one in tried if is_within(one.sums.variances(request), limits)] or tried
    least = min(one.error for one in kept)
    return SearchOutcome(next(one.sums for one in kept if one.error * (1 - _EQUAL) <= least), errors)


class _Tried:
    """The result of one search; its error is computed when it is compared."""

    def __init__(self, name: str, sums: FoundSums, request: PlanRequest) -> None:
        self.name, self.sums, self.request = name, sums, request

    @cached_property
    def error(self) -> float:
        """The weighted error at the level of the request."""
        return self.sums.value(self.request, aim=self.request.aim)


def _searched(request: PlanRequest, method: PlanMethod, *, refuses: bool = True) -> Iterator[_Tried]:
    """The results of the searches of a method that apply."""
    obstacles = [obstacle for search in method.named if (obstacle := search.obstacle(request)) is not None]
    if len(obstacles) == len(method.named):
        if refuses:
            raise Unsupported("; ".join(obstacle.reason for obstacle in obstacles), remedy=obstacles[-1].remedy)
        return
    considered = [search for search in SEARCHES if search in (*method.named, *method.beside)]
    refused, found = None, False
    for search in considered:
        if search.obstacle(request) is None:
            try:
                yield _Tried(search.name, search.search(request), request)
                found = True
            except Unsupported as error:  # it is known from the search alone
                refused = error
    if refused is not None and refuses and not found:
        raise refused


def _rows_of_all(request: PlanRequest) -> Iterator[WholeRows]:
    """The axes of two to five values, where one individual may change every cell."""
    domain, unit = request.workload.domain, request.unit
    if not 1 < domain.size <= unit.cells or unit.is_shared or unit.exactly:
        return
    for name in domain.columns:
        try:
            yield WholeRows.changed_by(unit, domain, name)
        except OutOfRange:
            continue
