"""Secrets, metrics, priors, losses, consumers: what may be true, how far apart, how likely, what error costs."""

from utmost.spaces import losses, priors
from utmost.spaces.consumer import Consumer
from utmost.spaces.counts import LineMetric, counts
from utmost.spaces.discrete import DiscreteMetric, discrete
from utmost.spaces.graph import graph
from utmost.spaces.grid import EuclideanGridMetric, ManhattanGridMetric, grid
from utmost.spaces.hamming import HammingMetric, hamming
from utmost.spaces.losses import Loss
from utmost.spaces.metric import Metric
from utmost.spaces.monotone import check_monotone, first_breach, is_monotone
from utmost.spaces.space import Space
from utmost.spaces.table import TableMetric

__all__ = [
    "Consumer",
    "DiscreteMetric",
    "EuclideanGridMetric",
    "HammingMetric",
    "LineMetric",
    "Loss",
    "ManhattanGridMetric",
    "Metric",
    "Space",
    "TableMetric",
    "check_monotone",
    "counts",
    "discrete",
    "first_breach",
    "graph",
    "grid",
    "hamming",
    "is_monotone",
    "losses",
    "priors",
]
