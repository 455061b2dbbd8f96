"""Estimates of a release by a plan: each is a number with its margin, rounded for printing.

An estimate is an exact rational function of the noisy sums. The number of decimals of an estimate depends on the
distribution of its error, never on its value, and the printed margin includes the rounding error.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.display import Display
from utmost.core.noise.combination import Combination
from utmost.core.privacy.amount import Amount
from utmost.core.sampling.integers import narrowed

_FINE = 100  # a printed step is at most a hundredth of the standard deviation
_MOST_DECIMALS = 12  # an estimate is printed with at most 12 decimals


@dataclass(frozen=True, slots=True)
class Printing:
    """How estimates are printed: the number of decimals, and the unit."""

    decimals: int
    whole: bool  # Whether the estimates are always multiples of 1 or 1/2, so that rounding changes nothing
    amount: Amount | None = None  # Estimates are in steps of this amount, and printed in its unit; None for counts

    @classmethod
    def of(cls, noises: Iterable[Combination], amount: Amount | None = None) -> "Printing":
        listed = list(noises)
        steps = math.lcm(*(size.denominator for noise in listed for size in noise.coefficients))
        if steps <= 2:  # the estimates are multiples of 1 or 1/2
            return cls(steps - 1, True, amount)
        least = min(float(noise.variance) for noise in listed)
        if least <= 0:
            return cls(_MOST_DECIMALS, False, amount)
        decimals = min(_MOST_DECIMALS, max(0, math.ceil(math.log10(_FINE) - math.log10(least) / 2)))
        return cls(decimals, False, amount)

    def estimate(self, exactly: Fraction) -> int | float:
        """Round a rational number for printing: an int without decimals, else a float; halves are rounded up."""
        steps = math.floor(exactly * 10**self.decimals + Fraction(1, 2))
        return self._shown(steps)

    def estimates(self, sums: NDArray[Any], divisor: int) -> NDArray[Any]:
        """Return the printed estimates ``sums / divisor``, for an array of integers."""
        scale, amount = 10**self.decimals, self.amount
        if divisor == 1 and self.whole and sums.dtype != object:
            return sums if amount is None else amount.numbers(sums)
        steps = (sums.astype(object) * (2 * scale) + divisor) // (2 * divisor)
        if self.decimals == 0:
            return narrowed(steps) if amount is None else amount.numbers(narrowed(steps))
        decimals: NDArray[Any] = steps * (1 if amount is None else amount.step) / scale
        return decimals.astype(np.float64)

    def margin(self, exactly: int | float) -> int | float:
        """Round a margin up for printing, and add the rounding error of the estimate."""
        if self.whole:
            return exactly if self.amount is None else self.amount.margin(exactly)
        return self._shown(math.ceil(Fraction(exactly) * 10**self.decimals + Fraction(1, 2)))

    def _shown(self, steps: int) -> int | float:
        """Convert a number of units of the last decimal to the unit of the amount."""
        if self.decimals == 0:
            return steps if self.amount is None else self.amount.number(steps)
        return float(Fraction(steps, 10**self.decimals) * (1 if self.amount is None else self.amount.step))


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Display):
    """An estimated sum with its margin of error.

    Attributes:
        value: Estimate as it is printed.
        margin: The true sum is at most this far from ``value``, with probability ``confidence`` or more.
        variance: Variance of the estimate; the estimate is unbiased.
        confidence: Confidence of the margin.
        exact: Estimate before it was rounded for printing.
    """

    value: int | float
    margin: int | float
    variance: float
    confidence: Fraction
    exact: Fraction = field(repr=False)

    @property
    def interval(self) -> tuple[int | float, int | float]:
        """The interval from ``value - margin`` to ``value + margin``."""
        return self.value - self.margin, self.value + self.margin

    def __str__(self) -> str:
        return f"{self.value} +- {self.margin}"


def estimate_of(exactly: Fraction, noise: Combination, confidence: Fraction, amount: Amount | None = None) -> Estimate:
    """Make the estimate with this distribution of its error; amounts in steps are converted to their own unit."""
    printing, step = Printing.of([noise], amount), Fraction(1) if amount is None else amount.step
    margin = printing.margin(noise.margin(confidence))
    return Estimate(
        printing.estimate(exactly), margin, float(noise.variance) * float(step**2), confidence, exactly * step
    )
