"""The plan for a table if only its cells are wanted, and no sums of cells."""

from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain


def cells_plan(domain: Domain, unit: Unit) -> Plan:
    """Return the plan that measures each cell at the full level: no plan has a smaller error of the cells."""
    amounts = AmountPair.of(domain, unit)
    cells = domain.finest if amounts is None else amounts.seen(domain.finest)
    return Plan(domain, unit, {cells: 1}, Workload(domain, {cells: 1}))
