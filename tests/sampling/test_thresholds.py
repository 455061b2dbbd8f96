"""Thresholds equal an independent computation, and every decision is the true one, ties included."""

from bisect import bisect_right
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import Written
from utmost.exact import Interval, level
from utmost.sampling import Thresholds

probabilities = st.lists(st.fractions(0, 1, max_denominator=1 << 20), min_size=1, max_size=9).map(sorted)


def known(values, slack=0):
    """Cuts at rationals, known up to an interval that is ``slack`` units wider on both sides than it need be."""

    def cuts(bits):
        near = [Interval.of(value, bits) for value in values]
        return [Interval(interval.low - slack, interval.high + slack, bits) for interval in near]

    return cuts


@given(probabilities, st.sampled_from([1, 8, 16, 64, 200]), st.integers(0, 3))
def test_cells_enclose_each_threshold_and_nothing_more_than_it_need_be(values, bits, slack):
    """first / 2^b <= T <= (last + 1) / 2^b, at most two cells apart; no cell at all where T is known to be a bound."""
    first, last = Thresholds(known(values, slack)).cells(bits)
    assert first == sorted(first)
    assert last == sorted(last)
    for value, low, high in zip(values, first, last, strict=True):
        assert Fraction(low, 1 << bits) <= value <= Fraction(high + 1, 1 << bits)
        assert high - low <= 1
        if slack == 0 and (value * (1 << bits)).denominator == 1:
            assert high == low - 1


def test_cells_ascend_also_where_the_intervals_do_not():
    """Two thresholds known unequally well: what is certain of one is certain of its neighbour beyond."""
    half = Interval.of(Fraction(1, 2), 32)
    wide = Interval(half.low - (5 << 16), half.high + (5 << 16), 32)
    sharp_first, sharp_last = (Thresholds(lambda bits, order=order: order) for order in ([half, wide], [wide, half]))
    assert sharp_first.cells(16) == ([32768, 32768], [32767, 32772])
    assert sharp_last.cells(16) == ([32763, 32768], [32767, 32767])


@given(probabilities, st.integers(0, 2**16 - 1), st.lists(st.integers(0, 2**64 - 1), max_size=3), st.integers(0, 3))
def test_every_decision_is_the_true_one(values, cell, words, slack):
    """The index is the number of T <= U, for each U that the bits read so far leave open."""
    bits = Written(words, then=0x9E3779B97F4A7C15)
    index = Thresholds(known(values, slack)).decide(cell, 16, bits.word)
    read = (words + [0x9E3779B97F4A7C15] * bits.served)[: bits.served]
    length, u = 16, cell
    for word in read:
        length, u = length + 64, u << 64 | word
    assert bisect_right(values, Fraction(u, 1 << length)) == index
    assert bisect_right(values, Fraction(u + 1, 1 << length) - Fraction(1, 1 << 9999)) == index


@pytest.mark.parametrize("slack", [0, 1, 3])
def test_a_dyadic_threshold_does_not_loop(slack):
    """U exactly 1/2 so far: above the threshold if that is known exactly, else as the later bits say."""
    half = Thresholds(known([Fraction(1, 2)], slack))
    assert half.decide(1 << 15, 16, Written(then=1 << 63).word) == 1
    assert half.decide((1 << 15) - 1, 16, Written(then=1 << 63).word) == 0
    if slack:
        assert half.decide(1 << 15, 16, Written([0, 0, 1]).word) == 1
        assert half.decide((1 << 15) - 1, 16, Written([2**64 - 1, 2**64 - 1, 0]).word) == 0


def test_words_that_spell_out_an_irrational_threshold_are_decided_by_their_first_other_bit():
    """The threshold e^-1: its own first 400 bits, then a zero or a one where the threshold has the other."""
    plain = Thresholds(lambda bits: [level(1).alpha_interval(bits)])
    (first,), _ = plain.cells(464)
    for u, index in ((first - 5, 0), (first + 5, 1)):
        spelled = [u >> shift & (2**64 - 1) for shift in range(464 - 16 - 64, -1, -64)]
        bits = Written(spelled)
        assert plain.decide(u >> 448, 16, bits.word) == index
        assert bits.served == 7
