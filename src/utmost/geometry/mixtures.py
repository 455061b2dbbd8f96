"""Is a point a mixture of others? The weights, or what separates it from all of them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.exact import Array, as_array, objects
from utmost.programs import LinearProgram, solve_exactly


@dataclass(frozen=True, slots=True, eq=False)
class NearestMixture:
    """The mixture of given points that comes nearest to a target in its worst coordinate.

    Attributes:
        distance: how far off it is there; 0 exactly if the target is a mixture.
        weights: (m,) of the points, nonnegative, summing to 1.
        separator: (n,) with absolute values that sum to at most 1, such that its product with the target is larger
            by ``distance`` than with any of the points.
    """

    distance: Fraction
    weights: Array
    separator: Array


def nearest_mixture(points: Array, target: Array) -> NearestMixture:
    """min over mixtures of max_x |sum_y weights[y] points[x, y] - target[x]|, exactly.

    Args:
        points: (n, m) Fractions, a point in each column. target: (n,) Fractions.

    Cost: a linear program of m + 1 variables and 2 n + 1 rows.

    >>> found = nearest_mixture(as_array([[0, 1], [1, 0]]), as_array(["1/4", "3/4"]))
    >>> found.distance, found.weights.tolist()
    (Fraction(0, 1), [Fraction(3, 4), Fraction(1, 4)])
    """
    (n, m), wanted = points.shape, target.tolist()
    triplets: list[tuple[int, int, Any]] = [(2 * n, y, Fraction(1)) for y in range(m)]
    for sign, first in ((1, 0), (-1, n)):
        for x in range(n):
            triplets += [(first + x, y, sign * points[x, y]) for y in range(m) if points[x, y]]
            triplets.append((first + x, m, Fraction(-1)))
    rows, columns, values = zip(*triplets, strict=True)
    upper = as_array([*wanted, *(-t for t in wanted), 1])
    lower = objects([*[-math.inf] * (2 * n), Fraction(1)])
    cost = as_array([0] * m + [1])
    found = solve_exactly(LinearProgram.of_triplets(cost, rows, columns, as_array(values), lower, upper))
    return NearestMixture(found.value, found.primal[:m], found.duals[:n] - found.duals[n : 2 * n])
