"""Exact optima of rational linear programs from the last basis of the float solver, or proofs that none exists.

The last basis of HiGHS is nearly always exactly optimal. If the last basis is not optimal, iterative refinement
follows: the solver solves a program for the correction of its last solution. The program for the correction is
magnified, so that the error exceeds the solver's tolerance. If refinement does not reach an optimal basis, the simplex
method continues in rationals, by Bland's rule.

Each row of A becomes a variable: r = A x. A basis then consists of as many of the variables (x, r) as there are rows.
With the other variables at their bounds, ``[A, -I] (x, r) = 0`` determines the values of these basic variables.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import objects
from utmost.core.exact.linear_algebra import solve_sparse
from utmost.core.programs.highs import InfeasibleProgram, last_basis, solve
from utmost.core.programs.linear_program import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    FREE,
    Basis,
    LinearProgram,
    LinearSolution,
    Vector,
)
from utmost.errors import SolverFailed

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
        """The standard form of a program. A float becomes the rational that it equals."""
        m, n = program.shape
        columns: list[dict[int, Fraction]] = [{} for _ in range(n)]
        for i in range(m):
            for j, value in zip(*(part.tolist() for part in program.row(i)), strict=True):
                columns[j][i] = columns[j].get(i, Fraction(0)) + Fraction(value)
        # Each row i has a variable r_i with the bounds of the row: a basis then always has as many variables as rows.
        columns += [{i: Fraction(-1)} for i in range(m)]
        lower = [*program.column_lower.tolist(), *program.lower.tolist()]
        upper = [*program.column_upper.tolist(), *program.upper.tolist()]
        cost = [*(Fraction(c) for c in program.cost.tolist()), *[Fraction(0)] * m]
        return cls(columns, cost, [_rational(b) for b in lower], [_rational(b) for b in upper], m)


class BasicSolution:
    def __init__(self, form: StandardForm, statuses: list[int], cost: list[Fraction]) -> None:
        self.form, self.cost = form, cost
        self.statuses = [self._settled(j, status) for j, status in enumerate(statuses)]
        self.basic = [j for j, status in enumerate(self.statuses) if status == BASIC]
        if len(self.basic) != form.rows:
            raise SolverFailed(f"a basis of {form.rows} rows must have as many basic variables", came=len(self.basic))
        bounds = {AT_LOWER: form.lower, AT_UPPER: form.upper, BASIC: form.cost, FREE: form.cost}
        self.values = [
            Fraction(0) if status in (BASIC, FREE) else bounds[status][j] for j, status in enumerate(self.statuses)
        ]
        # The nonbasic variables, most of which are 0, are moved to the right-hand side.
        right = [Fraction(0)] * form.rows
        for j, value in enumerate(self.values):
            if value:
                for i, a in form.columns[j].items():
                    right[i] -= a * value
        for j, value in zip(self.basic, self.forward(right), strict=True):
            self.values[j] = value
        self.duals = self.backward([cost[j] for j in self.basic])
        self.reduced = [c - _dot(column, self.duals) for c, column in zip(cost, form.columns, strict=True)]

    def forward(self, right: list[Fraction]) -> list[Fraction]:
        """Solve B z = right for the basis matrix B."""
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.form.rows)]
        for k, j in enumerate(self.basic):
            for i, value in self.form.columns[j].items():
                rows[i][k] = value
        return solve_sparse(rows, right)

    def backward(self, right: list[Fraction]) -> list[Fraction]:
        """Solve B' z = right for the transposed basis matrix B'."""
        return solve_sparse([self.form.columns[j] for j in self.basic], right)

    def is_wrong(self, j: int, reduced: Fraction) -> bool:
        """Whether moving nonbasic variable j lowers the cost, by the sign of its reduced cost."""
        # A fixed variable cannot move.
        if self.statuses[j] == BASIC or self.form.lower[j] == self.form.upper[j]:
            return False
        return {AT_LOWER: reduced < 0, AT_UPPER: reduced > 0, FREE: reduced != 0}[self.statuses[j]]

    def primal_fault(self) -> int | None:
        """The index of the first basic variable outside its bounds, or None if there is none."""
        lower, upper = self.form.lower, self.form.upper
        return next((j for j in self.basic if not lower[j] <= self.values[j] <= upper[j]), None)

    def dual_fault(self) -> int | None:
        """The index of the first nonbasic variable whose reduced cost has the wrong sign, or None if there is none."""
        return next((j for j, d in enumerate(self.reduced) if self.is_wrong(j, d)), None)

    def primal_error(self) -> Fraction:
        """The largest distance of a basic variable from its bounds."""
        lower, upper = self.form.lower, self.form.upper
        return max(
            (max(lower[j] - self.values[j], self.values[j] - upper[j], 0) for j in self.basic), default=Fraction(0)
        )

    def dual_error(self) -> Fraction:
        """The largest reduced cost of the wrong sign."""
        return max((abs(d) for j, d in enumerate(self.reduced) if self.is_wrong(j, d)), default=Fraction(0))

    def basis(self, program: LinearProgram) -> Basis:
        n = program.shape[1]
        return Basis(np.array(self.statuses[:n]), np.array(self.statuses[n:]))

    def exchanged(self, entering: int, leaving: int, status: int) -> "BasicSolution":
        """The neighbouring basis with ``entering`` in it, and ``leaving`` at the bound ``status``."""
        statuses = list(self.statuses)
        statuses[leaving] = status
        if entering != leaving:
            statuses[entering] = BASIC
        return BasicSolution(self.form, statuses, self.cost)

    def solution(self, program: LinearProgram) -> LinearSolution:
        _, n = program.shape
        value = sum((c * x for c, x in zip(self.cost, self.values, strict=True)), Fraction(0))
        return LinearSolution(
            value, objects(self.values[:n]), objects(self.duals), objects(self.reduced[:n]), self.basis(program)
        )

    def _settled(self, j: int, status: int) -> int:
        """The status of variable j, or another status if this one names an infinite bound."""
        if status == BASIC:
            return BASIC
        finite = [math.isfinite(self.form.lower[j]), math.isfinite(self.form.upper[j])]
        if status == AT_UPPER and finite[1]:
            return AT_UPPER
        return AT_LOWER if finite[0] else AT_UPPER if finite[1] else FREE


def optimised(state: BasicSolution, pivots: int = _MOST_PIVOTS) -> BasicSolution:
    """The optimal basis, reached by pivots from a primal or dual feasible basis."""
    # Bland's rule takes the first variable with a violation, and cannot cycle. The limit stops programs that would take
    # days.
    for _ in range(pivots):
        leaving, entering = state.primal_fault(), state.dual_fault()
        if leaving is not None:
            state = _dual_pivot(state, leaving)
        elif entering is not None:
            state = _primal_pivot(state, entering)
        else:
            return state
    raise SolverFailed("the exact simplex method must end", came=f"{pivots} pivots")


def _dual_pivot(state: BasicSolution, leaving: int) -> BasicSolution:
    """The basis after ``leaving`` moves to the bound that it violates. The variable with the least ratio enters the
    basis.
    """
    form = state.form
    falls = state.values[leaving] > form.upper[leaving]
    unit = [Fraction(int(j == leaving)) for j in state.basic]
    ray = state.backward(unit)
    best: tuple[Fraction, int] | None = None
    for j, status in enumerate(state.statuses):
        if status == BASIC or form.lower[j] == form.upper[j]:
            continue
        slope = _dot(form.columns[j], ray) * (1 if falls else -1)
        if (slope > 0 and status in (AT_LOWER, FREE)) or (slope < 0 and status in (AT_UPPER, FREE)):
            ratio = abs(state.reduced[j] / slope)
            # Among equal ratios, the lowest index is chosen, again by Bland's rule.
            best = min(best, (ratio, j)) if best else (ratio, j)
    if best is None:
        error = InfeasibleProgram("the program must have a feasible point")
        sign = 1 if falls else -1
        # No variable can bring this row within its bounds. Its multipliers prove that, and `farkas_gap` checks them.
        error.ray = objects([sign * y for y in ray])
        raise error
    return state.exchanged(best[1], leaving, AT_UPPER if falls else AT_LOWER)


def _primal_pivot(state: BasicSolution, entering: int) -> BasicSolution:
    """The basis after ``entering`` moves until it, or the first basic variable, reaches a bound."""
    form = state.form
    up = state.reduced[entering] < 0
    column = [form.columns[entering].get(i, Fraction(0)) for i in range(form.rows)]
    rates = [(-z if up else z) for z in state.forward(column)]
    own = form.upper[entering] - form.lower[entering]
    # If the entering variable reaches its other bound first, nothing leaves the basis.
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


_ROUNDS = 12
# The program that is solved is magnified, and only the basis of its solution is used.
_MAGNIFIED_TOLERANCE = 1e-7
_FAR = Fraction(10**9)


def solve_exactly(program: LinearProgram) -> LinearSolution:
    """An optimal vertex of a rational program, with exact value, primal and dual.

    A float counts as the rational that it equals.

    Raises:
        InfeasibleProgram: if there is no feasible point. The proof is in rationals; see `farkas_gap`.
        SolverFailed: if the program is unbounded.

    >>> from utmost.exact import as_array
    >>> c, a, b = as_array([1, 1]), as_array([3, 1]), as_array([1])
    >>> thirds = LinearProgram.of_triplets(c, [0, 0], [0, 1], a, lower=b, upper=[math.inf])
    >>> found = solve_exactly(thirds)
    >>> found.value, found.primal.tolist(), found.duals.tolist()
    (Fraction(1, 3), [Fraction(1, 3), Fraction(0, 1)], [Fraction(1, 3)])
    """
    try:
        return exact_vertex(program, solve(program).basis)
    except (InfeasibleProgram, SolverFailed):
        # A failure of the float solver proves nothing, so the simplex method decides in rationals. Without a cost every
        # basis is dual feasible, so that the dual method ends at a feasible basis, or with a proof that there is none.
        form, free = StandardForm.of(program), [Fraction(0)] * sum(program.shape)
        start = BasicSolution(form, [AT_LOWER] * program.shape[1] + [BASIC] * program.shape[0], free)
        basis = last_basis(program)
        if basis is not None:
            with suppress(SolverFailed):  # the basis is singular
                start = BasicSolution(form, [*basis.columns.tolist(), *basis.rows.tolist()], free)
        feasible = optimised(start)
        return optimised(BasicSolution(form, feasible.statuses, form.cost)).solution(program)


def exact_vertex(program: LinearProgram, basis: Basis, pivots: int = _MOST_PIVOTS) -> LinearSolution:
    """The exact optimal vertex reached from a basis, usually the vertex of that basis."""
    # Cost: two sparse rational systems are solved for the basis, and two in each round of refinement.
    form = StandardForm.of(program)
    statuses = [*basis.columns.tolist(), *basis.rows.tolist()]
    state = BasicSolution(form, statuses, form.cost)
    for _ in range(_ROUNDS):
        if state.primal_fault() is None and state.dual_fault() is None:
            break
        # The program for the correction has shifted bounds, and the reduced costs as costs. It is magnified so that the
        # primal and the dual error become about 1, far above the solver's tolerance. Only its basis is used.
        n, wider, dearer = program.shape[1], _power_above(state.primal_error()), _power_above(state.dual_error())
        low, high = (
            objects(
                _clipped(wider * (b - v)) if math.isfinite(b) else b for b, v in zip(side, state.values, strict=True)
            )
            for side in (form.lower, form.upper)
        )
        cost = objects(_clipped(dearer * d) for d in state.reduced[:n])
        matrix = program.starts, program.columns, program.values
        try:
            magnified = LinearProgram(cost, *matrix, low[n:], high[n:], low[:n], high[:n])
            found = solve(magnified, state.basis(program), _MAGNIFIED_TOLERANCE).basis
            state = BasicSolution(form, [*found.columns.tolist(), *found.rows.tolist()], form.cost)
        except SolverFailed:
            break
    if state.primal_fault() is not None and state.dual_fault() is not None:
        numbered = enumerate(zip(state.cost, state.reduced, strict=True))
        # Costs are shifted so that no reduced cost has the wrong sign. The optimal basis for the shifted costs is then
        # the start for the true costs.
        shifted = [c - d if state.is_wrong(j, d) else c for j, (c, d) in numbered]
        state = BasicSolution(form, optimised(BasicSolution(form, state.statuses, shifted), pivots).statuses, form.cost)
    return optimised(state, pivots).solution(program)


def _clipped(number: Fraction) -> Fraction:
    """Clip a bound or cost to the solver's range -10^9 to 10^9; later rounds of refinement correct the clipping."""
    return max(-_FAR, min(_FAR, number))


