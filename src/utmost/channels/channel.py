"""A channel: what each secret makes visible, and with what probability."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.channels.columns import merged_columns
from utmost.channels.remap import Remap
from utmost.errors import NotAChannel, NotANumber, OutOfRange, quoted
from utmost.exact import (
    Array,
    Number,
    as_array,
    checked,
    exact,
    frozen,
    is_exact,
    nearest,
    one_world,
    plain_array,
    product,
    to_floats,
)

Labels = tuple[Hashable, ...] | None


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Channel:
    """A row-stochastic matrix C: C[x, y] is the probability of outcome y when the secret is x.

    Args:
        matrix: (n, m), nonnegative, float64 or Fraction.
        secrets: a name for each row, if wanted.
        outcomes: a name for each column, if wanted.
        tolerance: how far a float64 row may be from summing to 1 (solvers round at about 1e-9). The sum of an exact
            row is exactly 1.

    Raises:
        NotAChannel: naming the row and its sum, or the negative entry.

    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> (coin @ coin).matrix[0].tolist()
    [Fraction(5, 8), Fraction(3, 8)]
    """

    matrix: Array
    secrets: Labels
    outcomes: Labels

    @checked
    def __init__(
        self,
        matrix: object,
        secrets: Sequence[Hashable] | None = None,
        outcomes: Sequence[Hashable] | None = None,
        *,
        tolerance: float = 1e-9,
    ) -> None:
        try:
            array = as_array(matrix, "channel", ndim=2)
        except NotANumber as error:
            raise NotAChannel(error.required, came=error.came, mend=error.mend) from None
        _check_stochastic(array, tolerance)
        _keep(self, array, _names(secrets, array.shape[0], "secret"), _names(outcomes, array.shape[1], "outcome"))

    @property
    def shape(self) -> tuple[int, int]:
        """(secrets, outcomes)."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def is_exact(self) -> bool:
        """Whether the entries are Fractions."""
        return is_exact(self.matrix)

    def __matmul__(self, after: "Channel | Remap | object") -> "Channel":
        """C @ R, post-processing: each outcome of C is the secret of R (a channel, a `Remap`, or a matrix)."""
        m = self.shape[1]
        if isinstance(after, Remap):
            return stochastic(after.apply(self.matrix), self.secrets)
        then = after if isinstance(after, Channel) else Channel(after)
        if then.shape[0] != m:
            raise NotAChannel(f"what follows must have {m} rows, one for each outcome", came=then.shape[0], where="@")
        return stochastic(product(self.matrix, then.matrix), self.secrets, then.outcomes)

    def restrict(self, rows: Sequence[int]) -> "Channel":
        """The same channel on some of the secrets only, in the order given.

        Source: [fernandes2022], section IV-C.
        """
        kept = plain_array(rows, "list of rows")
        if kept.dtype.kind not in "iu" or kept.ndim != 1 or kept.size == 0:
            raise OutOfRange("rows must be a list of at least one secret", came=quoted(rows), where="restrict")
        if kept.min() < 0 or kept.max() >= self.shape[0]:
            raise OutOfRange(f"rows must lie in 0..{self.shape[0] - 1}", came=quoted(rows), where="restrict")
        names = None if self.secrets is None else tuple(self.secrets[x] for x in kept.tolist())
        return stochastic(self.matrix[kept], names, self.outcomes)

    @checked
    def mix(self, other: "Channel", p: Number) -> "Channel":
        """p C + (1 - p) D: one of two channels with the same outcomes is used, and nobody is told which.

        It is the refinement of `choose` that forgets which channel was used.
        """
        if self.shape != other.shape:
            raise NotAChannel(f"channels that are mixed must both have the shape {self.shape}", came=other.shape)
        mine, theirs = _weighted(self.matrix, other.matrix, p)
        return stochastic(mine + theirs, self.secrets, self.outcomes)

    @checked
    def choose(self, other: "Channel", p: Number) -> "Channel":
        """[p C | (1 - p) D]: one of two channels is used, and it is seen which (external probabilistic choice).

        The outcomes of C come first; names of outcomes are dropped.

        Source: [fernandes2022], section IV-C (the choice M p(+) M').
        """
        _check_same_secrets(self, other)
        return stochastic(np.concatenate(_weighted(self.matrix, other.matrix, p), axis=1), self.secrets)

    @checked
    def parallel(self, other: "Channel") -> "Channel":
        """Both channels run independently on one secret: outcome (y, z), numbered y m' + z, has C[x, y] D[x, z]."""
        _check_same_secrets(self, other)
        mine, theirs = one_world(self.matrix, other.matrix)
        both = mine[:, :, None] * theirs[:, None, :]
        names = None
        if self.outcomes is not None and other.outcomes is not None:
            names = tuple((y, z) for y in self.outcomes for z in other.outcomes)
        return stochastic(both.reshape(len(mine), -1), self.secrets, names)

    @checked
    def relabel(
        self, secrets: Sequence[Hashable] | None = None, outcomes: Sequence[Hashable] | None = None
    ) -> "Channel":
        """The same matrix with other names; names that are not given are kept."""
        n, m = self.shape
        rows, columns = _names(secrets, n, "secret"), _names(outcomes, m, "outcome")
        return stochastic(
            self.matrix, self.secrets if rows is None else rows, self.outcomes if columns is None else columns
        )

    @checked
    def merge_columns(self, tolerance: float = 1e-12) -> "Channel":
        """The reduced channel: outcomes that say the same become one, and impossible outcomes are dropped.

        Two outcomes say the same when their columns are proportional: they then lead every prior to the same posterior.

        Args:
            tolerance: for float64 columns: how far two normalised columns may differ, entry by entry.

        Returns:
            The channel of the merged columns, in order of first appearance; a merged outcome is named by the tuple of
            the outcomes in it, if these have names.

        Source: [fernandes2022], section II-A: equal channels up to this have equal hypers.
        """
        matrix, groups = merged_columns(self.matrix, tolerance)
        names = None if self.outcomes is None else tuple(tuple(self.outcomes[y] for y in group) for group in groups)
        return stochastic(matrix, self.secrets, names)

    @checked
    def same_as(self, other: "Channel", tolerance: float = 0.0) -> bool:
        """Whether the matrices have one shape and no entry differs by more than ``tolerance``; names may differ."""
        if self.shape != other.shape:
            return False
        if tolerance == 0:
            return bool((self.matrix == other.matrix).all())
        return bool((abs(self.matrix - other.matrix) <= tolerance).all())

    def to_floats(self) -> "Channel":
        """The channel of the nearest float64 entries; it may keep its promises only up to rounding."""
        return stochastic(to_floats(self.matrix), self.secrets, self.outcomes) if self.is_exact else self

    def __reduce__(self) -> tuple[Any, ...]:
        return stochastic, (self.matrix, self.secrets, self.outcomes)

    def __repr__(self) -> str:
        n, m = self.shape
        return f"Channel({n} secrets, {m} outcomes, {'exact' if self.is_exact else 'float64'})"


