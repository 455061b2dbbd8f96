"""A deterministic remap: which action a consumer takes for each outcome."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Array, frozen, is_exact


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Remap:
    """Outcome y becomes action ``actions[y]``; a randomised remap is a `Channel` from outcomes to actions.

    Args:
        actions: (m,) integers in 0, ..., size-1, one for each outcome.
        size: how many actions there are.
        ties: the outcomes at which another action would have done as well.

    >>> Remap([0, 2, 2], size=3).matrix.tolist()[1]
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """

    actions: NDArray[np.intp]
    size: int
    ties: tuple[int, ...]

    def __init__(self, actions: object, size: int, ties: Iterable[int] = ()) -> None:
        chosen = np.array(actions)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.size == 0:
            raise OutOfRange("a remap needs one whole-numbered action for each outcome", came=actions)
        for y in np.flatnonzero((chosen < 0) | (chosen >= size))[:1]:
            raise OutOfRange(f"the action for outcome {y} must lie in 0..{size - 1}", came=int(chosen[y]))
        object.__setattr__(self, "actions", frozen(chosen.astype(np.intp)))
        object.__setattr__(self, "size", int(size))
        object.__setattr__(self, "ties", tuple(int(y) for y in ties))

    @property
    def matrix(self) -> Array:
        """The remap as an (m, size) matrix of Fractions 0 and 1."""
        matrix = np.full((len(self.actions), self.size), Fraction(0), dtype=object)
        matrix[np.arange(len(self.actions)), self.actions] = Fraction(1)
        return frozen(matrix)

    def apply(self, matrix: Array) -> Array:
        """``matrix @ self.matrix`` without forming it: the columns with the same action are added up. Cost: O(n m)."""
        if matrix.shape[1] != len(self.actions):
            raise OutOfRange(f"the remap is for {len(self.actions)} outcomes", came=f"{matrix.shape[1]} columns")
        zero = Fraction(0) if is_exact(matrix) else 0.0
        merged = np.full((matrix.shape[0], self.size), zero, dtype=matrix.dtype)
        for y, action in enumerate(self.actions):
            merged[:, action] += matrix[:, y]
        return merged

    def same_as(self, other: "Remap") -> bool:
        """Whether both choose the same actions among equally many."""
        return self.size == other.size and np.array_equal(self.actions, other.actions)

    def __reduce__(self) -> tuple[Any, ...]:
        return Remap, (self.actions, self.size, self.ties)
