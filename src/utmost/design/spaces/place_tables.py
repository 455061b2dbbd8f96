"""Read places from files, tables, dicts, GeoSeries, GeoDataFrames, lists of H3 cells, and road networks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.numbers import exact
from utmost.design.spaces.position_distances import Coordinates
from utmost.errors import BadTable, NotAMetric, NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.tables.files.json_files import read_json
from utmost.tables.frames.any_table import adapter_of

_DEGREES = ("epsg:4326", "ogc:crs84", "wgs84")
_OTHER_NAMES = {"name": ("id", "label", "place"), "latitude": ("lat",), "longitude": ("lon", "lng", "long")}
"""Usual names of columns, which are tried if the table has no column of the default name."""
_OTHER_NAMES_IN_METRES = {
    "name": _OTHER_NAMES["name"],
    "latitude": ("northing", "north", "y"),
    "longitude": ("easting", "east", "x"),
}
"""Usual names of columns in tables with coordinates in metres, which are tried in the same way."""


@dataclass(frozen=True, slots=True)
class PlaceTable:
    """Labels and positions of places, before distances are computed."""

    labels: Sequence[Hashable]
    # Latitudes and longitudes in degrees, or northings and eastings; None for network nodes without coordinates.
    positions: list[Coordinates] | None
    table: Any = None  # the user's table of places, one row each
    crs: Any = None  # the coordinate reference system
    in_degrees: bool | None = None  # whether positions are degrees, not lengths; None if unknown
    metres: Fraction = Fraction(1)  # number of metres in one unit of a projected reference system


def places_of_table(table: Any, name: str, latitude: str, longitude: str, *, in_metres: bool) -> PlaceTable:
    """Read the places of a file, a table, a dict, a GeoSeries or a GeoDataFrame."""
    is_file = isinstance(table, str | Path)
    if is_file:
        table = _file_columns(table if isinstance(table, Path) else Path(table))
    for column in (name, latitude, longitude):
        if not isinstance(column, Hashable):
            remedy = "Pass the names of columns as text."
            raise WrongKind("a column must have a name", came=type(column).__name__, where="places", remedy=remedy)
    if hasattr(table, "crs") and hasattr(table, "geometry"):
        return _places_of_geometry(table, name)
    other_names = _OTHER_NAMES_IN_METRES if in_metres else _OTHER_NAMES
    # A file has columns; one of two places looks like a dict of pairs.
    is_by_name = not is_file and isinstance(table, Mapping) and not {latitude, longitude} <= set(table)
    if is_by_name:
        # A dict is a table of columns if it has columns with the usual names for label, latitude and longitude, and if
        # some value is not a pair of numbers.
        named = {str(key).strip().casefold() for key in table}
        are_usual = all(not named.isdisjoint({what, *other_names[what]}) for what in other_names)
        is_by_name = not are_usual or all(map(_is_pair, table.values()))
    if is_by_name:
        # Any other dict maps the name of each place to its latitude and longitude.
        for label, pair in table.items():
            if isinstance(pair, str | bytes | Mapping) or not hasattr(pair, "__len__") or len(pair) != 2:
                remedy = "Pass {name: (latitude, longitude)}, or name the columns with name=, latitude= and longitude=."
                required = "a dict of places must have a latitude and a longitude for each name"
                raise BadTable(required, came=f"{type(pair).__name__} for {str(label)!r}", remedy=remedy)
        return PlaceTable(list(table), _exact_positions(list(table), [tuple(pair) for pair in table.values()]))
    adapter = adapter_of(table)
    names = adapter.names(table)
    cells = []
    for what, column in (("name", name), ("latitude", latitude), ("longitude", longitude)):
        usual = (what, *other_names[what]) if column == what else ()
        # If a column of the default name is missing, read the only column with a usual name, in upper or lower case.
        matches = [column] if column in names else [known for known in names if known.strip().casefold() in usual]
        if len(matches) != 1:
            came = f"{' and '.join(map(repr, matches))}" if matches else f"{len(names)} columns with other names"
            remedy = f"Pass the name of the column as {what}=."
            raise BadTable(f"places need a column {column!r}", came=came, where="places", remedy=remedy)
        cells.append(plain_cells(adapter.column(table, matches[0])))
    labels, north, east = cells
    return PlaceTable(labels, _exact_positions(labels, zip(north, east, strict=True)), table)


def _is_pair(value: Any) -> bool:
    """Return whether a value is a pair of two numbers."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") or len(value) != 2:
        return False
    try:
        return all(exact(number) is not None for number in value)
    except NotANumber:
        return False


