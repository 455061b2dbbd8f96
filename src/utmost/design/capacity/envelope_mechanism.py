"""Mechanisms whose columns are upper envelopes of steepest columns: private by construction."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.mechanisms import ImplicitMechanism
from utmost.errors import OutOfRange
from utmost.exact import Array, frozen
from utmost.privacy import PrivacyType

_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class EnvelopeFacts:
    """What the columns of an envelope add up to.

    Attributes:
        least, most: the least and the largest sum of a row, from below and from above.
        largest: at most the sum of the columns' largest entries.
        smallest: at least the sum of the columns' smallest entries.
    """

    least: Fraction
    most: Fraction
    largest: Fraction
    smallest: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class EnvelopeMechanism(ImplicitMechanism):
    """M[x, c] = max over y of alpha^d(x, y) heights[y, c], and one more column that makes the rows sum to 1.

    A column is the least private one above its heights: heights that are private but for their rounding are hardly
    moved. Whatever the numbers, only the last column has to be looked at.

    Attributes:
        ptype: n secrets.
        heights: (n, k) nonnegative float64.
    """

    ptype: PrivacyType
    heights: NDArray[np.float64]

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=np.float64)
        if heights.ndim != 2 or len(heights) != self.ptype.space.size:
            raise OutOfRange("an envelope needs a row of heights for each secret", came=heights.shape)
        if not ((heights >= 0) & (heights <= 1)).all():
            raise OutOfRange("heights must lie between 0 and 1", came="another one")
        object.__setattr__(self, "heights", frozen(heights))

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return len(self.heights), self.heights.shape[1] + 1

    @property
    def matrix(self) -> Array:  # noqa: D102
        columns = self.columns()
        return frozen(np.column_stack([columns, np.maximum(1 - columns.sum(axis=1), 0.0)]))

    def columns(self) -> NDArray[np.float64]:
        """The columns but the last, (n, k); each entry is right to six units of roundoff. Cost: O(n^2 k)."""
        kernel = Kernel.of(self.ptype)
        middles = [(power.lower + power.upper) / 2 for power in kernel.intervals(1100)]
        powers = np.array([float(middle) for middle in middles])
        n, k = self.heights.shape
        found = np.empty((n, k))
        step = max(1, _BLOCK // (n * k))
        for start in range(0, n, step):
            block = powers[kernel.kinds[start : start + step]]
            found[start : start + step] = (block[:, :, None] * self.heights).max(axis=1)
        return found

    def facts(self) -> "EnvelopeFacts":
        """What the columns but the last add up to, rounded outward.

        A power is right to one unit of roundoff of its own and a product to another; k additions add one each.
        """
        columns = self.columns()
        error, tiny = Fraction(self.heights.shape[1] + 8, 1 << 53), Fraction(1, 1 << 900)
        sums = columns.sum(axis=1)
        largest = sum(map(Fraction, self.heights.max(axis=0).tolist()), Fraction(0))
        smallest = sum(map(Fraction, columns.min(axis=0).tolist()), Fraction(0))
        return EnvelopeFacts(
            Fraction(float(sums.min())) * (1 - error) - tiny,
            Fraction(float(sums.max())) * (1 + error) + tiny,
            largest,
            smallest * (1 + error) + tiny * self.heights.shape[1],
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return EnvelopeMechanism, (self.ptype, self.heights)
