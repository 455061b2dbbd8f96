"""Detours: a third secret on the way from one to another. None may be shorter than the way, some are as short."""

from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, Surd

# Sums are taken this many at a time, so that they stay in the processor's cache.
_BLOCK = 1 << 17
# Beyond this relative distance of two sums, their floats tell which is larger.
_FLOATS_TELL = 1e-12


def has_detour(
    values: Array, pairs: NDArray[np.intp], strictly: bool = False, tolerance: float = 0.0
) -> NDArray[np.bool_]:
    """For each pair x < y: is there a third z with d(x, z) + d(z, y) <= d(x, y), or strictly below it?

    Args:
        values: (n, n) symmetric distances: int64, float64, or objects (Fraction or Surd).
        pairs: (m, 2), sorted by x.
        strictly: ask for a detour that is shorter.
        tolerance: for float64: strictly shorter means by this much, relative.

    Float64 distances are taken as the rationals that they are: no rounding of a sum decides.

    Cost: O(n m) additions; exact surds are added only where their floats are too near to tell.
    """
    if values.dtype == object:
        return _exact_detours(values, pairs, strictly)
    if values.dtype == np.int64 and values.size and 4 * int(values.max()) < 2**31:
        values = values.astype(np.int32)
    shortest = _shortest_detours(values, pairs)
    direct = values[pairs[:, 0], pairs[:, 1]]
    if strictly:
        return shortest < direct * (1 - tolerance) if values.dtype == np.float64 else shortest < direct
    found: NDArray[np.bool_] = shortest <= direct
    if values.dtype == np.float64:
        ties = np.flatnonzero(shortest == direct)
        found[ties] = _tied_detours(values, pairs[ties])
    return found


def _shortest_detours(values: Array, pairs: NDArray[np.intp]) -> Array:
    """min over z not in {x, y} of d(x, z) + d(z, y) for each pair; above every distance if there is no z."""
    n = len(values)
    roads = values.copy()
    np.fill_diagonal(roads, roads.max() + 1)  # so that z = x and z = y are longer than the direct way
    best = np.empty(len(pairs), dtype=values.dtype)
    starts = np.searchsorted(pairs[:, 0], np.arange(n + 1))
    width = max(1, _BLOCK // n)
    for x in range(n):
        for start in range(starts[x], starts[x + 1], width):
            block = slice(start, min(start + width, starts[x + 1]))
            best[block] = (roads[pairs[block, 1]] + roads[x]).min(axis=1)
    return best


def _tied_detours(values: Array, pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a float sum that equals d(x, y) was not rounded down to it: the error of a sum is a float, and exact."""
    answer = np.zeros(len(pairs), dtype=bool)
    for k, (x, y) in enumerate(pairs):
        one, two = values[x], values[y]
        total = one + two
        part = total - one
        error = (one - (total - part)) + (two - part)
        tied = (total == values[x, y]) & (error <= 0)
        tied[[x, y]] = False
        answer[k] = tied.any()
    return answer


def _exact_detours(values: Array, pairs: NDArray[np.intp], strictly: bool) -> NDArray[np.bool_]:
    """The same for Fractions, as integers over a common denominator, and for surds."""
    if not any(isinstance(d, Surd) for d in values.flat):
        scale = lcm(*(d.denominator for d in values.flat))
        if scale * max(values.flat) < 2**60:
            return has_detour((values * scale).astype(np.int64), pairs, strictly)
    near = values.astype(np.float64)
    return np.array([_one_detour(values, near, int(x), int(y), strictly) for x, y in pairs], dtype=bool)


def _one_detour(values: Array, near: Array, x: int, y: int, strictly: bool) -> bool:
    sums = near[x] + near[y]
    sums[[x, y]] = np.inf
    slack = _FLOATS_TELL * near[x, y]
    if (sums < near[x, y] - slack).any():
        return True
    for z in np.flatnonzero(sums <= near[x, y] + slack):
        detour: Any = values[x, z] + values[z, y]
        if detour < values[x, y] or (detour == values[x, y] and not strictly):
            return True
    return False
