"""The solvers of HiGHS, called through the package ``highspy``, which only this file imports.

`solve` returns a vertex in floats, and `utmost.programs.solve_exactly` continues to the exact optimum. The package is
imported when the first program is solved, because a release solves no program.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from threading import Event, Lock, current_thread, main_thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.programs.linear_program import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    Basis,
    LinearProgram,
    LinearSolution,
    Vector,
    selected,
)
from utmost.errors import Infeasible, SolverFailed

__all__ = ["Basis", "InfeasibleProgram", "LinearProgram", "LinearSolution", "solve"]

SOLVER_TOLERANCE = 1e-10
_UNIT = 2.0**16
_WORTH = 1e-9  # least gain of an added variable; smaller gains may be rounding errors
_LONG = 2_000  # with as many rows or variables, a solution may take seconds and Ctrl-C can interrupt it
_TURN = 0.1  # seconds until Ctrl-C takes effect on Windows (elsewhere: at once)
_STDOUT = 1
_STRATEGIES = ({"simplex_strategy": 1}, {"simplex_strategy": 4}, {"simplex_strategy": 4, "simplex_scale_strategy": 0})


_redirection = Lock()
"""The lock that is held while file descriptor 1, which all threads share, is redirected."""
if hasattr(os, "register_at_fork"):  # a child forked meanwhile would lose its output permanently
    os.register_at_fork(
        before=_redirection.acquire, after_in_parent=_redirection.release, after_in_child=_redirection.release
    )


class InfeasibleProgram(Infeasible):
    """A linear program without a feasible point.

    Attributes:
        ray: Multipliers of a Farkas certificate, shape (rows,), or None if the solver has none. `solve` gives floats,
            and `solve_exactly` gives Fractions.
    """

    ray: Vector | None = None


def solve(program: LinearProgram, start: Basis | None = None, tolerance: float = SOLVER_TOLERANCE) -> LinearSolution:
    """An optimal vertex in float64, by HiGHS' simplex method at tolerance 1e-10 and without presolve.

    A rational program is rounded to floats first. The solution is approximate, and proves nothing: for an exact
    solution call `solve_exactly`.

    Args:
        program: Linear program.
        start: Basis to start from, of this program or of one with the same matrix.
        tolerance: Largest violation of a bound, at least 1e-10. HiGHS' default of 1e-7 gives values below the true
            optimum.

    Raises:
        InfeasibleProgram: if there is no feasible point.
        SolverFailed: if the solver ends with any status other than optimal, such as unbounded.

    >>> found = solve(LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], lower=[1], upper=[np.inf]))
    >>> found.value, found.primal.tolist(), found.duals.tolist()
    (1.0, [1.0, 0.0], [1.0])
    """
    import highspy

    statuses = []
    # If one strategy fails numerically, another seldom does. The order is dual, primal, and primal without scaling.
    for strategy in _STRATEGIES:
        highs = _loaded(program, strategy, tolerance)
        if start is not None:
            # From the optimum of a similar program a few pivots suffice. A cold start needs as many as there are rows.
            highs.setBasis(_basis(start))
        _run(highs)
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal and highs.getBasis().valid:
            solution, basis = highs.getSolution(), highs.getBasis()
            return LinearSolution(
                value=float(highs.getInfo().objective_function_value),
                primal=np.array(solution.col_value, dtype=np.float64),
                duals=np.array(solution.row_dual, dtype=np.float64),
                reduced_costs=np.array(solution.col_dual, dtype=np.float64),
                basis=Basis(_codes(basis.col_status), _codes(basis.row_status)),
            )
        if status == highspy.HighsModelStatus.kInfeasible:
            raise _infeasible(highs, program)
        statuses.append(highs.modelStatusToString(status))
    raise SolverFailed("the program must be solved to optimality", came=", ".join(statuses), where="HiGHS")


def solve_by_rows(program: LinearProgram, first: NDArray[np.intp]) -> LinearSolution:
    """Solve as `solve` does, by row generation. Row generation suits programs with many more rows than variables, if
    nearly all rows are slack.
    """
    import highspy

    # Rows that the optimum violates are added until it violates none. The primal simplex method solves the dual, whose
    # basis has the size of the variables, and for which a new row is one more column. Bounds and costs are magnified by
    # 2^16, so that the solver's tolerance becomes about 1e-15.
    # This takes only programs whose variables have the bounds 0 and infinity, and whose rows have one bound or are
    # equations. `solve` takes the others.
    free = np.isneginf(program.lower) | np.isposinf(program.upper)
    is_plain = bool((free | (program.lower == program.upper)).all())
    if not (is_plain and not program.column_lower.any() and bool(np.isposinf(program.column_upper).all())):
        return solve(program)
    (m, n), rows = program.shape, first
    highs, is_in = _solver({"simplex_strategy": 4}, SOLVER_TOLERANCE), np.zeros(m, dtype=bool)
    nothing = np.empty(0, dtype=np.int32)
    highs.addRows(n, np.full(n, -np.inf), _UNIT * program.cost, 0, np.zeros(n, dtype=np.int32), nothing, np.empty(0))
    added = first
    while True:
        is_in[added] = True
        # The rows are the columns of the dual: minimise -b y subject to A' y <= c. Each column has a cost, bounds, and
        # entries.
        low, high = program.lower[added], program.upper[added]
        has_low, has_high = np.isfinite(low), np.isfinite(high)
        costs = -_UNIT * np.where(has_low, low, np.where(has_high, high, 0.0))
        least, most = np.where(has_high, -np.inf, 0.0), np.where(has_low, np.inf, 0.0)
        starts, columns, values = program.entries(added)
        matrix = starts[:-1].astype(np.int32), columns.astype(np.int32), values
        highs.addCols(added.size, costs, least, most, columns.size, *matrix)
        _run(highs)
        # With only some of its rows the program may be unbounded, although with all of them it is bounded.
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal or not highs.getBasis().valid:
            return solve(program)
        solution = highs.getSolution()
        primal = np.array(solution.row_dual) / -_UNIT
        sums = program.product(primal)
        # The dual program was scaled, and so was its tolerance.
        broken = (sums < program.lower - SOLVER_TOLERANCE / _UNIT) | (sums > program.upper + SOLVER_TOLERANCE / _UNIT)
        added = np.flatnonzero(broken & ~is_in)
        if added.size == 0:
            break
        rows = np.concatenate([rows, added])
    duals, statuses, basic = np.zeros(m), np.full(m, BASIC, dtype=np.int8), np.full(n, BASIC, dtype=np.int8)
    duals[rows] = np.array(solution.col_value) / _UNIT
    # A row is nonbasic exactly if its multiplier is basic in the dual, and a variable is nonbasic exactly if the slack
    # of its row of the dual is basic. The solver numbers the columns of the dual 0, 1, ... and its rows -1, -2, ...
    _, own = highs.getBasicVariables()
    own = np.array(own)
    tight = rows[own[own >= 0]]
    statuses[tight] = np.where(np.isfinite(program.lower[tight]), AT_LOWER, AT_UPPER)
    basic[-1 - own[own < 0]] = AT_LOWER
    primal = np.where(primal <= SOLVER_TOLERANCE / _UNIT, 0.0, primal)
    reduced = program.cost - program.transposed_product(duals)
    return LinearSolution(float((program.cost * primal).sum()), primal, duals, reduced, Basis(basic, statuses))


def solve_by_columns(
    program: LinearProgram, start: Vector, first: NDArray[np.intp], most_steps: int
) -> tuple[Vector, Vector]:
    """An optimal vertex and its duals, by column generation from a feasible point (n,) with all variables at bounds."""
    # This suits programs with many more variables than rows, and a nearly optimal start. The primal simplex method
    # begins with the variables ``first``; the others stay at their bounds until the duals show that moving them lowers
    # the cost. Any status other than optimal, such as too many steps in a round, raises `SolverFailed`.
    import highspy

    (m, n), matrix, rows = program.shape, program.by_columns(), np.arange(program.shape[0], dtype=np.int32)
    highs, is_in, added = _solver({"simplex_strategy": 4}, SOLVER_TOLERANCE), np.zeros(n, dtype=bool), first
    highs.setOptionValue("simplex_iteration_limit", most_steps)
    nothing, columns = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.intp)
    highs.addRows(m, program.lower, program.upper, 0, np.zeros(m, dtype=np.int32), nothing, np.empty(0))
    primal, is_high = start.astype(np.float64), start == program.column_upper
    while True:
        is_in[added] = True
        columns = np.concatenate([columns, added])
        outside = program.product(np.where(is_in, 0.0, primal))
        highs.changeRowsBounds(m, rows, program.lower - outside, program.upper - outside)
        starts, entries, values = selected(matrix, added)
        ends = program.column_lower[added], program.column_upper[added]
        sparse = starts[:-1].astype(np.int32), entries.astype(np.int32), values
        highs.addCols(added.size, program.cost[added], *ends, entries.size, *sparse)
        statuses = np.where(is_high[added], AT_UPPER, AT_LOWER)
        if columns.size > added.size:
            basis = highs.getBasis()
            rows_at = _codes(basis.row_status)
            statuses = np.concatenate([_codes(basis.col_status)[: -added.size], statuses])
        else:
            rows_at = np.full(m, BASIC)
        highs.setBasis(_basis(Basis(statuses, rows_at)))
        _run(highs)
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            status = highs.modelStatusToString(highs.getModelStatus())
            raise SolverFailed("the program must be solved to optimality", came=status, where="HiGHS")
        duals = np.array(highs.getSolution().row_dual)
        gain = np.where(is_high, 1.0, -1.0) * (program.cost - program.transposed_product(duals))
        added = np.flatnonzero(~is_in & (gain > _WORTH))
        if added.size == 0:
            break
        # A basis has one variable for each row: adding more variables than that at once is rarely needed.
        if added.size > m:
            added = np.sort(added[np.argsort(-gain[added], kind="stable")[:m]])
    ends = program.column_lower[columns], program.column_upper[columns]
    primal[columns] = np.clip(highs.getSolution().col_value, *ends) + 0.0  # adding 0.0 turns -0.0 into 0.0
    return primal, duals


def solve_inside(program: LinearProgram) -> tuple[Vector, Vector]:
    """An optimal point and its duals in floats, by HiGHS' interior point method. The method suits programs with many
    optimal points.
    """
    import highspy

    # It serves programs with many more variables than rows, in which simplex methods stall. The point is clipped to the
    # bounds of the variables. The caller measures by how much the point violates the rows, and by
    # `LinearProgram.least_by` how far its cost is from the optimum.
    highs = _loaded(program, {}, SOLVER_TOLERANCE)
    highs.setOptionValue("solver", "ipm")
    # No vertex is needed, and finding one from an interior point takes longer than the point itself.
    highs.setOptionValue("run_crossover", "off")
    _run(highs)
    status, solution = highs.getModelStatus(), highs.getSolution()
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverFailed(
            "the program must be solved to optimality", came=highs.modelStatusToString(status), where="HiGHS"
        )
    primal = np.clip(np.array(solution.col_value), _floats(program.column_lower), _floats(program.column_upper))
    return primal, np.array(solution.row_dual, dtype=np.float64)


def solve_whole(program: LinearProgram) -> Vector:
    """The best integer point that HiGHS' branch and bound finds in 10 000 nodes, usually the optimum."""
    import highspy

    # Integers do not need a tolerance of ten digits.
    highs = _loaded(program, {"solver": "choose", "presolve": "on"}, 1e-9)
    highs.setOptionValue("mip_max_nodes", 10_000)
    variables = np.arange(program.shape[1], dtype=np.int32)
    highs.changeColsIntegrality(variables.size, variables, np.ones(variables.size, dtype=np.uint8))
    _run(highs, is_long=True)  # even a program with few variables may take long
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise _infeasible(highs, program)
    primal = np.rint(np.array(highs.getSolution().col_value, dtype=np.float64))
    if primal.size != variables.size or not np.isfinite(highs.getInfo().objective_function_value):
        raise SolverFailed(
            "the solver must find an integer solution", came=highs.modelStatusToString(status), where="HiGHS"
        )
    return primal


