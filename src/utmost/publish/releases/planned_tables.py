"""Tables that are wanted of a counted table, released by the plan that is made for them."""

from utmost.core.exact.levels import Level
from utmost.errors import WrongKind
from utmost.publish.counting.counted import CountedTable
from utmost.publish.workloads.planning.choose_plan import choose_plan
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.workload import Workload


def plan_for(wanted: Workload, table: object, epsilon: Level) -> Plan:
    """The plan for sums that are wanted of a counted table: with its unit, and its rows that change together.

    Raises:
        WrongKind: for a table without a unit of its own.
    """
    if not isinstance(table, CountedTable):
        remedy = "Count it with ut.count_table; or pass ut.choose_plan(wanted, unit, epsilon=...), a plan."
        raise WrongKind(
            "sums are wanted of a counted table, which has a unit",
            came=type(table).__name__,
            where="table",
            remedy=remedy,
        )
    return choose_plan(wanted, table.unit, epsilon=epsilon, together=table.together)
