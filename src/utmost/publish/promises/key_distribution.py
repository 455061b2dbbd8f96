"""The largest probability pi(n) of selecting a key that n individuals have, at epsilon and delta, and exact draws."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from utmost.core.exact.arguments import integer
from utmost.core.exact.intervals import Interval, exp_interval, log_interval
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, precision, written_number
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.random_bits import Randomness, WordSource
from utmost.errors import OutOfRange, Unsupported

# e^epsilon - 1 is rounded down to this many binary digits. Selection loses less than if a key had a millionth of an
# individual fewer.
_DIGITS = 48
_LARGEST_EPSILON = 700
_LEAST_DELTA = Fraction(1, 10**300)
_LEAST_SHARE = Fraction(1, 10**800)
# Rationals with more bits are not computed.
_MOST_BITS = 1 << 24
# A threshold that has at most this many possible values is drawn from a table.
_TABLE = 1 << 12


@dataclass(frozen=True, eq=False)
class SelectionDistribution:
    """The largest probability pi(n) of selecting a key that n individuals have, as the distribution of a threshold T.

    pi(0) = 0 and pi(n+1) = min(a pi(n) + delta, 1 - (1 - pi(n) - delta)/a, 1), with a = e^epsilon for one key. The
    first of the three terms is the least as long as a^n <= 1 + (1 - delta)(a - 1)/((a + 1) delta), which gives

        pi(n) = delta (a^n - 1)/(a - 1)                                    for n <= turn,
        1 - pi(turn + j) = (1 - pi(turn)) a^-j - delta (1 - a^-j)/(a - 1)  for j >= 1; 0 once this is negative.

    Attributes:
        ratio: Rational number a above 1 and at most e^epsilon.
        delta: Delta of one key, strictly between 0 and 1.

    Source: [desfontaines2022], Theorem 1.
    """

    ratio: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        ratio = exact(self.ratio, "ratio")
        if ratio <= 1:
            raise OutOfRange("ratio must be above 1", came=self.ratio, where="SelectionDistribution")
        object.__setattr__(self, "ratio", ratio)
        object.__setattr__(self, "delta", read_delta(self.delta, _LEAST_SHARE))

    @cached_property
    def turn(self) -> int:
        """The least n with a^n > 1 + (1 - delta)(a - 1)/((a + 1) delta)."""
        a, delta = self.ratio, self.delta
        return _power_beyond(a, 1 + (1 - delta) * (a - 1) / ((a + 1) * delta))

    @property
    def threshold(self) -> int:
        """The number turn - 1; a key is selected if its count plus the noise turn - T exceeds it."""
        return self.turn - 1

    @cached_property
    def certain(self) -> int:
        """A number n with pi(n) = 1; the least such number, or slightly more."""
        return self.turn + _power_beyond(self.ratio, 1 + (self.ratio - 1) / self.delta)

    def chance(self, n: int) -> Fraction:
        n = max(0, min(integer(n, "n"), self.certain))
        if n * self.ratio.numerator.bit_length() > _MOST_BITS:
            raise Unsupported(
                "an exact probability must have at most 2^24 bits", came=f"n = {n}", remedy="Use chance_interval."
            )
        chance: Fraction = self._chance(n, self.ratio**n, self.ratio ** min(n, self.turn), Fraction(1))
        return chance

    def chance_interval(self, n: int, bits: int = 128) -> Interval:
        """Return an interval around pi(n) whose width is some units of 2^-bits; fast for every n."""
        n = max(0, min(integer(n, "n"), self.certain))
        inner = precision(bits) + 16 + 2 * self._lost_bits + n.bit_length()
        certain = Interval.of(1, inner)
        back = Interval.of(1 / self.ratio, inner)  # the powers of 1/a lose no bits before the point
        turned = 1 / back ** min(n, self.turn)
        chance: Interval = self._chance(n, None, turned, back ** (n - min(n, self.turn)) if n > self.turn else certain)
        return _within_one(chance).at(bits)

    def _chance(self, n: int, power: Any, turned: Any, back: Any) -> Any:
        """Compute pi(n) from a^n, a^min(n, turn), a^(turn - n): as an interval if ``power`` is None, else exactly."""
        slope = self.delta / (self.ratio - 1)
        before = (turned - 1) * slope
        if n <= self.turn:
            return before
        if power is not None:
            back = self.ratio ** (self.turn - n)
        left = (1 - before) * back - (1 - back) * slope
        return min(1 - left, Fraction(1)) if power is not None else 1 - left

    @cached_property
    def _lost_bits(self) -> int:
        """An upper bound on the bits of precision that intervals lose in the largest power and in the quotient."""
        slope = self.delta / (self.ratio - 1)
        sizes = slope, 1 / slope, 1 / self.delta, self.ratio
        return sum(max(0, math.ceil(math.log2(x.numerator) - math.log2(x.denominator))) for x in sizes) + 8

    def thresholds(self, count: int, randomness: Randomness) -> Iterator[int]:
        """Yield ``count`` independent exact draws of T."""
        if self.certain <= _TABLE:
            yield from (self._table.draw(count, randomness) + np.int64(1)).tolist()
        else:
            for _ in range(count):
                yield self._drawn(randomness.word)

    @cached_property
    def _table(self) -> Categorical:
        def cuts(bits: int) -> list[Interval]:
            return [self.chance_interval(n, bits) for n in range(1, self.certain)]

        return Categorical(cuts, word_bits=16, lookup=True)

    def _drawn(self, word: WordSource) -> int:
        """Draw T = 1 + |{n >= 1: pi(n) <= U}| for a uniform U in [0, 1), with as many bits of U as are needed."""
        drawn, bits = word(), 64
        while True:
            place = self._placed(drawn, bits)
            if place is not None:
                return place
            drawn, bits = (drawn << 64) | word(), bits + 64

    def _placed(self, drawn: int, bits: int) -> int | None:
        """Return T if the first ``bits`` bits of U, which are the integer ``drawn``, determine it; else None."""
        below, above = 0, self.certain
        while above - below > 1:
            middle = (below + above) // 2
            chance = self.chance_interval(middle, bits + 16)
            if chance.high <= drawn << 16:
                below = middle
            elif chance.low >= (drawn + 1) << 16:
                above = middle
            else:
                return None
        return above


def selection_distribution(
    total: Level, delta: Fraction, keys: int, shares: int | None = None
) -> SelectionDistribution:
    """Return the distribution for one key, at (epsilon/keys, delta/keys); with ``shares``, return it for one share."""
    # With K shares that one individual divides among keys, the distribution of one share has epsilon/K: K shares on one
    # key move its probability from 0 to delta, and no division costs more; see proofs/theory/unknown-keys.md.
    if shares is None:
        return SelectionDistribution(_ratio_below(total.scaled(Fraction(1, keys))), delta / keys)
    # A larger level is replaced by the largest one, which is more private: a^K must stay computable.
    level = total if total.epsilon_float <= _LARGEST_EPSILON else Level.of_epsilon(_LARGEST_EPSILON)
    ratio = _ratio_below(level.scaled(Fraction(1, shares)))
    # The delta of one share is a rational of few bits, at most delta (a - 1)/(a^K - 1), and relatively within 2^-90 of
    # it, so that K shares on one key have the probability delta.
    bits = 256 + shares.bit_length()
    while True:
        shrunk = Interval.of(1 / ratio, bits) ** shares
        around = Interval.of(delta * (ratio - 1), bits) * shrunk / (1 - shrunk)
        if around.low.bit_length() > 160:
            shift = around.low.bit_length() - 96
            return SelectionDistribution(ratio, Fraction(around.low >> shift << shift, 1 << bits))
        bits *= 2


def appearance_chance(
    before: SelectionDistribution | None, after: SelectionDistribution, n: int
) -> Callable[[int], list[Interval]]:
    """Return (pi_2 - pi_1)/(1 - pi_1) by precision in bits; pi_1 and pi_2 are pi(n) of ``before`` and ``after``."""

    def cut(bits: int) -> list[Interval]:
        if before is None:
            return [after.chance_interval(n, bits)]
        inner = 2 * bits + 64
        while True:  # terminates: pi_1 < 1 for a key that was not named
            first, second = before.chance_interval(n, inner), after.chance_interval(n, inner)
            if (1 - first).low > 1 << (inner - inner // 4):
                conditional = (second - first) / (1 - first)
                return [_within_one(conditional).at(bits)]
            inner *= 2

    return cut


def read_delta(delta: Number, least: Fraction = _LEAST_DELTA) -> Fraction:
    value = written_number(delta, "delta")
    if not 0 < value < 1:
        raise OutOfRange("delta must lie strictly between 0 and 1", came=delta, where="delta")
    if value < least:
        raise OutOfRange("delta must be at least 1e-300", came="a smaller delta", where="delta")
    return value


def _ratio_below(of: Level) -> Fraction:
    """Return a rational above 1 and slightly below e^epsilon."""
    if of.is_rational and of.alpha_fraction().denominator.bit_length() <= 2 * _DIGITS:
        return 1 / of.alpha_fraction()
    if of.epsilon_float > _LARGEST_EPSILON:
        return Fraction(1 << 1000)
    bits = 128 + max(0, -math.frexp(of.epsilon_float)[1])
    around = exp_interval(of.epsilon_interval(bits), bits) - 1
    shift = max(0, around.low.bit_length() - _DIGITS)
    return 1 + Fraction(around.low >> shift << shift, 1 << bits)


def _power_beyond(base: Fraction, bound: Fraction) -> int:
    """Return the least n >= 0 with base^n > bound, for base > 1 and bound >= 1; decided exactly."""
    bits = 128
    while True:
        divisor = log_interval(base, bits)
        if divisor.low > 1 << bits // 2:
            quotient = log_interval(bound, bits) / divisor
            low, high = quotient.low >> bits, quotient.high >> bits
            if low == high:
                return low + 1
            if bits > 1 << 12 and high == low + 1:  # the quotient equals high, or nearly
                if high * base.numerator.bit_length() > _MOST_BITS:
                    raise Unsupported(
                        "two probabilities must differ within their first 2^24 bits to be compared",
                        where="delta",
                        remedy="Pass a slightly different delta.",
                    )
                return high + 1 if base**high <= bound else high
        bits *= 2


def _within_one(chance: Interval) -> Interval:
    whole = 1 << chance.bits
    return Interval(min(max(0, chance.low), whole), min(max(0, chance.high), whole), chance.bits)
