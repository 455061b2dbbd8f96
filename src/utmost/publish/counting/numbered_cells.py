"""Number cells by hashes, for a domain with so many cells that 62-bit numbers are not enough.

A table of a hundred columns of ten values has 10^100 cells. Counting identifies a cell by a number of fewer than 62
bits. In this module the number of a cell is the first bits of a keyed hash of the cell. The hash depends on the key and
the cell only, so that the cells that are kept for a person still depend on the key and on the person's own rows only.
If two cells have the same number, counting stops with an error: among a million cells this happens in one of two
million tables.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.item_words import Identifiers, item_tags
from utmost.errors import OutOfRange
from utmost.publish.counting.bounding import begins, marking_secret
from utmost.tables.axes.few_cells import FewCells

_COMPACT = 1 << 20


class NumberedCells:
    """The cells of a domain that occur in events, as hashed numbers; ``bits`` is the length of a number."""

    def __init__(self, shape: Sequence[int], bits: int, key: bytes) -> None:
        self._shape, self.bits, self._secret = tuple(shape), bits, marking_secret(b"cell of many", key)
        self._kinds = [np.min_scalar_type(max(size - 1, 0)) for size in self._shape]
        self._width = sum(kind.itemsize for kind in self._kinds)
        nothing = np.zeros(0, dtype=np.int64), np.zeros((0, self._width), dtype=np.uint8)
        self._known, self._waiting, self._rows = nothing, [nothing], 0

    def numbers(self, places: Any) -> NDArray[np.int64]:
        """Hash n cells to numbers; ``places`` has their indices on the axes, shape (axes, n)."""
        columns = [np.asarray(row).astype(kind) for row, kind in zip(places, self._kinds, strict=True)]
        packed = np.concatenate([column[:, None].view(np.uint8) for column in columns], axis=1)
        rows, codes = np.unique(packed.view(f"V{self._width}").ravel(), return_inverse=True)
        cells = rows.view(np.uint8).reshape(-1, self._width)
        offsets = np.arange(len(cells) + 1, dtype=np.int64) * self._width
        tags = item_tags(self._secret, [Identifiers.of_buffers(offsets, cells.tobytes(), "bytes")])
        numbers = (tags[:, 0] >> np.uint64(64 - self.bits)).astype(np.int64)
        self._waiting.append((numbers, cells))
        self._rows += len(cells)
        if self._rows > _COMPACT + len(self._known[0]):
            self._gather()
        return numbers[codes.ravel()]

    def few(self, numbers: NDArray[np.int64], sums: NDArray[Any]) -> FewCells:
        """Return the cells with these distinct numbers, sorted, and their sums; leave out cells whose sum is 0."""
        self._gather()
        known, cells = self._known
        chosen = cells[np.searchsorted(known, numbers)]
        ends = np.cumsum([0, *(kind.itemsize for kind in self._kinds)])
        places = np.empty((len(self._shape), len(numbers)), dtype=np.int64)
        for at, kind in enumerate(self._kinds):
            places[at] = np.ascontiguousarray(chosen[:, ends[at] : ends[at + 1]]).view(kind).ravel()
        # lexsort sorts by the last key first: the first axis must be last.
        order = np.lexsort(places[::-1])
        order = order[sums[order] != 0]
        return FewCells(self._shape, places[:, order], sums[order])

    def _gather(self) -> None:
        numbers, cells = (np.concatenate(each) for each in zip(self._known, *self._waiting, strict=True))
        order = np.argsort(numbers, kind="stable")
        numbers, cells = numbers[order], cells[order]
        new = begins(numbers)
        same = (cells[1:] == cells[:-1]).all(axis=1)
        if not (new[1:] | same).all():
            remedy = "Count again with another counting key, or without one."
            raise OutOfRange(
                "two cells must not have the same hash", came="two cells with the same hash", where="key", remedy=remedy
            )
        self._known, self._waiting, self._rows = (numbers[new], cells[new]), [], 0