def is_cells(table: Any) -> bool:
    """Return whether the table is a list of texts or integers, which can only be H3 cells."""
    if not isinstance(table, Sequence) or isinstance(table, str | bytes) or not table:
        return False
    return all(isinstance(cell, str) or (isinstance(cell, int) and not isinstance(cell, bool)) for cell in table)


def places_of_cells(cells: Sequence[Any]) -> PlaceTable:
    """Return the places of H3 cells; the position of a place is the centre of its cell."""
    h3 = h3_package()
    remedy = "Check the cell's spelling; h3.latlng_to_cell(latitude, longitude, resolution) makes cells."
    try:
        texts = [cell if isinstance(cell, str) else h3.int_to_str(cell) for cell in cells]
        for cell, text in zip(cells, texts, strict=True):
            if not h3.is_valid_cell(text):
                raise BadTable("every place in a list must be an H3 cell", came=cell, remedy=remedy)
        centres = [h3.cell_to_latlng(cell) for cell in texts]
    except (ValueError, OverflowError):
        raise BadTable(
            "every place in a list must be an H3 cell", came="other text or numbers", remedy=remedy
        ) from None
    return PlaceTable(list(cells), _exact_positions(cells, centres), None, None, True)


def cell_steps(cells: Sequence[Any]) -> list[list[int]]:
    """Return the distances of H3 cells of one resolution, (n, n), as numbers of steps between neighbouring cells."""
    h3 = h3_package()
    texts = [cell if isinstance(cell, str) else h3.int_to_str(cell) for cell in cells]
    table = [[0] * len(texts) for _ in texts]
    try:
        for x, cell in enumerate(texts):
            for y, before in enumerate(texts[:x]):
                table[x][y] = table[y][x] = h3.grid_distance(cell, before)
    except h3.H3BaseException:
        raise NotAMetric(
            "H3 must be able to count the cells between any two of the cells",
            came="two cells for which it cannot",
            remedy='Pass metric="great-circle" for the distances of their centres.',
        ) from None
    return table


def h3_package() -> Any:
    """Import the package h3, version 4; raise Unsupported if it is not installed."""
    try:
        return import_module("h3")
    except ModuleNotFoundError:
        remedy = "Run: pip install h3."
        raise Unsupported("for H3 cells the package h3 must be installed", came="no module h3", remedy=remedy) from None


def places_of_network(network: Any, places: Sequence[Hashable], latitude: str, longitude: str) -> PlaceTable:
    """Return nodes of a road network as places; their coordinates are the node attributes named by ``latitude`` and
    ``longitude``, else the attributes y and x.
    """
    crs = getattr(network, "graph", {}).get("crs")
    for north, east in ((latitude, longitude), ("y", "x")):
        attributes = [network.nodes[node] for node in places]
        if all(north in facts and east in facts for facts in attributes):
            pairs = [(facts[north], facts[east]) for facts in attributes]
            in_degrees, metres = system(crs, projected_is_known=False)
            degrees = True if (north, east) == (latitude, longitude) and crs is None else in_degrees
            return PlaceTable(places, _exact_positions(places, pairs), None, crs, degrees, metres)
    return PlaceTable(places, None, None, crs)


def is_geometry(table: Any) -> bool:
    """Return whether the table is a GeoSeries or a GeoDataFrame."""
    return hasattr(table, "geom_type") and hasattr(table, "crs")


def planar_points(table: Any) -> tuple[list[Hashable], list[tuple[float, float]]]:
    """Return the labels and coordinates (x, y) of points in a plane, in the unit of their reference system."""
    points = _places_of_geometry(table, "")
    if points.in_degrees:
        remedy = "Use spaces.places, or convert with table.to_crs(...) to a projected system."
        raise Unsupported(
            "the coordinates of points must be lengths, such as metres", came="degrees", where="points", remedy=remedy
        )
    return list(points.labels), [(float(east), float(north)) for north, east in points.positions or ()]


def _places_of_geometry(table: Any, name: str) -> PlaceTable:
    """Return the places of a GeoSeries or GeoDataFrame, labelled by a column or the index. An area is replaced by a
    point inside.
    """
    geometry = table.geometry
    if bool((geometry.isna() | geometry.is_empty).any()):
        lacking = int((geometry.isna() | geometry.is_empty).sum())
        remedy = "Remove these rows: table[~table.geometry.isna() & ~table.geometry.is_empty]."
        raise BadTable("every place must have a geometry", came=f"{lacking} without one", remedy=remedy)
    spots = geometry if set(geometry.geom_type) <= {"Point"} else geometry.representative_point()
    labels = list(table[name]) if name in getattr(table, "columns", ()) else list(table.index)
    in_degrees, metres = system(table.crs)
    pairs = zip(plain_cells(spots.y), plain_cells(spots.x), strict=True)
    return PlaceTable(plain_cells(labels), _exact_positions(labels, pairs), table, table.crs, in_degrees, metres)


