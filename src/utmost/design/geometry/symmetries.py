"""Find the permutations of secrets that preserve all distances, and the orbits of vertices and kernels under them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, Indices, check_array, frozen
from utmost.core.exact.display import Display
from utmost.design.geometry.vertex_search import Vertices
from utmost.design.spaces.space import Space

Permutation = tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Automorphisms(Display):
    """The group of all permutations p with d(p(x), p(y)) = d(x, y), as a chain of stabilisers.

    Attributes:
        size: Number n of secrets.
        transversals: For each secret i, a tuple with one automorphism that fixes 0, ..., i-1 and maps i to j, for every
            j for which such an automorphism exists (including i itself). Every automorphism is a product of one
            automorphism from each tuple.
    """

    size: int
    transversals: tuple[tuple[Permutation, ...], ...]

    @classmethod
    def of(cls, distances: Array) -> "Automorphisms":
        """Return the group of a metric, given as an (n, n) array of exactly comparable distances.

        Cost: one backtracking search for each pair i < j of secrets. The search is fast unless the metric is highly
        regular but has few automorphisms.

        >>> Automorphisms.of(np.abs(np.arange(4)[:, None] - np.arange(4))).order
        2
        """
        check_array(distances, "distances", 2)
        kinds = np.unique(distances, return_inverse=True)[1].reshape(distances.shape)
        profiles = [tuple(int(kind) for kind in np.sort(row)) for row in kinds]
        n = len(kinds)
        transversals = []
        for i in range(n):
            starts = ([*range(i), j] for j in range(i, n) if profiles[i] == profiles[j])
            completed = (_completed_automorphism(kinds, profiles, start) for start in starts)
            transversals.append(tuple(p for p in completed if p is not None))
        return cls(n, tuple(transversals))

    @property
    def order(self) -> int:
        """The number of automorphisms."""
        return prod(len(choices) for choices in self.transversals)

    @property
    def generators(self) -> tuple[Permutation, ...]:
        """Automorphisms that generate all others, without the identity."""
        identity = tuple(range(self.size))
        return tuple(p for choices in self.transversals for p in choices if p != identity)

    def elements(self) -> Iterator[Permutation]:
        """Yield all automorphisms, each once, as tuples p with p[x] the image of x."""
        for factors in product(*self.transversals):
            image = list(range(self.size))
            for p in reversed(factors):
                image = [p[x] for x in image]
            yield tuple(image)


def automorphisms(space: Space) -> Automorphisms:
    """Return the permutations of the secrets of a space that preserve every distance. Distances are compared exactly,
    even floats.

    >>> from utmost.spaces import cycle
    >>> automorphisms(cycle(5)).order
    10
    """
    instance(space, Space, "space")
    lengths = space.metric.length_table().astype(object)
    number = {length: k for k, length in enumerate(dict.fromkeys(lengths.flat))}
    return Automorphisms.of(np.array([number[length] for length in lengths.flat]).reshape(lengths.shape))


def _completed_automorphism(
    kinds: NDArray[np.intp], profiles: list[tuple[int, ...]], start: list[int]
) -> Permutation | None:
    """Return an automorphism that maps 0, 1, ... to the secrets in ``start``; None if there is none."""
    n, given = len(kinds), len(start)
    if (kinds[np.ix_(start, start)] != kinds[:given, :given]).any():
        return None
    images, tried = list(start), [-1] * (n + 1)
    while given <= len(images) < n:
        k = len(images)
        candidate = next(
            (
                y
                for y in range(tried[k] + 1, n)
                if y not in images and profiles[y] == profiles[k] and (kinds[y, images] == kinds[k, :k]).all()
            ),
            None,
        )
        if candidate is None:
            tried[k] = -1
            images.pop()
        else:
            tried[k] = candidate
            images.append(candidate)
    return tuple(images) if len(images) == n else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Orbits(Display):
    """A partition of vertices or kernels 0, ..., N-1 into orbits under the automorphisms of a space."""

    labels: Indices  # (N,) the index of the orbit of each member; orbits are sorted by their lowest members
    representatives: Indices  # the lowest member of each orbit
    sizes: Indices  # the number of members of each orbit

    def __len__(self) -> int:
        return len(self.sizes)


def vertex_orbits(vertices: Vertices) -> Orbits:
    """Return the orbits of the vertices of a type under the automorphisms of its space.

    >>> from utmost.geometry import vertices
    >>> from utmost.privacy_types import PrivacyType
    >>> from utmost.spaces import hamming
    >>> vertex_orbits(vertices(PrivacyType(hamming(3), alpha="1/2"))).sizes.tolist()
    [8, 8, 12, 8, 2]
    """
    instance(vertices, Vertices, "vertices")
    return orbits_under(column_permutations(vertices), len(vertices))


def column_permutations(vertices: Vertices, automorphisms: Iterable[Permutation] | None = None) -> list[Indices]:
    """Return, for each automorphism (by default each generator), an array of the indices of the vertices' images."""
    # The image of v under p is the vertex with the value v(x) at p(x). ``vertices`` must contain all vertices of the
    # type.
    if automorphisms is None:
        automorphisms = Automorphisms.of(vertices.distances.integers()).generators
    flat = vertices.exponents.reshape(len(vertices), -1)
    images = []
    for p in automorphisms:
        moved = np.empty_like(vertices.exponents)
        moved[:, list(p)] = vertices.exponents
        images.append(_row_positions(flat, moved.reshape(flat.shape)))
    return images


def orbits_under(permutations: Iterable[Indices], count: int) -> Orbits:
    # Every label is replaced by the lowest label in its orbit, until no label changes.
    labels = np.arange(count)
    permutations = list(permutations)
    changed = True
    while changed:
        before = labels.copy()
        for p in permutations:
            low = np.minimum(labels, labels[p])
            labels[p] = np.minimum(labels[p], low)
            labels = np.minimum(labels, low)
        labels = labels[labels]
        changed = bool((labels != before).any())
    representatives, which, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return Orbits(frozen(which), frozen(representatives), frozen(sizes))


def moved_supports(supports: Array, permutation: Indices) -> Array:
    """Return the images of kernels under a permutation of vertices. A kernel is a sorted row of indices, filled up with
    -1.
    """
    lookup = np.append(permutation, len(permutation)).astype(np.int64)  # index -1 maps to the last entry
    images = np.sort(lookup[supports], axis=1)
    return np.where(images == len(permutation), -1, images)


def support_orbits(supports: Array, permutations: Iterable[Indices]) -> Orbits:
    """Return the orbits of all kernels of a type (rows of ``supports``) under permutations of the vertices."""
    return orbits_under((_row_positions(supports, moved_supports(supports, p)) for p in permutations), len(supports))


def _row_positions(rows: Array, moved: Array) -> Indices:
    """Return the index in ``rows`` of each row of ``moved``; both contain the same rows, each once."""
    here, there = np.lexsort(rows.T[::-1]), np.lexsort(moved.T[::-1])
    assert np.array_equal(rows[here], moved[there]), "an automorphism permutes a complete list"
    positions = np.empty(len(rows), dtype=np.intp)
    positions[there] = here
    return positions
