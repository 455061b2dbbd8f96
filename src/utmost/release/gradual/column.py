"""The values of one column, and what has been said of them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.exact import level as level_of
from utmost.release.gradual.history import History, gathered
from utmost.release.gradual.unit import Unit
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import Method
from utmost.sampling.wide import Integers, add


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column:
    """Values in steps, and the histories of their cells, which between them hold each cell once.

    Attributes:
        shape: of what came; None for a bare number.
        values: in steps, in a row.
        unit: of the noise.
        histories: of cells answered at the same levels.
    """

    shape: tuple[int, ...] | None
    values: Integers
    unit: Unit
    histories: tuple[History, ...]

    @classmethod
    def of(cls, values: Any, unit: Unit) -> "Column":
        """A column that has never been answered; the values are copied."""
        cells = unit.read(values)
        return cls(cells.shape, unit.steps(cells), unit, (History(np.arange(cells.size), None, {}),))

    @property
    def levels(self) -> set[Level]:
        """The levels at which some cell has been answered."""
        return {one for history in self.histories for one in history.known}

    def answered(self, levels: Any, name: str, randomness: Randomness, method: Method | None) -> tuple["Column", Any]:
        """The column after an answer, and the answer.

        Args:
            levels: one level, or an array of levels of the shape of the values.
            name: "epsilon" or "alpha", as which a number is read.
        """
        which, chosen = self._chosen(levels, name)
        pieces: list[tuple[NDArray[np.intp], Integers]] = []
        histories: list[History] = []
        for history in self.histories:
            for part, level in _parts(history, which, chosen):
                histories.append(part.extended(level, self.unit, randomness, method))
                pieces.append((part.where, histories[-1].noise(level, self.unit)))
        released = add(self.values, gathered(pieces, self.values.size))
        return replace(self, histories=tuple(histories)), self.unit.write(self.shape, released)

    def _chosen(self, levels: Any, name: str) -> tuple[NDArray[np.intp] | None, list[Level]]:
        """Which of a list of levels each cell gets; None where there is but one."""
        if not isinstance(levels, list | tuple | np.ndarray) or np.ndim(levels) == 0:
            return None, [_read(levels, name)]
        array = np.asarray(levels, dtype=object)
        if array.shape != self.shape:
            raise OutOfRange(f"levels by cell must have the shape {self.shape} of the values", came=array.shape)
        read: dict[Any, int] = {}
        flat = array.reshape(-1).tolist()
        which = np.array([read.setdefault(one, len(read)) for one in flat], dtype=np.intp)
        return which, [_read(one, name) for one in read]


def _read(one: Any, name: str) -> Level:
    if isinstance(one, Level):
        return one
    return level_of(epsilon=one) if name == "epsilon" else level_of(alpha=one)


def _parts(history: History, which: NDArray[np.intp] | None, chosen: list[Level]) -> list[tuple[History, Level]]:
    """The cells of a history by the level that they get."""
    if which is None:
        return [(history, chosen[0])]
    here = which[history.where]
    present = np.unique(here).tolist()
    if len(present) == 1:
        return [(history, chosen[present[0]])]
    return [(history.part(here == one), chosen[one]) for one in present]
