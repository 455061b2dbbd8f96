"""Exact arithmetic with irrational powers of alpha, against 200 digits of mpmath; what is zero is said to be zero."""

import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost.design.geometry.power_numbers as room

# Fields of other roots than a space has, and with fewer bits than the package takes.
from utmost.design.geometry.log_domain import LogPowers
from utmost.design.geometry.power_numbers import images_decide
from utmost.errors import BadTable, NotANumber, OutOfRange, Undecided
from utmost.exact import level
from utmost.geometry import PowerField

LEVELS = [level(alpha="1/2"), level(epsilon=1), level(alpha="2/3").scaled("5/3"), level(epsilon="1/1000000"), level(50)]
DIGITS = 200


def field(at, roots=(1, 2)):
    return PowerField.of(LogPowers(at, roots))


def truth(at, exponent, roots=(1, 2)):
    """alpha^(sum c sqrt r), by mpmath."""
    base = mpmath.mpf(1) if at.base is None else mpmath.mpf(at.base.numerator) / at.base.denominator
    power = mpmath.mpf(at.power.numerator) / at.power.denominator
    epsilon = power if at.base is None else -power * mpmath.log(base)
    return mpmath.exp(-epsilon * sum(c * mpmath.sqrt(r) for c, r in zip(exponent, roots, strict=True)))


@given(st.sampled_from(LEVELS), st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=4, max_size=4))
def test_numbers_are_those_of_two_hundred_digits(at, exponents):
    """Sums, differences, products and quotients; signs; and what is stored is read back as the same number."""
    here = field(at)
    with mpmath.workdps(DIGITS):
        a, b, c, d = (here.power(e) for e in exponents)
        p, q, r, s = (truth(at, e) for e in exponents)
        found, true = (a * 3 - b + Fraction(1, 7)) / (c + d), (p * 3 - q + mpmath.mpf(1) / 7) / (r + s)
        assert abs(float(found) - true) <= abs(true) * mpmath.mpf(2) ** -50
        gap, known = a * d - b * c, p * s - q * r
        assert gap == 0 or np.sign(float(known)) == gap.sign
        assert (gap == 0) == (abs(known) < mpmath.mpf(10) ** -150)
        assert here.read(found.stored()) == found
        assert pickle.loads(pickle.dumps(found)) == found


def test_numbers_of_more_digits_than_python_prints_are_stored_and_read():
    here = field(LEVELS[0])
    long = here.power((1, 0)) * 7**6000 - here.power((0, 1))
    assert max(len(digits) for digits, *_ in long.stored()[0]) > 4300
    assert here.read(long.stored()) == long
    with pytest.raises(NotANumber):
        here.read([[["-", 0, 0]], [["1", 0, 0]]])


@pytest.mark.parametrize("at", LEVELS)
def test_formal_identities_are_equalities(at):
    """(a - b)(a + b) = a^2 - b^2 and its like, found by polynomials and not by digits."""
    a, b = field(at).power((1, 0)), field(at).power((0, 1))
    assert (a - b) * (a + b) == a * a - b * b
    assert hash(((a + b) * (a + b)) / (a + b)) == hash(a + b)
    assert not (a * b) / b - a
    with images_decide():
        assert (a * b) / b == a


def test_a_root_of_a_rational_is_algebraic():
    """alpha = (1/2)^(5/3): its cube is 1/32, and no more relations are."""
    a = field(level(alpha="1/2").scaled("5/3")).power((1, 0))
    assert a * a * a == Fraction(1, 32)
    assert a * a != Fraction(1, 32)
    assert field(level(alpha="1/2")).power((3, 0)) == Fraction(1, 8)


def test_a_difference_of_a_hundred_digits_has_a_sign():
    """2^-sqrt(2) against its first hundred digits: more bits are taken until they decide."""
    a = field(level(alpha="1/2")).power((0, 1))
    with mpmath.workdps(DIGITS):
        digits = int(truth(level(alpha="1/2"), (0, 1)) * mpmath.mpf(10) ** 100)
    assert a > Fraction(digits, 10**100)
    assert a < Fraction(digits + 1, 10**100)


def test_where_no_theorem_decides_the_precision_is_said(monkeypatch):
    """A rational alpha and two irrational roots: independence is unproved, so bits end with an error."""
    monkeypatch.setattr(room, "MOST_BITS", 256)
    roots, at = (2, 3), level(alpha="1/2")
    with mpmath.workdps(DIGITS):
        value = truth(at, (1, 1), roots)
        digits = Fraction(int(value * mpmath.mpf(10) ** 120), 10**120)
    number = field(at, roots).power((1, 1))
    with pytest.raises(Undecided, match="256 bits"):
        bool(number > digits)
    assert field(level(1), roots).is_proved
    assert not field(at, roots).is_proved
    assert field(at, (1, 2)).is_proved


def test_what_numbers_refuse():
    a = field(level(alpha="1/2")).power((0, 1))
    with pytest.raises(OutOfRange, match="divisor"):
        a / (a - a)
    with pytest.raises(OutOfRange, match="same PowerField"):
        a + field(level(alpha="1/3")).power((0, 1))
    with pytest.raises(TypeError):
        a + 0.5
    for stored in ("1", [[]], [[["1", 0, 0]], []], [[["1", 0]], [["1", 0, 0]]], [[["1", -1, 0]], [["1", 0, 0]]]):
        with pytest.raises(BadTable):
            a.field.read(stored)
