"""Places read from what people have: files and tables, dicts, GeoSeries and GeoDataFrames, H3 cells, road networks."""

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
"""Other common names of a column, which are looked for if the given name is missing."""
_OTHER_NAMES_IN_METRES = {
    "name": _OTHER_NAMES["name"],
    "latitude": ("northing", "north", "y"),
    "longitude": ("easting", "east", "x"),
}
"""The same where coordinates are declared to be metres."""


@dataclass(frozen=True, slots=True)
class PlaceTable:
    """Labels and positions, before any distance is taken.

    Attributes:
        labels: Label of each place.
        positions: Latitude and longitude, or northing and easting; None where a network's nodes have none.
        table: Table of the places, from which rows can be selected; None if there is none.
        crs: Reference system of a GeoDataFrame or a network, if any.
        in_degrees: Whether positions are latitudes and longitudes; None where nothing says so.
        metres: Number of metres of one unit of a projected system.
    """

    labels: Sequence[Hashable]
    positions: list[Coordinates] | None
    table: Any = None
    crs: Any = None
    in_degrees: bool | None = None
    metres: Fraction = Fraction(1)


def places_of_table(table: Any, name: str, latitude: str, longitude: str, *, in_metres: bool = False) -> PlaceTable:
    """The places of a table of any kind but a network.

    Args:
        table: Table of places; its columns may have other names.
        name, latitude, longitude: Columns.
        in_metres: Whether the two columns are northing and easting.

    Raises:
        BadTable: for a missing column, no place at all, and coordinates that are missing or no numbers.
    """
    if isinstance(table, str | Path):
        table = _file_columns(table if isinstance(table, Path) else Path(table))
    for column in (name, latitude, longitude):
        if not isinstance(column, Hashable):
            raise WrongKind("a column must have a name", came=type(column).__name__, where="places")
    if hasattr(table, "crs") and hasattr(table, "geometry"):
        return _places_of_geometry(table, name)
    other_names = _OTHER_NAMES_IN_METRES if in_metres else _OTHER_NAMES
    if isinstance(table, Mapping) and not ({latitude, longitude} <= set(table) or _are_columns(table, other_names)):
        # A dict from each name to its latitude and longitude.
        for label, pair in table.items():
            if isinstance(pair, str | bytes | Mapping) or not hasattr(pair, "__len__") or len(pair) != 2:
                remedy = "Pass {name: (latitude, longitude)}; or columns, which name=, latitude= and longitude= name."
                required = "a dict of places must have a latitude and a longitude for each name"
                raise BadTable(required, came=f"something else under {str(label)!r}", remedy=remedy)
        return PlaceTable(list(table), _exact_positions(list(table), [tuple(pair) for pair in table.values()]))
    adapter = adapter_of(table)
    names = adapter.names(table)
    columns = {"name": name, "latitude": latitude, "longitude": longitude}
    name, latitude, longitude = (_column(what, column, names, other_names[what]) for what, column in columns.items())
    labels, north, east = (plain_cells(adapter.column(table, column)) for column in (name, latitude, longitude))
    return PlaceTable(labels, _exact_positions(labels, zip(north, east, strict=True)), table)


def _are_columns(table: Mapping[Any, Any], other_names: Mapping[str, Sequence[str]]) -> bool:
    """Whether a dict holds columns that people call name, latitude and longitude, rather than a pair for each name."""
    named = {str(key).strip().casefold() for key in table}
    return all(not named.isdisjoint({what, *other_names[what]}) for what in other_names) and not all(
        map(_is_pair, table.values())
    )


