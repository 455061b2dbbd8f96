"""Any channel of a privacy type as a refinement of a mixture of kernels; and which mechanisms are kernels."""

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
    """The x with sum_j x_j columns[j] = target for independent columns; None where the target is outside their span.

    >>> solve_columns([[Fraction(1), Fraction(1)], [Fraction(0), Fraction(2)]], [Fraction(1), Fraction(2)])
    [Fraction(1, 1), Fraction(1, 2)]
    """
    table, pivots = _echelon_rows([[*row, t] for row, t in zip(zip(*columns, strict=True), target, strict=True)])
    k = len(columns)
    assert pivots[:k] == list(range(k)), "the columns are independent"
    return None if k in pivots else [table[c][k] for c in range(k)]


def null_vector(columns: Sequence[Fractions]) -> list[Fraction] | None:
    """Some x != 0 with sum_j x_j columns[j] = 0; None for independent columns."""
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
    """The rows of the reduced row echelon form that are not 0, and the pivot column of each."""
    reduced, rank = fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in table]).rref()
    rows = [[Fraction(int(x.p), int(x.q)) for x in row] for row in reduced.tolist()[:rank]]
    return rows, [next(j for j, x in enumerate(row) if x) for row in rows]


Exponents = tuple[int, ...]
"""A vertex in log form: v(x) = alpha^h(x) with least h 0, alpha that of one unit of distance."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decomposition(Display):
    """M = (sum_i weights[i] kernels[i]) remap: kernel i is used with probability weights[i], then post-processed.

    Attributes:
        kernels: Channels on the n secrets, all entries rational.
        weights: Their probabilities, all positive.
        remap: Channel from the outcomes of all kernels, side by side, to the outcomes of M.
    """

    kernels: tuple[Channel, ...]
    weights: tuple[Fraction, ...]
    remap: Channel

    @property
    def mixture(self) -> Channel:
        """B = [weights[0] kernels[0] | weights[1] kernels[1] | ...]: which kernel was used can be read off."""
        parts = [kernel.matrix * weight for kernel, weight in zip(self.kernels, self.weights, strict=True)]
        return Channel(np.concatenate(parts, axis=1))

    def verify(self, channel: Channel) -> bool:
        """Whether the weights are a distribution and B @ remap is the channel, in exact arithmetic."""
        total = sum(self.weights, Fraction(0))
        return (
            total == 1
            and min(self.weights) > 0
            and bool((matrix_product(self.mixture.matrix, self.remap.matrix) == channel.matrix).all())
        )


def decompose(ptype: PrivacyType, channel: Channel) -> Decomposition:
    """A channel of the type as a refinement of a mixture of kernels of the type, exactly.

    Every column is a sum of vertices: as much as possible of a vertex on its smallest face is taken away, which makes
    one more pair tight, until nothing is left. The vertices of all columns form a vertex mechanism, and that a mixture:
    a kernel is found among its columns by Caratheodory's reduction, as much of it as possible is taken away, and
    at least one column is used up each time.

    Args:
        ptype: Type with rational alpha^d, that the channel belongs to.
        channel: (n, m) of Fractions.

    Raises:
        Unsupported: for a float64 channel, and where some alpha^d is irrational.
        PromiseBroken: for a channel outside the type, naming secrets and outcome.

    Source: [fernandes2022], theorem 3. Cost: O(n^3) for each column, then at most n m elimination steps of O(n^3).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> tight, loose = PrivacyType(counts(2), alpha="1/2"), geometric_channel(3, alpha="3/4")
    >>> found = decompose(tight, loose)
    >>> len(found.kernels), found.verify(loose)
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
    peeled = _mixture_of_kernels(weights, {vertex: cone.column(vertex) for vertex in weights})
    kernels, remap = [], []
    for used, _ in peeled:
        kernels.append(np.array([[cone.column(v)[x] * used[v] for v in used] for x in range(cone.size)], dtype=object))
        remap += [[shares[v].get(y, Fraction(0)) / weights[v] for y in range(channel.shape[1])] for v in used]
    return Decomposition(
        tuple(Channel(matrix) for matrix in kernels),
        tuple(share for _, share in peeled),
        Channel(np.array(remap, dtype=object)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RationalCone:
    """The columns that channels of a type can have: {v >= 0: alpha^d(x, y) v(x) <= v(y)}, where alpha^d is rational.

    Attributes:
        factors: (n, n) Fractions alpha^d(x, y).
        lengths: (n, n) the distances in units.
        powers: Alpha^h for an integer h of units.
    """

    factors: Array
    lengths: Array
    powers: LogPowers

    @classmethod
    def of(cls, ptype: PrivacyType, channel: Channel) -> "RationalCone":
        """The cone of a type, once the channel is known to have its columns in it."""
        distances = Distances.of(ptype.space)
        powers = LogPowers.of(ptype.level, distances)
        if not powers.is_rational or not channel.is_exact:
            raise Unsupported(
                "tight columns are found in rational arithmetic only",
                came="float64 entries" if powers.is_rational else f"irrational alpha^d at {ptype.level}",
                remedy='Give the level as alpha="1/2", say, whole distances, and the channel as Fractions.',
            )
        cone = cls(powers.fractions(distances.coefficients), distances.coefficients[..., 0], powers)
        if channel.shape[0] != cone.size:
            raise PromiseBroken(f"a channel of the type has {cone.size} rows", came=channel.shape[0])
        for y, column in enumerate(channel.matrix.T):
            for x, z in np.argwhere(cone.factors * column[:, None] > column[None, :])[:1]:
                raise PromiseBroken(
                    f"alpha^d({x}, {z}) C[{x}, {y}] <= C[{z}, {y}] must hold",
                    came=f"{cone.factors[x, z] * column[x]} > {column[z]}",
                )
        return cone

    @property
    def size(self) -> int:
        """The number n of secrets."""
        return len(self.factors)

    def column(self, vertex: Exponents) -> list[Fraction]:
        """alpha^h."""
        return [self.powers.fraction((h,)) for h in vertex]

    def tight(self, column: list[Fraction]) -> Array:
        """Whether alpha^d(x, y) v(x) = v(y), for every pair; (n, n)."""
        values = np.array(column, dtype=object)
        equal = np.equal(self.factors * values[:, None], values[None, :]).astype(bool)
        return frozen(equal & ~np.eye(self.size, dtype=bool))

    def vertices_of(self, column: list[Fraction]) -> list[tuple[Exponents, Fraction]]:
        """Vertices and positive amounts that add up to a column of the cone; at most n of them."""
        parts = []
        while any(column):
            vertex = self.vertex_at(column)
            values = self.column(vertex)
            amount = self._largest_amount(column, values)
            column = [c - amount * v for c, v in zip(column, values, strict=True)]
            parts.append((vertex, amount))
        return parts

    def vertex_at(self, column: list[Fraction]) -> Exponents:
        """A vertex on the smallest face of the cone that holds the column: all its tight pairs are tight there.

        Secrets joined by tight pairs form a component. All others are scaled together, up, until one more pair with the
        component of secret 0 is tight.
        """
        values = np.array(column, dtype=object)
        exponent = {0: 0}
        while True:
            self._extend_along_tight_pairs(exponent, self.tight(list(values)))
            if len(exponent) == self.size:
                least = min(exponent.values())
                return tuple(exponent[x] - least for x in range(self.size))
            inside, outside = list(exponent), [x for x in range(self.size) if x not in exponent]
            # alpha^d(x, y) s v(x) <= v(y) for x outside, y inside bounds the scale s.
            values[outside] *= min(values[y] / (self.factors[x, y] * values[x]) for x in outside for y in inside)

    def _extend_along_tight_pairs(self, exponent: dict[int, int], tight: Array) -> None:
        todo = list(exponent)
        while todo:
            x = todo.pop()
            for y in np.flatnonzero(tight[x] | tight[:, x]):
                if int(y) not in exponent:
                    step = int(self.lengths[x, y])
                    exponent[int(y)] = exponent[x] + (step if tight[x, y] else -step)
                    todo.append(int(y))

    def _largest_amount(self, column: list[Fraction], vertex: list[Fraction]) -> Fraction:
        """The largest t for which column - t vertex lies in the cone."""
        c, v = np.array(column, dtype=object), np.array(vertex, dtype=object)
        room, use = c[None, :] - self.factors * c[:, None], v[None, :] - self.factors * v[:, None]
        # A vertex that leaves no pair to bound it is a cone by itself: then the whole column is taken.
        bounds = [r / u for r, u in zip(room.ravel(), use.ravel(), strict=True) if u > 0]
        return min(bounds, default=column[0] / vertex[0])


def _mixture_of_kernels(
    weights: dict[Exponents, Fraction], columns: dict[Exponents, list[Fraction]]
) -> list[tuple[dict[Exponents, Fraction], Fraction]]:
    """Kernels, as the scale of each of their vertices, and the probability of each; their mixture is the whole."""
    rest, peeled = dict(weights), []
    while rest:
        kernel = _kernel_within(rest, columns)
        # The vertex that bounds the share is used up: there are no more rounds than vertices.
        share = min(rest[v] / scale for v, scale in kernel.items())
        peeled.append((kernel, share))
        rest = {v: left for v, w in rest.items() if (left := w - share * kernel.get(v, Fraction(0)))}
    return peeled


def _kernel_within(
    rest: dict[Exponents, Fraction], columns: dict[Exponents, list[Fraction]]
) -> dict[Exponents, Fraction]:
    """A kernel among vertices whose positive combination is constant: dependent ones are dropped, keeping that so."""
    weights = dict(rest)
    while True:
        # n + 1 vectors of n numbers are dependent, so that the first of them are enough to look at.
        some = list(weights)[: len(next(iter(columns.values()))) + 1]
        relation = null_vector([columns[v] for v in some])
        if relation is None:
            break
        # A relation holds with either sign; a positive number in it is what ends the step.
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
    """Whether every outcome that occurs leaves a vertex of the type behind: its tight pairs join all secrets.

    Args:
        channel: (n, m) of Fractions.
        ptype: Type with rational alpha^d.

    Raises:
        Unsupported: for a float64 channel, and where some alpha^d is irrational.
        PromiseBroken: for a channel outside the type.

    Source: [fernandes2022], definition 4.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> is_vertex_mechanism(PrivacyType(counts(3), alpha="1/2"), geometric_channel(4, alpha="1/2"))
    True
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    cone = RationalCone.of(ptype, channel)
    return all(_joins_all(cone.tight(list(column))) for column in channel.matrix.T if any(column))


def is_kernel(ptype: PrivacyType, channel: Channel) -> bool:
    """Whether the posteriors of a channel are vertices and linearly independent; proportional columns count as one.

    Raises:
        Unsupported, PromiseBroken: as `is_vertex_mechanism`.

    Source: [fernandes2022], definition 5. The geometric mechanism is a kernel on the line (lemma 19), randomised
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


def _joins_all(tight: np.ndarray) -> bool:
    reached = np.zeros(len(tight), dtype=bool)
    reached[0] = True
    near = tight | tight.T
    while (more := reached | near[reached].any(axis=0)).sum() > reached.sum():
        reached = more
    return bool(reached.all())
