import random
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import any_consumer, loose_consumer, random_type, strict_consumer
from utmost import losses, priors
from utmost.errors import Unsupported
from utmost.optima import optimal_mechanism, uniqueness
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, counts, discrete


def test_the_optimum_of_figure_2_is_unique():
    """36 variables, and 40 tight constraints that a strictly complementary dual prices."""
    consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
    found = uniqueness(PrivacyType(counts(5), alpha="1/2"), consumer)
    assert (found.is_unique, found.variables, found.tight, found.freedom) == (True, 36, 40, 0)


@pytest.mark.parametrize("alpha", ["1/10", "1/2", "97/100"])
def test_theorem_6_1(alpha):
    """A uniform prior and the binary loss have G as their only optimum."""
    for n in range(1, 9):
        consumer = Consumer(priors.uniform(n + 1), losses.binary)
        assert uniqueness(PrivacyType(counts(n), alpha=alpha), consumer).is_unique


def test_the_flows_and_the_second_program_agree():
    """Two routes: zero flows of the unique dual on counts; on a table of the same distances, which is not known to be a
    line, the largest slack over all optimal channels.
    """
    rng, unique = random.Random(1), []
    for k in range(60):
        n = rng.randint(0, 4)
        consumer = (strict_consumer, loose_consumer, any_consumer)[k % 3](rng, n)
        ptype = random_type(rng, n)
        found = uniqueness(ptype, consumer)
        distances = abs(np.subtract.outer(range(n + 1), range(n + 1)))
        assert found.is_unique == uniqueness(PrivacyType(Space(distances), ptype.level), consumer).is_unique
        unique.append(found.is_unique)
    assert {True, False} == set(unique)


def test_a_tie_of_the_remap_leaves_freedom():
    consumer = Consumer(priors.uniform(2), losses.absolute)
    ptype = PrivacyType(counts(1), alpha="1/2")
    assert uniqueness(ptype, consumer).is_unique
    indifferent = Consumer(priors.uniform(2), [[0, 0], [0, 0]])
    assert optimal_mechanism(ptype, indifferent).remap.ties == (0, 1)
    assert uniqueness(ptype, indifferent).freedom == 2


def test_other_spaces_are_decided_by_program():
    binary = Consumer(priors.uniform(3), losses.binary)
    assert uniqueness(PrivacyType(discrete(3), alpha="1/2"), binary).is_unique
    indifferent = Consumer(priors.uniform(3), [[Fraction(1)] * 3] * 3)
    assert not uniqueness(PrivacyType(discrete(3), alpha="1/2"), indifferent).is_unique


def test_an_irrational_alpha_is_refused():
    with pytest.raises(Unsupported, match="rational alpha"):
        uniqueness(PrivacyType(counts(2), epsilon=1), Consumer(priors.uniform(3), losses.binary))
