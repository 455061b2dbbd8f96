"""Kernels by the double description method: exact, without compiled code, all at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from utmost.geometry.kernel_supports import Number, as_masks, certain_sign, decided, exact_columns
from utmost.geometry.vertex_search import Vertices

Masks = NDArray[np.uint64]
_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class _Ray:
    """An extreme ray of {lambda >= 0: the rows so far of V lambda are equal}: its support and its entries there."""

    support: tuple[int, ...]
    entries: tuple[Number, ...]


def kernels_by_double_description(vertices: Vertices) -> list[tuple[int, ...]]:
    """The supports of the extreme rays of {lambda >= 0: all rows of V lambda are equal}, sorted by size, then by order.

    Row after row is made equal to the first: rays with equal sums stay, and every adjacent pair with sums on opposite
    sides joins to a new one. Two rays are adjacent when no third support lies in the union of theirs.

    Args:
        vertices: V, as columns, N of them on n secrets.

    Cost: up to R^2 pairs for R rays of one step; lists all kernels of every type that [fernandes2022] tabulates in
    seconds. Memory: all rays of one step.

    >>> from utmost.geometry import vertices
    >>> from utmost.privacy import PrivacyType
    >>> from utmost.spaces import counts
    >>> kernels_by_double_description(vertices(PrivacyType(counts(2), alpha="1/2")))
    [(1, 2), (0, 1, 3)]
    """

    def compute(bits: int) -> list[_Ray]:
        columns, one = exact_columns(vertices, bits)
        rays = [_Ray((j,), (one,)) for j in range(len(columns))]
        for row in range(1, len(columns[0])):
            gaps = [column[row] - column[0] for column in columns]
            rays = _cut(rays, gaps, row)
        return rays

    return sorted((ray.support for ray in decided(compute)), key=lambda support: (len(support), support))


def _cut(rays: list[_Ray], gaps: list[Number], row: int) -> list[_Ray]:
    """The extreme rays once sum_j lambda_j gaps[j] = 0 holds too."""
    sums = [_total(ray, gaps) for ray in rays]
    signs = np.array([certain_sign(x) for x in sums])
    masks = as_masks([frozenset(ray.support) for ray in rays], len(gaps))
    kept = [rays[k] for k in np.flatnonzero(signs == 0)]
    for p, q in _adjacent(masks, np.flatnonzero(signs > 0), np.flatnonzero(signs < 0), row + 1):
        kept.append(_joined(rays[p], sums[p], rays[q], sums[q]))
    return kept


def _total(ray: _Ray, gaps: list[Number]) -> Number:
    total = ray.entries[0] * gaps[ray.support[0]]
    for j, x in zip(ray.support[1:], ray.entries[1:], strict=True):
        total = total + x * gaps[j]
    return total


def _adjacent(masks: Masks, ups: NDArray[np.intp], downs: NDArray[np.intp], most: int) -> Iterator[tuple[int, int]]:
    """Pairs of rays whose joint support holds at most ``most`` columns and no third ray."""
    step = max(1, _PAIRS_AT_ONCE // max(1, len(downs)))
    for start in range(0, len(ups), step):
        some = ups[start : start + step]
        joint = masks[some][:, None, :] | masks[downs][None, :, :]
        near = np.argwhere(np.bitwise_count(joint).sum(axis=2) <= most)
        for a, b in near:
            inside = ((masks & ~joint[a, b]) == 0).all(axis=1)
            if np.count_nonzero(inside) == 2:
                yield int(some[a]), int(downs[b])


def _joined(one: _Ray, up: Number, two: _Ray, down: Number) -> _Ray:
    """The combination of a ray with a positive sum and one with a negative sum whose sum vanishes."""
    entries: dict[int, Number] = {}
    for ray, factor in ((one, -down), (two, up)):
        for j, x in zip(ray.support, ray.entries, strict=True):
            entries[j] = entries[j] + factor * x if j in entries else factor * x
    support = tuple(sorted(entries))
    values = tuple(entries[j] for j in support)
    if all(isinstance(x, int) for x in values):
        common = gcd(*values)
        values = tuple(x // common for x in values)
    return _Ray(support, values)
