"""Decimal digits of many integers at once, and pieces of bytes put one behind the other: text written by NumPy."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

_SHORT = 1 << 32


def digits(column: NDArray[np.int64], end: bytes = b"") -> tuple[Bytes, Places, Places]:
    """The decimal digits of each integer, with ``end`` behind them.

    Returns:
        A buffer, and for each integer where in it its text starts and how many bytes that is, ``end`` counted.
        Cost: a division for each integer and each digit of the longest.

    >>> buffer, starts, lengths = digits(np.array([7, -120]), b";")
    >>> joined(buffer, starts, lengths).tobytes()
    b'7;-120;'
    """
    size = np.abs(column).view(np.uint64)  # of -2^63 too: as an int64 it stays, and as a uint64 it is 2^63
    largest = int(size.max(initial=0))
    width = len(str(largest)) + 1
    text = np.empty((column.size, width + len(end)), np.uint8)
    text[:, width:] = np.frombuffer(end, np.uint8)
    rest = size.astype(np.uint32) if largest < _SHORT else size
    for at in range(width - 1, 0, -1):
        tens = rest // 10
        text[:, at] = rest - tens * 10 + ord("0")
        rest = tens
    negative = column < 0
    lengths = 1 + negative.astype(np.int64)
    for power in range(1, width - 1):
        lengths += size >= 10**power
    starts = np.arange(1, column.size + 1) * width - lengths + np.arange(column.size) * len(end)
    flat = text.reshape(-1)
    flat[starts[negative]] = ord("-")
    return flat, starts, lengths + len(end)


def joined(buffer: Bytes, starts: Places, lengths: Places) -> Bytes:
    """Pieces of a buffer, one behind the other.

    >>> joined(np.frombuffer(b"abcdef", np.uint8), np.array([4, 0]), np.array([2, 1])).tobytes()
    b'efa'
    """
    ends = np.cumsum(lengths)
    index = np.repeat(starts - (ends - lengths), lengths)
    index += np.arange(index.size)
    return np.asarray(buffer[index])
