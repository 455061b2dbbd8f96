"""Strings of bits, and in how many places they differ."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import checked, natural
from utmost.spaces.metric import Metric
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True)
class HammingMetric(Metric):
    """d(x, y) = the number of binary digits in which x and y differ, for x, y in 0, ..., 2^bits - 1."""

    bits: int

    @property
    def size(self) -> int:  # noqa: D102
        return 1 << self.bits

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return np.bitwise_count(np.bitwise_xor(x, y)).astype(np.int64)

    def edges(self) -> NDArray[np.intp]:  # noqa: D102
        x = np.arange(self.size)[:, None]
        flipped = x | (1 << np.arange(self.bits))[None, :]
        x = np.broadcast_to(x, flipped.shape)
        return np.column_stack([x[x != flipped], flipped[x != flipped]])

    def labels(self) -> Sequence[Hashable]:  # noqa: D102
        return tuple(tuple(x >> b & 1 for b in reversed(range(self.bits))) for x in range(self.size))


@checked
def hamming(bits: int) -> Space:
    """All 2^bits strings of bits >= 1 binary digits, at the number of places in which they differ.

    Secret x has the label of its binary digits, first digit first.

    Source: [fernandes2022], section VI-D.

    >>> hamming(2).labels[1], hamming(2).edges.tolist()
    ((0, 1), [[0, 1], [0, 2], [1, 3], [2, 3]])
    """
    return Space(HammingMetric(natural(bits, "bits", least=1, most=24)))
