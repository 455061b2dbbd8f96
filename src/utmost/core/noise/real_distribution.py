"""The base class of noise on the reals: methods that follow from a density, a tail and its inverse."""

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import plain_array
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import Interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, precision, read_confidence
from utmost.core.noise.costs import Cost, Moment
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.evaluation import finite_numbers, read_probability, refined
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.errors import OutOfRange


class RealDistribution(Distribution):
    """A distribution on the reals with a density symmetric about 0. Floats err by a few units in the last place."""

    __slots__ = ()

    sensitivity: Fraction

    @property
    def numbers(self) -> Literal["integers", "reals"]:
        return "reals"

    @property
    def lipschitz_level(self) -> Level | None:
        """None, since a density with jumps is not Lipschitz private at any level."""
        return None

    @abstractmethod
    def on_steps(self, steps: int) -> IntegerDistribution:
        """The integer noise of sensitivity ``steps`` that replaces this noise on a grid; an integer n stands for n grid
        steps.
        """

    def pdf(self, x: Any) -> Any:
        """The density at x, right-continuous in |x|."""
        return _answered(x, lambda points: self._density(abs(points)))

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density, finite also if the density underflows."""
        return _answered(x, lambda points: self._log_density(abs(points)))

    def cdf(self, x: Any) -> Any:
        """P(X <= x)."""
        return _answered(x, lambda points: self._above(-points))

    def ccdf(self, x: Any) -> Any:
        """P(X > x), accurate in the far tail where 1 - cdf(x) would be 0."""
        return _answered(x, self._above)

    def icdf(self, p: Any) -> Any:
        """The x with cdf(x) = p: minus infinity at p = 0, infinity at p = 1. Pass a p close to 1 as a Fraction or as
        text.
        """
        return -self._upper_quantile(p)

    def iccdf(self, q: Any) -> Any:
        """The x with ccdf(x) = q, the quantile of the upper tail, for q as small as 1e-300."""
        return self._upper_quantile(q)

    def expected_cost(self, cost: Cost) -> float:
        """E L(X), in closed form for moments of integer order. This method raises the same exceptions as
        `IntegerDistribution.expected_cost`.
        """
        if isinstance(cost, Moment) and cost.is_integer:
            return refined(lambda bits: self.moment_interval(int(cost.order), bits))
        return self._integrated_cost(cost)

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> float:
        """The least float t with P(|X| <= t) >= confidence, certified."""
        value = read_confidence(confidence)
        t = self._near_margin(value)
        while not self._covers(t, value):  # the first guess may be too small or too large
            t = math.nextafter(t, math.inf)
        while self._covers(below := math.nextafter(t, 0.0), value):
            t = below
        return t

    def cdf_interval(self, x: Number, bits: int = 128) -> Interval:
        """An interval around P(X <= x), a few units of ``2**-bits`` wide; x is read exactly."""
        point, bits = exact(x, "x"), precision(bits)
        tail = self._tail_interval(abs(point), bits + 64)
        return (tail if point < 0 else 1 - tail).at(bits)

    @abstractmethod
    def moment_interval(self, order: int, bits: int = 128) -> Interval:
        """An interval around E|X|^order, for an integer order >= 1."""

    @abstractmethod
    def _density(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _log_density(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _inverse_tail(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The x >= 0 with P(X > x) = q, for 0 < q <= 1/2."""

    @abstractmethod
    def _tail_interval(self, x: Fraction, bits: int) -> Interval:
        """An interval around P(X > x) for x >= 0."""

    @abstractmethod
    def _near_margin(self, confidence: Fraction) -> float:
        """Return the margin in floats, with an error of a few units in the last place."""

    @abstractmethod
    def _integrated_cost(self, cost: Cost) -> float: ...

    def _above(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        tail = self._tail(abs(x))
        return np.where(x >= 0, tail, 1.0 - tail)

    def _upper_quantile(self, q: Any) -> Any:
        if isinstance(q, int | Fraction | str) or (
            plain_array(q, "list of probabilities").ndim == 0 and not isinstance(q, np.ndarray | float)
        ):
            value = read_probability(q)
            side = nearest(min(value, 1 - value))
            x = float(self._quantile_at(np.array(side)))
            return x if 2 * value <= 1 else -x
        probabilities, scalar = finite_numbers(q)
        if not ((probabilities >= 0) & (probabilities <= 1)).all():
            raise OutOfRange("probabilities must lie between 0 and 1", came=q)
        values = self._quantile_at(np.minimum(probabilities, 1 - probabilities))
        values = np.where(probabilities <= 0.5, values, -values)
        return float(values) if scalar else values

    def _quantile_at(self, side: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(side > 0, self._inverse_tail(np.where(side > 0, side, 0.5)), np.inf)

    def _covers(self, t: float, confidence: Fraction) -> bool:
        """Whether P(|X| <= t) >= confidence is certain."""
        missed = (1 - confidence) / 2
        bits = 128 + missed.denominator.bit_length()
        return self._tail_interval(Fraction(t), bits).upper <= missed


def _answered(x: Any, formula: Any) -> Any:
    """Evaluate ``formula`` at the points x; return a float for a single number."""
    points, scalar = finite_numbers(x)
    values = formula(points.astype(np.float64))
    return float(values) if scalar else values
