"""Integers of any size as bytes: in a width that is settled beforehand, or in the least width, for digests alone.

**What is stored has a length that tells nothing.** A block is written in words of a width that is a function of public
facts, see `utmost.ledger.promise.Promise.word`, whatever the integers in it. The least width would tell how far
they spread, and a seal hides no length.
"""

import numpy as np

from utmost.errors import LedgerDamaged
from utmost.sampling.integers import Integers, narrowed

BLOCK = 1 << 16
"""How many cells are stored together."""

_WIDTHS = (1, 2, 4, 8)


def width_of(bits: int) -> int:
    """The bytes of a word for so many bits: 1, 2, 4, or a multiple of 8.

    >>> [width_of(bits) for bits in (8, 9, 33, 64, 65)]
    [1, 2, 8, 8, 16]
    """
    return next((width for width in _WIDTHS if bits <= 8 * width), -(-bits // 64) * 8)


def stored(integers: Integers, width: int) -> bytes:
    """The integers of one block, in words of ``width`` bytes, each -2^(8 width - 1) or more and below 2^(8 width - 1).

    An integer that fits no such word makes all words of its block longer: whoever chooses the width chooses how likely
    that is. The layout is that of `packed`, with -2^(8 width - 1) for the least.

    Args:
        width: 1, 2, 4, or a multiple of 8.

    Cost: 1 to 10 ns each; Python's speed for blocks with integers that exceed 64 bits.

    >>> stored(np.array([300, 298]), 2).hex(" ", 4) == stored(np.array([7, -7]), 2).hex(" ", 4)
    False
    >>> len(stored(np.array([300, 298]), 2)) == len(stored(np.array([7, -7]), 2))
    True
    """
    smallest, largest = (int(integers.min()), int(integers.max())) if integers.size else (0, 0)
    width = max(width, width_of(1 + max(largest, -smallest - 1).bit_length()))
    least = -(1 << (8 * width - 1))
    return _block(integers.size, width, least, _words(narrowed(integers), least, width))


def packed(integers: Integers) -> bytes:
    """The same in as few bytes as all need, for digests: equal integers give equal bytes, whatever the array's type.

    Layout, little-endian: count, width of an offset, length of the least (4 bytes each), the least, the offsets.

    Cost: a few ns each; Python's speed for those that exceed 64 bits.

    >>> packed(np.array([300, 298])).hex(" ", 4)
    '02000000 01000000 02000000 2a010200'
    """
    least = int(integers.min()) if integers.size else 0
    span = (int(integers.max()) - least) if integers.size else 0
    width = next((w for w in _WIDTHS if span < 1 << (8 * w)), (span.bit_length() + 7) // 8)
    return _block(integers.size, width, least, _offsets(integers, least, width))


def unpacked(content: bytes) -> Integers:
    """The integers that were stored or packed so, as int64 where all of them fit.

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
    if width % 8 == 0 and least == -(1 << (8 * width - 1)):
        words = np.frombuffer(body, dtype="<u8").reshape(count, width // 8)
        low = words[:, 0].astype(np.uint64).view(np.int64)
        if (words[:, 1:] == _above(low, width)).all():
            return low
    wide = np.empty(count, object)
    wide[:] = [least + int.from_bytes(body[at : at + width], "little") for at in range(0, len(body), width)]
    return narrowed(wide)


def _block(count: int, width: int, least: int, words: bytes) -> bytes:
    base = least.to_bytes(least.bit_length() // 8 + 1, "little", signed=True)
    head = b"".join(n.to_bytes(4, "little") for n in (count, width, len(base)))
    return head + base + words


def _words(integers: Integers, least: int, width: int) -> bytes:
    """The integers above the least; those of 64 bits in wider words without a detour through Python's."""
    if width <= 8 or integers.dtype == object:
        return _offsets(integers, least, width)
    low = integers.astype(np.int64)
    words = np.empty((low.size, width // 8), "<u8")
    words[:, 0] = low.view(np.uint64)
    words[:, 1:] = _above(low, width)
    return words.tobytes()


def _above(low: Integers, width: int) -> Integers:
    """The words above the lowest, of x + 2^(8 width - 1), for x of 64 bits; shape (n, width // 8 - 1)."""
    signs = (low >> 63).view(np.uint64)
    above = np.repeat(signs[:, np.newaxis], width // 8 - 1, axis=1)
    above[:, -1] ^= np.uint64(1 << 63)
    return above


def _offsets(integers: Integers, least: int, width: int) -> bytes:
    if width <= 8 and integers.dtype != object:
        return (integers.astype(np.int64).view(np.uint64) - np.uint64(least % (1 << 64))).astype(f"<u{width}").tobytes()
    return b"".join((one - least).to_bytes(width, "little") for one in integers.tolist())
