"""Write a channel of a privacy type as a refinement of a mixture of kernels; decide which mechanisms are kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, fractions, frozen
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import matrix_product
from utmost.design.channels.channel import Channel
from utmost.design.geometry.log_domain import Distances, LogPowers
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import PromiseBroken, Unsupported

Fractions = Sequence[Fraction]


def solve_columns(columns: Sequence[Fractions], target: Fractions) -> list[Fraction] | None:
    """Return x with sum_j x_j columns[j] = target for independent columns; None if the target is outside their span."""
    table, pivots = _echelon_rows([[*row, t] for row, t in zip(zip(*columns, strict=True), target, strict=True)])
    k = len(columns)
    assert pivots[:k] == list(range(k)), "the columns are independent"
    return None if k in pivots else [table[c][k] for c in range(k)]


def null_vector(columns: Sequence[Fractions]) -> list[Fraction] | None:
    """Return some x != 0 with sum_j x_j columns[j] = 0; None for independent columns."""
    table, pivots = _echelon_rows([list(row) for row in zip(*columns, strict=True)])
    free = next((j for j in range(len(columns)) if j not in pivots), None)
    if free is None:
        return None
    x = [Fraction(0)] * len(columns)
    x[free] = Fraction(1)
    for row, j in enumerate(pivots):
        x[j] = -table[row][free]
    return x


def _echelon_rows(table: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the nonzero rows of the reduced row echelon form of a matrix, and the pivot column of each row."""
    reduced, rank = fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in table]).rref()
    rows = [[Fraction(int(x.p), int(x.q)) for x in row] for row in reduced.tolist()[:rank]]
    return rows, [next(j for j, x in enumerate(row) if x) for row in rows]


Exponents = tuple[int, ...]
"""The exponents h of a vertex v(x) = alpha^h(x), with minimum 0, where alpha belongs to one unit of distance."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decomposition(Display):
    """A channel as a remapped mixture: use kernel i with probability weights[i], then apply ``remap`` to its
    outcome.
    """

    kernels: tuple[Channel, ...]  # kernels of the privacy type, with n rows of Fractions
    weights: tuple[Fraction, ...]  # positive probabilities
    remap: Channel  # rows: the outcomes of all kernels, one kernel after another; columns: the outcomes of the channel

    @property
    def mixture(self) -> Channel:
        """The channel [weights[0] kernels[0] | weights[1] kernels[1] | ...]; an outcome reveals which kernel was
        used.
        """
        parts = [kernel.matrix * weight for kernel, weight in zip(self.kernels, self.weights, strict=True)]
        return Channel(np.concatenate(parts, axis=1))

    def verify(self, channel: Channel) -> bool:
        """Check exactly that the weights are a distribution and that mixture @ remap is the channel."""
        total = sum(self.weights, Fraction(0))
        return (
            total == 1
            and min(self.weights) > 0
            and bool((matrix_product(self.mixture.matrix, self.remap.matrix) == channel.matrix).all())
        )


def decompose(ptype: PrivacyType, channel: Channel) -> Decomposition:
    """Write a channel of the type as a refinement of a mixture of kernels of the type, in exact numbers.

    First, every column is written as a sum of multiples of vertices: the largest possible multiple of a vertex on the
    smallest face that contains the column is subtracted from the column until nothing is left. Each subtraction makes
    one more pair of secrets tight. Then the vertices of all columns are divided into kernels: Caratheodory's reduction
    finds a kernel among the vertices, and the largest possible multiple of this kernel, which uses up at least one
    vertex, is subtracted until no vertex is left.

    Args:
        ptype: Type with rational alpha^d.
        channel: Channel (n, m) of Fractions that belongs to this type.

    Raises:
        Unsupported: if the channel has float64 entries, or if some alpha^d is irrational.
        PromiseBroken: if the channel is not of the type; the message names the two secrets and the outcome that show
            it.

    Source: [fernandes2022], theorem 3. Cost: O(n^3) for each column, then at most n m elimination steps of O(n^3).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> ptype, channel = PrivacyType(counts(2), alpha="1/2"), geometric_channel(3, alpha="3/4")
    >>> found = decompose(ptype, channel)
    >>> len(found.kernels), found.verify(channel)
    (1, True)
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    cone = RationalCone.of(ptype, channel)
    shares: dict[Exponents, dict[int, Fraction]] = {}
    for y, column in enumerate(channel.matrix.T):
        for vertex, amount in cone.vertices_of(list(column)):
            shares.setdefault(vertex, {})[y] = amount
    weights = {vertex: sum(parts.values(), Fraction(0)) for vertex, parts in shares.items()}
    columns = {vertex: cone.column(vertex) for vertex in weights}
    rest, kernels, probabilities, remap = dict(weights), list[Channel](), list[Fraction](), list[list[Fraction]]()
    while rest:
        used = _kernel_within(rest, columns)
        # Each round uses up at least one vertex, so there are at most as many rounds as vertices.
        share = min(rest[v] / scale for v, scale in used.items())
        rest = {v: left for v, w in rest.items() if (left := w - share * used.get(v, Fraction(0)))}
        probabilities.append(share)
        kernels.append(
            Channel(np.array([[columns[v][x] * used[v] for v in used] for x in range(cone.size)], dtype=object))
        )
        remap += [[shares[v].get(y, Fraction(0)) / weights[v] for y in range(channel.shape[1])] for v in used]
    return Decomposition(tuple(kernels), tuple(probabilities), Channel(np.array(remap, dtype=object)))


