"""Priors: distributions, kinds of numbers and refusals."""

from fractions import Fraction
from math import comb, exp, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import priors
from utmost.errors import NotANumber, NotAPrior, OutOfRange
from utmost.exact import is_exact

chances = st.fractions(min_value=0, max_value=1, max_denominator=30)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any))
def test_from_counts_is_proportional_and_sums_to_one(weights):
    """p_x = w_x / sum w, exactly."""
    p = priors.from_counts(weights)
    assert p.tolist() == [Fraction(w, sum(weights)) for w in weights]
    assert p.sum() == 1
    assert priors.from_counts([float(w) for w in weights]).dtype == np.float64


@given(st.integers(0, 12), chances)
def test_binomial(trials, p):
    """C(n, k) p^k (1-p)^(n-k), exactly; the float prior agrees."""
    exact = priors.binomial(trials, p)
    assert exact.tolist() == [comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]
    assert priors.binomial(trials, float(p)).tolist() == pytest.approx([float(x) for x in exact], rel=1e-13, abs=0)


@given(st.fractions(min_value=0, max_value=20, max_denominator=9), st.integers(0, 12))
def test_truncated_poisson(rate, n):
    """rate^k / k!, normalised on {0, ..., n}: exactly rational, since exp(-rate) cancels."""
    weights = [rate**k / factorial(k) for k in range(n + 1)]
    assert priors.truncated_poisson(rate, n + 1).tolist() == [w / sum(weights) for w in weights]
    floats = priors.truncated_poisson(float(rate), n + 1)
    assert floats.dtype == np.float64
    assert floats.tolist() == pytest.approx([float(w / sum(weights)) for w in weights], rel=1e-13, abs=0)


def test_large_float_priors_neither_overflow_nor_vanish():
    """Ten thousand rows: built outward from the mode."""
    p = priors.binomial(10_000, 0.3)
    assert p.sum() == pytest.approx(1)
    assert int(p.argmax()) == 3000
    assert (p * np.arange(10_001)).sum() == pytest.approx(3000)
    q = priors.truncated_poisson(500.0, 10_001)
    assert q[500] == pytest.approx(exp(500 * np.log(500.0) - 500 - np.log(np.arange(1, 501)).sum()))


def test_uniform_is_exact():
    """1/n each."""
    assert priors.uniform(7).tolist() == [Fraction(1, 7)] * 7


def test_from_samples_counts_what_was_seen():
    """Frequencies, with a pseudocount where asked; samples may come as integral floats."""
    assert priors.from_samples([0, 2, 2.0], n=4)[2] == Fraction(2, 3)
    assert priors.from_samples([0, 2, 2], n=4).tolist() == [Fraction(1, 3), 0, Fraction(2, 3), 0]
    assert priors.from_samples([], n=2, pseudocount="1/2").tolist() == [Fraction(1, 2)] * 2
    assert priors.from_samples(np.array([1]), n=2, pseudocount=0.5).dtype == np.float64


@pytest.mark.parametrize("samples", [[3], [-1], [0.5], [None], [[0]], [True]])
def test_samples_must_be_secrets(samples):
    """What is outside 0..n-1, between them, or no number is refused."""
    with pytest.raises(NotAPrior):
        priors.from_samples(samples, n=3)


def test_no_samples_are_no_prior():
    """Nothing seen and no pseudocount leaves nothing to divide by."""
    with pytest.raises(NotAPrior, match="positive finite sum"):
        priors.from_samples([], n=3)


def test_a_prior_may_have_zeros_and_keeps_its_kind():
    """Zero mass is allowed; Fractions stay, floats stay, within the tolerance."""
    assert is_exact(priors.prior([1, 0]))
    assert priors.prior([0.5, 0.5, 0.0]).dtype == np.float64
    assert priors.prior([1 / 49] * 49).sum() != 1.0
    assert priors.prior([0.5, 0.5 + 5e-10]).size == 2
    with pytest.raises(NotAPrior, match="above"):
        priors.prior([0.5, 0.5 + 5e-9])
    assert priors.prior([0.3333, 0.3333, 0.3333], tolerance=1e-3).tolist() == [0.3333] * 3
    assert not priors.prior([1]).flags.writeable


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1/2", "1/3"], "the prior must sum to 1; got 5/6, which is 1/6 below"),
        ([0.5, 0.6], r"sum to 1 within 1e-09; got 1.1, which is 0.10\d* above"),
        (["3/2", "-1/2"], r"entry \[1\] of the prior must not be negative; got -1/2"),
        ([-0.0001, 1.0001], r"entry \[0\] of the prior must not be negative"),
        ([], "at least one entry"),
        ([[1]], "1 dimension"),
        ([1, None], r"entry \[1\] of the prior"),
        ([0.5, float("nan")], r"entry \[1\] of the prior"),
        (None, "prior"),
        (1, "1 dimension"),
    ],
)
def test_what_is_no_prior_is_refused(values, message):
    """Negative entries, and a sum that is off with by how much."""
    with pytest.raises(NotAPrior, match=message):
        priors.prior(values)


@pytest.mark.parametrize("weights", [[0, 0], [0.0], [1e308, 1e308], [], [-1, 2]])
def test_what_are_no_weights_is_refused(weights):
    """All zero, an infinite sum, none, and negative ones."""
    with pytest.raises(NotAPrior), np.errstate(over="ignore"):
        priors.from_counts(weights)


def test_parameters_are_checked():
    """Chances in [0, 1], rates >= 0, sizes natural, everything finite."""
    for p in (-0.1, "3/2"):
        with pytest.raises(OutOfRange, match="between 0 and 1"):
            priors.binomial(3, p)
    with pytest.raises(OutOfRange, match="not be negative"):
        priors.truncated_poisson(-1, 4)
    with pytest.raises(OutOfRange, match="at least 1"):
        priors.uniform(0)
    for bad in (None, True, float("nan"), [1]):
        with pytest.raises(NotANumber):
            priors.binomial(3, bad)
        with pytest.raises(NotANumber):
            priors.uniform(bad)
