"""Exact matrix products by python-flint, against sums of products."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange
from utmost.exact import as_array, is_exact, matrix_product

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


def test_shapes_that_do_not_fit_are_named():
    """(1, 2) and (1, 2) have no product."""
    with pytest.raises(OutOfRange, match=r"\(1, 2\) and \(1, 2\)"):
        matrix_product(as_array([[1, 2]]), as_array([[1, 2]]))
