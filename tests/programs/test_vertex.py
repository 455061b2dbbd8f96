import math
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

# The basis of a float solution is made wrong on purpose; the exact vertex must not follow it.
from utmost.core.programs.exact_optima import exact_vertex, farkas_ray
from utmost.core.programs.linear_program import AT_LOWER, BASIC, Basis
from utmost.errors import SolverFailed
from utmost.exact import objects, solve_sparse
from utmost.programs import InfeasibleProgram, LinearProgram, farkas_gap, solve, solve_exactly


def random_program(rng):
    m, n = rng.randint(1, 6), rng.randint(1, 6)
    matrix = [[rng.randint(-3, 3) for _ in range(n)] for _ in range(m)]
    entries = [(i, j, Fraction(matrix[i][j])) for i in range(m) for j in range(n) if matrix[i][j]]
    low = [rng.randint(-4, 2) for _ in range(m)]
    high = [x + rng.randint(0, 4) for x in low]

    def side(values, none):
        return objects(Fraction(x) if rng.random() < 0.7 else none for x in values)

    return LinearProgram.of_triplets(
        objects(Fraction(rng.randint(-3, 3)) for _ in range(n)),
        [e[0] for e in entries],
        [e[1] for e in entries],
        objects(e[2] for e in entries),
        side(low, -math.inf),
        side(high, math.inf),
        column_lower=side([rng.randint(-2, 0) for _ in range(n)], -math.inf),
        column_upper=side([rng.randint(0, 2) for _ in range(n)], math.inf),
    )


def check_optimal(program, found):
    """Feasible primal, feasible dual, complementary slackness: an optimum, in rationals."""
    activity = program.product(found.primal)
    reduced = program.cost - program.transposed_product(found.duals)
    assert (reduced == found.reduced_costs).all()
    assert found.value == (program.cost * found.primal).sum()
    for values, multipliers, low, high in (
        (activity, found.duals, program.lower, program.upper),
        (found.primal, reduced, program.column_lower, program.column_upper),
    ):
        for value, multiplier, least, most in zip(values, multipliers, low, high, strict=True):
            assert least <= value <= most
            assert multiplier <= 0 or value == least
            assert multiplier >= 0 or value == most


def test_a_vertex_is_optimal_in_rationals_from_any_basis():
    """From the solver's basis and from the basis of all rows the same optimum is reached, or there is proof of none."""
    rng, solved, refuted = random.Random(1), 0, 0
    for _ in range(150):
        program = random_program(rng)
        try:
            found = solve_exactly(program)
        except InfeasibleProgram:
            assert farkas_gap(program, farkas_ray(program)) > 0
            refuted += 1
            continue
        except SolverFailed:
            continue
        check_optimal(program, found)
        assert farkas_ray(program) is None
        rows_basic = Basis(np.full(program.shape[1], AT_LOWER), np.full(program.shape[0], BASIC))
        assert exact_vertex(program, rows_basic).value == found.value
        solved += 1
    assert solved > 60
    assert refuted > 20


def test_no_ray_refutes_a_feasible_program():
    program = LinearProgram.of_triplets([1], [0], [0], [1], lower=[1], upper=[2])
    assert farkas_ray(program) is None
    for y in (-1, 1):
        assert farkas_gap(program, objects([Fraction(y)])) <= 0


def test_refinement_corrects_a_basis_that_floats_cannot_tell_from_the_best():
    """minimise x with x >= 1 + 2^-80 and x >= 1: in floats both rows look tight; the larger one is."""
    program = LinearProgram.of_triplets(
        objects([Fraction(1)]),
        [0, 1],
        [0, 0],
        objects([Fraction(1), Fraction(1)]),
        objects([Fraction(1) + Fraction(1, 2**80), Fraction(1)]),
        objects([math.inf, math.inf]),
    )
    wrong = Basis(np.array([BASIC]), np.array([BASIC, AT_LOWER]))
    assert exact_vertex(program, wrong).value == 1 + Fraction(1, 2**80)


def test_an_unbounded_program_raises():
    with pytest.raises(SolverFailed, match="optimality"):
        solve(LinearProgram.of_triplets([-1], [0], [0], [1], lower=[0], upper=[math.inf]))


