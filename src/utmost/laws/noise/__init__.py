"""Laws of additive noise on the integers and the reals: what is revealed, as a law. No randomness here."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.noise import costs
    from utmost.laws.noise.combination import Combination, simultaneous_margins
    from utmost.laws.noise.discrete_staircase import DiscreteStaircase
    from utmost.laws.noise.geometric import Geometric
    from utmost.laws.noise.integer_law import IntegerLaw
    from utmost.laws.noise.joint_cells import JointCells, RotatedPair
    from utmost.laws.noise.laplace import Laplace
    from utmost.laws.noise.law import Law
    from utmost.laws.noise.lipschitz import lipschitz_level
    from utmost.laws.noise.norm_staircase import NormStaircase
    from utmost.laws.noise.optimal import gain, optimal_noise, relaxable_noise
    from utmost.laws.noise.ratio_bars import RatioBar, fieller
    from utmost.laws.noise.real_law import RealLaw
    from utmost.laws.noise.repeated_sums import RepeatedSum
    from utmost.laws.noise.signed_cells import SignedCells
    from utmost.laws.noise.staircase import Staircase
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Combination",
    "DiscreteStaircase",
    "Geometric",
    "IntegerLaw",
    "JointCells",
    "Laplace",
    "Law",
    "NormStaircase",
    "RatioBar",
    "RealLaw",
    "RepeatedSum",
    "RotatedPair",
    "SignedCells",
    "Staircase",
    "costs",
    "fieller",
    "gain",
    "lipschitz_level",
    "optimal_noise",
    "relaxable_noise",
    "simultaneous_margins",
]