def _is_pair(value: Any) -> bool:
    """Whether this can be a latitude and a longitude."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__") or len(value) != 2:
        return False
    try:
        return all(exact(number) is not None for number in value)
    except NotANumber:
        return False


def _column(what: str, column: str, names: Sequence[str], others: Sequence[str]) -> str:
    """The column that was asked for, or one that people call so; by its name, whatever its case.

    Raises:
        BadTable: where there is none, saying which argument names it.
    """
    if column in names:
        return column
    matches = [known for known in names if known.strip().casefold() in (what, *others)] if column == what else []
    if len(matches) == 1:
        return matches[0]
    came = f"{' and '.join(map(repr, matches))}" if matches else f"none of {len(names)} columns named so"
    raise BadTable(f"places need a column {column!r}", came=came, where="places", remedy=f"Pass {what}=, its name.")


def is_cells(table: Any) -> bool:
    """Whether something is a list of H3 cells: text or integers."""
    if not isinstance(table, Sequence) or isinstance(table, str | bytes) or not table:
        return False
    return all(isinstance(cell, str) or (isinstance(cell, int) and not isinstance(cell, bool)) for cell in table)


def places_of_cells(cells: Sequence[Any]) -> PlaceTable:
    """H3 cells at their centres, see `cell_steps` for the distances along the cells."""
    h3 = h3_package()
    try:
        texts = [cell if isinstance(cell, str) else h3.int_to_str(cell) for cell in cells]
        if not all(map(h3.is_valid_cell, texts)):
            raise BadTable("every cell must be an H3 cell", came="another")
        centres = [h3.cell_to_latlng(cell) for cell in texts]
    except (ValueError, OverflowError):
        raise BadTable("every cell must be an H3 cell", came="another") from None
    return PlaceTable(list(cells), _exact_positions(cells, centres), None, None, True)


def cell_steps(cells: Sequence[Any]) -> list[list[int]]:
    """The distances of H3 cells of one resolution, in cells.

    Raises:
        NotAMetric: where H3 cannot say: cells of two resolutions, too far apart, or around a pentagon.
    """
    h3 = h3_package()
    texts = [cell if isinstance(cell, str) else h3.int_to_str(cell) for cell in cells]
    table = [[0] * len(texts) for _ in texts]
    try:
        for x, cell in enumerate(texts):
            for y, before in enumerate(texts[:x]):
                table[x][y] = table[y][x] = h3.grid_distance(cell, before)
    except h3.H3BaseException:
        raise NotAMetric(
            "H3 must know how many cells are between any two",
            came="two for which it does not",
            remedy='Pass metric="great-circle" for the distances of their centres.',
        ) from None
    return table


def h3_package() -> Any:
    """The package h3, version 4.

    Raises:
        Unsupported: where it is not installed.
    """
    try:
        return import_module("h3")
    except ModuleNotFoundError:
        remedy = "Install it with: pip install h3."
        raise Unsupported("cells need the package h3", came="no module h3", remedy=remedy) from None


def places_of_network(network: Any, places: Sequence[Hashable], latitude: str, longitude: str) -> PlaceTable:
    """The nodes of a road network; with the positions that they carry, by these attributes or as y and x."""
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
    """Whether something is a GeoSeries or a GeoDataFrame."""
    return hasattr(table, "geom_type") and hasattr(table, "crs")


def planar_points(table: Any) -> tuple[list[Hashable], list[tuple[float, float]]]:
    """The index and the coordinates (x, y) of points in a plane, in the unit of their reference system.

    Raises:
        Unsupported: for coordinates in degrees.
        BadTable: for a place without geometry.
    """
    points = _places_of_geometry(table, "")
    if points.in_degrees:
        remedy = "Take spaces.places, or table.to_crs(...) to a projected system."
        raise Unsupported("points in a plane need lengths", came="degrees", where="points", remedy=remedy)
    return list(points.labels), [(float(east), float(north)) for north, east in points.positions or ()]


def _places_of_geometry(table: Any, name: str) -> PlaceTable:
    """A GeoSeries by its index, a GeoDataFrame by a column of names if it has it; areas stand at a point in them."""
    geometry = table.geometry
    if bool((geometry.isna() | geometry.is_empty).any()):
        raise BadTable("every place must have a geometry", came="one without")
    spots = geometry if set(geometry.geom_type) <= {"Point"} else geometry.representative_point()
    labels = list(table[name]) if name in getattr(table, "columns", ()) else list(table.index)
    in_degrees, metres = system(table.crs)
    pairs = zip(plain_cells(spots.y), plain_cells(spots.x), strict=True)
    return PlaceTable(plain_cells(labels), _exact_positions(labels, pairs), table, table.crs, in_degrees, metres)


def system(crs: Any, projected_is_known: bool = True) -> tuple[bool | None, Fraction]:
    """Whether a reference system is in degrees, and how many metres its unit is otherwise."""
    if crs is None:
        return None, Fraction(1)
    if isinstance(crs, str):
        if crs.strip().lower() in _DEGREES:
            return True, Fraction(1)
        try:
            crs = import_module("pyproj").CRS.from_user_input(crs)
        except Exception:  # no such package, or no such system: the positions stay without meaning
            return None, Fraction(1)
    if crs.is_geographic:
        return True, Fraction(1)
    if not crs.is_projected:
        if projected_is_known:
            raise Unsupported("a reference system must be geographic or projected", came=str(crs.type_name))
        return None, Fraction(1)
    return False, exact(crs.axis_info[0].unit_conversion_factor)


def _exact_positions(labels: Any, pairs: Any) -> list[Coordinates]:
    positions = []
    for label, (north, east) in zip(labels, pairs, strict=True):
        try:
            positions.append((exact(north, "latitude"), exact(east, "longitude")))
        except NotANumber:
            raise BadTable(
                "every place must have a latitude and a longitude", came="none", where=f"place {label!r}"
            ) from None
    if not positions:
        raise BadTable("places must be at least one", came="none")
    return positions


def check_on_earth(labels: Sequence[Hashable], positions: Sequence[Coordinates]) -> None:
    """Check latitudes and longitudes.

    Raises:
        OutOfRange: for a latitude beyond a pole, and a longitude beyond once around.
    """
    for label, (north, east) in zip(labels, positions, strict=True):
        if not (-90 <= north <= 90 and -180 <= east <= 360):
            raise OutOfRange(
                "a latitude must lie in -90..90 and a longitude in -180..360",
                came=f"({float(north)}, {float(east)})",
                where=f"place {label!r}",
                remedy='Latitude comes first. Coordinates in metres need metric="metres".',
            )


def _file_columns(path: Path) -> Any:
    """The columns of a file: text as it stands in CSV, so that a postal code keeps its zeros."""
    if path.suffix.lower() == ".geojson":
        # The points of a GeoJSON file as columns: the members of their properties, ``id``, latitude and
        # longitude.
        collection = read_json(path, "a file of places must")
        features = collection.get("features") if isinstance(collection, dict) else None
        if not isinstance(features, list) or not features or "crs" in collection:
            came = "another" if isinstance(features, list) else "no FeatureCollection"
            raise BadTable(
                "GeoJSON must be a collection of features, in degrees and without a crs", came=came, where=str(path)
            )
        rows = [_feature(feature, f"{path}, feature {at}") for at, feature in enumerate(features)]
        columns = dict.fromkeys(column for row in rows for column in row)
        return {column: [row.get(column) for row in rows] for column in columns}
    from utmost.tables.files import files, small_tables  # which load much, and few spaces come from files

    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return files.read(path)
    return small_tables.small_table(path, has_header=True).columns


def _feature(feature: Any, where: str) -> dict[str, Any]:
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    position = geometry.get("coordinates") if isinstance(geometry, dict) and geometry.get("type") == "Point" else None
    if not isinstance(position, list) or not all(isinstance(number, int | float) for number in position[:2]):
        remedy = "For areas, pass places(geopandas.read_file(...)): it takes a point in each."
        raise BadTable("every feature must be a point", came="another", where=where, remedy=remedy)
    if len(position) < 2:
        raise BadTable("a point must have a longitude and a latitude", came=len(position), where=where)
    properties = feature.get("properties") or {}
    if not isinstance(properties, dict):
        raise BadTable("properties must have names", came=type(properties).__name__, where=where)
    own = {"id": feature["id"]} if "id" in feature else {}
    return {**own, **properties, "latitude": position[1], "longitude": position[0]}
