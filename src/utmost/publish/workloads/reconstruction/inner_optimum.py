"""Solve, by Mehrotra's interior point method [mehrotra1992], a linear program whose rows are sums of groups.

The program is: minimise c x for 0 <= x <= 1, where the sum of every group lies between two bounds. The groups of a
marginal are disjoint, so A D A' has a diagonal block for each marginal. The largest block is eliminated, and conjugate
gradients solve for the others: a step takes about fifty passes over the cells, and dozens of passes over a matrix of
groups. A general solver would factorize the whole matrix.

No product uses a library of linear algebra, because in such a library the order of summation depends on the processor.
Whoever verifies a clean table computes it again, and must find the same one of many equal optima.
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
_NEAR = 3e-10  # tolerance for the mean of slack times price, and for the errors of prices
_SHORT = 1e-7  # tolerance for sums
_TIED = 1e-12  # relative ridge on the diagonal, since marginals may have sums in common
_SEEN, _TURNS = 1e-24, 500  # conjugate gradients: relative tolerance for the squared residual, and the most iterations
_MOST_GROUPS, _MOST_BLOCK = (
    3_000,
    1 << 25,
)  # limits on the number of groups of all marginals but the largest, and on this number times the groups of the largest


@dataclass(frozen=True, slots=True, eq=False)
class ChainSums:
    """The constraints of the program: sums of groups of cells, and their bounds."""

    groups: Sequence[NDArray[np.int64]]  # for each marginal, the group of each cell; (n,)
    lower: Sequence[Floats]  # lower bounds of each marginal's sums
    upper: Sequence[Floats]  # upper bounds of each marginal's sums
    _order: list[int] = field(init=False)
    _sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_order", sorted(range(len(self.lower)), key=lambda f: -len(self.lower[f])))
        object.__setattr__(self, "_sizes", [len(self.lower[f]) for f in self._order])

    def inner_optimum(self, cost: Floats, steps: int = _STEPS) -> tuple[Floats, Floats]:
        """Return an optimum x far from all bounds that are not tight, and the groups' prices by marginal."""
        # After `steps` steps, return any point that keeps all sums within the tolerance.
        rest = sum(self._sizes[1:])
        if rest > _MOST_GROUPS or rest * self._sizes[0] > _MOST_BLOCK:
            raise SolverFailed(
                f"the tables other than the largest table can have at most {_MOST_GROUPS} groups", came=rest
            )
        low, high = (np.concatenate([ends[f] for f in self._order]) for ends in (self.lower, self.upper))
        # A group with two equal bounds needs no slack.
        free, n = np.flatnonzero(high > low), cost.size
        condition = np.concatenate([np.ones(n), (high - low)[free]])
        costs = np.concatenate([cost, np.zeros(free.size)])
        # Start halfway between the bounds, as far inside as possible, with separate duals for the two bounds.
        at = _Point(
            condition / 2, condition / 2, np.zeros(low.size), np.maximum(costs, 0) + 1, np.maximum(-costs, 0) + 1
        )
        for step in range(_STEPS):
            short, off = (
                low - self._constraint_values(at.z, free),
                costs - self._transposed(at.prices, free) - at.down + at.up,
            )
            is_near = step >= steps or max(at.mean, abs(off).max()) <= _NEAR
            if is_near and abs(short).max(initial=0) <= _SHORT:
                parts = dict(zip(self._order, np.split(at.prices, np.cumsum(self._sizes)[:-1]), strict=True))
                return at.z[:n], np.concatenate([parts[f] for f in range(len(parts))])
            at = self._stepped(at, short, off, free)
        raise SolverFailed("the interior point method must converge", came=at.mean, where="clean")

    def _stepped(self, at: "_Point", short: Floats, off: Floats, free: NDArray[np.intp]) -> "_Point":
        """Make Mehrotra's predictor step and corrector step."""
        weights = 1 / (at.down / at.z + at.up / at.left)
        solve = self._solver(weights, free)

        def moves(low_room: Floats, high_room: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            """Return moves of cells and prices after which slack times price of each bound has these values."""
            right = off - low_room / at.z + high_room / at.left
            turn = solve(short + self._constraint_values(weights * right, free))
            move = weights * (self._transposed(turn, free) - right)
            return move, turn, (low_room - at.down * move) / at.z, (high_room + at.up * move) / at.left

        low_room, high_room = -at.z * at.down, -at.left * at.up
        ahead = moves(low_room, high_room)
        target = at.mean * min(1.0, at.moved(*ahead, share=1.0).mean / at.mean) ** 3
        move, _, fall, rise = ahead
        # Weight the second order by the length of the predictor step, or steps become short.
        second = math.prod(at.lengths(move, fall, rise))
        return at.moved(*moves(low_room + target - second * move * fall, high_room + target + second * move * rise))

    def _constraint_values(self, values: Floats, free: NDArray[np.intp]) -> Floats:
        """Return A x, minus the slack of those sums whose bounds differ."""
        cells = values[: values.size - free.size]
        pairs = zip(self._order, self._sizes, strict=True)
        total = np.concatenate([np.bincount(self.groups[f], cells, size) for f, size in pairs])
        total[free] -= values[cells.size :]
        return total

    def _transposed(self, prices: Floats, free: NDArray[np.intp]) -> Floats:
        """Apply the transpose of `_constraint_values`."""
        parts = np.split(prices, np.cumsum(self._sizes)[:-1])
        cells = sum(part[self.groups[f]] for f, part in zip(self._order, parts, strict=True))
        return np.concatenate([cells, -prices[free]])

    def _solver(self, weights: Floats, free: NDArray[np.intp]) -> Callable[[Floats], Floats]:
        """Return a solver of the normal equations; it eliminates the largest marginal, whose block is diagonal."""
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
        # Add a ridge, since marginals with sums in common make the matrix singular.
        diagonal = np.bincount(largest, cells, first) * (1 + _TIED) + slack[:first]
        diagonal = np.maximum(diagonal, np.finfo(np.float64).tiny)
        places = np.diag_indices(rest)
        inner[places] = inner[places] * (1 + _TIED) + slack[first:]
        # Use Jacobi's preconditioner: the diagonal of the matrix after eliminating the largest marginal.
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
    """Solve by conjugate gradients [hestenes1952] to float accuracy; ``scale`` is the inverse of the diagonal."""
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
    """A point inside all bounds: distances to lower and upper bounds, prices of the sums, and prices of the bounds."""

    z: Floats
    left: Floats
    prices: Floats
    down: Floats
    up: Floats

    @property
    def mean(self) -> float:
        """The mean of slack times price, which is 0 at the optimum."""
        return float((self.z * self.down).sum() + (self.left * self.up).sum()) / (2 * self.z.size)

    def lengths(self, move: Floats, fall: Floats, rise: Floats) -> tuple[float, float]:
        """Return the longest steps of cells and of prices that stay inside all bounds."""
        far = min(_longest(move, self.z), _longest(-move, self.left))
        return far, min(_longest(fall, self.down), _longest(rise, self.up))

    def moved(self, *moves: Floats, share: float = _INSIDE) -> "_Point":
        """Return the point after ``share`` of the longest step."""
        move, turn, fall, rise = moves
        far, dear = (share * length for length in self.lengths(move, fall, rise))
        prices, down, up = self.prices + dear * turn, self.down + dear * fall, self.up + dear * rise
        return _Point(self.z + far * move, self.left - far * move, prices, down, up)


def _longest(move: Floats, condition: Floats) -> float:
    """Return the longest step, at most 1/0.995, that leaves all slacks positive."""
    worst = float((move / condition).min())
    return 1 / _INSIDE if worst >= -_INSIDE else -1 / worst
