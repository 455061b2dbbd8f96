"""Draws of a distribution of which two formulas are all that is known: likely values by words, and the tails beyond."""

from dataclasses import replace

import numpy as np
import pytest

from goodness import LEVEL, chi_square

# The tails are made likely, and each first word is tried once.
from utmost.core.sampling.geometric_draws import TABLE
from utmost.core.sampling.tail_sampler import TailSampler
from utmost.noise import DiscreteStaircase, Geometric
from utmost.testing import SeededRandomness


class EveryWord(SeededRandomness):
    """Each word of 16 bits once; wider ones are drawn."""

    def __init__(self):
        super().__init__(1)

    def words(self, count, bits):
        return np.arange(count, dtype=np.uint16) if bits == 16 else super().words(count, bits)


@pytest.mark.parametrize("distribution", [Geometric("1/3", 2), DiscreteStaircase(1, 5, step=2)])
def test_draws_beyond_the_likely_values(distribution):
    """Where the values near 0 are few, most draws are made by the tails beyond, and the distribution is the same."""
    drawn = TailSampler(distribution, replace(TABLE, tail_bits=2)).draw(20_000, SeededRandomness(7))
    assert chi_square(drawn, lambda x: distribution.cdf(np.asarray(x, float))) > LEVEL


def test_each_word_has_the_value_of_its_cell():
    """Of the 2^16 first words a value has as many as its probability says, but for those that need a second look."""
    distribution = Geometric("1/2")
    drawn = TailSampler(distribution, TABLE).draw(1 << 16, EveryWord())
    for value in range(-8, 9):
        assert abs(np.count_nonzero(drawn == value) - distribution.pmf(float(value)) * (1 << 16)) < 64
