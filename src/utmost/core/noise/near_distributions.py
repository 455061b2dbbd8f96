"""Margins of many sums of geometric noise with nearly equal distributions: one inversion, and bounds on the
differences.

Let S = sum of c_i G_i and T = sum of t_i G_i with the same levels. For any pairing of the G_i with equal levels, S is
distributed as T + D with D = sum of (c_i - t_i) G_i, so that

    P(|S| > r + d) <= P(|T| > r) + P(|D| > d).

A closed form bounds D. log E exp(s G) = F(s/2) with F(u) = -log(1 - sinh^2 u / sinh^2(e/2)), a series in u^2 without
negative coefficients. So F(u)/u^2 increases with u > 0, F(u) <= u^2 F(v)/v^2 for |u| <= v, and with A = sum of the
squares of the c_i - t_i times F(v_i)/v_i^2

    P(|D| > d) <= 2 exp(s^2 A/4 - s d)      for s |c_i - t_i| <= 2 v_i.        [Chernoff]
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.intervals import round_up
from utmost.core.exact.numbers import Number, exact
from utmost.core.noise.combination import Combination

_PART = 32  # the share of the allowed probability for the bound of D
_ROUNDED = 1e-12  # relative error of coefficients as floats
_GROWN = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class SpreadBound:
    """Chernoff's bound for a sum D with small coefficients: A, and the largest s that the formula of this module
    allows.
    """

    square: float  # the number A of the module
    steepest: float  # largest allowed s

    def margin_for_miss(self, miss: Fraction | float) -> float:
        """A d with P(|D| > d) <= miss. A ``miss`` that is too small for a float is allowed."""
        exactly = Fraction(miss)
        depth = (log(2) + log(exactly.denominator) - log(exactly.numerator)) * _GROWN
        slope = min(2 * sqrt(depth / self.square), self.steepest)
        return (slope * self.square / 4 + depth / slope) * _GROWN


def spreads(differences: Floats, epsilons: Floats, counts: Floats) -> list[SpreadBound]:
    """Return the bound of each sum D. The ``differences`` c_i - t_i have shape (sums, terms); term i stands for
    counts[i] equal terms.
    """
    edges = np.minimum(epsilons, 600.0) / 4
    heights = -np.log1p(-((np.sinh(edges) / np.sinh(2 * edges)) ** 2)) / edges**2
    sizes = np.abs(differences) + _ROUNDED
    squares = (sizes * sizes) @ (heights * counts) * _GROWN
    steepest = (2 * edges / sizes).min(axis=1) / _GROWN
    return [SpreadBound(float(a), float(s)) for a, s in zip(squares, steepest, strict=True)]


def spread_margins(squares: Floats, heights: Floats, edges: Floats, miss: Fraction) -> Floats:
    """Return `SpreadBound.margin_for_miss` for each A in ``squares``, with the heights and edges of `heights_at`.

    >>> edges, heights = heights_at(np.array([1.0]), 0.45)
    >>> spread_margins(heights, heights, edges, Fraction(1, 20)).round(2)  # the margin of one noise is 3
    array([5.87])
    """
    # No coefficient of a term is larger than sqrt(A/height): every s up to the least 2 v sqrt(height/A) is allowed.
    steepest = float((2 * edges * np.sqrt(heights)).min()) / _GROWN
    least = np.sqrt(np.maximum(squares * _GROWN, 1e-300))  # never 0, because it is used as a divisor
    return np.array([SpreadBound(float(side * side), steepest / float(side)).margin_for_miss(miss) for side in least])


def heights_at(epsilons: Floats, part: float) -> tuple[Floats, Floats]:
    """Return the edges v and the heights F(v)/v^2; each edge is an epsilon times ``part``, which is below 1/2."""
    edges = np.minimum(epsilons, 600.0) * part
    ratios = np.sinh(edges) / np.sinh(np.minimum(epsilons, 600.0) / 2)
    return edges, -np.log1p(-(ratios**2)) / edges**2 * _GROWN


class NearDistribution(Combination):
    """A sum T whose margins hold for several sums S, each of which differs from T by a bounded sum."""

    spread: SpreadBound  # bound of S - T, for all S

    def __init__(self, reference: Combination, spread: SpreadBound) -> None:
        super().__init__(reference.coefficients, reference.levels, reference.counts)
        object.__setattr__(self, "spread", spread)

    def margin_for_miss(self, miss: Number) -> int | float:
        """An r with a certificate that P(|S| > r) <= miss for each sum S."""
        chance = exact(miss, "miss")
        part = chance / _PART
        added = self.spread.margin_for_miss(part)
        return round_up(Fraction(super().margin_for_miss(chance - part)) + Fraction(added))

    def tail(self, margin: Number) -> float:
        """An upper bound of P(|S| > margin) for each sum S, never below 10^-6."""
        small = 1e-6  # the probability of a larger difference, which is added below
        inner = exact(margin, "margin") - Fraction(self.spread.margin_for_miss(small))
        return 1.0 if inner < 0 else min(1.0, super().tail(inner) + small)

    def is_certified(self, margin: Number, miss: Number) -> bool:
        return exact(self.margin_for_miss(miss)) <= exact(margin, "margin")
