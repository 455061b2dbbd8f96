"""Answers from a workload release: a number, its error bar, and with how many decimals both are printed.

An estimate is an exact rational of the noisy sums. How it is rounded for printing follows from the law of its error
alone, never from its value, and the margin that stands beside it has the rounding in it.
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

_FINE = 100  # a step of the printed number is at most this part of the standard deviation
_MOST_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Printing:
    """The number of decimals with which estimates are printed.

    Attributes:
        decimals: Number of decimals.
        whole: whether the estimates are integers, or halves, whatever the noise is, and rounding does nothing.
        amount: Amount in whose steps the estimates are, to be shown in its own unit; None for counts.
    """

    decimals: int
    whole: bool
    amount: Amount | None = None

    @classmethod
    def of(cls, noises: Iterable[Combination], amount: Amount | None = None) -> "Printing":
        """The decimals for sums with these errors.

        >>> Printing.of([Combination([1], 1)]), Printing.of([Combination(["1/3", "2/3"], 1)])
        (Printing(decimals=0, whole=True, amount=None), Printing(decimals=2, whole=False, amount=None))
        """
        listed = list(noises)
        steps = math.lcm(*(size.denominator for noise in listed for size in noise.coefficients))
        if steps <= 2:  # the estimates are sums of these multiples of integers
            return cls(steps - 1, True, amount)
        least = min(float(noise.variance) for noise in listed)
        if least <= 0:
            return cls(_MOST_DECIMALS, False, amount)
        decimals = min(_MOST_DECIMALS, max(0, math.ceil(math.log10(_FINE) - math.log10(least) / 2)))
        return cls(decimals, False, amount)

    def estimate(self, exactly: Fraction) -> int | float:
        """A rational as it is printed: an int without decimals, else the float nearest to the decimal, half up."""
        steps = math.floor(exactly * 10**self.decimals + Fraction(1, 2))
        return self._shown(steps)

    def estimates(self, sums: NDArray[Any], divisor: int) -> NDArray[Any]:
        """The numbers of integers over one divisor, as an array."""
        scale, amount = 10**self.decimals, self.amount
        if divisor == 1 and self.whole and sums.dtype != object:
            return sums if amount is None else amount.numbers(sums)
        steps = (sums.astype(object) * (2 * scale) + divisor) // (2 * divisor)
        if self.decimals == 0:
            return narrowed(steps) if amount is None else amount.numbers(narrowed(steps))
        decimals: NDArray[Any] = steps * (1 if amount is None else amount.step) / scale
        return decimals.astype(np.float64)

    def margin(self, exactly: int | float) -> int | float:
        """A margin as it is printed: rounded up, with the rounding of the estimate in it."""
        if self.whole:
            return exactly if self.amount is None else self.amount.margin(exactly)
        return self._shown(math.ceil(Fraction(exactly) * 10**self.decimals + Fraction(1, 2)))

    def _shown(self, steps: int) -> int | float:
        """A number of units of the last decimal, for amounts in their own unit."""
        if self.decimals == 0:
            return steps if self.amount is None else self.amount.number(steps)
        return float(Fraction(steps, 10**self.decimals) * (1 if self.amount is None else self.amount.step))


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Display):
    """A sum as it is estimated, and how far it may be off.

    Attributes:
        value: the estimate as it is printed.
        margin: the true sum lies within it of ``value``, with the chance ``confidence`` or more.
        variance: Variance of the estimate, which is unbiased.
        confidence: Confidence of the margin.
        exact: the estimate before it was rounded for printing.
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
    """The answer of an estimate whose error has a law; of amounts both are in steps, and the answer in their own unit.

    >>> print(estimate_of(Fraction(17), Combination([1], 1), Fraction(19, 20)))
    17 +- 3
    """
    printing, step = Printing.of([noise], amount), Fraction(1) if amount is None else amount.step
    margin = printing.margin(noise.margin(confidence))
    return Estimate(
        printing.estimate(exactly), margin, float(noise.variance) * float(step**2), confidence, exactly * step
    )
