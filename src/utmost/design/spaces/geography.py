"""Build spaces of places on a map, from tables, files, cells or road networks. Distances between places never exceed
the true distances.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, one_of, optional, sequence_of, text, truth
from utmost.core.exact.arguments import label as as_label
from utmost.core.exact.arrays import Array, PickledByFields, fractions, frozen
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number
from utmost.design.spaces.distance_units import distance_in, unit_named
from utmost.design.spaces.place_tables import (
    PlaceTable,
    cell_steps,
    check_on_earth,
    is_cells,
    places_of_cells,
    places_of_network,
    places_of_table,
    system,
)
from utmost.design.spaces.position_distances import (
    Coordinates,
    closure,
    geodesic_steps,
    great_circle_steps,
    plane_steps,
)
from utmost.design.spaces.road_networks import is_network, network_steps
from utmost.design.spaces.space import Space, TableMetric, distance_table
from utmost.errors import BadTable, NotAMetric, OutOfRange, Unsupported

_EARTH_RADIUS = 6_371_008.8  # the mean radius, in metres
# Versions of h3 may compute centres of a cell that differ by this many degrees.
_CENTRE_TOLERANCE = Fraction(1, 10**9)

Way = Literal["great-circle", "geodesic", "metres", "roads", "cells"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Geography(Display, PickledByFields):
    """Positions of places, and the method and unit by which their distances were measured."""

    unit: str  # unit of the distances: "m", "km", "min", "cells"
    way: str  # how distances are measured: "great-circle", "geodesic", "metres", "roads" or "cells"
    # Exact latitudes and longitudes in degrees, or northings and eastings; None for network nodes without coordinates.
    positions: tuple[Coordinates, ...] | None
    # whether positions are degrees on the earth, not lengths in a plane; None if unknown
    in_degrees: bool | None = None
    table: Any = None  # the user's table of places, one row each; None for a dict, cells and networks
    crs: Any = None  # the coordinate reference system of the table
    rounded: Fraction = Fraction(1)  # the step, in `unit`, to which distances were rounded down
    metres: Fraction = Fraction(1)  # number of metres in one unit of the coordinates of a plane; 1 for degrees

    def part(self, rows: Sequence[int]) -> "Geography":
        """Return the geography of the places with the given indices, in the given order."""
        positions = None if self.positions is None else tuple(self.positions[k] for k in rows)
        table = None if self.table is None else _rows(self.table, rows)
        return replace(self, positions=positions, table=table)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Places(Space):
    """A space whose secrets are places with labels, made by `places`.

    A level guarantees that the probabilities of an answer at two places at distance d differ by a factor of at most
    e^(epsilon d). `nearest` replaces a position by its nearest place, so the guarantee for two positions is the
    guarantee for their nearest places.

    Attributes:
        geography: Positions of the places, and the unit of their distances.
    """

    geography: Geography

    def __init__(self, metric: TableMetric, labels: Sequence[Hashable], geography: Geography) -> None:
        instance(metric, TableMetric, "metric")
        sequence_of(labels, as_label, "labels")
        instance(geography, Geography, "geography")
        Space.__init__(self, metric, labels)
        object.__setattr__(self, "geography", geography)

    @property
    def unit(self) -> str:
        """The unit of the distances."""
        return self.geography.unit

    @property
    def crs(self) -> Any:
        """The coordinate reference system of the table of places; None if the table had none."""
        return self.geography.crs

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """The latitudes and longitudes in degrees, or northings and eastings, (n, 2), as floats.

        Raises:
            Unsupported: if the places have no coordinates.
        """
        if self.geography.positions is None:
            raise Unsupported(
                "places must have coordinates",
                came="nodes of a network without y and x",
                remedy="Give each node of the graph the attributes y (latitude) and x (longitude).",
            )
        return np.array([[float(north), float(east)] for north, east in self.geography.positions])

    def nearest(self, latitude: Any, longitude: Any = None, *, reach: float | None = None) -> Any:
        """Return the label of the place nearest to a position; an array of labels for arrays of positions.

        The position is replaced before any noise is added, so the replacement has no privacy loss. The guarantee
        concerns the nearest places, not the positions. If two positions have the distance r, and each lies within h of
        its place, the two places have a distance of at most r + 2 h. For a position at nearly the same distance from
        two places, rounding may decide; the guarantee does not depend on that choice.

        Args:
            latitude, longitude: Degrees; northing and easting for a plane; or, as the first argument only, a GeoSeries
                or GeoDataFrame of points, which is converted to the reference system of the places.
            reach: Largest distance of a position from its place, in metres along a straight line, or in the unit of the
                coordinates in a plane. The default is ten times the distance from the middle of the map to its farthest
                place, and on the earth at least 10 km: a position farther away belongs to another map, or has latitude
                and longitude exchanged. `math.inf` accepts every position.

        Raises:
            BadTable: if coordinates are missing or no numbers, or if a position is out of reach. The message
                neither quotes nor counts positions. But whether the error BadTable appears depends on the secret, so
                show it only to people who may see the positions.

        Cost: O(n) for each position.

        >>> towns = places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32)})
        >>> towns.nearest(60.0, 10.0), towns.nearest([60, 61], [10, 5]).tolist()
        ('Oslo', ['Oslo', 'Bergen'])
        """
        north, east = self._read_positions(latitude, longitude)
        here = self._vectors(self.coordinates)
        there = self._vectors(np.column_stack([north.ravel(), east.ravel()]))
        middle = here - here.mean(axis=0)
        size = float(np.sqrt((middle * middle).sum(axis=1).max()))
        if reach is not None:
            farthest = self._reach(reach)
        elif self.geography.in_degrees:
            farthest = max(10 * size, 10_000 / _EARTH_RADIUS)
        else:
            farthest = 10 * size if self.size > 1 else float("inf")
        nearest_rows = np.empty(len(there), dtype=np.intp)
        step = max(1, (1 << 20) // len(here))
        for start in range(0, len(there), step):
            gaps = there[start : start + step, None, :] - here[None, :, :]
            squares = (gaps * gaps).sum(axis=2)
            nearest_rows[start : start + step] = squares.argmin(axis=1)
            if (squares.min(axis=1) > farthest * farthest).any():
                raise BadTable(
                    "every position must lie within reach of the map",
                    came="a position that is farther away",
                    where="nearest",
                    remedy="Pass latitude (or northing) first. Pass reach=math.inf to accept every position.",
                )
        labels = np.empty(self.size, dtype=object)
        labels[:] = self.labels
        return labels[nearest_rows[0]] if north.ndim == 0 else labels[nearest_rows].reshape(north.shape)

    def locate(self, labels: Any) -> Any:
        """Return the rows of the table of places for some labels, one row for each label.

        Args:
            labels: Label, or list of labels.

        Returns:
            Table of the same kind with the rows of the labels (a GeoDataFrame keeps its crs); for places that were not
            given as a table, a list of (latitude, longitude).

        Raises:
            OutOfRange: if no place has one of the labels.

        >>> places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32)}).locate(["Bergen"])
        [(60.39, 5.32)]
        """
        number = {label: k for k, label in enumerate(self.labels)}
        listed = (
            [labels]
            if (isinstance(labels, str) or (isinstance(labels, Hashable) and labels in number))
            else list(labels)
        )
        for at, label in enumerate(listed):
            if label not in number:
                raise OutOfRange(
                    "an answer must be the label of one of the places",
                    came="another label",
                    where=f"answer {at}",
                    remedy="The labels are in `labels` of the space.",
                )
        rows = [number[label] for label in listed]
        if self.geography.table is not None:
            return _rows(self.geography.table, rows)
        return [tuple(pair) for pair in self.coordinates[rows].tolist()]

    def column(self, name: str) -> list[Any]:
        """Return a column of the table of places, such as the population of each place.

        Raises:
            OutOfRange: if the table of places has no column of this name.
        """
        name = text(name, "name")
        table = self.geography.table
        if name not in _column_names(table):
            known = ", ".join(map(str, _column_names(table)))
            remedy = (
                f"Name one of these columns: {known}."
                if known
                else "Leave out column=: these places were not given as a table."
            )
            raise OutOfRange(
                "column must name a column of the table of places", came=repr(name), where="column", remedy=remedy
            )
        values = table[name]
        return list(values.to_pylist() if hasattr(values, "to_pylist") else values)

    def restrict(self, secrets: Sequence[int]) -> "Places":
        """Return the space of some of the places, in the given order.

        Distances are computed again from the positions of only these places, as by ``places(..., among=...)``, so no
        distance gets smaller. Distances along roads do not change, because their paths may go through any node.
        """
        restricted = Space.restrict(self, secrets)
        labels, part = tuple(restricted.labels), self.geography.part([int(k) for k in secrets])
        assert isinstance(restricted.metric, TableMetric)
        return Places(restricted.metric if part.way == "roads" else measured(labels, part), labels, part)

    def _read_positions(self, latitude: Any, longitude: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if longitude is None:
            if not hasattr(latitude, "geometry"):
                raise BadTable(
                    "a position must be a latitude and a longitude",
                    came="a latitude only",
                    remedy="Pass both, or one GeoSeries of points.",
                )
            # Convert a GeoSeries to the reference system of the places.
            points = latitude
            mine, theirs = self.crs, points.crs
            if (mine is None) != (theirs is None) and not (mine is None and self.geography.in_degrees):
                lacking = "places" if mine is None else "positions"
                raise BadTable(
                    "places and positions must both have a coordinate reference system",
                    came=f"{lacking} without one",
                    remedy="Call set_crs(...) on the GeoSeries or GeoDataFrame that lacks it.",
                )
            if theirs is not None and theirs != mine:
                points = points.to_crs(mine if mine is not None else "EPSG:4326")
            latitude, longitude = np.asarray(points.geometry.y), np.asarray(points.geometry.x)
        incomplete = BadTable(
            "every position must have a latitude and a longitude",
            came="a missing or infinite coordinate",
            remedy="Remove the positions whose coordinates are missing.",
        )
        if np.ma.is_masked(latitude) or np.ma.is_masked(longitude):
            raise incomplete
        try:
            north, east = np.broadcast_arrays(np.asarray(latitude, np.float64), np.asarray(longitude, np.float64))
        except (TypeError, ValueError, OverflowError):
            raise BadTable(
                "positions must be numbers, as many latitudes as longitudes",
                came="other values, or arrays of different lengths",
                remedy="Pass two arrays of numbers of one length.",
            ) from None
        if not (np.isfinite(north).all() and np.isfinite(east).all()):
            raise incomplete
        if self.geography.in_degrees and (abs(north).max(initial=0) > 90 or abs(east).max(initial=0) > 360):
            raise BadTable(
                "a latitude must lie in -90..90 degrees, and a longitude in -360..360",
                came="a number outside this range",
                remedy="Pass the latitude first; convert coordinates in metres to degrees.",
            )
        return north, east

    def _reach(self, reach: float) -> float:
        """Return ``reach`` after a check: in radians for places on the earth, unchanged for places in a plane."""
        try:
            metres = float("nan") if isinstance(reach, bool | str) else float(reach)
        except (TypeError, ValueError, OverflowError):
            metres = float("nan")
        if not metres > 0:
            raise OutOfRange("a reach must be a positive number", came=reach, where="reach")
        return metres / _EARTH_RADIUS if self.geography.in_degrees else metres

    def _vectors(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return positions as vectors whose Euclidean distances are in the same order as the distances of the
        positions.
        """
        if not self.geography.in_degrees:
            return positions
        north, east = np.radians(positions).T
        return np.column_stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])

    def __repr__(self) -> str:
        return f"Places({self.size} places, distances in {self.unit} by {self.geography.way})"


