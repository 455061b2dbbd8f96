"""The noise as a jump process: its Levy measure gives the distributions, its paths give the transitions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange
from utmost.exact import Interval, level
from utmost.gradual import (
    Jump,
    Path,
    Relaxing,
    Tightening,
    expected_jumps,
    expected_jumps_of_size,
    forward_intensities,
    jump_count_pmf,
    jump_intensity,
    jump_pmf,
    no_jump_probability,
)
from utmost.noise import Geometric

alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
pairs = st.lists(alphas, min_size=2, max_size=2, unique=True).map(
    lambda drawn: [level(alpha=a) for a in sorted(drawn, reverse=True)]
)


def compound_poisson(rates, reach):
    """P(sum_k k N_k = n) for independent Poisson N_k of these rates, up to the factor P(0): Panjer's recursion."""
    mass = [Fraction(1)]
    for n in range(1, reach):
        mass.append(sum(k * rates(k) * mass[n - k] for k in range(1, n + 1)) / n)
    return mass


@given(alphas)
def test_jumps_from_infinity_down_add_up_to_geometric_noise(a):
    """Jumps of size k at mean rate a^k/k add up to Geom(a); both signs give the two-sided distribution."""
    up = compound_poisson(lambda k: expected_jumps_of_size(k, level(alpha=a)), 8)
    assert up == [a**n for n in range(8)]
    distribution = Geometric(alpha=a)
    for n in range(3):
        assert distribution.pmf(n) * (1 - a * a) == (1 - a) ** 2 * up[n], "the sum over m of Geom(n + m) Geom(m)"


@given(pairs)
def test_jumps_between_two_levels_add_up_to_the_tightening(pair):
    """The cumulants of W are the moments of the jump measure: sum 2 j^2 (a^j - b^j)/j = Var W."""
    lower, higher = pair
    sizes = range(1, 900)
    jumps = [2 * float(expected_jumps_of_size(j, lower, higher)) for j in sizes]
    total = sum(j * j * many for j, many in zip(sizes, jumps, strict=True))
    assert total == pytest.approx(float(Tightening(lower, higher).variance), rel=1e-9)
    assert expected_jumps(lower, higher) == pytest.approx(sum(jumps), rel=1e-9)


@given(pairs)
def test_the_number_of_jumps_is_poisson(pair):
    lower, higher = pair
    assert jump_count_pmf(0, lower, higher) == pytest.approx(float(no_jump_probability(lower, higher)))
    assert no_jump_probability(lower, higher) < Tightening(lower, higher).pmf(0), "a path may leave and come back"
    n = np.arange(100)
    pmf = jump_count_pmf(n, lower, higher)
    assert (pmf.sum(), (n * pmf).sum()) == pytest.approx((1, expected_jumps(lower, higher)))
    assert no_jump_probability(lower) == Geometric(alpha=lower.alpha).pmf(0) * (1 - lower.alpha**2)
    assert jump_count_pmf(-1, lower) == 0


@given(alphas, st.integers(1, 9))
def test_the_size_of_a_jump(a, j):
    """Intensity in epsilon times size distribution = alpha^{|j|-1} d alpha; the size distribution sums to one."""
    at = level(alpha=a)
    assert jump_intensity(at) * jump_pmf(j, at) == a ** (j - 1) * a, "d alpha = alpha d epsilon"
    assert jump_pmf(-j, at) == jump_pmf(j, at)
    assert 2 * sum(jump_pmf(i, at) for i in range(1, j + 1)) == 1 - a**j
    assert jump_pmf(0, at) == 0


@given(pairs, st.integers(-4, 4))
def test_thinning_the_cycles_of_a_random_permutation_relaxes_the_noise(pair, x):
    """Given V_start = x the jumps are the cycles of two uniform permutations; keep size k with chance (b/a)^k."""
    lower, higher = pair
    a, b = float(lower.alpha), float(higher.alpha)
    reach = math.ceil(-20 / math.log(a)) + abs(x)
    if reach > 150:
        return
    kept = np.zeros((reach + 1, reach + 1))  # kept[n, k] = P(cycles kept have k points of n), n points permuted
    kept[0, 0] = 1
    for n in range(1, reach + 1):
        for k in range(1, n + 1):
            stays = (b / a) ** k
            kept[n] += (1 - stays) / n * kept[n - k]
            kept[n, k:] += stays / n * kept[n - k, : reach + 1 - k]
    R = Relaxing(lower, higher)
    m = np.arange(reach + 1 - abs(x))
    weights = (1 - a * a) * a ** (2.0 * m)
    for y in range(-3, 4):
        total = 0.0
        for i, w in zip(m, weights, strict=True):
            up, down = kept[i + max(x, 0)], kept[i + max(-x, 0)]
            shifted = up[max(y, 0) :][: len(down) - max(-y, 0)] @ down[max(-y, 0) :][: len(up) - max(y, 0)]
            total += w * shifted
        assert total == pytest.approx(float(R.pmf(y, x)), rel=1e-6)


