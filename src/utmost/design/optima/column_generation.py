"""Optima of large programs: a channel put together of extreme rays, which are found where they are worth it.

All columns of a channel lie in the same cone, whatever their action. So the best channel is a sum of its extreme rays,
each given to its cheapest action, that adds up to 1 in every place: a program with one row for each place. Its rays are
found one by one: at the prices mu of the rows, each action's best ray is priced by walking over trees
(`utmost.design.optima.tree_pricing`), and where all trees stop, their flows are the multipliers that prove the prices.

A solver in floats proves nothing. What counts is the certificate that is made from its answer: the columns are
corrected to an exactly private channel, the multipliers to a feasible dual, and the checker computes both bounds anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from utmost.design.optima.checker import Multipliers
from utmost.design.optima.empty_places import filled, filled_at_a_loss, highest, lowest, short_places
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.extreme_rays import FARTHEST, Forest, Places, generic_factors, plain_factors
from utmost.design.optima.nearly_private import feasible_dual, roomy_matrix
from utmost.design.optima.tree_pricing import prepare
from utmost.design.spaces import Consumer
from utmost.design.types import PrivacyType
from utmost.errors import SolverFailed, WrongKind
from utmost.laws.exact import Array, Floats, checked
from utmost.laws.exact.long_work import tell
from utmost.laws.exact.one_thread import one_blas_thread
from utmost.laws.programs.many_columns import Shares, central_shares, exact_sums

Progress = Callable[[int, float], object]
Indices = NDArray[np.intp]

_NOTHING = 1e-12  # of the largest loss expected of an action: a loss below it counts as zero
_AIM = 0.6  # of the gap that is asked for: what the loop stops at, so that rounding has room
_SMOOTH = 0.5  # of the best prices so far, and the rest of the latest
_PATIENCE = 5  # rounds without a better bound; then the latest prices are taken as they are
_FLATTER = (1.0, 0.6, 0.3, 0.0)  # the first rays: powers of the columns alpha^d(., y), and the constant one
_EARLY = 12  # rounds in which a tree need not be priced to its end
_FEW_STEPS = 5  # of a tree: where there are fewer, trees are priced at the latest prices of a round, too
_FEW_PIVOTS, _MOST_PIVOTS = 150, 3000  # of a tree in a round
_WAVES = (0.04, 0.15, 0.4)  # of the actions: who comes later begins at the trees of who came first
_COLUMNS = 8  # kept for each place
_LEFT = 2  # rays for each place that the next search begins with
_NEAR = 2.0  # times the level: what is found at levels farther away misleads
_SHARES = (0.0, 0.002, 0.02, 0.1, 0.5)  # of the actions, from the worst: levels that are tried for the bound
_STALLED = 150  # rounds without a better bound
_LEAST_SLACK = 1e-11
_ROUGH = (1e-2, 1e-4)  # gaps at which prices say which places without mass count


@checked
def certificate_of_rays(
    ptype: PrivacyType, consumer: Consumer, *, gap: float = 1e-7, progress: Progress | None = None
) -> Certificate:
    """The certificate of a channel whose loss is within a gap of the optimum, for any space, prior and loss.

    Args:
        ptype: space and level.
        consumer: a prior over the space's secrets, and a loss.
        gap: how far above the optimum the loss may be, relative to it, or to 1e-12 of the largest expected loss of an
            action where that is more.
        progress: is told after each round how many there were, and the relative gap so far: of the places that count
            so far, where some have no mass.

    Returns: what was reached, with the bounds that it proves: where rounding stops the search before the gap is small
        enough, and when it is interrupted from the keyboard, these are farther apart.

    Raises:
        SolverFailed: when no bound was found at all.

    Cost: 20 to 200 rounds, each O(n^2 N) for N = 8 n rays, and O(n s) for each pivot of a tree with s sources; 400
        places take from 5 to 40 seconds, and longer where they are far apart by their level. Memory: O(n (n + k))
        floats for k actions.

    Source: column generation on program (2) to (6) of [ghosh2009], smoothed as in [wentges1997];
        `docs/theory/large-designs.md`.

    >>> from utmost.design.spaces import grid, losses, priors
    >>> place = grid(2, 2)
    >>> found = certificate_of_rays(PrivacyType(place, epsilon=1), Consumer(priors.uniform(4), losses.distance(place)))
    >>> found.gap <= 1e-7 * found.upper, found.verify()
    (True, True)
    """
    if progress is not None and not callable(progress):
        raise WrongKind("progress must be a function", came=type(progress).__name__, where="certificate_of_rays")
    return searched(ptype, consumer, gap=gap, progress=progress).certificate


def searched(
    ptype: PrivacyType,
    consumer: Consumer,
    *,
    gap: float,
    progress: Progress | None = None,
    starts: "Sequence[Found]" = (),
) -> "Found":
    """What `certificate_of_rays` finds, with what another search on the same space can begin with.

    Args:
        ptype, consumer, gap, progress: see there.
        starts: what one search or two at any levels, for any consumers, have found on this space, the nearest first.
    """
    prior = _floats(consumer.prior)
    costs = np.ascontiguousarray((prior[:, None] * _floats(consumer.loss)).T)
    scale = float(costs.sum(axis=1).max()) or 1.0
    factors = generic_factors(_floats(ptype.space.distances), ptype.level.epsilon_float)
    starts = _near(starts, ptype)
    places = np.unique(np.concatenate([np.flatnonzero(prior > 0), *(start.places for start in starts)]))
    prepare(len(places))
    # Products of a few hundred rows: threads that wait for each other cost more than they save.
    with one_blas_thread():
        search = _Search.begun(_Program(factors, costs / scale, prior), places)
        search.go_on(starts, ptype, scale)
        whole = True
        try:
            # Prices that are nearly right say which places without mass count, and the right ones whether all do.
            rough = _ROUGH if len(places) < len(prior) else ()
            for aim in [*(wide for wide in rough if wide > gap), _AIM * gap]:
                search.run(aim, progress)
                while len(short := search.short_places()):
                    search = search.wider(short)
                    search.run(aim, progress)
        # What was found so far proves bounds, too, if wider ones.
        except KeyboardInterrupt:
            whole = False
            if search.best is None and search.before is not None:
                search = search.before
            if search.best is None:
                raise
        return Found(_certified(ptype, consumer, search, scale), whole, search.places, *search.left(), scale)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A certificate, and the rays, trees and prices that it came from.

    Attributes:
        certificate: as `certificate_of_rays` returns it.
        is_whole: whether the search ended by itself, and was not interrupted.
        places: (t,) those that counted: all with mass, and some others.
        rays: (t, N) those that were worth most.
        trees: one for each action.
        prices: (t,) of the best bound, in units of ``scale``.
        scale: the unit of losses.
    """

    certificate: Certificate
    is_whole: bool
    places: Indices
    rays: Floats
    trees: Forest
    prices: Floats
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class _Bound:
    """Prices, the level that all trees prove at them, the trees, and the bound that follows."""

    prices: Floats
    level: float
    trees: Forest
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """Factors (n, n), costs (k, n) and prior (n,) of all places."""

    factors: Floats
    costs: Floats
    prior: Floats


