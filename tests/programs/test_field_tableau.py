"""The simplex method over any ordered field, against the one in integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Two routes of one program are compared; a public call takes the quicker one.
from utmost.core.programs.field_tableau import FieldTableau
from utmost.core.programs.integer_tableau import IntegerTableau
from utmost.errors import Infeasible, SolverFailed

small = st.integers(-4, 4)


@given(
    st.lists(st.lists(small, min_size=5, max_size=5), min_size=3, max_size=3), st.lists(small, min_size=5, max_size=5)
)
@settings(max_examples=30)
def test_both_methods_agree(rows, cost):
    """Value, feasibility and a dual that proves the value; the right side is made feasible by ones."""
    matrix = np.array(rows, dtype=object)
    right, prices = matrix @ np.ones(5, dtype=int), np.array(cost, dtype=object)
    ours, theirs = FieldTableau.feasible(matrix, right), IntegerTableau.feasible(matrix, right)
    try:
        known, _ = theirs.minimise(prices)
    except SolverFailed:
        with pytest.raises(SolverFailed):
            ours.minimise(prices)
        return
    found, _ = ours.minimise(prices)
    assert found.value == known.value == sum(c * x for c, x in zip(cost, found.x, strict=True))
    assert (matrix @ np.array(found.x, dtype=object) == right).all()
    dual = np.array(found.dual, dtype=object)
    assert (dual @ matrix <= prices).all()
    assert dual @ right == found.value


def test_what_has_no_solution_is_refused():
    with pytest.raises(Infeasible):
        FieldTableau.feasible(np.array([[Fraction(1)]], dtype=object), np.array([Fraction(-1)], dtype=object))
