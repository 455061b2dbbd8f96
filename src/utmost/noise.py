"""Laws of additive noise on the integers and the reals: what is revealed, as a law. No randomness here."""

from utmost.core.noise import costs
from utmost.core.noise.combination import Combination, simultaneous_margins
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.joint_cells import JointCells
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.law import Law
from utmost.core.noise.lipschitz import lipschitz_level
from utmost.core.noise.optimal import gain, optimal_noise, relaxable_noise
from utmost.core.noise.ratio_bars import RatioBar, fieller
from utmost.core.noise.repeated_sums import RepeatedSum
from utmost.core.noise.signed_cells import SignedCells
from utmost.core.noise.staircase import Staircase

__all__ = [
    "Combination",
    "DiscreteStaircase",
    "Geometric",
    "IntegerLaw",
    "JointCells",
    "Laplace",
    "Law",
    "RatioBar",
    "RepeatedSum",
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


def __dir__() -> list[str]:
    return __all__
