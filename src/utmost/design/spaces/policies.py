"""Policies: distances that may be zero, infinite or different both ways, and the metric spaces that they are made of.

A policy says for every ordered pair of secrets by how much the first may stand out against the second. Promises chain:
from d(x, y) and d(y, z) follows d(x, y) + d(y, z), so that what binds are the shortest paths. Where d(x, y) = 0 every
outcome is at most as likely at x as at y, and since both rows sum to 1 they are equal: d(y, x) = 0 follows. Secrets at
distance 0 are one secret of a smaller space; secrets at infinite distance are bound by nothing. A symmetric policy is
therefore a disjoint union of metric spaces, each with its secrets repeated, and theory carries part by part.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, iterable, label, sequence_of, truth
from utmost.core.exact.arrays import Array, PickledByFields, frozen, objects
from utmost.core.exact.display import Display
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import exact, natural
from utmost.design.spaces.space import Space, TableMetric
from utmost.errors import NotAMetric, NotANumber, Unsupported


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolicyPart(Display):
    """Secrets of a policy at finite distances of each other.

    Attributes:
        classes: Secrets, those at distance 0 together.
        space: Space with one secret for each class, with the metric between them.
    """

    classes: tuple[tuple[int, ...], ...]
    space: Space


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Policy(Display, PickledByFields):
    """Secrets with distances that need not be a metric: zero, infinite, or different both ways.

    Args:
        distances: (n, n) numbers >= 0, ``math.inf`` where nothing is promised; zero on the diagonal. Entry [x, y]
            bounds how much likelier an outcome may be at x than at y. Shortest paths are taken, so any numbers will do.
        labels: Label of each secret; 0, 1, ... when left out.

    Attributes:
        distances: (n, n) objects, the shortest paths: Fractions and ``math.inf``.

    Raises:
        NotAMetric: for negative distances, a diagonal that is not 0, and what is no square matrix of numbers.

    Cost: O(n^3) additions.

    >>> policy = Policy([[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]])
    >>> [part.classes for part in policy.parts]
    [((0,), (1,)), ((2,),)]
    """

    _shown = ("size",)

    distances: Array
    labels: tuple[Hashable, ...]

    def __init__(self, distances: object, labels: Sequence[Hashable] | None = None) -> None:
        if labels is not None:
            sequence_of(labels, label, "labels")
        table = _shortest_paths(_checked_table(distances))
        names = tuple(range(len(table)) if labels is None else labels)
        if len(names) != len(table) or len(set(names)) != len(names):
            raise NotAMetric(f"a policy of {len(table)} secrets needs {len(table)} distinct labels", came=len(names))
        object.__setattr__(self, "distances", frozen(table))
        object.__setattr__(self, "labels", names)

    @classmethod
    def of_edges(cls, edges: Iterable[Any], secrets: Sequence[Hashable], *, directed: bool = False) -> "Policy":
        """A policy graph: edges (x, y) or (x, y, length) bind, and pairs that no path joins are not bound.

        Args:
            edges: Pairs of labels, with a length or 1; 0 for secrets that must not be distinguished.
            secrets: All labels, those without an edge too.
            directed: Edge binds x against y only.

        >>> Policy.of_edges([("flu", "cold")], ["flu", "cold", "none"]).components
        ((0, 1), (2,))
        """
        iterable(edges, "edges")
        sequence_of(secrets, label, "secrets")
        directed = truth(directed, "directed")
        number = {name: k for k, name in enumerate(secrets)}
        table = np.full((len(number), len(number)), math.inf, dtype=object)
        np.fill_diagonal(table, Fraction(0))
        for at, edge in enumerate(edges):
            if not isinstance(edge, tuple | list) or len(edge) not in (2, 3) or not {*edge[:2]} <= {*number}:
                raise NotAMetric("an edge must be two of the secrets and perhaps a length", where=f"edge {at + 1}")
            x, y = number[edge[0]], number[edge[1]]
            length = _checked_distance(edge[2]) if len(edge) == 3 else Fraction(1)
            for start, end in ((x, y),) if directed else ((x, y), (y, x)):
                table[start, end] = min(table[start, end], length)
        return cls(table, list(secrets))

    @classmethod
    @fitting_memory("public")
    def public(cls, size: int) -> "Policy":
        """Secrets that need no protection of each other: all infinitely far apart."""
        table = np.full((natural(size, "size", least=1),) * 2, math.inf, dtype=object)
        np.fill_diagonal(table, Fraction(0))
        return cls._of_shortest_paths(table)

    @classmethod
    @fitting_memory("hidden")
    def hidden(cls, size: int) -> "Policy":
        """Secrets of which nothing may be told: all at distance 0."""
        return cls._of_shortest_paths(np.full((natural(size, "size", least=1),) * 2, Fraction(0), dtype=object))

    @classmethod
    def _of_shortest_paths(cls, table: Array) -> "Policy":
        """The policy of a table that already holds shortest paths."""
        policy = object.__new__(cls)
        object.__setattr__(policy, "distances", frozen(table))
        object.__setattr__(policy, "labels", tuple(range(len(table))))
        return policy

    @classmethod
    def product(cls, *attributes: "Policy | Space") -> "Policy":
        """Tuples of secrets, at the sum of the distances of their attributes: metric, public and hidden ones.

        >>> from utmost.spaces import counts
        >>> policy = Policy.product(Policy.public(2), counts(2), Policy.hidden(3))
        >>> policy.size, [len(part.classes) for part in policy.parts]
        (18, [3, 3])
        """
        for attribute in attributes:
            instance(attribute, (Policy, Space), "every one of attributes")
        table = objects([Fraction(0)], (1, 1))
        labels: list[tuple[Hashable, ...]] = [()]
        for attribute in attributes:
            own = (attribute if isinstance(attribute, Policy) else cls.of_space(attribute)).distances
            size = len(table) * len(own)
            table = (table[:, None, :, None] + own[None, :, None, :]).reshape(size, size)
            labels = [(*label, name) for label in labels for name in attribute.labels]
        return cls(table, labels)

    @classmethod
    def of_space(cls, space: Space) -> "Policy":
        """The policy of a metric.

        Raises:
            Unsupported: for irrational distances.
        """
        instance(space, Space, "space")
        n = space.size
        lengths = [space.length(x, y) for x in range(n) for y in range(n)]
        if not all(isinstance(length, Fraction) for length in lengths):
            raise Unsupported("the distances of a policy must be rational", came=repr(space))
        return cls(objects(lengths, (n, n)), list(space.labels))

    @property
    def size(self) -> int:
        """The number n of secrets."""
        return len(self.labels)

    @property
    def is_symmetric(self) -> bool:
        """Whether every distance is the same both ways."""
        return bool((self.distances == self.distances.T).all())

    @property
    def is_public(self) -> bool:
        """Whether no secret is hidden from any other."""
        return int((self.distances != math.inf).sum()) == self.size

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Secrets at distance 0 of each other together: a mechanism must treat them alike."""
        return _equivalence_classes(self.distances == 0)

    @property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Secrets that a finite distance joins, one way or the other, together: nothing binds two of these sets."""
        # The transitive closure of a symmetric relation.
        joined = (self.distances != math.inf) | (self.distances != math.inf).T
        for k in range(len(joined)):
            joined = joined | (joined[:, k, None] & joined[None, k, :])
        return _equivalence_classes(joined)

    @property
    def parts(self) -> tuple[PolicyPart, ...]:
        """The metric spaces that a symmetric policy is made of.

        Raises:
            Unsupported: for a policy that is not symmetric.
        """
        if not self.is_symmetric:
            raise Unsupported("only a symmetric policy is made of metric spaces", came="one that differs both ways")
        classes, parts = self.classes, []
        for component in self.components:
            inside = tuple(some for some in classes if some[0] in component)
            first = [some[0] for some in inside]
            table = self.distances[np.ix_(first, first)]
            parts.append(PolicyPart(inside, Space(TableMetric(table.tolist()), [self.labels[x] for x in first])))
        return tuple(parts)


def _checked_table(distances: object) -> Array:
    raw = np.array(distances, dtype=object)
    if raw.ndim != 2 or raw.shape[0] != raw.shape[1] or not raw.size:
        raise NotAMetric("the distances of a policy must be a square matrix", came=f"shape {raw.shape}")
    table = objects([_checked_distance(value) for value in raw.ravel().tolist()], raw.shape)
    for x in range(len(table)):
        if table[x, x] != 0:
            raise NotAMetric("d(x, x) = 0 must hold", came=f"d({x}, {x}) = {table[x, x]}")
    return table


def _checked_distance(value: Any) -> Any:
    if isinstance(value, float | np.floating) and value == math.inf:
        return math.inf
    try:
        read = exact(value, "a distance")
    except NotANumber as error:
        raise NotAMetric(error.required, came=error.came, remedy="Write math.inf where nothing is promised.") from None
    if read < 0:
        raise NotAMetric("a distance must not be negative", came=read)
    return read


def _shortest_paths(table: Array) -> Array:
    """Shortest paths; a distance that is 0 one way becomes 0 both ways, which shortens further ones."""
    while True:
        for k in range(len(table)):
            table = np.minimum(table, table[:, k, None] + table[None, k, :])
        equal = (table.T == 0) & (table != 0)
        if not equal.any():
            return table
        table[equal] = Fraction(0)


def _equivalence_classes(alike: Any) -> tuple[tuple[int, ...], ...]:
    """The classes of an equivalence, in the order of their first members."""
    groups = {int(row.argmax()): tuple(np.flatnonzero(row).tolist()) for row in np.asarray(alike, dtype=bool)}
    return tuple(groups[first] for first in sorted(groups))
