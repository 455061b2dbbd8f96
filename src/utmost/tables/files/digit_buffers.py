"""Write text by NumPy: the decimal digits of many integers at once, and joined pieces of bytes."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

_SHORT = 1 << 32


def digits(column: NDArray[np.int64], end: bytes = b"") -> tuple[Bytes, Offsets, Offsets]:
    """The decimal digits of each integer, followed by ``end``: a buffer, and the starts and lengths of the texts."""
    size = np.abs(column).view(np.uint64)  # np.abs(-2^63) is -2^63, which is 2^63 when read as a uint64
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


def joined(buffer: Bytes, starts: Offsets, lengths: Offsets) -> Bytes:
    """Join the pieces of a buffer with these starts and lengths."""
    ends = np.cumsum(lengths)
    index = np.repeat(starts - (ends - lengths), lengths)
    index += np.arange(index.size)
    return np.asarray(buffer[index])
