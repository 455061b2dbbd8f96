"""The plan to choose for a workload: the least error among the searches that apply."""

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
    """The best plan that searches find for a workload: which sums to measure, and their shares of the level.

    Each search that applies finds sums of its kind; the one with the least error at the highest level is returned, of
    equal ones the plainer. That of marginals exchanges shares between pairs of families from several starts: it is
    never worse than the cells alone, equal shares of the wanted families, and equal shares of all. The plan need
    not be the best there is: how far it can be is what lower bounds say. Shares of marginals are multiples of 1/1000
    (of finer steps for more than 50 families), or equal ones.

    Args:
        wanted: the sums that are wanted, with the weights of their errors.
        unit: Unit of privacy, in cells.
        epsilon: exactly one of them: the level of the whole release.
        up_to: the highest level to which it will ever be relaxed, as epsilon or a `Level`. Shares are tuned there, as
            levels spread over many families cost most at high levels.
        candidates: families that may be measured; None for all that can be of use, see `candidate_families`.
        aim: "each" for the least weighted sum of mean variances within the limit of **each** table: none has a larger
            error than noise on it alone at its budget share, which is proportional to weight^(1/3), equal for equal
            weights. "mean" for the least sum without limits, "largest" for the least weighted mean variance of the
            worst part.
        together: an axis of two values, where one individual changes **both cells of one row and no others** (of
            ``unit.cells / 2`` rows); a promise that only the counting can keep. Sums and differences of the two are
            measured then where that has the smaller error, see `Plan`. Of three to five values, where the unit
            promises that none is lowered, signed sums of them.
        method: Sums that may be measured. If left out, whatever has the least error of marginals and hat functions;
            with ``together`` also of rotated sums (two values) or signed sums (three to five). Else one of
            "marginals"; "hat functions", on an axis of which ranges or prefixes are wanted; "independent", marginals
            or hat functions; "rotated" or "signed", with ``together``; and "rows", which also searches integer rows,
            and takes them where they have the least error of all: rows over all values along every axis, and their
            products, 6 seconds for 256 values, 25 for 1024, and a long list of sums; where whole tables are wanted,
            differences of the values of axes of two.

    Raises:
        OutOfRange: for candidates that do not determine a wanted answer, an aim or a method that has no name here,
            and ``together`` for an axis of other than two to five values or cells that are no whole rows.
        NotALevel: for an invalid level, and up_to below the level.
        Unsupported: for a candidate whose groups differ in size beside other axes; on a single tree of such groups, for
            candidates, for another aim than the mean, and for wanted sums that are no groups and that hat functions do
            not serve; and where no search that the method names applies to the workload, the unit and the other
            arguments: the message says why.

    Cost: independent of the number of cells, seconds for 64 families; with hat functions, seconds for 1000 values.

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
        raise NotALevel("up_to must be at least epsilon", came=up_to, remedy="Pass a larger one, or leave it out.")
    if aim not in AIMS:
        raise OutOfRange(f"aim must be one of {', '.join(AIMS)}", came=aim, remedy="Leave it out for the default.")
    if method is not None and method not in METHODS:
        raise OutOfRange(
            f"method must be one of {', '.join(METHODS)}", came=method, remedy="Leave it out to have it chosen."
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
