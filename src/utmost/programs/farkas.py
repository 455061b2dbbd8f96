"""Farkas certificates: multipliers that prove a linear program infeasible, exactly."""

import math
from fractions import Fraction
from typing import Any

from utmost.exact import objects
from utmost.programs.linear import LinearProgram, Vector
from utmost.programs.program import solve
from utmost.programs.simplex import StandardForm
from utmost.programs.vertex import exact_vertex


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
