"""The loss nib on trees: the least expected loss for a prior, and whether one mechanism attains it for all priors.

The loss nib is 1 if the consumer names the true secret, and 0 if the consumer names another secret: the consumer wants
to name a secret that is not the true one. Distances are numbers of edges, and a is alpha.

**A bound for all mechanisms.** For every mechanism M of the type and t >= 0 with sum_j t[j] a^-d(x,j) <= prior[x],

    sum_y min_x prior[x] M[x, y] >= sum_y min_x sum_j t[j] a^-d(x,j) M[x, y] >= sum_jy t[j] M[j, y] = sum_j t[j].

**Mechanisms that attain the bound** have one outcome, or two outcomes that say on which side of an edge (j, j') the
secret is: for a secret x on the side of j, the outcome "other side" has the probability a^(d(x,j)+1)/(1 + a). The least
loss of the mechanisms with one or two outcomes equals the largest sum of t over all t that are positive only at the two
ends of one edge. For the proof, and the proof of the threshold alpha <= 1/(D - 1), see
proofs/theory/universal-optimality.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, fractions, frozen, is_exact
from utmost.core.exact.display import Display
from utmost.design.channels.channel import Channel
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.priors import prior as check_prior
from utmost.errors import NotAPrior, Unsupported

_Least = tuple[Fraction, int]
"""The least a^d(u,j) prior[u] over the secrets u on one side of an edge, and the best u; j is the end on that side."""


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """A tree whose nodes are the secrets, with root 0."""

    alpha: Fraction
    order: tuple[int, ...]  # all secrets, each after its parent
    parent: tuple[int, ...]  # parent of each secret; -1 for secret 0
    neighbours: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, ptype: PrivacyType) -> "_Tree":
        instance(ptype, PrivacyType, "ptype")
        edges, size = ptype.space.edges.tolist(), ptype.space.size
        is_tree = len(edges) == size - 1 and all(ptype.space.length(x, y) == 1 for x, y in edges)
        if not is_tree or not ptype.level.is_rational:
            raise Unsupported(
                "nib is solved on trees with edges of length 1, such as counts, for a rational alpha",
                came=repr(ptype),
                remedy="Call universal_mechanism or optimal_mechanism.",
            )
        beside: list[list[int]] = [[] for _ in range(size)]
        for x, y in edges:
            beside[x].append(y)
            beside[y].append(x)
        order, parent = [0], [-1] * size
        for x in order:
            for y in beside[x]:
                if y != parent[x]:
                    parent[y] = x
                    order.append(y)
        return cls(ptype.level.alpha_fraction(), tuple(order), tuple(parent), tuple(map(tuple, beside)))

    @property
    def edges(self) -> list[tuple[int, int]]:
        """All edges (parent, child)."""
        return [(self.parent[x], x) for x in self.order[1:]]

    def distances(self, start: int) -> list[int]:
        """Return the number of edges from one secret to each secret."""
        away, order = {start: 0}, [start]
        for x in order:
            for y in self.neighbours[x]:
                if y not in away:
                    away[y] = away[x] + 1
                    order.append(y)
        return [away[x] for x in range(len(self.order))]

    def beyond(self, parent: int, child: int) -> list[Fraction]:
        """Return the probability of the outcome "the secret is on the child's side of the edge", for each secret."""
        far, near = self.distances(child), self.distances(parent)
        a = self.alpha
        return [a ** (n + 1) / (1 + a) if n < f else 1 - a ** (f + 1) / (1 + a) for n, f in zip(near, far, strict=True)]

    def keeps(self, matrix: Array) -> bool:
        """Return whether a channel satisfies the level: along each edge, entries differ by at most the factor
        1/alpha.
        """
        a = self.alpha
        return all((a * matrix[x] <= matrix[y]).all() and (a * matrix[y] <= matrix[x]).all() for x, y in self.edges)

    def least_of_sides(self, belief: Array) -> dict[int, tuple[_Least, _Least]]:
        """Return, for the child of each edge, the `_Least` of the edge's parent side, and that of its child side."""
        a = self.alpha
        below: dict[int, _Least] = {}
        for x in reversed(self.order):
            under = [(a * below[y][0], below[y][1]) for y in self.neighbours[x] if y != self.parent[x]]
            below[x] = min([(belief[x], x), *under])
        above: dict[int, _Least] = {}
        for x in self.order:
            candidates = [(a * below[y][0], below[y][1], y) for y in self.neighbours[x] if y != self.parent[x]]
            if x in above:
                candidates.append((a * above[x][0], above[x][1], self.parent[x]))
            # Two candidates suffice: at most one of them lies on the side of a child y.
            candidates = sorted([*candidates, (belief[x], x, -1)])[:2]
            for y in self.neighbours[x]:
                if y != self.parent[x]:
                    above[y] = next((value, u) for value, u, through in candidates if through != y)
        return {x: (above[x], below[x]) for x in self.order[1:]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NibOptimum(Display):
    """The least expected nib loss for a prior on a tree, a mechanism that attains it, and the proof of the bound."""

    ptype: PrivacyType
    prior: Array  # (n,) the prior, in Fractions
    loss: Fraction
    mechanism: Channel  # (n, 1) or (n, 2); on a line, the geometric mechanism with merged outcomes
    actions: tuple[int, ...]  # for each outcome, the secret that the consumer names
    packing: Array  # (n,) the vector t of the bound in the docstring of this module

    def verify(self) -> bool:
        """Check in O(n) that `mechanism` satisfies the level and has the loss `loss`, and that `packing` proves the
        bound.
        """
        tree, n, matrix = _Tree.of(self.ptype), self.ptype.space.size, self.mechanism.matrix
        if not (len(matrix) == len(self.packing) == len(self.prior) == n) or matrix.shape[1] != len(self.actions):
            return False
        if any(name not in range(n) for name in self.actions):
            return False
        lost = sum((self.prior[name] * matrix[name, y] for y, name in enumerate(self.actions)), Fraction(0))
        used = {j: tree.distances(j) for j in np.flatnonzero(self.packing != 0).tolist()}
        fits = all(
            sum((self.packing[j] / tree.alpha ** away[x] for j, away in used.items()), Fraction(0)) <= p
            for x, p in enumerate(self.prior)
        )
        total = sum(self.packing, Fraction(0))
        return bool((self.packing >= 0).all() and tree.keeps(matrix) and fits and lost == total == self.loss)


def least_nib_loss(ptype: PrivacyType, prior: object) -> NibOptimum:
    """Return the least expected nib loss of any mechanism on a tree, such as a line of counts, with a proof.

    The loss nib is 1 if the consumer names the true secret, else 0. The least loss is the smaller of two minima. The
    first is the minimum of prior[x] over the secrets x. The second is the minimum of (a^(d(u,j)+1) prior[u] +
    a^(d(v,j')+1) prior[v]) / (1 + a) over the edges (j, j'), the secrets u on the side of j, and the secrets v on the
    side of j'.

    Args:
        ptype: Privacy type on a tree with edges of length 1, with rational alpha.
        prior: Exact prior of n secrets.

    Raises:
        Unsupported: if the space is no tree with edges of length 1, if alpha is irrational, or if the prior has floats.
        NotAPrior: if the number of entries of the prior is not n.

    Cost: O(n) additions and multiplications of rationals.

    Source: proofs/theory/universal-optimality.md.

    >>> from utmost.spaces import counts
    >>> from utmost.design.spaces import priors
    >>> found = least_nib_loss(PrivacyType(counts(4), alpha="1/2"), priors.uniform(5))
    >>> found.loss, found.actions, found.verify()
    (Fraction(1, 20), (4, 0), True)
    """
    tree, belief = _Tree.of(ptype), check_prior(prior)
    if not is_exact(belief):
        raise Unsupported("the prior must be exact", came="floats", where="prior", remedy="Pass Fractions or text.")
    n, a = ptype.space.size, tree.alpha
    if len(belief) != n:
        raise NotAPrior(f"the prior must have {n} probabilities", came=len(belief))
    single = int(belief.argmin())
    loss, cut = belief[single], None
    for child, (near, far) in tree.least_of_sides(belief).items():
        both = a * (near[0] + far[0]) / (1 + a)
        if both < loss:
            loss, cut = both, (child, near, far)
    packing = fractions(np.zeros(n, dtype=np.int64))
    if cut is None:
        packing[single] = loss
        always = Channel(fractions(np.ones((n, 1), dtype=np.int64)))
        return NibOptimum(ptype, belief, loss, always, (single,), frozen(packing))
    child, (left, u), (right, v) = cut
    # Solve left = s + t/a and right = s/a + t for the packing s at the parent and t at the child.
    packing[child] = (left - a * right) / (1 / a - a)
    packing[tree.parent[child]] = (right - a * left) / (1 / a - a)
    beyond = np.array(tree.beyond(tree.parent[child], child), dtype=object)
    mechanism = Channel(np.column_stack([1 - beyond, beyond]))
    return NibOptimum(ptype, belief, loss, mechanism, (v, u), frozen(packing))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NibConflict(Display):
    """A proof that no mechanism on a tree has the least nib loss at every prior, because the optima for some priors
    conflict.
    """

    # Let a mechanism be optimal at all of `priors`. Along each edge from the centre to a leaf, each of its columns
    # changes by a factor alpha or 1/alpha, and each column increases along at most one of these edges. Since rows sum
    # to 1, the entries of the centre's row in the columns that increase towards one leaf sum to a/(1 + a). Over all
    # leaves this is more than 1, a contradiction.
    ptype: PrivacyType
    centre: int
    leaves: tuple[int, ...]  # more than 1 + 1/alpha neighbours of the centre

    def priors(self) -> Iterator[tuple[Array, int, int]]:
        """Yield the conflicting priors, each with the two secrets u, v at which the bound of this module is tight."""
        tree = _Tree.of(self.ptype)
        for k, v in enumerate(self.leaves):
            near, far = tree.distances(self.centre), tree.distances(v)
            tight = [1 / tree.alpha**n + 1 / tree.alpha**f for n, f in zip(near, far, strict=True)]
            for u in (self.centre, *self.leaves[:k]):
                weights = [weight + (x not in (u, v)) for x, weight in enumerate(tight)]
                yield np.array([weight / sum(weights) for weight in weights], dtype=object), u, v

    def verify(self) -> bool:
        """Check in O(D^2 n), for D leaves, that centre and leaves form a star, and that optima at `priors` conflict."""
        tree, star = _Tree.of(self.ptype), set(self.leaves)
        a = tree.alpha
        if self.centre not in range(self.ptype.space.size) or len(star) != len(self.leaves):
            return False
        if not star <= set(tree.neighbours[self.centre]) or not len(star) * a / (1 + a) > 1:
            return False
        # At each prior, the least loss equals the bound whose t is positive at the centre and at v, and tight at u and
        # v.
        for prior, u, v in self.priors():
            found = least_nib_loss(self.ptype, prior)
            size, near, far = found.loss / 2, tree.distances(self.centre), tree.distances(v)
            bound = [size / a**n + size / a**f for n, f in zip(near, far, strict=True)]
            tight = {x for x, (p, least) in enumerate(zip(prior, bound, strict=True)) if p == least}
            if not found.verify() or any(prior < bound) or tight != {u, v}:
                return False
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NibVerdict(Display):
    """Whether one mechanism on a tree has the least nib loss at every prior; in a condition, the object is true if
    `mechanism` is not None.
    """

    ptype: PrivacyType
    mechanism: Channel | None  # (n, n), universally optimal
    conflict: NibConflict | None  # the proof that no mechanism is universally optimal

    def __bool__(self) -> bool:
        return self.mechanism is not None

    def verify(self) -> bool:
        """Check in O(n^2) that the mechanism is private and optimal at every prior. If no mechanism is optimal at every
        prior, check the conflict.
        """
        # If the outcomes on each side of an edge are merged, an optimal mechanism equals the mechanism of two outcomes
        # in `least_nib_loss`.
        if self.mechanism is None:
            return self.conflict is not None and self.conflict.verify()
        tree, matrix, n = _Tree.of(self.ptype), self.mechanism.matrix, self.ptype.space.size
        if self.conflict is not None or matrix.shape != (n, n) or not tree.keeps(matrix):
            return False
        behind = matrix.copy()
        for x in reversed(tree.order[1:]):
            behind[:, tree.parent[x]] = behind[:, tree.parent[x]] + behind[:, x]
        return all(behind[:, child].tolist() == tree.beyond(parent, child) for parent, child in tree.edges)


def universal_nib(ptype: PrivacyType) -> NibVerdict:
    """Decide whether one mechanism on a tree has the least expected nib loss at every prior.

    The loss nib is 1 if the consumer names the true secret, else 0. A mechanism with the least loss at every prior
    exists if and only if alpha <= 1/(D - 1), where D is the largest number of neighbours of a secret. So on lines a
    mechanism with the least loss at every prior always exists. If the mechanism exists, it gives the outcome y for the
    secret x with probability a^d(x,y) (1 - (deg(y) - 1) a)/(1 + a), where deg(y) is the number of neighbours of y.

    Args:
        ptype: Privacy type on a tree with edges of length 1, with rational alpha.

    Raises:
        Unsupported: if the space is no tree with edges of length 1, or if alpha is irrational.

    Cost: O(n^2) operations on rationals.

    Source: proofs/theory/universal-optimality.md; [fernandes2022], section VI-A, suggests the result for lines.

    >>> from utmost.spaces import graph
    >>> star = graph([(0, 1), (0, 2), (0, 3)])
    >>> for alpha in ("1/2", "501/1000"):
    ...     verdict = universal_nib(PrivacyType(star, alpha=alpha))
    ...     print(bool(verdict), verdict.verify())
    True True
    False True
    """
    tree = _Tree.of(ptype)
    a, degrees = tree.alpha, [len(beside) for beside in tree.neighbours]
    widest = max(range(len(degrees)), key=degrees.__getitem__)
    if (degrees[widest] - 1) * a > 1:
        return NibVerdict(ptype, None, NibConflict(ptype, widest, tree.neighbours[widest][: floor(1 / a) + 2]))
    weights = [(1 - (degree - 1) * a) / (1 + a) if len(degrees) > 1 else Fraction(1) for degree in degrees]
    rows: list[list[Any]] = [
        [a**away * weight for away, weight in zip(tree.distances(x), weights, strict=True)] for x in range(len(degrees))
    ]
    return NibVerdict(ptype, Channel(np.array(rows, dtype=object)), None)
