"""Places as people have them: labels and coordinates, with distances in metres or minutes that never overstate."""

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
_CENTRE_TOLERANCE = Fraction(1, 10**9)  # degrees by which two versions of h3 may round the centre of a cell apart

Way = Literal["great-circle", "geodesic", "metres", "roads", "cells"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Geography(Display, PickledByFields):
    """The positions of places, and how their distances were made.

    Attributes:
        unit: Unit of the distances: "m", "km", "min", "cells".
        way: Way in which distances were measured.
        positions: Latitude and longitude in degrees, or northing and easting, exact; None for nodes without any.
        in_degrees: Whether positions are latitudes and longitudes.
        table: Table that the places came in, a row each; None for a dict, for cells and for networks.
        crs: Reference system of the table, if it had one.
        rounded: Step to which distances were rounded down, in their unit.
        metres: Number of metres of one unit of a plane's coordinates; 1 elsewhere.
    """

    unit: str
    way: str
    positions: tuple[Coordinates, ...] | None
    in_degrees: bool | None = None
    table: Any = None
    crs: Any = None
    rounded: Fraction = Fraction(1)
    metres: Fraction = Fraction(1)

    def part(self, rows: Sequence[int]) -> "Geography":
        """The geography of some of the places, in this order."""
        positions = None if self.positions is None else tuple(self.positions[k] for k in rows)
        table = None if self.table is None else _rows(self.table, rows)
        return replace(self, positions=positions, table=table)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Places(Space):
    """A space whose secrets are places with labels, made by `places`.

    The promise is about places: the probabilities at two places at distance d differ by a factor of at most
    e^(epsilon d). A position is first replaced by its nearest place (`nearest`), so that two positions are protected
    from each other as their places are.

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
        """The reference system that the places came with, or None."""
        return self.geography.crs

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """(n, 2) latitudes and longitudes in degrees, or northings and eastings, as floats.

        Raises:
            Unsupported: for places without coordinates.
        """
        if self.geography.positions is None:
            raise Unsupported("these places have no coordinates", came="nodes of a network without y and x")
        return np.array([[float(north), float(east)] for north, east in self.geography.positions])

    def nearest(self, latitude: Any, longitude: Any = None, *, reach: float | None = None) -> Any:
        """The label of the place that a position is nearest to, or an array of them for arrays of positions.

        This happens to the secret before any noise: it costs no privacy, and the promise is then of the places. For
        positions r apart that lie within h of their places, the places are at most r + 2 h apart. Near the border of
        two places rounding may decide; what is promised does not depend on it.

        Args:
            latitude, longitude: Degrees, or northing and easting for a plane; or a GeoSeries or GeoDataFrame of
                points alone, brought to the places' reference system.
            reach: Largest distance of a position from its place, in metres along a straight line, or in the unit of a
                plane. If left out, ten times the distance from the middle of the map to its farthest place, and on the
                earth at least 10 km: whatever is farther is of another map, or has its coordinates exchanged.
                `math.inf` takes all to their nearest.

        Raises:
            BadTable: for coordinates that are missing or no numbers, and for a position out of reach; none is quoted,
                nor counted. A refusal depends on the secret, and is for whoever holds it.

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
        farthest = max(10 * size, self._least_reach) if reach is None else self._reach(reach)
        nearest_rows = np.empty(len(there), dtype=np.intp)
        step = max(1, (1 << 20) // len(here))
        for start in range(0, len(there), step):
            gaps = there[start : start + step, None, :] - here[None, :, :]
            squares = (gaps * gaps).sum(axis=2)
            nearest_rows[start : start + step] = squares.argmin(axis=1)
            if (squares.min(axis=1) > farthest * farthest).any():
                raise BadTable(
                    "every position must lie within reach of the map",
                    came="one that is farther away",
                    where="nearest",
                    remedy="Latitude comes first, or northing. Pass reach=math.inf to take all to their nearest place.",
                )
        labels = np.empty(self.size, dtype=object)
        labels[:] = self.labels
        return labels[nearest_rows[0]] if north.ndim == 0 else labels[nearest_rows].reshape(north.shape)

    def locate(self, labels: Any) -> Any:
        """Answers as places again: the rows of the table that these labels came in, repeated as asked.

        Args:
            labels: Label, or list of labels.

        Returns:
            Rows of the same kind of table, a GeoDataFrame with its crs; a list of (latitude, longitude) for places
            that came in no table.

        Raises:
            OutOfRange: for what is no place.

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
                raise OutOfRange("an answer must be one of the places", came="another", where=f"answer {at}")
        rows = [number[label] for label in listed]
        if self.geography.table is not None:
            return _rows(self.geography.table, rows)
        return [tuple(pair) for pair in self.coordinates[rows].tolist()]

    def column(self, name: str) -> list[Any]:
        """A column of the table that the places came in, such as how many people live in each.

        Raises:
            OutOfRange: where there is no such column.
        """
        name = text(name, "name")
        table = self.geography.table
        if name not in _column_names(table):
            raise OutOfRange("the places' table must have this column", came=repr(name), where="column")
        values = table[name]
        return list(values.to_pylist() if hasattr(values, "to_pylist") else values)

    def restrict(self, secrets: Sequence[int]) -> "Places":
        """The same positions for some of the places, in the order given.

        Distances are measured again among these alone, as `places` does with ``among``: never below those of the whole.
        Distances along roads stay, whose paths go through every node.
        """
        restricted = Space.restrict(self, secrets)
        labels, part = tuple(restricted.labels), self.geography.part([int(k) for k in secrets])
        assert isinstance(restricted.metric, TableMetric)
        return Places(restricted.metric if part.way == "roads" else measured(labels, part), labels, part)

    def _read_positions(self, latitude: Any, longitude: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if longitude is None:
            if not hasattr(latitude, "geometry"):
                raise BadTable("a position must be a latitude and a longitude", came="one of them")
            # Northings and eastings of a GeoSeries in the reference system of the places.
            points = latitude
            mine, theirs = self.crs, points.crs
            if (mine is None) != (theirs is None) and not (mine is None and self.geography.in_degrees):
                raise BadTable("places and positions must both have a reference system", came="one of them")
            if theirs is not None and theirs != mine:
                points = points.to_crs(mine if mine is not None else "EPSG:4326")
            latitude, longitude = np.asarray(points.geometry.y), np.asarray(points.geometry.x)
        if np.ma.is_masked(latitude) or np.ma.is_masked(longitude):
            raise BadTable("every position must have a latitude and a longitude", came="one without")
        try:
            north, east = np.broadcast_arrays(np.asarray(latitude, np.float64), np.asarray(longitude, np.float64))
        except (TypeError, ValueError, OverflowError):
            raise BadTable("positions must be numbers, as many latitudes as longitudes", came="others") from None
        if not (np.isfinite(north).all() and np.isfinite(east).all()):
            raise BadTable("every position must have a latitude and a longitude", came="one without")
        if self.geography.in_degrees and (abs(north).max(initial=0) > 90 or abs(east).max(initial=0) > 360):
            raise BadTable("positions must be latitudes and longitudes in degrees", came="others")
        return north, east

    @property
    def _least_reach(self) -> float:
        """10 km on the earth; in a plane, whose unit nobody says, a map of one place has no size."""
        if self.geography.in_degrees:
            return 10_000 / _EARTH_RADIUS
        return 0.0 if self.size > 1 else float("inf")

    def _reach(self, reach: float) -> float:
        """A reach in the unit of `_vectors`."""
        try:
            metres = float("nan") if isinstance(reach, bool | str) else float(reach)
        except (TypeError, ValueError, OverflowError):
            metres = float("nan")
        if not metres > 0:
            raise OutOfRange("a reach must be a positive number", came=reach, where="reach")
        return metres / _EARTH_RADIUS if self.geography.in_degrees else metres

    def _vectors(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points among which the nearest in space is the nearest place: on the sphere, or in the plane."""
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
    """A space of labelled places, from what people have.

    Distances are rational numbers of ``unit`` that keep every triangle inequality exactly and are never above the
    distances they stand for: rounded down to whole ``rounded``, and then to the shortest path through other places. So
    a level along them is a level along the true ones.

    Args:
        table: CSV or Parquet file, or any dataframe, with a column of names, of latitudes and of longitudes; a file
            of points that ends in .geojson, whose properties are its columns; a dict from names to (latitude,
            longitude); a GeoSeries (labels from its index) or a GeoDataFrame (from its column ``name``, or its index);
            a list of H3 cells; a graph of networkx or osmnx.
        name, latitude, longitude: Columns, called so if left out. With metric="metres" the last two are northing
            and easting.
        metric: "great-circle": along the earth, at most the distance on the ellipsoid WGS84 and at least 98.9 % of it.
            "geodesic": the same, and nearer to it: short by two millionths at 300 km, two hundred-thousandths at 1 000.
            "metres": in the plane of the coordinates. "roads": the shortest paths of a graph. "cells": of H3. If left
            out: "metres" for a projected reference system, "roads" for a graph, "cells" for cells, else "great-circle".
        unit: Unit of the distances: by default "m" ("cells" for cells); for roads, the unit of ``weight``.
        rounded: Step to which distances are rounded down, such as "10 m"; by default a metre, or a thousandth of the
            unit for roads and for other units than metres.
        weight: Attribute of a graph's edges that holds their lengths; "length" if left out, which osmnx writes, in
            metres.
        among: Places to keep, by label; for a graph, paths go through the others all the same.
        both_ways: Whether one-way streets of a directed graph are taken both ways.

    Raises:
        BadTable: for columns, rows or coordinates that are missing or no numbers.
        NotAMetric: for labels that come twice, two places at one point or nearer than ``rounded``, and graphs that are
            not connected or not symmetric.
        OutOfRange: for coordinates that lie nowhere, and for a unit or a metric that does not go with the table.
        Unsupported: for cells where h3 is not installed.

    Cost: n^2 certified arcs and n^3 additions: 400 places a second, 1 000 about ten.

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
        raise OutOfRange("roads are measured along a graph, and nothing else is", came=metric, where="places")
    if metric == "cells" and not cells:
        raise OutOfRange("cells are counted between H3 cells", came=type(table).__name__, where="places")
    if cells and metric == "metres":
        raise OutOfRange("cells lie on the earth", came=metric, where="places")
    way: Way | None = metric or ("roads" if network else "cells" if cells else None)
    counted = unit_named(unit if unit is not None else "cells" if way == "cells" else "m")
    step = _step(rounded, counted)
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
    """Check that words are from their lists, and that degrees and metres go with the metric and the reference system.

    Raises:
        OutOfRange: for another metric, and for a unit that is not written by its short name.
        BadTable: for what does not go together.
    """
    one_of(where.way, Way, "metric", "places")
    if unit_named(where.unit) != where.unit:
        remedy = f"Write {unit_named(where.unit)}."
        raise OutOfRange("a unit must have its short name", came=where.unit, where="unit", remedy=remedy)
    degrees, metres = system(where.crs)
    if where.crs is not None and degrees is None and (where.way != "roads" or where.in_degrees is not None):
        remedy = "Where pyproj is not installed, only EPSG:4326 is known: pip install pyproj."
        raise BadTable("the reference system must be known", came="another", where="crs", remedy=remedy)
    in_degrees = degrees if where.way == "roads" else where.way != "metres"
    # A network's nodes may carry latitudes without saying in which system.
    is_stated = where.way != "roads" or where.crs is not None
    if is_stated and (where.in_degrees is not in_degrees or degrees not in (None, in_degrees)):
        required = "positions must be in degrees on the earth, and in lengths in a plane"
        raise BadTable(required, came="others", where="in_degrees")
    if where.metres != (metres if where.way == "metres" else 1):
        raise BadTable("the metres of a plane must be those of its reference system", came="others", where="metres")


def measured(labels: Sequence[Hashable], where: Geography) -> TableMetric:
    """The distances of places, from their positions alone (from their labels for cells).

    Raises:
        BadTable: for roads, whose lengths no position shows, and for positions that are not those of the cells.
        NotAMetric, OutOfRange: as `places`.
    """
    if where.positions is None or where.way == "roads":
        raise BadTable("distances are measured between positions", came=where.way, where="places")
    known = PlaceTable(labels, list(where.positions), None, where.crs, where.in_degrees, where.metres)
    if where.way == "cells":
        at_centres = places_of_cells(labels).positions or []
        apart = [
            abs(a - b)
            for pair, own in zip(where.positions, at_centres, strict=True)
            for a, b in zip(pair, own, strict=True)
        ]
        if max(apart) > _CENTRE_TOLERANCE:
            raise BadTable("positions must be the centres of their cells", came="others", where="places")
    return _as_metric(labels, _distance_steps(known, where.way, where.rounded, where.unit), where)


def _step(rounded: Number | None, unit: str) -> Fraction:
    """The step to which distances are rounded down, in their unit."""
    if rounded is not None:
        return distance_in(rounded, unit)
    return Fraction(1) if unit in ("m", "cells") else Fraction(1, 1000)


def _distance_steps(known: PlaceTable, way: str, step: Fraction, unit: str) -> Any:
    positions = known.positions
    assert positions is not None, "what is no network has positions"
    if way == "cells":
        if unit != "cells" or step != 1:
            raise OutOfRange("cells are counted one by one", came=f"{step} {unit}", where="places")
        return np.asarray(cell_steps(known.labels), dtype=np.int64)
    metres = step * distance_in(f"1 {unit}", "m")
    if way in ("great-circle", "geodesic"):
        if known.in_degrees is False:
            remedy = "Bring them to degrees first: to_crs(4326)."
            raise OutOfRange("great circles need latitudes and longitudes", came="a projected system", remedy=remedy)
        check_on_earth(known.labels, positions)
        _check_apart(known.labels, list(map(_unique_coordinates, positions)))
        return (geodesic_steps if way == "geodesic" else great_circle_steps)(positions, metres)
    if known.in_degrees:
        raise OutOfRange("distances in the plane need a projected system", came="degrees", where="places")
    _check_apart(known.labels, positions)
    return plane_steps(positions, metres / known.metres)


def _unique_coordinates(position: Coordinates) -> Coordinates:
    """One spelling for each point of the earth: longitudes once around, and none at the poles."""
    latitude, longitude = position
    return latitude, Fraction(0) if abs(latitude) == 90 else longitude % 360


def _check_apart(labels: Sequence[Hashable], positions: Sequence[Coordinates]) -> None:
    first: dict[Coordinates, Hashable] = {}
    for label, position in zip(labels, positions, strict=True):
        if position in first:
            raise NotAMetric(
                "places must lie at different points",
                came=f"{first[position]!r} and {label!r} at one",
                remedy="Keep one of them: nothing tells them apart.",
            )
        first[position] = label


def _as_metric(labels: Sequence[Hashable], steps: NDArray[np.int64], where: Geography) -> TableMetric:
    """Distances in whole steps, made a metric by the paths through other places."""
    for x, y in np.argwhere((steps == 0) & ~np.eye(len(steps), dtype=bool))[:1]:
        raise NotAMetric(
            "places must be at least as far apart as distances are rounded to",
            came=f"{labels[x]!r} and {labels[y]!r} nearer than {where.rounded} {where.unit}",
            remedy='Join them, or round to less: rounded="1 cm", say.',
        )
    least = closure(steps)
    table: Array = least if where.rounded == 1 else distance_table(np.asarray(fractions(least) * where.rounded))
    return TableMetric.trusted(frozen(table))


def _chosen_places(known: PlaceTable, among: Sequence[Hashable]) -> PlaceTable:
    """Some of the places, in this order."""
    number = {label: k for k, label in enumerate(known.labels)}
    for label in among:
        if label not in number:
            raise OutOfRange("every place to keep must be in the table", came=str(label), where="among")
    rows = [number[label] for label in among]
    if not rows:
        raise BadTable("places must be at least one", came="none", where="among")
    assert known.positions is not None, "what is no network has positions"
    positions, table = [known.positions[k] for k in rows], known.table
    return replace(known, labels=list(among), positions=positions, table=None if table is None else _rows(table, rows))


def _column_names(table: Any) -> list[Any]:
    """The columns of a table of any kind; a GeoSeries has none."""
    for attribute in ("column_names", "columns"):  # Arrow's columns have no names of their own
        if hasattr(table, attribute):
            return list(getattr(table, attribute))
    return list(table) if isinstance(table, dict) else []


def _rows(table: Any, rows: Sequence[int]) -> Any:
    """Rows of a table of any kind, in this order."""
    if hasattr(table, "iloc"):
        return table.iloc[list(rows)]
    if isinstance(table, dict):
        return {name: [column[k] for k in rows] for name, column in table.items()}
    return table.take(list(rows)) if hasattr(table, "take") else table[list(rows)]