@dataclass(frozen=True, slots=True, eq=False)
class RationalCone:
    """The cone {v >= 0: alpha^d(x, y) v(x) <= v(y)} of possible columns of channels of a type with rational alpha^d."""

    factors: Array  # (n, n) Fractions alpha^d(x, y)
    lengths: Array  # (n, n) integers d(x, y), in units of distance
    powers: LogPowers  # gives alpha^h for an integer h

    @classmethod
    def of(cls, ptype: PrivacyType, channel: Channel) -> "RationalCone":
        """Return the cone of a type; raise an error if a column of ``channel`` lies outside the cone."""
        distances = Distances.of(ptype.space)
        powers = LogPowers.of(ptype.level, distances)
        if not powers.is_rational or not channel.is_exact:
            raise Unsupported(
                "every alpha^d must be rational, and the channel must hold Fractions",
                came="float64 entries" if powers.is_rational else f"irrational alpha^d at {ptype.level}",
                remedy='Pass a level such as alpha="1/2", a space with integer distances, and a channel of Fractions.',
            )
        cone = cls(powers.fractions(distances.coefficients), distances.coefficients[..., 0], powers)
        if channel.shape[0] != cone.size:
            raise PromiseBroken(f"a channel of the type must have {cone.size} rows", came=channel.shape[0])
        for y, column in enumerate(channel.matrix.T):
            for x, z in np.argwhere(cone.factors * column[:, None] > column[None, :])[:1]:
                raise PromiseBroken(
                    f"alpha^d({x}, {z}) C[{x}, {y}] <= C[{z}, {y}] must hold",
                    came=f"{cone.factors[x, z] * column[x]} > {column[z]}",
                )
        return cone

    @property
    def size(self) -> int:
        return len(self.factors)

    def column(self, vertex: Exponents) -> list[Fraction]:
        return [self.powers.fraction((h,)) for h in vertex]

    def tight(self, column: list[Fraction]) -> Array:
        """Return an (n, n) array that says whether alpha^d(x, y) column[x] = column[y]; False for x = y."""
        values = np.array(column, dtype=object)
        equal = np.equal(self.factors * values[:, None], values[None, :]).astype(bool)
        return frozen(equal & ~np.eye(self.size, dtype=bool))

    def vertices_of(self, column: list[Fraction]) -> list[tuple[Exponents, Fraction]]:
        """Return at most n vertices, each with a positive amount; the sum of amount times vertex is ``column``."""
        parts = []
        while any(column):
            vertex = self.vertex_at(column)
            values = self.column(vertex)
            # Subtract the largest multiple of the vertex for which the rest stays in the cone. If no pair bounds the
            # multiple, the column is a multiple of the vertex, and the rest is 0.
            c, v = np.array(column, dtype=object), np.array(values, dtype=object)
            room, use = c[None, :] - self.factors * c[:, None], v[None, :] - self.factors * v[:, None]
            bounds = [r / u for r, u in zip(room.ravel(), use.ravel(), strict=True) if u > 0]
            amount = min(bounds, default=column[0] / values[0])
            column = [c - amount * v for c, v in zip(column, values, strict=True)]
            parts.append((vertex, amount))
        return parts

    def vertex_at(self, column: list[Fraction]) -> Exponents:
        """Return a vertex at which every tight pair of the column is tight. The vertex lies on the smallest face that
        contains the column.
        """
        # Secrets joined by tight pairs form a component. All secrets outside the component of secret 0 are scaled up
        # together until one more pair with this component is tight.
        values = np.array(column, dtype=object)
        exponent = {0: 0}
        while True:
            tight, todo = self.tight(list(values)), list(exponent)
            while todo:
                x = todo.pop()
                for y in np.flatnonzero(tight[x] | tight[:, x]).tolist():
                    if y not in exponent:
                        exponent[y] = exponent[x] + int(self.lengths[x, y]) * (1 if tight[x, y] else -1)
                        todo.append(y)
            if len(exponent) == self.size:
                least = min(exponent.values())
                return tuple(exponent[x] - least for x in range(self.size))
            inside, outside = list(exponent), [x for x in range(self.size) if x not in exponent]
            # The scale s is bounded by alpha^d(x, y) s v(x) <= v(y) for x outside and y inside.
            values[outside] *= min(values[y] / (self.factors[x, y] * values[x]) for x in outside for y in inside)


