"""An inner optimum of a program whose rows are sums of groups of cells: Mehrotra's interior point method [mehrotra1992].

Minimise c x where 0 <= x <= 1 and the sum of every group lies between two bounds; the groups of a family are disjoint.
So A D A' has a diagonal block for each family, and a step costs the cube of the number of groups outside of the largest
family, beside some fifty passes over the cells. A general solver factors all groups at once, and fills up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from utmost.errors import SolverFailed
from utmost.laws.exact import Floats

_STEPS, _INSIDE = 80, 0.995
_NEAR = 3e-10  # the mean product of a bound's room and its price, and how far prices may be off
_SHORT = 1e-7  # how far sums may be off
_TIED = 1e-12  # of the diagonal: families may add up to the same sums
_MOST_GROUPS, _MOST_BLOCK = 3_000, 1 << 25  # outside of the largest family; times those of it

Groups = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupSums:
    """Sums of groups of cells, and what they may be.

    Attributes:
        groups: of each family the group (n,) of every cell.
        lower, upper: of each the bounds of its groups' sums.
    """

    groups: Sequence[Groups]
    lower: Sequence[Floats]
    upper: Sequence[Floats]
    _order: list[int] = field(init=False)
    _sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_order", sorted(range(len(self.lower)), key=lambda f: -len(self.lower[f])))
        object.__setattr__(self, "_sizes", [len(self.lower[f]) for f in self._order])

    def inner_optimum(self, cost: Floats) -> tuple[Floats, Floats]:
        """The optimum x, far from all bounds that are not tight, and the prices of the groups, family by family.

        Raises:
            SolverFailed: for more groups than matrices hold, and where eighty steps do not come near.

        >>> pair = GroupSums([np.array([0, 0])], [np.array([1.0])], [np.array([1.0])])
        >>> pair.inner_optimum(np.array([1.0, 2]))[0].round(6).tolist()
        [1.0, 0.0]
        """
        rest = sum(self._sizes[1:])
        if rest > _MOST_GROUPS or rest * self._sizes[0] > _MOST_BLOCK:
            raise SolverFailed(f"at most {_MOST_GROUPS} groups can lie across the largest family", came=rest)
        low, high = (np.concatenate([ends[f] for f in self._order]) for ends in (self.lower, self.upper))
        free, n = np.flatnonzero(high > low), cost.size
        room = np.concatenate([np.ones(n), (high - low)[free]])
        costs = np.concatenate([cost, np.zeros(free.size)])
        z, left, prices = room / 2, room / 2, np.zeros(low.size)
        down, up = np.maximum(costs, 0) + 1, np.maximum(-costs, 0) + 1
        for _ in range(_STEPS):
            short, off = low - self._forth(z, free), costs - self._back(prices, free) - down + up
            mean = float(z @ down + left @ up) / (2 * z.size)
            if max(mean, abs(off).max()) <= _NEAR and abs(short).max(initial=0) <= _SHORT:
                return z[:n], self._in_order(prices)
            weights = 1 / (down / z + up / left)
            try:
                solve = self._solver(weights, free)
            except np.linalg.LinAlgError:
                break

            def step(low_room: Floats, high_room: Floats) -> tuple[Floats, Floats, Floats, Floats]:
                """Moves of cells and prices that leave so much in room times price of either bound."""
                right = off - low_room / z + high_room / left
                wanted = short + self._forth(weights * right, free)
                turn = solve(wanted)
                turn += solve(wanted - self._forth(weights * self._back(turn, free), free))  # what rounding took
                move = weights * (self._back(turn, free) - right)
                return move, turn, (low_room - down * move) / z, (high_room + up * move) / left

            move, turn, fall, rise = step(-z * down, -left * up)
            far, dear = min(_longest(move, z), _longest(-move, left)), min(_longest(fall, down), _longest(rise, up))
            then = (z + far * move) @ (down + dear * fall) + (left - far * move) @ (up + dear * rise)
            target = mean * min(1.0, (float(then) / (2 * z.size) / mean)) ** 3
            second = far * dear  # the second order counts as much as the first could go, or steps become short
            low_room, high_room = target - z * down - second * move * fall, target - left * up + second * move * rise
            move, turn, fall, rise = step(low_room, high_room)
            far, dear = min(_longest(move, z), _longest(-move, left)), min(_longest(fall, down), _longest(rise, up))
            z, left = z + _INSIDE * far * move, left - _INSIDE * far * move
            prices, down, up = (
                before + _INSIDE * dear * by for before, by in ((prices, turn), (down, fall), (up, rise))
            )
        raise SolverFailed("an inner optimum must come near", came=mean, where="clean")

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
        """What solves the normal equations: the largest family is eliminated, for its block is diagonal."""
        first, rest, starts = self._sizes[0], sum(self._sizes[1:]), np.cumsum([0, *self._sizes[1:]])
        cells, largest = weights[: weights.size - free.size], self.groups[self._order[0]]
        slack = np.zeros(first + rest)
        slack[free] = weights[cells.size :]
        across, inner = np.empty((first, rest)), np.empty((rest, rest))
        blocks = [slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)]
        for f, (size, block) in enumerate(zip(self._sizes[1:], blocks, strict=True), 1):
            at = self.groups[self._order[f]]
            across[:, block] = np.bincount(largest * size + at, cells, first * size).reshape(first, size)
            for g, other in enumerate(blocks[:f], 1):
                width = self._sizes[g]
                both = np.bincount(at * width + self.groups[self._order[g]], cells, size * width)
                inner[block, other] = both.reshape(size, width)
                inner[other, block] = inner[block, other].T
        diagonal = np.bincount(largest, cells, first) * (1 + _TIED) + slack[:first]
        diagonal = np.maximum(diagonal, np.finfo(np.float64).tiny)
        places = np.diag_indices(rest)
        inner[places] = inner[places] * (1 + _TIED) + slack[first:]
        inner -= across.T @ (across / diagonal[:, None])
        inner[places] = np.where(inner[places] > 0, inner[places], 1.0)
        inverse = np.linalg.inv(inner)

        def solve(right: Floats) -> Floats:
            top, bottom = np.split(right, [first])
            low = inverse @ (bottom - across.T @ (top / diagonal))
            return np.concatenate([(top - across @ low) / diagonal, low])

        return solve


def _longest(move: Floats, room: Floats) -> float:
    """The longest step, at most 1 / 0.995, that keeps what is moved above zero."""
    worst = float((move / room).min())
    return 1 / _INSIDE if worst >= -_INSIDE else -1 / worst
