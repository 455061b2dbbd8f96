"""Represent a finite mechanism by the matrix of the probabilities of its outcomes for each secret, and remap its
outcomes.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, iterable, label, real, sequence_of
from utmost.core.exact.arrays import (
    Array,
    PickledByFields,
    as_array,
    check_array,
    frozen,
    is_exact,
    plain_array,
    same_numbers,
    to_floats,
)
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import nearest
from utmost.core.exact.linear_algebra import matrix_product
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number, between_0_and_1, natural, refused_as
from utmost.core.sampling.draw import DrawMethod
from utmost.core.sampling.random_bits import Randomness
from utmost.design.channels.channel_draws import NamedMechanism, drawn_by_rows
from utmost.errors import NotAChannel, OutOfRange, quoted


def merged_columns(matrix: Array, tolerance: float) -> tuple[Array, list[list[int]]]:
    """Return a matrix with proportional columns added up and zero columns removed, and the list of columns in each
    sum.
    """
    check_array(matrix, "matrix", 2)
    sums = matrix.sum(axis=0)
    groups: list[list[int]] = []
    if is_exact(matrix):
        same: dict[Hashable, list[int]] = {}
        for y in np.flatnonzero(sums != 0).tolist():
            same.setdefault(tuple(matrix[:, y] / sums[y]), []).append(y)
        groups = list(same.values())
    else:
        # Compare a normalised column with the first column of each group, so that groups do not drift. First compare
        # the mean row index under each normalised column: columns that agree have nearly equal means, and few others
        # do.
        firsts, means = np.empty((matrix.shape[1], matrix.shape[0])), np.empty(matrix.shape[1])
        rows = np.arange(matrix.shape[0])
        for y in np.flatnonzero(sums > 0).tolist():
            direction = matrix[:, y] / sums[y]
            mean, count = float(direction @ rows), len(groups)
            likely = np.flatnonzero(abs(means[:count] - mean) <= (tolerance + 1e-15) * rows.sum())
            near = likely[(abs(firsts[likely] - direction) <= tolerance).all(axis=1)]
            if near.size:
                groups[near[0]].append(y)
            else:
                firsts[count], means[count] = direction, mean
                groups.append([y])
    merged = np.empty((matrix.shape[0], len(groups)), dtype=matrix.dtype)
    for k, group in enumerate(groups):
        merged[:, k] = matrix[:, group].sum(axis=1)
    return merged, groups


ChannelLabels = tuple[Hashable, ...] | None


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Channel(Display):
    """A mechanism as a row-stochastic matrix C: C[x, y] is the probability of outcome y if the secret is x.

    Args:
        matrix: Nonnegative matrix (n, m) of float64 or Fractions.
        secrets: Names of the rows, or None.
        outcomes: Names of the columns, or None.
        tolerance: Largest accepted distance of the sum of a float64 row from 1 (solvers round at about 1e-9). An exact
            row must sum to exactly 1.

    Raises:
        NotAChannel: if an entry is negative, or if the sum of a row is not 1.

    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> (coin @ coin).matrix[0].tolist()
    [Fraction(5, 8), Fraction(3, 8)]
    """

    matrix: Array
    secrets: ChannelLabels
    outcomes: ChannelLabels

    def __init__(
        self,
        matrix: object,
        secrets: Sequence[Hashable] | None = None,
        outcomes: Sequence[Hashable] | None = None,
        *,
        tolerance: float = 1e-9,
    ) -> None:
        if secrets is not None:
            sequence_of(secrets, label, "secrets")
        if outcomes is not None:
            sequence_of(outcomes, label, "outcomes")
        tolerance = real(tolerance, "tolerance")
        with refused_as(NotAChannel):
            array = as_array(matrix, "channel", ndim=2)
        if 0 in array.shape:
            remedy = "Pass an (n, m) matrix of probabilities."
            raise NotAChannel(
                "a channel needs at least one secret and one outcome", came=f"shape {array.shape}", remedy=remedy
            )
        for x, y in np.argwhere(array < 0)[:1]:
            raise NotAChannel(f"entry [{x}, {y}] of the channel must not be negative", came=str(array[x, y]))
        sums = array.sum(axis=1)
        wrong = sums != 1 if is_exact(array) else abs(sums - 1) > tolerance
        for x in np.flatnonzero(wrong)[:1]:
            within = "" if is_exact(array) else f" within {tolerance}"
            raise NotAChannel(
                f"row {x} of the channel must sum to 1{within}",
                came=str(sums[x]),
                remedy="Divide the row by its sum if its entries are weights.",
            )
        _set_fields(self, array, _names(secrets, array.shape[0], "secret"), _names(outcomes, array.shape[1], "outcome"))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers (n, m) of secrets and outcomes."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def is_exact(self) -> bool:
        """Whether the entries are Fractions."""
        return is_exact(self.matrix)

    def __matmul__(self, after: "Channel | Remap | object") -> "Channel":
        """Return C @ R: C post-processed by R, a channel, a `Remap` or a matrix with a row for each outcome of C."""
        m = self.shape[1]
        if isinstance(after, Remap):
            return stochastic(after.apply(self.matrix), self.secrets)
        then = after if isinstance(after, Channel) else Channel(after)
        if then.shape[0] != m:
            remedy = f"Multiply by a channel or remap with {m} rows."
            raise NotAChannel(
                f"the right factor must have {m} rows, one for each outcome",
                came=then.shape[0],
                where="@",
                remedy=remedy,
            )
        return stochastic(matrix_product(self.matrix, then.matrix), self.secrets, then.outcomes)

    def restrict(self, rows: Sequence[int]) -> "Channel":
        """Return the channel on the given secrets only, in the given order.

        Source: [fernandes2022], section IV-C.
        """
        restriction = plain_array(rows, "list of rows")
        if restriction.dtype.kind not in "iu" or restriction.ndim != 1 or restriction.size == 0:
            raise OutOfRange(
                "rows must be a list of at least one secret",
                came=quoted(rows),
                where="restrict",
                remedy="Pass indices of rows, such as [0, 2].",
            )
        if restriction.min() < 0 or restriction.max() >= self.shape[0]:
            raise OutOfRange(f"rows must lie in 0..{self.shape[0] - 1}", came=quoted(rows), where="restrict")
        names = None if self.secrets is None else tuple(self.secrets[x] for x in restriction.tolist())
        return stochastic(self.matrix[restriction], names, self.outcomes)

    def mix(self, other: "Channel", p: Number) -> "Channel":
        """Return p C + (1 - p) D: use C with probability p, else D, and do not reveal which channel was used.

        Both channels must have the same outcomes. The result is a refinement of `choose`, which reveals the choice.
        """
        instance(other, Channel, "other")
        if self.shape != other.shape:
            raise NotAChannel(
                f"channels to mix must both have the shape {self.shape}",
                came=other.shape,
                remedy="Use choose, or post-process the channels to the same outcomes.",
            )
        mine, theirs = _weighted(self.matrix, other.matrix, p)
        return stochastic(mine + theirs, self.secrets, self.outcomes)

    def choose(self, other: "Channel", p: Number) -> "Channel":
        """Return [p C | (1 - p) D]: use C with probability p, else D, and reveal which channel was used.

        The outcomes of C come first, and the outcomes of the result have no names.

        Source: [fernandes2022], section IV-C (the choice M p(+) M').
        """
        instance(other, Channel, "other")
        _check_same_secrets(self, other)
        return stochastic(np.concatenate(_weighted(self.matrix, other.matrix, p), axis=1), self.secrets)

    def parallel(self, other: "Channel") -> "Channel":
        """Return the channel that applies both channels to the same secret, independently. If D has m' outcomes,
        outcome y m' + z has probability C[x, y] D[x, z].
        """
        instance(other, Channel, "other")
        _check_same_secrets(self, other)
        mine, theirs = same_numbers(self.matrix, other.matrix)
        both = mine[:, :, None] * theirs[:, None, :]
        names = None
        if self.outcomes is not None and other.outcomes is not None:
            names = tuple((y, z) for y in self.outcomes for z in other.outcomes)
        return stochastic(both.reshape(len(mine), -1), self.secrets, names)

    def relabel(
        self, secrets: Sequence[Hashable] | None = None, outcomes: Sequence[Hashable] | None = None
    ) -> "Channel":
        """Return the channel with other names of secrets or outcomes; names that are left out do not change."""
        if secrets is not None:
            sequence_of(secrets, label, "secrets")
        if outcomes is not None:
            sequence_of(outcomes, label, "outcomes")
        n, m = self.shape
        rows, columns = _names(secrets, n, "secret"), _names(outcomes, m, "outcome")
        return stochastic(
            self.matrix, self.secrets if rows is None else rows, self.outcomes if columns is None else columns
        )

    def merge_columns(self, tolerance: float = 1e-12) -> "Channel":
        """Return the channel with proportional columns added up and impossible outcomes removed (the reduced channel).

        Outcomes with proportional columns give every prior the same posterior, so they reveal the same information.

        Args:
            tolerance: Largest difference of two entries for which float64 columns, scaled to sum 1, count as
                proportional.

        Returns:
            The reduced channel, with columns in order of first appearance. If outcomes have names, the name of a merged
            outcome is the tuple of the names of its outcomes.

        Source: [fernandes2022], section II-A: channels with equal reductions have equal hypers.
        """
        tolerance = real(tolerance, "tolerance")
        matrix, groups = merged_columns(self.matrix, tolerance)
        names = None if self.outcomes is None else tuple(tuple(self.outcomes[y] for y in group) for group in groups)
        return stochastic(matrix, self.secrets, names)

    def same_as(self, other: "Channel", tolerance: float = 0.0) -> bool:
        """Return whether both matrices have equal shapes, and entries equal up to ``tolerance``; names may differ."""
        instance(other, Channel, "other")
        tolerance = real(tolerance, "tolerance")
        if self.shape != other.shape:
            return False
        if tolerance == 0:
            return bool((self.matrix == other.matrix).all())
        return bool((abs(self.matrix - other.matrix) <= tolerance).all())

    def draw(
        self,
        secrets: Any,
        shape: int | tuple[int, ...] = (),
        *,
        randomness: Any = None,
        method: DrawMethod | None = None,
    ) -> Any:
        """Draw an outcome for each secret, with exactly the probabilities in the row of the secret.

        The outcome may be published; each further draw for the same secret spends the level of the channel again.

        Args:
            secrets: Secret, or list or array of secrets. A secret is an index or, if secrets have names, a name. (If
                some names are numbers, a number is read as a name.) If secrets are names, outcomes are names too.
            shape: Shape of the independent draws for each secret; () for one draw.
            randomness: Source of random bits, by default the operating system; it must not be predictable.
            method: "constant" makes the same n m comparisons in each draw, whatever the secret and the outcome. "table"
                is faster, but other programs may observe its table look-ups through shared caches. The default is
                "constant" if that takes at most 0.1 seconds, else "table".

        Returns:
            One outcome, or an array of outcomes; its shape is ``shape`` followed by the shape of ``secrets``.

        Raises:
            Unsupported: if the channel has float entries, which satisfy no level exactly; apply `utmost.optima.repair`
                first.
            OutOfRange: if a secret is unknown; the message gives its position in the list, not the secret.
            PromiseBroken: if the randomness is predictable; tests call `utmost.testing.seeded_draw`.

        Cost: 10^6 draws by table in 0.1 to 0.3 seconds.

        >>> survey = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
        >>> survey.draw("yes") in ("yes", "no"), survey.draw([0, 1, 1]).shape, survey.draw(0, shape=5).max() <= 1
        (True, (3,), np.True_)
        """
        return self._drawing().draw(secrets, shape, randomness, method)

    def _drawing(self) -> NamedMechanism:
        return NamedMechanism(self, self.secrets, self.outcomes)

    @property
    def _secret_count(self) -> int:
        return self.shape[0]

    def _numbers(self, rows: NDArray[np.intp], bits: Randomness, method: DrawMethod | None) -> NDArray[np.intp]:
        return drawn_by_rows(self, rows, bits, method)

    def to_floats(self) -> "Channel":
        """Return the channel with the nearest float64 entries; its privacy level holds only up to rounding."""
        return stochastic(to_floats(self.matrix), self.secrets, self.outcomes) if self.is_exact else self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the matrix as an array in ``dtype``; by default Fractions if the channel is exact, else float64."""
        return np.array(self.matrix, dtype=dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return stochastic, (self.matrix, self.secrets, self.outcomes)

    def __repr__(self) -> str:
        n, m = self.shape
        return f"Channel({n} secrets, {m} outcomes, {'exact' if self.is_exact else 'float64'})"


def stochastic(matrix: Array, secrets: ChannelLabels = None, outcomes: ChannelLabels = None) -> Channel:
    """Return a channel without checks, from a matrix that is row-stochastic by construction."""
    check_array(matrix, "channel", 2)
    channel = object.__new__(Channel)
    _set_fields(channel, frozen(matrix), secrets, outcomes)
    return channel


def _set_fields(channel: Channel, matrix: Array, secrets: ChannelLabels, outcomes: ChannelLabels) -> None:
    object.__setattr__(channel, "matrix", matrix)
    object.__setattr__(channel, "secrets", secrets)
    object.__setattr__(channel, "outcomes", outcomes)


def _weighted(mine: Array, theirs: Array, p: Number) -> tuple[Array, Array]:
    weight = between_0_and_1(p, "p", strictly=False)
    mine, theirs = same_numbers(mine, theirs)
    if is_exact(mine):
        return weight * mine, (1 - weight) * theirs
    return nearest(weight) * mine, nearest(1 - weight) * theirs


def _check_same_secrets(first: Channel, second: Channel) -> None:
    if first.shape[0] != second.shape[0]:
        raise NotAChannel(
            f"both channels must have {first.shape[0]} secrets",
            came=second.shape[0],
            remedy="Restrict one of the channels to the same secrets.",
        )


def _names(names: Sequence[Hashable] | None, size: int, what: str) -> ChannelLabels:
    if names is None:
        return None
    labels = tuple(names)
    if len(labels) != size:
        raise NotAChannel(f"a channel with {size} {what}s needs {size} names for them", came=len(labels))
    return labels


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Remap(Display, PickledByFields):
    """A deterministic remap: outcome y leads to action ``actions[y]``. (A randomised remap is a `Channel`.)

    Args:
        actions: Action of each of the m outcomes: an integer in 0, ..., size-1.
        size: Number of actions.
        ties: Outcomes for which another action is equally good.

    Raises:
        OutOfRange: if an action is not an integer in 0..size-1.

    Source: [ghosh2009], section 2.3.

    >>> Remap([0, 2, 2], size=3).matrix.tolist()[1]
    [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """

    actions: NDArray[np.intp]
    size: int
    ties: tuple[int, ...]

    def __init__(self, actions: object, size: int, ties: Iterable[int] = ()) -> None:
        width = natural(size, "size", least=1)
        tied = tuple(sorted({natural(y, "a tied outcome") for y in iterable(ties, "ties")}))
        chosen = np.array(actions)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.size == 0:
            raise OutOfRange(
                "a remap needs a list of integers, one action for each outcome",
                came=actions,
                remedy="Pass the index of an action for each outcome, such as [0, 2, 2].",
            )
        for y in np.flatnonzero((chosen < 0) | (chosen >= width))[:1]:
            raise OutOfRange(f"the action for outcome {y} must lie in 0..{width - 1}", came=int(chosen[y]))
        if tied and tied[-1] >= chosen.size:
            raise OutOfRange(f"ties must be outcomes in 0..{chosen.size - 1}", came=tied[-1])
        object.__setattr__(self, "actions", frozen(chosen.astype(np.intp)))
        object.__setattr__(self, "size", width)
        object.__setattr__(self, "ties", tied)

    @classmethod
    @fitting_memory("identity")
    def identity(cls, size: int) -> "Remap":
        """Return the remap that maps outcome y to action y."""
        width = natural(size, "size", least=1)
        return cls(np.arange(width), width)

    @property
    def matrix(self) -> Array:
        """The remap as an (m, size) matrix of Fractions 0 and 1."""
        matrix = np.full((len(self.actions), self.size), Fraction(0), dtype=object)
        matrix[np.arange(len(self.actions)), self.actions] = Fraction(1)
        return frozen(matrix)

    def apply(self, matrix: Array) -> Array:
        """Return ``matrix @ self.matrix``: add up the columns with the same action. Cost: O(n m)."""
        matrix = as_array(matrix, "matrix", ndim=2)
        if matrix.shape[1] != len(self.actions):
            raise OutOfRange(
                f"the channel must have {len(self.actions)} outcomes, as many as this remap", came=matrix.shape[1]
            )
        merged = np.full((matrix.shape[0], self.size), Fraction(0) if is_exact(matrix) else 0.0, dtype=matrix.dtype)
        order = np.argsort(self.actions, kind="stable")
        used, starts = np.unique(self.actions[order], return_index=True)
        merged[:, used] = np.add.reduceat(matrix[:, order], starts, axis=1)
        return merged

    def then(self, after: "Remap") -> "Remap":
        """Return the remap that applies this remap, and then the remap ``after`` to its actions."""
        instance(after, Remap, "after")
        if self.size != len(after.actions):
            raise OutOfRange(
                f"the second remap must have {self.size} outcomes",
                came=len(after.actions),
                remedy="Pass as after= a remap of the actions of this remap, with one outcome for each of them.",
            )
        return Remap(after.actions[self.actions], after.size)

    def same_as(self, other: "Remap") -> bool:
        """Return whether both remaps have equal actions and sizes; ties may differ."""
        instance(other, Remap, "other")
        return self.size == other.size and np.array_equal(self.actions, other.actions)
