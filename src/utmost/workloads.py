"""Workloads (the tables that a user requests), and the plans that measure them."""

from utmost.publish.statements.counted_files import read_domain
from utmost.publish.statements.plan_files import read_plan, save_plan
from utmost.publish.workloads.bounds.workload_bounds import bounds_of
from utmost.publish.workloads.bounds.workload_evidence import check_lower_bounds
from utmost.publish.workloads.measuring.cells_together import pair_noise, ways_together
from utmost.publish.workloads.measuring.product_rows import AxisRows, ProductRows, values_alone
from utmost.publish.workloads.measuring.signed_axis import SignedAxis
from utmost.publish.workloads.measuring.unequal_trees import tree_estimate, tree_variances
from utmost.publish.workloads.measuring.unit_charge import charge_of
from utmost.publish.workloads.planning.branch_and_bound import certified_shares
from utmost.publish.workloads.planning.choose_plan import choose_plan
from utmost.publish.workloads.planning.levels_of_rows import certified_rows
from utmost.publish.workloads.planning.marginal_search import marginals
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.planning.shared_level import SharedLevel, share_level
from utmost.publish.workloads.reconstruction.public_facts import between
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.ages import ages
from utmost.tables.axes.axes import Axis, hierarchy, plain
from utmost.tables.axes.domain import Domain
from utmost.tables.axes.listed_keys import listed
from utmost.tables.axes.ordered_axes import bins, edges
from utmost.tables.axes.time_axes import periods

__all__ = [
    "Axis",
    "AxisRows",
    "Domain",
    "Plan",
    "ProductRows",
    "SharedLevel",
    "SignedAxis",
    "Workload",
    "ages",
    "between",
    "bins",
    "bounds_of",
    "certified_rows",
    "certified_shares",
    "charge_of",
    "check_lower_bounds",
    "choose_plan",
    "edges",
    "hierarchy",
    "listed",
    "marginals",
    "pair_noise",
    "periods",
    "plain",
    "read_domain",
    "read_plan",
    "save_plan",
    "share_level",
    "tree_estimate",
    "tree_variances",
    "values_alone",
    "ways_together",
]


def __dir__() -> list[str]:
    return __all__
