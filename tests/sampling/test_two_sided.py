"""X = K xor -S is two-sided geometric."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import LEVEL, Written, chi_square, kolmogorov_smirnov

# Draws are proved word by word: which bits become which value shows in no public answer.
from utmost.core.sampling.geometric_draws import (
    CONSTANT,
    TABLE,
    MarkedGeometricSampler,
    TwoSidedGeometricSampler,
    signs,
)
from utmost.exact import Interval, level
from utmost.noise import Geometric
from utmost.testing import SeededRandomness


@given(st.fractions(Fraction(1, 99), Fraction(98, 99), max_denominator=99), st.integers(-40, 40))
def test_the_identity_holds_exactly(a, x):
    """P(K = k) P(S = s) = (1-a)/(1+a) a^|x| at x = k xor -s, each x from one pair (k, s) only."""
    s = int(x < 0)
    k = x ^ -s
    assert k >= 0
    turned = a / (1 + a)
    assert (1 - a) * a**k * (turned if s else 1 - turned) == Geometric(alpha=a).pmf(x)
    plain, turned_interval = (sign(64) for sign in signs(lambda bits: Interval.of(a, bits)))
    assert plain.contains(1 - turned)
    assert turned_interval.contains(turned)


EPSILONS = ["1e-15", "1e-6", "0.03", "1", "4", "50"]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("plan", [CONSTANT, TABLE], ids=["constant", "table"])
def test_arrays_fit_the_law(epsilon, plan):
    draws = TwoSidedGeometricSampler(level(epsilon).alpha_interval, plan).draw(60_000, SeededRandomness(epsilon))
    law = Geometric(epsilon=epsilon)
    assert chi_square(draws.astype(np.int64), law.cdf) > LEVEL
    assert kolmogorov_smirnov(draws.astype(np.int64), law.cdf) > LEVEL


@pytest.mark.parametrize("alpha", ["1/2", "1/3", "99/100"])
def test_rational_ratios_fit_the_law(alpha):
    law = Geometric(alpha=alpha)
    for plan in (CONSTANT, TABLE):
        draws = TwoSidedGeometricSampler(law.ratio.alpha_interval, plan).draw(60_000, SeededRandomness(alpha))
        assert chi_square(draws.astype(np.int64), law.cdf) > LEVEL


def test_both_ends_of_the_words_are_ordinary_draws():
    """All zeros draw 0; nothing loops, whatever the ratio."""
    for epsilon in EPSILONS:
        many = TwoSidedGeometricSampler(level(epsilon).alpha_interval, CONSTANT)
        assert many.draw(4, Written()).tolist() == [0] * 4


def test_a_double_zero_is_found(monkeypatch):
    """Planted: the sign put before the variable, which doubles the mass of zero, fails where the true draw passes."""
    law = Geometric(epsilon=1)

    def p_value(draw):
        return chi_square(draw(100_000, SeededRandomness(9)).astype(np.int64), law.cdf)

    many = TwoSidedGeometricSampler(law.ratio.alpha_interval, TABLE)
    assert p_value(many.draw) > LEVEL
    marked = MarkedGeometricSampler(
        law.ratio.alpha_interval, [lambda bits: Interval.of(Fraction(1, 2), bits)] * 2, TABLE
    )

    def doubled(count, randomness):
        k, sign = marked.draw(count, randomness)
        return np.where(sign, -k, k)

    assert p_value(doubled) < LEVEL