def system(crs: Any, projected_is_known: bool = True) -> tuple[bool | None, Fraction]:
    """Return whether a reference system is in degrees (None if unknown), and the length of its unit in metres."""
    if crs is None:
        return None, Fraction(1)
    if isinstance(crs, str):
        if crs.strip().lower() in _DEGREES:
            return True, Fraction(1)
        try:
            crs = import_module("pyproj").CRS.from_user_input(crs)
        except Exception:  # pyproj is not installed or does not know the system, so the unit is unknown
            return None, Fraction(1)
    if crs.is_geographic:
        return True, Fraction(1)
    if not crs.is_projected:
        if projected_is_known:
            remedy = "Convert the table with to_crs(4326), or to a projected system."
            raise Unsupported(
                "a reference system must be geographic or projected", came=str(crs.type_name), remedy=remedy
            )
        return None, Fraction(1)
    return False, exact(crs.axis_info[0].unit_conversion_factor)


def _exact_positions(labels: Any, pairs: Any) -> list[Coordinates]:
    positions = []
    for label, (north, east) in zip(labels, pairs, strict=True):
        try:
            positions.append((exact(north, "latitude"), exact(east, "longitude")))
        except NotANumber:
            raise BadTable(
                "every place must have a latitude and a longitude, both numbers",
                came=f"({north!r}, {east!r})",
                where=f"place {label!r}",
                remedy="Correct the coordinates, or remove the place.",
            ) from None
    if not positions:
        raise BadTable("places need at least one place", came="none", remedy="Pass a table with at least one row.")
    return positions


def check_on_earth(labels: Sequence[Hashable], positions: Sequence[Coordinates]) -> None:
    """Raise OutOfRange unless latitudes lie in -90..90 and longitudes in -180..360 degrees."""
    for label, (north, east) in zip(labels, positions, strict=True):
        if not (-90 <= north <= 90 and -180 <= east <= 360):
            raise OutOfRange(
                "a latitude must lie in -90..90 and a longitude in -180..360",
                came=f"({float(north)}, {float(east)})",
                where=f"place {label!r}",
                remedy='Put the latitude first. For coordinates in metres pass metric="metres".',
            )


def _file_columns(path: Path) -> Any:
    """Return the columns of a file. The cells of a CSV file stay text, so that a postal code keeps its leading
    zeros.
    """
    if path.suffix.lower() == ".geojson":
        # The columns of a GeoJSON file of points are its properties, id, latitude and longitude.
        collection = read_json(path, "a file of places must")
        features = collection.get("features") if isinstance(collection, dict) else None
        if not isinstance(features, list) or not features or "crs" in collection:
            came = "no FeatureCollection"
            if isinstance(features, list):
                came = "no feature" if not features else 'a member "crs"'
            raise BadTable(
                "GeoJSON must be a FeatureCollection of at least one feature, in degrees and without a crs",
                came=came,
                where=str(path),
                remedy="Write the file with geopandas: table.to_crs(4326).to_file(path), and remove an old crs member.",
            )
        rows = [_feature(feature, f"{path}, feature {at}") for at, feature in enumerate(features)]
        columns = dict.fromkeys(column for row in rows for column in row)
        return {column: [row.get(column) for row in rows] for column in columns}
    from utmost.tables.files import (
        files,
        small_tables,
    )  # imported only here, because this is slow and few spaces are read from files

    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return files.read(path)
    return small_tables.small_table(path, has_header=True).columns


def _feature(feature: Any, where: str) -> dict[str, Any]:
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    position = geometry.get("coordinates") if isinstance(geometry, dict) and geometry.get("type") == "Point" else None
    if not isinstance(position, list) or not all(isinstance(number, int | float) for number in position[:2]):
        came = geometry.get("type", "no type") if isinstance(geometry, dict) else "no geometry"
        remedy = "For areas, pass places(geopandas.read_file(...)), which takes a point inside each area."
        raise BadTable("every feature must be a point with coordinates", came=came, where=where, remedy=remedy)
    if len(position) < 2:
        came = f"{len(position)} coordinates"
        remedy = 'Write "coordinates": [longitude, latitude].'
        raise BadTable("a point must have a longitude and a latitude", came=came, where=where, remedy=remedy)
    properties = feature.get("properties") or {}
    if not isinstance(properties, dict):
        remedy = 'Write "properties": {"name": ...}.'
        raise BadTable("properties must be an object", came=type(properties).__name__, where=where, remedy=remedy)
    own = {"id": feature["id"]} if "id" in feature else {}
    return {**own, **properties, "latitude": position[1], "longitude": position[0]}
