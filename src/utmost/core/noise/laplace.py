"""The Laplace distribution: noise on the reals with density proportional to exp(-epsilon |x| / sensitivity)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import Interval, log_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, natural, precision
from utmost.core.noise.costs import Cost, Moment
from utmost.core.noise.distribution import RELAXABLE, distribution_level, distribution_text, positive_number
from utmost.core.noise.folded import Folded
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.powers import FloatPowers, cleared_bits
from utmost.core.noise.quadrature import integral
from utmost.core.noise.real_distribution import RealDistribution
from utmost.core.noise.shift_curves import LaplaceCurve


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Laplace(RealDistribution):
    r"""f(x) = (rate/2) exp(-rate |x|) on the reals, with rate = epsilon / sensitivity.

    Args:
        epsilon, alpha: Privacy level, as epsilon or as alpha = exp(-epsilon).
        sensitivity: Largest change of the query by one individual, a positive number.

    Raises:
        NotALevel: unless exactly one of epsilon and alpha is passed.
        OutOfRange: if the sensitivity is not positive.

    Promise: epsilon-DP for real queries of that sensitivity, and for no smaller epsilon. The noise is also Lipschitz
        private, which is a stronger property.
    Source: [koufogiannis2015], Theorem 9. [geng2012] compares its cost with that of the staircase.

    >>> distribution = Laplace(epsilon=1, sensitivity=2.5)
    >>> distribution, distribution.pdf(0), distribution.variance()
    (Laplace(epsilon=1, sensitivity='5/2'), 0.2, 12.5)
    """

    level: Level
    sensitivity: Fraction

    def __init__(
        self, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> None:
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "Laplace"))
        object.__setattr__(self, "sensitivity", positive_number(sensitivity, "sensitivity", "Laplace"))

    @property
    def rate(self) -> Level:
        """The level per unit: its alpha is the quotient of the densities at x + 1 and x, for x >= 0."""
        return self.level.scaled(1 / self.sensitivity)

    @property
    def theorem(self) -> str:
        """A text: for which costs this noise is optimal, and by which theorem."""
        return (
            "not the least noise for epsilon-DP (a staircase is); least variance under the stronger Lipschitz privacy "
            f"[koufogiannis2015, Theorem 9]; {RELAXABLE}"
        )

    @property
    def lipschitz_level(self) -> Level:
        """The smallest level per unit at which the noise is Lipschitz private: the rate."""
        return self.rate

    def curve(self, distance: Fraction) -> LaplaceCurve:
        """The trade-off curve of the best tests between X and X + distance."""
        return LaplaceCurve(self.level, distance / self.sensitivity)

    def on_steps(self, steps: int) -> Geometric:
        """The geometric noise of sensitivity ``steps`` that replaces this noise on a grid; an integer n stands for n
        grid steps.
        """
        return Geometric(self.level, steps)

    def moment_interval(self, order: int, bits: int = 128) -> Interval:
        """An interval around E|X|^m = m! / rate^m, for m = ``order``."""
        order = natural(order, "order")
        bits = precision(bits)
        size = bits + 64 + (order + 1) * cleared_bits(self.rate)
        return (math.factorial(order) / self.rate.epsilon_interval(size) ** order).at(bits)

    def entropy(self) -> float:
        """1 + log(2 sensitivity / epsilon), in nats."""
        return 1 + math.log(2) + math.log(self.sensitivity) - math.log(self.level.epsilon_float)

    def __repr__(self) -> str:
        return distribution_text(self)

    def _density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        powers = FloatPowers(self.rate)
        return np.asarray(powers.power(x) * (powers.epsilon.high / 2))

    def _log_density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        powers = FloatPowers(self.rate)
        return np.asarray(powers.exponent(x) + np.log(powers.epsilon.high / 2))

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return FloatPowers(self.rate).power(x) / 2

    def _inverse_tail(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        log = np.where(q > 0.25, np.log1p(np.maximum(2 * q - 1, -0.5)), np.log(2 * q))
        return np.asarray(-log / self.rate.epsilon_float)

    def _tail_interval(self, x: Fraction, bits: int) -> Interval:
        return self.rate.scaled(x).alpha_interval(bits) / 2 if x else Interval.of(Fraction(1, 2), bits)

    def _near_margin(self, confidence: Fraction) -> float:
        return nearest(log_interval(1 / (1 - confidence), 128 + confidence.denominator.bit_length())) / (
            self.rate.epsilon_float
        )

    def _integrated_cost(self, cost: Cost) -> float:
        rate = self.rate.epsilon_float
        if isinstance(cost, Moment):
            return float(math.gamma(float(cost.order) + 1) / rate ** float(cost.order))
        folded = Folded.of(Level.of_epsilon(1), 1 / rate, cost, integers=False)

        def weighted(u: NDArray[Any]) -> NDArray[np.float64]:
            return np.asarray(np.exp(-u) * folded(u / rate))

        return float(integral(weighted, [(0.0, 1.0)]).value / -math.expm1(-1.0))
