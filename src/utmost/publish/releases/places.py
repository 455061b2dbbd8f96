"""Columns of coordinates released as points: each row at epsilon per unit of Euclidean distance, with its statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from utmost.laws.exact import Level, Number, level, objects
from utmost.laws.exact.long_work import long_work
from utmost.laws.exact.shown import Shown
from utmost.laws.noise.law import read_confidence
from utmost.laws.privacy.unit import Unit
from utmost.laws.sampling.random_bits import Randomness
from utmost.publish.counting.laid import Laid
from utmost.publish.promises.declared_columns import listed_names
from utmost.publish.promises.places_statements import margin_name, places_statement
from utmost.publish.promises.planar_law import PlanarLaw, read_width
from utmost.publish.promises.tangent_plane import check_lengths
from utmost.publish.releases.planar import PlanarRelease
from utmost.publish.releases.table import CheckedTable, TableRelease
from utmost.publish.tables.adapters import brought


@dataclass(frozen=True, slots=True, repr=False)
class PlacedPoints(Shown):
    """What a release of points promises: the plan of a `TableRelease`.

    Attributes:
        law: level, distance and grid.
        confidence: of the margin.
    """

    numbers: ClassVar[str] = "reals"
    is_apart: ClassVar[bool] = False

    law: PlanarLaw
    confidence: Fraction

    @property
    def level(self) -> Level:
        """What the release costs for each ``law.per`` of distance."""
        return self.law.level

    @property
    def unit(self) -> Unit:
        """One row's point."""
        return Unit(1, 1, "change-one")

    @property
    def margin(self) -> float:
        """The distance within which a released point lies of the true one, with this confidence."""
        return self.law.margin(self.confidence)

    def bars(self, columns: Sequence[str]) -> dict[str, tuple[str, int | float]]:
        """One margin, behind the last coordinate."""
        return {margin_name(columns): (columns[-1], self.margin)}

    def warn(self) -> None:
        """Of a distance nobody can say which level is large."""

    def statement(self, released: Sequence[str], public: Sequence[str], rows: int, **about: Any) -> dict[str, Any]:
        """What is said publicly about a release of points, see `places_statement`."""
        return places_statement(self.law, self.confidence, released, public, rows, **about)


@long_work("Noising points")
def release_places(
    table: Any,
    *,
    columns: str | Sequence[str],
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    per: Number = 1,
    grid: Number | None = None,
    confidence: Number = "0.95",
    id_column: str | None = None,
    randomness: Randomness | None = None,
) -> TableRelease:
    """Noise the point in each row, its coordinates together; publish no other column unasked.

    Everything is checked before any draw: a table with one bad cell is not released at all.

    Args:
        table: a dict of columns, a dataframe of any library, or a table read from a file.
        columns: the columns of the coordinates: two for the plane, in one unit of length (metres east and north, say;
            degrees of longitude and latitude are no such unit, see `TangentPlane`).
        public, drop, rows, id_column: as for `release_table`.
        epsilon, alpha: the level for each ``per`` of Euclidean distance.
        per: the distance that the level is for, in the unit of the columns.
        grid: the width of the grid to which points are rounded, see `PlanarRelease`.
        confidence: of the margin that stands beside the points.
        randomness: the operating system's when None; a seeded source is refused.

    Promise: the level for each ``per`` of distance; several rows of one individual add their distances up. It does not
        hide who is in the table, nor in which town a point is.

    Raises:
        NotDeclared, BadTable, NotALevel, NotANumber, OutOfRange: as `release_table`, and for a grid too wide.

    Cost: a microsecond a row beyond reading the table.

    >>> release = release_places(
    ...     {"name": ["A", "B"], "x": [651_300.5, 652_900.0], "y": [6_861_200.0, 6_860_100.0]},
    ...     columns=["x", "y"],
    ...     public="name",
    ...     epsilon=1,
    ...     per=200,
    ... )
    >>> list(release.table), release.margin
    (['name', 'x', 'y', 'x_y_margin'], 950.187...)
    """
    checked = _checked(table, columns, public, drop, rows, id_column, (epsilon, alpha, per, grid, confidence))
    law = checked.plan.law
    points = _together(list(checked.cells.values()))
    answers = PlanarRelease(points, per=law.per, grid=law.declared, randomness=randomness).at(law.level)
    return checked.released({name: answers[:, axis] for axis, name in enumerate(checked.cells)})


def rehearse_places(
    table: Any,
    *,
    columns: str | Sequence[str],
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    id_column: str | None = None,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    per: Number = 1,
    grid: Number | None = None,
    confidence: Number = "0.95",
) -> TableRelease:
    """Everything that `release_places` does up to the first draw: a release whose ``table`` is None.

    >>> rehearse_places({"x": [1.5], "y": [2]}, columns=["x", "y"], epsilon=1).margin
    4.754913...
    """
    promise = epsilon, alpha, per, grid, confidence
    return _checked(table, columns, public, drop, rows, id_column, promise).released(None)


def _checked(
    table: Any,
    columns: str | Sequence[str],
    public: str | Sequence[str],
    drop: str | Sequence[str],
    rows_from: str,
    id_column: str | None,
    promise: tuple[Any, ...],
) -> CheckedTable:
    """The table, every coordinate read and every other column declared, with the promise, which is read before it."""
    epsilon, alpha, per, grid, confidence = promise
    of_grid = None if grid is None else read_width(grid, "grid")
    at, sure, width = level(epsilon, alpha), read_confidence(confidence), read_width(per, "per")
    names = listed_names(columns, "columns")
    check_lengths(names)
    plan = PlacedPoints(PlanarLaw(at, max(len(names), 1), width, of_grid), sure)
    laid = Laid(brought(table), names, public, (), plan.unit)
    return CheckedTable.of(laid, plan, drop=drop, rows_from=rows_from, id_column=id_column)


def _together(cells: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns as points: floats where all are floats, else each just the number that it is."""
    if all(column.dtype.kind == "f" for column in cells):
        return np.stack(cells, axis=1)
    rows = objects(one for row in zip(*(column.tolist() for column in cells), strict=True) for one in row)
    return rows.reshape(-1, len(cells))
