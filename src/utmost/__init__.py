"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

from utmost import errors
from utmost.channels import (
    Channel,
    GeometricMatrix,
    Remap,
    dual_randomized_response,
    geometric_channel,
    laplace_channel,
    randomized_response,
    unbounded_geometric_channel,
)
from utmost.exact import Level, level
from utmost.noise import (
    DiscreteStaircase,
    Geometric,
    Laplace,
    Law,
    Staircase,
    costs,
    gain,
    optimal_noise,
)
from utmost.privacy import (
    PrivacyType,
    check_promise,
    delta,
    total_variation,
    tradeoff,
)
from utmost.release import TableRelease, epsilon_for, rehearse_table, release, release_table
from utmost.sampling import sample
from utmost.spaces import Consumer, Loss, Space, counts, discrete, graph, grid, hamming, losses, priors
from utmost.version import __version__

__all__ = [
    "Channel",
    "Consumer",
    "DiscreteStaircase",
    "Geometric",
    "GeometricMatrix",
    "Laplace",
    "Law",
    "Level",
    "Loss",
    "PrivacyType",
    "Remap",
    "Space",
    "Staircase",
    "TableRelease",
    "__version__",
    "check_promise",
    "costs",
    "counts",
    "delta",
    "discrete",
    "dual_randomized_response",
    "epsilon_for",
    "errors",
    "gain",
    "geometric_channel",
    "graph",
    "grid",
    "hamming",
    "laplace_channel",
    "level",
    "losses",
    "optimal_noise",
    "priors",
    "randomized_response",
    "rehearse_table",
    "release",
    "release_table",
    "sample",
    "total_variation",
    "tradeoff",
    "unbounded_geometric_channel",
]
