"""Compute trade-off curves, which describe how well a test of one release can decide between two hypotheses.

A test of X against X + s has a false-alarm probability p and a missed-detection probability beta. The smallest beta for
each p is a convex curve from beta(0) <= 1 to beta(1) = 0, whose slopes are likelihood ratios with a minus sign. All
results of this package about a pair of hypotheses follow from the curve. The curves of noise distributions have closed
forms; this module computes the curve of two rows of a channel.
"""

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, Floats, frozen, is_exact
from utmost.core.exact.intervals import Interval, exp_interval
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact, exact_integer
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.shift_curves import Curve, missed_by
from utmost.design.channels.channel import Channel
from utmost.errors import NotAChannel, OutOfRange


@dataclass(frozen=True, slots=True, eq=False)
class RowsCurve:
    """The trade-off curve of two rows P and Q of a channel. Outcomes are sorted by descending likelihood ratio Q/P."""

    # The best test with false-alarm probability p rejects P at the outcomes of largest ratio; at the last of these it
    # rejects with a probability that makes the total p. Outcomes with P = 0 come first, and cause no false alarms.
    p: Array  # (k,) probabilities under P of the outcomes with P > 0
    q: Array  # (k,) their probabilities under Q
    reveals: Any  # the probability under Q of the outcomes with P = 0

    @classmethod
    def of(cls, pair: object) -> "RowsCurve":
        """Return the curve of a channel with two rows."""
        channel = pair if isinstance(pair, Channel) else Channel(pair)
        if channel.shape[0] != 2:
            raise NotAChannel(
                "a trade-off needs a channel with two rows",
                came=channel.shape[0],
                remedy="Select two rows with C.restrict([x, y]).",
            )
        p, q = channel.matrix
        shown = p > 0
        with np.errstate(over="ignore"):
            order = sorted(np.flatnonzero(shown), key=lambda y: q[y] / p[y], reverse=True)
        return cls(frozen(p[order]), frozen(q[order]), q[~shown].sum())

    @property
    def is_rational(self) -> bool:
        return is_exact(self.p)

    def missed(self, false_alarm: Floats) -> Floats:
        """Return the least missed-detection probability for each false-alarm probability, in floats."""
        p, q = self.p.astype(np.float64), self.q.astype(np.float64)
        return missed_by(p, q, false_alarm)

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """Return the exact missed-detection probability for one false-alarm probability; rows must be Fractions."""
        spent = np.cumsum(self.p)
        last = bisect_left(spent, false_alarm)
        split = self.q[last] * (spent[last] - false_alarm) / self.p[last]
        return sum(self.q[last + 1 :], Fraction(split))

    def excess_exactly(self, level: Level | None) -> Fraction:
        """Return the sum over outcomes of max(0, Q - e^epsilon P), for rows of Fractions and rational e^epsilon."""
        factor = 1 if level is None else 1 / level.alpha_fraction()
        over = (q - factor * p for p, q in zip(self.p, self.q, strict=True))
        return sum((x for x in over if x > 0), Fraction(self.reveals))

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """Return an interval around `excess_exactly`, for any level; rows of floats are converted to rationals."""
        factor = Interval.of(1, bits) if level is None else exp_interval(level.epsilon_interval(bits), bits)
        total = Interval.of(Fraction(self.reveals), bits)
        for p, q in zip(self.p, self.q, strict=True):
            over = Interval.of(Fraction(q), bits) - factor * Fraction(p)
            total = total + Interval(max(over.low, 0), max(over.high, 0), bits)
        return total


def curve_of(distribution: Distribution | Any, shift: Any) -> Curve:
    """Return the curve of a noise distribution against its copy shifted by ``shift``, or of two rows of a channel."""
    # The default shift is the sensitivity. Noise is symmetric, so the shifts s and -s have the same curve.
    if not isinstance(distribution, Distribution):
        if shift is not None:
            remedy = "Leave out shift=; only noise distributions have one."
            raise OutOfRange(
                "shift= must be left out for a channel with two rows", came=shift, where="tradeoff", remedy=remedy
            )
        return RowsCurve.of(distribution)
    return distribution.curve(curve_distance(distribution, shift))


def curve_distance(distribution: Distribution, shift: Any) -> Fraction:
    """Return |shift|, an integer for integer noise; by default the sensitivity of the noise."""
    if shift is None:
        return Fraction(distribution.sensitivity)
    return abs(Fraction(exact_integer(shift, "shift")) if distribution.numbers == "integers" else exact(shift, "shift"))
