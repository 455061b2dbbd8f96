"""A deterministic remap: which action a consumer takes for each outcome."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Array, as_array, checked, frozen, is_exact, natural


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Remap:
    """Outcome y becomes action ``actions[y]``. (A randomised remap is a `Channel` from outcomes to actions.)

    Args:
        actions: (m,) integers in 0, ..., size-1, one for each outcome.
        size: how many actions there are.
        ties: the outcomes at which another action would have done as well.

    Raises:
        OutOfRange: for actions that are no integers, or outside 0..size-1.

    Source: [ghosh2009], section 2.3.

    >>> Remap([0, 2, 2], size=3).matrix.tolist()[1]
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """

    actions: NDArray[np.intp]
    size: int
    ties: tuple[int, ...]

    @checked
    def __init__(self, actions: object, size: int, ties: Iterable[int] = ()) -> None:
        width = natural(size, "size", least=1)
        chosen = np.array(actions)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.size == 0:
            raise OutOfRange("a remap needs a list of integers, one action for each outcome", came=repr(actions))
        for y in np.flatnonzero((chosen < 0) | (chosen >= width))[:1]:
            raise OutOfRange(f"the action for outcome {y} must lie in 0..{width - 1}", came=int(chosen[y]))
        tied = tuple(sorted({natural(y, "a tied outcome") for y in ties}))
        if tied and tied[-1] >= chosen.size:
            raise OutOfRange(f"ties must be outcomes in 0..{chosen.size - 1}", came=tied[-1])
        object.__setattr__(self, "actions", frozen(chosen.astype(np.intp)))
        object.__setattr__(self, "size", width)
        object.__setattr__(self, "ties", tied)

    @classmethod
    @checked
    def identity(cls, size: int) -> "Remap":
        """Every outcome taken at face value."""
        return cls(np.arange(natural(size, "size", least=1)), size)

    @property
    def matrix(self) -> Array:
        """The remap as an (m, size) matrix of Fractions 0 and 1."""
        matrix = np.full((len(self.actions), self.size), Fraction(0), dtype=object)
        matrix[np.arange(len(self.actions)), self.actions] = Fraction(1)
        return frozen(matrix)

    def apply(self, matrix: Array) -> Array:
        """``matrix @ self.matrix`` without forming it: columns with the same action are added up. Cost: O(n m)."""
        matrix = as_array(matrix, "matrix", ndim=2)
        if matrix.shape[1] != len(self.actions):
            raise OutOfRange(f"this remap is for {len(self.actions)} outcomes", came=matrix.shape[1])
        merged = np.full((matrix.shape[0], self.size), Fraction(0) if is_exact(matrix) else 0.0, dtype=matrix.dtype)
        order = np.argsort(self.actions, kind="stable")
        used, starts = np.unique(self.actions[order], return_index=True)
        merged[:, used] = np.add.reduceat(matrix[:, order], starts, axis=1)
        return merged

    @checked
    def then(self, after: "Remap") -> "Remap":
        """First this remap, then another one on its actions."""
        if self.size != len(after.actions):
            raise OutOfRange(f"what follows must take {self.size} outcomes", came=len(after.actions))
        return Remap(after.actions[self.actions], after.size)

    @checked
    def same_as(self, other: "Remap") -> bool:
        """Whether both choose the same actions among equally many; ties may differ."""
        return self.size == other.size and np.array_equal(self.actions, other.actions)

    def __reduce__(self) -> tuple[Any, ...]:
        return Remap, (self.actions, self.size, self.ties)
