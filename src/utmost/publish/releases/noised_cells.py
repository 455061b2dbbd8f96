"""The true cells of a column in a gradual release, with the noise of each cell at every answered level.

The noise of a cell is a Markov chain in the level, see `Step`. Cells that were answered at the same levels share a
`History`, and their noise is drawn in one pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import plain_array
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.sampling.draw import DrawMethod
from utmost.core.sampling.integers import Integers, add
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import OutOfRange
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class History:
    """The noise of cells that were answered at the same levels."""

    where: NDArray[np.intp]  # Indices of these cells among all cells
    # Uniform part of each cell's noise; None before the first answer, or if the noise has no uniform part
    block: Integers | None
    known: Mapping[Level, Integers]  # Geometric part of the noise at each answered level, in steps

    def noise(self, level: Level, lattice: Lattice) -> Integers:
        coarse = lattice.times(self.known[level])
        return coarse if self.block is None else add(coarse, self.block)

    def extended(self, level: Level, lattice: Lattice, randomness: Randomness, method: DrawMethod | None) -> "History":
        """Return the history with one more level; its noise is drawn given the noise at the nearest levels."""
        if level in self.known:
            return self
        step = Step.from_known(self.known, level)
        below = None if step.lower is None else self.known[step.lower]
        above = None if step.higher is None else self.known[step.higher]
        noise = step.drawn(lattice, below, above, self.where.size, randomness, method)
        block = lattice.place(self.where.size, randomness) if self.block is None else self.block
        return History(self.where, block, {**self.known, level: noise})

    def part(self, some: NDArray[np.bool_]) -> "History":
        block = None if self.block is None else self.block[some]
        return History(self.where[some], block, {known_level: noise[some] for known_level, noise in self.known.items()})


def gathered(parts: list[tuple[NDArray[np.intp], Integers]], count: int) -> Integers:
    """Assemble one array from pieces, each with the indices of its numbers."""
    if len(parts) == 1:
        return parts[0][1]
    whole: Integers = np.empty(count, dtype=object if any(piece.dtype == object for _, piece in parts) else np.int64)
    for where, piece in parts:
        whole[where] = piece
    return whole


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisedColumn:
    """True values as numbers of steps, and the histories of their noise; each cell is in exactly one history."""

    shape: tuple[int, ...] | None  # Shape of the values; None for a single number
    values: Integers  # Values in steps, flattened
    lattice: Lattice
    histories: tuple[History, ...]

    @classmethod
    def of(cls, values: Any, lattice: Lattice) -> "NoisedColumn":
        cells = lattice.read(values)
        return cls(cells.shape, lattice.steps(cells), lattice, (History(np.arange(cells.size), None, {}),))

    @property
    def levels(self) -> set[Level]:
        return {known_level for history in self.histories for known_level in history.known}

    def answered(self, levels: Any, randomness: Randomness, method: DrawMethod | None) -> tuple["NoisedColumn", Any]:
        """Answer at one level, or at a level for each cell; return the column with its new noise, and the answer."""
        which, chosen = self._chosen(levels)
        pieces: list[tuple[NDArray[np.intp], Integers]] = []
        histories: list[History] = []
        for history in self.histories:
            for part, wanted in _split_by_level(history, which, chosen):
                histories.append(part.extended(wanted, self.lattice, randomness, method))
                pieces.append((part.where, histories[-1].noise(wanted, self.lattice)))
        released = add(self.values, gathered(pieces, self.values.size))
        return replace(self, histories=tuple(histories)), self.lattice.write(self.shape, released)

    def _chosen(self, levels: Any) -> tuple[NDArray[np.intp] | None, list[Level]]:
        """Return the index of each cell's level in the returned list; None if there is one level for all."""
        if not isinstance(levels, list | tuple | np.ndarray) or plain_array(levels, "epsilon").ndim == 0:
            return None, [level_of(levels)]
        array = np.asarray(levels, dtype=object)
        if array.shape != self.shape:
            raise OutOfRange(
                f"epsilon must have one level for all cells, or levels in the shape of the values, {self.shape}",
                came=array.shape,
            )
        read: dict[Any, int] = {}
        flat = array.reshape(-1).tolist()
        which = np.array([read.setdefault(written, len(read)) for written in flat], dtype=np.intp)
        return which, [level_of(written) for written in read]


def _split_by_level(
    history: History, which: NDArray[np.intp] | None, chosen: list[Level]
) -> list[tuple[History, Level]]:
    """Split the cells of a history by the new level that each cell gets."""
    if which is None:
        return [(history, chosen[0])]
    here = which[history.where]
    present = np.unique(here).tolist()
    if len(present) == 1:
        return [(history, chosen[present[0]])]
    return [(history.part(here == number), chosen[number]) for number in present]
