"""Spaces of secrets with metrics, priors, losses and consumers."""

from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.distance_units import distance_in, level_per
from utmost.design.spaces.families import counts, cycle, discrete, grid, hamming
from utmost.design.spaces.geography import Places, places
from utmost.design.spaces.graphs import balanced_tree, graph, tree
from utmost.design.spaces.loss_algebra import (
    check_monotone,
    first_breach,
    is_monotone,
    joint_loss,
    lifted_loss,
    restricted_loss,
    scaled_loss,
)
from utmost.design.spaces.losses import Loss
from utmost.design.spaces.policies import Policy
from utmost.design.spaces.products import points, product
from utmost.design.spaces.space import Space

__all__ = [
    "Consumer",
    "Loss",
    "Places",
    "Policy",
    "Space",
    "balanced_tree",
    "check_monotone",
    "counts",
    "cycle",
    "discrete",
    "distance_in",
    "first_breach",
    "graph",
    "grid",
    "hamming",
    "is_monotone",
    "joint_loss",
    "level_per",
    "lifted_loss",
    "losses",
    "places",
    "points",
    "priors",
    "product",
    "restricted_loss",
    "scaled_loss",
    "tree",
]


def __dir__() -> list[str]:
    return __all__
