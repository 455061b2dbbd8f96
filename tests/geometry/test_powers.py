"""alpha to the distances: the same number as a rational, a float, a residue and an interval."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import level
from utmost.geometry import count_kernels, kernels, vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, grid

PLANE, LINE = grid(2, 2), counts(1)
"""Spaces whose distances are whole combinations of 1 and the root of 2, and whole numbers."""


def powers_of(at, space=PLANE):
    return vertices(PrivacyType(space, at)).powers


exponents = st.tuples(st.integers(0, 9), st.integers(0, 9))
levels = st.sampled_from([level(alpha="1/2"), level(alpha="7/8"), level(epsilon=1), level(epsilon="1/1000")])


@given(levels, exponents)
def test_intervals_and_floats_are_right(at, exponent):
    """exp(-eps (a + b sqrt 2)): inside the interval, and at most one unit in the last place off."""
    powers = powers_of(at)
    around = powers.interval(exponent, 300)
    assert around.width < Fraction(1, 2**290)
    middle = (around.lower + around.upper) / 2
    found = powers.number(exponent)
    assert abs(Fraction(found) - middle) <= Fraction(math.ulp(found))
    assert found == pytest.approx(math.exp(-at.epsilon_float * (exponent[0] + exponent[1] * math.sqrt(2))), rel=1e-12)


@given(st.sampled_from([2, 3, 4, 6]), st.integers(0, 2**40), st.sampled_from(["1/2", "2/3", "9/10", "5/7"]))
def test_residues_of_roots_know_their_powers(root, above, alpha):
    """The image of alpha^(1/k), to the k-th power, is that of alpha: relations between roots hold in the field."""
    powers = powers_of(level(alpha=alpha).scaled(Fraction(1, root)), LINE)
    field = powers.field((1 << 30) + above)
    base = Fraction(alpha)
    expected = base.numerator * pow(base.denominator, -1, field.prime) % field.prime
    assert field.power((root,)) == expected
    assert field.power((3,)) * field.power((root - 1,)) % field.prime == field.power((root + 2,))


@given(levels, st.integers(1, 2**60))
def test_fields_have_prime_order(at, above):
    """Fermat: 2^(p-1) = 1, for p above what was asked and 3 modulo 4."""
    prime = powers_of(at).field(above).prime
    assert prime > above
    assert prime % 4 == 3
    assert pow(2, prime - 1, prime) == 1


def test_half_distances_are_a_finer_unit():
    """A line with steps of 1/2 at alpha is the line with steps of 1 at sqrt(alpha); that is rational for 1/4."""
    halves = Space([[Fraction(abs(i - j), 2) for j in range(5)] for i in range(5)])
    assert count_kernels(PrivacyType(halves, alpha="1/4")) == 187
    irrational = PrivacyType(halves, alpha="1/2")
    assert not vertices(irrational).is_exact
    doubled = PrivacyType(Space(2 * counts(4).distances), alpha="1/2")
    assert np.array_equal(kernels(doubled).supports, kernels(PrivacyType(counts(4), alpha="1/4")).supports)


def test_the_unit_is_that_of_the_distances():
    """Powers are counted in units of distance."""
    assert powers_of(level(alpha="1/2"), Space([[0, 6], [6, 0]])).fraction((1,)) == Fraction(1, 64)
    assert powers_of(level(alpha="1/2"), grid(2, 2)).roots == (1, 2)
