"""A geometric variable taken apart: independent digits, and a top part whose tail is a fresh copy of itself.

For K ~ Geom(a), P(K = k) = (1-a) a^k, and any m, K = Q 2^m + D with Q ~ Geom(a^(2^m)) independent of D in 0..2^m-1; the
groups of binary digits of D are again independent, the group that starts at bit s having P(d) proportional to
a^(d 2^s). And Q given Q >= v is v + Geom(a^(2^m)): no tail is ever cut off.

A mark, independent of K, is drawn together with the top part: the sign of two-sided noise, the segment of a staircase.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from utmost.exact import Interval
from utmost.sampling.thresholds import Cuts

Real = Callable[[int], Interval]
"""A real number known to any precision: asked for b bits, an interval that shrinks to it as b grows."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The laws of the independent parts of a marked geometric variable.

    Attributes:
        top: the law `marked` of Q and the mark.
        groups: the groups of digits below, from the most significant: how many bits, and their law.
        shift: the number m of bits below the top, the sum of those of the groups.
    """

    top: Cuts
    groups: tuple[tuple[int, Cuts], ...]
    shift: int


def take_apart(ratio: Real, marks: Sequence[Real], *, values: int, group_bits: int, tail_bits: int) -> Parts:
    """The parts of Geom(ratio) with an independent mark.

    Args:
        ratio: a with 0 < a < 1.
        marks: the probabilities of the marks.
        values: how many values of the top part have an index.
        group_bits: the most bits in a group of digits.
        tail_bits: the top part starts as low as P(Q >= values) <= 2^-tail_bits allows.
    """
    shift = _doublings_until_rare(ratio, values, tail_bits)
    number = -(-shift // group_bits)
    sizes = [shift // number + (i < shift % number) for i in range(number)]
    starts = [shift - end for end in accumulate(sizes)]
    groups = tuple((size, digits(power(ratio, start), size)) for size, start in zip(sizes, starts, strict=True))
    return Parts(marked(power(ratio, shift), marks, values), groups, shift)


def digits(ratio: Real, bits_of_digit: int) -> Cuts:
    """The law P(d) proportional to a^d on 0..2^bits_of_digit - 1.

    Written as quotients of sums of positive terms, it loses no precision where a is near 1.
    """

    def cuts(bits: int) -> list[Interval]:
        inner = bits + 2 * bits_of_digit + 8
        terms = _powers(ratio(inner), 1 << bits_of_digit)
        sums = list(accumulate(terms))
        share = 1 / sums[-1]
        return [partial * share for partial in sums[:-1]]

    return cuts


def marked(ratio: Real, marks: Sequence[Real], values: int) -> Cuts:
    """The law of the index len(marks) q + mark: q ~ Geom(ratio), everything from ``values`` on counted as ``values``.

    P(q, mark) = (1-a) a^q w_mark for q < values, and a^values w_mark for q = values.
    """

    def cuts(bits: int) -> list[Interval]:
        inner = bits + 2 * values.bit_length() + 8
        a = ratio(inner)
        below = [Interval.of(0, inner), *accumulate(mark(inner) for mark in marks[:-1])]
        powers = _powers(a, values + 1)
        masses = [power * (1 - a) if q < values else power for q, power in enumerate(powers)]
        found = [1 - power + mass * share for power, mass in zip(powers, masses, strict=True) for share in below]
        return found[1:]

    return cuts


def power(ratio: Real, doublings: int) -> Real:
    """ratio^(2^doublings), by squaring."""

    def powered(bits: int) -> Interval:
        result = ratio(bits + doublings + 8)
        for _ in range(doublings):
            result = result * result
        return result.at(bits)

    return powered


def _powers(a: Interval, count: int) -> list[Interval]:
    """1, a, ..., a^(count-1)."""
    return list(accumulate([a] * (count - 1), lambda x, y: x * y, initial=Interval.of(1, a.bits)))


def _doublings_until_rare(ratio: Real, values: int, tail_bits: int) -> int:
    """The least m for which a^(2^m values) <= 2^-tail_bits is certain."""
    bits = 64 + tail_bits
    while ratio(bits).high >> bits:  # until a is certainly below 1
        bits *= 2
    doublings, a = 0, ratio(2 * bits)
    while (a**values).high > 1 << (2 * bits - tail_bits):
        doublings, a = doublings + 1, a * a
    return doublings
