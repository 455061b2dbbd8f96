"""Noise of points of the plane in a ledger: each point has a hidden path of noise, derived from the ledger's key.

The path of a row is a function of the index of the row and of a key derived from the `noise_secret` of the release, in
ledgers with drawn noise and in ledgers with derived noise. A response does not show the random clock of its path
(proofs/theory/planar.md), so that an answer at another level cannot be computed from responses: the path is computed
again. Every path begins at epsilon = 1 for each ``per``, whatever level is answered first. So an older copy of the
ledger gives the same answers again, in any order of levels. Other points, another distance or another version of the
data have another key, hence independent paths.

Whoever has the key and a response can remove the noise: the key must be protected like the data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects
from utmost.core.exact.levels import level
from utmost.core.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits
from utmost.core.sampling.integers import Integers, narrowed
from utmost.core.sampling.random_bits import KEY_BYTES, Randomness
from utmost.errors import NeedsTable
from utmost.publish.promises.drawing import BLOCK
from utmost.publish.promises.planar_distribution import PlanarDistribution


@dataclass(frozen=True, slots=True, eq=False)
class PointPaths:
    """The hidden paths of the points of one release, with the distribution of the noise at one level."""

    distribution: PlanarDistribution
    key: bytes

    def answer(self, values: Mapping[str, NDArray[Any]] | None) -> "PointAnswer":
        """Compute the response of all points at the level of the distribution."""
        distribution = self.distribution
        if values is None:
            remedy = "Relax it with the table."
            raise NeedsTable(
                "the table must be passed at each new level of points", came=distribution.level, remedy=remedy
            )
        points = GridPoints(flat_points(values), distribution.dimensions, distribution.grid)
        first_level = level(1).scaled(1 / distribution.per)
        paths = HiddenPaths(PathBits(self.key), first_level, distribution.dimensions)
        cells = paths.cells(points, distribution.noise.level)
        return PointAnswer({name: narrowed(cells[:, axis]) for axis, name in enumerate(values)})


def flat_points(columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Join columns of coordinates, point after point, to one array: floats if all are floats, else exact numbers."""
    coordinates = list(columns.values())
    if all(column.dtype.kind == "f" for column in coordinates):
        return np.stack(coordinates, axis=1).reshape(-1)
    return objects(
        coordinate for row in zip(*(column.tolist() for column in coordinates), strict=True) for coordinate in row
    )


@dataclass(frozen=True, slots=True, eq=False)
class PointAnswer:
    """A complete response, to be stored block by block."""

    cells: Mapping[str, Integers]  # By column: released coordinates, in steps of the grid

    @property
    def known(self) -> tuple[None, None]:
        return None, None

    def blocks(self, column: str, below: object, above: object, rows: int) -> Iterator[Integers]:
        for start in range(0, rows, BLOCK):
            yield self.cells[column][start : start + BLOCK]


def drawn_points(points: NDArray[Any], distribution: PlanarDistribution, randomness: Randomness) -> NDArray[Any]:
    """Draw the answer about each point at the level of ``distribution``, in grid steps; shape (rows, dimensions)."""
    bits, at = PathBits(randomness.words(KEY_BYTES // 8, 64).tobytes()), distribution.level.scaled(1 / distribution.per)
    return HiddenPaths(bits, at, distribution.dimensions).cells(
        GridPoints(points, distribution.dimensions, distribution.grid), at
    )
