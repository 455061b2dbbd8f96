"""Exact optima of rational linear programs, from the basis that the solver ends with; or proofs that there is none.

The basis that HiGHS ends with is nearly always exactly optimal. Where it is not, the solver is asked again for the
difference to its own answer, magnified until the error can be seen (iterative refinement); and where that does not end,
the simplex method goes on in rationals.
"""

import math
from fractions import Fraction
from typing import Any

from utmost.errors import SolverFailed
from utmost.exact import objects
from utmost.programs.highs import solve
from utmost.programs.linear_program import Basis, LinearProgram, LinearSolution, Vector
from utmost.programs.rational_simplex import BasicSolution, StandardForm, carried_on

_ROUNDS = 12
# Of a program whose residuals are magnified: what it finds is a basis only, and is made exact afterwards.
_MAGNIFIED_TOLERANCE = 1e-7
_FAR = Fraction(10**9)


def solve_exactly(program: LinearProgram) -> LinearSolution:
    """An optimal vertex of a rational program, with exact value, primal and dual.

    A float program is read as the rationals that its floats are.

    Raises:
        InfeasibleProgram: when there is no feasible point; `farkas.farkas_ray` proves it exactly.
        SolverFailed: when the program is unbounded.

    >>> from utmost.exact import as_array
    >>> c, a, b = as_array([1, 1]), as_array([3, 1]), as_array([1])
    >>> thirds = LinearProgram.of_triplets(c, [0, 0], [0, 1], a, lower=b, upper=[math.inf])
    >>> found = solve_exactly(thirds)
    >>> found.value, found.primal.tolist(), found.duals.tolist()
    (Fraction(1, 3), [Fraction(1, 3), Fraction(0, 1)], [Fraction(1, 3)])
    """
    return exact_vertex(program, solve(program).basis)


def exact_vertex(program: LinearProgram, basis: Basis) -> LinearSolution:
    """The exact optimal vertex reached from a basis, which is usually the one that the basis describes.

    Cost: two sparse rational solves for the basis, and as many for each round of refinement that it takes.
    """
    form = StandardForm.of(program)
    places = [*basis.columns.tolist(), *basis.rows.tolist()]
    state = _refined(program, form, BasicSolution(form, places, form.cost))
    if state.primal_fault() is not None and state.dual_fault() is not None:
        numbered = enumerate(zip(state.cost, state.reduced, strict=True))
        shifted = [c - d if state.is_wrong(j, d) else c for j, (c, d) in numbered]
        state = BasicSolution(form, carried_on(BasicSolution(form, state.places, shifted)).places, form.cost)
    return carried_on(state).solution(program)


def _refined(program: LinearProgram, form: StandardForm, state: BasicSolution) -> BasicSolution:
    """The state at a basis of the magnified difference program, round by round, until its basis is exactly optimal."""
    for _ in range(_ROUNDS):
        if state.primal_fault() is None and state.dual_fault() is None:
            break
        try:
            places = solve(_magnified(program, state), state.basis(program), _MAGNIFIED_TOLERANCE).basis
            state = BasicSolution(form, [*places.columns.tolist(), *places.rows.tolist()], form.cost)
        except SolverFailed:
            break
    return state


def _magnified(program: LinearProgram, state: BasicSolution) -> LinearProgram:
    """The program for a multiple of x less the state's x: bounds moved and magnified, reduced costs as costs."""
    n, by, dearer = program.shape[1], _power_above(state.primal_error()), _power_above(state.dual_error())
    low, high = (
        objects(_near(by * (b - v)) if math.isfinite(b) else b for b, v in zip(side, state.values, strict=True))
        for side in (state.form.lower, state.form.upper)
    )
    cost = objects(dearer * d for d in state.reduced[:n])
    return LinearProgram(cost, program.starts, program.columns, program.values, low[n:], high[n:], low[:n], high[:n])


def _near(bound: Fraction) -> Fraction:
    """A bound drawn in to where the solver can still see it: what lies beyond is left for a later round."""
    return max(-_FAR, min(_FAR, bound))


def _power_above(error: Any) -> Fraction:
    """A power of two near 1/error, 1 where there is none."""
    places = 0 if error == 0 else max(0, math.floor(-math.log2(error)))
    return Fraction(2) ** places


def farkas_ray(program: LinearProgram) -> Vector | None:
    """Exact multipliers (rows,) that prove a program infeasible, or None when it is feasible.

    They are the duals of the program that pays for every violated row. `farkas_gap` checks them.
    """
    m, n = program.shape
    exact = StandardForm.of(program)
    entries = [(i, j, value) for j in range(n) for i, value in exact.columns[j].items()]
    entries += [(i, n + sign * m + i, Fraction(1 - 2 * sign)) for i in range(m) for sign in (0, 1)]
    rows, columns = [int(entry[0]) for entry in entries], [int(entry[1]) for entry in entries]
    values = objects(entry[2] for entry in entries)
    cost = [Fraction(0)] * n + [Fraction(1)] * (2 * m)
    below = [*exact.lower[:n], *[Fraction(0)] * (2 * m)]
    above = [*exact.upper[:n], *[math.inf] * (2 * m)]
    low, high = objects(exact.lower[n:]), objects(exact.upper[n:])
    paid = LinearProgram.of_triplets(objects(cost), rows, columns, values, low, high, objects(below), objects(above))
    found = exact_vertex(paid, solve(paid).basis)
    return found.duals if found.value > 0 else None


def farkas_gap(program: LinearProgram, ray: Vector) -> Any:
    """A number that is positive only if the ray proves the program infeasible.

    For every x, ``ray . (A x)`` is at least the least that the rows allow and at most the most that the variables'
    bounds allow; the gap is the first less the second.
    """
    form = StandardForm.of(program)
    n = program.shape[1]
    need = sum((y * (form.lower[n + i] if y > 0 else form.upper[n + i]) for i, y in enumerate(ray) if y), Fraction(0))
    slopes = [sum((value * ray[i] for i, value in form.columns[j].items()), Fraction(0)) for j in range(n)]
    most = sum((s * (form.upper[j] if s > 0 else form.lower[j]) for j, s in enumerate(slopes) if s), Fraction(0))
    return need - most
