"""Losslessness on the reals: the theorem on staircases, its witnesses, the exceptional pairs, and Laplace noise."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

# Both routes to a verdict are forced: which of them decides is a matter of speed.
from utmost.core.gradual import lossless_reals
from utmost.errors import OutOfRange, Unsupported
from utmost.gradual import (
    DiscontinuousDensity,
    IrrationalSteps,
    LaplaceTightening,
    LargerCharacteristic,
    NegativeMass,
    SmallerVariance,
    UnmatchedZero,
    losslessness,
)
from utmost.noise import Geometric, Laplace, Staircase, costs

LEVELS = ("1/10", "1/4", "1/2", "1", "3/2", "2", "3", "5", "8")


def characteristic(distribution, t):
    """E cos(t V) by adding up the jumps of the density: -(f(x-) - f(x+)) sin(t x)/t at each edge of a step."""
    D, gamma, b = float(distribution.sensitivity), distribution.gamma, float(distribution.level.alpha)
    edges = (np.arange(2000) + gamma) * D
    height = 1 / (2 * D * (gamma + b * (1 - gamma)) / (1 - b))
    return 2 * np.sum(height * b ** np.arange(2000) * (1 - b) * np.sin(t * edges)) / t


def cell_masses(distribution, cell, count):
    """P(V in [j cell, (j+1) cell)) for -count <= j < count, from the distribution's own distribution function."""
    edges = np.arange(-count, count + 1) * cell
    return np.diff(distribution.cdf(edges))


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cost", [costs.absolute, costs.squared])
def test_optimal_staircases_at_rational_levels_are_never_lossless(cost, every):
    """9 pairs, all 36 in the long proof: a certified zero of V_2's characteristic function, where V_1's is none."""
    pairs = list(combinations(LEVELS, 2))[:: 1 if every else 4]
    verdicts = [losslessness(Staircase(e1, cost=cost), Staircase(e2, cost=cost)) for e1, e2 in pairs]
    assert all(isinstance(verdict.obstacle, UnmatchedZero) for verdict in verdicts)
    for (e1, e2), verdict in zip(pairs, verdicts, strict=True):
        after, before = float(verdict.obstacle.after), float(verdict.obstacle.before)
        one, two = Staircase(e1, cost=cost), Staircase(e2, cost=cost)
        assert characteristic(two, after) * characteristic(two, before) < 0
        assert abs(characteristic(one, after)) > 1e3 * abs(characteristic(two, after))


def test_the_first_unmatched_zero_of_levels_1_and_2():
    """As computed apart: 11.989974."""
    zero = losslessness(Staircase(1), Staircase(2)).obstacle
    assert float(zero.after) == pytest.approx(11.989974, abs=1e-6)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Staircase(1), Staircase(2, gamma="1/3")),
        (Staircase(1, gamma="1/3"), Staircase(2)),
        (Staircase(1), Staircase(2, cost=costs.squared)),
        (Staircase(1, cost=costs.moment(3)), Staircase(2, cost=costs.moment(5))),
        (Staircase(alpha="1/2"), Staircase(alpha="1/4")),
        (Staircase(1, gamma="1/2"), Staircase(1)),
        (Staircase(2), Staircase(1)),
        (Staircase("1/1000000"), Staircase("1/1000")),
        (Staircase(20), Staircase(50)),
        (Staircase(1, 10**6), Staircase(2, 10**6)),
        (Staircase(1, "1/1000000000"), Staircase(2, "1/1000000000")),
        (Staircase(1, 2), Staircase(2, 3)),
    ],
)
def test_one_irrational_step_is_enough(first, second):
    """Optimal or given, in either order, at any level and sensitivity."""
    verdict = losslessness(first, second)
    assert not verdict
    assert isinstance(verdict.obstacle, UnmatchedZero)
    assert 0 < verdict.obstacle.after < verdict.obstacle.before


def test_the_theorem_is_named_where_no_zero_is_looked_for(monkeypatch):
    """The verdict does not hang on the search: irrational steps are enough, for two distributions of one period."""
    monkeypatch.setattr(lossless_reals, "_NEAR", 0)
    monkeypatch.setattr(lossless_reals, "_FAR", 0)
    assert losslessness(Staircase(1), Staircase(2)).obstacle == IrrationalSteps()
    assert losslessness(Staircase(1, gamma="1/2"), Staircase(2, cost=costs.squared)).obstacle == IrrationalSteps()
    with pytest.raises(Unsupported):
        losslessness(Staircase(1), Staircase(2, 3))
    with pytest.raises(Unsupported):
        losslessness(Staircase(alpha="1/2", cost=costs.moment(3)), Staircase(alpha="1/3", gamma="1/2"))


