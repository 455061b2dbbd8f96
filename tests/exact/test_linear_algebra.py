"""Exact products by integers, products with a table of few numbers, and dense rational systems."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import SolverFailed
from utmost.exact import as_array, independent, is_exact, matrix_product, solve_lifted

rationals = st.fractions(min_value=-3, max_value=3, max_denominator=50)


@st.composite
def factors(draw):
    n, k, m = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    left = draw(st.lists(st.lists(rationals, min_size=k, max_size=k), min_size=n, max_size=n))
    right = draw(st.lists(st.lists(rationals, min_size=m, max_size=m), min_size=k, max_size=k))
    return as_array(left), as_array(right)


@given(factors())
def test_the_product_is_the_sum_of_products(pair):
    """(A B)[i, j] = sum over k of A[i, k] B[k, j], exactly."""
    left, right = pair
    assert (matrix_product(left, right) == left @ right).all()


def test_kinds_vectors_and_empty_factors():
    """One float makes the product float64; a vector gives a vector; an empty sum is 0."""
    half = as_array([["1/2", "1/2"]])
    assert not is_exact(matrix_product(half, np.array([[0.5], [0.25]])))
    assert matrix_product(half, as_array(["1/3", "1/6"])).tolist() == [Fraction(1, 4)]
    assert matrix_product(np.empty((2, 0), dtype=object), np.empty((0, 3), dtype=object)).tolist() == [[0, 0, 0]] * 2
    assert not matrix_product(half, as_array(["1/3", "1/6"])).flags.writeable


PRIME = (1 << 61) - 1


def rational_matrix(rng, n, m, size):
    tops, below = rng.integers(-size, size + 1, (n, m)), rng.integers(1, size + 1, (n, m))
    return as_array(
        [[Fraction(int(a), int(b)) for a, b in zip(*rows, strict=True)] for rows in zip(tops, below, strict=True)]
    )


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.sampled_from([2, 9, 10**6, 10**15]))
def test_the_solution_solves(seed, n, k, size):
    """matrix @ X = right, with X of small height or of the height of determinants."""
    rng = np.random.default_rng(seed)
    matrix, known = rational_matrix(rng, n, n, size), rational_matrix(rng, n, k, 9)
    if len(independent(matrix)[0]) < n:
        return
    assert (solve_lifted(matrix, matrix_product(matrix, known)) == known).all()
    right = rational_matrix(rng, n, k, size)
    assert (matrix_product(matrix, solve_lifted(matrix, right)) == right).all()


def test_a_matrix_that_a_prime_divides():
    """Determinants 0 modulo a prime, and denominators that it divides."""
    first = Fraction(PRIME)
    matrix = as_array([[first, 0], [0, 1]])
    assert solve_lifted(matrix, as_array([[1], [1]])).tolist() == [[1 / first], [Fraction(1)]]
    assert solve_lifted(as_array([[1]]), as_array([[1 / first]])).tolist() == [[1 / first]]


def test_a_singular_matrix_is_refused():
    with pytest.raises(SolverFailed, match="nonsingular"):
        solve_lifted(as_array([[1, 2], [2, 4]]), as_array([[1], [2]]))


def test_nothing_to_solve():
    assert solve_lifted(as_array([[1]]), as_array(np.zeros((1, 0)))).shape == (1, 0)


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7), st.sampled_from([1, 9, 10**40]))
def test_independent_rows_and_columns(seed, n, m, size):
    """As many as the rank, the first ones, and their submatrix is invertible."""
    small = np.random.default_rng(seed).integers(0, 2, (n, m))
    rows, columns = independent(as_array(small) * Fraction(size, 7))
    assert len(rows) == len(columns) == np.linalg.matrix_rank(small)
    assert not rows or abs(np.linalg.det(small[np.ix_(rows, columns)])) > 0.5
    assert columns == [j for j in range(m) if np.linalg.matrix_rank(small[:, : j + 1]) > rank_before(small, j)]


def rank_before(matrix, j):
    return np.linalg.matrix_rank(matrix[:, :j]) if j else 0


def test_dependent_modulo_the_prime_is_dependent_for_us():
    """Fewer may be found than there are: whoever asks must check what depends on the rank."""
    assert independent(as_array([[PRIME, 0], [0, 1]])) == ([1], [1])
    assert independent(as_array(np.zeros((0, 2)))) == ([], [])