def places(
    table: Any,
    *,
    name: str = "name",
    latitude: str = "latitude",
    longitude: str = "longitude",
    metric: Way | None = None,
    unit: str | None = None,
    rounded: Number | None = None,
    weight: str = "length",
    among: Sequence[Hashable] | None = None,
    both_ways: bool = False,
) -> Places:
    """Return the space of places in a table, a file, a dict, a graph or a list of cells.

    Distances are rational multiples of ``unit``. Each distance is rounded down to a multiple of ``rounded``, and then
    replaced by the length of the shortest path through other places. So the triangle inequality holds exactly, and no
    distance exceeds the true one. A channel that satisfies a level for these distances therefore satisfies the level
    for the true distances.

    Args:
        table: CSV or Parquet file, or any dataframe, with columns of names, latitudes and longitudes; a file of points
            that ends in .geojson, whose properties are read as columns; a dict from names to (latitude, longitude); a
            GeoSeries (labels from its index) or a GeoDataFrame (from its column ``name``, or its index); a list of H3
            cells; a graph of networkx or osmnx.
        name, latitude, longitude: Names of the three columns. With metric="metres" the last two are northing and
            easting.
        metric: "great-circle": distances along the earth, between 98.9 % and 100 % of the distance on the ellipsoid
            WGS84. "geodesic": distances along the earth, smaller than the distance on the ellipsoid by two millionths
            at 300 km, and by two hundred-thousandths at 1 000 km. "metres": distances in the plane of the coordinates.
            "roads": the shortest paths of a graph. "cells": the number of steps between H3 cells. The default is
            "metres" for a projected reference system, "roads" for a graph, "cells" for cells, else "great-circle".
        unit: Unit of the distances: by default "m" ("cells" for cells); for roads, the unit of ``weight``.
        rounded: Step to which distances are rounded down, such as "10 m"; by default a metre, or a thousandth of the
            unit for roads and for units other than metres.
        weight: Attribute of a graph's edges that contains their lengths; the default, "length", is the attribute that
            osmnx writes, in metres.
        among: Labels of the places of the space; by default all. Paths of a graph may also go through the other nodes.
        both_ways: Whether paths may use the one-way streets of a directed graph in both directions.

    Raises:
        BadTable: if columns, rows or coordinates are missing, or if coordinates are no numbers.
        NotAMetric: if a label is repeated, if two places are at one point or nearer than ``rounded``, or if a graph is
            not connected or not symmetric.
        OutOfRange: if coordinates are not on the earth, or if the unit or the metric does not fit the table.
        Unsupported: if the table is a list of cells and h3 is not installed.

    Cost: n^2 distances with certified rounding and n^3 additions: one second for 400 places, about ten for 1 000.

    >>> towns = places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32), "Hamar": (60.79, 11.07)})
    >>> towns.labels, towns.unit, towns.distances[0].tolist()
    (('Oslo', 'Bergen', 'Hamar'), 'm', [0, 303431, 98866])
    """
    unit = optional(unit, text, "unit")
    if among is not None:
        sequence_of(among, as_label, "among")
    both_ways = truth(both_ways, "both_ways")
    if metric is not None:
        one_of(metric, Way, "metric", "places")
    network, cells = is_network(table), is_cells(table)
    if (metric == "roads") != network and (metric == "roads" or metric is not None):
        remedy = "Leave out metric=." if network else "Pass a graph of networkx or osmnx, or another metric."
        raise OutOfRange(
            'metric "roads" needs a graph, and a graph needs "roads"', came=metric, where="places", remedy=remedy
        )
    if metric == "cells" and not cells:
        remedy = "Pass a list of H3 cells, or another metric."
        raise OutOfRange('metric "cells" needs H3 cells', came=type(table).__name__, where="places", remedy=remedy)
    if cells and metric == "metres":
        raise OutOfRange(
            "the metric of H3 cells must be one on the earth, not in a plane",
            came=f"metric={metric!r}",
            where="places",
            remedy='Leave out metric=, or pass "great-circle" or "geodesic".',
        )
    way: Way | None = metric or ("roads" if network else "cells" if cells else None)
    counted = unit_named(unit if unit is not None else "cells" if way == "cells" else "m")
    if rounded is not None:
        step = distance_in(rounded, counted)
    else:
        # Distances are rounded down to whole metres, or to thousandths of another unit: a longer distance would protect
        # less.
        step = Fraction(1) if counted in ("m", "cells") else Fraction(1, 1000)
    if way == "roads":
        labels, steps = network_steps(table, weight, step, among, both_ways)
        known = places_of_network(table, labels, latitude, longitude)
    else:
        known = (
            places_of_cells(table)
            if cells
            else places_of_table(table, name, latitude, longitude, in_metres=way == "metres")
        )
        known = known if among is None else _chosen_places(known, among)
        way = way or ("metres" if known.in_degrees is False else "great-circle")
        steps = _distance_steps(known, way, step, counted)
    degrees = way in ("great-circle", "geodesic") if known.in_degrees is None and way != "roads" else known.in_degrees
    positions = None if known.positions is None else tuple(known.positions)
    metres = known.metres if way == "metres" else Fraction(1)
    where = Geography(counted, way, positions, degrees, known.table, known.crs, step, metres)
    labels = [label if isinstance(label, Hashable) else str(label) for label in known.labels]
    return Places(_as_metric(labels, steps, where), labels, where)


