"""Where a search for kernels stands, and what a stretch of it has found."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported

# Twice as many would take a gigabyte for the completions of one set.
_MOST_VERTICES = 5_000


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the walk, from which it can go on in another process.

    Attributes:
        orbit: the number of the orbit of vertices at work.
        coming: the column to try next on each level, numbered as in that orbit's walk.
    """

    orbit: int = 0
    coming: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True, eq=False)
class Haul:
    """What a stretch of the walk has found.

    Attributes:
        supports: (m, n) kernels as ascending vertex numbers, filled up with -1.
        position: where the walk goes on; None when it is finished.
        done: the share of all sets of vertices that are done with, between 0 and 1.
    """

    supports: NDArray[np.int32]
    position: Position | None
    done: float


def check_searchable(vertices: int) -> None:
    """Check that the sets of so many vertices can be searched.

    Raises:
        Unsupported: for more than 5000 vertices, whose sets no search comes through.
    """
    if vertices > _MOST_VERTICES:
        raise Unsupported(
            f"a search for kernels takes at most {_MOST_VERTICES} vertices",
            came=f"{vertices} or more",
            mend="Use estimate_kernels (--estimate).",
        )
