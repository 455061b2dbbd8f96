"""Secrets, metrics, priors, losses, consumers: what may be true, how far apart, how likely, what error costs."""

from utmost.spaces import losses, priors
from utmost.spaces.consumer import Consumer
from utmost.spaces.counts import LineMetric, counts, line
from utmost.spaces.cycle import CycleMetric, cycle
from utmost.spaces.discrete import DiscreteMetric, discrete
from utmost.spaces.graph import graph
from utmost.spaces.grid import EuclideanGridMetric, ManhattanGridMetric, grid
from utmost.spaces.hamming import HammingMetric, hamming
from utmost.spaces.loss_algebra import joint_loss, lifted_loss, restricted_loss, scaled_loss
from utmost.spaces.losses import Loss
from utmost.spaces.metric import Metric
from utmost.spaces.monotone import check_monotone, first_breach, is_monotone
from utmost.spaces.points import points
from utmost.spaces.product import SumMetric, product
from utmost.spaces.space import Space
from utmost.spaces.table import TableMetric
from utmost.spaces.tree import balanced_tree, tree

__all__ = [
    "Consumer",
    "CycleMetric",
    "DiscreteMetric",
    "EuclideanGridMetric",
    "HammingMetric",
    "LineMetric",
    "Loss",
    "ManhattanGridMetric",
    "Metric",
    "Space",
    "SumMetric",
    "TableMetric",
    "balanced_tree",
    "check_monotone",
    "counts",
    "cycle",
    "discrete",
    "first_breach",
    "graph",
    "grid",
    "hamming",
    "is_monotone",
    "joint_loss",
    "lifted_loss",
    "line",
    "losses",
    "points",
    "priors",
    "product",
    "restricted_loss",
    "scaled_loss",
    "tree",
]