def check_geography(where: Geography) -> None:
    """Raise an error unless unit, metric and reference system are known and agree: degrees on the earth, or lengths in
    a plane.
    """
    one_of(where.way, Way, "metric", "places")
    if unit_named(where.unit) != where.unit:
        remedy = f"Write the unit as {unit_named(where.unit)}."
        raise OutOfRange(
            "the unit of distance must be written by its short name", came=where.unit, where="unit", remedy=remedy
        )
    degrees, metres = system(where.crs)
    if where.crs is not None and degrees is None and (where.way != "roads" or where.in_degrees is not None):
        remedy = "Run pip install pyproj: without pyproj only EPSG:4326 is known."
        raise BadTable("the coordinate reference system must be known", came=where.crs, where="crs", remedy=remedy)
    in_degrees = degrees if where.way == "roads" else where.way != "metres"
    # Nodes of a road network may have coordinates without a reference system.
    is_stated = where.way != "roads" or where.crs is not None
    if is_stated and (where.in_degrees is not in_degrees or degrees not in (None, in_degrees)):
        required = "positions must be in degrees on the earth, and in lengths in a plane"
        came = f"in_degrees={where.in_degrees} with metric {where.way!r} and crs {where.crs!r}"
        raise BadTable(required, came=came, where="in_degrees", remedy=f"Write in_degrees={bool(in_degrees)}.")
    if where.metres != (metres if where.way == "metres" else 1):
        required = "metres must be the length of one unit of the plane's reference system, and 1 on the earth"
        raise BadTable(
            required,
            came=str(where.metres),
            where="metres",
            remedy=f"Write metres={metres if where.way == 'metres' else 1}.",
        )


