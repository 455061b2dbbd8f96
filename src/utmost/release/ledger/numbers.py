"""Integers of any size as bytes: the least of them, and how far each lies above it, in as few bytes as all need."""

import numpy as np

from utmost.errors import LedgerDamaged
from utmost.sampling.wide import Integers, narrowed

BLOCK = 1 << 16
"""How many cells are stored together."""

_WIDTHS = (1, 2, 4, 8)


def packed(integers: Integers) -> bytes:
    """The integers of one block; equal ones give equal bytes, whatever the array's type.

    Layout, little-endian: count, width of an offset, length of the least (4 bytes each), the least, the offsets.

    Cost: a few ns each; Python's speed for those that exceed 64 bits.

    >>> packed(np.array([300, 298])).hex(" ", 4)
    '02000000 01000000 02000000 2a010200'
    """
    least = min(integers.tolist(), default=0) if integers.dtype == object else int(integers.min(initial=2**63 - 1))
    least = least if integers.size else 0
    span = (int(integers.max()) - least) if integers.size else 0
    width = next((w for w in _WIDTHS if span < 1 << (8 * w)), (span.bit_length() + 7) // 8)
    offsets = _offsets(integers, least, width)
    base = least.to_bytes(least.bit_length() // 8 + 1, "little", signed=True)
    head = b"".join(n.to_bytes(4, "little") for n in (integers.size, width, len(base)))
    return head + base + offsets


def unpacked(content: bytes) -> Integers:
    """The integers that were packed so, as int64 where all of them fit.

    Raises:
        LedgerDamaged: for bytes that are no block.
    """
    count, width, length = (int.from_bytes(content[at : at + 4], "little") for at in (0, 4, 8))
    body = content[12 + length :]
    if len(content) < 12 + length or not width or not length or len(body) != count * width:
        raise LedgerDamaged("a block must be as long as it says", came=f"{len(content)} bytes", where="responses")
    least = int.from_bytes(content[12 : 12 + length], "little", signed=True)
    if width <= 8:
        offsets = np.frombuffer(body, dtype=f"<u{width}")
        largest = least + int(offsets.max(initial=0))
        if least >= -(1 << 63) and largest < 1 << 63:
            # Modulo 2^64 the sum is right, since it fits.
            return (offsets.astype(np.uint64) + np.uint64(least % (1 << 64))).view(np.int64)
        return narrowed(offsets.astype(object) + least)
    wide = np.empty(count, object)
    wide[:] = [least + int.from_bytes(body[at : at + width], "little") for at in range(0, len(body), width)]
    return narrowed(wide)


def _offsets(integers: Integers, least: int, width: int) -> bytes:
    if width <= 8 and integers.dtype != object:
        return (integers.astype(np.int64).view(np.uint64) - np.uint64(least % (1 << 64))).astype(f"<u{width}").tobytes()
    return b"".join((one - least).to_bytes(width, "little") for one in integers.tolist())
