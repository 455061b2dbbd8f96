"""Random bits, certified thresholds and exact draws from a law."""

from utmost.sampling.categorical import Categorical, Thresholds
from utmost.sampling.draw import sample
from utmost.sampling.integers import uniform_integers
from utmost.sampling.item_words import Identifiers, check_unique, item_tags
from utmost.sampling.joint_draws import sample_joint_cells
from utmost.sampling.random_bits import Randomness, SystemRandomness

__all__ = [
    "Categorical",
    "Identifiers",
    "Randomness",
    "SystemRandomness",
    "Thresholds",
    "check_unique",
    "item_tags",
    "sample",
    "sample_joint_cells",
    "uniform_integers",
]