@pytest.mark.parametrize(
    ("lower", "higher", "first"),
    [
        ("1/3", "1/6", {"1/6": 0.2904879, "1/2": 0.0478973, "5/6": 0.0493123, "0": 0}),
        ("1/3", "1/9", None),
        ("1/4", "1/8", None),
        ("1/4", "1/12", None),
        ("2/5", "1/5", None),
    ],
)
def test_exceptional_pairs_are_lossless(lower, higher, first):
    """Optimal for |x|, at levels 2 ln(1/gamma - 1): ln 4 and ln 25, say."""
    distributions = [Staircase(alpha=(g / (1 - g)) ** 2) for g in map(Fraction, (lower, higher))]
    assert [distribution.exact_gamma for distribution in distributions] == [Fraction(lower), Fraction(higher)]
    verdict = losslessness(*distributions)
    assert verdict
    for x, mass in (first or {}).items():
        assert float(verdict.difference.pmf(x)) == pytest.approx(mass, abs=1e-7)
    _check_against_fft(*distributions, verdict)
    assert not losslessness(*distributions[::-1])


def test_no_float_decides_that_a_zero_is_not_shared(monkeypatch):
    """Every zero offered for a pair that shares them all is refused by the intervals."""
    monkeypatch.setattr(lossless_reals, "_CLEAR", -1)
    monkeypatch.setattr(lossless_reals, "_TINY", -1)
    assert losslessness(Staircase(alpha="1/4"), Staircase(alpha="1/25"))


def _check_against_fft(lower, higher, verdict):
    """W is the quotient of two Fourier transforms of cell masses, and convolution gives back V_lower."""
    cell = verdict.difference.unit
    one, two = (cell_masses(distribution, float(cell), 1500) for distribution in (lower, higher))
    W = np.array([float(verdict.difference.pmf(k * cell)) for k in range(-900, 901)])
    assert W.min() >= 0
    assert W.sum() == pytest.approx(1, abs=1e-6)
    assert np.convolve(two, W, "same")[1200:1800] == pytest.approx(one[1200:1800], abs=1e-9)


@given(st.data())
def test_the_verdict_on_a_common_grid_agrees_with_plain_deconvolution(data):
    """Rational gammas: where floats can tell, they say the same, whatever the parity of numerators."""
    gammas = st.fractions(Fraction(1, 12), 1, max_denominator=12)
    a1, a2 = (Fraction(n, 20) for n in data.draw(st.tuples(st.integers(1, 12), st.integers(1, 12))))
    assume(a1 != a2)
    lower, higher = (Staircase(alpha=a, gamma=data.draw(gammas)) for a in (a1, a2))
    one, two = _transforms(lower, higher)
    verdict = losslessness(lower, higher)
    if isinstance(verdict.obstacle, UnmatchedZero):
        t = float(verdict.obstacle.after)
        assert abs(characteristic(lower, t)) > abs(characteristic(higher, t))
    elif isinstance(verdict.obstacle, LargerCharacteristic):
        with np.errstate(divide="ignore", invalid="ignore"):  # a transform may be 0 where the other is not
            assert np.nanmax(np.abs(one) / np.abs(two)) > 1
    elif verdict:
        _check_against_fft(lower, higher, verdict)
    else:
        _check_negative_mass(one, two, verdict)


