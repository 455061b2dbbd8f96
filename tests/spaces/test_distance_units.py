"""Distances with units are exact rationals, and a level for one distance is the level of a unit, exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import NotALevel, OutOfRange, UtmostError
from utmost.exact import Level, level
from utmost.spaces import distance_in, level_per

TOWNS = ut.spaces.places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32)})


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("200m", "m", 200),
        ("0.5 km", "m", 500),
        ("1/3 km", "m", Fraction(1000, 3)),
        ("1 mile", "m", Fraction(1_609_344, 1000)),
        ("90 Seconds", "min", Fraction(3, 2)),
        ("hour", "min", 60),
        ("2 cells", "cells", 2),
        (7, None, 7),
        ("1e3 m", "km", 1),
    ],
)
def test_a_distance_is_read_exactly(text, unit, value):
    assert distance_in(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("200 m", None),
        ("200 m", "min"),
        ("-1 m", "m"),
        ("0", "m"),
        ("", "m"),
        ("m 200", "m"),
        ("1//2", "m"),
        ("1/0 m", "m"),
    ],
)
def test_what_is_no_distance_of_this_unit_is_refused(text, unit):
    with pytest.raises(OutOfRange):
        distance_in(text, unit)


@given(st.fractions(min_value="1/1000", max_value=1000), st.fractions(min_value="1/1000", max_value=1000))
def test_epsilon_for_a_distance_is_divided_by_it(epsilon, distance):
    """The level e for distance d is the level e/d for distance 1, as rationals."""
    assert level_per(epsilon, per=distance) == Level.of_epsilon(epsilon / distance)


@given(st.integers(2, 50), st.integers(1, 5000))
def test_a_logarithm_gives_a_rational_alpha_at_its_distance(base, distance):
    """ln b at d units: alpha^d is exactly 1/b, although alpha of one unit is irrational."""
    at = level_per(f"ln{base} per {distance}m", unit="m")
    assert at.scaled(distance).is_rational
    assert at.scaled(distance).alpha_fraction() == Fraction(1, base)


def test_the_spellings_of_one_level_agree():
    types = [
        ut.PrivacyType(TOWNS, 1, per="200 m"),
        ut.PrivacyType(TOWNS, "1 per 200 m"),
        ut.PrivacyType(TOWNS, "5 per km"),
        ut.PrivacyType(TOWNS, 1, per=200),
        ut.PrivacyType(TOWNS, "1/200"),
        ut.PrivacyType(TOWNS, "1 per 0.2km"),
    ]
    assert len({ptype.level for ptype in types}) == 1
    assert ut.PrivacyType(TOWNS, alpha="1/2", per="50 km").level == level_per("ln 2 per 50 km", unit="m")
    assert level_per("1/2 * ln(9)") == level(alpha="1/3")


def test_a_space_of_plain_numbers_takes_plain_distances():
    assert ut.PrivacyType(ut.spaces.counts(3), 1, per=2).level == level("1/2")
    with pytest.raises(OutOfRange, match="no unit"):
        ut.PrivacyType(ut.spaces.counts(3), 1, per="2 m")


@pytest.mark.parametrize(
    "text",
    [
        "200m",
        "1 per",
        "per 200m",
        "ln1 per 200m",
        "-1 per 200m",
        "0 per 200m",
        "nan per 200m",
        "ln per 200m",
        "1 per 0m",
    ],
)
def test_what_is_no_level_at_a_distance_is_refused(text):
    with pytest.raises(UtmostError):
        level_per(text, unit="m")


def test_two_distances_are_one_too_many():
    with pytest.raises(NotALevel, match="one distance"):
        level_per("1 per 2 m", per=3, unit="m")
