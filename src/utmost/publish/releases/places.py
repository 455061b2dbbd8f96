"""Columns of coordinates released as points: each row at epsilon per unit of Euclidean distance, with its statement."""

from collections.abc import Sequence
from typing import Any

from utmost.laws.exact import Level, Number
from utmost.laws.exact.long_work import long_work
from utmost.laws.sampling.random_bits import Randomness
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.table import TableRelease, release_table


@long_work("Noising points")
def release_places(
    table: Any,
    *,
    columns: str | Sequence[str],
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    per: Number = 1,
    grid: Number | None = None,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
    **declared: Any,
) -> TableRelease:
    """Noise the point in each row, its coordinates together; publish no other column unasked.

    Everything is checked before any draw: a table with one bad cell is not released at all.

    Args:
        table: a dict of columns, a dataframe of any library, or a table read from a file.
        columns: the columns of the coordinates: two for the plane, in one unit of length (metres east and north, say;
            degrees of longitude and latitude are no such unit, see `TangentPlane`).
        epsilon, alpha: the level for each ``per`` of Euclidean distance.
        per: the distance that the level is for, in the unit of the columns.
        grid: the width of the grid to which points are rounded, see `PlanarRelease`.
        confidence: of the margin that stands beside the points.
        randomness: the operating system's when None; a seeded source is refused.
        declared: ``public=``, ``drop=``, ``rows=`` and ``id_column=``, as for `release_table`.

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
    promise = Promise(columns, per=per, grid=grid, **declared)
    return release_table(table, promise, epsilon=epsilon, alpha=alpha, confidence=confidence, randomness=randomness)
