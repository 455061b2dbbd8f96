r"""Compute the Kantorovich (earth mover's) distance of two distributions over a space, with a proof.

The distance is the least mean distance over which probability mass must move to turn the first distribution p into the
second distribution q. Mass moves along essential edges, because every distance is the length of a path of essential
edges. So the linear program has one variable for each direction of an edge. The dual of the program is a potential f
with f(x) - f(y) <= d(x, y), which proves that no transport costs less than sum_x (p_x - q_x) f(x).

Source: [kantorovich1942]; for hypers, [alvim2014].
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, as_array, as_rationals, frozen, objects
from utmost.core.exact.display import Display
from utmost.core.exact.surds import Surd
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange

_BITS = 96


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KantorovichDistance(Display):
    """The least cost of moving one distribution to another, as two bounds, which are equal if all distances are
    rational.
    """

    lower: Fraction
    upper: Fraction  # equal to lower, or about 2^-90 above if a distance is irrational
    first: Array  # (n,) the distribution p
    second: Array  # (n,) the distribution q
    space: Space
    flow: Array  # (m, 3) rows (x, y, mass): the mass moved from x to y along an essential edge
    potential: Array  # (n,) Fractions f with f(x) - f(y) <= d(x, y) and sum (p - q) f = lower

    _shown = ("lower", "upper")

    @property
    def value(self) -> Fraction | float:
        """The distance: a Fraction if it is known exactly, else the float nearest to the middle of the bounds."""
        return self.lower if self.lower == self.upper else float((self.lower + self.upper) / 2)

    def verify(self) -> bool:
        """Check exactly, without a solver, that `potential` proves `lower`, and `flow` proves `upper`."""
        change, cost = [Fraction(0)] * self.space.size, Fraction(0)
        for x, y, mass in self.flow.tolist():
            if mass < 0:
                return False
            change[x], change[y] = change[x] - mass, change[y] + mass
            cost += mass * _bounds(self.space.metric.length(x, y))[1]
        # For an irrational distance, the potential is checked with a lower bound, and the cost with an upper bound.
        f = self.potential
        is_potential = all(
            abs(f[x] - f[y]) <= _bounds(self.space.metric.length(int(x), int(y)))[0] for x, y in self.space.edges
        )
        moved = all(p + d == q for p, d, q in zip(self.first, change, self.second, strict=True))
        return bool(is_potential and moved and cost <= self.upper and (self.first - self.second).dot(f) >= self.lower)


def kantorovich_distance(space: Space, first: object, second: object) -> KantorovichDistance:
    """Return the Kantorovich (earth mover's, first Wasserstein) distance of two distributions over a space.

    Args:
        space: Space of n secrets with their distances.
        first, second: Distributions: n nonnegative entries each, with equal sums. Floats are converted to rationals
            exactly.

    Raises:
        OutOfRange: if an entry is negative, if the sums differ, or if an array has another length.

    Cost: a linear program of n rows and two variables for each essential edge, solved in rationals.

    >>> from utmost.spaces import counts, grid
    >>> kantorovich_distance(counts(3), ["1/2", "1/2", 0, 0], [0, "1/4", 0, "3/4"]).value
    Fraction(2, 1)
    >>> found = kantorovich_distance(grid(2, 2), [1, 0, 0, 0], [0, 0, 0, 1])
    >>> round(found.value, 9), found.verify()
    (1.414213562, True)
    """
    instance(space, Space, "space")
    p, q = (as_rationals(as_array(part, "distribution", ndim=1)) for part in (first, second))
    n = space.size
    if len(p) != n or len(q) != n or min(*p, *q) < 0 or p.sum() != q.sum():
        came = f"{len(p)} with sum {p.sum()} and {len(q)} with sum {q.sum()}"
        required = f"both distributions must have {n} nonnegative entries and equal sums"
        raise OutOfRange(required, came=came, where="distribution")
    edges = space.edges
    arcs = np.concatenate([edges, edges[:, ::-1]])
    bounds = [_bounds(space.metric.length(int(x), int(y))) for x, y in edges.tolist()] * 2
    # Minimise the sum of distance times flow, where for each secret the outflow minus the inflow is p - q.
    count = len(arcs)
    rows, columns = arcs.T.ravel(), np.tile(np.arange(count), 2)
    values = objects([Fraction(1)] * count + [Fraction(-1)] * count)
    cost = objects(low for low, _ in bounds)
    solution = solve_exactly(LinearProgram.of_triplets(cost, rows, columns, values, lower=p - q, upper=p - q))
    used = np.flatnonzero(solution.primal > 0)
    flow = objects(
        part for arc in used.tolist() for part in (int(arcs[arc, 0]), int(arcs[arc, 1]), solution.primal[arc])
    ).reshape(-1, 3)
    upper = sum((mass * bounds[arc][1] for arc, mass in zip(used, solution.primal[used], strict=True)), Fraction(0))
    return KantorovichDistance(solution.value, upper, p, q, space, frozen(flow), frozen(solution.duals))


def _bounds(length: Fraction | Surd) -> tuple[Fraction, Fraction]:
    if isinstance(length, Surd):
        around = length.interval(_BITS)
        return around.lower, around.upper
    return length, length
