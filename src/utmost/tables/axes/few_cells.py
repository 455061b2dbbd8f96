"""The nonzero cells of a large domain. Each number is stored with its position on every axis.

A domain of fourteen attributes has 10^17 cells, but a table of a million people has at most a million nonzero cells. So
memory depends on the number of nonzero cells, and the sums of a marginal add up only these cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import frozen, with_room_for
from utmost.errors import BadTable, Unsupported
from utmost.tables.axes.hat_functions import DIFFERENCE

if TYPE_CHECKING:
    from utmost.tables.axes.axes import Axis

MOST_LAID = 1 << 28
"""The most cells of a domain that is stored as an array. A larger domain is stored as `FewCells`."""

_FITS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class FewCells:
    """The nonzero cells of a product of axes, in the order of the cells."""

    shape: tuple[int, ...]  # number of values of each axis
    places: NDArray[Any] = field(repr=False)  # (axes, cells): position of each cell's value on each axis
    numbers: NDArray[Any] = field(repr=False)  # (cells,): the numbers, integers other than 0

    def __post_init__(self) -> None:
        places, numbers = np.asarray(self.places), np.asarray(self.numbers)
        if places.shape != (len(self.shape), *numbers.shape) or numbers.ndim != 1 or numbers.dtype.kind not in "iuO":
            raise BadTable("every cell must have a position on each axis, and an integer value", came="other arrays")
        above = np.array(self.shape, dtype=object)
        if len(numbers) and ((places.min(axis=1) < 0).any() or (places.max(axis=1) >= above).any()):
            raise BadTable("every cell must lie in the domain", came="a cell outside the domain")
        # The columns of `places` must ascend in lexicographic order: of two neighbouring columns, the second one has
        # the larger number in the first row in which they differ.
        rises, falls = np.zeros(max(0, len(numbers) - 1), dtype=bool), False
        for row in places:
            falls = falls or bool((~rises & (row[1:] < row[:-1])).any())
            rises |= row[1:] > row[:-1]
        if falls or not rises.all() or (numbers == 0).any():
            raise BadTable("cells must be distinct, in ascending order, and other than 0", came="other cells")
        object.__setattr__(self, "places", frozen(places.astype(np.min_scalar_type(max(self.shape, default=1)))))
        fits = numbers.dtype != object and int(numbers.max(initial=0)) < _FITS
        object.__setattr__(self, "numbers", frozen(numbers.astype(np.int64 if fits else object)))

    def __reduce__(self) -> tuple[Any, ...]:
        return FewCells, (self.shape, self.places, self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    @classmethod
    def of_numbers(cls, shape: tuple[int, ...], cells: NDArray[np.int64], numbers: NDArray[Any]) -> "FewCells":
        """Create `FewCells` from flat indices of cells, as `numpy.ravel_multi_index` gives them. Zeros are left out."""
        order = np.argsort(cells, kind="stable")
        order = order[numbers[order] != 0]
        rest, places = cells[order], np.empty((len(shape), len(order)), dtype=np.int64)
        for place in range(len(shape) - 1, -1, -1):
            rest, places[place] = np.divmod(rest, shape[place])
        return cls(shape, places, numbers[order])

    def sums(self, axes: "Sequence[Axis]", marginal: Sequence[int]) -> NDArray[Any]:
        """The sums over the groups of a marginal, in one row, as int64, or as Python integers if int64 could
        overflow.
        """
        own_axes = [at for at, (axis, level) in enumerate(zip(axes, marginal, strict=True)) if level < len(axis.levels)]
        size = prod(axes[at].groups(marginal[at]) for at in own_axes)
        check_laid(size)
        groups, numbers = np.zeros(len(self), dtype=np.int64), self.numbers
        for at in own_axes:
            level, places = marginal[at], self.places[at]
            if level == DIFFERENCE:
                numbers = np.where(places == 0, numbers, -numbers)
                continue
            if level < 0:
                remedy = "Measure marginals of levels, without hat functions."
                raise Unsupported(
                    f"hat functions need a domain of at most {MOST_LAID} cells", came=level, remedy=remedy
                )
            of = places if level == 0 else axes[at].group_of(level)[places]
            groups = groups * axes[at].groups(level) + of
        wide = with_room_for(numbers, max(1, len(numbers)))
        sums: NDArray[Any] = np.zeros(size, wide.dtype)
        np.add.at(sums, groups, wide)
        return sums


def check_laid(size: int) -> None:
    """Check that a table has at most `MOST_LAID` cells."""
    if size > MOST_LAID:
        remedy = (
            "Use fewer columns together: release the tables that you want by a plan: ut.choose_plan, or utmost plan."
        )
        raise Unsupported(f"a table may have at most {MOST_LAID} cells", came=size, remedy=remedy)
