"""The strategy to choose for a workload: the best that a search finds, of sums alone or of sums and differences."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from utmost.core.exact.arguments import instance, iterable, optional, text
from utmost.core.exact.levels import Level, level
from utmost.core.exact.long_work import long_work
from utmost.core.exact.numbers import Number
from utmost.core.privacy.unit import Unit
from utmost.errors import NotALevel, OutOfRange, Unsupported
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.sums_and_differences import PairAxis
from utmost.publish.workloads.planning.choose_families import planned_shares
from utmost.publish.workloads.planning.least_error import AIMS
from utmost.publish.workloads.planning.marginal_search import wants_marginals, wants_tables
from utmost.publish.workloads.planning.product_search import product_rows
from utmost.publish.workloads.planning.strategy import Strategy
from utmost.publish.workloads.row_unit import WholeRows
from utmost.publish.workloads.workload import Workload

METHODS = ("marginals", "hat functions", "independent", "rotated", "signed", "rows")
"""Sums that may be measured, by name; see `strategy`."""

_EQUAL = 1e-9  # errors that are so near are the same, and the plainer strategy is taken


@long_work("Searching for a strategy")
def strategy(
    wanted: Workload,
    unit: Unit,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    up_to: Number | Level | None = None,
    candidates: Iterable[Any] | None = None,
    aim: str = "mean",
    together: str | None = None,
    method: str | None = None,
) -> Strategy:
    """The best strategy that a search finds for a workload: which families to measure, and their shares of the level.

    The search exchanges shares between pairs of families from several starts; the strategy is never worse than the
    cells alone, equal shares of the wanted families, and equal shares of all. It need not be the best there is: how far
    it can be is what lower bounds say. Shares are multiples of 1/1000 (of finer steps for more than 50 families), or
    equal ones.

    Args:
        wanted: the sums that are wanted, with the weights of their errors.
        unit: what one individual changes, in cells.
        epsilon, alpha: exactly one of them: the level of the whole release.
        up_to: the highest level to which it will ever be relaxed, as epsilon or a `Level`. Shares are tuned there, as
            levels spread over many families cost most at high levels.
        candidates: families that may be measured; None for all that can be of use, see `candidate_families`.
        aim: "mean" for the least weighted sum of mean variances, "largest" for the least weighted mean variance of the
            worst part.
        together: an axis of two values, where one individual changes **both cells of one row and no others** (of
            ``unit.cells / 2`` rows); a promise that only the counting can keep. Sums and differences of the two are
            measured then where that has the smaller error, see `Strategy`. Of three to five values, where the unit
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
            ``together`` for an axis of other than two to five values or cells that are no whole rows, and where the
            cells of three to five values may be lowered.
        NotALevel: for a level that is none, and up_to below the level.
        Unsupported: for a candidate whose groups differ in size beside other axes; on a single tree of such groups, for
            candidates, for another aim than the mean, and for wanted sums that are no groups and that hat functions do
            not serve; for a method other than "marginals" and "independent" beside these arguments, and for
            "hat functions" on an axis of too many values.

    Cost: independent of the number of cells, seconds for 64 families; with hat functions, seconds for 1000 values.

    >>> from utmost.workloads import Domain
    >>> domain = Domain(a=range(20), b=range(50))
    >>> print(strategy(Workload(domain, {"a": 1, "b": 1}, per_answer=True), Unit(1, 1), epsilon=1))
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
    if candidates is not None:
        iterable(candidates, "candidates", or_text=True)
    now = level(epsilon, alpha)
    highest = now if up_to is None else level(up_to)
    if highest < now:
        raise NotALevel("up_to must be at least the level of the release", came=up_to)
    if aim not in AIMS:
        raise OutOfRange(f"aim must be one of {', '.join(AIMS)}", came=aim)
    if method not in (None, *METHODS):
        raise OutOfRange(f"method must be one of {', '.join(METHODS)}", came=method)
    if together is None and method in ("rotated", "signed"):
        remedy = "Name the axis whose cells one individual changes together: together=."
        raise OutOfRange(f"{method} sums are of an axis", came="no together=", where="method", remedy=remedy)
    if (amounts := AmountPair.of(wanted.domain, unit)) is not None:
        wanted = amounts.wanted(wanted)
    is_restricted = candidates is not None or aim != "mean"
    if method in ("hat functions", "rows") and (together is not None or is_restricted):
        remedy = "Leave method= out, or ask for the mean error over all families, of cells alone."
        raise Unsupported(f"{method} are chosen for the mean error", remedy=remedy)
    if method == "rows":
        if unit.is_shared:
            raise Unsupported("rows are searched for cells that change alone", remedy="Leave method= out.")
        return _least(wanted, unit, now, highest)
    values = 0 if together is None else WholeRows.changed_by(unit, wanted.domain, together).values
    if together is None or method in ("marginals", "independent"):
        hats = False if values == 2 else {"marginals": False, "hat functions": True}.get(method or "")
        return _independent(wanted, unit, now, highest, candidates, aim, hats)
    if is_restricted:
        remedy = 'Leave candidates= and aim= out, or pass method="marginals".'
        raise Unsupported("rotated and signed sums have the least mean error, over all families", remedy=remedy)
    if values > 2:
        if method == "rotated":
            raise Unsupported("rotated sums are of two values", came="more", remedy='Pass method="signed".')
        return _signed(wanted, unit, now, highest, together, method)
    if method == "signed":
        raise OutOfRange("signed sums are of three to five values", came="two", remedy='Pass method="rotated".')
    shares = planned_shares(wanted, unit, highest, pair=PairAxis.changed_by(unit, wanted.domain, together))
    rotated = Strategy(wanted.domain, unit, shares, wanted, now, highest, together)
    if method == "rotated":
        return rotated
    alone = _independent(wanted, unit, now, highest, None, aim, hats=False)
    return rotated if rotated.value < alone.value * (1 - _EQUAL) else alone