@dataclass(slots=True, eq=False)
class _Search:
    """The state of a column generation over some places: all that the next round needs."""

    program: _Program
    places: Indices  # (n,) which of the program's places, in order
    costs: Floats
    forest: Forest
    rays: Floats  # (n, N)
    spent: Floats  # (N,) the least cost of each
    waves: list[Places]
    marks: Floats
    upper: float
    blind: float  # the least loss of a channel that says nothing
    room: float  # 1 - alpha along the shortest edge
    best: _Bound | None = None
    shares: Shares | None = None
    begun_at: Floats = field(default_factory=lambda: np.zeros(0))  # (N,) the last shares of the rays at hand
    best_rays: tuple[Floats, Floats] | None = None  # rays and their costs, of the least upper bound
    new: list[Floats] = field(default_factory=list)  # rays (m, n) that the last round found
    rounds: int = 0
    fruitless: int = 0
    idle: bool = False  # the last round found no ray that was not there
    early: int = _EARLY
    guess: Floats | None = None  # of the prices, before any bound
    before: "_Search | None" = None  # the search over fewer places, where this one began at its end

    @classmethod
    def begun(cls, program: _Program, places: Indices) -> "_Search":
        """Stars for trees, and the columns alpha^(t d(., y)) for rays."""
        factors = np.ascontiguousarray(program.factors[np.ix_(places, places)])
        costs, prior = np.ascontiguousarray(program.costs[:, places]), program.prior[places]
        weights = prior + prior.mean()
        weights /= weights.sum()
        first = np.concatenate([factors**t for t in _FLATTER[:-1]] + [np.ones((1, len(factors)))])
        rays = np.ascontiguousarray((first / (first @ weights)[:, None]).T)
        # In which order actions are priced, and how rays are told apart: any numbers would do, and nothing is drawn.
        random = np.random.default_rng(0)
        order = random.permutation(len(costs)).astype(np.int32)
        waves = [wave for wave in np.split(order, [int(share * len(costs)) for share in _WAVES]) if len(wave)]
        forest = Forest.of_stars(factors, weights, costs)
        room = 1 - float(np.where(np.eye(len(factors)) > 0, 0.0, factors).max())
        spent, blind = (costs @ rays).min(axis=0), max(float(costs.sum(axis=1).min()), _NOTHING)
        marks = random.random(len(factors))
        return cls(program, places, costs, forest, rays, spent, waves, marks, blind, blind, room)

    def go_on(self, starts: Sequence[Found], ptype: PrivacyType, scale: float) -> None:
        """Begin with the rays and trees that other searches on this space have found, and at prices between theirs.

        The logarithm of an extreme ray changes by epsilon d along each arc of its tree. So at another level the ray of
        the same tree is a power of it, and extreme again: factors that underflow are the exception.
        """
        if not starts:
            return
        now, levels = ptype.level.epsilon_float, [_level(start) for start in starts]
        powers = [now / at for at in levels]
        prices = [self._at_places(start.prices * (start.scale / scale), start.places) for start in starts]
        rays = [
            self._spread(columns**power, start.places)
            for start, power in zip(starts, powers, strict=True)
            for columns in (start.rays, start.trees.rays.T)
        ]
        # With a price on either side the error is of the second order in their distance.
        share = (now - levels[0]) / (levels[-1] - levels[0]) if levels[-1] != levels[0] else 0.0
        nearest = replace(starts[0].trees, rays=starts[0].trees.rays ** powers[0])
        self._begin(rays, nearest, starts[0].places, (1 - share) * prices[0] + share * prices[-1])

    def wider(self, more: Indices) -> "_Search":
        """The search over further places, too, from what this one has found."""
        assert self.best is not None
        # Where rounding ended the search it will again, and not once for each few places.
        everywhere = np.arange(len(self.program.prior))
        search = _Search.begun(self.program, everywhere if self.fruitless > _STALLED else np.union1d(self.places, more))
        rays, trees, prices = self.left()
        search._begin([search._spread(rays, self.places)], trees, self.places, search._at_places(prices, self.places))
        search.rounds, search.before = self.rounds, self
        self.before = None
        return search

    def short_places(self) -> Indices:
        """Places beyond these that must count, too, since the best channel so far does not go on to them."""
        if len(self.places) == len(self.program.prior):
            return self.places[:0]
        rows = self.columns()
        short = short_places(rows, self.places, self.program.factors)
        return short if len(short) else filled(rows, self.places, self.program.factors)[1]

    def channel(self) -> Floats:
        """(all places, k): the best channel that the rays at hand make."""
        rows = self.columns()
        if len(self.places) == len(self.program.prior):
            return rows
        return filled_at_a_loss(rows, self.places, self.program.factors)

    def _at_places(self, prices: Floats, at: Indices) -> Floats:
        """Prices of some of these places, and nothing for the others."""
        own = np.zeros(len(self.places))
        own[np.searchsorted(self.places, at)] = prices
        return own

    def _spread(self, rays: Floats, at: Indices) -> Floats:
        """Rays (t, N) of some of these places, in the others as high as they may be, and as low."""
        new = np.setdiff1d(self.places, at)
        if not len(new):
            return rays
        factors = self.program.factors[np.ix_(new, at)]
        own, further = (np.searchsorted(self.places, which) for which in (at, new))
        spread = np.empty((2, len(self.places), rays.shape[1]))
        spread[:, own], spread[0, further], spread[1, further] = rays, highest(rays, factors), lowest(rays, factors)
        return np.concatenate([*spread], axis=1)

    def _begin(self, rays: list[Floats], trees: Forest, at: Indices, prices: Floats) -> None:
        """Begin with rays (n, N), with each action's best tree of those at some places, and at prices."""
        forest = trees.grown(self.forest, np.searchsorted(self.places, at))
        pool = [_scaled(some, self.forest.weights) for some in (*rays, forest.rays.T)]
        columns = np.concatenate([*pool, self.rays], axis=1)
        # Rays are told apart by one random combination of their entries: a comparison of numbers in place of vectors.
        _, first = np.unique(np.round(self.marks @ columns, 10), return_index=True)
        self.rays = np.ascontiguousarray(columns[:, np.sort(first)])
        self.spent = (self.costs @ self.rays).min(axis=0)
        self.guess, self.early = prices, 0
        self.forest.adopt(forest, ((self.costs - prices) @ forest.rays.T).argmin(axis=1))

    def left(self) -> tuple[Floats, Forest, Floats]:
        """The most active rays, the trees of the best bound and its prices."""
        assert self.best is not None
        assert self.shares is not None
        n, active = len(self.rays), self.shares.shares / self.shares.excess
        keep = np.sort(np.argsort(-active)[: _LEFT * n])
        return self.rays[:, : len(active)][:, keep], self.best.trees, self.best.prices

    @property
    def gap(self) -> float:
        """How far the bounds are apart, at most the upper one."""
        return min(self.upper, self.upper - self.best.value) if self.best is not None else self.upper

    def aim(self, gap: float) -> float:
        """The gap that is asked for, in units of the loss."""
        return gap * abs(self.upper) + _NOTHING

    def run(self, gap: float, progress: Progress | None) -> None:
        """Rounds until the bounds are as near as asked, or nothing helps."""
        widest = 0.0
        while self.best is None or not (self.gap <= self.aim(gap) or self.fruitless > _STALLED):
            if self.best is not None:
                self._add()
            self._solve()
            self._price()
            self.rounds += 1
            widest = max(widest, self.gap)
            tell(*_share_done(widest, self.gap, self.aim(gap)), note=f"round {self.rounds}")
            if progress is not None:
                progress(self.rounds, self.gap / max(self.upper, _NOTHING))

    def _solve(self) -> None:
        """The shares of the rays at hand, and the prices of the places."""
        wanted = max(0.1 * min(self.gap, 0.1 * abs(self.upper)), 0.1 * _NOTHING)
        # What the sums may be off is paid for at `blind / room` below, and must stay a hundredth of the gap.
        exactness = min(max(1e-2 * wanted / self.blind * self.room, 1e-12), 1e-6)
        near = None if self.shares is None else (self.begun_at, self.shares.prices)
        self.shares = central_shares(self.rays, self.spent, self.forest.weights, wanted, exactness, near)
        # What the sums are off is made up for by a column that says nothing.
        made_up = 2 * self.shares.off / self.room * self.blind
        total_cost = float(self.spent @ self.shares.shares) + made_up
        if self.best_rays is None or total_cost < self.upper:
            self.best_rays = self.rays, self.spent
        self.upper = min(self.upper, total_cost)

    def _price(self) -> None:
        """Find each action's best ray at smoothed prices, and what the trees prove; at the latest prices, too, where
        trees have little to walk."""
        assert self.shares is not None
        prices, self.new = self.shares.prices, []
        # The best prices so far may be wild ones of an early round, beside which no others prove anything.
        if self.best is not None and not self.idle and (self.fruitless + 1) % _PATIENCE:
            smooth = _SMOOTH * self.best.prices + (1 - _SMOOTH) * prices
            if self._price_at(smooth) > _FEW_STEPS * len(self.costs):
                return
        elif self.best is None and self.guess is not None:
            prices = self.guess
        self._price_at(prices)

    def _price_at(self, prices: Floats) -> int:
        """The same at these prices: how many steps it took."""
        early = self.rounds < self.early
        # Near the end a tree that has far to walk stands at prices that lead astray; the next round finds it again.
        most = _FEW_PIVOTS if early or self.gap <= self.aim(_ROUGH[0]) else _MOST_PIVOTS
        # A tree needs no more digits than the gap has: early rounds end their walks after a few pivots.
        slack = max(1e-2 * min(self.gap, 0.1 * abs(self.upper)), _LEAST_SLACK * abs(self.upper), 1e-2 * _NOTHING)
        steps = 0
        for which in self.waves if early else [np.arange(len(self.costs), dtype=np.int32)]:
            at = self.costs[which] - prices
            self.forest.take_over(at, which)
            steps += self.forest.price(at, which, most, slack)
        prepare(len(prices), (len(self.costs) + steps) * len(prices))
        self.new.append(self.forest.rays[self.forest.ratios < 0])
        level, value = self._proven(prices)
        if self.best is None or value > self.best.value:
            self.best = _Bound(prices, level, self.forest.copied(), value)
            self.fruitless = 0
        else:
            self.fruitless += 1
        return steps

    def _proven(self, prices: Floats) -> tuple[float, float]:
        """A level, and the bound that it gives where prices are lowered in the places for which trees do not prove it.

        The least level of all actions needs no place lowered, but is that of the worst action; a higher one costs what
        a few places lack.
        """
        least = float(self.forest.proven.min())
        best = least, float(prices.sum()) + least
        at = self.costs - prices
        # A few trees that prove little would pull the level down for all: lower their places' prices instead, where
        # that costs less.
        for level in {float(np.quantile(self.forest.ratios, share)) for share in _SHARES}:
            value = float(prices.sum()) + level - float(self.forest.lacks(at, level).sum())
            if value > best[1]:
                best = level, value
        return best

    def _add(self) -> None:
        """New rays of negative ratio, each once and for its cheapest action; the least active old ones go."""
        assert self.shares is not None
        new = np.concatenate(self.new)
        marks, first = np.unique(np.round(new @ self.marks, 12), return_index=True)
        # A ray that is there already would share the activity with itself, and its copies push others out.
        first = first[~np.isin(marks, np.round(self.marks @ self.rays, 12))]
        self.idle = len(first) == 0
        new = np.ascontiguousarray(new[first].T)
        room, shares = _COLUMNS * len(self.rays), self.shares.shares
        if self.rays.shape[1] > room:
            # The constant ray stays: with it the shares can always add up.
            active = self.shares.shares / self.shares.excess
            active[self.rays.min(axis=0) == self.rays.max(axis=0)] = np.inf
            keep = np.sort(np.argsort(-active)[:room])
            self.rays, self.spent, shares = self.rays[:, keep], self.spent[keep], shares[keep]
        self.rays = np.concatenate([self.rays, new], axis=1)
        self.spent = np.concatenate([self.spent, (self.costs @ new).min(axis=0)])
        self.begun_at = np.concatenate([shares, np.zeros(new.shape[1])])

    def columns(self) -> Floats:
        """(n, k): the best channel that the rays at hand make."""
        weights, (rays, spent) = self.forest.weights, self.best_rays or (self.rays, self.spent)
        # A hundredth of the gap is left to the middle of the face.
        near = central_shares(rays, spent, weights, 1e-2 * self.gap + 0.1 * _NOTHING)
        shares = exact_sums(rays, weights, near.shares)
        channel = np.zeros((len(rays), len(self.costs)))
        np.add.at(channel.T, (self.costs @ rays).argmin(axis=0), (rays * shares).T)
        return channel


