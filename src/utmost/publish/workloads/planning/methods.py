"""The values of the argument ``method`` of `choose_plan`: the searches that each value runs.

This module also chooses, among the plans that were found, the plan that has the least error.
"""

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

_EQUAL = 1e-9  # errors with a smaller relative difference count as equal; then the simpler sums win

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
"""All searches, in the order of how simple their sums are."""


class PlanMethod(NamedTuple):
    """A value of ``method``: the searches that it names, one of which must apply, and searches that run in addition."""

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
"""The values of `method=` of `choose_plan`."""


class SearchOutcome(NamedTuple):
    """The sums of least error, and the error that each search reached."""

    sums: FoundSums
    errors: Mapping[str, float | None]  # weighted error by the name of the search; None if there was only one search


def method_of(rows: WholeRows | None) -> PlanMethod:
    """Return the default method: if ``rows`` is None, for changes of single cells; else for changes of whole rows."""
    if rows is None:
        return METHODS["independent"]
    return PlanMethod((_search_of(rows),), beside=(MARGINALS, HAT_FUNCTIONS))


def _search_of(rows: WholeRows) -> PlanSearch:
    return ROTATED_PAIR if rows.values == 2 else SIGNED_ROWS


def least_found(request: PlanRequest, method: PlanMethod | None) -> SearchOutcome:
    """Return the sums of least error at the highest level, among the searches of a method that apply."""
    # If one individual may change every cell, whole rows change along any axis. Then, by default, the searches for
    # whole rows run, too.
    tried = list(_search_results(request, method_of(request.together) if method is None else method))
    if method is None and request.together is None:
        for rows in _rows_of_all(request):
            tried += _search_results(replace(request, together=rows), PlanMethod((_search_of(rows),)), refuses=False)
    if len(tried) == 1:
        return SearchOutcome(tried[0].sums, {tried[0].name: None})
    errors = {one.name: min(other.error for other in tried if other.name == one.name) for one in tried}
    kept = tried
    if request.has_limits:
        limits = table_limits(request)
        kept = [one for one in tried if is_within(one.sums.variances(request), limits)] or tried
    least = min(one.error for one in kept)
    return SearchOutcome(next(one.sums for one in kept if one.error * (1 - _EQUAL) <= least), errors)


class _SearchResult:
    """The result of one search; its error is computed when it is first read."""

    def __init__(self, name: str, sums: FoundSums, request: PlanRequest) -> None:
        self.name, self.sums, self.request = name, sums, request

    @cached_property
    def error(self) -> float:
        return self.sums.value(self.request, aim=self.request.aim)


def _search_results(request: PlanRequest, method: PlanMethod, *, refuses: bool = True) -> Iterator[_SearchResult]:
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
                yield _SearchResult(search.name, search.search(request), request)
                found = True
            except Unsupported as error:  # `obstacle` did not find this obstacle
                refused = error
    if refused is not None and refuses and not found:
        raise refused


def _rows_of_all(request: PlanRequest) -> Iterator[WholeRows]:
    """Yield each axis of two to five values along which whole rows change, if one individual may change every cell."""
    domain, unit = request.workload.domain, request.unit
    if not 1 < domain.size <= unit.cells or unit.is_shared or unit.exactly:
        return
    for name in domain.columns:
        try:
            yield WholeRows.changed_by(unit, domain, name)
        except OutOfRange:
            continue
