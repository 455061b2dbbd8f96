"""Define policies: distances of secrets that may be zero, infinite or asymmetric, and their metric parts.

A policy states, for every ordered pair of secrets x, y, a distance d(x, y): the probability of an outcome at x is at
most e^(epsilon d(x, y)) times its probability at y. Bounds add up along paths: d(x, y) and d(y, z) imply the bound d(x,
y) + d(y, z) for (x, z), so only shortest paths matter. If d(x, y) = 0, the probability of every outcome at x is at most
its probability at y; the probabilities at x and at y sum to 1, so they are equal, and d(y, x) = 0. Secrets at distance
0 are one secret of a smaller space; secrets at infinite distance do not constrain each other. A symmetric policy is
therefore a disjoint union of metric spaces with repeated secrets, and theorems about metric spaces hold for each part.
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
from utmost.errors import NotAMetric, NotANumber, Unsupported, quoted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolicyPart(Display):
    """A metric space within a symmetric policy: secrets at finite distances from each other."""

    classes: tuple[tuple[int, ...], ...]  # the secrets; secrets at distance 0 form one class
    space: Space  # one secret for each class, with the metric between classes


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Policy(Display, PickledByFields):
    """Secrets with distances that need not be a metric: they may be zero, infinite or asymmetric.

    Args:
        distances: Matrix (n, n) of numbers >= 0: ``math.inf`` for pairs without a bound, 0 on the diagonal. Let d be
            the entry [x, y]: the probability of an outcome at x is at most e^(epsilon d) times its probability at y.
            The numbers need not satisfy the triangle inequality: the lengths of shortest paths replace them.
        labels: Label of each secret; by default 0, 1, ...

    Attributes:
        distances: Lengths of shortest paths, (n, n), Fractions and ``math.inf``.

    Raises:
        NotAMetric: if a distance is negative, if the diagonal is not 0, or if the distances are no square matrix of
            numbers.

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
        raw = np.array(distances, dtype=object)
        if raw.ndim != 2 or raw.shape[0] != raw.shape[1] or not raw.size:
            raise NotAMetric(
                "the distances of a policy must be a square matrix",
                came=f"shape {raw.shape}",
                remedy="Pass one row and one column for each secret.",
            )
        table = objects([_checked_distance(value) for value in raw.ravel().tolist()], raw.shape)
        for x in range(len(table)):
            if table[x, x] != 0:
                raise NotAMetric(
                    "d(x, x) = 0 must hold", came=f"d({x}, {x}) = {table[x, x]}", remedy="Write 0 on the diagonal."
                )
        # Compute shortest paths. If d(x, y) = 0, d(y, x) becomes 0, which shortens further paths, so repeat.
        while True:
            for k in range(len(table)):
                table = np.minimum(table, table[:, k, None] + table[None, k, :])
            equal = (table.T == 0) & (table != 0)
            if not equal.any():
                break
            table[equal] = Fraction(0)
        names = tuple(range(len(table)) if labels is None else labels)
        if len(names) != len(table) or len(set(names)) != len(names):
            raise NotAMetric(
                f"a policy of {len(table)} secrets needs {len(table)} distinct labels",
                came=len(names),
                remedy="Pass one label for each secret, or none at all.",
            )
        object.__setattr__(self, "distances", frozen(table))
        object.__setattr__(self, "labels", names)

    @classmethod
    def of_edges(cls, edges: Iterable[Any], secrets: Sequence[Hashable], *, directed: bool = False) -> "Policy":
        """Return the policy of a graph: distances are lengths of shortest paths, infinite if no path exists.

        Args:
            edges: Pairs (x, y) of labels, of length 1, or triples (x, y, length); length 0 for secrets that must not be
                distinguished.
            secrets: Labels of all secrets, with and without edges.
            directed: Whether an edge (x, y) bounds only how much more likely an outcome is at x than at y, and not how
                much more likely at y than at x.

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
                required = "an edge must be (x, y) or (x, y, length) with x and y among the secrets"
                raise NotAMetric(required, came=quoted(edge), where=f"edge {at + 1}")
            x, y = number[edge[0]], number[edge[1]]
            length = _checked_distance(edge[2]) if len(edge) == 3 else Fraction(1)
            for start, end in ((x, y),) if directed else ((x, y), (y, x)):
                table[start, end] = min(table[start, end], length)
        return cls(table, list(secrets))

    @classmethod
    @fitting_memory("public")
    def public(cls, size: int) -> "Policy":
        """Return the policy of ``size`` secrets that need no protection: all distances are infinite."""
        table = np.full((natural(size, "size", least=1),) * 2, math.inf, dtype=object)
        np.fill_diagonal(table, Fraction(0))
        return cls._of_shortest_paths(table)

    @classmethod
    @fitting_memory("hidden")
    def hidden(cls, size: int) -> "Policy":
        """Return the policy of ``size`` secrets about which nothing may be revealed: all distances are 0."""
        return cls._of_shortest_paths(np.full((natural(size, "size", least=1),) * 2, Fraction(0), dtype=object))

    @classmethod
    def _of_shortest_paths(cls, table: Array) -> "Policy":
        """Return the policy with a table of the lengths of shortest paths; the table is not checked."""
        policy = object.__new__(cls)
        object.__setattr__(policy, "distances", frozen(table))
        object.__setattr__(policy, "labels", tuple(range(len(table))))
        return policy

    @classmethod
    def product(cls, *attributes: "Policy | Space") -> "Policy":
        """Return the policy of tuples of attributes. The distance of two tuples is the sum of the distances of their
        attributes.

        >>> from utmost.spaces import counts
        >>> policy = Policy.product(Policy.public(2), counts(2), Policy.hidden(3))
        >>> policy.size, [len(part.classes) for part in policy.parts]
        (18, [3, 3])
        """
        for attribute in attributes:
            instance(attribute, (Policy, Space), "every attribute")
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
        """Return the policy with the distances of a metric space.

        Raises:
            Unsupported: if a distance is irrational.
        """
        instance(space, Space, "space")
        n = space.size
        lengths = [space.length(x, y) for x in range(n) for y in range(n)]
        if not all(isinstance(length, Fraction) for length in lengths):
            remedy = "Round the distances to Fractions: Policy([[...], ...])."
            raise Unsupported("the distances of a policy must be rational", came=repr(space), remedy=remedy)
        return cls(objects(lengths, (n, n)), list(space.labels))

    @property
    def size(self) -> int:
        """The number n of secrets."""
        return len(self.labels)

    @property
    def is_symmetric(self) -> bool:
        """Whether d(x, y) = d(y, x) for all secrets."""
        return bool((self.distances == self.distances.T).all())

    @property
    def is_public(self) -> bool:
        """Whether all distances between different secrets are infinite."""
        return int((self.distances != math.inf).sum()) == self.size

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """The sets of secrets at distance 0 from each other; all secrets of a set have the same row in a mechanism."""
        return _equivalence_classes(self.distances == 0)

    @property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The sets of secrets that finite distances join, in at least one direction."""
        # Compute the transitive closure of a symmetric relation.
        joined = (self.distances != math.inf) | (self.distances != math.inf).T
        for k in range(len(joined)):
            joined = joined | (joined[:, k, None] & joined[None, k, :])
        return _equivalence_classes(joined)

    @property
    def parts(self) -> tuple[PolicyPart, ...]:
        """The metric spaces that a symmetric policy consists of.

        Raises:
            Unsupported: if the policy is not symmetric.
        """
        if not self.is_symmetric:
            x, y = np.argwhere(self.distances != self.distances.T)[0].tolist()
            raise Unsupported(
                "a policy must be symmetric to be divided into metric spaces",
                came=f"d({x}, {y}) = {self.distances[x, y]} and d({y}, {x}) = {self.distances[y, x]}",
                remedy="Use an undirected policy: leave directed out of Policy.of_edges.",
            )
        classes, parts = self.classes, []
        for component in self.components:
            inside = tuple(some for some in classes if some[0] in component)
            first = [some[0] for some in inside]
            table = self.distances[np.ix_(first, first)]
            parts.append(PolicyPart(inside, Space(TableMetric(table.tolist()), [self.labels[x] for x in first])))
        return tuple(parts)


def _checked_distance(value: Any) -> Any:
    if isinstance(value, float | np.floating) and value == math.inf:
        return math.inf
    try:
        read = exact(value, "a distance")
    except NotANumber as error:
        raise NotAMetric(error.required, came=error.came, remedy="Write math.inf for pairs without a bound.") from None
    if read < 0:
        raise NotAMetric(
            "a distance must not be negative", came=read, remedy="Write 0 for secrets that must not be distinguished."
        )
    return read


def _equivalence_classes(alike: Any) -> tuple[tuple[int, ...], ...]:
    """Return the classes of an equivalence relation (n, n), in the order of their first members."""
    groups = {int(row.argmax()): tuple(np.flatnonzero(row).tolist()) for row in np.asarray(alike, dtype=bool)}
    return tuple(groups[first] for first in sorted(groups))
