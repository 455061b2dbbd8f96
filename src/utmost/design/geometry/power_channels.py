"""Represent mechanisms with exact irrational probabilities, such as those on Euclidean grids or at rational epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, sequence
from utmost.core.exact.arrays import Array, fractions, frozen, objects
from utmost.core.exact.display import Display
from utmost.design.channels.channel import Channel
from utmost.design.geometry.log_domain import Distances, LogPowers
from utmost.design.geometry.power_numbers import PowerField, PowerNumber
from utmost.design.geometry.vertex_search import Vertices, vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import NotAChannel, OutOfRange, PromiseBroken, Unsupported


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class PowerChannel(Display):
    """A channel with exact irrational probabilities, which are rational functions of irrational powers of alpha.

    Attributes:
        matrix: Matrix (n, m) of numbers of a `PowerField`; each row sums to exactly 1.

    Raises:
        NotAChannel: if an entry is negative, or if the sum of a row is not 1.
    """

    matrix: Array

    def __init__(self, matrix: Array) -> None:
        if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or not matrix.size:
            raise NotAChannel("a channel must be a matrix", came=matrix)
        if not all(isinstance(x, PowerNumber) for x in matrix.flat):
            raise NotAChannel("the entries must be numbers of a PowerField", came=matrix, remedy="Use Channel.")
        for x, row in enumerate(matrix):
            if any(p < 0 for p in row) or sum(row) != 1:
                came = f"row {x} with sum {float(sum(row)):.9g} and smallest entry {float(min(row)):.9g}"
                raise NotAChannel("every row must be nonnegative and sum to 1", came=came)
        object.__setattr__(self, "matrix", frozen(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers (n, m) of secrets and outcomes."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def nearest(self) -> Channel:
        """The channel with the nearest float64 probabilities, for display and for measures of leakage that need
        floats.
        """
        return Channel(self.matrix.astype(np.float64))

    def breach(self, ptype: PrivacyType) -> tuple[int, int, int] | None:
        """Return secrets x, z and an outcome y with C[x, y] > exp(epsilon d(x, z)) C[z, y]; None if there are none. The
        comparison is exact.

        Raises:
            OutOfRange: if the number of secrets is not that of the type.
        """
        if self.shape[0] != ptype.space.size:
            raise OutOfRange(f"the channel must have {ptype.space.size} rows", came=self.shape[0])
        distances = Distances.of(ptype.space)
        field = PowerField.of(LogPowers.of(ptype.level, distances))
        # Essential edges suffice: the bounds for other pairs follow along shortest paths.
        for edge in ptype.space.edges.tolist():
            for x, z in (edge, edge[::-1]):
                factor = field.power(tuple(int(c) for c in distances.coefficients[x, z]))
                for y in range(self.shape[1]):
                    if factor * self.matrix[x, y] > self.matrix[z, y]:
                        return x, z, y
        return None


AnyChannel = Channel | PowerChannel
"""A channel of Fractions, or of exact irrational numbers."""


def exact_weights(listed: Vertices) -> Array:
    """Return the exact columns alpha^h of vertices, (n, N), each with largest entry 1."""
    if listed.is_exact:
        return listed.weights
    return frozen(PowerField.of(listed.powers).array(listed.exponents).T)


def is_member(ptype: PrivacyType, channel: AnyChannel) -> bool:
    return channel.breach(ptype) is None if isinstance(channel, PowerChannel) else ptype.contains(channel)


def member(ptype: PrivacyType, channel: AnyChannel) -> AnyChannel:
    """Return a channel of a type as a `PowerChannel`; raise an error if the channel has float64 entries or is not of
    the type.
    """
    if isinstance(channel, Channel) and not channel.is_exact:
        raise Unsupported(
            "universal optimality needs an exact channel",
            came="float64 entries",
            remedy="Make a channel from vertices of the type with `exact_mechanism`.",
        )
    if not is_member(ptype, channel):
        raise PromiseBroken(f"the channel must belong to {ptype}", came=repr(channel))
    if isinstance(channel, PowerChannel):
        return channel
    return PowerChannel(PowerField.of(LogPowers.of(ptype.level, Distances.of(ptype.space))).fractions(channel.matrix))


def exact_mechanism(ptype: PrivacyType, support: Sequence[int]) -> Channel | PowerChannel:
    """Return the exact mechanism of a type whose columns are positive multiples of the given vertices. There is only
    one.

    Args:
        ptype: Privacy type; alpha^d may be irrational.
        support: Indices of linearly independent vertices, such as the result of `Kernels.support`.

    Returns:
        A `Channel` of Fractions if every alpha^d is rational, else a `PowerChannel`.

    Raises:
        OutOfRange: if no mechanism, or more than one, has these vertices with positive weights.

    >>> from utmost.geometry import kernels
    >>> from utmost.spaces import grid
    >>> square = PrivacyType(grid(2, 2), alpha="1/2")
    >>> mechanism = exact_mechanism(square, kernels(square).support(0))
    >>> mechanism.breach(square) is None, mechanism.nearest.shape
    (True, (4, 2))
    """
    instance(ptype, PrivacyType, "ptype")
    sequence(support, "support")
    if len(support) == 0:
        remedy = "Pass a support of a kernel: kernels(ptype).support(k)."
        raise OutOfRange("a mechanism needs at least one vertex", came="none", where="exact_mechanism", remedy=remedy)
    listed = vertices(ptype).chosen(support)
    columns = exact_weights(listed)
    weights = _weights_of_columns(columns)
    if weights is None or any(w <= 0 for w in weights):
        raise OutOfRange(
            "exactly one mechanism must consist of these vertices, each with a positive weight",
            came=list(support),
            where="exact_mechanism",
            remedy="Pass a support of a kernel: kernels(ptype).support(k).",
        )
    matrix = columns * objects(weights, (len(weights),))
    return Channel(matrix) if listed.is_exact else PowerChannel(matrix)


def _weights_of_columns(columns: Array) -> list[Any] | None:
    """Return w with columns @ w = 1, by elimination; None if there is no w or more than one."""
    n, m = columns.shape
    table = [[*row, 1] for row in (columns if isinstance(columns[0, 0], PowerNumber) else fractions(columns))]
    for j in range(m):
        pivot = next((i for i in range(j, n) if table[i][j] != 0), None)
        if pivot is None:
            return None
        table[j], table[pivot] = table[pivot], table[j]
        head = table[j][j]
        table[j] = [x / head if x is not head else 1 for x in table[j]]
        for i in range(n):
            if i != j and (factor := table[i][j]) != 0:
                table[i] = [x - y * factor for x, y in zip(table[i], table[j], strict=True)]
    # The equations of the remaining rows must be 0 = 0.
    if any(table[i][m] != 0 for i in range(m, n)):
        return None
    return [table[j][m] for j in range(m)]
