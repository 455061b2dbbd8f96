"""What the automorphisms of the secrets do to vertices and kernels: permutations of columns, and orbits."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, checked, frozen
from utmost.geometry.automorphisms import Automorphisms, Permutation
from utmost.geometry.vertices import Vertices

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Orbits:
    """A partition of 0, ..., N-1 into sets that automorphisms join.

    Attributes:
        labels: (N,) the number of each one's orbit; orbits are numbered by their lowest member.
        representatives: the lowest member of each orbit.
        sizes: how many members each has.
    """

    labels: Indices
    representatives: Indices
    sizes: Indices

    def __len__(self) -> int:
        return len(self.sizes)


@checked
def vertex_orbits(vertices: Vertices) -> Orbits:
    """The vertices of a type up to the automorphisms of its space.

    >>> from utmost.geometry.vertices import vertices
    >>> from utmost.privacy import PrivacyType
    >>> from utmost.spaces import hamming
    >>> vertex_orbits(vertices(PrivacyType(hamming(3), alpha="1/2"))).sizes.tolist()
    [8, 8, 12, 8, 2]
    """
    return orbits_under(column_permutations(vertices), len(vertices))


def column_permutations(vertices: Vertices, automorphisms: Iterable[Permutation] | None = None) -> list[Indices]:
    """For each automorphism (by default, for generators of all) the index of the image of every vertex.

    The image of v under p is the vertex with v(x) at secret p(x). All vertices of the type must be listed.
    """
    if automorphisms is None:
        automorphisms = Automorphisms.of(vertices.distances.integers()).generators
    flat = vertices.exponents.reshape(len(vertices), -1)
    images = []
    for p in automorphisms:
        moved = np.empty_like(vertices.exponents)
        moved[:, list(p)] = vertices.exponents
        images.append(_places(flat, moved.reshape(flat.shape)))
    return images


def orbits_under(permutations: Iterable[Indices], count: int) -> Orbits:
    """The orbits of 0, ..., count-1 under permutations: labels sink to the lowest member until nothing changes."""
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
    """The images of kernels, given as rows of column indices filled up with -1, sorted as rows are."""
    lookup = np.append(permutation, len(permutation)).astype(np.int64)  # index -1 reads the last place
    images = np.sort(lookup[supports], axis=1)
    return np.where(images == len(permutation), -1, images)


def support_orbits(supports: Array, permutations: Iterable[Indices]) -> Orbits:
    """Kernels, as all rows of a complete list, up to permutations of the columns."""
    return orbits_under((_places(supports, moved_supports(supports, p)) for p in permutations), len(supports))


def _places(rows: Array, moved: Array) -> Indices:
    """Where each row of ``moved`` stands among ``rows``; both hold the same rows, each once."""
    here, there = np.lexsort(rows.T[::-1]), np.lexsort(moved.T[::-1])
    assert np.array_equal(rows[here], moved[there]), "an automorphism permutes a complete list"
    places = np.empty(len(rows), dtype=np.intp)
    places[there] = here
    return places
