"""The exponential mechanism and the abstract staircase: they keep the level that they are given."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses
from utmost.channels import Channel, abstract_staircase, exponential_mechanism, laplace_channel, randomized_response
from utmost.exact import level
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import Space, counts, discrete, graph, grid, hamming
from utmost.testing import strategies

BOTH = pytest.mark.parametrize("make", [exponential_mechanism, abstract_staircase])


@BOTH
@given(st.data(), st.integers(2, 5), st.integers(1, 5), strategies.levels)
def test_the_level_is_kept_for_any_costs(make, data, n, m, at):
    """Whatever the costs, the metric and the base, the channel is in its privacy type."""
    costs, space = data.draw(strategies.any_losses(n, m)), Space(data.draw(strategies.metrics(n)))
    base = data.draw(st.none() | st.lists(st.integers(1, 5), min_size=m, max_size=m))
    if (costs == costs[0]).all():
        return
    c = make(costs, at, space=space, base=base)
    assert PrivacyType(space, at).contains(c, tolerance=1e-11)
    assert Channel(c.matrix).same_as(c)


def test_the_papers_calibration_loses_up_to_twice_the_level():
    """THEORY 3.8: costs (0, 1, 1) and (1, 0, 0): undivided weights at the whole level have ratio 5/2 > 2."""
    b = Fraction(1, 2)
    naive = np.array([[1, b, b], [b, 1, 1]], dtype=object)
    naive = naive / naive.sum(axis=1)[:, None]
    assert smallest_epsilon(Channel(naive), discrete(2)).level == level(alpha="2/5")
    for make in (exponential_mechanism, abstract_staircase):
        c = make([[0, 1, 1], [1, 0, 0]], alpha="1/4")
        assert c.matrix.tolist() == naive.tolist()
        assert PrivacyType(discrete(2), alpha="1/4").contains(c)


@BOTH
def test_equal_row_sums_keep_the_whole_level(make):
    """On a cycle, with the distance as the cost, every row has the same costs: the level is attained."""
    cycle = graph([(i, (i + 1) % 6) for i in range(6)])
    c = make(cycle.distances, alpha="1/3", space=cycle)
    assert smallest_epsilon(c, cycle).level == level(alpha="1/3")
    assert c.is_exact
    cube = hamming(3)
    assert smallest_epsilon(make(cube.distances, alpha="1/3", space=cube), cube).level == level(alpha="1/3")


def test_randomised_response_is_both():
    """Binary costs on discrete secrets."""
    costs = losses.binary.matrix(4)
    for make in (exponential_mechanism, abstract_staircase):
        assert make(costs, alpha="1/3").same_as(randomized_response(4, alpha="1/3"))
        assert make(costs, epsilon=2).same_as(randomized_response(4, epsilon=2), tolerance=1e-15)


def test_the_base_measure_weighs_outcomes():
    """A base of w copies of an outcome is an outcome of weight w; unequal bases make the sums differ."""
    costs = np.array([[0, 2], [2, 0]])
    doubled = exponential_mechanism(costs[:, [0, 0, 1]], alpha="1/4")
    weighed = exponential_mechanism(costs, alpha="1/4", base=[2, 1])
    assert weighed.matrix[:, 0].tolist() == doubled.matrix[:, :2].sum(axis=1).tolist()
    assert weighed.matrix[0].tolist() == [Fraction(4, 5), Fraction(1, 5)]
    assert not exponential_mechanism(costs, alpha="1/4", base=[2.0, 1]).is_exact


def test_steps_of_the_staircase():
    """Costs 0, 0.4, 0.6, 1.4 in units of D = 1 with gamma 1/2: 0, 0, 1, 1 steps."""
    costs = [["0", "2/5", "3/5", "7/5"], ["1", "2/5", "3/5", "7/5"]]
    c = abstract_staircase(costs, alpha="1/9")
    assert (c.matrix[0] / c.matrix[0, 0]).tolist() == [1, 1, Fraction(1, 3), Fraction(1, 3)]
    assert (c.matrix[1] / c.matrix[1, 1]).tolist() == [Fraction(1, 3), 1, Fraction(1, 3), Fraction(1, 3)]
    late = abstract_staircase(costs, alpha="1/9", gamma=1)
    assert (late.matrix[0] / late.matrix[0, 0]).tolist() == [1, 1, 1, Fraction(1, 3)]
    early = abstract_staircase(costs, alpha="1/9", gamma=0)
    assert early.same_as(late)


def test_irrational_distances_and_float_costs():
    """On a Euclidean grid the exponential mechanism keeps its level."""
    space = grid(3, 3)
    c = exponential_mechanism(space.distances, epsilon=1, space=space)
    assert PrivacyType(space, epsilon=1).contains(c)
    assert not c.is_exact
    assert laplace_channel(2, epsilon=1).shape == exponential_mechanism([[0.0, 1.0], [1.0, 0.0]], 1).shape


def test_a_huge_level_leaves_no_empty_row():
    """Costs far from 0 in a row do not underflow: the least cost of the row carries the weight."""
    c = exponential_mechanism([[1000, 1001], [1001, 1000]], epsilon=700, space=counts(1))
    np.testing.assert_allclose(c.matrix, np.eye(2), atol=1e-12)
