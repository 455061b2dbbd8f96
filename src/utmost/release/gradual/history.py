"""The noise of some cells at every level asked for so far."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Level
from utmost.release.gradual.chain import Step
from utmost.release.gradual.unit import Unit
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import Method
from utmost.sampling.wide import Integers, add


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

        The noise is a Markov chain in the level, so only the nearest level on either side matters, see `Step`.
        """
        if level in self.known:
            return self
        step = Step.from_known(self.known, level)
        below = None if step.strict is None else self.known[step.strict]
        above = None if step.loose is None else self.known[step.loose]
        noise = step.drawn(unit, below, above, self.where.size, randomness, method)
        return History(self.where, self._block(unit, randomness), {**self.known, level: noise})

    def part(self, some: NDArray[np.bool_]) -> "History":
        """The history of some of the cells."""
        block = None if self.block is None else self.block[some]
        return History(self.where[some], block, {one: noise[some] for one, noise in self.known.items()})

    def _block(self, unit: Unit, randomness: Randomness) -> Integers | None:
        return unit.place(self.where.size, randomness) if self.block is None else self.block


def gathered(parts: list[tuple[NDArray[np.intp], Integers]], count: int) -> Integers:
    """One array from pieces and their places."""
    if len(parts) == 1:
        return parts[0][1]
    whole: Integers = np.empty(count, dtype=object if any(piece.dtype == object for _, piece in parts) else np.int64)
    for where, piece in parts:
        whole[where] = piece
    return whole
