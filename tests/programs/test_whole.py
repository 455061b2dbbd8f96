"""The exact linear programs: optimality proved by their own duals, and against a float solver."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

# The simplex method in integers, which `solve_exactly` takes only where no basis of floats will do.
from utmost.core.programs.integer_tableau import IntegerTableau
from utmost.errors import Infeasible, SolverFailed


@st.composite
def programs(draw):
    """A x = b with a known nonnegative solution, and a nonnegative cost: feasible and bounded."""
    k, m = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    numbers = st.integers(-4, 4)
    matrix = np.array(draw(st.lists(st.lists(numbers, min_size=m, max_size=m), min_size=k, max_size=k)), dtype=object)
    x = np.array(draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)), dtype=object)
    cost = np.array(draw(st.lists(st.integers(0, 5), min_size=m, max_size=m)), dtype=object)
    return matrix, matrix @ x, cost


@given(programs())
def test_the_dual_proves_the_optimum(program):
    """A x = b, x >= 0, z A <= c, z b = c x: weak duality closes the gap, in rationals."""
    matrix, right, cost = program
    found, _ = IntegerTableau.feasible(matrix, right).minimise(cost)
    x, z = np.array(found.x, dtype=object), np.array(found.dual, dtype=object)
    assert (matrix @ x == right).all()
    assert min(found.x) >= 0
    assert (z @ matrix <= cost).all()
    assert z @ right == cost @ x == found.value


@given(programs())
def test_agrees_with_a_float_solver(program):
    """The same value as HiGHS, to its tolerance."""
    matrix, right, cost = (np.array(part, dtype=float) for part in program)
    found, _ = IntegerTableau.feasible(*program[:2]).minimise(program[2])
    assert float(found.value) == pytest.approx(linprog(cost, A_eq=matrix, b_eq=right).fun, abs=1e-6)


@given(programs(), st.data())
def test_a_warm_start_changes_nothing(program, data):
    """From the optimum of another cost, the optimum is the same."""
    matrix, right, cost = program
    other = np.array([data.draw(st.integers(0, 5)) for _ in cost], dtype=object)
    start = IntegerTableau.feasible(matrix, right)
    _, warm = start.minimise(other)
    assert warm.minimise(cost)[0].value == start.minimise(cost)[0].value


def test_what_has_no_solution_is_said():
    """Infeasible and unbounded programs raise."""
    with pytest.raises(Infeasible):
        IntegerTableau.feasible(np.array([[1, 1]], dtype=object), np.array([-1], dtype=object))
    with pytest.raises(SolverFailed, match="lower bound"):
        IntegerTableau.feasible(np.array([[1, -1]], dtype=object), np.array([0], dtype=object)).minimise(
            np.array([-1, 0], dtype=object)
        )


def test_a_program_that_cycles_under_careless_rules():
    """Beale's example: the steepest column with ties broken badly returns to where it was."""
    matrix = np.array([[1, -32, -4, 36, 4, 0, 0], [1, -24, -1, 6, 0, 2, 0], [0, 0, 1, 0, 0, 0, 1]], dtype=object)
    cost = np.array([-3, 80, -2, 24, 0, 0, 0], dtype=object)
    found, _ = IntegerTableau.feasible(matrix, np.array([0, 0, 1], dtype=object)).minimise(cost)
    assert found.value == linprog_value(matrix, cost)


def linprog_value(matrix, cost):
    return Fraction(linprog(cost.astype(float), A_eq=matrix.astype(float), b_eq=[0, 0, 1]).fun).limit_denominator(1000)
