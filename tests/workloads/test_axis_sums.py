"""Sums along an axis: one description, and the matrix of its rows, say the same."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.axis_sums import (
    Groups,
    Prefixes,
    Ranges,
    Taken,
    Weighed,
    Windows,
    sum_of_values,
)
from utmost.workloads import Domain, hierarchy
from workload_cases import AXES, tree_of

UNEVEN = hierarchy({"N": ["n1", "n2"], "S": ["s1"], "W": ["w1", "w2"]}, names=["region", "district"])
ALL = [axis for given in (*AXES, tree_of(2, 3), tree_of(2, 1, 2), UNEVEN) for axis in Domain(x=given).axes]


@st.composite
def sums_along_an_axis(draw):
    axis = draw(st.sampled_from(ALL))
    level = draw(st.integers(0, len(axis.levels)))
    only = draw(st.none() | st.integers(0, axis.groups(level) - 1))
    row = draw(st.lists(st.booleans(), min_size=axis.size, max_size=axis.size).filter(any))
    listed = Taken(np.array(row).tobytes())
    weights = st.lists(st.integers(-3, 3), min_size=axis.size, max_size=axis.size).filter(any).map(tuple)
    weighed = Weighed(tuple(draw(st.lists(weights, min_size=1, max_size=3))))
    windows = Windows(draw(st.integers(1, axis.size)))
    return axis, draw(st.sampled_from([Groups(level, only), listed, Prefixes(), Ranges(), windows, weighed]))


@given(sums_along_an_axis())
def test_lengths_gram_and_level_are_those_of_the_rows(drawn):
    """The lengths count the rows' ones; the Gram matrix is R'R; each row is constant on the groups of its level."""
    axis, sums = drawn
    rows = sums.matrix(axis).astype(int)
    plain = ((rows == 0) | (rows == 1)).all(axis=1)
    assert sums.lengths(axis) == Counter(np.where(plain, rows.sum(axis=1), 1).tolist())
    assert (sums.gram(axis) == rows.T @ rows).all()
    groups = axis.group_of(sums.level(axis))
    first = axis.group_starts(sums.level(axis))
    assert isinstance(sums, Groups) or len(rows) > 1 or (rows == rows[:, first][:, groups]).all()


@given(sums_along_an_axis())
def test_the_spectrum_adds_up_to_the_lengths(drawn):
    """The projections share out |w|^2, which for rows of 0 and 1 is how many values they take."""
    axis, sums = drawn
    if axis.blocks is not None:
        parts = sums.spectrum(axis.blocks)
        assert sum(parts) == (sums.matrix(axis).astype(int) ** 2).sum()
        if not isinstance(sums, Weighed):
            assert sum(parts) == sum(length * times for length, times in sums.lengths(axis).items())
        assert not any(parts[: sums.level(axis)])


@pytest.mark.parametrize("axis", ALL)
def test_a_whole_group_is_known_as_one(axis):
    """A row that takes one group is that group of the coarsest level that has it; any other is listed."""
    for level in range(len(axis.levels) + 1):
        for place in range(axis.groups(level)):
            row = axis.group_of(level) == place
            found = sum_of_values(axis, row)
            assert isinstance(found, Groups)
            assert found.at >= level
            assert (found.matrix(axis) == row).all()
    if axis.size > 3:
        row = np.arange(axis.size) % 2 == 0
        assert (sum_of_values(axis, row).matrix(axis) == row).all()
