"""Multipliers of privacy that are mostly zero, as a list of those that are not."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """lambda_t >= 0 for the constraints X[low_t, action_t] >= alpha^d(low_t, high_t) X[high_t, action_t].

    Any pair of secrets may be named, an essential edge or not: what the type allows holds along all of them.

    Attributes:
        low, high: (N,) the two secrets.
        action: (N,) the column.
        value: (N,) the multipliers, floats or Fractions.

    Raises:
        OutOfRange: for lists of different lengths, a pair of one secret with itself, and negative numbers.

    >>> Multipliers([0], [1], [0], np.array([0.5])).total(1, (2, 1)).tolist()
    [[0.5], [0.0]]
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    action: NDArray[np.intp]
    value: Array

    def __post_init__(self) -> None:
        for name in ("low", "high", "action"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=np.intp)))
        object.__setattr__(self, "value", frozen(np.array(self.value)))
        if len({len(part) for part in (self.low, self.high, self.action, self.value)}) != 1:
            raise OutOfRange("multipliers need two secrets, an action and a value each", came=len(self.value))
        if (self.low == self.high).any():
            raise OutOfRange("a multiplier needs two different secrets")
        if min((int(part.min()) for part in (self.low, self.high, self.action) if part.size), default=0) < 0:
            raise OutOfRange("secrets and actions are numbered from 0")

    def __len__(self) -> int:
        return len(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Multipliers, (self.low, self.high, self.action, self.value)

    @property
    def pairs(self) -> NDArray[np.intp]:
        """(N, 2): low and high."""
        return np.column_stack([self.low, self.high])

    def total(self, factors: Any, shape: tuple[int, int], at_high: bool = False) -> Array:
        """The sums of factor times multiplier that meet at each secret and action: at the low secret, or the high."""
        found = np.zeros(shape, dtype=self.value.dtype)
        np.add.at(found, (self.high if at_high else self.low, self.action), factors * self.value)
        return found

    def most(self, shape: tuple[int, int]) -> int:
        """How many multipliers meet at most at one secret and action."""
        counted = np.zeros(shape, dtype=np.intp)
        for side in (self.low, self.high):
            np.add.at(counted, (side, self.action), 1)
        return int(counted.max(initial=0))
