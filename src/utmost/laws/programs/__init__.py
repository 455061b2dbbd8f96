"""Linear programs: a solver in floats, carried on to exact vertices, duals and Farkas rays."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.programs.exact_optima import exact_vertex, farkas_gap, farkas_ray, solve_exactly
    from utmost.laws.programs.highs import InfeasibleProgram, solve, solve_by_rows, solve_inside, solve_whole
    from utmost.laws.programs.linear_program import Basis, LinearProgram, LinearSolution
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Basis",
    "InfeasibleProgram",
    "LinearProgram",
    "LinearSolution",
    "exact_vertex",
    "farkas_gap",
    "farkas_ray",
    "solve",
    "solve_by_rows",
    "solve_exactly",
    "solve_inside",
    "solve_whole",
]