def test_sparse_solves_agree_with_cramers_rule():
    rng = random.Random(3)
    for _ in range(50):
        size = rng.randint(1, 4)
        rows = [[Fraction(rng.randint(-2, 2)) for _ in range(size)] for _ in range(size)]
        right = [Fraction(rng.randint(-2, 2)) for _ in range(size)]
        if determinant(rows) == 0:
            with pytest.raises(SolverFailed, match="nonsingular"):
                solve_sparse([dict(enumerate(row)) for row in rows], right)
            continue
        z = solve_sparse([dict(enumerate(row)) for row in rows], right)
        for j in range(size):
            swapped = [[*row[:j], b, *row[j + 1 :]] for row, b in zip(rows, right, strict=True)]
            assert z[j] == determinant(swapped) / determinant(rows)


def determinant(rows):
    if not rows:
        return Fraction(1)
    return sum((-1) ** j * rows[0][j] * determinant([r[:j] + r[j + 1 :] for r in rows[1:]]) for j in range(len(rows)))


def test_vertices_of_small_programs_are_found_by_trying_all():
    """The value is the least over all intersections of n constraints: boxes in the plane with one cut."""
    rng = random.Random(5)
    for _ in range(40):
        a, b, c = (Fraction(rng.randint(-3, 3)) for _ in range(3))
        cost = [Fraction(rng.randint(-3, 3)) for _ in range(2)]
        program = LinearProgram.of_triplets(
            objects(cost),
            [0, 0],
            [0, 1],
            objects([a, b]),
            objects([c]),
            objects([math.inf]),
            column_upper=objects([Fraction(2)] * 2),
        )
        lines = [(1, 0, 0), (1, 0, 2), (0, 1, 0), (0, 1, 2), (a, b, c)]
        points = []
        for (p, q, r), (s, t, u) in combinations(lines, 2):
            det = Fraction(p * t - q * s)
            if det:
                points.append(((r * t - q * u) / det, (p * u - r * s) / det))
        inside = [(x, y) for x, y in points if 0 <= x <= 2 and 0 <= y <= 2 and a * x + b * y >= c]
        if not inside:
            with pytest.raises(InfeasibleProgram):
                solve_exactly(program)
        else:
            assert solve_exactly(program).value == min(cost[0] * x + cost[1] * y for x, y in inside)


FAR = Fraction(10**12)


def test_what_floats_call_infeasible_or_unbounded_is_decided_in_rationals():
    """x = 10^13 meets 10^-13 x >= 1, which the solver reads as 0 >= 1; and it stops -x at 10^24, where it sees no end.

    Hundreds of programs of numbers from 10^-12 to 10^12 were compared with `FieldTableau`; these are three of them.
    """
    tiny = LinearProgram.of_triplets(objects([Fraction(1)]), [0], [0], objects([1 / (10 * FAR)]), [1], [math.inf])
    found = solve_exactly(tiny)
    check_optimal(tiny, found)
    assert found.value == 10 * FAR
    assert farkas_ray(tiny) is None
    row = objects([1 / FAR, 1 / FAR])
    far = LinearProgram.of_triplets(objects([Fraction(-1), Fraction(0)]), [0, 0], [0, 1], row, [0], objects([FAR]))
    assert solve_exactly(far).value == -FAR * FAR
    huge = LinearProgram.of_triplets(objects([Fraction(1)]), [0], [0], objects([FAR**3]), [1], [math.inf])
    assert solve_exactly(huge).value == 1 / FAR**3


def test_the_ray_of_a_refusal_proves_it():
    """Whatever variable is out of its bounds, and on whichever side: `farkas_gap` of the ray is positive."""
    rng = random.Random(5)
    programs = [program for program in (random_program(rng) for _ in range(100)) if farkas_ray(program) is not None]
    assert len(programs) > 20
    for program in programs:
        with pytest.raises(InfeasibleProgram) as refused:
            solve_exactly(program)
        assert farkas_gap(program, refused.value.ray) > 0


def test_infeasible_and_unbounded_programs_are_still_told():
    """The same rows with a bound that no point meets, and without one: both verdicts are proved in rationals."""
    below = LinearProgram.of_triplets(
        objects([Fraction(1)]), [0], [0], objects([1 / (10 * FAR)]), [1], [math.inf], column_upper=objects([FAR])
    )
    with pytest.raises(InfeasibleProgram) as refused:
        solve_exactly(below)
    assert farkas_gap(below, refused.value.ray) > 0
    endless = LinearProgram.of_triplets(objects([Fraction(-1)]), [0], [0], objects([1 / FAR]), [1], [math.inf])
    with pytest.raises(SolverFailed, match="bounded"):
        solve_exactly(endless)
