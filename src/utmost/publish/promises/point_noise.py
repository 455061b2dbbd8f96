"""Noise for points of the plane, such as homes: the coordinates of a row get joint noise, at epsilon for a distance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, natural, read_confidence, written_number
from utmost.core.gradual.euclidean_noise import MOST_DIMENSIONS
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import NeedsTable, OutOfRange
from utmost.publish.promises.cell_noise import LARGEST, read_largest
from utmost.publish.promises.drawing import NewResponse, Responder
from utmost.publish.promises.lattice import width_of
from utmost.publish.promises.places_statements import (
    margin_name,
    places_drawn,
    places_guarantee,
    places_theorem,
)
from utmost.publish.promises.planar_distribution import PlanarDistribution, read_width, written
from utmost.publish.promises.point_paths import PointPaths, drawn_points, flat_points
from utmost.publish.promises.promised_noise import AnyNoiseAtLevel, Noise, Response
from utmost.publish.promises.tangent_plane import check_lengths, warn_of_degrees
from utmost.tables.cells.cell_values import read_reals
from utmost.tables.cells.columns import RowName, exact_column, real_column

# P(|V| > t/e) < 2^n exp(-t/2), below 2^-512 at t = 712 + 2n: less than the probability of guessing a key.
_TAIL = 712
# Without a declared bound, coordinates must be at most this many times ``per``.
_MOST_DISTANCES = 1 << 64


@dataclass(frozen=True, slots=True, init=False)
class PointNoise(Noise):
    """Euclidean Laplace noise for columns that are the coordinates of one point in each row.

    The level, and the budget that it spends, are for each ``per`` of Euclidean distance: moving a point by 2 ``per``
    costs twice the level. If several rows belong to one individual, the distances add up.

    Args:
        per: Distance that the level refers to, > 0, in the unit of the coordinates.
        grid: Width of the grid to which answers are rounded, > 0; if left out, it is chosen by the level of the answer.
        largest: Bound on the absolute value of every coordinate, known without looking at the data; 2^64 ``per`` if
            left out.
        dimensions: Number of coordinates of a point.

    Raises:
        OutOfRange, NotANumber: if an argument is invalid.

    Source: proofs/theory/planar.md.

    >>> PointNoise(200).relation
    'a point moved by 200'
    """

    kind: ClassVar[str] = "points in the plane"
    json_kind: ClassVar[str] = "points"
    has_margin_per_column: ClassVar[bool] = False

    unit: Unit
    per: Fraction = field(metadata=form("distance that epsilon is for", write=str, read=written_number))
    grid: Fraction | None = field(metadata=form("grid of the answers", write=str, read=written_number))
    largest: Fraction | None = field(metadata=LARGEST)
    dimensions: int = field(metadata=form("coordinates of a point"))

    def __init__(
        self, per: Number, *, grid: Number | None = None, largest: Number | None = None, dimensions: int = 2
    ) -> None:
        object.__setattr__(self, "unit", Unit(1, 1, "change-one"))
        object.__setattr__(self, "per", read_width(per, "per"))
        object.__setattr__(self, "grid", None if grid is None else read_width(grid, "grid"))
        object.__setattr__(self, "largest", read_largest(largest))
        object.__setattr__(self, "dimensions", natural(dimensions, "dimensions", least=1, most=MOST_DIMENSIONS))

    @property
    def is_bounded(self) -> bool:
        return self.largest is not None

    @property
    def subject(self) -> str:
        return "places"

    @property
    def relation(self) -> str:
        """The neighbouring relation: a point moved by ``per``."""
        return f"a point moved by {self.per}"

    @property
    def whom(self) -> str:
        """The protected individual, in words: the point of one row."""
        return f"one row's point, moved by {self.per} of distance"

    def distribution(self, level: Level) -> PlanarDistribution:
        """Return the distribution of the noise at a level, and the grid of the answers.

        Raises:
            OutOfRange: if the declared grid is too wide for the level.
        """
        return PlanarDistribution(level, self.dimensions, self.per, self.grid)

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> "PointNoiseAtLevel":
        """Return the noise of the points at a level. One secret random path holds a point's noise at all levels."""
        return PointNoiseAtLevel(self, level, read_confidence(confidence))

    def margin(self, level: Level, confidence: Number) -> float:
        """Return the margin of error: with this confidence a released point is at most this far from the true point."""
        return self.distribution(level).margin(read_confidence(confidence))

    def check_served(self) -> None:
        """Refuse points: at a level such as 1e30 the path of a point takes minutes, too long for a service."""
        raise OutOfRange("a service must publish tables or sums, not points", came="per", where="terms")

    def check_tightened(self, level: Level, where: str) -> None:
        """Refuse every level: a response at another level cannot be computed from stored responses of points."""
        remedy = "Relax it with the table: answers do not determine the hidden noise of their points."
        raise NeedsTable("the table must be passed at each new level of points", came=level, where=where, remedy=remedy)

    def bound(self) -> tuple[Fraction, str]:
        """Return the bound on |coordinate|, as a number and as text: the declared bound, or 2^64 ``per``."""
        most = self.per * _MOST_DISTANCES if self.largest is None else self.largest
        return most, f"{most}"

    def word(self, level: Level) -> int:
        """Return the number of bytes of a stored cell; this number depends only on public facts.

        >>> from utmost.exact import level
        >>> [PointNoise(200).word(level(e)) for e in ("1/1000000", 1, 50)]
        [8, 16, 16]
        """
        distribution, bits, epsilon = self.distribution(level), 128, Fraction(0)
        while epsilon <= 0:  # terminates: a level is positive
            epsilon, bits = distribution.noise.level.epsilon_interval(bits).lower, 2 * bits
        steps = (self.bound()[0] + (_TAIL + 2 * self.dimensions) / epsilon) / distribution.grid
        return width_of(2 + (-(-steps // 1) + 1).bit_length())

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of coordinates; check that there are as many as the noise has dimensions."""
        check_lengths(list(columns))
        if len(columns) != self.dimensions:
            required = f"columns must name the {self.dimensions} coordinates of a point"
            remedy = f"Pass PointNoise(..., dimensions={len(columns)})."
            raise OutOfRange(required, came=f"{len(columns)} columns", where="columns", remedy=remedy)
        return columns

    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        """Read a column of coordinates as exact numbers."""
        return exact_column(real_column(column, name, place))

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Return the complete response, computed from paths of noise that are derived from the ledger's key."""
        return PointPaths(self.distribution(response.step.to), response.derived("points")).answer(values)

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Return the released coordinates, as floats on the grid of the level."""
        grid = self.distribution(level).grid
        return {name: written(cells, grid) for name, cells in response.items()}

    def bars(self, columns: Sequence[str]) -> dict[str, str]:
        """Return {name of the column of margins: last column of coordinates}; one margin holds for a whole point."""
        return {margin_name(columns): columns[-1]}

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        return places_guarantee(self.distribution(level), columns)


@dataclass(frozen=True, slots=True, repr=False)
class PointNoiseAtLevel(AnyNoiseAtLevel):
    noise: PointNoise

    @property
    def distribution(self) -> PlanarDistribution:
        return self.noise.distribution(self.level)

    def facts(self) -> dict[str, Any]:
        distribution = self.distribution
        return {
            "drawn": places_drawn(distribution),
            "theorem": places_theorem(distribution),
            "distribution": "EuclideanLaplace",
            "distance": "Euclidean",
            "grid": str(distribution.grid),
            "confidence": float(self.confidence),
        }

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        return real_column(column, name, place)

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        points, _ = read_reals(flat_points(cells))
        distribution = self.distribution
        warn_of_degrees(points, distribution.dimensions, distribution.per)
        answer = written(drawn_points(points, distribution, randomness), distribution.grid)
        return {name: answer[:, axis] for axis, name in enumerate(cells)}
