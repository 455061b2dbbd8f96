"""Exact linear systems: residues, limbs and lifting against elimination in Fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import SolverFailed
from utmost.exact import as_array, independent, primes, product, residues, solve_lifted
from utmost.exact.limbs import integer_product
from utmost.exact.residues import inverse

PRIME = next(primes())


def rational_matrix(rng, n, m, size):
    tops, below = rng.integers(-size, size + 1, (n, m)), rng.integers(1, size + 1, (n, m))
    return as_array(
        [[Fraction(int(a), int(b)) for a, b in zip(*rows, strict=True)] for rows in zip(tops, below, strict=True)]
    )


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.sampled_from([2, 9, 10**6, 10**15]))
@settings(max_examples=60, deadline=None)
def test_the_solution_solves(seed, n, k, size):
    """matrix @ X = right, with X of small height or of the height of determinants."""
    rng = np.random.default_rng(seed)
    matrix, known = rational_matrix(rng, n, n, size), rational_matrix(rng, n, k, 9)
    if inverse(residues(scaled(matrix), PRIME), PRIME) is None:
        return
    assert (solve_lifted(matrix, product(matrix, known)) == known).all()
    right = rational_matrix(rng, n, k, size)
    assert (product(matrix, solve_lifted(matrix, right)) == right).all()


def scaled(matrix):
    common = int(np.lcm.reduce(np.array([x.denominator for x in matrix.flat], dtype=object)))
    return np.array([[int(x * common) for x in row] for row in matrix], dtype=object)


def test_a_matrix_that_a_prime_divides():
    """Determinants 0 modulo the first prime, and denominators that it divides: the next one is taken."""
    first = Fraction(PRIME)
    matrix = as_array([[first, 0], [0, 1]])
    assert solve_lifted(matrix, as_array([[1], [1]])).tolist() == [[1 / first], [Fraction(1)]]
    assert solve_lifted(as_array([[1]]), as_array([[1 / first]])).tolist() == [[1 / first]]


def test_a_singular_matrix_is_refused():
    with pytest.raises(SolverFailed, match="nonsingular"):
        solve_lifted(as_array([[1, 2], [2, 4]]), as_array([[1], [2]]))


def test_nothing_to_solve():
    assert solve_lifted(as_array([[1]]), as_array(np.zeros((1, 0)))).shape == (1, 0)


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_independent_rows_and_columns(seed, n, m):
    """As many as the rank, and their submatrix is invertible."""
    small = np.random.default_rng(seed).integers(0, 2, (n, m))
    rows, columns = independent(small, PRIME)
    assert len(rows) == len(columns) == np.linalg.matrix_rank(small)
    assert not rows or inverse(small[np.ix_(rows, columns)], PRIME) is not None


@given(st.integers(0, 10**6), st.sampled_from([1, 15, 25, 61, 200]), st.sampled_from([1, 30, 90]))
@settings(max_examples=60, deadline=None)
def test_products_of_integers_of_any_length(seed, bits, other_bits):
    rng = np.random.default_rng(seed)
    left, right = (big(rng, shape, b) for shape, b in (((3, 4), bits), ((4, 2), other_bits)))
    assert (integer_product(left, right) == left.dot(right)).all()


def big(rng, shape, bits):
    return np.array(
        [int.from_bytes(rng.bytes(26)) % (2 << bits) - (1 << bits) for _ in range(np.prod(shape))], object
    ).reshape(shape)


def test_primes_are_prime_and_below_a_limb():
    found = [p for p, _ in zip(primes(), range(5), strict=False)]
    assert found == sorted(found, reverse=True)
    assert all(p < 1 << 20 and all(p % q for q in range(2, 1024)) for p in found)
