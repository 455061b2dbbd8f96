"""Exact optima of rational linear programs: the solver's last basis, carried on in rationals until it is optimal.

Rows become variables r = A x, so that a basis is a choice of as many of the variables (x, r) as there are rows, and
``[A, -I] (x, r) = 0`` gives their values once the others stand at bounds. The basis that HiGHS ends with is nearly always
exactly optimal; where it is not, the simplex method goes on from it by Bland's rule, so that it ends.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.design.elimination import solve_sparse
from utmost.design.linear import AT_LOWER, AT_UPPER, BASIC, FREE, Basis, LinearProgram, LinearSolution, Vector
from utmost.design.program import InfeasibleProgram, solve
from utmost.errors import SolverFailed

_MOST_PIVOTS = 20_000


def solve_exactly(program: LinearProgram) -> LinearSolution:
    """An optimal vertex of a rational program, with exact value, primal and dual.

    A float program is read as the rationals that its floats are.

    Raises:
        InfeasibleProgram: with an exact ray.
        SolverFailed: when the program is unbounded.

    >>> from utmost.exact import as_array
    >>> thirds = LinearProgram.of_triplets(as_array([1, 1]), [0, 0], [0, 1], as_array([3, 1]), as_array([1]), [math.inf])
    >>> found = solve_exactly(thirds)
    >>> found.value, found.primal.tolist(), found.duals.tolist()
    (Fraction(1, 3), [Fraction(1, 3), Fraction(0, 1)], [Fraction(1, 3)])
    """
    try:
        basis = solve(program).basis
    except InfeasibleProgram as error:
        error.ray = farkas_ray(program)
        raise
    return exact_vertex(program, basis)


def exact_vertex(program: LinearProgram, basis: Basis) -> LinearSolution:
    """The exact optimal vertex reached from a basis, which is usually the one that the basis describes.

    Cost: two sparse rational solves for the basis, and three for each pivot if it is not optimal.
    """
    tableau = _Tableau.of(program)
    places = np.concatenate([basis.columns, basis.rows]).tolist()
    state = _State(tableau, places, tableau.cost)
    if state.primal_fault() is not None and state.dual_fault() is not None:
        shifted = [c - d if state.is_wrong(j, d) else c for j, (c, d) in enumerate(zip(state.cost, state.reduced, strict=True))]
        state = _State(tableau, _carried_on(_State(tableau, places, shifted)).places, tableau.cost)
    return _carried_on(state).solution(program)


def farkas_ray(program: LinearProgram) -> Vector | None:
    """Exact multipliers (rows,) that prove a program infeasible, or None when it is feasible.

    They are the duals of the program that pays for every violated row. `farkas_gap` checks them.
    """
    m, n = program.shape
    exact = _Tableau.of(program)
    entries = [(i, j, value) for j in range(n) for i, value in exact.columns[j].items()]
    entries += [(i, n + sign * m + i, Fraction(1 - 2 * sign)) for i in range(m) for sign in (0, 1)]
    rows, columns, values = ([entry[k] for entry in entries] for k in range(3))
    cost = [Fraction(0)] * n + [Fraction(1)] * (2 * m)
    below = [*exact.lower[:n], *[Fraction(0)] * (2 * m)]
    above = [*exact.upper[:n], *[math.inf] * (2 * m)]
    bounds = [_objects(side[n:]) for side in (exact.lower, exact.upper)]
    paid = LinearProgram.of_triplets(
        _objects(cost), rows, columns, _objects(values), *bounds, _objects(below), _objects(above)
    )
    found = exact_vertex(paid, solve(paid).basis)
    return found.duals if found.value > 0 else None


def farkas_gap(program: LinearProgram, ray: Vector) -> Any:
    """A number that is positive only if the ray proves the program infeasible.

    For every x, ``ray . (A x)`` is at least the least that the rows allow and at most the most that the variables'
    bounds allow; the gap is the first less the second.
    """
    tableau = _Tableau.of(program)
    m, n = program.shape
    need = sum((y * (tableau.lower[n + i] if y > 0 else tableau.upper[n + i]) for i, y in enumerate(ray) if y), Fraction(0))
    slopes = [sum((value * ray[i] for i, value in tableau.columns[j].items()), Fraction(0)) for j in range(n)]
    most = sum((s * (tableau.upper[j] if s > 0 else tableau.lower[j]) for j, s in enumerate(slopes) if s), Fraction(0))
    return need - most


@dataclass(frozen=True, slots=True)
class _Tableau:
    """[A, -I] by columns, with the cost and bounds of all variables (x, r), in rationals."""

    columns: list[dict[int, Fraction]]
    cost: list[Fraction]
    lower: list[Any]
    upper: list[Any]
    rows: int

    @classmethod
    def of(cls, program: LinearProgram) -> "_Tableau":
        m, n = program.shape
        columns: list[dict[int, Fraction]] = [{} for _ in range(n)]
        for i in range(m):
            for j, value in zip(*(part.tolist() for part in program.row(i)), strict=True):
                columns[j][i] = columns[j].get(i, Fraction(0)) + Fraction(value)
        columns += [{i: Fraction(-1)} for i in range(m)]
        lower = [*program.column_lower.tolist(), *program.lower.tolist()]
        upper = [*program.column_upper.tolist(), *program.upper.tolist()]
        cost = [*(Fraction(c) for c in program.cost.tolist()), *[Fraction(0)] * m]
        return cls(columns, cost, *([_rational(b) for b in side] for side in (lower, upper)), m)


class _State:
    """A basis with its exact values and reduced costs."""

    def __init__(self, tableau: _Tableau, places: list[int], cost: list[Fraction]) -> None:
        self.tableau, self.cost = tableau, cost
        self.places = [self._settled(j, place) for j, place in enumerate(places)]
        self.basic = [j for j, place in enumerate(self.places) if place == BASIC]
        if len(self.basic) != tableau.rows:
            raise SolverFailed(f"a basis of {tableau.rows} rows must have as many basic variables", came=len(self.basic))
        self.values = [Fraction(0) if place == BASIC else self._bound(j) for j, place in enumerate(self.places)]
        moved = [Fraction(0)] * tableau.rows
        for j, value in enumerate(self.values):
            if value:
                for i, a in tableau.columns[j].items():
                    moved[i] -= a * value
        for j, value in zip(self.basic, self.forward(moved), strict=True):
            self.values[j] = value
        self.duals = self.backward([cost[j] for j in self.basic])
        self.reduced = [c - _dot(column, self.duals) for c, column in zip(cost, tableau.columns, strict=True)]

    def forward(self, right: list[Fraction]) -> list[Fraction]:
        """B^{-1} right."""
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.tableau.rows)]
        for k, j in enumerate(self.basic):
            for i, value in self.tableau.columns[j].items():
                rows[i][k] = value
        return solve_sparse(rows, right)

    def backward(self, right: list[Fraction]) -> list[Fraction]:
        """B^{-T} right."""
        return solve_sparse([self.tableau.columns[j] for j in self.basic], right)

    def is_wrong(self, j: int, reduced: Fraction) -> bool:
        """Whether the sign of a reduced cost says that nonbasic variable j should move."""
        if self.places[j] == BASIC or self.tableau.lower[j] == self.tableau.upper[j]:
            return False
        return {AT_LOWER: reduced < 0, AT_UPPER: reduced > 0, FREE: reduced != 0}[self.places[j]]

    def primal_fault(self) -> int | None:
        """The first basic variable outside its bounds."""
        lower, upper = self.tableau.lower, self.tableau.upper
        return next((j for j in self.basic if not lower[j] <= self.values[j] <= upper[j]), None)

    def dual_fault(self) -> int | None:
        """The first nonbasic variable whose reduced cost has the wrong sign."""
        return next((j for j, d in enumerate(self.reduced) if self.is_wrong(j, d)), None)

    def exchanged(self, entering: int, leaving: int, place: int) -> "_State":
        """The neighbouring basis."""
        places = list(self.places)
        places[leaving] = place
        if entering != leaving:
            places[entering] = BASIC
        return _State(self.tableau, places, self.cost)

    def solution(self, program: LinearProgram) -> LinearSolution:
        """The state as a solution."""
        _, n = program.shape
        value = sum((c * x for c, x in zip(self.cost, self.values, strict=True)), Fraction(0))
        basis = Basis(np.array(self.places[:n]), np.array(self.places[n:]))
        return LinearSolution(
            value, _objects(self.values[:n]), _objects(self.duals), _objects(self.reduced[:n]), basis
        )

    def _settled(self, j: int, place: int) -> int:
        """A nonbasic place at a bound that exists."""
        if place == BASIC:
            return BASIC
        finite = [math.isfinite(self.tableau.lower[j]), math.isfinite(self.tableau.upper[j])]
        if place == AT_UPPER and finite[1]:
            return AT_UPPER
        return AT_LOWER if finite[0] else AT_UPPER if finite[1] else FREE

    def _bound(self, j: int) -> Any:
        return {AT_LOWER: self.tableau.lower[j], AT_UPPER: self.tableau.upper[j], FREE: Fraction(0)}[self.places[j]]


def _carried_on(state: _State) -> _State:
    """Pivots until neither primal nor dual is at fault; needs one of them without fault, and keeps it so."""
    for _ in range(_MOST_PIVOTS):
        leaving, entering = state.primal_fault(), state.dual_fault()
        if leaving is not None:
            state = _dual_pivot(state, leaving)
        elif entering is not None:
            state = _primal_pivot(state, entering)
        else:
            return state
    raise SolverFailed("the exact simplex method must end", came=f"{_MOST_PIVOTS} pivots")


def _dual_pivot(state: _State, leaving: int) -> _State:
    """The leaving variable goes to the bound that it breaks; the entering one has the least ratio of reduced costs."""
    tableau = state.tableau
    falls = state.values[leaving] > tableau.upper[leaving]
    unit = [Fraction(int(j == leaving)) for j in state.basic]
    ray = state.backward(unit)
    best: tuple[Fraction, int] | None = None
    for j, place in enumerate(state.places):
        if place == BASIC or tableau.lower[j] == tableau.upper[j]:
            continue
        slope = _dot(tableau.columns[j], ray) * (1 if falls else -1)
        if (slope > 0 and place in (AT_LOWER, FREE)) or (slope < 0 and place in (AT_UPPER, FREE)):
            ratio = abs(state.reduced[j] / slope)
            best = min(best, (ratio, j)) if best else (ratio, j)
    if best is None:
        error = InfeasibleProgram("the program must have a feasible point")
        sign = -1 if falls else 1
        error.ray = _objects([sign * y for y in ray])
        raise error
    return state.exchanged(best[1], leaving, AT_UPPER if falls else AT_LOWER)


def _primal_pivot(state: _State, entering: int) -> _State:
    """The entering variable moves until the first basic variable, or itself, reaches a bound."""
    tableau = state.tableau
    up = state.reduced[entering] < 0
    column = [tableau.columns[entering].get(i, Fraction(0)) for i in range(tableau.rows)]
    rates = [(-z if up else z) for z in state.forward(column)]
    own = tableau.upper[entering] - tableau.lower[entering]
    best = (own, entering, AT_UPPER if up else AT_LOWER) if math.isfinite(own) else None
    for j, rate in zip(state.basic, rates, strict=True):
        bound = tableau.upper[j] if rate > 0 else tableau.lower[j]
        if rate and math.isfinite(bound):
            step = ((bound - state.values[j]) / rate, j, AT_UPPER if rate > 0 else AT_LOWER)
            best = min(best, step) if best else step
    if best is None:
        raise SolverFailed("the program must be bounded")
    return state.exchanged(entering, best[1], best[2])


def _dot(column: dict[int, Fraction], duals: list[Fraction]) -> Fraction:
    return sum((value * duals[i] for i, value in column.items()), Fraction(0))


def _rational(bound: Any) -> Any:
    return Fraction(bound) if math.isfinite(bound) else float(bound)


def _objects(numbers: Iterable[Any]) -> Vector:
    held = list(numbers)
    array = np.empty(len(held), dtype=object)
    array[:] = held
    return array
