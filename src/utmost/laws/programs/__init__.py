"""Linear programs: a solver in floats, carried on to exact vertices, duals and Farkas rays."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.programs.exact_optima import farkas_gap as farkas_gap
    from utmost.laws.programs.exact_optima import solve_exactly as solve_exactly
    from utmost.laws.programs.highs import InfeasibleProgram as InfeasibleProgram
    from utmost.laws.programs.highs import solve as solve
    from utmost.laws.programs.linear_program import LinearProgram as LinearProgram
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
