"""Cells of priors: they fill the simplex, and best actions are constant on them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import losses
from utmost.channels import geometric_channel

# Inner tables of a search are compared with enumeration and with other codes.
from utmost.design.geometry.best_action_cells import Complex, exact_prior

matrices = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda size: st.tuples(
        *(
            st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=size[0], max_size=size[0])
            for k in size[1:]
        )
    )
)


def fractions(table):
    return np.array([[Fraction(x) for x in row] for row in table], dtype=object)


@given(matrices)
@settings(max_examples=30)
def test_cells_fill_the_simplex(case):
    """For any columns and any loss: facets meet in pairs, and each column has an action best all over a cell."""
    columns, loss = fractions(case[0]) + 1, fractions(case[1])
    complex_ = Complex.of(columns, loss)
    assert complex_.fills_the_simplex()
    for cell in complex_.cells:
        for column in columns.T:
            values = (np.array(cell.rays, dtype=object) * column) @ loss
            assert (values == values.min(axis=1)[:, None]).all(axis=0).any()


def test_a_missing_cell_is_seen():
    """Without one of its cells a complex does not fill the simplex."""
    whole = Complex.of(geometric_channel(3, alpha="1/2").matrix, losses.absolute.matrix(3))
    assert whole.fills_the_simplex()
    for k in range(len(whole.cells)):
        rest = whole.cells[:k] + whole.cells[k + 1 :]
        assert not Complex(whole.size, whole.planes, rest).fills_the_simplex()


def test_a_best_action_inside_only_is_found():
    """Three actions, the third best in the middle and at no vertex of the simplex."""
    loss = fractions([[0, 10, 4], [10, 0, 4]])
    found = Complex.of(fractions([[1], [1]]), loss)
    assert found.priors == ((0, 1), (1, 0), (2, 3), (3, 2))
    assert len(found.cells) == 3
    assert found.fills_the_simplex()


@pytest.mark.parametrize("ray", [(1, 0), (2, 3)])
def test_priors_sum_to_one(ray):
    """The prior of a ray."""
    assert exact_prior(ray).sum() == 1
