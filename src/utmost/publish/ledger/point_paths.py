"""Points of the plane in a ledger: cells of hidden paths whose random digits are derived from the ledger's key.

The path of each row is a function of a key of its own,

    HKDF(ledger key; name, version, anchor for one unit of distance, dimensions, commitment to the points),

in ledgers of drawn and of derived noise alike: a path has a clock, which no response shows, so that responses alone do
not lead to another level, and the path must be known again. It is begun at epsilon = 1 for each ``per``, whatever was
asked for first: a ledger that was put back to an earlier state, and is asked in another order, repeats itself. Other
points, another distance and another version have another key, hence paths that have nothing to do with these.

Whoever holds the key and a response can take the noise off: the key must be kept as the data are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NeedsTable
from utmost.laws.exact import Level, level, objects
from utmost.laws.exact.written_levels import level_text
from utmost.laws.gradual.euclidean_noise import MOST_DIMENSIONS
from utmost.laws.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits
from utmost.laws.sampling.integers import Integers, narrowed
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.vault import BLOCK, width_of
from utmost.publish.releases.planar_law import PlanarLaw, read_width

# P(|V| > t/e) < 2^n exp(-t/2), which is below 2^-512 at t = 712 + 2n: far below the chance of guessing a key.
_TAIL = 712
# Where no largest coordinate is declared, none may be beyond so many of the distance that a level is for.
_MOST_DISTANCES = 1 << 64


@dataclass(frozen=True, slots=True)
class PointPromise:
    """What a release of points promises, whatever its levels.

    Attributes:
        per: the distance that a level is for.
        declared: the width of the grid to which answers are rounded; None where each level chooses.
        dimensions: how many coordinates a point has.
    """

    per: Fraction
    declared: Fraction | None
    dimensions: int

    def __post_init__(self) -> None:
        read_width(self.per, "per")
        if self.declared is not None:
            read_width(self.declared, "grid")

    def law(self, level: Level) -> PlanarLaw:
        """Noise and grid at a level.

        Raises:
            OutOfRange: for a declared grid that is too wide for it.
        """
        return PlanarLaw(level, self.dimensions, self.per, self.declared)

    def largest(self, declared: Fraction | None) -> Fraction:
        """The size that a coordinate may have: what was declared, or 2^64 of the distance."""
        return self.per * _MOST_DISTANCES if declared is None else declared

    def word(self, level: Level, declared: Fraction | None) -> int:
        """The bytes that each cell of a response takes on disk: a function of public facts alone.

        >>> from utmost.laws.exact import level
        >>> [PointPromise(Fraction(200), None, 2).word(level(e), None) for e in ("1/1000000", 1, 50)]
        [8, 16, 16]
        """
        law, bits, epsilon = self.law(level), 128, Fraction(0)
        while epsilon <= 0:  # ends: a level is positive
            epsilon, bits = law.noise.level.epsilon_interval(bits).lower, 2 * bits
        steps = (self.largest(declared) + (_TAIL + 2 * self.dimensions) / epsilon) / law.grid
        return width_of(2 + (-(-steps // 1) + 1).bit_length())

    def facts(self) -> dict[str, Any]:
        """As an event keeps it."""
        declared = None if self.declared is None else str(self.declared)
        return {"per": str(self.per), "grid": declared, "dimensions": self.dimensions}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "PointPromise":
        """What an event keeps."""
        dimensions, grid = facts["dimensions"], facts["grid"]
        if type(dimensions) is not int or not 1 <= dimensions <= MOST_DIMENSIONS:
            raise ValueError("dimensions")
        return cls(read_width(facts["per"], "per"), None if grid is None else read_width(grid, "grid"), dimensions)


@dataclass(frozen=True, slots=True, eq=False)
class PointPaths:
    """The paths of one release, and the response that they give at a level.

    Attributes:
        promise: of the points.
        key: of the paths.
    """

    promise: PointPromise
    key: bytes

    @classmethod
    def of(cls, key: Key, name: str, version: int, committed: bytes, promise: PointPromise) -> "PointPaths":
        """The paths of a release, from the ledger's key and the commitment to the points."""
        about = name, str(version), level_text(_anchor(promise)), str(promise.dimensions)
        return cls(promise, key.derived("point paths", *about, sha256(committed).hexdigest()))

    def answer(self, level: Level, values: Mapping[str, NDArray[Any]] | None) -> "PointAnswer":
        """The cells of all points at a level.

        Raises:
            NeedsTable: where there are no points.
        """
        law = self.promise.law(level)
        if values is None:
            raise NeedsTable("a new level of points needs the points", came=level, remedy="Call relax with the table.")
        points = GridPoints(flat_points(values), law.dimensions, law.grid)
        paths = HiddenPaths(PathBits(self.key), _anchor(self.promise), law.dimensions)
        cells = paths.cells(points, law.noise.level)
        return PointAnswer({name: narrowed(cells[:, axis]) for axis, name in enumerate(values)})


def _anchor(promise: PointPromise) -> Level:
    return level(1).scaled(1 / promise.per)


def flat_points(columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """The coordinates point by point in one row: floats where all are floats, else each the number that it is."""
    found = list(columns.values())
    if all(column.dtype.kind == "f" for column in found):
        return np.stack(found, axis=1).reshape(-1)
    return objects(one for row in zip(*(column.tolist() for column in found), strict=True) for one in row)


@dataclass(frozen=True, slots=True, eq=False)
class PointAnswer:
    """A response to be stored block by block.

    Attributes:
        cells: in steps of the grid of its level, by column.
    """

    cells: Mapping[str, Integers]

    def blocks(self, column: str, values: object, below: object, above: object, rows: int) -> Iterator[Integers]:
        """One column, block by block; it is known already, and nothing else is looked at."""
        for start in range(0, rows, BLOCK):
            yield self.cells[column][start : start + BLOCK]
