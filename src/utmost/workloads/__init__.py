"""What sums are wanted, and which strategy measures them."""

from utmost.workloads.axes import Axis, bins, hierarchy, plain
from utmost.workloads.domain import Domain, Family
from utmost.workloads.strategies import Strategy

__all__ = ["Axis", "Domain", "Family", "Strategy", "bins", "hierarchy", "plain"]
