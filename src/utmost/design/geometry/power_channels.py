"""Mechanisms whose probabilities are irrational and known exactly: on Euclidean grids, and at rational epsilon."""

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
    """A channel with exact irrational probabilities: rational functions of irrational powers of alpha.

    Attributes:
        matrix: (n, m) numbers of a `PowerField`; each row sums to exactly 1.

    Raises:
        NotAChannel: for a negative entry, and a row of another sum.
    """

    matrix: Array

    def __init__(self, matrix: Array) -> None:
        if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or not matrix.size:
            raise NotAChannel("a channel must be a matrix", came=matrix)
        if not all(isinstance(x, PowerNumber) for x in matrix.flat):
            raise NotAChannel("the entries must be numbers of a PowerField", came=matrix, remedy="Use Channel.")
        for x, row in enumerate(matrix):
            if any(p < 0 for p in row) or sum(row) != 1:
                raise NotAChannel("a row must be a distribution", came=f"row {x}")
        object.__setattr__(self, "matrix", frozen(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        """(secrets, outcomes)."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def nearest(self) -> Channel:
        """The same probabilities as floats: to look at, and to measure."""
        return Channel(self.matrix.astype(np.float64))

    def breach(self, ptype: PrivacyType) -> tuple[int, int, int] | None:
        """(x, z, y) with C[x, y] > exp(epsilon d(x, z)) C[z, y], or None: exactly.

        Raises:
            OutOfRange: where the secrets are not those of the type.
        """
        if self.shape[0] != ptype.space.size:
            raise OutOfRange(f"the channel must have {ptype.space.size} rows", came=self.shape[0])
        distances = Distances.of(ptype.space)
        field = PowerField.of(LogPowers.of(ptype.level, distances))
        # Essential edges are enough: other bounds follow along shortest paths.
        for edge in ptype.space.edges.tolist():
            for x, z in (edge, edge[::-1]):
                factor = field.power(tuple(int(c) for c in distances.coefficients[x, z]))
                for y in range(self.shape[1]):
                    if factor * self.matrix[x, y] > self.matrix[z, y]:
                        return x, z, y
        return None


AnyChannel = Channel | PowerChannel
"""A channel known exactly, of either kind."""


def exact_weights(listed: Vertices) -> Array:
    """alpha^h of vertices, columns scaled to a largest entry of 1, exactly: (n, N)."""
    if listed.is_exact:
        return listed.weights
    return frozen(PowerField.of(listed.powers).array(listed.exponents).T)


def is_member(ptype: PrivacyType, channel: AnyChannel) -> bool:
    """Whether a channel keeps the promise of a type, exactly."""
    return channel.breach(ptype) is None if isinstance(channel, PowerChannel) else ptype.contains(channel)


def member(ptype: PrivacyType, channel: AnyChannel) -> AnyChannel:
    """The channel in the numbers of a type with irrational powers, once it is known to be of the type.

    Raises:
        Unsupported: for float64 entries. PromiseBroken: for a channel outside the type.
    """
    if isinstance(channel, Channel) and not channel.is_exact:
        raise Unsupported(
            "universal optimality is decided for exact channels only",
            came="float64 entries",
            remedy="`exact_mechanism` makes one of vertices of the type.",
        )
    if not is_member(ptype, channel):
        raise PromiseBroken("the channel must be of the type", came=repr(channel))
    if isinstance(channel, PowerChannel):
        return channel
    return PowerChannel(PowerField.of(LogPowers.of(ptype.level, Distances.of(ptype.space))).fractions(channel.matrix))


def exact_mechanism(ptype: PrivacyType, support: Sequence[int]) -> Channel | PowerChannel:
    """The one mechanism whose outcomes are multiples of the given vertices of the type, exactly.

    Args:
        ptype: Privacy type; alpha^d may be irrational.
        support: Numbers of independent vertices, as `Kernels.support` gives them.

    Returns:
        A `Channel` of Fractions where every alpha^d is rational, else a `PowerChannel`.

    Raises:
        OutOfRange: where no mechanism, or more than one, has these vertices, each with a positive weight.

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
        raise OutOfRange("one mechanism needs the numbers of its vertices", came="none", where="exact_mechanism")
    listed = vertices(ptype).chosen(support)
    columns = exact_weights(listed)
    weights = _weights_of_columns(columns)
    if weights is None or any(w <= 0 for w in weights):
        raise OutOfRange("one mechanism must have these vertices", came=list(support), where="exact_mechanism")
    matrix = columns * objects(weights, (len(weights),))
    return Channel(matrix) if listed.is_exact else PowerChannel(matrix)


def _weights_of_columns(columns: Array) -> list[Any] | None:
    """The w with columns @ w = 1, by elimination; None where there is none, or more than one."""
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
    # Rows that are left must be 0 = 0.
    if any(table[i][m] != 0 for i in range(m, n)):
        return None
    return [table[j][m] for j in range(m)]
