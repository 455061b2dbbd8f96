"""The statement: exact where possible, otherwise rounded to the safe side, and plain data throughout."""

import json
import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost import CellNoise, Promise, Unit
from utmost.exact import level
from utmost.version import __version__


@given(st.fractions("1/1000", 50, max_denominator=1000))
def test_a_stated_level_encloses_the_true_one(epsilon):
    """epsilon is exact as text and rounded up as a float; alpha lies between the two floats."""
    facts = ut.release({"n": [1]}, Promise("n", unit=Unit(1, 1)), epsilon=epsilon, once=True).statement
    low, high = facts["alpha"]
    assert Fraction(facts["epsilon"]) == epsilon
    assert epsilon <= Fraction(facts["epsilon_rounded_up"]) <= epsilon * (1 + Fraction(1, 2**52))
    around = level(epsilon=epsilon).alpha_interval(300)
    assert Fraction(low) <= around.lower
    assert around.upper <= Fraction(high)
    assert high <= math.nextafter(math.nextafter(low, 1), 1)


def test_a_rational_alpha_is_stated_as_a_fraction():
    promise = Promise("n", unit=Unit(1, 1))
    assert ut.release({"n": [1]}, promise, epsilon=level(alpha="1/4"), once=True).statement["alpha"] == "1/4"
    third = ut.release({"n": [1]}, promise, epsilon=level(alpha="1/2").scaled("1/3"), once=True).statement
    assert third["epsilon"] == "-1/3 log(1/2)"
    assert third["epsilon_rounded_up"] >= math.log(2) / 3


@pytest.mark.parametrize("epsilon", ["1e-6", "1/3", 1, 7, 50, 700, 1000])
def test_the_factor_is_rounded_up(epsilon):
    said = Promise("n", unit=Unit(1, 1)).guarantee(epsilon)
    factor = Fraction(re.search(r"at most (\S+) \(epsilon", said).group(1))
    around = level(epsilon=epsilon).alpha_interval(4000)
    assert factor >= 1 / around.upper
    assert factor * around.upper <= Fraction(102, 100)


@pytest.mark.parametrize(
    "noise", [CellNoise(Unit(3, 2)), CellNoise(Unit(3, 2), "reals"), CellNoise(Unit(3, 2, "change-one"))], ids=str
)
@pytest.mark.parametrize("relaxable", [False, True])
def test_a_statement_is_plain_data(noise, relaxable):
    promise = Promise("n", public="id", noise=noise).once(relaxable=relaxable)
    made = ut.release({"n": [3, 4], "id": ["a", "b"]}, promise, epsilon=1, once=True)
    said = made.statement
    promise = said["promise"]
    assert json.loads(json.dumps(said)) == said
    assert (said["utmost"], said["rows"], promise["columns"], promise["public"]) == (__version__, 2, ["n"], ["id"])
    assert (promise["noise"]["cells"], said["noise"]["epsilon_parts"]) == (2, made.unit.epsilon_parts)
    assert Fraction(said["noise"]["per_cell"]["epsilon"]) * said["noise"]["epsilon_parts"] == 1


def test_a_level_given_as_alpha_is_named_with_the_decimal_above_its_epsilon():
    said = Promise("n", unit=Unit(1, 1)).guarantee(level(alpha="1/3"))
    assert "at most 3 (epsilon" in said
    assert "(epsilon = -log(1/3), below 1.099)" in said
    part = Promise("n", unit=Unit(1, 1)).guarantee(level(alpha="1/2").scaled("1/3"))
    assert "at most 1.26 (epsilon" in part
    assert "(epsilon = -1/3 log(1/2), below 0.2311)" in part


def test_the_promise_names_the_relation_it_is_about():
    added, replaced = (Promise("n", unit=Unit(1, 2, name)).guarantee(1) for name in ("add-remove", "change-one"))
    assert "Adding or removing any one individual" in added
    assert "Replacing any one individual's record" in replaced
