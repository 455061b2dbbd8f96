"""One optimum by two routes: HiGHS carried on exactly, and the tableau in whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import Unsupported
from utmost.exact import as_array
from utmost.programs import LinearProgram, either, exact_optimum


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_both_routes_have_one_value_and_feasible_duals(seed):
    """Strong duality, and complementary signs: >= rows have duals >= 0, <= rows duals <= 0."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 5, 2)
    A = as_array([[Fraction(int(v), 6) for v in row] for row in rng.integers(1, 9, (m, n))])
    c, b = (as_array([Fraction(int(v), 4) for v in rng.integers(1, 9, size)]) for size in (n, m))
    rows, columns = np.divmod(np.arange(m * n), n)
    kinds = rng.integers(0, 3, m)
    kinds[1:][kinds[1:] == 2] = 0
    low = [-math.inf if kind == 1 else v for v, kind in zip(b, kinds, strict=True)]
    high = [math.inf if kind == 0 else v for v, kind in zip(b, kinds, strict=True)]
    program = LinearProgram.of_triplets(c, rows, columns, A.ravel(), np.array(low, object), np.array(high, object))
    try:
        found = exact_optimum(program)
    except Exception as error:  # both routes refuse what has no point
        with pytest.raises(type(error).__mro__[1]):
            either._in_whole_numbers(program)
        return
    for value, x, duals in (found, either._in_whole_numbers(program)):
        assert value == found[0] == (c * x).sum() == (duals * b).sum()
        assert (x >= 0).all()
        assert (duals @ A <= c).all()
        assert all(z >= 0 if kind == 0 else z <= 0 if kind == 1 else True for z, kind in zip(duals, kinds, strict=True))


def test_other_bounds_are_refused():
    one, unit = as_array([1]), [0]
    with pytest.raises(Unsupported, match="one bound for each row"):
        exact_optimum(LinearProgram.of_triplets(one, unit, unit, one, lower=as_array([0]), upper=as_array([2])))
    with pytest.raises(Unsupported, match="x >= 0"):
        exact_optimum(LinearProgram.of_triplets(one, unit, unit, one, one, [math.inf], column_lower=as_array([1])))
