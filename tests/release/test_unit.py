"""The unit of privacy: what one individual changes, and into how many parts the level is divided."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import level
from utmost.release.unit import Unit


@given(st.integers(1, 10**9), st.sampled_from(["add-remove", "change-one"]))
def test_the_parts_of_a_level_add_up_to_the_level(cells, neighbours):
    """charged * (level per cell) == level, exactly."""
    unit = Unit(1, cells, neighbours)
    whole = level(alpha="1/2")
    assert unit.per_cell(whole).scaled(unit.charged) == whole


@given(st.integers(1, 10**9))
def test_replacing_a_record_is_charged_as_two_steps(cells):
    """A replacement is a removal and an addition, so each cell gets half of the level it has under add-remove."""
    removed, replaced = Unit(1, cells), Unit(1, cells, "change-one")
    whole = level(epsilon=1)
    assert replaced.per_cell(whole).epsilon * 2 == removed.per_cell(whole).epsilon == Fraction(1, cells)


def test_a_unit_is_a_value():
    unit = Unit("2.5", 3, "change-one")
    assert pickle.loads(pickle.dumps(unit)) == unit
    assert len({unit, Unit(Fraction(5, 2), 3, "change-one")}) == 1


@pytest.mark.parametrize("sensitivity", [0, -1, "-1/2"])
def test_a_sensitivity_must_be_positive(sensitivity):
    with pytest.raises(OutOfRange, match="sensitivity must be positive"):
        Unit(sensitivity, 1)


@pytest.mark.parametrize("sensitivity", [True, float("nan"), float("inf"), "much", None])
def test_a_sensitivity_must_be_a_number(sensitivity):
    with pytest.raises(NotANumber, match="sensitivity must be a finite number"):
        Unit(sensitivity, 1)


@pytest.mark.parametrize("cells", [0, -3, 1.5, True, "all", None, float("nan")])
def test_cells_must_be_a_positive_whole_number(cells):
    with pytest.raises(OutOfRange, match="cells must be"):
        Unit(1, cells)


@pytest.mark.parametrize("neighbours", ["replace", "", None, 1, np.array(["add-remove", "x"])])
def test_an_unknown_relation_is_refused(neighbours):
    with pytest.raises(OutOfRange, match="add-remove"):
        Unit(1, 1, neighbours)