def _power_above(error: Any) -> Fraction:
    """A power of two near 1/error; 1 if the error is 0."""
    exponent = error.denominator.bit_length() - error.numerator.bit_length() if error else 0
    return Fraction(2) ** max(0, exponent)


def farkas_ray(program: LinearProgram) -> Vector | None:
    """Exact multipliers (rows,) that prove a program infeasible, for `farkas_gap`, or None for a feasible program."""
    m, n = program.shape
    exact = StandardForm.of(program)
    entries = [(i, j, value) for j in range(n) for i, value in exact.columns[j].items()]
    # The multipliers are the duals of a program that is always feasible, because a violation of a row costs 1 per unit.
    entries += [(i, n + sign * m + i, Fraction(1 - 2 * sign)) for i in range(m) for sign in (0, 1)]
    rows, columns = [int(entry[0]) for entry in entries], [int(entry[1]) for entry in entries]
    values = objects(entry[2] for entry in entries)
    cost = [Fraction(0)] * n + [Fraction(1)] * (2 * m)
    below = [*exact.lower[:n], *[Fraction(0)] * (2 * m)]
    above = [*exact.upper[:n], *[math.inf] * (2 * m)]
    relaxed = LinearProgram.of_triplets(
        objects(cost),
        rows,
        columns,
        values,
        lower=objects(exact.lower[n:]),
        upper=objects(exact.upper[n:]),
        column_lower=objects(below),
        column_upper=objects(above),
    )
    solution = solve_exactly(relaxed)
    return solution.duals if solution.value > 0 else None


def farkas_gap(program: LinearProgram, ray: Vector) -> Any:
    """A number that is positive exactly if the ray proves the program infeasible.

    For every feasible x, ``ray . (A x)`` is at least its minimum over the bounds of the rows, and at most its maximum
    over the bounds of the variables. The gap is this minimum minus this maximum.
    """
    form = StandardForm.of(program)
    n = program.shape[1]
    need = sum((y * (form.lower[n + i] if y > 0 else form.upper[n + i]) for i, y in enumerate(ray) if y), Fraction(0))
    slopes = [sum((value * ray[i] for i, value in form.columns[j].items()), Fraction(0)) for j in range(n)]
    most = sum((s * (form.upper[j] if s > 0 else form.lower[j]) for j, s in enumerate(slopes) if s), Fraction(0))
    return need - most