def stochastic(matrix: Array, secrets: Labels = None, outcomes: Labels = None) -> Channel:
    """A channel from a matrix that is row-stochastic by construction: our own algebra or a closed form. No check."""
    channel = object.__new__(Channel)
    _keep(channel, frozen(matrix), secrets, outcomes)
    return channel


def _keep(channel: Channel, matrix: Array, secrets: Labels, outcomes: Labels) -> None:
    object.__setattr__(channel, "matrix", matrix)
    object.__setattr__(channel, "secrets", secrets)
    object.__setattr__(channel, "outcomes", outcomes)


def _weighted(mine: Array, theirs: Array, p: Number) -> tuple[Array, Array]:
    weight = exact(p, "p")
    if not 0 <= weight <= 1:
        raise OutOfRange("p must lie between 0 and 1", came=p)
    mine, theirs = one_world(mine, theirs)
    if is_exact(mine):
        return weight * mine, (1 - weight) * theirs
    return nearest(weight) * mine, nearest(1 - weight) * theirs


def _check_same_secrets(one: Channel, other: Channel) -> None:
    if one.shape[0] != other.shape[0]:
        raise NotAChannel(f"both channels must have {one.shape[0]} secrets", came=other.shape[0])


def _names(names: Sequence[Hashable] | None, size: int, what: str) -> Labels:
    if names is None:
        return None
    given = tuple(names)
    if len(given) != size:
        raise NotAChannel(f"a channel with {size} {what}s needs {size} names for them", came=len(given))
    return given


def _check_stochastic(matrix: Array, tolerance: float) -> None:
    if 0 in matrix.shape:
        raise NotAChannel("a channel needs at least one secret and one outcome", came=f"shape {matrix.shape}")
    for x, y in np.argwhere(matrix < 0)[:1]:
        raise NotAChannel(f"entry [{x}, {y}] of the channel must not be negative", came=str(matrix[x, y]))
    sums = matrix.sum(axis=1)
    wrong = sums != 1 if is_exact(matrix) else abs(sums - 1) > tolerance
    for x in np.flatnonzero(wrong)[:1]:
        within = "" if is_exact(matrix) else f" within {tolerance}"
        raise NotAChannel(f"row {x} of the channel sums to {sums[x]}, expected 1{within}")