@pytest.mark.parametrize("x", [0, 1, -4])
def test_forward_intensities_are_the_relaxing_distribution_of_a_small_step(x):
    """(P(leave x for y) over a small step)/(step) tends to the forward intensities, by Richardson in rationals."""
    a = Fraction(1, 2)
    at, step = level(alpha=a), Fraction(1, 10**8)
    R = Relaxing(at, level(alpha=a * (1 - step)))  # d epsilon = step, to first order
    inward, across, outward = forward_intensities(x, at)
    m, s, near = abs(x), -1 if x < 0 else 1, pytest.approx
    for y in range(m):
        assert float(R.pmf(s * y, x) / step) == near(float(inward) / m, rel=1e-6)
    for i in range(4):
        distribution = (1 - a * a) * a ** (2 * i)
        assert float(R.pmf(-s * (1 + i), x) / step) == near(float(across * distribution), rel=1e-6)
        assert float(R.pmf(s * (m + 1 + i), x) / step) == near(float(outward * distribution), rel=1e-6)


def test_a_path_is_the_sum_of_the_jumps_above_a_level():
    """A jump of size j with clock u counts exactly where u < (alpha/a)^|j|."""
    half = Interval.of(Fraction(1, 2), 64)
    path = Path(level(alpha="1/2"), (Jump(2, half), Jump(-5, half)))
    assert path.at(level(alpha="1/2")) == -3
    at_first, at_second = level(epsilon=path.levels[0]), level(epsilon=path.levels[1])
    assert path.at(at_first.scaled("1.000001")) == 0
    assert path.at(at_first.scaled("0.999999")) == 2
    assert path.at(at_second.scaled("1.000001")) == 2
    assert path.at(at_second.scaled("0.999999")) == -3
    assert path.at(None) == 0
    assert Path(level(epsilon=1), ()).at(level(epsilon=1)) == 0


def test_a_path_with_huge_jumps():
    size = 10**15
    path = Path(level(epsilon="1e-15"), (Jump(size, Interval.of(Fraction(1, 3), 128)),))
    jump = level(epsilon=path.levels[0])
    assert path.levels[0] == pytest.approx(1e-15 * (1 + math.log(3)))
    assert path.at(jump.scaled("0.999999")) == size
    assert path.at(jump.scaled("1.000001")) == 0
    rational = Path(level(alpha=1 - Fraction(1, 10**15)), path.jumps)
    assert rational.at(level(alpha=1 - Fraction(3, 10**15))) == 0


def test_a_path_refuses_what_it_does_not_know():
    path = Path(level(alpha="1/2"), (Jump(1, Interval.of(Fraction(1, 2), 64)),))
    with pytest.raises(OutOfRange, match="start"):
        path.at(level(alpha="2/3"))
    with pytest.raises(OutOfRange, match="coincide"):
        Path(level(alpha="1/2"), (Jump(1, Interval(127, 129, 8)),)).at(level(alpha="1/4"))


def test_processes_refuse_reversed_levels():
    lower, higher = level(epsilon=1), level(epsilon=2)
    for function in (expected_jumps, no_jump_probability):
        with pytest.raises(OutOfRange, match="must be at most the"):
            function(higher, lower)
    with pytest.raises(OutOfRange, match="must be at most the"):
        expected_jumps_of_size(1, higher, lower)
    with pytest.raises(OutOfRange, match="other than 0"):
        expected_jumps_of_size(0, lower)


def test_small_levels_jump_like_laplace_noise():
    """2/(e^epsilon - 1) ~ 2/epsilon, and 2 ln(e_2/e_1) jumps between two levels."""
    lower, higher = level(epsilon="1e-9"), level(epsilon="3e-9")
    assert jump_intensity(lower) == pytest.approx(2e9, rel=1e-8)
    assert expected_jumps(lower, higher) == pytest.approx(2 * math.log(3), rel=1e-8)