def _independent(
    wanted: Workload,
    unit: Unit,
    now: Level,
    highest: Level,
    candidates: Iterable[Any] | None,
    aim: str,
    hats: bool | None,
) -> Strategy:
    """Marginals, or hat functions where they are chosen or have less error, each with noise of its own."""
    shares = planned_shares(wanted, unit, highest, candidates=candidates, aim=aim, hats=hats)
    return Strategy(wanted.domain, unit, shares, wanted, now, highest)


def _signed(wanted: Workload, unit: Unit, now: Level, highest: Level, together: str, method: str | None) -> Strategy:
    """Signed sums along an axis by rows that are listed along the others, where they have less error than families."""
    listed, error = product_rows(wanted, float(level_of_cells(unit, highest).epsilon_float), together)
    chosen = Strategy(wanted.domain, unit, listed.shares, wanted, now, highest, together, listed)
    if method == "signed":
        return chosen
    shares = planned_shares(wanted, unit, highest, hats=None)
    alone = Strategy(wanted.domain, unit, shares, wanted, highest, highest)
    if error < alone.value * (1 - _EQUAL):
        return chosen
    return Strategy(wanted.domain, unit, shares, wanted, now, highest)


def _least(wanted: Workload, unit: Unit, now: Level, highest: Level) -> Strategy:
    """The strategy of least error among families, hat functions, differences of two values and products of listed rows,
    at the highest level."""
    strategies: list[tuple[float, Strategy]] = []
    with suppress(Unsupported):  # sums over a tree of unequal groups that are no groups
        shares = planned_shares(wanted, unit, highest, hats=None)
        plain = Strategy(wanted.domain, unit, shares, wanted, highest, highest)
        strategies.append((plain.value, plain))
    if wants_tables(wanted) and 2 in wanted.domain.shape:
        with suppress(Unsupported):  # groups of several sizes
            shares = planned_shares(wanted, unit, highest, signs=True)
            signed = Strategy(wanted.domain, unit, shares, wanted, highest, highest)
            strategies.append((signed.value, signed))
    if not wants_marginals(wanted):
        listed, error = product_rows(wanted, float(level_of_cells(unit, highest).epsilon_float))
        strategies.append((error, Strategy(wanted.domain, unit, listed.shares, wanted, highest, highest, rows=listed)))
    least = min(error for error, _ in strategies)
    chosen = next(strategy for error, strategy in strategies if error * (1 - _EQUAL) <= least)
    return Strategy(wanted.domain, unit, chosen.shares, wanted, now, highest, rows=chosen.rows)
