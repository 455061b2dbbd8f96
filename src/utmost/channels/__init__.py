"""Finite mechanisms as row-stochastic matrices, and their algebra: what is revealed, as a matrix."""

from utmost.channels.channel import Channel
from utmost.channels.geometric import GeometricMatrix, geometric_channel
from utmost.channels.remap import Remap

__all__ = ["Channel", "GeometricMatrix", "Remap", "geometric_channel"]
