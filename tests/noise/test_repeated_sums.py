"""Sums of copies of one noise: certified margins against brute force in rationals, and against geometric sums."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.noise import Combination, DiscreteStaircase, Geometric, IntegerDistribution, RepeatedSum

_DISTRIBUTIONS = st.builds(
    lambda alpha, wide, step: DiscreteStaircase(alpha=alpha, sensitivity=wide, step=min(step, wide)),
    st.fractions("1/20", "2/3", max_denominator=20),
    st.integers(1, 6),
    st.integers(1, 6),
)
_MISSES = st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)])


def _sums(distribution, count, reach):
    """The sum of copies that are cut off at ``reach``: by an exact power of a polynomial, and its middle."""
    masses = [distribution.pmf(k) for k in range(reach + 1)]
    masses = [fmpq(p.numerator, p.denominator) for p in [*masses[:0:-1], *masses]]
    found = (fmpq_poly(masses) ** count).coeffs()
    assert len(found) == 2 * count * reach + 1
    return found, count * reach


def _brute(distribution, count, miss):
    """The least r with P(|S| <= r) >= 1 - miss, where all mass beyond 60 periods is counted as lying far outside."""
    distribution_of_sum, middle = _sums(distribution, count, 12 * distribution.sensitivity + 30)
    kept, margin, least = distribution_of_sum[middle], 0, fmpq(1) - fmpq(miss.numerator, miss.denominator)
    while kept < least:
        margin += 1
        kept += 2 * distribution_of_sum[middle + margin]
    return margin


@settings(max_examples=12)
@given(_DISTRIBUTIONS, st.integers(1, 2), st.sampled_from([Fraction(1, 2), Fraction(1, 20)]))
def test_the_margin_is_that_of_the_exact_distribution(distribution, count, miss):
    """With no bins the margin is the least there is; brute force that drops far tails can only be larger."""
    assert RepeatedSum(distribution, count).margin_for_miss(miss) <= _brute(distribution, count, miss)


@settings(max_examples=5)
@given(_DISTRIBUTIONS, st.integers(2, 3), _MISSES)
def test_the_margin_is_never_too_small(distribution, count, miss):
    """One less than the margin is exceeded with more than the chance, by the distribution with its whole tails."""
    margin = RepeatedSum(distribution, count).margin_for_miss(miss)
    if margin == 0:
        return
    masses, middle = _sums(distribution, count, 4 * margin + 12 * distribution.sensitivity)
    lost, least = 1 - sum(masses, fmpq()), 1 - fmpq(miss.numerator, miss.denominator)
    kept = sum(masses[middle - margin : middle + margin + 1], fmpq())
    assert kept + lost + fmpq(1, 10**6) >= least
    smaller = sum(masses[middle - margin + 1 : middle + margin], fmpq())
    assert smaller < least


@given(st.sampled_from(["1/10", "1/2", "1", "3"]), st.integers(2, 400), _MISSES)
def test_sums_of_geometric_noise_have_the_margin_of_the_other_route(epsilon, count, miss):
    """The Fourier series of `Combination` and the product of polynomials, to a hundredth where there are bins."""
    other = Combination([1], epsilon, counts=[count]).margin_for_miss(miss)
    found = RepeatedSum(Geometric(epsilon), count).margin_for_miss(miss)
    assert other <= found <= 1.03 * other + 1


@pytest.mark.parametrize(
    ("distribution", "count"),
    [
        (DiscreteStaircase("1/1000", 5), 2),
        (DiscreteStaircase(1, 2**40), 12),
        (DiscreteStaircase("1e-6", 7), 40),
    ],
)
def test_wide_noise_has_a_bar_near_that_of_its_deviation(distribution, count):
    """Between what Chebyshev forbids to be smaller and what Chernoff gives; a few per cent from the normal one."""
    found = RepeatedSum(distribution, count).margin("0.95")
    normal = 1.96 * (count * float(distribution.variance())) ** 0.5
    assert 0.97 * normal < found < 1.1 * normal
    assert found <= RepeatedSum(distribution, count)._by_chernoff(Fraction(1, 20))


def test_corners():
    """One copy is exact; noise that is hardly there; chances that no bin says; very many copies; no copies."""
    distribution = DiscreteStaircase(1, 5)
    assert RepeatedSum(distribution, 1).margin("0.95") == distribution.margin("0.95")
    assert RepeatedSum(DiscreteStaircase(50, 5), 300).margin("0.95") == 0
    rare = RepeatedSum(distribution, 12).margin_for_miss(Fraction(1, 10**40))
    assert (
        RepeatedSum(distribution, 12).margin("0.999999")
        < rare
        <= 12 * distribution.margin(1 - Fraction(1, 12 * 10**40))
    )
    many = RepeatedSum(distribution, 10**6).margin("0.95")
    assert 1.9 < many / (10**6 * float(distribution.variance())) ** 0.5 < 2.8
    for wrong in (0, -1):
        with pytest.raises(OutOfRange):
            RepeatedSum(distribution, wrong)
    with pytest.raises(OutOfRange):
        RepeatedSum(distribution, 2).margin(1)


@dataclass(frozen=True)
class Heavy(IntegerDistribution):
    """P(X >= i) = 2/3 / (i + 1): no variance, and a ratio of at most 3 between neighbours."""

    sensitivity: int = 1

    @property
    def levels(self):
        return (level(alpha="1/3"),)

    @property
    def level(self):
        return level(alpha="1/3")

    def mass(self, arithmetic, i):
        return arithmetic(self.level).power(0 * i) * 2 / 3 / ((i + 1) * (i + 2))

    def tail(self, arithmetic, i):
        return arithmetic(self.level).power(0 * i) * 2 / 3 / (i + 1)


@pytest.mark.parametrize("count", [2, 10, 20_000])
def test_noise_without_a_variance_has_the_margin_of_all_copies_at_once(count):
    """P(|S| > n r) <= n P(|X| > r)."""
    found, one = RepeatedSum(Heavy(), count).margin("0.9"), Heavy().margin(1 - Fraction(1, 10 * count))
    assert found == count * one
    assert Fraction(4, 3) / (one + 2) <= Fraction(1, 10 * count) < Fraction(4, 3) / (one + 1)
