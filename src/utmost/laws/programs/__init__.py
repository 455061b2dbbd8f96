"""Linear programs: a solver in floats, carried on to exact vertices, duals and Farkas rays."""

from utmost.laws.programs.exact_optima import exact_vertex, farkas_gap, farkas_ray, solve_exactly
from utmost.laws.programs.highs import InfeasibleProgram, solve, solve_inside, solve_whole
from utmost.laws.programs.linear_program import Basis, LinearProgram, LinearSolution

__all__ = [
    "Basis",
    "InfeasibleProgram",
    "LinearProgram",
    "LinearSolution",
    "exact_vertex",
    "farkas_gap",
    "farkas_ray",
    "solve",
    "solve_exactly",
    "solve_inside",
    "solve_whole",
]
