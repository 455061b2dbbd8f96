"""Costs of noise, and their names."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from utmost.noise import DiscreteStaircase, costs


def test_named_costs_are_the_first_two_moments():
    """absolute = |x|, squared = x^2."""
    assert costs.moment(1) == costs.absolute
    assert costs.moment("2") == costs.squared
    assert (costs.absolute(-3), costs.squared(-3), costs.moment(3)(-2)) == (3, 9, 8)


def test_each_number_kind_keeps_to_itself():
    assert costs.absolute(Fraction(-1, 3)) == Fraction(1, 3)
    assert isinstance(costs.squared(3), int)
    assert costs.squared(np.array([-2, 3])).tolist() == [4, 9]
    assert costs.squared(np.array([Fraction(-1, 2)], dtype=object))[0] == Fraction(1, 4)
    assert costs.moment(1.5)(-4.0) == 8.0


def test_costs_print_hash_and_pickle():
    for cost, text in ((costs.absolute, "absolute"), (costs.squared, "squared"), (costs.moment(5), "moment(5)")):
        assert repr(cost) == text
        assert pickle.loads(pickle.dumps(cost)) == cost
    assert repr(costs.moment("5/2")) == "moment('5/2')"
    assert len({costs.absolute, costs.squared, costs.moment(1)}) == 2


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
    assert costs.cost_named(name) == cost


def test_a_function_is_its_own_name():
    assert costs.cost_named(abs) is abs


def test_a_table_of_costs_is_linear_between_sizes():
    cost = costs.tabled({0: "1/2", 4: "5/2"})
    assert (cost(1), cost(-3), cost(Fraction(1, 2)), cost(9)) == (1, 2, Fraction(3, 4), Fraction(5, 2))
    assert cost(1.0) == 1.0
    assert DiscreteStaircase(1, 3, cost).step == DiscreteStaircase(1, 3).step
