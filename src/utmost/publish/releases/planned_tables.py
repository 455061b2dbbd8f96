"""Choose the plan for the release of a counted table; or better noise, if the table is released only once."""

from dataclasses import replace
from typing import Any

from utmost.core.exact.levels import Level
from utmost.errors import WrongKind
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.one_draw_noise import OneDraw, OneWayDraw, with_nonnegative
from utmost.publish.promises.promise import Promise, promise_for
from utmost.publish.releases.checked_sums import counted_for
from utmost.publish.workloads.planning.choose_plan import choose_plan
from utmost.publish.workloads.planning.once_errors import ONE_WAY_DRAW, STAIRCASE, once_noises
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.workload import Workload


def planned(table: Any, promise: Any, epsilon: Level, once: bool) -> tuple[Any, Promise]:
    """Return the table and the promise to release for a plan or a workload; refuse any other object."""
    if isinstance(promise, Workload):
        promise = plan_for(promise, table, epsilon)
        if once and (least := least_once(promise, table, epsilon)) is not None:
            table, promise = least
    if isinstance(promise, Plan):
        table, promise = counted_for(table, promise)
    return table, promise_for(promise, table)


def plan_for(wanted: Workload, table: object, epsilon: Level) -> Plan:
    if not isinstance(table, CountedTable):
        remedy = "Count the table with ut.count_table; or pass a plan, ut.choose_plan(wanted, unit, epsilon=...)."
        raise WrongKind(
            "a workload can be released only for a table that ut.count_table made",
            came=type(table).__name__,
            remedy=remedy,
        )
    return choose_plan(wanted, table.unit, epsilon=epsilon, together=table.together)


def least_once(plan: Plan, table: CountedTable, epsilon: Level) -> tuple[CountedTable, Promise] | None:
    """Return the cells and the promise of noise for one release, if its error is less than the plan's; else None."""
    assert plan.workload is not None, "the plan was made for a workload"
    # Try noise for signed changes, too: it also protects individuals who lower no cell, and its cells are uncorrelated.
    units = dict.fromkeys([plan.unit, with_nonnegative(plan.unit, table)])
    listed = ((noise, unit) for unit in units for noise in once_noises(plan.workload, unit, epsilon))
    least, unit = min(listed, key=lambda known: known[0].error, default=(None, plan.unit))
    if least is None or plan.value_at(epsilon) <= least.error:
        return None
    read = table if plan.narrowed_from is None else replace(table, domain=plan.domain, cells=table.read_by(plan))
    read = replace(read, unit=plan.unit, together=None)
    if least.kind == STAIRCASE:
        return read, Promise.of_counted(read).once("squared")
    share = least.total_share
    if least.kind == ONE_WAY_DRAW:
        noise = OneWayDraw.of_counted(read, total_share=share, table_shares=least.table_shares)
        return read, Promise.of_counted(read, noise=noise)
    return read, Promise.of_counted(read, noise=OneDraw(unit, read.domain.size, total_share=share))
