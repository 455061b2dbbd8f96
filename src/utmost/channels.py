"""Finite mechanisms as row-stochastic matrices, and the operations on them."""

from utmost.design.channels.calibrated import abstract_staircase, exponential_mechanism
from utmost.design.channels.channel import Channel, Remap
from utmost.design.channels.on_counts import (
    GeometricMatrix,
    fair_channel,
    geometric_channel,
    laplace_channel,
    renormalised_epsilon,
    renormalised_geometric_channel,
    unbounded_geometric_channel,
)
from utmost.design.channels.on_spaces import (
    dual_randomized_response,
    planar_geometric_channel,
    randomized_response,
    tight_constraints,
    two_secret_optimum,
)

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
    "planar_geometric_channel",
    "randomized_response",
    "renormalised_epsilon",
    "renormalised_geometric_channel",
    "tight_constraints",
    "two_secret_optimum",
    "unbounded_geometric_channel",
]


def __dir__() -> list[str]:
    return __all__
