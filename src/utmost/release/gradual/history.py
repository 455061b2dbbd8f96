"""The noise of some cells at every level asked for so far."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Level
from utmost.noise import Geometric
from utmost.noise.gradual import Tightening
from utmost.release.gradual.steps import bridged, relaxed
from utmost.release.gradual.unit import Unit, minus
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import Method, draws
from utmost.sampling.gradual import tightening_noise
from utmost.sampling.uniform import uniform
from utmost.sampling.wide import Integers, add, joined


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class History:
    """Cells that have been answered at the same levels.

    Attributes:
        where: the places of the cells among all cells.
        block: the place of each cell's noise in the uniform block; None before the first answer, or without blocks.
        known: the steps of geometric noise at each level answered.
    """

    where: NDArray[np.intp]
    block: Integers | None
    known: Mapping[Level, Integers]

    def noise(self, level: Level, unit: Unit) -> Integers:
        """The noise at a level that is known."""
        coarse = unit.times(self.known[level])
        return coarse if self.block is None else add(coarse, self.block)

    def extended(self, level: Level, unit: Unit, randomness: Randomness, method: Method | None) -> "History":
        """The history with one level more, drawn from its law given all levels known.

        The noise is a Markov chain in the level, so only the nearest level on either side matters: forward beyond the
        loosest, backward below the strictest, a bridge in between.
        """
        if level in self.known:
            return self
        strict = max((one for one in self.known if one < level), default=None)
        loose = min((one for one in self.known if level < one), default=None)
        here, count = unit.of(level), self.where.size
        if strict is None and loose is None:
            noise = joined(draws(Geometric(here), count, randomness=randomness, method=method), count)
        elif loose is None:
            assert strict is not None
            noise = relaxed(self.known[strict], unit.of(strict), here, randomness, method)
        elif strict is None:
            kernel = Tightening(unit.of(loose), here)
            noise = add(self.known[loose], tightening_noise(kernel, count, randomness=randomness, method=method))
        else:
            above = self.known[loose]
            apart = minus(self.known[strict], above)
            noise = add(above, bridged(apart, unit.of(strict), here, unit.of(loose), randomness, method))
        return History(self.where, self._block(unit, randomness), {**self.known, level: noise})

    def part(self, some: NDArray[np.bool_]) -> "History":
        """The history of some of the cells."""
        block = None if self.block is None else self.block[some]
        return History(self.where[some], block, {one: noise[some] for one, noise in self.known.items()})

    def _block(self, unit: Unit, randomness: Randomness) -> Integers | None:
        if self.block is not None or unit.block == 1:
            return self.block
        return minus(uniform(unit.block, self.where.size, randomness), np.array([unit.block // 2]))


def gathered(parts: list[tuple[NDArray[np.intp], Integers]], count: int) -> Integers:
    """One array from pieces and their places."""
    if len(parts) == 1:
        return parts[0][1]
    whole: Integers = np.empty(count, dtype=object if any(piece.dtype == object for _, piece in parts) else np.int64)
    for where, piece in parts:
        whole[where] = piece
    return whole
