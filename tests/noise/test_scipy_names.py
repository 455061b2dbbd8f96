"""Distributions by SciPy's names: the same numbers as sums, integrals and SciPy's own; draws that are no release."""

from fractions import Fraction
from math import log, log1p

import numpy as np
import pytest
from scipy import stats

import utmost as ut
from every_noise import EXAMPLES
from utmost.errors import OutOfRange, PromiseBroken

ON_INTEGERS = [
    *(distribution for distribution in EXAMPLES if distribution.numbers == "integers"),
    ut.noise.Geometric(alpha="1/3", sensitivity=4),
    ut.noise.Geometric(50),
]
ON_REALS = [
    *(distribution for distribution in EXAMPLES if distribution.numbers == "reals"),
    ut.noise.Laplace("1/3", 7),
    ut.noise.Staircase(8, 1, gamma="1/2"),
]
EVERY = ON_INTEGERS + ON_REALS


@pytest.mark.parametrize("distribution", EVERY, ids=repr)
def test_names_of_scipy_are_our_own_by_another_name(distribution):
    points = np.array([-3.0, 0.0, 2.0])
    assert (distribution.sf(points) == distribution.ccdf(points)).all()
    assert distribution.ppf("1/10") == distribution.icdf("1/10")
    assert distribution.isf(0.25) == distribution.iccdf(0.25)
    assert distribution.median() == distribution.icdf("1/2")
    assert distribution.std() == pytest.approx(float(distribution.variance()) ** 0.5)
    assert distribution.margin() == distribution.margin("0.95")


@pytest.mark.parametrize("distribution", EVERY, ids=repr)
def test_an_interval_is_between_quantiles_of_equal_tails(distribution):
    """P(low <= X <= high) >= confidence, and low = -high by symmetry."""
    low, high = distribution.interval("0.9")
    assert low == pytest.approx(-high)
    assert distribution.cdf(float(high)) - distribution.sf(float(low)) <= 1
    assert float(distribution.ccdf(float(high))) <= 0.05 + 1e-12
    with pytest.raises(OutOfRange):
        distribution.interval(1)


@pytest.mark.parametrize("distribution", ON_INTEGERS, ids=repr)
def test_entropy_on_integers_is_the_sum(distribution):
    far = int(distribution.margin("0.99999999999999999"))
    xs = np.arange(-far, far + 1).astype(float)
    assert distribution.entropy() == pytest.approx(
        float(-(distribution.pmf(xs) * distribution.logpmf(xs)).sum()), rel=1e-9
    )


@pytest.mark.parametrize("distribution", ON_REALS, ids=repr)
def test_entropy_on_reals_is_the_integral(distribution):
    """The integral of -f log f over each step of the density, and SciPy's own for the Laplace distribution."""
    far = distribution.margin("0.999999999999999")
    xs = np.linspace(0, far, 400_001)
    middle = (xs[1:] + xs[:-1]) / 2
    density = distribution.pdf(middle)
    found = -2 * float((density * np.log(density)).sum()) * (xs[1] - xs[0])
    assert distribution.entropy() == pytest.approx(found, rel=2e-4, abs=2e-4)
    if isinstance(distribution, ut.noise.Laplace):
        assert distribution.entropy() == pytest.approx(
            float(stats.laplace(scale=distribution.sensitivity / distribution.level.epsilon_float).entropy())
        )


@pytest.mark.parametrize("epsilon", ["1/1000000", 1, 50])
def test_entropy_of_the_geometric_distribution_is_scipys(epsilon):
    """SciPy's dlaplace has no closed form; -log tanh(a/2) + a/sinh(a) is one (Inusah and Kozubowski)."""
    a = float(Fraction(epsilon))
    assert ut.noise.Geometric(epsilon).entropy() == pytest.approx(
        -log(-np.expm1(-a)) + log1p(np.exp(-a)) + a / np.sinh(a), rel=1e-9
    )


@pytest.mark.parametrize("distribution", EVERY, ids=repr)
def test_scipys_distribution_has_the_distributions_numbers(distribution):
    """Methods that SciPy derives agree with the distribution's: mean, variance, probabilities, quantiles, entropy."""
    of_scipy = ut.interop.scipy_distribution(distribution)
    xs = np.array([-4.0, -1.0, 0.0, 0.5, 3.0])
    assert np.allclose(of_scipy.cdf(xs), distribution.cdf(xs), rtol=1e-14)
    assert np.allclose(of_scipy.sf(xs), distribution.sf(xs), rtol=1e-14)
    if distribution in ON_REALS:
        assert np.allclose(of_scipy.pdf(xs), distribution.pdf(xs))
        assert np.allclose(of_scipy.logpdf(xs), distribution.logpdf(xs))
    else:
        assert np.allclose(of_scipy.pmf(xs), distribution.pmf(xs))
    assert np.allclose(of_scipy.ppf([0.01, 0.4, 0.99]), distribution.icdf(np.array([0.01, 0.4, 0.99])))
    assert of_scipy.std() == pytest.approx(distribution.std())
    assert of_scipy.entropy() == pytest.approx(distribution.entropy())
    assert of_scipy.cdf(np.inf) == 1
    assert of_scipy.interval(0.9) == pytest.approx(distribution.interval("0.9"))
    assert of_scipy.rvs(size=4).shape == (4,)
    with pytest.raises(PromiseBroken):
        of_scipy.rvs(size=4, random_state=1)


def test_draws_fit_the_distribution():
    """A test of fit of SciPy takes the of_scipy as it takes its own."""
    distribution = ut.noise.Laplace(1)
    assert stats.kstest(ut.sample(distribution, 4000), ut.interop.scipy_distribution(distribution).cdf).pvalue > 1e-9


@pytest.mark.parametrize("epsilon", [50, 400, 800, 10_000])
def test_moments_where_floats_end_are_their_limits(epsilon):
    """For epsilon large, Y is 0 or 1 in size: the kurtosis is 1 / variance - 3 or so, and infinite where that is 0."""
    for distribution in (ut.noise.Geometric(epsilon), ut.noise.DiscreteStaircase(epsilon, 2)):
        _, variance, _, kurtosis = ut.interop.scipy_distribution(distribution).stats(moments="mvsk")
        assert variance == distribution.variance()
        assert kurtosis == (pytest.approx(float(distribution.moment(4)) / variance / variance) if variance else np.inf)
