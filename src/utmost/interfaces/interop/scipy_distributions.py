"""Convert distributions of noise to SciPy distributions, for tests of fit, expectations and plots."""

from functools import cache
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.noise.distribution import Distribution
from utmost.core.sampling.draw import sample
from utmost.errors import PromiseBroken
from utmost.interfaces.interop.packages import package


def scipy_distribution(distribution: Distribution) -> Any:
    """Return a distribution of SciPy: an ``rv_discrete`` on the integers, an ``rv_continuous`` on the reals.

    The distribution computes all numbers, in float64. ``rvs`` draws from the operating system's randomness and takes no
    ``random_state``; its draws are for simulations, not for releases.

    Raises:
        Unsupported: if SciPy is not installed.

    >>> from utmost.noise import Geometric
    >>> distribution = scipy_distribution(Geometric(1))
    >>> float(distribution.std()) == Geometric(1).std()
    True
    """
    return _types()[instance(distribution, Distribution, "distribution").numbers == "reals"](distribution)


class _OfDistribution:
    """Methods of SciPy's discrete and continuous distributions, computed by a `Distribution`."""

    distribution: Any  # a `Distribution`, on the integers with `pmf` or on the reals with `pdf`

    def _pmf(self, k: Any) -> Any:
        return self.distribution.pmf(np.asarray(k, dtype=np.float64))

    def _logpmf(self, k: Any) -> Any:
        return self.distribution.logpmf(np.asarray(k, dtype=np.float64))

    def _pdf(self, x: Any) -> Any:
        return self.distribution.pdf(np.asarray(x, dtype=np.float64))

    def _logpdf(self, x: Any) -> Any:
        return self.distribution.logpdf(np.asarray(x, dtype=np.float64))

    def _cdf(self, x: Any) -> Any:
        return _floats(self.distribution.cdf, x)

    def _sf(self, x: Any) -> Any:
        return _floats(self.distribution.ccdf, x)

    def _ppf(self, p: Any) -> Any:
        return np.asarray(self.distribution.icdf(np.asarray(p, dtype=np.float64)), dtype=np.float64)

    def _isf(self, q: Any) -> Any:
        return np.asarray(self.distribution.isf(np.asarray(q, dtype=np.float64)), dtype=np.float64)

    def _stats(self) -> tuple[float, float, float, float]:
        variance = float(self.distribution.variance())
        # A variance too small for float64 has a kurtosis, about 1 / variance, that is too large.
        kurtosis = float(self.distribution.moment(4)) / variance / variance - 3 if variance else np.inf
        return 0.0, variance, 0.0, kurtosis

    def _entropy(self) -> float:
        return float(self.distribution.entropy())

    def _updated_ctor_param(self) -> dict[str, Any]:
        return {"distribution": self.distribution}

    def rvs(self, *, size: Any = None, random_state: Any = None) -> Any:
        """Draw for simulations by `utmost.sample`; refuse a seed, because repeatable noise can be removed."""
        if random_state is not None:
            remedy = "Leave out random_state=; in tests call utmost.testing.seeded_draw."
            raise PromiseBroken(
                "noise must be drawn from randomness that nobody can predict", came="a random_state", remedy=remedy
            )
        return sample(self.distribution, () if size is None else size)


def _floats(function: Any, x: Any) -> Any:
    """Apply a cdf or ccdf to floats; for infinities, which SciPy also passes, return the limits."""
    points = np.asarray(x, dtype=np.float64)
    inside = np.isfinite(points)
    values = np.where(points > 0, *((1.0, 0.0) if function.__name__ == "cdf" else (0.0, 1.0)))
    values[inside] = function(points[inside])
    return values


@cache
def _types() -> tuple[type, type]:
    stats = package("scipy.stats")

    # SciPy is imported on first use, so that type checkers do not know its classes.
    class DiscreteDistribution(_OfDistribution, stats.rv_discrete):  # type: ignore[misc, name-defined]
        def __init__(self, distribution: Distribution) -> None:
            self.distribution = distribution
            super().__init__(a=-np.inf, b=np.inf, name=type(distribution).__name__)

    class ContinuousDistribution(_OfDistribution, stats.rv_continuous):  # type: ignore[misc, name-defined]
        def __init__(self, distribution: Distribution) -> None:
            self.distribution = distribution
            super().__init__(name=type(distribution).__name__)

    return DiscreteDistribution, ContinuousDistribution
