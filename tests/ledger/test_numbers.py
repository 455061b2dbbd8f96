"""Blocks of integers: `unpacked` returns what was stored or packed, and the length of a stored block is fixed
beforehand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import LedgerDamaged

# The length of a block must say nothing of its numbers, and a ledger shows neither.
from utmost.publish.ledger.block_encryption import packed, stored, unpacked
from utmost.publish.promises.lattice import width_of

TWO, ONE = packed(np.array([1, 2])), packed(np.array([1]))

small = st.lists(st.integers(-300, 300), max_size=40)
large = st.lists(st.integers(-(2**70), 2**70) | st.integers(-(2**63), 2**63 - 1), max_size=20)


@given(small | large)
def test_unpacked_they_are_what_was_packed(numbers):
    """For integers of any size; equal integers give equal bytes whatever array holds them."""
    wide = np.empty(len(numbers), object)
    wide[:] = numbers
    content = packed(wide)
    assert unpacked(content).tolist() == numbers
    if all(-(2**63) <= n < 2**63 for n in numbers):
        assert unpacked(content).dtype == np.int64
        assert packed(np.array(numbers, np.int64)) == content


@given(small | large, st.sampled_from([1, 2, 4, 8, 16, 24, 160]))
def test_stored_they_take_the_width_that_was_settled(numbers, width):
    """`unpacked` returns the same integers; if one does not fit, all words of the block are longer and none is cut."""
    wide = np.empty(len(numbers), object)
    wide[:] = numbers
    content = stored(wide, width)
    assert unpacked(content).tolist() == numbers
    fits = all(-(1 << (8 * width - 1)) <= n < 1 << (8 * width - 1) for n in numbers)
    assert fits == (len(content) == 12 + 8 * width // 8 + 1 + width * len(numbers)) or not numbers
    if all(-(2**63) <= n < 2**63 for n in numbers):
        assert unpacked(content).dtype == np.int64
        assert stored(np.array(numbers, np.int64), width) == content


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 24])
def test_the_ends_of_a_width_fit_and_what_lies_beyond_does_not(width):
    half = 1 << (8 * width - 1)
    ends = np.array([-half, -1, 0, half - 1], object)
    assert unpacked(stored(ends, width)).tolist() == ends.tolist()
    for beyond in (-half - 1, half):
        one = stored(np.array([beyond], object), width)
        assert unpacked(one).tolist() == [beyond]
        assert len(one) > len(stored(ends[:1], width))


def test_widths_are_one_two_four_or_whole_words():
    assert [width_of(bits) for bits in (1, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129)] == [
        1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 24,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("span", "width"), [(0, 1), (255, 1), (256, 2), (65536, 4), (2**32, 8), (2**64 - 1, 8), (2**64, 9)]
)
def test_the_span_settles_the_width(span, width):
    content = packed(np.array([-5, span - 5], object))
    assert int.from_bytes(content[4:8], "little") == width


def test_packed_integers_have_a_count_a_width_the_least_and_the_offsets():
    assert packed(np.array([300, 298])).hex(" ", 4) == "02000000 01000000 02000000 2a010200"


@pytest.mark.parametrize("content", [b"", b"\0" * 11, b"\0" * 12, TWO[:-1], ONE + b"x"])
def test_what_is_no_block_is_damage(content):
    with pytest.raises(LedgerDamaged):
        unpacked(content)
