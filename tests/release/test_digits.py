"""Digits written by NumPy are those that Python writes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from utmost.tables.files.digit_buffers import digits, joined

INT64 = np.iinfo(np.int64)
edges = st.sampled_from([0, -1, INT64.min, INT64.max, 10**18, -(10**18), 9, 10, -99, 2**32 - 1, 2**32])


@given(arrays(np.int64, st.integers(0, 20), elements=edges | st.integers(INT64.min, INT64.max)), st.binary(max_size=3))
def test_each_integer_is_written_as_python_writes_it(column, end):
    """joined(digits(n, end)) is the text of every n with end behind it, from -2^63 to 2^63 - 1."""
    assert joined(*digits(column, end)).tobytes() == b"".join(str(n).encode() + end for n in column.tolist())


@given(st.binary(min_size=1, max_size=30), st.data())
def test_pieces_are_joined_in_the_order_given(buffer, data):
    """As slices of the buffer put one behind the other, empty ones and repeated ones among them."""
    slices = data.draw(st.lists(st.tuples(st.integers(0, len(buffer)), st.integers(0, 30)), max_size=8))
    slices = [(start, min(length, len(buffer) - start)) for start, length in slices]
    starts, lengths = np.array(slices, np.int64).reshape(-1, 2).T
    text = joined(np.frombuffer(buffer, np.uint8), starts, lengths)
    assert text.tobytes() == b"".join(buffer[start : start + length] for start, length in slices)
