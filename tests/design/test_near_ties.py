"""The quick check of privacy finds what the plain one finds, at ties, below the smallest float, at the last digit."""

from fractions import Fraction
from math import nextafter

import numpy as np
import pytest

from utmost.channels import geometric_channel

# A channel a last digit from the boundary is checked as certificates are, beside the powers that the check takes.
from utmost.design.optima.checker import (
    alpha_above,
    alpha_below,
    alphas_above,
    alphas_below,
    check_private,
    doubtful_ratios,
)
from utmost.design.privacy_types.privacy_type import power_interval
from utmost.errors import PromiseBroken
from utmost.exact import Surd
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, graph, grid

TYPES = [
    PrivacyType(grid(2, 3), epsilon=1),
    PrivacyType(counts(5), alpha="1/3"),
    PrivacyType(discrete(4), epsilon="1/1000000"),
    PrivacyType(graph([(0, 1, "1/2"), (1, 2, "3/2")]), alpha="1/4"),
]


def is_plainly_private(ratios, matrix):
    """Every ratio along every essential edge, in rationals."""
    return all((matrix[a] >= ratio * matrix[b]).all() for (x, y), ratio in ratios.items() for a, b in ((x, y), (y, x)))


def is_private(ptype, matrix):
    try:
        check_private(ptype, matrix)
    except PromiseBroken:
        return False
    return True


@pytest.mark.parametrize("ptype", TYPES, ids=lambda t: type(t.space.metric).__name__)
def test_powers_of_many_pairs_are_those_of_each(ptype):
    edges = ptype.space.edges
    assert alphas_above(ptype, edges).tolist() == [alpha_above(ptype, x, y) for x, y in edges.tolist()]
    assert alphas_below(ptype, edges).tolist() == [alpha_below(ptype, x, y) for x, y in edges.tolist()]


@pytest.mark.parametrize("ptype", TYPES, ids=lambda t: type(t.space.metric).__name__)
def test_it_agrees_with_the_plain_check_near_ties(ptype):
    """Rows moved by a last digit of 2^-60 around the exact ratio."""
    rng = np.random.default_rng(1)
    n, last = ptype.space.size, Fraction(1, 1 << 60)
    ratios = {(x, y): alpha_above(ptype, x, y) for x, y in ptype.space.edges.tolist()}
    verdicts = set()
    for _ in range(60):
        matrix = np.full((n, 2), Fraction(1, 2), dtype=object)
        x, y = ptype.space.edges[int(rng.integers(len(ptype.space.edges)))].tolist()
        matrix[x, 0] = ratios[x, y] * matrix[y, 0] + int(rng.integers(-1, 2)) * last
        matrix[x, 1] = 1 - matrix[x, 0]
        verdict = is_private(ptype, matrix)
        verdicts.add(verdict)
        assert verdict == is_plainly_private(ratios, matrix)
    assert False in verdicts


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_ratios_below_the_smallest_float_are_not_passed_over(shift):
    ptype = PrivacyType(counts(1), alpha="1/2")
    tiny = Fraction(1, 1 << 1200)
    matrix = np.array([[tiny, 1 - tiny], [2 * tiny + shift * tiny / 9, 1 - 2 * tiny - shift * tiny / 9]], dtype=object)
    assert is_private(ptype, matrix) == (shift <= 0)


def test_few_ratios_are_in_doubt_inside_and_all_tight_ones_at_the_boundary():
    ptype = PrivacyType(counts(9), alpha="1/2")
    inside = geometric_channel(10, alpha="3/4").matrix
    assert not list(doubtful_ratios(ptype, inside))
    tight = geometric_channel(10, alpha="1/2").matrix
    assert len(list(doubtful_ratios(ptype, tight))) == 9 * 10


@pytest.mark.parametrize("epsilon", ["1/3", 40, 10**6])
@pytest.mark.parametrize("length", [1, "7/3", Surd.sqrt(2)])
def test_irrational_powers_lie_between_neighbouring_floats(epsilon, length):
    """Also where alpha^d is below every float: as many bits are computed as it takes."""
    far = length if isinstance(length, Surd) else Fraction(length)
    ptype = PrivacyType(Space([[0, far], [far, 0]]), epsilon=epsilon)
    low, high = alpha_below(ptype, 0, 1), alpha_above(ptype, 0, 1)
    assert nextafter(float(low), 1) == float(high)
    around = power_interval(ptype.level, far, 4096)
    assert low <= around.lower <= around.upper <= high
