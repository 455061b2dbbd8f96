"""Build randomised response, the optimum for two secrets, mechanisms with tight constraints, and noise on a grid."""

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, Floats, frozen, objects
from utmost.core.exact.levels import Level, level
from utmost.core.exact.linear_algebra import solve_sparse
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.surds import Surd
from utmost.design.channels.channel import Channel, stochastic
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.spaces.families import LineMetric, grid
from utmost.design.spaces.space import Space
from utmost.errors import Infeasible, OutOfRange, SolverFailed, Unsupported


@fitting_memory("randomized_response")
def randomized_response(k: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """Return randomised response: R[x, y] = 1/w for y = x and alpha/w otherwise, with w = 1 + (k-1) alpha.

    The true answer has the largest probability. The channel satisfies its level on `discrete(k)`, where no other
    channel of the level has a larger multiplicative capacity.

    Args:
        k: Number of secrets, k >= 1.
        epsilon, alpha: Privacy level, as epsilon or as alpha. The channel is exact if alpha is rational.

    Source: [fernandes2022], definition 10.

    >>> randomized_response(3, alpha="1/2").matrix[0].tolist()
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    size, a = natural(k, "k", least=1), _alpha(level(epsilon, alpha))
    return _two_valued(size, type(a)(1), a)


@fitting_memory("dual_randomized_response")
def dual_randomized_response(k: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """Return dual randomised response: R[x, y] = alpha/w for y = x and 1/w otherwise, with w = alpha + k - 1.

    The true answer has the smallest probability. The channel satisfies its level on `discrete(k)`, where no other
    channel of the level has a larger additive capacity.

    Args:
        k: Number of secrets, k >= 1.
        epsilon, alpha: Privacy level, as epsilon or as alpha. The channel is exact if alpha is rational.

    Source: [fernandes2022], section VI-B (the dual of definition 10).

    >>> dual_randomized_response(3, alpha="1/2").matrix[0].tolist()
    [Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)]
    """
    size, a = natural(k, "k", least=1), _alpha(level(epsilon, alpha))
    return _two_valued(size, a, type(a)(1))


def _alpha(at: Level) -> Fraction | float:
    return at.alpha_fraction() if at.is_rational else at.alpha


def _two_valued(k: int, on_diagonal: Any, elsewhere: Any) -> Channel:
    total = on_diagonal + (k - 1) * elsewhere
    number_kind = np.float64 if isinstance(total, float) else object
    matrix = np.full((k, k), elsewhere / total, dtype=number_kind)
    np.fill_diagonal(matrix, on_diagonal / total)
    return stochastic(matrix)


def two_secret_optimum(
    epsilon: Number | Level | None = None, *, alpha: Number | None = None, distance: Number | Surd = 1
) -> Channel:
    """Return the best mechanism for two secrets: T = [[k e^d, k], [k, k e^d]] with k = 1/(1 + e^d).

    Here d is epsilon times the distance of the secrets.

    Every private mechanism for two secrets is T followed by post-processing, so T is optimal for every prior and every
    loss. For more than two secrets, no mechanism is optimal for every prior and every loss.

    Args:
        epsilon, alpha: Privacy level of one unit of distance, as epsilon or as alpha.
        distance: Distance of the secrets, positive.

    Returns:
        Channel (2, 2), exact if alpha^distance is rational, else float64.

    Source: [fernandes2022], corollary 9 and (15).

    >>> two_secret_optimum(alpha="1/2", distance=2).matrix[0].tolist()
    [Fraction(4, 5), Fraction(1, 5)]
    """
    at = level(epsilon, alpha)
    far = distance if isinstance(distance, Surd) else exact(distance, "distance")
    if not far > 0:
        raise OutOfRange("the distance of two secrets must be positive", came=distance, where="two_secret_optimum")
    a: Fraction | float
    if isinstance(far, Surd):
        a = float(np.exp(-at.epsilon_float * float(far)))
    else:
        scaled = at.scaled(far)
        if scaled.epsilon_float > _MOST_EPSILON:
            raise OutOfRange(
                f"epsilon times the distance must be at most {_MOST_EPSILON}",
                came=scaled.epsilon_float,
                remedy="Pass a smaller epsilon or distance.",
            )
        a = scaled.alpha_fraction() if scaled.is_rational else scaled.alpha
    likely, unlikely = 1 / (1 + a), a / (1 + a)
    return stochastic(np.array([[likely, unlikely], [unlikely, likely]], dtype=type(likely)))


def tight_constraints(space: Space, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """Return the mechanism that satisfies the constraints C[x, y] >= alpha^d(x, y) C[y, y] with equality.

    The outcomes are the secrets. C = E diag(w), where E[x, y] = alpha^d(x, y) and E w = 1. If w >= 0, this mechanism
    has the largest multiplicative capacity of its type, sum w, which is the magnitude of the space with distances
    epsilon d. On counts this mechanism is the geometric mechanism, on `discrete(k)` randomised response, and on a
    Hamming cube randomised response of each bit.

    Args:
        space: Space of n secrets.
        epsilon, alpha: Privacy level of one unit of distance, as epsilon or as alpha.

    Returns:
        Channel (n, n), with the labels of the secrets as names; exact if alpha^d is rational for every distance d, else
        float64.

    Raises:
        Infeasible: if some w is negative, so that no mechanism satisfies all constraints with equality.

    Cost: one n x n linear system; the exact one takes seconds for n in the hundreds.

    Source: [fernandes2022], section V (corollary 18); w is the weighting that defines the magnitude of a metric space.

    >>> from utmost.spaces import cycle
    >>> [str(p) for p in tight_constraints(cycle(4), alpha="1/2").matrix[0]]
    ['4/9', '2/9', '1/9', '2/9']
    """
    instance(space, Space, "space")
    at = level(epsilon, alpha)
    if isinstance(space.metric, LineMetric):
        return geometric_channel(space.size, at).relabel(outcomes=tuple(space.labels))
    similarity = alpha_powers(space, at)
    n, sums = len(similarity), similarity.sum(axis=1)
    try:
        if (sums == sums[0]).all():
            weights = np.asarray(1 / sums)
        elif similarity.dtype != object:
            weights = np.linalg.solve(similarity, np.ones(n))
        else:
            weights = objects(solve_sparse([dict(enumerate(row)) for row in similarity], [Fraction(1)] * n))
    except (np.linalg.LinAlgError, SolverFailed):
        remedy = "Use a larger epsilon."
        raise OutOfRange(
            "the matrix of powers alpha^d must be invertible", came="a singular matrix", remedy=remedy
        ) from None
    for x in np.flatnonzero(weights < 0)[:1]:
        raise Infeasible(
            "the weighting of the space must not be negative",
            came=f"{weights[x]} at secret {space.labels[x]}",
            where="tight_constraints",
            remedy="A larger epsilon makes all weights positive.",
        )
    return stochastic(frozen(np.asarray(similarity * weights)), outcomes=tuple(space.labels))


def alpha_powers(space: Space, at: Level) -> Array:
    """Return the matrix alpha^d(x, y), (n, n): Fractions if all powers are rational, else float64."""
    lengths = space.metric.length_table().astype(object)
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
        fractions: Array = np.array([powers[length] for length in lengths.flat], dtype=object)
        return frozen(fractions.reshape(lengths.shape))
    return frozen(np.exp(-at.epsilon_float * lengths.astype(np.float64)))


# All lattice points of weight below exp(-_DEPTH) together have less than 1e-20 of the weight of the other points.
_DEPTH = 52
_FARTHEST = 50_000
_MOST_EPSILON = 1_000_000  # at this epsilon, the probability of the wrong answer has about 400 000 digits


def planar_geometric_channel(
    rows: int, cols: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> Channel:
    """Return the channel that adds planar noise to the points of a grid. The noise z has P(z) = c alpha^|z| on the
    infinite lattice, and the noisy point is replaced by the nearest grid point.

    Here |z| is the Euclidean length. The constant c is the same for every secret, so the level holds for the Euclidean
    distance. Replacing a point outside the grid by the nearest grid point is post-processing.

    Args:
        rows, cols: Numbers of rows and columns of the grid, see `spaces.grid`.
        epsilon, alpha: Privacy level of one step of the grid, as epsilon or as alpha.

    Returns:
        Channel (rows cols, rows cols) of float64, because sums over a lattice have no closed form. The names of secrets
        and outcomes are the points.

    Raises:
        Unsupported: if the noise extends over more than 50 000 steps, as for epsilon below about 1/1000.

    Cost: O((rows + cols + 52/epsilon)^2 + (rows cols)^2): a second or two for epsilon = 1/100.

    Source: [fernandes2022], section I (geo-indistinguishability on a grid).

    >>> C = planar_geometric_channel(2, 2, epsilon=1)
    >>> C.shape, bool(C.matrix[0, 0] > C.matrix[0, 1] > C.matrix[0, 3])
    ((4, 4), True)
    """
    n, m, at = natural(rows, "rows", least=1), natural(cols, "cols", least=1), level(epsilon, alpha)
    reach = n + m + ceil(_DEPTH / at.epsilon_float)
    if reach > _FARTHEST:
        raise Unsupported(
            f"planar noise must reach at most {_FARTHEST} steps",
            came=reach,
            remedy="Use a coarser grid: with steps k times as long, pass k times the epsilon.",
        )
    weights = _weights(at.epsilon_float, n, m, reach)
    kinds, nearest = zip(_offsets(n), _offsets(m), strict=True)
    joint = weights[
        kinds[0][:, None, :, None],
        kinds[1][None, :, None, :],
        nearest[0][:, None, :, None],
        nearest[1][None, :, None, :],
    ]
    matrix = joint.reshape(n * m, n * m)
    names = tuple(grid(n, m).labels)
    return stochastic(frozen(matrix / matrix.sum(axis=1)[:, None]), names, names)


_ONE, _BEYOND, _ALL = range(3)


def _offsets(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for each secret and outcome on an axis, which offsets lead to the outcome, and the smallest of them."""
    x, y = np.arange(size)[:, None], np.arange(size)[None, :]
    kind = np.where((y == 0) | (y == size - 1), _BEYOND if size > 1 else _ALL, _ONE)
    return np.broadcast_to(kind, (size, size)), abs(x - y)


def _weights(rate: float, n: int, m: int, reach: int) -> Floats:
    """Return sums of exp(-rate |(i, j)|), indexed by which i and which j are summed, and by their least |i| and |j|."""
    weights = np.zeros((3, 3, n, m))
    across = np.arange(reach + 1.0)
    beyond = np.zeros((2, m))
    for i in range(reach, -1, -1):
        row = np.exp(-rate * np.hypot(float(i), across))
        ends = np.append(row[m:][::-1].sum(), row[:m][::-1]).cumsum()[:0:-1]
        beyond += [row[:m], ends]
        if i < n:
            weights[_ONE, :2, i], weights[_BEYOND, :2, i] = [row[:m], ends], beyond
    # The sum over all offsets is twice the sum from 0 on, minus the term at 0.
    weights[_ALL, :2] = 2 * weights[_BEYOND, :2, :1] - weights[_ONE, :2, :1]
    weights[:, _ALL] = 2 * weights[:, _BEYOND, :, :1] - weights[:, _ONE, :, :1]
    return weights
