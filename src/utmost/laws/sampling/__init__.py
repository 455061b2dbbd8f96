"""Random bits, certified thresholds and exact draws from a law."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.sampling.categorical import Categorical, Thresholds
    from utmost.laws.sampling.draw import sample
    from utmost.laws.sampling.integers import uniform_integers
    from utmost.laws.sampling.item_words import Identifiers, check_unique, item_tags
    from utmost.laws.sampling.joint_draws import sample_joint_cells
    from utmost.laws.sampling.random_bits import Randomness, SystemRandomness
else:
    __getattr__ = RoomNames(__name__, __file__)

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
