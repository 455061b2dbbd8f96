"""What sums are wanted, and which strategy measures them."""

from utmost.workloads.axes import Axis, bins, hierarchy, plain
from utmost.workloads.cells_together import CellsTogether, TogetherKind, pair_noise, ways_together
from utmost.workloads.domain import Domain, Family
from utmost.workloads.strategies import Strategy

__all__ = [
    "Axis",
    "CellsTogether",
    "Domain",
    "Family",
    "Strategy",
    "TogetherKind",
    "bins",
    "hierarchy",
    "pair_noise",
    "plain",
    "ways_together",
]
