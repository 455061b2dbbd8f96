"""Integers below a bound, every value from the same number of words; sums and joins of integers never wrap."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodness import LEVEL, Written, chi_square

# Which words are drawn again shows in no answer, and released sums seldom reach the ends of int64.
from utmost.core.sampling.integers import (
    add,
    joined,
    minus,
    narrowed,
    one_below,
    smallest_type,
    uniform_below,
    uniform_integers,
)
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


@pytest.mark.parametrize(
    "n", [1, 2, 6, 1000, 2**31 + 1, 2**32, 2**32 + 1, 2**62 + 1, 3 << 61, 2**63, 2**64, 3 << 63, 2**64 + 1, 3 << 80]
)
def test_draws_fit_the_distribution(n):
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


near = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-5, 5),
    st.integers(-(2**63), -(2**63) + 3),
    st.integers(2**63 - 4, 2**63 - 1),
)
wide = st.one_of(near, st.integers(-(2**70), 2**70))


def array(values):
    found = np.empty(len(values), object)
    found[:] = values
    return found


def fits(values):
    return all(-(2**63) <= value < 2**63 for value in values)


@given(st.lists(st.tuples(near, near), max_size=4))
def test_sums_of_machine_integers_are_the_true_sums(pairs):
    """In int64 exactly where all of them fit: the type reveals nothing that the sums do not."""
    x, y = (np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))
    total = [a + b for a, b in pairs]
    found = add(x, y)
    assert found.tolist() == total
    assert (found.dtype == np.int64) == fits(total)


@given(st.lists(st.tuples(wide, wide), max_size=4))
def test_sums_of_any_integers_are_the_true_sums(pairs):
    total = [a + b for a, b in pairs]
    found = add(array([a for a, _ in pairs]), array([b for _, b in pairs]))
    assert found.tolist() == total
    assert (found.dtype == np.int64) == fits(total)


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u4"])
def test_narrow_noise_is_widened_before_it_is_added(kind):
    noise = np.array([np.iinfo(kind).max, np.iinfo(kind).min], kind)
    assert add(np.array([2**62, 1]), noise).tolist() == [2**62 + np.iinfo(kind).max, 1 + np.iinfo(kind).min]


def test_narrow_values_are_widened_too():
    for kind in ("i1", "i2", "i4"):
        largest = np.iinfo(kind).max
        assert add(np.array([largest], kind), np.array([1], kind)).tolist() == [largest + 1]


@given(st.lists(st.lists(wide, max_size=3), max_size=4))
def test_joined_parts_are_the_parts(parts):
    arrays = [narrowed(array(part)) for part in parts]
    whole = [value for part in parts for value in part]
    found = joined(arrays, len(whole))
    assert found.tolist() == whole
    assert (found.dtype == np.int64) == fits(whole)
    assert joined([array(part) for part in parts], len(whole)).dtype == found.dtype


@pytest.mark.parametrize("bits", [0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 200])
def test_the_smallest_type_holds_its_magnitudes(bits):
    kind = smallest_type(bits)
    if kind.hasobject:
        assert bits >= 64
    else:
        assert np.iinfo(kind).max >= 2**bits - 1
        assert kind.itemsize == 1 or np.iinfo(f"i{kind.itemsize // 2}").max < 2**bits - 1


def test_sums_and_differences_of_any_kinds_are_int64_where_they_fit_and_none_wraps():
    """Empty, of int64, of Python's integers, and mixed; at both ends of what int64 holds."""
    low, high = -(1 << 63), (1 << 63) - 1
    kinds = [np.array([3, -5]), np.array([3, -5], object), np.array([low, high]), np.array([1 << 70, 2], object)]
    for x, y in product(kinds, kinds):
        pairs = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
        for both, expected in ((add, [a + b for a, b in pairs]), (minus, [a - b for a, b in pairs])):
            numbers = both(x, y)
            assert numbers.tolist() == expected
            assert (numbers.dtype == np.int64) == all(low <= number <= high for number in expected)
    empty = np.array([], np.int64)
    assert add(empty, empty).dtype == minus(empty, empty).dtype == np.int64
