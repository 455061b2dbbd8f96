"""Error bars of ratios: Fieller's set, held whole by an interval."""

import math
from fractions import Fraction

import numpy as np
import pytest

# Guesses are made wrong on purpose: they may cost time, and never a bar.
from utmost.core.noise import ratio_bars
from utmost.errors import OutOfRange, WrongKind
from utmost.noise import fieller

X = np.arange(-45, 46)
MASS = np.outer(*[np.tanh(0.5) * np.exp(-np.abs(X))] * 2)


def missed(rho, u, v):
    """P(|(1 - rho) G - rho H| >= |u - rho v|) for a part G of a whole G + H at epsilon 1, by listing both."""
    noise = np.abs((1 - rho) * X[:, None] - rho * X)
    return float(MASS[noise >= abs(u - rho * v) * (1 - 1e-12)].sum())


@pytest.mark.parametrize(
    ("u", "v", "lower", "upper"),
    [pytest.param(512, 825, 0.6182, 0.6231, marks=pytest.mark.slow), (17, 25, 0.5993, 0.7735)],
)
def test_the_rates_of_the_design_note(u, v, lower, upper):
    """512 of 825 admitted, and 17 of 25, each of two cells with noise at epsilon 1."""
    bar = fieller(u, v, [1, 0], [1, 1], 1)
    assert bar.determined
    assert lower - 1e-4 <= bar.lower <= lower + 1e-3
    assert upper - 1e-3 <= bar.upper <= upper + 1e-4
    assert bar.estimate == pytest.approx(u / v)


@pytest.mark.parametrize(("u", "v"), [pytest.param(17, 25, marks=pytest.mark.slow), (0, 30), (5, -9)])
def test_what_lies_outside_is_excluded_and_what_lies_well_inside_is_not(u, v):
    """Ratios outside have P(|noise| >= |U - rho V|) <= 5 %, near the ends and far away; a narrower bar would not."""
    bar = fieller(u, v, [1, 0], [1, 1], 1)
    width = bar.upper - bar.lower
    for step in (1e-9, 1e-3, 0.01, 0.05, 0.2, 1, 10, 1e3, 1e6):
        assert missed(bar.lower - step * width, u, v) <= 0.05 + 1e-9
        assert missed(bar.upper + step * width, u, v) <= 0.05 + 1e-9
    assert missed(bar.lower + 0.03 * width, u, v) > 0.05
    assert missed(bar.upper - 0.03 * width, u, v) > 0.05


def test_a_denominator_that_may_be_nought_determines_nothing():
    """3 of 5: the error bar of 5 at 97.5 % reaches 0."""
    bar = fieller(3, 5, [1, 0], [1, 1], 1)
    assert not bar.determined
    assert str(bar) == "not determined"
    assert (bar.lower, bar.upper) == (-math.inf, math.inf)
    assert fieller(3, 0, [1, 0], [1, 1], 1).estimate is None
    assert not fieller(0, 1, [1, 0], [1, 1], 1).determined


@pytest.mark.parametrize("many", [4, 20])
def test_ends_that_were_guessed_are_near_those_that_each_point_proves(monkeypatch, many):
    """The mean of 20 numbers: to the last bit; of 4 no more than a hundredth of the bar farther out. Wrong guesses cost
    time alone, and no guess ever narrows a bar."""
    u, v, top, bottom = [Fraction(k, 3) for k in range(many)], [1] * many, 30110, 10000
    guess = ratio_bars._Noises.guess
    guessed = fieller(top, bottom, u, v, "1/20", counts=2)
    bars = []
    for wrong, factor in ((0.0, 1), (1.0, 1), (None, 1e-3), (None, 2)):

        def other(noises, ratio, margin, miss, wrong=wrong, factor=factor):
            return guess(noises, ratio, margin * factor, miss) if wrong is None else wrong

        monkeypatch.setattr(ratio_bars._Noises, "guess", other)
        bars.append(fieller(top, bottom, u, v, "1/20", counts=2))
    proven, hundredth = bars[0], (bars[0].upper - bars[0].lower) / 100
    assert set(bars) == {proven}
    if many == 20:
        assert guessed == proven
    assert 0 <= proven.lower - guessed.lower <= hundredth
    assert 0 <= guessed.upper - proven.upper <= hundredth


@pytest.mark.slow
def test_bars_grow_with_the_confidence():
    low, high = (fieller(40, 60, [1, 0], [1, 1], 1, confidence=c) for c in ("0.8", "0.99"))
    assert high.lower < low.lower < low.upper < high.upper


@pytest.mark.slow
def test_bars_scale_with_the_sums():
    low = fieller(40, 60, [1, 0], [1, 1], 1, confidence="0.8")
    mean = fieller(4000, 60, [100, 0], [1, 1], 1, confidence="0.8")
    assert mean.lower / 100 == pytest.approx(low.lower, rel=0.2)


def test_ratios_without_noise_are_themselves():
    exact = fieller(50, 60, [0], [0], 1)
    assert exact.lower <= 50 / 60 <= exact.upper
    assert exact.upper - exact.lower < 1e-12
    top = fieller(50, 60, [1], [0], 1)
    assert (top.lower, top.upper) == (pytest.approx(47 / 60, abs=1e-5), pytest.approx(53 / 60, abs=1e-5))


@pytest.mark.slow
def test_a_ratio_with_hardly_any_noise_is_itself():
    hardly = fieller(50, 60, [1, 0], [1, 1], 50)
    assert hardly.upper - hardly.lower < 1e-12


@pytest.mark.slow
def test_coverage_over_all_noises():
    """True sums 8 of 22 at epsilon 2: over all noises but a thousandth, 95 % of the bars hold the ratio."""
    mass = np.tanh(1) * np.exp(-2 * np.abs(X))
    kept = 0.0
    for g in range(-4, 5):
        for h in range(-4, 5):
            bar = fieller(8 + g, 22 + g + h, [1, 0], [1, 1], 2)
            kept += mass[45 + g] * mass[45 + h] * (bar.lower <= Fraction(8, 22) <= bar.upper)
    assert kept >= 0.95 - 1e-3


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(OutOfRange, match="one coefficient"):
        fieller(1, 2, [1], [1, 1], 1)
    with pytest.raises(WrongKind):
        fieller(1, 2, 1, 1, 1)


@pytest.mark.parametrize(("u", "v"), [(1, 9), (-30, 9), (0, 9), (40, 10), (500, 11)])
def test_every_end_is_proved_where_the_denominator_is_near_0(u, v):
    """The set is then far wider than the first guess of its width."""
    found = ratio_bars.FiellerSet.of(u, v, [1, 0], [1, 1], 1, 1, "0.95")
    for side in (-1, 1):
        end = found.end(side)
        assert found.is_beyond(end)
        assert not found.is_beyond(found.estimate + (end - found.estimate) * Fraction(9, 10))


def test_the_ratio_of_two_margins_holds_all_quotients():
    """Of 8 +- 1 and -4 +- 1: from 9 / -3 to 7 / -5; a denominator that may be 0 determines nothing."""
    bar = ratio_bars.ratio_of_margins(Fraction(8), Fraction(1), Fraction(-4), Fraction(1), Fraction(9, 10))
    assert (bar.estimate, bar.lower, bar.upper, bar.confidence) == (-2, -3, -1.4, Fraction(9, 10))
    for bottom in (Fraction(1), Fraction(-1), Fraction(0)):
        assert not ratio_bars.ratio_of_margins(Fraction(8), Fraction(1), bottom, Fraction(1), bar.confidence).determined
