"""Calls that privacy types and trade-off curves refuse, each by its class of error."""

from fractions import Fraction

import numpy as np
import pytest

from utmost.channels import Channel
from utmost.errors import NotAChannel, NotALevel, NotANumber, OutOfRange
from utmost.noise import Geometric
from utmost.privacy_types import PrivacyType, check_promise, smallest_epsilon, smallest_level, tradeoff
from utmost.spaces import counts

TYPE = PrivacyType(counts(2), epsilon=1)
NOISE = Geometric(epsilon=1)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: PrivacyType(counts(2)), NotALevel),
        (lambda: PrivacyType(3, epsilon=1), OutOfRange),
        (lambda: TYPE.contains(np.eye(2)), NotAChannel),
        (lambda: TYPE.contains(np.ones((3, 3))), NotAChannel),
        (lambda: TYPE.contains(np.full((3, 2), 0.5), tolerance=-1), OutOfRange),
        (lambda: smallest_epsilon(np.eye(2), counts(2)), NotAChannel),
        (lambda: smallest_level(NOISE, 0), OutOfRange),
        (lambda: smallest_level(NOISE, 0.5), NotANumber),
        (lambda: check_promise(NOISE, epsilon=0), NotALevel),
        (lambda: tradeoff([[1, 0], [0, 1]], 0.5, shift=1), OutOfRange),
        (lambda: tradeoff(Channel([[1, 0], [0, 1], [1, 0]]), 0.5), NotAChannel),
        (lambda: tradeoff([[1, 0], [0, "1/2"]], 0.5), NotAChannel),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("p", [-0.1, 1.5, [0.5, 2], Fraction(3, 2)])
def test_no_probability(p):
    with pytest.raises(OutOfRange):
        tradeoff(NOISE, p)


@pytest.mark.parametrize("p", [True, float("nan"), float("inf"), None, "half", [0.5, None]])
def test_no_number(p):
    with pytest.raises(NotANumber):
        tradeoff(NOISE, p)


@pytest.mark.parametrize("shift", [0.5, True, float("nan"), "1/2", None.__class__])
def test_no_integer_shift(shift):
    with pytest.raises(NotANumber):
        tradeoff(NOISE, 0.5, shift)
