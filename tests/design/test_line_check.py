"""The dual check against brute force over every extreme column, and its float bounds against exact values."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from design.random_consumers import any_consumer, loose_consumer, random_type, unimodal_consumer
from utmost import losses, priors
from utmost.channels import geometric_channel

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.design.optima.checker_on_counts import (
    dual_bound,
    exact_slacks,
    float_rows,
    float_slacks,
    integer_rows,
    remap_loss,
)
from utmost.design.optima.closed_form import exact_design, float_design
from utmost.errors import PromiseBroken, Unsupported
from utmost.exact import level
from utmost.optima import expected_loss
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


def test_the_sum_of_the_dual_is_the_loss_and_both_checkers_agree():
    """Strong duality for unimodal losses; remap_loss, expected_loss of the matrix, and the sum of mu are one number."""
    rng = random.Random(6)
    for _ in range(60):
        n = rng.randint(0, 8)
        consumer, ptype = unimodal_consumer(rng, n), random_type(rng, n)
        design = exact_design(ptype.level, consumer)
        bound = dual_bound(ptype.level, consumer, design.dual, exactly=True)
        assert bound == remap_loss(ptype.level, consumer, design.actions, exactly=True)
        assert bound == expected_loss(geometric_channel(n + 1, ptype.level), consumer)
        above = remap_loss(ptype.level, consumer.to_floats(), design.actions, exactly=False)
        assert 0 <= Fraction(above) - bound <= Fraction(1, 10**12) * bound + Fraction(1, 10**290)


def test_a_dual_that_claims_more_is_refused():
    consumer = Consumer(priors.uniform(4), losses.absolute)
    at = level(alpha="1/2")
    design = exact_design(at, consumer)
    for x in range(4):
        dual = design.dual.copy()
        dual[x] += Fraction(1, 10**9)
        with pytest.raises(PromiseBroken, match="feasible for action"):
            dual_bound(at, consumer, dual, exactly=True)
    with pytest.raises(PromiseBroken):
        dual_bound(at, consumer, np.full(4, 1e300), exactly=False)
    with pytest.raises(PromiseBroken):
        dual_bound(at, consumer, np.full(4, np.nan), exactly=False)


def test_rows_and_columns_are_those_of_the_matrix():
    """Sliced kernels, tables and rules evaluated row by row give p_i l(i, r)."""
    rng = random.Random(8)
    kinds = [losses.absolute, losses.power(3), losses.asymmetric(2, "1/2"), losses.capped(2), lambda i, r: i * r]
    for loss in [*kinds, [[0, 1, "1/3"], [2, 0, 1], [4, 1, 0], [5, 5, 5]]]:
        actions = None if isinstance(loss, list) else rng.randint(1, 7)
        consumer = Consumer(priors.from_counts([1, 2, 0, 4]), loss, actions)
        whole = consumer.prior[:, None] * consumer.loss
        rows, floats = integer_rows(consumer), float_rows(consumer.to_floats())
        for i in range(4):
            assert [Fraction(int(x), rows.denominator) for x in rows.row(i)] == whole[i].tolist()
            assert np.allclose(floats.row(i), whole[i].astype(float), rtol=1e-15)
        for r in range(consumer.actions):
            assert [Fraction(int(x), rows.denominator) for x in rows.column(r)] == whole[:, r].tolist()
            assert np.allclose(floats.column(r), whole[:, r].astype(float), rtol=1e-15)


def test_an_alpha_below_the_floats_is_refused_by_name():
    consumer = Consumer([0.5, 0.5], losses.binary)
    with pytest.raises(Unsupported, match="rational alpha"):
        remap_loss(level(epsilon=1000), consumer, np.array([0, 1]), exactly=False)
