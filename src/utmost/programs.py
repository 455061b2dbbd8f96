"""Linear programs: a float solver, and exact vertices, duals and Farkas rays refined from its solution."""

from utmost.core.programs.exact_optima import farkas_gap, solve_exactly
from utmost.core.programs.highs import InfeasibleProgram, solve
from utmost.core.programs.linear_program import LinearProgram

__all__ = ["InfeasibleProgram", "LinearProgram", "farkas_gap", "solve", "solve_exactly"]


def __dir__() -> list[str]:
    return __all__
