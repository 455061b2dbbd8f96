"""Two hypotheses distinguished by one release: the curve of the best tests, for finite rows and for noise.

A test of X against X + s raises a false alarm with probability p and misses with probability beta. The smallest beta
for each p is a convex curve from beta(0) <= 1 to beta(1) = 0, and its slopes are likelihood ratios; everything that
this package says about a pair of hypotheses is read off it. A law of noise gives its own curve.
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
from utmost.core.noise.law import Law
from utmost.core.noise.shift_curves import Curve, missed_by
from utmost.design.channels.channel import Channel
from utmost.errors import NotAChannel, OutOfRange


@dataclass(frozen=True, slots=True, eq=False)
class RowsCurve:
    """P against Q, two rows of a channel, their outcomes in descending order of the likelihood ratio Q/P.

    The best test of a false alarm p rejects P at the outcomes of largest ratio, the last of them with a probability
    that makes the sum p. Outcomes that P never shows come first and cost no false alarm.

    Attributes:
        p: (k,) masses under P of the outcomes that P shows, by descending Q/P.
        q: (k,) their masses under Q.
        reveals: Mass under Q of the outcomes that P never shows.

    >>> coin = RowsCurve.of([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> coin.missed_exactly(Fraction(1, 8)), coin.excess_exactly(None)
    (Fraction(5, 8), Fraction(1, 2))
    """

    p: Array
    q: Array
    reveals: Any

    @classmethod
    def of(cls, pair: object) -> "RowsCurve":
        """The curve of a channel with two rows, or of anything that `Channel` reads as one.

        Raises:
            NotAChannel: when the rows are no distributions, or not two.
        """
        channel = pair if isinstance(pair, Channel) else Channel(pair)
        if channel.shape[0] != 2:
            raise NotAChannel(
                "a trade-off is between two rows", came=channel.shape[0], remedy="Choose them with C.restrict([x, y])."
            )
        p, q = channel.matrix
        shown = p > 0
        with np.errstate(over="ignore"):
            order = sorted(np.flatnonzero(shown), key=lambda y: q[y] / p[y], reverse=True)
        return cls(frozen(p[order]), frozen(q[order]), q[~shown].sum())

    @property
    def is_rational(self) -> bool:
        """Whether the rows are Fractions."""
        return is_exact(self.p)

    def missed(self, false_alarm: Floats) -> Floats:
        """The least missed-detection probability at an array of probabilities."""
        p, q = self.p.astype(np.float64), self.q.astype(np.float64)
        return missed_by(p, q, false_alarm)

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The least missed-detection probability at a rational one, exactly; the rows must be Fractions."""
        spent = np.cumsum(self.p)
        last = bisect_left(spent, false_alarm)
        split = self.q[last] * (spent[last] - false_alarm) / self.p[last]
        return sum(self.q[last + 1 :], Fraction(split))

    def excess_exactly(self, level: Level | None) -> Fraction:
        """sum over outcomes of max(0, Q - e^epsilon P), for rows of Fractions and rational e^epsilon."""
        factor = 1 if level is None else 1 / level.alpha_fraction()
        over = (q - factor * p for p, q in zip(self.p, self.q, strict=True))
        return sum((x for x in over if x > 0), Fraction(self.reveals))

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """`excess_exactly` as an interval, for any level; floats are taken for the rationals that they are."""
        factor = Interval.of(1, bits) if level is None else exp_interval(level.epsilon_interval(bits), bits)
        total = Interval.of(Fraction(self.reveals), bits)
        for p, q in zip(self.p, self.q, strict=True):
            over = Interval.of(Fraction(q), bits) - factor * Fraction(p)
            total = total + Interval(max(over.low, 0), max(over.high, 0), bits)
        return total


def curve_of(law: Law | Any, shift: Any = None) -> Curve:
    """The curve of a law against its copy shifted by ``shift``, or of a pair of rows.

    Args:
        law: Law, or two rows of a channel (a `Channel` with two rows, or what it can be made of).
        shift: Any integer for an integer law, any real for a real law; by default the law's sensitivity. The laws are
            symmetric, so a shift and its negative have one curve. Rows have no shift.

    Raises:
        OutOfRange: when a shift is given for rows.
        NotANumber: when the shift is no number, or no integer where the law's noise is.
    """
    if not isinstance(law, Law):
        if shift is not None:
            raise OutOfRange("a pair of rows has no shift", came=shift, where="tradeoff")
        return RowsCurve.of(law)
    return law.curve(curve_distance(law, shift))


def curve_distance(law: Law, shift: Any = None) -> Fraction:
    """|shift| in units of the law's outcomes; the sensitivity where none is given."""
    if shift is None:
        return Fraction(law.sensitivity)
    return abs(Fraction(exact_integer(shift, "shift")) if law.numbers == "integers" else exact(shift, "shift"))
