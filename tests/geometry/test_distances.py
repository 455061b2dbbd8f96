"""Distances as whole combinations of square roots, and the integer metric that stands for them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import Unsupported
from utmost.exact import Surd
from utmost.geometry import count_vertices, vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, grid


def distances_of(space):
    return vertices(PrivacyType(space, alpha="1/2")).distances


@pytest.mark.parametrize("space", [counts(4), discrete(3), grid(2, 3), counts(0)])
def test_the_terms_give_back_every_distance(space):
    """d(x, y) = unit * sum_k c_k sqrt(r_k), exactly."""
    found = distances_of(space)
    for x, y in product(range(space.size), repeat=2):
        terms = zip(found.roots, found.coefficients[x, y], strict=True)
        total = sum((Surd.sqrt(root) * int(c) for root, c in terms), Surd.of(0)) * found.unit
        assert total == space.length(x, y)


@pytest.mark.parametrize("size", [2, 3])
def test_the_integer_metric_has_the_signs_of_the_exact_one(size):
    """sign(phi(a) - phi(b)) = sign(a - b) for sums a, b of distances, and phi(a) = phi(b) only for a = b."""
    space = grid(size, size)
    found = distances_of(space)
    table, coefficients = found.integers(), found.coefficients
    rng = np.random.default_rng(3)
    for _ in range(30):
        pairs, signs = rng.integers(0, space.size, (size * size, 2)), rng.choice([-1, 1], size * size)
        exact = sum((_surd(space, x, y) * int(s) for (x, y), s in zip(pairs, signs, strict=True)), Surd.of(0))
        whole = sum(int(table[x, y]) * int(s) for (x, y), s in zip(pairs, signs, strict=True))
        assert np.sign(whole) == (exact > 0) - (exact < 0)
        zero = not sum(coefficients[x, y] * s for (x, y), s in zip(pairs, signs, strict=True)).any()
        assert zero == (whole == 0)


def _surd(space, x, y):
    length = space.length(int(x), int(y))
    return length if isinstance(length, Surd) else Surd.of(length)


@given(st.lists(st.fractions(min_value="1/4", max_value=4, max_denominator=12), min_size=3, max_size=3))
def test_rational_distances_become_the_smallest_whole_ones(sides):
    """The table has no common factor, and unit * table is the metric."""
    a, b = sides[0], sides[1]
    space = Space([[0, a, a + b], [a, 0, b], [a + b, b, 0]])
    found = distances_of(space)
    assert np.gcd.reduce(found.integers().ravel()) == 1
    assert found.unit * int(found.integers()[0, 2]) == a + b


def test_floats_are_read_as_the_decimals_they_print():
    """0.1 is one tenth, so that 0.1 + 0.2 = 0.3 is a tie."""
    found = distances_of(Space([[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]]))
    assert found.unit == Fraction(1, 10)
    assert found.integers()[0].tolist() == [0, 1, 3]


def test_long_distances_are_kept_as_python_integers():
    """Distances near 2^60 do not overflow."""
    far = 2**59
    table = distances_of(Space([[0, far, far + 1], [far, 0, far - 1], [far + 1, far - 1, 0]])).integers()
    assert int(table[0, 2]) + int(table[0, 1]) + int(table[1, 2]) == 3 * far


def test_places_in_metres_have_vertices():
    """Five places among 10^12 have ten square roots of many primes: six of three places in general position."""
    places = [(0, 0), (735_791, 8_443), (123_456, 987_651), (999_983, 777_777), (314_159, 271_828)]
    table = [[Surd.sqrt((a - c) ** 2 + (b - e) ** 2) for c, e in places] for a, b in places]
    space = Space(table)
    assert len(vertices(PrivacyType(space.restrict([0, 1, 2]), epsilon=1))) == 6
    assert len(vertices(PrivacyType(space, epsilon=1))) == count_vertices(space) == 70


def test_distances_of_too_many_square_roots_are_refused():
    places = [(k * k * k + 1, 7 * k * k + k) for k in range(9)]
    table = [[Surd.sqrt((a - c) ** 2 + (b - e) ** 2) for c, e in places] for a, b in places]
    with pytest.raises(Unsupported, match="square roots"):
        vertices(PrivacyType(Space(table), epsilon=1))
