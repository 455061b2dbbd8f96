"""Random bits, certified thresholds and exact draws from a law."""

from utmost.sampling.bits import Randomness, SystemRandomness
from utmost.sampling.categorical import Categorical
from utmost.sampling.draw import sample
from utmost.sampling.thresholds import Thresholds
from utmost.sampling.uniform import uniform

__all__ = ["Categorical", "Randomness", "SystemRandomness", "Thresholds", "sample", "uniform"]
