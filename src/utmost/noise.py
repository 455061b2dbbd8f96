"""Distributions of additive noise on the integers and on the reals. `utmost.sampling` draws from them."""

from utmost.core.noise import costs
from utmost.core.noise.cells_draw import CellsDraw
from utmost.core.noise.combination import Combination, simultaneous_margins
from utmost.core.noise.discrete_staircase import DiscreteStaircase, optimal_step
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.draw_with_total import DrawWithTotal
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.joint_cells import JointCells, RotatedPair
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.lipschitz import is_lipschitz_private, lipschitz_level
from utmost.core.noise.optimal import gain, gain_curve, optimal_noise, relaxable_noise
from utmost.core.noise.ratio_bars import RatioBar, fieller
from utmost.core.noise.repeated_sums import RepeatedSum
from utmost.core.noise.signed_cells import SignedCells
from utmost.core.noise.staircase import Staircase, heuristic_gamma, optimal_gamma
from utmost.core.noise.tables_draw import TablesDraw

__all__ = [
    "CellsDraw",
    "Combination",
    "DiscreteStaircase",
    "Distribution",
    "DrawWithTotal",
    "Geometric",
    "IntegerDistribution",
    "JointCells",
    "Laplace",
    "RatioBar",
    "RepeatedSum",
    "RotatedPair",
    "SignedCells",
    "Staircase",
    "TablesDraw",
    "costs",
    "fieller",
    "gain",
    "gain_curve",
    "heuristic_gamma",
    "is_lipschitz_private",
    "lipschitz_level",
    "optimal_gamma",
    "optimal_noise",
    "optimal_step",
    "relaxable_noise",
    "simultaneous_margins",
]


def __dir__() -> list[str]:
    return __all__
