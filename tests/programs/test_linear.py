import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

# Two routes of one program are compared; a public call takes the quicker one.
from utmost.core.programs.exact_optima import exact_vertex
from utmost.core.programs.highs import solve_by_columns, solve_by_rows
from utmost.errors import NotANumber, OutOfRange, SolverFailed
from utmost.programs import InfeasibleProgram, LinearProgram, solve

GOOD = {"cost": [1, 2], "rows": [0, 0], "columns": [0, 1], "values": [1, 1], "lower": [1], "upper": [2]}


def test_products_are_those_of_the_matrix():
    program = LinearProgram.of_triplets([0, 0, 0], [1, 0, 1], [2, 0, 1], [5, 3, 4], [0, 0], [9, 9])
    dense = np.array([[3.0, 0, 0], [0, 4, 5]])
    assert (program.product(np.array([1.0, 2, 3])) == dense @ [1, 2, 3]).all()
    assert (program.transposed_product(np.array([1.0, 2])) == [1, 2] @ dense).all()


def test_one_fraction_makes_the_program_exact():
    program = LinearProgram.of_triplets(**{**GOOD, "cost": [Fraction(1, 3), 2]})
    assert program.is_exact
    assert all(isinstance(x, Fraction) for x in program.values)
    assert not LinearProgram.of_triplets(**GOOD).is_exact


def test_pickling_goes_through_the_constructor():
    program = pickle.loads(pickle.dumps(LinearProgram.of_triplets(**GOOD)))
    assert not program.cost.flags.writeable
    found = pickle.loads(pickle.dumps(solve(program)))
    assert found.value == 1
    assert not found.primal.flags.writeable


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"cost": [1, math.nan]}, NotANumber, "cost must hold finite"),
        ({"values": [1, math.inf]}, NotANumber, "values must hold finite"),
        ({"lower": [math.nan]}, NotANumber, "lower must hold numbers"),
        ({"upper": [1, 2]}, OutOfRange, "upper must have length 1"),
        ({"lower": [3]}, OutOfRange, "must not exceed"),
        ({"rows": [0, 1]}, OutOfRange, "row index"),
        ({"columns": [0, 2]}, OutOfRange, "column index"),
        ({"cost": [[1, 2]]}, OutOfRange, "one dimension|shape|length"),
    ],
)
def test_a_program_that_is_none_is_refused(change, error, match):
    with pytest.raises(error, match=match):
        LinearProgram.of_triplets(**{**GOOD, **change})


def test_an_infeasible_program_carries_a_ray():
    with pytest.raises(InfeasibleProgram, match="1 rows and 2 variables") as caught:
        solve(LinearProgram.of_triplets(**{**GOOD, "lower": [-2], "upper": [-1]}))
    assert caught.value.ray is not None


@pytest.mark.parametrize("seed", range(12))
def test_rows_added_as_they_are_broken_lead_to_the_same_optimum(seed):
    """Any rows to begin with, none of them too: value, duals and basis are those of the whole program."""
    draw = np.random.default_rng(seed)
    matrix = np.vstack([draw.integers(-3, 4, (30, 5)), np.ones((1, 5))])
    some = np.floor(8 * matrix[:30] @ draw.dirichlet(np.ones(5))) / 8 - draw.integers(1, 9, 30) / 8
    lower, upper = np.append(some, 1.0), np.append(np.full(30, np.inf), 1.0)
    at, which = np.indices(matrix.shape)
    cost = draw.integers(-5, 6, 5)
    program = LinearProgram.of_triplets(cost, at.ravel(), which.ravel(), matrix.ravel(), lower, upper)
    first = draw.permutation(31)[: 3 * seed]
    solution, whole = solve_by_rows(program, first), solve(program)
    assert solution.value == pytest.approx(whole.value, abs=1e-9)
    assert program.lower @ solution.duals == pytest.approx(whole.value, abs=1e-9)
    assert (program.product(solution.primal) >= program.lower - 1e-9).all()
    assert float(exact_vertex(program, solution.basis).value) == pytest.approx(whole.value, abs=1e-9)


def test_rows_that_contradict_each_other_are_told_whichever_comes_first():
    program = LinearProgram.of_triplets([0.0], [0, 1], [0, 0], [1.0, 1.0], [2, 0], [3, 1])
    for first in ([], [0], [1]):
        with pytest.raises(InfeasibleProgram):
            solve_by_rows(program, np.array(first, dtype=np.intp))


@pytest.mark.parametrize("seed", range(8))
def test_columns_added_as_they_better_it_lead_to_the_same_optimum(seed):
    """From any point at the bounds, and any variables to begin with: value, duals, and nothing beyond a bound."""
    draw = np.random.default_rng(seed)
    matrix, start = draw.integers(0, 3, (6, 60)), draw.integers(0, 2, 60).astype(float)
    at, which = np.indices(matrix.shape)
    sums, ends = matrix @ start, {"column_lower": np.zeros(60), "column_upper": np.ones(60)}
    low, high = sums - draw.integers(0, 2, 6), sums + draw.integers(0, 2, 6)
    costs = draw.integers(-9, 10, 60) / 8
    program = LinearProgram.of_triplets(costs, at.ravel(), which.ravel(), matrix.ravel(), low, high, **ends)
    first = draw.permutation(60)[: 1 + 7 * seed]
    primal, duals = solve_by_columns(program, start, first, 1000)
    value = solve(program).value
    assert program.cost @ primal == pytest.approx(value, abs=1e-8)
    assert program.least_by(duals) == pytest.approx(value, abs=1e-7)
    assert (np.clip(primal, 0, 1) == primal).all()
    with pytest.raises(SolverFailed):
        solve_by_columns(program, start, np.arange(60), 0)
