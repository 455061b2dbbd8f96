"""The symmetries of spaces, and orbits of vertices under them."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.geometry import Automorphisms, automorphisms, vertex_orbits, vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming


@pytest.mark.parametrize(
    ("space", "order"),
    [
        (counts(0), 1),
        (counts(6), 2),
        (discrete(5), 120),
        (discrete(12), factorial(12)),
        (hamming(3), 48),
        (hamming(5), 2**5 * 120),
        (grid(3, 3), 8),
        (grid(2, 3), 4),
    ],
)
def test_orders_of_known_groups(space, order):
    """Reflection, all permutations, signed permutations, the symmetries of a square and of a rectangle."""
    assert automorphisms(space).order == order


@given(st.integers(2, 5), st.randoms(use_true_random=False))
def test_the_elements_are_all_automorphisms(n, random):
    """The elements of the chain = all permutations that keep the table, by brute force, each once."""
    d = np.zeros((n, n), dtype=int)
    for x in range(n):
        for y in range(x):
            d[x, y] = d[y, x] = random.choice([2, 3])
    expected = {p for p in permutations(range(n)) if (d[np.ix_(p, p)] == d).all()}
    found = list(Automorphisms.of(d).elements())
    assert len(found) == len(expected)
    assert set(found) == expected


@pytest.mark.parametrize("space", [hamming(3), counts(4), grid(2, 2), discrete(4), grid(3, 3, metric="manhattan")])
def test_vertex_orbits_satisfy_burnside(space):
    """Orbits = mean number of vertices that an automorphism fixes; every image is a vertex."""
    listed = vertices(PrivacyType(space, alpha="1/2"))
    group, fixed = automorphisms(space), 0
    places = {vertex.tobytes(): place for place, vertex in enumerate(listed.exponents)}
    for permutation in group.elements():
        moved = [places[np.ascontiguousarray(vertex[list(permutation)]).tobytes()] for vertex in listed.exponents]
        assert sorted(moved) == list(range(len(listed)))
        fixed += sum(place == image for place, image in enumerate(moved))
    assert fixed == group.order * len(vertex_orbits(listed))


def test_orbits_partition_the_vertices():
    """Members, representatives and sizes fit together."""
    orbits = vertex_orbits(vertices(PrivacyType(hamming(4), alpha="1/2")))
    assert orbits.sizes.sum() == 990
    for number, lowest in enumerate(orbits.representatives):
        assert (np.flatnonzero(orbits.labels == number)[0], np.count_nonzero(orbits.labels == number)) == (
            lowest,
            orbits.sizes[number],
        )
