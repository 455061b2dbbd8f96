"""Uniform integers: every value from the same number of words."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodness import LEVEL, Written, chi_square

# Draws are proved word by word: which bits become which value shows in no public answer.
from utmost.core.sampling.integers import one_below, uniform_below, uniform_integers
from utmost.errors import NotANumber, OutOfRange, Unsupported
from utmost.testing import SeededRandomness

bounds = st.one_of(st.integers(1, 2**63), st.integers(0, 63).map(lambda k: 2**k), st.integers(1, 300))
words = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(bounds, words), min_size=1, max_size=8))
@example([(2**32 - 1, 2**64 - 1), (2**32 - 1, 2**63)])
@example([(2**32, 2**64 - 1)])
@example([(2**32 + 1, 2**64 - 1)])
@example([(2**63, 2**64 - 1), (1, 2**64 - 1)])
def test_a_word_is_kept_exactly_when_its_value_would_else_be_too_likely(cells):
    """u gives floor(u n / 2^64), but is drawn again where (u n mod 2^64) < 2^64 mod n: floor(2^64/n) words each."""
    again = [i for i, (n, u) in enumerate(cells) if u * n % 2**64 < 2**64 % n]
    bits = Written(arrays=[[u for _, u in cells], *([[2**64 - 1] * len(again)] if again else [])], then=2**64 - 1)
    found = uniform_below(np.array([n for n, _ in cells], np.uint64), bits).tolist()
    kept = [i for i in range(len(cells)) if i not in again]
    assert [found[i] for i in kept] == [cells[i][1] * cells[i][0] >> 64 for i in kept]
    assert all(found[i] < cells[i][0] for i in again)
    one = Written([cells[0][1]], then=2**64 - 1)
    assert one_below(cells[0][0], one.word) == found[0]


@given(st.integers(1, 2**62).map(lambda k: 2 * k + 1))
@example(3)
@example(2**64 - 1)
@example(2**100 + 1)
def test_the_first_word_that_is_kept_is_kept_and_the_last_that_is_not_is_drawn_again(n):
    """For odd n the word with lower half r is r/n modulo 2^bits: both sides of the bound r = 2^bits mod n are tried."""
    bits = 64 if n < 2**64 else 128
    least = 2**bits % n
    kept, again = (r * pow(n, -1, 2**bits) % 2**bits for r in (least, least - 1))
    halves = lambda word: [word >> 64, word % 2**64] if bits == 128 else [word]  # noqa: E731
    source = Written([*halves(again), *halves(kept)])
    assert one_below(n, source.word) == kept * n >> bits
    assert source.served == 2 * bits // 64
    if n <= 2**63:
        arrays = Written(arrays=[[again], [kept]])
        assert uniform_below(np.array([n], np.uint64), arrays).tolist() == [kept * n >> 64]
        assert uniform_below(np.array([n], np.uint64), Written(arrays=[[kept]])).tolist() == [kept * n >> 64]


def test_each_value_has_equally_many_words():
    """The theorem on words of 8 bits, counted: the same rule keeps floor(256/n) of them for every value."""
    for n in range(1, 257):
        kept = [u * n >> 8 for u in range(256) if u * n % 256 >= 256 % n]
        assert set(Counter(kept).values()) == {256 // n}


@pytest.mark.parametrize(
    "n", [1, 2, 6, 1000, 2**31 + 1, 2**32, 2**32 + 1, 2**62 + 1, 3 << 61, 2**63, 2**64, 3 << 63, 2**64 + 1, 3 << 80]
)
def test_draws_fit_the_law(n):
    draws = uniform_integers(n, 30_000, SeededRandomness(n))
    assert draws.dtype == (np.int64 if n <= 2**63 else object)
    assert all(0 <= x < n for x in draws.tolist())
    bins = min(n, 1000)
    coarse = np.array([x * bins // n for x in draws.tolist()])
    starts = np.array([-(-b * n // bins) for b in range(bins + 1)], object)
    share = np.array([float(s) / n for s in starts])
    assert chi_square(coarse, lambda b: share[np.clip(b + 1, 0, bins)]) > LEVEL
    low = np.array([x % 64 for x in draws.tolist()])
    if n >= 2**31:
        assert chi_square(low, lambda b: np.clip(b + 1, 0, 64) / 64) > LEVEL


def test_a_biased_draw_is_found():
    """Planted: the remainder of a word, without rejection, at a bound where that favours the lower third."""
    n = 3 << 62
    bits = SeededRandomness(1)
    biased = np.array([bits.word() % n // (1 << 55) for _ in range(30_000)])
    true = np.array([one_below(n, bits.word) // (1 << 55) for _ in range(30_000)])
    share = lambda b: np.clip((b + 1) / (3 << 7), 0, 1)  # noqa: E731
    assert chi_square(true, share) > LEVEL > chi_square(biased, share)


def test_a_bound_of_one_and_no_draws():
    assert uniform_integers(1, 3).tolist() == [0, 0, 0]
    assert uniform_integers(5, 0).tolist() == []


def test_the_operating_system_is_the_default_source():
    assert sorted(set(uniform_integers(3, 500).tolist())) == [0, 1, 2]
    assert (uniform_integers(2**60, 5) != uniform_integers(2**60, 5)).any()
    with pytest.raises(Unsupported, match="source of random words"):
        uniform_integers(3, 1, randomness=7)


@pytest.mark.parametrize(("bound", "count"), [(0, 1), (-3, 1), (2, -1)])
def test_bounds_and_counts_out_of_range_are_refused(bound, count):
    with pytest.raises(OutOfRange, match="at least 1"):
        uniform_integers(bound, count)


@pytest.mark.parametrize("bound", [True, 2.5, float("nan"), None])
def test_what_is_no_integer_is_refused(bound):
    with pytest.raises(NotANumber):
        uniform_integers(bound, 1)
