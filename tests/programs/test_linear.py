import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from utmost.errors import NotANumber, OutOfRange
from utmost.programs import InfeasibleProgram, LinearProgram, solve

GOOD = {"cost": [1, 2], "rows": [0, 0], "columns": [0, 1], "values": [1, 1], "lower": [1], "upper": [2]}


def test_products_are_those_of_the_matrix():
    program = LinearProgram.of_triplets([0, 0, 0], [1, 0, 1], [2, 0, 1], [5, 3, 4], [0, 0], [9, 9])
    dense = np.array([[3.0, 0, 0], [0, 4, 5]])
    assert (program.product(np.array([1.0, 2, 3])) == dense @ [1, 2, 3]).all()
    assert (program.transposed_product(np.array([1.0, 2])) == [1, 2] @ dense).all()


def test_one_fraction_makes_the_program_exact():
    program = LinearProgram.of_triplets(**{**GOOD, "cost": [Fraction(1, 3), 2]})
    assert program.is_exact
    assert all(isinstance(x, Fraction) for x in program.values)
    assert not LinearProgram.of_triplets(**GOOD).is_exact


def test_pickling_goes_through_the_constructor():
    program = pickle.loads(pickle.dumps(LinearProgram.of_triplets(**GOOD)))
    assert not program.cost.flags.writeable
    found = pickle.loads(pickle.dumps(solve(program)))
    assert found.value == 1
    assert not found.primal.flags.writeable


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"cost": [1, math.nan]}, NotANumber, "cost must hold finite"),
        ({"values": [1, math.inf]}, NotANumber, "values must hold finite"),
        ({"lower": [math.nan]}, NotANumber, "lower must hold numbers"),
        ({"upper": [1, 2]}, OutOfRange, "upper must have length 1"),
        ({"lower": [3]}, OutOfRange, "must not exceed"),
        ({"rows": [0, 1]}, OutOfRange, "row index"),
        ({"columns": [0, 2]}, OutOfRange, "column index"),
        ({"cost": [[1, 2]]}, OutOfRange, "one dimension|shape|length"),
    ],
)
def test_a_program_that_is_none_is_refused(change, error, match):
    with pytest.raises(error, match=match):
        LinearProgram.of_triplets(**{**GOOD, **change})


def test_an_infeasible_program_carries_a_ray():
    with pytest.raises(InfeasibleProgram, match="1 rows and 2 variables") as caught:
        solve(LinearProgram.of_triplets(**{**GOOD, "lower": [-2], "upper": [-1]}))
    assert caught.value.ray is not None
