"""A channel: what each secret makes visible, and with what probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.channels.remap import Remap
from utmost.errors import NotAChannel, NotANumber, OutOfRange
from utmost.exact import Array, Number, as_array, exact, frozen, is_exact, one_world, product


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Channel:
    """A row-stochastic matrix C: C[x, y] is the probability of outcome y when the secret is x.

    Args:
        matrix: (n, m), nonnegative, float64 or Fraction.
        tolerance: how far a float64 row may be from summing to 1; exact rows sum to 1 exactly.

    Raises:
        NotAChannel: naming the row and its sum, or the negative entry.

    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> (coin @ coin).matrix[0].tolist()
    [Fraction(5, 8), Fraction(3, 8)]
    """

    matrix: Array

    def __init__(self, matrix: object, tolerance: float = 1e-9) -> None:
        try:
            array = as_array(matrix, "channel", ndim=2)
        except NotANumber as error:
            raise NotAChannel(error.required, came=error.came, mend=error.mend) from None
        _check_stochastic(array, tolerance)
        object.__setattr__(self, "matrix", array)

    @property
    def shape(self) -> tuple[int, int]:
        """(secrets, outcomes)."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def is_exact(self) -> bool:
        """Whether the entries are Fractions."""
        return is_exact(self.matrix)

    def __matmul__(self, after: object) -> "Channel":
        """C @ R: the outcome of this channel is the secret of the next one (post-processing)."""
        if isinstance(after, Remap):
            return _trusted(after.apply(self.matrix))
        then = after if isinstance(after, Channel) else Channel(after)
        if then.shape[0] != self.shape[1]:
            raise NotAChannel(f"what follows must have {self.shape[1]} rows, one for each outcome", came=then.shape[0])
        return _trusted(product(self.matrix, then.matrix))

    def restrict(self, rows: Sequence[int]) -> "Channel":
        """The same channel on some of the secrets, in the order given."""
        kept = np.asarray(rows)
        if kept.dtype == bool or kept.ndim != 1 or kept.size == 0:
            raise OutOfRange("rows must be a list of at least one secret", came=rows)
        return _trusted(self.matrix[kept])

    def mix(self, other: "Channel", p: Number) -> "Channel":
        """p C + (1 - p) D: one of two channels with the same outcomes is used, and nobody is told which."""
        weight = exact(p, "p")
        if not 0 <= weight <= 1:
            raise OutOfRange("p must lie between 0 and 1", came=p, where="mix")
        if self.shape != other.shape:
            raise NotAChannel(f"both channels must have the shape {self.shape}", came=other.shape)
        mine, theirs = one_world(self.matrix, other.matrix)
        share = weight if is_exact(mine) else float(weight)
        return _trusted(share * mine + (1 - share) * theirs)

    def same_as(self, other: "Channel", tolerance: float = 0.0) -> bool:
        """Whether both have the same shape and no entry differs by more than ``tolerance``."""
        return self.shape == other.shape and bool((abs(self.matrix - other.matrix) <= tolerance).all())

    def __reduce__(self) -> tuple[Any, ...]:
        return _trusted, (self.matrix,)

    def __repr__(self) -> str:
        n, m = self.shape
        return f"Channel({n} secrets, {m} outcomes, {'exact' if self.is_exact else 'float64'})"


def _trusted(matrix: Array) -> Channel:
    """A channel from a matrix that our own algebra made row-stochastic."""
    channel = object.__new__(Channel)
    object.__setattr__(channel, "matrix", frozen(np.array(matrix)))
    return channel


def _check_stochastic(matrix: Array, tolerance: float) -> None:
    if 0 in matrix.shape:
        raise NotAChannel("a channel needs at least one secret and one outcome", came=f"shape {matrix.shape}")
    for x, y in np.argwhere(matrix < 0)[:1]:
        raise NotAChannel(f"entry [{x}, {y}] of the channel must not be negative", came=matrix[x, y])
    sums = matrix.sum(axis=1)
    wrong = sums != 1 if is_exact(matrix) else abs(sums - 1) > tolerance
    for x in np.flatnonzero(wrong)[:1]:
        allowed = "" if is_exact(matrix) else f" within {tolerance}"
        raise NotAChannel(f"row {x} of the channel sums to {sums[x]}, expected 1{allowed}")
