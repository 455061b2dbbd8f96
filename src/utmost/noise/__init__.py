"""Laws of additive noise on the integers and the reals: what is revealed, as a law. No randomness here."""

from utmost.noise import costs
from utmost.noise.discrete_staircase import DiscreteStaircase
from utmost.noise.geometric import Geometric
from utmost.noise.law import IntegerLaw, Law

__all__ = ["DiscreteStaircase", "Geometric", "IntegerLaw", "Law", "costs"]
