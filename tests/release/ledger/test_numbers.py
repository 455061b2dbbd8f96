"""Blocks of integers: what is packed is unpacked, in as few bytes as all need."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import LedgerDamaged
from utmost.release.ledger.numbers import packed, unpacked

TWO, ONE = packed(np.array([1, 2])), packed(np.array([1]))

small = st.lists(st.integers(-300, 300), max_size=40)
large = st.lists(st.integers(-(2**70), 2**70) | st.integers(-(2**63), 2**63 - 1), max_size=20)


@given(small | large)
def test_unpacked_they_are_what_was_packed(numbers):
    """For integers of any size, and equal ones give equal bytes whatever array holds them."""
    wide = np.empty(len(numbers), object)
    wide[:] = numbers
    content = packed(wide)
    assert unpacked(content).tolist() == numbers
    if all(-(2**63) <= n < 2**63 for n in numbers):
        assert unpacked(content).dtype == np.int64
        assert packed(np.array(numbers, np.int64)) == content


@pytest.mark.parametrize(
    ("span", "width"), [(0, 1), (255, 1), (256, 2), (65536, 4), (2**32, 8), (2**64 - 1, 8), (2**64, 9)]
)
def test_the_span_settles_the_width(span, width):
    content = packed(np.array([-5, span - 5], object))
    assert int.from_bytes(content[4:8], "little") == width


@pytest.mark.parametrize("content", [b"", b"\0" * 11, b"\0" * 12, TWO[:-1], ONE + b"x"])
def test_what_is_no_block_is_damage(content):
    with pytest.raises(LedgerDamaged):
        unpacked(content)
