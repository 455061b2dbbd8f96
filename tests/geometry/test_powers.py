"""alpha to the distances: the same number as a rational, a float, a residue and an interval."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Inner tables of a search are compared with enumeration and with other codes.
from utmost.design.geometry.kernel_search import kernels_by_double_description
from utmost.design.geometry.kernel_supports import scaled_differences
from utmost.design.geometry.log_domain import Distances, LogPowers
from utmost.exact import level
from utmost.geometry import count_kernels, kernels, vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, grid

exponents = st.tuples(st.integers(0, 9), st.integers(0, 9))
levels = st.sampled_from([level(alpha="1/2"), level(alpha="7/8"), level(epsilon=1), level(epsilon="1/1000")])


@given(levels, exponents)
@settings(max_examples=30)
def test_intervals_and_floats_are_right(at, exponent):
    """exp(-eps (a + b sqrt 2)): inside the interval, and at most one unit in the last place off."""
    powers = LogPowers(at, (1, 2))
    around = powers.interval(exponent, 300)
    assert around.width < Fraction(1, 2**290)
    middle = (around.lower + around.upper) / 2
    found = powers.number(exponent)
    assert abs(Fraction(found) - middle) <= Fraction(math.ulp(found))
    assert found == pytest.approx(math.exp(-at.epsilon_float * (exponent[0] + exponent[1] * math.sqrt(2))), rel=1e-12)


@given(st.sampled_from([2, 3, 4, 6]), st.integers(0, 2**40), st.sampled_from(["1/2", "2/3", "9/10", "5/7"]))
@settings(max_examples=30)
def test_residues_of_roots_know_their_powers(root, above, alpha):
    """The image of alpha^(1/k), to the k-th power, is that of alpha: relations between roots hold in the field."""
    powers = LogPowers(level(alpha=alpha).scaled(Fraction(1, root)), (1,))
    field = powers.field((1 << 30) + above)
    base = Fraction(alpha)
    expected = base.numerator * pow(base.denominator, -1, field.prime) % field.prime
    assert field.power((root,)) == expected
    assert field.power((3,)) * field.power((root - 1,)) % field.prime == field.power((root + 2,))


@given(levels, st.integers(1, 2**60))
def test_fields_have_prime_order(at, above):
    """Fermat: 2^(p-1) = 1, for p above what was asked and 3 modulo 4."""
    prime = LogPowers(at, (1, 2)).field(above).prime
    assert prime > above
    assert prime % 4 == 3
    assert pow(2, prime - 1, prime) == 1


@pytest.mark.parametrize("at", [{"alpha": "1/2"}, {"epsilon": "1e-9"}, {"epsilon": 40}])
def test_differences_keep_their_digits(at):
    """(v(x) - v(0)) / (1 - alpha) to a relative 1e-15, also where v(x) and v(0) agree in nine digits."""
    listed = vertices(PrivacyType(counts(3), **at))
    found = scaled_differences(listed)
    unit = listed.powers.interval((1,), 2000)
    for k, vertex in enumerate(listed.exponents):
        for x in range(1, 4):
            one, two = (listed.powers.interval((int(vertex[y, 0]),), 2000) for y in (x, 0))
            exact = (one - two) / (1 - unit)
            assert abs(Fraction(found[x, k]) - exact.lower) <= Fraction(2, 10**15) * abs(exact.upper) + exact.width


def test_half_distances_are_a_finer_unit():
    """A line with steps of 1/2 at alpha is the line with steps of 1 at sqrt(alpha); that is rational for 1/4."""
    halves = Space([[Fraction(abs(i - j), 2) for j in range(5)] for i in range(5)])
    assert count_kernels(PrivacyType(halves, alpha="1/4")) == 187
    irrational = PrivacyType(halves, alpha="1/2")
    assert not vertices(irrational).is_exact
    assert count_kernels(irrational) == len(kernels_by_double_description(vertices(irrational)))
    doubled = PrivacyType(Space(2 * counts(4).distances), alpha="1/2")
    assert np.array_equal(kernels(doubled).supports, kernels(PrivacyType(counts(4), alpha="1/4")).supports)


def test_the_unit_is_that_of_the_distances():
    """Powers.of counts in units of distance."""
    distances = Distances.of(Space([[0, 6], [6, 0]]))
    assert LogPowers.of(level(alpha="1/2"), distances).fraction((1,)) == Fraction(1, 64)
    assert LogPowers.of(level(alpha="1/2"), Distances.of(grid(2, 2))).roots == (1, 2)
