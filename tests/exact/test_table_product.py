"""Products with looked-up matrices: exact for integers of any length and sign, of any number of terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact.matrix_products import table_product

integers = st.integers(-(10**60), 10**60)


def objects(values):
    return np.array([*values, None], dtype=object)[:-1]


@given(
    st.lists(integers, min_size=1, max_size=5), st.lists(integers, min_size=1, max_size=7), st.integers(0, 2**32 - 1)
)
def test_the_product_is_exact(table, weights, seed):
    places = np.random.default_rng(seed).integers(0, len(table), (4, len(weights))).astype(np.int32)
    found = table_product(objects(table), places, objects(weights))
    assert found == [sum(table[k] * w for k, w in zip(row, weights, strict=True)) for row in places.tolist()]


@pytest.mark.parametrize("count", [8_192, 8_193, 20_000])
def test_the_product_is_exact_for_many_terms(count):
    """Every limb as large as it can be: sums of more terms than float64 holds exactly are cut."""
    largest = (1 << 40) - 1
    found = table_product(objects([largest]), np.zeros((2, count), dtype=np.int32), objects([largest] * count))
    assert found == [count * largest**2] * 2
