"""Laws of additive noise on the integers and the reals: what is revealed, as a law. No randomness here."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.noise import costs as costs
    from utmost.laws.noise.combination import Combination as Combination
    from utmost.laws.noise.combination import simultaneous_margins as simultaneous_margins
    from utmost.laws.noise.discrete_staircase import DiscreteStaircase as DiscreteStaircase
    from utmost.laws.noise.geometric import Geometric as Geometric
    from utmost.laws.noise.integer_law import IntegerLaw as IntegerLaw
    from utmost.laws.noise.joint_cells import JointCells as JointCells
    from utmost.laws.noise.laplace import Laplace as Laplace
    from utmost.laws.noise.law import Law as Law
    from utmost.laws.noise.lipschitz import lipschitz_level as lipschitz_level
    from utmost.laws.noise.optimal import gain as gain
    from utmost.laws.noise.optimal import optimal_noise as optimal_noise
    from utmost.laws.noise.optimal import relaxable_noise as relaxable_noise
    from utmost.laws.noise.ratio_bars import RatioBar as RatioBar
    from utmost.laws.noise.ratio_bars import fieller as fieller
    from utmost.laws.noise.repeated_sums import RepeatedSum as RepeatedSum
    from utmost.laws.noise.signed_cells import SignedCells as SignedCells
    from utmost.laws.noise.staircase import Staircase as Staircase
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