def last_basis(program: LinearProgram) -> Basis | None:
    """The basis at which the solver stops, whatever its status, or None if the solver has no basis."""
    try:
        highs = _loaded(program, _STRATEGIES[0], SOLVER_TOLERANCE)
    except SolverFailed:
        return None
    _run(highs)
    basis = highs.getBasis()
    return Basis(_codes(basis.col_status), _codes(basis.row_status)) if basis.valid else None


def _loaded(program: LinearProgram, strategy: Mapping[str, int | str], tolerance: float) -> Any:
    import highspy

    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = program.shape
    model.col_cost_, model.row_lower_, model.row_upper_ = (
        _floats(v) for v in (program.cost, program.lower, program.upper)
    )
    model.col_lower_, model.col_upper_ = _floats(program.column_lower), _floats(program.column_upper)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = program.starts.astype(np.int32), program.columns.astype(np.int32)
    model.a_matrix_.value_ = _floats(program.values)
    highs = _solver(strategy, tolerance)
    if highs.passModel(model) == highspy.HighsStatus.kError:
        raise SolverFailed("the program must be accepted by the solver", where="HiGHS")
    return highs


def _solver(strategy: Mapping[str, int | str], tolerance: float) -> Any:
    import highspy

    with _silent_stdout():  # from version 1.16 on, a new solver prints its name before options can be set
        highs = highspy.Highs()
    # One thread and no presolve give the same vertex on every machine, and the duals of the program itself.
    options: dict[str, Any] = {"output_flag": False, "presolve": "off", "solver": "simplex", "threads": 1, **strategy}
    tolerances = {
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "small_matrix_value": 1e-12,
    }
    for name, value in {**options, **tolerances}.items():
        highs.setOptionValue(name, value)
    return highs


