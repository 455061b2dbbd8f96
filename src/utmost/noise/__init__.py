"""Laws of additive noise on the integers and the reals: what is revealed, as a law. No randomness here."""

from utmost.noise import costs
from utmost.noise.combination import Combination, simultaneous_radii
from utmost.noise.discrete_staircase import DiscreteStaircase
from utmost.noise.geometric import Geometric
from utmost.noise.integer_law import IntegerLaw
from utmost.noise.joint_cells import JointCells, RotatedPair
from utmost.noise.laplace import Laplace
from utmost.noise.law import Law
from utmost.noise.lipschitz import is_lipschitz_private, lipschitz_level
from utmost.noise.optimal import gain, optimal_noise, relaxable_noise
from utmost.noise.ratio_bars import RatioBar, fieller
from utmost.noise.real_law import RealLaw
from utmost.noise.repeated_sums import RepeatedSum
from utmost.noise.staircase import Staircase

__all__ = [
    "Combination",
    "DiscreteStaircase",
    "Geometric",
    "IntegerLaw",
    "JointCells",
    "Laplace",
    "Law",
    "RatioBar",
    "RealLaw",
    "RepeatedSum",
    "RotatedPair",
    "Staircase",
    "costs",
    "fieller",
    "gain",
    "is_lipschitz_private",
    "lipschitz_level",
    "optimal_noise",
    "relaxable_noise",
    "simultaneous_radii",
]
