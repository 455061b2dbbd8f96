"""Points of the plane in a ledger: cells of hidden paths whose random digits are derived from the ledger's key.

The path of each row is a function of a key of its own,

    HKDF(ledger key; name, version, anchor for one unit of distance, dimensions, commitment to the points),

in ledgers of drawn and of derived noise alike: a path has a clock, which no response shows, so that responses alone do
not lead to another level, and the path must be known again. It is begun at epsilon = 1 for each ``per``, whatever was
asked for first: a ledger that was put back to an earlier state, and is asked in another order, repeats itself. Other
points, another distance and another version have another key, hence paths that have nothing to do with these.

Whoever holds the key and a response can take the noise off: the key must be kept as the data are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects
from utmost.core.exact.levels import Level, level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits
from utmost.core.sampling.integers import Integers, narrowed
from utmost.core.sampling.random_bits import KEY_BYTES, Randomness
from utmost.errors import NeedsTable
from utmost.publish.promises.drawing import BLOCK
from utmost.publish.promises.planar_law import PlanarLaw


@dataclass(frozen=True, slots=True, eq=False)
class PointPaths:
    """The paths of one release, and the response that they give at a level.

    Attributes:
        law: Law of the noise at the level.
        key: Key of the paths.
    """

    law: PlanarLaw
    key: bytes

    @classmethod
    def of(
        cls, derived: Callable[..., bytes], name: str, version: int, committed: bytes, law: PlanarLaw
    ) -> "PointPaths":
        """The paths of a release, from the ledger's key and the commitment to the points."""
        about = name, str(version), level_text(_anchor(law)), str(law.dimensions)
        return cls(law, derived("point paths", *about, sha256(committed).hexdigest()))

    def answer(self, values: Mapping[str, NDArray[Any]] | None) -> "PointAnswer":
        """The cells of all points at the level."""
        law = self.law
        if values is None:
            remedy = "Call relax with the table."
            raise NeedsTable("a new level of points needs the points", came=law.level, remedy=remedy)
        points = GridPoints(flat_points(values), law.dimensions, law.grid)
        paths = HiddenPaths(PathBits(self.key), _anchor(law), law.dimensions)
        cells = paths.cells(points, law.noise.level)
        return PointAnswer({name: narrowed(cells[:, axis]) for axis, name in enumerate(values)})


def _anchor(law: PlanarLaw) -> Level:
    return level(1).scaled(1 / law.per)


def flat_points(columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """The coordinates point by point in one row: floats where all are floats, else each the number that it is."""
    coordinates = list(columns.values())
    if all(column.dtype.kind == "f" for column in coordinates):
        return np.stack(coordinates, axis=1).reshape(-1)
    return objects(
        coordinate for row in zip(*(column.tolist() for column in coordinates), strict=True) for coordinate in row
    )


@dataclass(frozen=True, slots=True, eq=False)
class PointAnswer:
    """A response to be stored block by block.

    Attributes:
        cells: Cells in steps of the grid of its level, by column.
    """

    cells: Mapping[str, Integers]

    @property
    def known(self) -> tuple[None, None]:
        """No stored response is looked at."""
        return None, None

    def blocks(self, column: str, values: object, below: object, above: object, rows: int) -> Iterator[Integers]:
        """One column, block by block; it is known already, and nothing else is looked at."""
        for start in range(0, rows, BLOCK):
            yield self.cells[column][start : start + BLOCK]


def drawn_points(points: NDArray[Any], law: PlanarLaw, randomness: Randomness) -> NDArray[Any]:
    """The cells of points at the one level of a law, in steps of its grid; shape (rows, dimensions).

    Args:
        points: coordinates, point by point in one row.
    """
    bits, at = PathBits(randomness.words(KEY_BYTES // 8, 64).tobytes()), law.level.scaled(1 / law.per)
    return HiddenPaths(bits, at, law.dimensions).cells(GridPoints(points, law.dimensions, law.grid), at)