def _transforms(lower, higher, size=1 << 14):
    """The discrete Fourier transforms of two distributions on their common grid."""
    cell = Fraction(1, math.lcm(lower.exact_gamma.denominator, higher.exact_gamma.denominator))
    return [np.fft.fft(cell_masses(distribution, float(cell), size // 2)) for distribution in (lower, higher)]


def _check_negative_mass(one, two, verdict):
    """The mass that is named is that of the quotient of two transforms, in which a common zero is passed over."""
    passed = np.flatnonzero(np.abs(two) < 1e-7)
    quotient = one / np.where(np.abs(two) < 1e-7, 1, two)
    quotient[passed] = (quotient[passed - 1] + quotient[(passed + 1) % quotient.size]) / 2
    W = np.fft.ifft(quotient).real
    assert isinstance(verdict.obstacle, NegativeMass)
    assert verdict.obstacle.mass < 0
    assert verdict.obstacle.mass == pytest.approx(W[verdict.obstacle.at % W.size], abs=1e-6)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        (("3/5", 1), ("3/10", "1/3")),
        (("3/5", "2/5"), ("1/5", "1/10")),
        (("1/4", 1), ("3/20", "1/8")),
        (("1/2", 1), ("7/20", "1/6")),
    ],
    ids=str,
)
def test_a_negative_mass_is_that_of_plain_deconvolution(lower, higher):
    """Of the staircases drawn above one in forty has this obstacle, and forty are drawn: these have it."""
    lower, higher = (Staircase(alpha=alpha, gamma=gamma) for alpha, gamma in (lower, higher))
    _check_negative_mass(*_transforms(lower, higher), losslessness(lower, higher))


def test_half_steps_and_equal_distributions_are_lossless():
    """gamma = 1/2: W is D times the difference of two geometric draws; and each distribution is itself plus nothing."""
    verdict = losslessness(Staircase.half_step(1, 3), Staircase.half_step(2, 3))
    W = losslessness(Geometric(1), Geometric(2)).difference
    assert [verdict.difference.pmf(3 * k) for k in range(5)] == pytest.approx([W.pmf(k) for k in range(5)])
    assert verdict.difference.pmf("3/2") == 0
    for distribution in (Staircase(1), Staircase(1, cost=costs.squared), Staircase(1, gamma="1/7"), Laplace(1)):
        assert losslessness(distribution, distribution).difference.pmf(0) == 1
    assert losslessness(Staircase(1, gamma=0), Staircase(1, gamma=1)).difference.pmf(0) == 1


def test_the_unit_scales_with_the_sensitivity():
    """W of a sensitivity D is D times that of 1."""
    one, many = (
        losslessness(Staircase(alpha="1/4", sensitivity=D), Staircase(alpha="1/25", sensitivity=D)) for D in (1, 7)
    )
    assert [one.difference.pmf(Fraction(k, 6)) for k in range(9)] == [
        many.difference.pmf(Fraction(7 * k, 6)) for k in range(9)
    ]


def test_laplace_noise_is_lossless_to_laplace_noise_and_to_no_other():
    """W is an atom and Laplace noise; a smaller variance, a jump and a zero are in the way else."""
    assert losslessness(Laplace(1, 2), Laplace(1)).difference == LaplaceTightening(Laplace(1, 2).rate, Laplace(1).rate)
    assert losslessness(Laplace(2), Laplace(1)).obstacle == SmallerVariance()
    for gamma, e1, e2 in product(("1/3", "1/2", None, 1), ("1/2", 1), (1, 3)):
        assert losslessness(Staircase(e1, gamma=gamma), Laplace(e2)).obstacle == DiscontinuousDensity()
        zero = losslessness(Laplace(e1), Staircase(e2, gamma=gamma)).obstacle
        assert isinstance(zero, UnmatchedZero)
    for e2 in (20, 50, 80, 100):  # zeros beyond the floats
        zero = losslessness(Laplace(1), Staircase(e2)).obstacle
        assert zero.after * Staircase(e2).gamma_interval(256).middle == pytest.approx(math.pi, abs=1e-6)
    assert isinstance(losslessness(Laplace(1), Staircase(2, gamma=0)).obstacle, UnmatchedZero)


def test_the_optimal_gamma_for_squares_is_irrational_at_every_level():
    """At a rational alpha = b it would need b(1+b)/2 = c^3, that is (2b+1)^2 = (2c)^3 + 1, which has no such b."""
    for q in range(2, 60):
        for p in range(1, q):
            if math.gcd(p, q) == 1:
                top, bottom = p * (p + q), 2 * q * q
                g = math.gcd(top, bottom)
                is_cube = all(round((n // g) ** (1 / 3)) ** 3 == n // g for n in (top, bottom))
                assert not is_cube
    assert Staircase(alpha="1/4", cost=costs.squared).is_gamma_irrational
    assert not Staircase(alpha="1/4", cost=costs.moment(3)).is_gamma_irrational
    assert Staircase(1, cost=costs.moment(3)).is_gamma_irrational


def test_the_optimal_gamma_for_the_absolute_error_is_rational_where_alpha_is_a_square():
    """gamma = s/(1+s) with s = alpha^(1/2)."""
    assert Staircase(alpha="4/9").exact_gamma == Fraction(2, 5)
    assert Staircase(alpha="1/2").exact_gamma is None
    assert Staircase(alpha="1/2").is_gamma_irrational


@pytest.mark.parametrize("cost", [costs.absolute, costs.squared, costs.moment(3), costs.moment(6)])
@pytest.mark.parametrize("epsilon", ["1/1000000", "1/10", "1", "7", "50"])
def test_the_interval_around_gamma_is_narrow_and_around_the_float(cost, epsilon):
    """Closed forms and brackets to 128 bits."""
    distribution = Staircase(epsilon, cost=cost)
    around = distribution.gamma_interval(128)
    assert around.width < Fraction(1, 1 << 120)
    assert abs(around.middle - Fraction(distribution.gamma)) <= 2 * Fraction(math.ulp(distribution.gamma))


def test_what_cannot_be_decided_is_refused_by_name():
    """A distribution on the integers beside one on the reals; gammas of 16 digits whose zeros nearly agree."""
    with pytest.raises(OutOfRange, match="reals"):
        losslessness(Staircase(1), Geometric(2))
    with pytest.raises(Unsupported, match="common grid"):
        losslessness(Staircase(1, gamma=0.3333333333333333), Staircase(2, gamma=0.1666666666666666))
