"""Secrets, metrics, priors, losses, consumers: what may be true, how far apart, how likely, what error costs."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.spaces import losses, priors
    from utmost.design.spaces.consumer import Consumer
    from utmost.design.spaces.distance_units import distance_in, is_unit, level_at, level_per, unit_named
    from utmost.design.spaces.families import (
        CycleMetric,
        DiscreteMetric,
        EuclideanGridMetric,
        HammingMetric,
        LineMetric,
        ManhattanGridMetric,
        counts,
        cycle,
        discrete,
        grid,
        hamming,
    )
    from utmost.design.spaces.geography import Geography, Places, places
    from utmost.design.spaces.graphs import balanced_tree, graph, tree
    from utmost.design.spaces.loss_algebra import (
        Breach,
        check_monotone,
        first_breach,
        is_monotone,
        joint_loss,
        lifted_loss,
        restricted_loss,
        scaled_loss,
    )
    from utmost.design.spaces.losses import Loss
    from utmost.design.spaces.policies import Policy, PolicyPart
    from utmost.design.spaces.products import SumMetric, points, product
    from utmost.design.spaces.space import Metric, Space, TableMetric
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Breach",
    "Consumer",
    "CycleMetric",
    "DiscreteMetric",
    "EuclideanGridMetric",
    "Geography",
    "HammingMetric",
    "LineMetric",
    "Loss",
    "ManhattanGridMetric",
    "Metric",
    "Places",
    "Policy",
    "PolicyPart",
    "Space",
    "SumMetric",
    "TableMetric",
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
    "is_unit",
    "joint_loss",
    "level_at",
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
    "unit_named",
]
