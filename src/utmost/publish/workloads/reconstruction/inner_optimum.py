"""An inner optimum of a program whose rows are sums of groups: Mehrotra's interior point method [mehrotra1992].

Minimise c x where 0 <= x <= 1 and the sum of every group lies between two bounds; the groups of a family are disjoint.
So A D A' has a diagonal block for each family. The largest is eliminated, and conjugate gradients solve for the others:
a step costs some fifty passes over the cells, and some dozens over a matrix of groups. A general solver factors it all.

No product is left to a library of linear algebra, whose sums have another order on another processor: who verifies a
clean table makes it again, and must come to the same of many equal optima.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.errors import SolverFailed

_STEPS, _INSIDE = 80, 0.995
_NEAR = 3e-10  # the mean product of a bound's room and its price, and how far prices may be off
_SHORT = 1e-7  # how far sums may be off
_TIED = 1e-12  # of the diagonal: families may add up to the same sums
_SEEN, _TURNS = 1e-24, 500  # of the first residual's square, and how many turns at the most
_MOST_GROUPS, _MOST_BLOCK = 3_000, 1 << 25  # outside of the largest family; times those of it


@dataclass(frozen=True, slots=True, eq=False)
class ChainSums:
    """Sums of groups of cells, and what they may be.

    Attributes:
        groups: Group (n,) of every cell, for each family.
        lower, upper: Bounds of each family's sums.
    """

    groups: Sequence[NDArray[np.int64]]
    lower: Sequence[Floats]
    upper: Sequence[Floats]
    _order: list[int] = field(init=False)
    _sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_order", sorted(range(len(self.lower)), key=lambda f: -len(self.lower[f])))
        object.__setattr__(self, "_sizes", [len(self.lower[f]) for f in self._order])

    def inner_optimum(self, cost: Floats, steps: int = _STEPS) -> tuple[Floats, Floats]:
        """The optimum x, far from all bounds that are not tight, and the prices of the groups, family by family.

        Args:
            cost: (n,).
            steps: Number of steps after which a point that keeps to all sums will do.

        >>> pair = ChainSums([np.array([0, 0])], [np.array([1.0])], [np.array([1.0])])
        >>> pair.inner_optimum(np.array([1.0, 2]))[0].round(6).tolist()
        [1.0, 0.0]
        """
        rest = sum(self._sizes[1:])
        if rest > _MOST_GROUPS or rest * self._sizes[0] > _MOST_BLOCK:
            raise SolverFailed(f"at most {_MOST_GROUPS} groups can lie across the largest family", came=rest)
        low, high = (np.concatenate([ends[f] for f in self._order]) for ends in (self.lower, self.upper))
        # A group whose two bounds are equal needs no slack.
        free, n = np.flatnonzero(high > low), cost.size
        room = np.concatenate([np.ones(n), (high - low)[free]])
        costs = np.concatenate([cost, np.zeros(free.size)])
        # Halfway between the bounds, with duals of both signs apart: as far inside as can be.
        at = _Point(room / 2, room / 2, np.zeros(low.size), np.maximum(costs, 0) + 1, np.maximum(-costs, 0) + 1)
        for step in range(_STEPS):
            short, off = low - self._forth(at.z, free), costs - self._back(at.prices, free) - at.down + at.up
            is_near = step >= steps or max(at.mean, abs(off).max()) <= _NEAR
            if is_near and abs(short).max(initial=0) <= _SHORT:
                return at.z[:n], self._in_order(at.prices)
            at = self._stepped(at, short, off, free)
        raise SolverFailed("an inner optimum must come near", came=at.mean, where="clean")

    def _stepped(self, at: "_Point", short: Floats, off: Floats, free: NDArray[np.intp]) -> "_Point":
        """A step that looks ahead, then one that corrects it to the second order."""
        weights = 1 / (at.down / at.z + at.up / at.left)
        solve = self._solver(weights, free)

        def moves(low_room: Floats, high_room: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            """Moves of cells and prices that leave so much in room times price of either bound."""
            right = off - low_room / at.z + high_room / at.left
            turn = solve(short + self._forth(weights * right, free))
            move = weights * (self._back(turn, free) - right)
            return move, turn, (low_room - at.down * move) / at.z, (high_room + at.up * move) / at.left

        low_room, high_room = -at.z * at.down, -at.left * at.up
        ahead = moves(low_room, high_room)
        target = at.mean * min(1.0, at.moved(*ahead, share=1.0).mean / at.mean) ** 3
        move, _, fall, rise = ahead
        # The second order counts as much as the first one could go, or steps become short.
        second = math.prod(at.lengths(move, fall, rise))
        return at.moved(*moves(low_room + target - second * move * fall, high_room + target + second * move * rise))

    def _forth(self, values: Floats, free: NDArray[np.intp]) -> Floats:
        """A x less what free sums lie above their lower bound."""
        cells = values[: values.size - free.size]
        pairs = zip(self._order, self._sizes, strict=True)
        total = np.concatenate([np.bincount(self.groups[f], cells, size) for f, size in pairs])
        total[free] -= values[cells.size :]
        return total

    def _back(self, prices: Floats, free: NDArray[np.intp]) -> Floats:
        """The transpose of `_forth`."""
        parts = np.split(prices, np.cumsum(self._sizes)[:-1])
        cells = sum(part[self.groups[f]] for f, part in zip(self._order, parts, strict=True))
        return np.concatenate([cells, -prices[free]])

    def _in_order(self, prices: Floats) -> Floats:
        """Prices of the largest family first as prices family by family."""
        parts = dict(zip(self._order, np.split(prices, np.cumsum(self._sizes)[:-1]), strict=True))
        return np.concatenate([parts[f] for f in range(len(parts))])

    def _solver(self, weights: Floats, free: NDArray[np.intp]) -> Callable[[Floats], Floats]:
        """A solver of the normal equations: the largest family is eliminated, for its block is diagonal."""
        first, rest, starts = self._sizes[0], sum(self._sizes[1:]), np.cumsum([0, *self._sizes[1:]])
        cells, largest = weights[: weights.size - free.size], self.groups[self._order[0]]
        slack = np.zeros(first + rest)
        slack[free] = weights[cells.size :]
        across, inner = np.empty((first, rest)), np.empty((rest, rest))
        blocks = [slice(*ends) for ends in pairwise(starts)]
        for f, (size, block) in enumerate(zip(self._sizes[1:], blocks, strict=True), 1):
            at = self.groups[self._order[f]]
            across[:, block] = np.bincount(largest * size + at, cells, first * size).reshape(first, size)
            for g, other in enumerate(blocks[:f], 1):
                width = self._sizes[g]
                both = np.bincount(at * width + self.groups[self._order[g]], cells, size * width)
                inner[block, other] = both.reshape(size, width)
                inner[other, block] = inner[block, other].T
        # Families that determine each other make it singular: a ridge.
        diagonal = np.bincount(largest, cells, first) * (1 + _TIED) + slack[:first]
        diagonal = np.maximum(diagonal, np.finfo(np.float64).tiny)
        places = np.diag_indices(rest)
        inner[places] = inner[places] * (1 + _TIED) + slack[first:]
        # Jacobi's scale: the diagonal of what is left without the largest family.
        scale = inner[places] - (across**2 / diagonal[:, None]).sum(axis=0)
        scale = 1 / np.where(scale > 0, scale, np.maximum(inner[places], 1e-300))

        def reduced(values: Floats) -> Floats:
            sent = (across * values).sum(axis=1) / diagonal
            return np.asarray((inner * values).sum(axis=1) - (across * sent[:, None]).sum(axis=0))

        def solve(right: Floats) -> Floats:
            top, bottom = np.split(right, [first])
            low = _conjugate(reduced, scale, bottom - (across * (top / diagonal)[:, None]).sum(axis=0))
            return np.concatenate([(top - (across * low).sum(axis=1)) / diagonal, low])

        return solve


def _conjugate(product: Callable[[Floats], Floats], scale: Floats, right: Floats) -> Floats:
    """Conjugate gradients [hestenes1952], to what floats can see; ``scale`` is the inverse of the diagonal."""
    solution, left = np.zeros_like(right), right.copy()
    turned = scale * left
    toward, size = turned, float((left * turned).sum())
    enough = size * _SEEN
    for _ in range(_TURNS):
        if size <= enough:
            break
        image = product(toward)
        length = size / float((toward * image).sum())
        solution, left = solution + length * toward, left - length * image
        turned = scale * left
        before, size = size, float((left * turned).sum())
        toward = turned + size / before * toward
    return solution


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """The distances above the lower bounds and below the upper ones, the prices of sums and of either bound."""

    z: Floats
    left: Floats
    prices: Floats
    down: Floats
    up: Floats

    @property
    def mean(self) -> float:
        """The mean of room times price, which is 0 at the optimum."""
        return float((self.z * self.down).sum() + (self.left * self.up).sum()) / (2 * self.z.size)

    def lengths(self, move: Floats, fall: Floats, rise: Floats) -> tuple[float, float]:
        """How far cells, and how far prices can go."""
        far = min(_longest(move, self.z), _longest(-move, self.left))
        return far, min(_longest(fall, self.down), _longest(rise, self.up))

    def moved(self, *moves: Floats, share: float = _INSIDE) -> "_Point":
        """The point a share of the way to the nearest bound."""
        move, turn, fall, rise = moves
        far, dear = (share * length for length in self.lengths(move, fall, rise))
        prices, down, up = self.prices + dear * turn, self.down + dear * fall, self.up + dear * rise
        return _Point(self.z + far * move, self.left - far * move, prices, down, up)


def _longest(move: Floats, room: Floats) -> float:
    """The longest step, at most 1 / 0.995, that keeps what is moved above zero."""
    worst = float((move / room).min())
    return 1 / _INSIDE if worst >= -_INSIDE else -1 / worst
