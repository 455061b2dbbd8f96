"""Secrets, metrics, priors, losses, consumers: what may be true, how far apart, how likely, what error costs."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.spaces import losses as losses
    from utmost.design.spaces import priors as priors
    from utmost.design.spaces.consumer import Consumer as Consumer
    from utmost.design.spaces.distance_units import level_per as level_per
    from utmost.design.spaces.families import counts as counts
    from utmost.design.spaces.families import cycle as cycle
    from utmost.design.spaces.families import discrete as discrete
    from utmost.design.spaces.families import grid as grid
    from utmost.design.spaces.families import hamming as hamming
    from utmost.design.spaces.geography import Places as Places
    from utmost.design.spaces.geography import places as places
    from utmost.design.spaces.graphs import graph as graph
    from utmost.design.spaces.graphs import tree as tree
    from utmost.design.spaces.loss_algebra import joint_loss as joint_loss
    from utmost.design.spaces.loss_algebra import lifted_loss as lifted_loss
    from utmost.design.spaces.loss_algebra import restricted_loss as restricted_loss
    from utmost.design.spaces.loss_algebra import scaled_loss as scaled_loss
    from utmost.design.spaces.losses import Loss as Loss
    from utmost.design.spaces.policies import Policy as Policy
    from utmost.design.spaces.products import points as points
    from utmost.design.spaces.products import product as product
    from utmost.design.spaces.space import Space as Space
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