@contextmanager
def _silent_stdout() -> Iterator[None]:
    """Discard what is written to file descriptor 1 within this context, also by libraries in C. A closed descriptor
    stays closed.
    """
    # All threads share the descriptor, and their output is lost meanwhile: the context must be short.
    with _redirection:
        flush = _flush_of_c()
        flush()  # flushed, so that earlier output is not discarded
        try:
            before = os.dup(_STDOUT)
        except OSError:
            yield
            return
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, _STDOUT)
            os.close(nowhere)
            try:
                yield
            finally:
                flush()
                os.dup2(before, _STDOUT)
        finally:
            os.close(before)


@cache
def _flush_of_c() -> Callable[[], object]:
    """A function that flushes C's buffer of standard output, or does nothing if Python cannot reach the buffer."""
    try:
        import ctypes

        library = ctypes.CDLL(None)
        stream = ctypes.c_void_p.in_dll(library, "__stdoutp" if sys.platform == "darwin" else "stdout")
    except (ImportError, OSError, TypeError, ValueError):  # Windows has no such library
        return lambda: None
    return lambda: library.fflush(stream)


def _run(highs: Any, *, is_long: bool = False) -> None:
    """Run a solver. In the main thread Ctrl-C or another signal interrupts a long solution."""
    # Python handles signals only between two of its own instructions, and HiGHS 1.16 and later lose an error raised in
    # a callback. So another thread runs the solver, while the main thread waits, handles the signal, and asks the
    # solver to stop at its next step.
    is_long = is_long or max(highs.getNumRow(), highs.getNumCol()) > _LONG
    if not is_long or current_thread() is not main_thread():
        highs.run()
        return
    is_left = Event()

    def leave(step: Any) -> None:
        if is_left.is_set() and step.data_in is not None:
            step.data_in.user_interrupt = True

    callbacks = (highs.cbSimplexInterrupt, highs.cbIpmInterrupt, highs.cbMipInterrupt)
    for steps in callbacks:
        steps.subscribe(leave)
    with ThreadPoolExecutor(1) as threads:  # leaving this context waits for the solver
        try:
            try:
                solution = threads.submit(highs.run)
            except RuntimeError:  # threads are missing, as in a browser
                highs.run()
            else:
                while not wait([solution], _TURN).done:
                    pass
                solution.result()
        except BaseException:
            is_left.set()
            raise
    for steps in callbacks:  # an interrupted solver keeps its callbacks, because it may still be running
        steps.unsubscribe(leave)


def _basis(start: Basis) -> Any:
    import highspy

    basis = highspy.HighsBasis()
    basis.col_status = [highspy.HighsBasisStatus(int(code)) for code in start.columns]
    basis.row_status = [highspy.HighsBasisStatus(int(code)) for code in start.rows]
    basis.valid = True
    return basis


def _infeasible(highs: Any, program: LinearProgram) -> InfeasibleProgram:
    rows, variables = program.shape
    error = InfeasibleProgram(f"the program of {rows} rows and {variables} variables must have a feasible point")
    _, has_ray, ray = highs.getDualRay()
    error.ray = np.array(ray, dtype=np.float64) if has_ray else None
    return error


def _codes(statuses: Sequence[Any]) -> NDArray[np.int8]:
    return np.array([int(status) for status in statuses], dtype=np.int8)


def _floats(numbers: Vector) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=np.float64)
