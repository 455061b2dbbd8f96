"""The mechanism that keeps every constraint with equality: outcome y falls off from secret y by alpha^d."""

from fractions import Fraction

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.channels.geometric import geometric_channel
from utmost.errors import Infeasible, OutOfRange, SolverFailed
from utmost.exact import Array, Level, Number, checked, frozen, level, objects
from utmost.programs.elimination import solve_sparse
from utmost.spaces import LineMetric, Space


@checked
def tight_constraints(space: Space, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """C = E diag(w) with E[x, y] = alpha^d(x, y) and E w = 1: outcomes are secrets, and C[x, y] = alpha^d C[y, y].

    Where w >= 0 it is the mechanism with the largest multiplicative capacity of its type, which is sum w, the magnitude
    of the scaled space. On counts it is the geometric mechanism, on equally far secrets randomised response, on a cube
    randomised response of each bit.

    Args:
        space: n secrets.
        epsilon, alpha: the privacy level of one unit of distance, one of them.

    Returns:
        (n, n), named by the secrets' labels; exact where alpha to every distance is rational, else float64.

    Raises:
        Infeasible: where some w is negative: then no mechanism keeps all constraints with equality.

    Cost: one n x n linear system; the exact one takes seconds for n in the hundreds.

    Source: [fernandes2022], section V (corollary 18); w is the weighting that defines the magnitude of a metric space.

    >>> from utmost.spaces import cycle
    >>> [str(p) for p in tight_constraints(cycle(4), alpha="1/2").matrix[0]]
    ['4/9', '2/9', '1/9', '2/9']
    """
    at = level(epsilon, alpha)
    if isinstance(space.metric, LineMetric):
        return geometric_channel(space.metric.n, at).relabel(outcomes=tuple(space.labels))
    similarity = alpha_powers(space, at)
    weights = _weighting(similarity)
    for x in np.flatnonzero(weights < 0)[:1]:
        raise Infeasible(
            "the weighting of the space must not be negative",
            came=f"{weights[x]} at secret {space.labels[x]}",
            where="tight_constraints",
            mend="A larger epsilon makes all weights positive.",
        )
    return stochastic(frozen(np.asarray(similarity * weights)), outcomes=tuple(space.labels))


def alpha_powers(space: Space, at: Level) -> Array:
    """E[x, y] = alpha^d(x, y), (n, n): Fractions where all of them are rational, else float64."""
    secrets = np.arange(space.size)
    lengths = np.asarray(space.metric.lengths(secrets[:, None], secrets[None, :]), dtype=object)
    powers = {0: Fraction(1)}
    for length in set(lengths.flat):
        if length and not isinstance(length, int | np.integer | Fraction):
            break
        if length:
            scaled = at.scaled(Fraction(length))
            if not scaled.is_rational:
                break
            powers[length] = scaled.alpha_fraction()
    else:
        found: Array = np.array([powers[length] for length in lengths.flat], dtype=object)
        return frozen(found.reshape(lengths.shape))
    return frozen(np.exp(-at.epsilon_float * lengths.astype(np.float64)))


def _weighting(similarity: Array) -> Array:
    """w with E w = 1; where all secrets look alike, all weights are equal."""
    n, sums = len(similarity), similarity.sum(axis=1)
    if (sums == sums[0]).all():
        return np.asarray(1 / sums)
    try:
        if similarity.dtype != object:
            return np.asarray(np.linalg.solve(similarity, np.ones(n)))
        solution = solve_sparse([dict(enumerate(row)) for row in similarity], [Fraction(1)] * n)
    except (np.linalg.LinAlgError, SolverFailed):
        raise OutOfRange("the powers alpha^d of the space must be independent", came="a singular matrix") from None
    return objects(solution)
