"""Costs by name."""

import pytest

from utmost.errors import OutOfRange
from utmost.noise import costs
from utmost.noise.costs import cost_named


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("absolute", costs.absolute),
        (" Squared ", costs.squared),
        ("moment:1", costs.absolute),
        ("moment:3", costs.moment(3)),
        ("moment:3/2", costs.moment("3/2")),
    ],
)
def test_a_name_means_its_cost(name, cost):
    assert cost_named(name) == cost


def test_a_function_is_its_own_name():
    assert cost_named(abs) is abs


@pytest.mark.parametrize("name", ["", "cubic", "moment", "moment:", "moment:x", "moment:0", "moment:-1", "absolute:2"])
def test_other_names_are_refused(name):
    with pytest.raises(OutOfRange):
        cost_named(name)
