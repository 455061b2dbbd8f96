"""Search by column generation for the extreme rays (possible columns) of which the best channel for a consumer
consists.

A round starts with a price for each place (secret). For each action, a simplex method on trees
(`utmost.design.optima.tree_pricing`) finds the best ray at these prices. When all trees are optimal, they prove a
bound. New rays enter the linear program for the coefficients of the rays (`utmost.core.programs.many_columns`). The
solution of this program gives the next prices. All numbers are floats.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log

import numpy as np

from utmost.core.exact.arrays import Floats, Indices
from utmost.core.exact.progress_bar import report_progress
from utmost.core.programs.many_columns import CentralShares, central_shares, exact_sums
from utmost.design.optima.empty_places import extended, extended_with_loss, lower_limits, places_to_add, upper_limits
from utmost.design.optima.extreme_rays import Forest, generic_factors
from utmost.design.optima.near_places import share_by_mass, sum_at_centres
from utmost.design.optima.tree_pricing import PlaceNumbers, compile_if_it_pays
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer

GapProgress = Callable[[int, float], object]
"""A function of the number of rounds so far and the relative gap."""

_NOTHING = 1e-12  # losses below this fraction of an action's largest expected loss count as zero
_SMOOTH = 0.5  # weight of the best prices so far in the smoothed prices; the rest is the weight of the latest prices
_PATIENCE = 5  # after each such number of rounds without a better bound, one round uses the latest prices alone
# the first rays are these powers of the columns alpha^d(., y); power 0 gives the constant ray
_FLATTER = (1.0, 0.6, 0.3, 0.0)
# rounds in which trees may stop early: at first, and after places were separated
_EARLY, _EARLY_SEPARATED = 12, 10
_FEW_STEPS = 5  # if trees need at most this many pivots on average, the round also finds rays at the latest prices
# largest number of pivots of a tree in early and late rounds, and in all other rounds
_FEW_PIVOTS, _MOST_PIVOTS = 150, 3000
_LATE = 1e-2  # relative gap below which trees stop sooner, and rays are also generated at mixtures of prices
_FEW_ACTIONS = 0.05  # rays are generated at mixtures of prices for at most this fraction of the actions
# weights of the best prices in the mixtures of best and latest prices
_BETWEEN = tuple(share / 10 for share in range(9, -1, -1))
# The actions are processed in groups, which end at these fractions of all actions. A later group starts from the trees
# of earlier groups.
_WAVES = (0.04, 0.15, 0.4)
_RAYS_PER_PLACE = 8  # number of stored rays for each place
_RAYS_FOR_NEXT_SEARCH = 2  # number of rays for each place that the next search receives
# a round tries bounds at these quantiles of the ratios of all actions
_LEVEL_SHARES = (0.0, 0.002, 0.02, 0.1, 0.5)
_STALLED = 150  # after this many rounds without a better bound the search ends
_LEAST_SLACK = 1e-11


@dataclass(frozen=True, slots=True, eq=False)
class _Bound:
    """A lower bound of the loss, with the prices and trees that prove it."""

    prices: Floats
    level: float  # the level that all trees prove at these prices, after the prices were lowered
    trees: Forest
    value: float  # the lower bound, in units of `RayProgram.scale`


@dataclass(frozen=True, slots=True, eq=False)
class RayProgram:
    """The linear program of the search: find the cheapest sum of multiples of rays that is 1 at each place."""

    factors: Floats  # (n, n) factors alpha^d of all places, see `generic_factors`
    costs: Floats  # (k, n) prior times loss of each action, in units of `scale`
    prior: Floats
    epsilon: float
    scale: float  # largest expected loss of an action
    near: Indices  # (n,) the place into which each place is merged (itself without merging)
    masses: Floats  # (n,) the mass of each place before merging

    @classmethod
    def of(cls, ptype: PrivacyType, consumer: Consumer) -> "RayProgram":
        prior, epsilon = np.asarray(consumer.prior, dtype=np.float64), ptype.level.epsilon_float
        costs = np.ascontiguousarray((prior[:, None] * np.asarray(consumer.loss, dtype=np.float64)).T)
        scale = float(costs.sum(axis=1).max()) or 1.0
        factors = generic_factors(np.asarray(ptype.space.distances, dtype=np.float64), epsilon)
        return cls(factors, costs / scale, prior, epsilon, scale, np.arange(len(prior)), prior)

    def with_merged_places(self, near: Indices) -> "RayProgram":
        """Return the program in which costs and mass of place i are moved to place near[i]."""
        return replace(self, costs=sum_at_centres(self.costs, near), prior=sum_at_centres(self.prior, near), near=near)


@dataclass(frozen=True, slots=True, eq=False)
class SearchResults:
    """Results of a search, from which another search on the same space can start."""

    epsilon: float
    scale: float  # unit of prices
    places: Indices  # (t,) the secrets in the search: all with positive prior, and some others
    rays: Floats  # (t, N) the rays with the largest activity
    trees: Forest
    prices: Floats  # (t,) the prices of the best bound


@dataclass(slots=True, eq=False)
class RaySearch:
    """Search for the extreme rays of an optimal mechanism by column generation, on a part of the secrets (places)."""

    program: RayProgram
    places: Indices  # (n,) indices of these places in the program, ascending
    costs: Floats  # (k, n) costs of the program at these places
    forest: Forest  # the current tree of each action
    rays: Floats  # (n, N) the current rays
    ray_costs: Floats  # (N,) the cost of each ray for the action for which it is cheapest
    waves: list[PlaceNumbers]  # the actions, divided into groups that are processed one after another
    marks: Floats  # (n,) random weights; rays with equal weighted sums are taken for equal
    upper: float  # upper bound of the least loss
    blind_loss: float  # the least loss of a channel that reveals nothing
    room: float  # 1 - alpha along the shortest edge
    best: _Bound | None = None
    shares: CentralShares | None = None
    last_shares: Floats = field(default_factory=lambda: np.zeros(0))  # (N,) the latest coefficients of the current rays
    best_rays: tuple[Floats, Floats] | None = None  # the rays of the least upper bound, and their costs
    new: list[Floats] = field(default_factory=list)  # rays (m, n) found by the last round
    rounds: int = 0
    fruitless: int = 0  # number of rounds since the bound improved
    idle: bool = False  # whether the last round found no new ray
    early: int = _EARLY  # in rounds before this one, trees may stop early
    guess: Floats | None = None  # (n,) prices of the first round; None for the prices of the program
    before: "RaySearch | None" = None  # the search over fewer places from which this one started

    @classmethod
    def of(cls, program: RayProgram, places: Indices) -> "RaySearch":
        """Return a search at its start: trees are stars, and rays are the columns alpha^(t d(., y)) for some t."""
        factors = np.ascontiguousarray(program.factors[np.ix_(places, places)])
        costs, prior = np.ascontiguousarray(program.costs[:, places]), program.prior[places]
        weights = prior + prior.mean()
        weights /= weights.sum()
        first = np.concatenate([factors**t for t in _FLATTER[:-1]] + [np.ones((1, len(factors)))])
        rays = np.ascontiguousarray((first / (first @ weights)[:, None]).T)
        # Any fixed random numbers will do for the order of the actions and for the weights that compare rays.
        random = np.random.default_rng(0)
        order = random.permutation(len(costs)).astype(np.int32)
        waves = [wave for wave in np.split(order, [int(share * len(costs)) for share in _WAVES]) if len(wave)]
        forest = Forest.of_stars(factors, weights, costs)
        room = 1 - float(np.where(np.eye(len(factors)) > 0, 0.0, factors).max())
        ray_costs, blind_loss = (costs @ rays).min(axis=0), max(float(costs.sum(axis=1).min()), _NOTHING)
        marks = random.random(len(factors))
        return cls(program, places, costs, forest, rays, ray_costs, waves, marks, blind_loss, blind_loss, room)

    def start_from(self, starts: Sequence[SearchResults]) -> None:
        """Take rays and trees from other searches on this space; interpolate the first prices from the prices of those
        searches.
        """
        # The logarithm of an extreme ray changes by epsilon d along each arc of its tree. So at another level the same
        # tree has a ray that is a power of this ray. That ray is also extreme, unless factors underflow.
        now, levels = self.program.epsilon, [start.epsilon for start in starts]
        powers = [now / at for at in levels]
        prices = [self._at_places(start.prices * (start.scale / self.program.scale), start.places) for start in starts]
        rays = [
            self._extended(columns**power, start.places)
            for start, power in zip(starts, powers, strict=True)
            for columns in (start.rays, start.trees.rays.T)
        ]
        # If one given level is smaller and one larger, the error of the interpolation is of second order in their
        # distance.
        share = (now - levels[0]) / (levels[-1] - levels[0]) if levels[-1] != levels[0] else 0.0
        nearest = replace(starts[0].trees, rays=starts[0].trees.rays ** powers[0])
        self._start_from_rays(rays, nearest, starts[0].places, (1 - share) * prices[0] + share * prices[-1])

    def with_more_places(self, more: Indices) -> "RaySearch":
        """Return a search over the places of this search and the places ``more``, started from the results of this
        search.
        """
        # If rounding errors ended this search, they will end the next one too, so all places are added.
        everywhere = np.arange(len(self.program.prior))
        search = RaySearch.of(self.program, everywhere if self.fruitless > _STALLED else np.union1d(self.places, more))
        results = self.results()
        search._continue_from(self, results, search._at_places(results.prices, results.places))
        return search

    def with_separated_places(self, program: RayProgram, places: Indices) -> "RaySearch":
        """Return a search on a program in which fewer places are merged, started from the results of this search."""
        search, results, everywhere = RaySearch.of(program, places), self.results(), np.zeros(len(program.prior))
        everywhere[results.places] = results.prices
        own = share_by_mass(everywhere, self.program.near, program.masses)
        search._continue_from(self, results, sum_at_centres(own, program.near)[places])
        # The prices of separated places are still far from optimal, so trees would need many pivots.
        search.early = search.rounds + _EARLY_SEPARATED
        return search

    def _continue_from(self, before: "RaySearch", results: SearchResults, prices: Floats) -> None:
        """Take rays, trees and the number of rounds from a search over fewer places; start at the given prices (n,)."""
        self._start_from_rays([self._extended(results.rays, results.places)], results.trees, results.places, prices)
        self.rounds, self.before, before.before = before.rounds, before, None

    def places_to_add(self) -> Indices:
        """Return the places outside the search to which the best channel so far cannot be extended."""
        if len(self.places) == len(self.program.prior):
            return self.places[:0]
        rows = self.columns()
        short = places_to_add(rows, self.places, self.program.factors)
        return short if len(short) else extended(rows, self.places, self.program.factors)[1]

    def channel(self) -> Floats:
        """Return the best channel from the current rays, extended to all places, (all places, k)."""
        rows = self.columns()
        if len(self.places) == len(self.program.prior):
            return rows
        return extended_with_loss(rows, self.places, self.program.factors)

    def _at_places(self, prices: Floats, at: Indices) -> Floats:
        """Return an array (n,) with ``prices`` at the places ``at``, and 0 at the other places of the search."""
        own = np.zeros(len(self.places))
        own[np.searchsorted(self.places, at)] = prices
        return own

    def _extended(self, rays: Floats, at: Indices) -> Floats:
        """Extend N rays from ``at`` to all places, once by the largest, once by the least possible entries."""
        new = np.setdiff1d(self.places, at)
        if not len(new):
            return rays
        factors = self.program.factors[np.ix_(new, at)]
        own, further = (np.searchsorted(self.places, which) for which in (at, new))
        spread = np.empty((2, len(self.places), rays.shape[1]))
        spread[:, own], spread[0, further], spread[1, further] = (
            rays,
            upper_limits(rays, factors),
            lower_limits(rays, factors),
        )
        return np.concatenate([*spread], axis=1)

    def _start_from_rays(self, rays: list[Floats], trees: Forest, at: Indices, prices: Floats) -> None:
        """Start at the given prices, with rays (n, N) and, for each action, the best of ``trees``, which cover the
        places ``at``.
        """
        forest = trees.extended_to(self.forest, np.searchsorted(self.places, at))
        pool = [np.asarray(some / (self.forest.weights @ some)) for some in (*rays, forest.rays.T)]
        columns = np.concatenate([*pool, self.rays], axis=1)
        # Compare rays by one random combination of their entries, not by all entries.
        _, first = np.unique(np.round(self.marks @ columns, 10), return_index=True)
        self.rays = np.ascontiguousarray(columns[:, np.sort(first)])
        self.ray_costs = (self.costs @ self.rays).min(axis=0)
        self.guess, self.early = prices, 0
        best = ((self.costs - prices) @ forest.rays.T).argmin(axis=1)
        self.forest.start_from_trees_of(forest, best.astype(np.int32))

    def results(self) -> SearchResults:
        """Return the most active rays, and the trees and prices of the best bound."""
        assert self.best is not None
        assert self.shares is not None
        n, active = len(self.rays), self.shares.shares / self.shares.excess
        keep = np.sort(np.argsort(-active)[: _RAYS_FOR_NEXT_SEARCH * n])
        rays, program = self.rays[:, : len(active)][:, keep], self.program
        return SearchResults(program.epsilon, program.scale, self.places, rays, self.best.trees, self.best.prices)

    @property
    def gap(self) -> float:
        """The difference between the upper and the lower bound of the least loss. The difference is at most the upper
        bound.
        """
        return min(self.upper, self.upper - self.best.value) if self.best is not None else self.upper

    def aim(self, gap: float) -> float:
        """Return the absolute gap, in units of the loss, for a relative gap."""
        return gap * abs(self.upper) + _NOTHING

    def run(self, gap: float, progress: GapProgress | None) -> None:
        """Run rounds until the relative gap is reached, or the bound has not improved for too many rounds."""
        widest = 0.0
        while self.best is None or not (self.gap <= self.aim(gap) or self.fruitless > _STALLED):
            self.round()
            widest = max(widest, self.gap)
            # Each round reduces the gap by about a constant factor, so the logarithm of the gap shows the progress.
            aim, is_known = self.aim(gap), 0 < self.aim(gap) < self.gap <= widest < inf
            done, total = (log(widest / self.gap), log(widest / aim)) if is_known else (0.0, 0.0)
            report_progress(done, total, note=f"round {self.rounds}")
            if progress is not None:
                progress(self.rounds, self.gap / max(self.upper, _NOTHING))

    def round(self) -> None:
        """Add the rays of the previous round, compute the coefficients of all rays and the prices of the places, and
        find new rays.
        """
        if self.best is not None:
            self._add_rays()
        # The program for the coefficients of the current rays gives the prices of the places.
        accuracy = max(0.1 * min(self.gap, 0.1 * abs(self.upper)), 0.1 * _NOTHING)
        # An error of a row sum increases the loss by `blind_loss / room` times the error. All errors together must
        # increase it by less than a hundredth of the accuracy.
        exactness = min(max(1e-2 * accuracy / self.blind_loss * self.room, 1e-12), 1e-6)
        near = None if self.shares is None else (self.last_shares, self.shares.prices)
        self.shares = central_shares(self.rays, self.ray_costs, self.forest.weights, accuracy, exactness, near)
        # A constant column corrects errors of row sums.
        correction = 2 * self.shares.error / self.room * self.blind_loss
        total_cost = float(self.ray_costs @ self.shares.shares) + correction
        if self.best_rays is None or total_cost < self.upper:
            self.best_rays = self.rays, self.ray_costs
        self.upper = min(self.upper, total_cost)
        self._price()
        self.rounds += 1

    def latest_with_bound(self) -> "RaySearch | None":
        """Return this search if it has a bound, else the search from which it started."""
        return self if self.best is not None else self.before

    def _price(self) -> None:
        """Find new rays and a bound at smoothed prices. If trees need few pivots, do the same at the latest prices."""
        assert self.shares is not None
        prices, best, self.new = self.shares.prices, self.best, []
        # After every few rounds without a better bound, one round does not mix in the best prices: they may be extreme
        # early prices.
        if best is not None and not self.idle and (self.fruitless + 1) % _PATIENCE:
            smooth = _SMOOTH * best.prices + (1 - _SMOOTH) * prices
            if self._price_at(smooth) <= _FEW_STEPS * len(self.costs):
                self._price_at(prices)
        else:
            self._price_at(self.guess if best is None and self.guess is not None else prices)
        if best is None or self.gap > self.aim(_LATE):
            return
        # For actions that still have negative ratios, find rays at many mixtures of the best and the latest prices.
        # Near the end these are the actions of a few places with large masses. Each needs dozens of rays, and would get
        # only one in each round. In early rounds, or for many actions, so many rays would displace better ones.
        which = np.flatnonzero(self.forest.ratios < 0).astype(np.int32)
        if 0 < len(which) <= _FEW_ACTIONS * len(self.costs):
            forest = self.forest.copied()
            for share in _BETWEEN:
                between = share * best.prices + (1 - share) * prices
                forest.price(self.costs[which] - between, which, *self._effort)
                self.new.append(forest.rays[which])

    def _price_at(self, prices: Floats) -> int:
        """Find the best ray of each action and a bound, at these prices; return the number of pivots of all trees."""
        early, steps = self.rounds < self.early, 0
        for which in self.waves if early else [np.arange(len(self.costs), dtype=np.int32)]:
            at = self.costs[which] - prices
            self.forest.start_from_best_trees(at, which)
            steps += self.forest.price(at, which, *self._effort)
        compile_if_it_pays(len(prices), (len(self.costs) + steps) * len(prices))
        self.new.append(self.forest.rays[self.forest.ratios < 0])
        # A bound needs one level that all trees prove. The least of the levels that the trees prove needs no change of
        # prices, but a few bad trees may make it low. A higher level needs lower prices at some places. Use the best of
        # these bounds.
        level = float(self.forest.proven.min())
        value, at = float(prices.sum()) + level, self.costs - prices
        for higher in {float(np.quantile(self.forest.ratios, share)) for share in _LEVEL_SHARES}:
            bound = float(prices.sum()) + higher - float(self.forest.price_shortfalls(at, higher).sum())
            if bound > value:
                level, value = higher, bound
        if self.best is None or value > self.best.value:
            self.best = _Bound(prices, level, self.forest.copied(), value)
            self.fruitless = 0
        else:
            self.fruitless += 1
        return steps

    @property
    def _effort(self) -> tuple[int, float]:
        """Return the most pivots of one tree, and how far from the optimum a tree's ratio may stay."""
        # Near the end, misleading prices cause long sequences of pivots. So these are stopped, and the next round
        # continues them.
        most = _FEW_PIVOTS if self.rounds < self.early or self.gap <= self.aim(_LATE) else _MOST_PIVOTS
        # A tree needs no more accuracy than the gap, so trees stop after a few pivots in early rounds.
        return most, max(1e-2 * min(self.gap, 0.1 * abs(self.upper)), _LEAST_SLACK * abs(self.upper), 1e-2 * _NOTHING)

    def _add_rays(self) -> None:
        """Add the new rays of the last round, each once; remove the old rays that were used least."""
        assert self.shares is not None
        new = np.concatenate(self.new)
        marks, first = np.unique(np.round(new @ self.marks, 12), return_index=True)
        # Drop copies of rays. The activity of a ray would be divided among its copies, and they would displace other
        # rays.
        first = first[~np.isin(marks, np.round(self.marks @ self.rays, 12))]
        self.idle = len(first) == 0
        new = np.ascontiguousarray(new[first].T)
        room, shares = _RAYS_PER_PLACE * len(self.rays), self.shares.shares
        if self.rays.shape[1] > room:
            # The constant ray stays: it makes the program feasible.
            active = self.shares.shares / self.shares.excess
            active[self.rays.min(axis=0) == self.rays.max(axis=0)] = np.inf
            keep = np.sort(np.argsort(-active)[:room])
            self.rays, self.ray_costs, shares = self.rays[:, keep], self.ray_costs[keep], shares[keep]
        self.rays = np.concatenate([self.rays, new], axis=1)
        self.ray_costs = np.concatenate([self.ray_costs, (self.costs @ new).min(axis=0)])
        self.last_shares = np.concatenate([shares, np.zeros(new.shape[1])])

    def columns(self) -> Floats:
        """Return the best channel (n, k) whose columns are sums of multiples of the rays found so far."""
        weights, (rays, ray_costs) = self.forest.weights, self.best_rays or (self.rays, self.ray_costs)
        # Spend a hundredth of the gap on a solution in the middle of the optimal face.
        near = central_shares(rays, ray_costs, weights, 1e-2 * self.gap + 0.1 * _NOTHING)
        shares = exact_sums(rays, weights, near.shares)
        channel = np.zeros((len(rays), len(self.costs)))
        np.add.at(channel.T, (self.costs @ rays).argmin(axis=0), (rays * shares).T)
        return channel