def measured(labels: Sequence[Hashable], where: Geography) -> TableMetric:
    """Compute the metric of places from their positions; for H3 cells, from their labels."""
    if where.positions is None or where.way == "roads":
        raise BadTable(
            "distances must be computable from positions",
            came=f"metric {where.way!r}",
            where="places",
            remedy="Read the places again from the road network: lengths of roads do not follow from positions.",
        )
    known = PlaceTable(labels, list(where.positions), None, where.crs, where.in_degrees, where.metres)
    if where.way == "cells":
        at_centres = places_of_cells(labels).positions or []
        apart = [
            abs(a - b)
            for pair, own in zip(where.positions, at_centres, strict=True)
            for a, b in zip(pair, own, strict=True)
        ]
        if max(apart) > _CENTRE_TOLERANCE:
            raise BadTable(
                "positions must be the centres of their H3 cells",
                came=f"a position that differs by {float(max(apart)):.3g} degrees",
                where="places",
                remedy="Pass only the list of cells: their centres are then computed.",
            )
    return _as_metric(labels, _distance_steps(known, where.way, where.rounded, where.unit), where)


def _distance_steps(known: PlaceTable, way: str, step: Fraction, unit: str) -> Any:
    positions = known.positions
    assert positions is not None, "places that are no network have positions"
    if way == "cells":
        if unit != "cells" or step != 1:
            raise OutOfRange(
                "distances between cells must be counted in steps of 1 cell",
                came=f"{step} {unit}",
                where="places",
                remedy='Leave out unit and rounded, or pass metric="great-circle".',
            )
        return np.asarray(cell_steps(known.labels), dtype=np.int64)
    metres = step * distance_in(f"1 {unit}", "m")
    if way in ("great-circle", "geodesic"):
        if known.in_degrees is False:
            remedy = "Convert the table to degrees first: to_crs(4326)."
            raise OutOfRange(f"metric {way!r} needs latitudes and longitudes", came="a projected system", remedy=remedy)
        check_on_earth(known.labels, positions)
        # Equal points have equal coordinates if longitudes lie in 0..360, and are 0 at a pole.
        _check_apart(
            known.labels, [(north, Fraction(0) if abs(north) == 90 else east % 360) for north, east in positions]
        )
        return (geodesic_steps if way == "geodesic" else great_circle_steps)(positions, metres)
    if known.in_degrees:
        raise OutOfRange(
            'metric "metres" needs a projected reference system',
            came="degrees",
            where="places",
            remedy="Leave out metric=, or convert the table with to_crs(...) to a projected system.",
        )
    _check_apart(known.labels, positions)
    return plane_steps(positions, metres / known.metres)


