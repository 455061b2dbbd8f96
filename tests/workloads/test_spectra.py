"""Spectra of rows along one axis against projections by dense matrices."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.spectra import (
    group_spectrum,
    prefix_spectrum,
    range_spectrum,
    row_spectrum,
    rows_spectrum,
    window_spectrum,
)

CHAINS = [(1, 1), (1, 5), (1, 2, 4), (1, 2, 4, 8, 16), (1, 3, 9, 27), (1, 25, 200), (1, 4, 4, 12), (1, 1, 1)]


def projected(chain, rows):
    """The sum over rows of |Q_t w|^2 for each t, by averaging matrices."""
    values = chain[-1]
    means = [np.kron(np.eye(values // block), np.full((block, block), 1 / block)) for block in chain]
    steps = [fine - coarse for fine, coarse in pairwise([*means, np.zeros((values, values))])]
    return [float(((step @ rows.T) ** 2).sum()) for step in steps]


@pytest.mark.parametrize("chain", CHAINS)
def test_the_closed_forms_are_the_projections(chain):
    """Groups of each level, all prefixes and all ranges: |Q_t w|^2 by formula and by matrices."""
    values = chain[-1]
    for level, block in enumerate(chain):
        group = np.repeat(np.arange(values // block) == values // block - 1, block)
        assert np.allclose(np.array(group_spectrum(chain, level), float), projected(chain, group[None].astype(float)))
    prefixes = np.tri(values)
    assert np.allclose(np.array(prefix_spectrum(chain), float), projected(chain, prefixes), rtol=1e-11, atol=1e-9)
    low, high = np.triu_indices(values)
    ranges = ((low[:, None] <= np.arange(values)) & (np.arange(values) <= high[:, None])).astype(float)
    assert np.allclose(np.array(range_spectrum(chain), float), projected(chain, ranges), rtol=1e-11, atol=1e-9)
    for length in {1, values // 2 or 1, values}:
        windows = ranges[high - low + 1 == length]
        assert np.allclose(np.array(window_spectrum(chain, length), float), projected(chain, windows), atol=1e-9)
    weights = np.random.default_rng(values).integers(-3, 4, (5, values))
    assert np.allclose(np.array(rows_spectrum(chain, weights.astype(object)), float), projected(chain, weights))


@given(st.sampled_from(CHAINS), st.data())
def test_a_row_is_projected_exactly(chain, data):
    """The parts of a 0/1 row add up to how many values it takes, and are 0 exactly where a level determines it."""
    row = np.array(data.draw(st.lists(st.booleans(), min_size=chain[-1], max_size=chain[-1])))
    spectrum = row_spectrum(chain, row)
    assert sum(spectrum) == row.sum()
    assert np.allclose(np.array(spectrum, float), projected(chain, row[None].astype(float)))
    for level, block in enumerate(chain):
        parts = row.reshape(-1, block)
        determined = bool((parts.all(axis=1) == parts.any(axis=1)).all())
        assert not determined or not any(spectrum[:level])


def test_ranges_and_prefixes_of_a_million_values_are_exact_and_at_once():
    """n(n+1)/2 ranges of n = 2^20 values; the parts add up to the sum of their lengths, n(n+1)(n+2)/6."""
    chain = tuple(2**k for k in range(21))
    n = chain[-1]
    assert sum(range_spectrum(chain)) == Fraction(n * (n + 1) * (n + 2), 6)
    assert sum(prefix_spectrum(chain)) == Fraction(n * (n + 1), 2)
