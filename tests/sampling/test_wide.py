"""Sums and joins of integers never wrap."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# Draws are proved word by word: which bits become which value shows in no public answer.
from utmost.core.sampling.integers import add, joined, minus, narrowed, smallest_type

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
