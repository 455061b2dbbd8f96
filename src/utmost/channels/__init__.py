"""Finite mechanisms as row-stochastic matrices, and their algebra: what is revealed, as a matrix."""

from utmost.channels.calibrated import abstract_staircase, exponential_mechanism
from utmost.channels.channel import Channel, stochastic
from utmost.channels.columns import merged_columns
from utmost.channels.fair import fair_channel
from utmost.channels.geometric import GeometricMatrix, geometric_channel
from utmost.channels.laplace import laplace_channel
from utmost.channels.planar_geometric import planar_geometric_channel
from utmost.channels.randomized_response import dual_randomized_response, randomized_response
from utmost.channels.remap import Remap
from utmost.channels.renormalised import renormalised_epsilon, renormalised_geometric_channel
from utmost.channels.tight_constraints import tight_constraints
from utmost.channels.two_secrets import two_secret_optimum
from utmost.channels.unbounded import unbounded_geometric_channel

__all__ = [
    "Channel",
    "GeometricMatrix",
    "Remap",
    "abstract_staircase",
    "dual_randomized_response",
    "exponential_mechanism",
    "fair_channel",
    "geometric_channel",
    "laplace_channel",
    "merged_columns",
    "planar_geometric_channel",
    "randomized_response",
    "renormalised_epsilon",
    "renormalised_geometric_channel",
    "stochastic",
    "tight_constraints",
    "two_secret_optimum",
    "unbounded_geometric_channel",
]
