"""Finite mechanisms as row-stochastic matrices, and their algebra: what is revealed, as a matrix."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.channels.calibrated import abstract_staircase as abstract_staircase
    from utmost.design.channels.calibrated import exponential_mechanism as exponential_mechanism
    from utmost.design.channels.channel import Channel as Channel
    from utmost.design.channels.channel import Remap as Remap
    from utmost.design.channels.on_counts import GeometricMatrix as GeometricMatrix
    from utmost.design.channels.on_counts import fair_channel as fair_channel
    from utmost.design.channels.on_counts import geometric_channel as geometric_channel
    from utmost.design.channels.on_counts import laplace_channel as laplace_channel
    from utmost.design.channels.on_counts import unbounded_geometric_channel as unbounded_geometric_channel
    from utmost.design.channels.on_spaces import dual_randomized_response as dual_randomized_response
    from utmost.design.channels.on_spaces import planar_geometric_channel as planar_geometric_channel
    from utmost.design.channels.on_spaces import randomized_response as randomized_response
    from utmost.design.channels.on_spaces import tight_constraints as tight_constraints
    from utmost.design.channels.on_spaces import two_secret_optimum as two_secret_optimum
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
