"""Store an extreme ray of a privacy type, as a tree, for each action of a consumer. Find better trees at given prices,
and read multipliers from the trees.

All numbers are floats. A ray becomes a column of a channel only after a repair has made it exactly private, and
multipliers prove a bound only after the checker has computed their slack.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.design.optima import tree_pricing
from utmost.design.optima.checker import Multipliers
from utmost.design.optima.tree_pricing import ArcKinds, PlaceNumbers, Trees

_SHORTER = 1e-10  # relative decrease of each distance, to avoid that two constraints become tight at once
LARGEST_EXPONENT = 90.0  # factors below exp(-90) are replaced by exp(-90), which is more private and avoids underflow
_BETTER = 1e-9  # the tree of another action is copied if its ratio is lower by more than this fraction


def generic_factors(distances: Floats, epsilon: float) -> Floats:
    """Return (n, n) factors slightly above exp(-epsilon d), with strict triangle inequalities and without ties."""
    # On grids many trees have the same ray, and pivots between such trees make no progress. So d is replaced by (1 - h)
    # d + h d_min u, with h = 1e-10 and random u between 3/5 and 1. The new distances are at most d, the direct path is
    # the only shortest one, and ties vanish. Channels that satisfy these factors satisfy those of the type.
    n = len(distances)
    if n == 1:
        return plain_factors(distances, epsilon)
    least = distances[~np.eye(n, dtype=bool)].min()
    # Any random numbers break ties. A fixed seed makes the result reproducible.
    u = np.random.default_rng(0).random((n, n))
    u = np.triu(u, 1) + np.triu(u, 1).T
    shortened = (1 - _SHORTER) * distances + _SHORTER * least * (0.6 + 0.4 * u)
    np.fill_diagonal(shortened, 0.0)
    return plain_factors(shortened, epsilon)


def plain_factors(distances: Floats, epsilon: float) -> Floats:
    """Return (n, n) factors exp(-epsilon d); factors below exp(-90) are replaced by exp(-90)."""
    return np.ascontiguousarray(np.exp(-np.minimum(epsilon * distances, LARGEST_EXPONENT)))


@dataclass(slots=True, eq=False)
class Forest:
    """One tree for each action; `price` changes the trees in place."""

    factors: Floats  # (n, n), see `generic_factors`
    weights: Floats  # (n,) positive numbers q; a ray v is scaled to <q, v> = 1
    # Parents (k, n), kinds of arcs (k, n) and roots (k,) of the trees, as in `utmost.design.optima.tree_pricing`.
    parents: PlaceNumbers
    kinds: ArcKinds
    roots: PlaceNumbers
    rays: Floats  # (k, n) the ray of each tree
    ratios: Floats  # (k,) the ratio <Y, v> / <q, v> of each ray v at the last prices Y
    proven: Floats  # (k,) the lower bound of the ratios of all rays that each tree proved at these prices

    @classmethod
    def of_stars(cls, factors: Floats, weights: Floats, costs: Floats) -> "Forest":
        """Return a forest with a star for each action. The root of the star of an action is the place y for which the
        column alpha^d(., y) costs least.
        """
        n, k = len(factors), len(costs)
        stars = factors / (factors @ weights)[:, None]
        roots = (costs @ stars.T).argmin(axis=1).astype(np.int32)
        parents = np.ascontiguousarray(np.repeat(roots[:, None], n, axis=1))
        kinds = np.ones((k, n), dtype=np.int8)
        return cls(factors, weights, parents, kinds, roots, stars[roots], np.zeros(k), np.full(k, -np.inf))

    def price(self, prices: Floats, which: PlaceNumbers, most: int, slack: float) -> int:
        """Pivot the trees of the actions ``which``, each tree at its own row of prices. Return the number of pivots."""
        return int(
            tree_pricing.price_trees(self._as_trees(self.factors), np.ascontiguousarray(prices), which, most, slack)
        )

    def price_shortfalls(self, prices: Floats, level: float) -> Floats:
        """Return the amounts (n,) to add to every row of ``prices`` so that each tree proves the bound ``level`` at its
        row.
        """
        shortfalls = np.zeros(len(self.weights))
        tree_pricing.write_shortfalls(
            self._as_trees(self.factors), np.ascontiguousarray(prices), level, shortfalls, np.empty((0, 0))
        )
        return shortfalls

    def start_from_best_trees(self, prices: Floats, which: PlaceNumbers) -> None:
        """Replace the tree of each action in ``which`` by the best tree of any action, at the action's own row of
        ``prices``.
        """
        table = prices @ self.rays.T
        best, own = table.argmin(axis=1), table[np.arange(len(which)), which]
        better = table.min(axis=1) < own - _BETTER * abs(own)
        receivers, donors = which[better], best[better]
        for part in (self.parents, self.kinds, self.roots, self.rays):
            part[receivers] = part[donors]

    def start_from_trees_of(self, others: "Forest", which: PlaceNumbers) -> None:
        """Copy trees from a forest on the same places: action w gets the tree of action ``which[w]`` of ``others``."""
        for name in ("parents", "kinds", "roots", "rays"):
            setattr(self, name, getattr(others, name)[which].copy())

    def extended_to(self, others: "Forest", at: NDArray[np.intp]) -> "Forest":
        """Return the trees extended to all places of ``others``. At a new place x, the entry of each ray v is the
        largest that the inequalities v_y >= factors[x, y] v_x allow.
        """
        k, n = self.parents.shape[0], len(others.weights)
        new = np.setdiff1d(np.arange(n), at)
        rays, parents = np.empty((k, n)), np.empty((k, n), dtype=np.int32)
        kinds = np.full((k, n), -1, dtype=np.int8)
        rays[:, at], parents[:, at], kinds[:, at] = self.rays, at[self.parents], self.kinds
        for place in new:
            high = self.rays / others.factors[place, at]
            least = high.argmin(axis=1)
            rays[:, place], parents[:, place] = high[np.arange(k), least], at[least]
        rays /= (rays @ others.weights)[:, None]
        roots = at[self.roots].astype(np.int32)
        return Forest(others.factors, others.weights, parents, kinds, roots, rays, np.zeros(k), np.full(k, -np.inf))

    def copied(self) -> "Forest":
        """Return a copy that `price` can change without changing this forest."""
        return Forest(
            self.factors,
            self.weights,
            self.parents.copy(),
            self.kinds.copy(),
            self.roots.copy(),
            self.rays.copy(),
            self.ratios.copy(),
            self.proven.copy(),
        )

    def multipliers(self, prices: Floats, factors: Floats) -> Multipliers:
        """Return multipliers of the privacy constraints along the arcs of the trees. If possible, these multipliers
        prove that every row of ``prices`` (k, n) has a nonnegative product with every ray.
        """
        # A row of ``prices`` is p_x l(x, w) - mu_x for one action w. ``factors`` (n, n) are those of the type. Each
        # action has at most n - 1 multipliers.
        k, n = self.parents.shape
        values = np.zeros((k, n))
        tree_pricing.write_shortfalls(self._as_trees(factors), np.ascontiguousarray(prices), 0.0, np.zeros(n), values)
        action, place = np.nonzero(values)
        above, is_sink = self.parents[action, place], self.kinds[action, place] > 0
        return Multipliers(
            np.where(is_sink, place, above), np.where(is_sink, above, place), action, values[action, place]
        )

    def _as_trees(self, factors: Floats) -> Trees:
        """Return the forest's arrays, not copied, with the given factors; compiled functions write into them."""
        names = ("weights", "parents", "kinds", "roots", "rays", "ratios", "proven")
        return Trees(factors, *(getattr(self, name) for name in names))
