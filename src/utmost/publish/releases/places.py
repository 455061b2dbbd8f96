"""Columns of coordinates released as points: each row at epsilon per unit of Euclidean distance, with its statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable
from utmost.laws.exact import Level, Number, level, objects
from utmost.laws.exact.long_work import long_work
from utmost.laws.noise.law import read_confidence
from utmost.laws.sampling.random_bits import Randomness
from utmost.publish.releases.places_statements import places_statement, radius_name
from utmost.publish.releases.plan import warn_of_rows
from utmost.publish.releases.planar import PlanarRelease
from utmost.publish.releases.planar_law import PlanarLaw, read_width
from utmost.publish.releases.table import check_no_copy, chosen_columns, declared_columns, rows_origin
from utmost.publish.releases.table_statements import cells_digest
from utmost.publish.releases.tangent_plane import check_lengths
from utmost.publish.tables.adapters import TableAdapter, adapter_of
from utmost.publish.tables.columns import check_distinct, real_column
from utmost.publish.tables.saving import SavedTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlacesRelease(SavedTable):
    """A table whose points were released, and what was promised about them.

    Attributes:
        table: of the kind that came in, with the released and the public columns alone; released coordinates stand
            under their columns' own names, and the radius of the points behind the last of them.
        columns: the columns of the coordinates, in order.
        law: level, distance and grid.
        confidence: of the radius.
        rows: how many rows there are.
        public: the columns that were declared public.
        rows_from: where the list of rows comes from, "declared" or "observed".
    """

    table: Any = field(repr=False)
    columns: tuple[str, ...]
    law: PlanarLaw
    confidence: Fraction
    rows: int
    public: tuple[str, ...]
    rows_from: str

    @property
    def radius(self) -> float:
        """The distance within which a released point lies of the true one, with this confidence."""
        return self.law.radius(self.confidence)

    @property
    def spent(self) -> Level:
        """What the release cost for each ``law.per`` of distance."""
        return self.law.level

    @property
    def sidecar(self) -> dict[str, Any]:
        """The statement to publish beside the table; its digest is that of the table's cells."""
        return self.said(None if self.table is None else cells_digest(self.table))

    def said(self, digest: Mapping[str, str] | None) -> dict[str, Any]:
        """The statement, with the digest of the table as it is published."""
        return places_statement(
            self.law, self.confidence, self.columns, self.public, self.rows, rows_from=self.rows_from, digest=digest
        )


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
) -> PlacesRelease:
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
        confidence: of the radius that stands beside the points.
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
    >>> list(release.table), release.radius
    (['name', 'x', 'y', 'x_y_radius'], 950.187...)
    """
    asked, sure, width, of_grid = _promise(epsilon, alpha, per, grid, confidence)
    found = _Points.of(table, columns, public=public, drop=drop, rows_from=rows, id_column=id_column)
    law = PlanarLaw(asked, len(found.columns), width, of_grid)
    answers = PlanarRelease(found.points, per=law.per, grid=law.declared, randomness=randomness).at(law.level)
    noised: dict[str, NDArray[Any]] = {name: answers[:, axis] for axis, name in enumerate(found.columns)}
    radius = radius_name(found.columns)
    noised[radius] = np.full(len(answers), law.radius(sure))
    bare = found.adapter.without(table, found.dropped)
    made = found.adapter.with_columns(bare, noised, {radius: found.columns[-1]})
    return PlacesRelease(made, found.columns, law, sure, len(answers), found.public, found.rows_from)


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
) -> PlacesRelease:
    """Everything that `release_places` does up to the first draw: a release whose ``table`` is None.

    >>> rehearse_places({"x": [1.5], "y": [2]}, columns=["x", "y"], epsilon=1).radius
    4.754913...
    """
    asked, sure, width, of_grid = _promise(epsilon, alpha, per, grid, confidence)
    found = _Points.of(table, columns, public=public, drop=drop, rows_from=rows, id_column=id_column)
    law = PlanarLaw(asked, len(found.columns), width, of_grid)
    return PlacesRelease(None, found.columns, law, sure, len(found.points), found.public, found.rows_from)


def _promise(
    epsilon: Number | Level | None, alpha: Number | None, per: Number, grid: Number | None, confidence: Number
) -> tuple[Level, Fraction, Fraction, Fraction | None]:
    """Level, confidence, distance and grid, before the table is read."""
    of_grid = None if grid is None else read_width(grid, "grid")
    return level(epsilon, alpha), read_confidence(confidence), read_width(per, "per"), of_grid


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """A table whose points can be released: every coordinate read, every other column declared."""

    adapter: TableAdapter
    columns: tuple[str, ...]
    points: NDArray[Any]
    public: tuple[str, ...]
    dropped: tuple[str, ...]
    rows_from: str

    @classmethod
    def of(
        cls,
        table: Any,
        columns: str | Sequence[str],
        *,
        public: str | Sequence[str],
        drop: str | Sequence[str],
        rows_from: str,
        id_column: str | None,
    ) -> "_Points":
        origin, adapter = rows_origin(rows_from), adapter_of(table)
        names = tuple(adapter.names(table))
        chosen = chosen_columns(columns, names, id_column)
        check_lengths(chosen)
        kept, dropped = declared_columns(names, chosen, public, drop)
        if radius_name(chosen) in names:
            raise BadTable("the radius needs a name of its own", came=f"a column {radius_name(chosen)!r}")
        if id_column is not None:
            check_distinct(adapter.column(table, id_column), id_column, partial(adapter.place, table))
        cells = {name: real_column(adapter.column(table, name), name, partial(adapter.place, table)) for name in chosen}
        if not len(cells[chosen[0]]):
            raise BadTable("a table must have at least one row", came="none")
        for name in kept:
            check_no_copy(name, partial(adapter.column, table, name), cells)
        warn_of_rows(origin)
        return cls(adapter, chosen, _together(list(cells.values())), kept, dropped, origin)


def _together(cells: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns as points: floats where all are floats, else each just the number that it is."""
    if all(column.dtype.kind == "f" for column in cells):
        return np.stack(cells, axis=1)
    rows = objects(one for row in zip(*(column.tolist() for column in cells), strict=True) for one in row)
    return rows.reshape(-1, len(cells))
