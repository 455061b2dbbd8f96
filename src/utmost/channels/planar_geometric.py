"""Planar geometric noise: hiding a place on a lattice, by a probability that falls with the Euclidean distance."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from utmost.channels.channel import Channel, stochastic
from utmost.errors import Unsupported
from utmost.exact import Floats, Level, Number, checked, frozen, level, natural
from utmost.spaces import grid

# Lattice points beyond this many units of log weigh, all together, less than 1e-20 of what lies before them.
_DEPTH = 52
_FARTHEST = 50_000


@checked
def planar_geometric_channel(
    rows: int, cols: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> Channel:
    """Noise with P(z) = c alpha^|z| on the points z of the whole lattice, |z| Euclidean, moved back into the grid.

    The constant c is the same for every secret, so the level is kept along the Euclidean distance; a point beyond the
    grid moves to the nearest point of it, which is post-processing.

    Args:
        rows, cols: the grid, see `spaces.grid`.
        epsilon, alpha: the privacy level of one step of the grid, one of them.

    Returns:
        (rows cols, rows cols) float64, named by the points: the sums over a lattice have no closed form.

    Raises:
        Unsupported: where the noise reaches farther than 50 000 steps: epsilon below about 1/1000.

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
            mend="Take a coarser grid: a step k times as long at k times the epsilon.",
        )
    weights = _weights(at.epsilon_float, n, m, reach)
    kinds, places = zip(_offsets(n), _offsets(m), strict=True)
    joint = weights[
        kinds[0][:, None, :, None], kinds[1][None, :, None, :], places[0][:, None, :, None], places[1][None, :, None, :]
    ]
    matrix = joint.reshape(n * m, n * m)
    names = tuple(grid(n, m).labels)
    return stochastic(frozen(matrix / matrix.sum(axis=1)[:, None]), names, names)


_ONE, _BEYOND, _ALL = range(3)


def _offsets(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each secret and outcome along one axis: which offsets end there (one, all beyond, all), and the nearest."""
    x, y = np.arange(size)[:, None], np.arange(size)[None, :]
    kind = np.where((y == 0) | (y == size - 1), _BEYOND if size > 1 else _ALL, _ONE)
    return np.broadcast_to(kind, (size, size)), abs(x - y)


def _weights(rate: float, n: int, m: int, reach: int) -> Floats:
    """Sums of exp(-rate |z|) over offsets z = (i, j), by kind of i, kind of j, nearest |i| < n and nearest |j| < m."""
    weights = np.zeros((3, 3, n, m))
    across = np.arange(reach + 1.0)
    beyond = np.zeros((2, m))
    for i in range(reach, -1, -1):
        row = np.exp(-rate * np.hypot(float(i), across))
        ends = np.append(row[m:][::-1].sum(), row[:m][::-1]).cumsum()[:0:-1]
        beyond += [row[:m], ends]
        if i < n:
            weights[_ONE, :2, i], weights[_BEYOND, :2, i] = [row[:m], ends], beyond
    # All offsets are those from 0 on, on both sides, less 0, which is then counted twice.
    weights[_ALL, :2] = 2 * weights[_BEYOND, :2, :1] - weights[_ONE, :2, :1]
    weights[:, _ALL] = 2 * weights[:, _BEYOND, :, :1] - weights[:, _ONE, :, :1]
    return weights