def _kernel_within(
    rest: dict[Exponents, Fraction], columns: dict[Exponents, list[Fraction]]
) -> dict[Exponents, Fraction]:
    """Return the vertices of a kernel and their coefficients; the kernel is found among vertices that have a positive
    combination with equal entries.
    """
    weights = dict(rest)
    while True:
        # n + 1 vectors of n numbers are dependent, so the first n + 1 are enough.
        some = list(weights)[: len(next(iter(columns.values()))) + 1]
        relation = null_vector([columns[v] for v in some])
        if relation is None:
            break
        # Some coefficient of the relation must be positive, otherwise no weight would reach 0 below.
        if max(relation) <= 0:
            relation = [-x for x in relation]
        step = min(weights[v] / x for v, x in zip(some, relation, strict=True) if x > 0)
        for v, x in zip(some, relation, strict=True):
            weights[v] -= step * x
        weights = {v: w for v, w in weights.items() if w}
    ones = list(fractions(np.ones(len(next(iter(columns.values()))), dtype=np.int64)))
    scale = solve_columns([columns[v] for v in weights], ones)
    assert scale is not None, "a positive combination of the vertices is constant"
    return dict(zip(weights, scale, strict=True))


def is_vertex_mechanism(ptype: PrivacyType, channel: Channel) -> bool:
    """Return whether each posterior of a channel is a vertex of the type. A posterior v is a vertex if the pairs x, y
    with alpha^d(x, y) v_x = v_y join all secrets.

    Args:
        ptype: Type with rational alpha^d.
        channel: Channel (n, m) of Fractions that belongs to this type.

    Raises:
        Unsupported: if the channel has float64 entries, or if some alpha^d is irrational.
        PromiseBroken: if the channel is not of the type.

    Source: [fernandes2022], definition 4.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> is_vertex_mechanism(PrivacyType(counts(3), alpha="1/2"), geometric_channel(4, alpha="1/2"))
    True
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    cone = RationalCone.of(ptype, channel)
    for column in filter(any, channel.matrix.T):
        tight = cone.tight(list(column))
        near, reached = tight | tight.T, np.arange(cone.size) == 0
        while (more := reached | near[reached].any(axis=0)).sum() > reached.sum():
            reached = more
        if not reached.all():
            return False
    return True


def is_kernel(ptype: PrivacyType, channel: Channel) -> bool:
    """Return whether the posteriors of a channel are linearly independent vertices; equal posteriors count once.

    Raises:
        Unsupported, PromiseBroken: if `is_vertex_mechanism` raises them.

    response on the discrete space (lemma 21).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> is_kernel(PrivacyType(counts(3), alpha="1/2"), geometric_channel(4, alpha="1/2"))
    True
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    if not is_vertex_mechanism(ptype, channel):
        return False
    posteriors = {tuple(column / column.sum()) for column in channel.matrix.T if any(column)}
    return len(posteriors) <= channel.shape[0] and null_vector(sorted(posteriors)) is None
