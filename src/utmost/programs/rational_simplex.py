"""The simplex method in rationals, from any basis, by Bland's rule.

Rows become variables r = A x, so that a basis is a choice of as many of the variables (x, r) as there are rows, and
``[A, -I] (x, r) = 0`` gives their values once the others stand at bounds.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.errors import SolverFailed
from utmost.exact import objects
from utmost.programs.elimination import solve_sparse
from utmost.programs.highs import InfeasibleProgram
from utmost.programs.linear_program import AT_LOWER, AT_UPPER, BASIC, FREE, Basis, LinearProgram, LinearSolution

_MOST_PIVOTS = 20_000


@dataclass(frozen=True, slots=True)
class StandardForm:
    """[A, -I] by columns, with the cost and bounds of all variables (x, r), in rationals."""

    columns: list[dict[int, Fraction]]
    cost: list[Fraction]
    lower: list[Any]
    upper: list[Any]
    rows: int

    @classmethod
    def of(cls, program: LinearProgram) -> "StandardForm":
        """The form of a program; floats are read as the rationals that they are."""
        m, n = program.shape
        columns: list[dict[int, Fraction]] = [{} for _ in range(n)]
        for i in range(m):
            for j, value in zip(*(part.tolist() for part in program.row(i)), strict=True):
                columns[j][i] = columns[j].get(i, Fraction(0)) + Fraction(value)
        columns += [{i: Fraction(-1)} for i in range(m)]
        lower = [*program.column_lower.tolist(), *program.lower.tolist()]
        upper = [*program.column_upper.tolist(), *program.upper.tolist()]
        cost = [*(Fraction(c) for c in program.cost.tolist()), *[Fraction(0)] * m]
        return cls(columns, cost, [_rational(b) for b in lower], [_rational(b) for b in upper], m)


class BasicSolution:
    """A basis with its exact values and reduced costs."""

    def __init__(self, form: StandardForm, places: list[int], cost: list[Fraction]) -> None:
        self.form, self.cost = form, cost
        self.places = [self._settled(j, place) for j, place in enumerate(places)]
        self.basic = [j for j, place in enumerate(self.places) if place == BASIC]
        if len(self.basic) != form.rows:
            raise SolverFailed(f"a basis of {form.rows} rows must have as many basic variables", came=len(self.basic))
        self.values = [Fraction(0) if place == BASIC else self._bound(j) for j, place in enumerate(self.places)]
        moved = [Fraction(0)] * form.rows
        for j, value in enumerate(self.values):
            if value:
                for i, a in form.columns[j].items():
                    moved[i] -= a * value
        for j, value in zip(self.basic, self.forward(moved), strict=True):
            self.values[j] = value
        self.duals = self.backward([cost[j] for j in self.basic])
        self.reduced = [c - _dot(column, self.duals) for c, column in zip(cost, form.columns, strict=True)]

    def forward(self, right: list[Fraction]) -> list[Fraction]:
        """B^{-1} right."""
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.form.rows)]
        for k, j in enumerate(self.basic):
            for i, value in self.form.columns[j].items():
                rows[i][k] = value
        return solve_sparse(rows, right)

    def backward(self, right: list[Fraction]) -> list[Fraction]:
        """B^{-T} right."""
        return solve_sparse([self.form.columns[j] for j in self.basic], right)

    def is_wrong(self, j: int, reduced: Fraction) -> bool:
        """Whether the sign of a reduced cost says that nonbasic variable j should move."""
        if self.places[j] == BASIC or self.form.lower[j] == self.form.upper[j]:
            return False
        return {AT_LOWER: reduced < 0, AT_UPPER: reduced > 0, FREE: reduced != 0}[self.places[j]]

    def primal_fault(self) -> int | None:
        """The first basic variable outside its bounds."""
        lower, upper = self.form.lower, self.form.upper
        return next((j for j in self.basic if not lower[j] <= self.values[j] <= upper[j]), None)

    def dual_fault(self) -> int | None:
        """The first nonbasic variable whose reduced cost has the wrong sign."""
        return next((j for j, d in enumerate(self.reduced) if self.is_wrong(j, d)), None)

    def primal_error(self) -> Fraction:
        """By how much a basic variable breaks its bound, at most."""
        lower, upper = self.form.lower, self.form.upper
        return max(
            (max(lower[j] - self.values[j], self.values[j] - upper[j], 0) for j in self.basic), default=Fraction(0)
        )

    def dual_error(self) -> Fraction:
        """The largest reduced cost of the wrong sign."""
        return max((abs(d) for j, d in enumerate(self.reduced) if self.is_wrong(j, d)), default=Fraction(0))

    def basis(self, program: LinearProgram) -> Basis:
        """The places of variables and rows."""
        n = program.shape[1]
        return Basis(np.array(self.places[:n]), np.array(self.places[n:]))

    def exchanged(self, entering: int, leaving: int, place: int) -> "BasicSolution":
        """The neighbouring basis."""
        places = list(self.places)
        places[leaving] = place
        if entering != leaving:
            places[entering] = BASIC
        return BasicSolution(self.form, places, self.cost)

    def solution(self, program: LinearProgram) -> LinearSolution:
        """The state as a solution."""
        _, n = program.shape
        value = sum((c * x for c, x in zip(self.cost, self.values, strict=True)), Fraction(0))
        return LinearSolution(
            value,
            objects(self.values[:n]),
            objects(self.duals),
            objects(self.reduced[:n]),
            self.basis(program),
        )

    def _settled(self, j: int, place: int) -> int:
        """A nonbasic place at a bound that exists."""
        if place == BASIC:
            return BASIC
        finite = [math.isfinite(self.form.lower[j]), math.isfinite(self.form.upper[j])]
        if place == AT_UPPER and finite[1]:
            return AT_UPPER
        return AT_LOWER if finite[0] else AT_UPPER if finite[1] else FREE

    def _bound(self, j: int) -> Any:
        return {AT_LOWER: self.form.lower[j], AT_UPPER: self.form.upper[j], FREE: Fraction(0)}[self.places[j]]


def carried_on(state: BasicSolution) -> BasicSolution:
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


def _dual_pivot(state: BasicSolution, leaving: int) -> BasicSolution:
    """The leaving variable goes to the bound that it breaks; the entering one has the least ratio of reduced costs."""
    form = state.form
    falls = state.values[leaving] > form.upper[leaving]
    unit = [Fraction(int(j == leaving)) for j in state.basic]
    ray = state.backward(unit)
    best: tuple[Fraction, int] | None = None
    for j, place in enumerate(state.places):
        if place == BASIC or form.lower[j] == form.upper[j]:
            continue
        slope = _dot(form.columns[j], ray) * (1 if falls else -1)
        if (slope > 0 and place in (AT_LOWER, FREE)) or (slope < 0 and place in (AT_UPPER, FREE)):
            ratio = abs(state.reduced[j] / slope)
            best = min(best, (ratio, j)) if best else (ratio, j)
    if best is None:
        error = InfeasibleProgram("the program must have a feasible point")
        sign = -1 if falls else 1
        error.ray = objects([sign * y for y in ray])
        raise error
    return state.exchanged(best[1], leaving, AT_UPPER if falls else AT_LOWER)


def _primal_pivot(state: BasicSolution, entering: int) -> BasicSolution:
    """The entering variable moves until the first basic variable, or itself, reaches a bound."""
    form = state.form
    up = state.reduced[entering] < 0
    column = [form.columns[entering].get(i, Fraction(0)) for i in range(form.rows)]
    rates = [(-z if up else z) for z in state.forward(column)]
    own = form.upper[entering] - form.lower[entering]
    best = (own, entering, AT_UPPER if up else AT_LOWER) if math.isfinite(own) else None
    for j, rate in zip(state.basic, rates, strict=True):
        bound = form.upper[j] if rate > 0 else form.lower[j]
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
