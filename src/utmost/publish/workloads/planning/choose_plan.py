"""Choose the plan of least error for a workload: which sums to measure, with which budget shares.

A search stops when a step gains too little, or after a number of steps (`share_exchange.py` and `row_search.py`). No
clock stops a search, so that the same workload always gets the same plan.
"""

from collections.abc import Iterable
from typing import Any

from utmost.core.exact.arguments import instance, iterable, optional, text
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.errors import NotALevel, OutOfRange
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.planning.least_error import AIMS
from utmost.publish.workloads.planning.methods import METHODS, least_found
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.planning.read_cells import narrowed_request
from utmost.publish.workloads.planning.searches.plan_search import PlanRequest
from utmost.publish.workloads.row_unit import WholeRows
from utmost.publish.workloads.workload import Workload


@progress_bar("Searching for a plan")
def choose_plan(
    wanted: Workload,
    unit: Unit,
    *,
    epsilon: Number | Level,
    up_to: Number | Level | None = None,
    candidates: Iterable[Any] | None = None,
    aim: str = "each",
    together: str | None = None,
    method: str | None = None,
) -> Plan:
    """Search for a plan for a workload: the sums to measure, and the budget share of each.

    Each kind of sums that can answer the workload has its own search. The function returns the plan with the least
    error at the highest level; among plans of equal error, the one with the simplest sums. The search of marginals
    begins with several sets of shares, and exchanges shares between pairs of marginals. The plan that this search finds
    is never worse than measuring only the cells, than equal shares of the wanted tables, and than equal shares of all
    candidates. The plan may not be optimal: compare its error with lower bounds. Shares of marginals are multiples of
    1/1000 (of smaller steps for more than 50 marginals), or equal shares.

    Args:
        wanted: Wanted sums, and the weights of their errors.
        unit: Unit of privacy.
        epsilon: Privacy level of the whole release, as a number or a `Level`.
        up_to: Highest level to which the release is expected to be relaxed, as a number or a `Level`. The shares are
            optimized for this level. Answers above this level are possible, but their error is not the least.
        candidates: Marginals that may be measured; None for all that can be of use.
        aim: "each": the least weighted sum of mean variances for which **each** table stays within a limit. The limit
            is the error of separate noise on this table alone, at a budget share proportional to weight^(1/3). "mean":
            the least weighted sum of mean variances, without limits for single tables. "largest": the least value of
            the largest weighted mean variance among the parts.
        together: Axis of two values, if one individual changes **both cells of a row and no others**, in
            ``unit.cells / 2`` rows; only counting can prove this. The plan measures sums and differences of the two
            cells if this reduces the error, see `Plan`. For a unit with ``nonnegative=True`` the axis may have three to
            five values: then signed sums of the cells are measured.
        method: Kinds of sums that may be measured:

            - None: marginals and hat functions; with ``together`` also rotated sums (two values) or signed sums (three
              to five values).
            - "marginals".
            - "hat functions": along an axis whose ranges or prefixes are wanted.
            - "independent": marginals or hat functions.
            - "rotated" or "signed": with ``together``.
            - "rows": also integer rows along every axis and their products (6 seconds for 256 values, 25 seconds for
            1024), and, if complete tables are wanted, differences of the values of axes with two values.

    Raises:
        OutOfRange: if the candidates do not determine a wanted answer, if the aim or the method is unknown, if the axis
            ``together`` does not have two to five values, or if ``unit.cells`` is not a multiple of this number.
        NotALevel: if a level is invalid, or if ``up_to`` is below ``epsilon``.
        Unsupported: if no search of the method applies; the message has the reason. If the groups of a level differ in
            size, this error is also raised if a candidate names such a level and another axis; and, on a domain of one
            axis, if ``candidates`` are given, if the aim is not "mean", or if neither groups nor hat functions answer a
            wanted sum.

    Cost: independent of the number of cells; seconds for 64 marginals; with hat functions, seconds for 1000 values.

    >>> from utmost.workloads import Domain
    >>> domain = Domain(a=range(20), b=range(50))
    >>> print(choose_plan(Workload(domain, {"a": 1, "b": 1}, per_answer=True), Unit(1, 1), epsilon=1))
    epsilon=1
    measured  share
    a         0.423
    b         0.577
    wanted  answers  weight  standard deviation
    a       20       20      3.283
    b       50       50      2.403
    """
    instance(wanted, Workload, "wanted")
    instance(unit, Unit, "unit")
    aim, together, method = text(aim, "aim"), optional(together, text, "together"), optional(method, text, "method")
    named = None if candidates is None else tuple(iterable(candidates, "candidates", or_text=True))
    now = level(epsilon)
    highest = now if up_to is None else level(up_to)
    if highest < now:
        raise NotALevel(
            "up_to= must be at least epsilon", came=up_to, remedy="Pass a larger up_to=, or leave out up_to=."
        )
    if aim not in AIMS:
        raise OutOfRange(f"aim must be one of {', '.join(AIMS)}", came=aim, remedy="Leave out aim= for the default.")
    if method is not None and method not in METHODS:
        raise OutOfRange(
            f"method must be one of {', '.join(METHODS)}",
            came=method,
            remedy="Leave out method=: then utmost chooses the method.",
        )
    if (amounts := AmountPair.of(wanted.domain, unit)) is not None:
        wanted = amounts.wanted(wanted)
    whole = wanted.domain
    if together is None and named is None:
        wanted, unit = narrowed_request(wanted, unit)
    rows = None if together is None else WholeRows.changed_by(unit, wanted.domain, together)
    request = PlanRequest(wanted, unit, highest, named, aim, rows)
    sums, tried = least_found(request, None if method is None else METHODS[method])
    narrowed_from = None if wanted.domain is whole else whole
    measured = sums.together, sums.rows, narrowed_from, tried
    return Plan(wanted.domain, unit, sums.shares, wanted, now, highest, *measured)