def _certified(ptype: PrivacyType, consumer: Consumer, search: _Search, scale: float) -> Certificate:
    bound = search.best
    if bound is None or not np.isfinite(bound.value):
        raise SolverFailed("the trees must prove a bound", came="none", where="certificate_of_rays")
    lacks = bound.trees.lacks(search.costs - bound.prices, bound.level)
    prices = bound.prices + bound.level * bound.trees.weights - lacks
    factors = plain_factors(_floats(ptype.space.distances), ptype.level.epsilon_float)
    at = search.places
    proof = bound.trees.multipliers(search.costs - prices, factors[np.ix_(at, at)])
    scaled = Multipliers(at[proof.low], at[proof.high], proof.action, proof.value * scale)
    mu = np.zeros(len(factors))
    mu[at] = prices * scale
    # From here on in rationals, or in floats rounded outward: what the search believed is not asked again.
    mu, multipliers = feasible_dual(ptype, consumer, mu, scaled)
    return Certificate(ptype, consumer, mu, matrix=roomy_matrix(ptype, search.channel()), multipliers=multipliers)


def _near(starts: Sequence[Found], ptype: PrivacyType) -> Sequence[Found]:
    """Those of a level near enough for what they found to lead the right way."""
    now = ptype.level.epsilon_float
    near = [start for start in starts if 1 / _NEAR <= _level(start) / now <= _NEAR]
    farthest = float(_floats(ptype.space.distances).max())
    return near if max((*map(_level, near), now)) * farthest <= FARTHEST else []


def _level(start: Found) -> float:
    return start.certificate.ptype.level.epsilon_float


def _scaled(rays: Floats, weights: Floats) -> Floats:
    return np.asarray(rays / (weights @ rays))


def _floats(numbers: Array) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=np.float64)


def _share_done(first: float, now: float, aim: float) -> tuple[float, float]:
    """How far a gap has come that shrinks by a factor a round, and how far it has to."""
    if not 0 < aim < now <= first < float("inf"):
        return 0.0, 0.0
    return log(first / now), log(first / aim)
