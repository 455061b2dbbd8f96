"""What sums are wanted, and which strategy measures them."""

from utmost.workloads.axes import Axis, bins, hierarchy, plain
from utmost.workloads.blocks import Blocks
from utmost.workloads.domain import Domain, Family
from utmost.workloads.workload import Part, Workload
from utmost.workloads.workload_strategy import Alternatives, Strategy, strategy

__all__ = [
    "Alternatives",
    "Axis",
    "Blocks",
    "Domain",
    "Family",
    "Part",
    "Strategy",
    "Workload",
    "bins",
    "hierarchy",
    "plain",
    "strategy",
]
