"""The dual check against brute force over every extreme column, and its float bounds against exact values."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from design.random_consumers import any_consumer, loose_consumer, random_type
from utmost import losses

# Duals are drawn at random, not found: a certificate has feasible ones alone.
from utmost.design.optima.checker_on_counts import (
    exact_slacks,
    float_slacks,
    integer_rows,
    remap_loss,
)
from utmost.design.optima.closed_form import float_design
from utmost.errors import Unsupported
from utmost.exact import level
from utmost.spaces import Consumer


def extreme_columns(n, alpha):
    """Every private column with v_0 = 1 in which each step is by alpha or 1/alpha."""
    for steps in product((alpha, 1 / alpha), repeat=n):
        column = [Fraction(1)]
        for step in steps:
            column.append(column[-1] * step)
        yield column


def test_the_slack_of_an_action_is_the_least_over_all_extreme_columns():
    """f_0 = min over extreme columns v of sum_x (p_x l(x, r) - mu_x) v_x, for any mu."""
    rng = random.Random(2)
    for _ in range(60):
        n = rng.randint(0, 6)
        consumer, ptype = any_consumer(rng, n), random_type(rng, n)
        dual = np.array([Fraction(rng.randint(-5, 9), 20) for _ in range(n + 1)] + [None], dtype=object)[:-1]
        alpha = ptype.level.alpha_fraction()
        rows = integer_rows(consumer)
        slacks = exact_slacks(ptype.level, rows, dual)
        scale = rows.denominator  # only signs are promised: compare with the sign of the least
        assert scale > 0
        for r in range(consumer.actions):
            weights = [p * l - mu for p, l, mu in zip(consumer.prior, consumer.loss[:, r], dual, strict=True)]
            least = min(
                sum(w * v for w, v in zip(weights, column, strict=True)) for column in extreme_columns(n, alpha)
            )
            assert (slacks[r] > 0, slacks[r] < 0) == (least > 0, least < 0)


def test_float_slacks_are_below_the_exact_ones():
    """The float recursion certifies: wherever it says at least 0, the exact slack of the same floats is at least 0."""
    rng, certified = random.Random(4), 0
    for _ in range(80):
        n = rng.randint(0, 12)
        exact, ptype = loose_consumer(rng, n), random_type(rng, n)
        consumer = exact.to_floats()
        design = float_design(ptype.level, consumer)
        dual = design.dual - rng.choice([0, 2.0**-52, 2.0**-44]) * design.error
        floats = float_slacks(ptype.level, consumer, dual)
        rationals = np.array([*map(Fraction, dual.tolist()), None], dtype=object)[:-1]
        exactly = exact_slacks(ptype.level, integer_rows(consumer), rationals)
        assert all(not f >= 0 or e >= 0 for f, e in zip(floats, exactly, strict=True))
        certified += int((floats >= 0).all())
    assert certified > 20


def test_an_alpha_below_the_floats_is_refused_by_name():
    consumer = Consumer([0.5, 0.5], losses.binary)
    with pytest.raises(Unsupported, match="rational alpha"):
        remap_loss(level(epsilon=1000), consumer, np.array([0, 1]), exactly=False)