def _check_apart(labels: Sequence[Hashable], positions: Sequence[Coordinates]) -> None:
    first: dict[Coordinates, Hashable] = {}
    for label, position in zip(labels, positions, strict=True):
        if position in first:
            raise NotAMetric(
                "places must lie at different points",
                came=f"{first[position]!r} and {label!r} at the same point",
                remedy="Keep one of the two places.",
            )
        first[position] = label


def _as_metric(labels: Sequence[Hashable], steps: NDArray[np.int64], where: Geography) -> TableMetric:
    """Return the metric of shortest paths through other places, from distances that are numbers of steps."""
    for x, y in np.argwhere((steps == 0) & ~np.eye(len(steps), dtype=bool))[:1]:
        raise NotAMetric(
            "the distance of two places must be at least the step to which distances are rounded",
            came=f"{labels[x]!r} and {labels[y]!r} nearer than {where.rounded} {where.unit}",
            remedy='Merge the two places, or pass a smaller step, such as rounded="1 cm".',
        )
    least = closure(steps)
    table: Array = least if where.rounded == 1 else distance_table(np.asarray(fractions(least) * where.rounded))
    return TableMetric.trusted(frozen(table))


def _chosen_places(known: PlaceTable, among: Sequence[Hashable]) -> PlaceTable:
    number = {label: k for k, label in enumerate(known.labels)}
    for label in among:
        if label not in number:
            raise OutOfRange(
                "every place to keep must be in the table",
                came=str(label),
                where="among",
                remedy="Remove this place from among=, or check its spelling.",
            )
    rows = [number[label] for label in among]
    if not rows:
        raise BadTable(
            "at least one place must be kept", came="none", where="among", remedy="Leave out among= to keep all."
        )
    assert known.positions is not None, "places that are no network have positions"
    positions, table = [known.positions[k] for k in rows], known.table
    return replace(known, labels=list(among), positions=positions, table=None if table is None else _rows(table, rows))


def _column_names(table: Any) -> list[Any]:
    for attribute in ("column_names", "columns"):  # `columns` of an Arrow table contains arrays, not names
        if hasattr(table, attribute):
            return list(getattr(table, attribute))
    return list(table) if isinstance(table, dict) else []


def _rows(table: Any, rows: Sequence[int]) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[list(rows)]
    if isinstance(table, dict):
        return {name: [column[k] for k in rows] for name, column in table.items()}
    return table.take(list(rows)) if hasattr(table, "take") else table[list(rows)]
