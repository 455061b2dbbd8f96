"""Linear programs: a solver in floats, carried on to exact vertices, duals and Farkas rays."""

from utmost.programs.farkas import farkas_gap, farkas_ray
from utmost.programs.linear import Basis, LinearProgram, LinearSolution
from utmost.programs.program import InfeasibleProgram, solve
from utmost.programs.vertex import exact_vertex, solve_exactly

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
]
