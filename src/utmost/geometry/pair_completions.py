"""How many pairs of vertices complete a set to a kernel of full size: one step of the compiled walk, anywhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.geometry.compiled_tableau import Walk, largest_row, pivot
from utmost.geometry.compiled_walk import complete
from utmost.geometry.ring import is_kernel_support
from utmost.geometry.tables import WalkTables
from utmost.geometry.vertices import Vertices


@dataclass(frozen=True, slots=True, eq=False)
class PairCompletions:
    """Counting the pairs that complete n - 2 vertices to a kernel of n.

    Attributes:
        vertices: all vertices of a type on n >= 3 secrets.
        start: the walk's first tableau, residues, errors and sizes, columns in the order of the vertices.
        walk: is brought to each set in turn, with its columns first.
    """

    vertices: Vertices
    start: tuple[NDArray[np.float64], NDArray[np.uint64], NDArray[np.float64], NDArray[np.float64]]
    walk: Walk

    @classmethod
    def of(cls, vertices: Vertices) -> "PairCompletions":
        """Ready to count for a type."""
        walk = WalkTables.of(vertices).walk(np.arange(len(vertices)), 0, 0)
        return cls(
            vertices, (walk.tableau[0].copy(), walk.residues[0].copy(), *np.array([walk.error, walk.size])[:, 0]), walk
        )

    def count(self, chosen: ArrayLike) -> int:
        """How many pairs form a kernel of n vertices with all of the n - 2 different ones. Cost: O(N^2 n)."""
        walk, n, m = self.walk, self.vertices.distances.size, len(self.vertices)
        first = np.asarray(chosen, dtype=np.int64)
        columns = np.concatenate([first, np.setdiff1d(np.arange(m + 1), first)])  # the target stays last
        for place, table in zip((walk.tableau, walk.residues, walk.error, walk.size), self.start, strict=True):
            place[0] = table[..., columns]
        walk.used[:], walk.sizes[:], walk.filled[:] = False, 0, 0
        for k in range(n - 2):
            row = largest_row(walk.tableau[k, :, k], walk.used)
            if walk.tableau[k, row, k] == 0.0:
                return 0  # dependent vertices
            walk.chosen[k], walk.rows[k + 2], walk.used[row] = k, row, True
            pivot(walk, k, k, row)
        if not complete(walk):
            return 0
        pairs = (support for support in walk.doubt[: walk.filled[1]] if support[-1] >= 0)
        return int(walk.sizes[n].sum()) + sum(is_kernel_support(self.vertices, columns[pair]) for pair in pairs)
