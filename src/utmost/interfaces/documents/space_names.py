"""Read spaces from text (``grid:4x4``, ``line:6``, or a file); write and read them as JSON values.

========================  =============================================================================
``line:6``                6 secrets in a row, each at distance 1 from the next
``counts:5``              the counts 0..5: the same space as ``line:6``
``discrete:3``            3 secrets, all equally far apart
``cycle:7``               7 secrets around a circle
``hamming:4``             all strings of 4 bits
``grid:4x4``              the points of a lattice, Euclidean
``manhattan:4x4``         the same points, Manhattan
``places:towns.csv``      labelled places: columns name, latitude, longitude; others as ``places:towns.csv:town,y,x``
``graph:roads.csv``       the nodes of a graph: a row for each edge: two ends and, optionally, its length
``distances:table.csv``   any metric: a row and a column of distances for each secret
``graph:roads.csv:min``   a graph or a table of distances, with their unit
========================  =============================================================================
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.core.exact.numbers import exact, natural
from utmost.core.exact.surds import Surd
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.distance_units import is_unit, unit_named
from utmost.design.spaces.families import (
    DiscreteMetric,
    EuclideanGridMetric,
    HammingMetric,
    LineMetric,
    ManhattanGridMetric,
    counts,
    cycle,
    discrete,
    grid,
    hamming,
)
from utmost.design.spaces.geography import Geography, Places, check_geography, measured, places
from utmost.design.spaces.graphs import graph
from utmost.design.spaces.space import Space, TableMetric
from utmost.errors import BadTable, NotAMetric, NotANumber, OutOfRange
from utmost.tables.files.small_tables import number_rows, small_table

_FILES = (".csv", ".tsv", ".txt")


def space_named(text: str) -> Space:
    """Return the space that a text such as ``grid:4x4`` names; a file name without a kind is a graph."""
    kind, separator, rest = text.strip().partition(":")
    if not separator and Path(text).suffix.lower() in _FILES:
        kind, rest = "graph", text.strip()
    read = SPACE_READERS.get(kind.lower())
    if read is None or not rest:
        raise OutOfRange(
            "--space must be KIND:SIZE, such as grid:4x4",
            came=text,
            remedy=f"The kinds are {', '.join(SPACE_READERS)}.",
        )
    return read(rest)


def secret_names(space: Space) -> list[str]:
    """Return the names of the secrets as text; refuse equal names."""
    names = [str(label) for label in space.labels]
    if len(set(names)) != len(names):
        raise BadTable("secrets must have different names as text", came=", ".join(names))
    return names


def space_facts(space: Space) -> dict[str, Any]:
    """Return a space as JSON values, which `stated_space` reads; exact distances are text."""
    match space.metric if space.names is None else TableMetric.trusted(space.metric.length_table()):
        case LineMetric(n):
            return {"kind": "counts", "sizes": [n]}
        case DiscreteMetric(k):
            return {"kind": "discrete", "sizes": [k]}
        case HammingMetric(bits):
            return {"kind": "hamming", "sizes": [bits]}
        case EuclideanGridMetric(rows, cols):
            return {"kind": "grid", "sizes": [rows, cols]}
        case ManhattanGridMetric(rows, cols):
            return {"kind": "manhattan", "sizes": [rows, cols]}
    distances = [[_distance_fact(d) for d in row] for row in space.metric.length_table().tolist()]
    labels = [label if isinstance(label, int | str) else str(label) for label in space.labels]
    if isinstance(space, Places):
        # Positions are exact, so they are written as text.
        positions = (
            None
            if space.geography.positions is None
            else [[str(north), str(east)] for north, east in space.geography.positions]
        )
        return {
            "kind": "places",
            "unit": space.geography.unit,
            "metric": space.geography.way,
            "rounded": str(space.geography.rounded),
            "in_degrees": space.geography.in_degrees,
            "crs": None if space.geography.crs is None else str(space.geography.crs),
            "metres": str(space.geography.metres),
            "positions": positions,
            "distances": distances,
            "labels": labels,
        }
    return {"kind": "distances", "distances": distances, "labels": labels}


def stated_space(facts: Mapping[str, Any]) -> Space:
    """Read a space from the JSON values of `space_facts`."""
    try:
        if facts["kind"] == "places":
            # Read the places of `space_facts`; measure distances again, but not road distances.
            labels, positions = tuple(facts["labels"]), facts["positions"]
            if positions is not None and [len(pair) for pair in positions] != [2] * len(labels):
                raise BadTable("every place must have a position", came=f"{len(positions)}", where="space")
            exactly = None if positions is None else tuple((exact(north), exact(east)) for north, east in positions)
            rounded, metres = exact(facts["rounded"]), exact(facts["metres"])
            where = Geography(
                facts["unit"], facts["metric"], exactly, facts["in_degrees"], None, facts["crs"], rounded, metres
            )
            check_geography(where)
            stated = [[_read_distance(d) for d in row] for row in facts["distances"]]
            if where.way == "roads":
                return Places(TableMetric(stated), labels, where)
            space = Places(measured(labels, where), labels, where)
            own = [[_distance_fact(d) for d in row] for row in space.metric.length_table().tolist()]
            if facts["distances"] != own:
                required = f"distances of places must be the distances of their positions, in {where.unit}"
                raise BadTable(required, came="other distances", where="space")
            return space
        if facts["kind"] == "distances":
            return Space([[_read_distance(d) for d in row] for row in facts["distances"]], facts["labels"])
        return SIZED[facts["kind"]](*facts["sizes"])
    except (KeyError, TypeError, NotANumber) as error:
        raise BadTable("a space must have a kind and sizes, or distances", came=repr(error), where="space") from None


def graph_file(path: Path) -> Space:
    """Read a graph: each row has two ends and optionally a length; a header row is optional."""
    # The first row is a header if its third cell is no number, or if its cells are "from" and "to", "source" and
    # "target", or "u" and "v". Ends that are all integers are read as numbers.
    try:
        return graph(_edges(path))
    except NotAMetric as error:
        raise NotAMetric(error.required, came=error.came, where=str(path), remedy=error.remedy) from None


def edges_file(path: Path) -> list[tuple[Any, ...]]:
    """Return the two ends of each edge in a graph file, without lengths."""
    return [edge[:2] for edge in _edges(path)]


def _edges(path: Path) -> list[tuple[Any, ...]]:
    table = small_table(path)
    rows = table.rows
    if rows:
        first = rows[0][1]
        has_word = len(first) == 3 and not table.is_number(first[2])
        named = [cell.lower() for cell in first[:2]]
        if has_word or named in (["from", "to"], ["source", "target"], ["u", "v"]):
            rows = rows[1:]
    for line, row in rows:
        if len(row) not in (2, 3) or not all(row):
            raise BadTable(
                "an edge must be two nodes and optionally a length",
                came=f"{len(row)} cells, or an empty cell",
                where=f"{path}, line {line}",
                remedy="Write A,B or A,B,2.",
            )
    if not rows:
        raise BadTable(
            "the file must contain edges",
            came="none",
            where=str(path),
            remedy="Write one edge in each line: A,B or A,B,2.",
        )
    are_numbers = all(end.isascii() and end.isdigit() for _, row in rows for end in row[:2])
    return [(*(map(int, row[:2]) if are_numbers else row[:2]), *map(table.spelled, row[2:])) for _, row in rows]


def _distances_file(path: Path) -> Space:
    try:
        return Space(number_rows(path))
    except NotAMetric as error:
        raise NotAMetric(error.required, came=error.came, where=str(path), remedy=error.remedy) from None


def _with_unit(text: str, read: Callable[[Path], Space]) -> Space:
    """Read a space from a file name that may end in a colon and the unit of distances."""
    path, separator, unit = text.rpartition(":")
    if not separator or not is_unit(unit):
        return read(Path(text))
    space = read(Path(path))
    table = TableMetric.trusted(space.metric.length_table())
    return Places(table, tuple(space.labels), Geography(unit_named(unit), "roads", None))


def _places_file(text: str) -> Space:
    """Read places from a file name that may end in a colon and the names of its three columns."""
    path, separator, columns = text.rpartition(":")
    if not separator or "," not in columns:
        return _places(text)
    names = [name.strip() for name in columns.split(",")]
    if len(names) != 3 or not all(names):
        raise OutOfRange("places need three columns: names, latitudes and longitudes", came=columns, remedy=_COLUMNS)
    return _places(path, name=names[0], latitude=names[1], longitude=names[2])


_COLUMNS = "Write --space places:towns.csv:name,lat,lon, with the names of your columns."


def _places(file: str, name: str = "name", latitude: str = "latitude", longitude: str = "longitude") -> Space:
    """Read places; an error names the option ``--space``, and not the arguments of `places`."""
    try:
        return places(file, name=name, latitude=latitude, longitude=longitude)
    except BadTable as error:
        if not error.required.startswith("places need a column"):
            raise
        raise BadTable(error.required, came=error.came, where=error.where, remedy=_COLUMNS) from None


def _grid_reader(metric: Any) -> Callable[[str], Space]:
    def read(text: str) -> Space:
        parts = text.lower().split("x")
        if len(parts) != 2:
            raise OutOfRange("a grid must be ROWSxCOLUMNS", came=text, remedy="Write, for example, 4x4.")
        rows, cols = (natural(part.strip(), "the side of a grid", least=1) for part in parts)
        return grid(rows, cols, metric)

    return read


SIZED: dict[str, Callable[..., Space]] = {
    "counts": counts,
    "discrete": discrete,
    "hamming": hamming,
    "grid": grid,
    "manhattan": lambda rows, cols: grid(rows, cols, "manhattan"),
}
"""Kinds of spaces that sizes describe completely."""

SPACE_READERS: dict[str, Callable[[str], Space]] = {
    "line": lambda text: counts(natural(text, "the length of a line", least=1) - 1),
    "counts": lambda text: counts(natural(text, "the largest count")),
    "discrete": lambda text: discrete(natural(text, "the number of secrets", least=1)),
    "cycle": lambda text: cycle(natural(text, "the length of a cycle", least=1)),
    "hamming": lambda text: hamming(natural(text, "the number of bits", least=1)),
    "grid": _grid_reader("euclidean"),
    "manhattan": _grid_reader("manhattan"),
    "places": _places_file,
    "graph": lambda text: _with_unit(text, graph_file),
    "distances": lambda text: _with_unit(text, _distances_file),
}
"""Functions, by kind, that read a space from the text after the kind."""


def _distance_fact(d: Any) -> Any:
    """Return the JSON value of a distance: a number, a rational as text, a surd as its terms."""
    if isinstance(d, Surd):
        return [[radicand, str(coefficient)] for radicand, coefficient in d.terms]
    return str(d) if isinstance(d, Fraction) else d


def _read_distance(d: Any) -> Any:
    if isinstance(d, list):
        return sum((Surd.sqrt(radicand) * exact(coefficient) for radicand, coefficient in d), Surd.of(0))
    return d


def distances_words(space: Space) -> str | None:
    """Return in words how the distances of places were measured; None for a space without a unit."""
    if not isinstance(space, Places):
        return None
    where = space.geography
    if where.way == "roads":
        return f"in {where.unit}, along roads, as stated: no position shows them"
    how = {"great-circle": "along great circles", "geodesic": "along the ellipsoid", "metres": "in the plane"}
    by = "from cell to cell" if where.way == "cells" else f"in {where.unit}, {how[where.way]}"
    step = "" if where.way == "cells" else f" and rounded down to {where.rounded} {where.unit}"
    return f"{by}, measured{step}"


def type_facts(ptype: PrivacyType) -> dict[str, Any]:
    """Return a privacy type as JSON values: its space and its level."""
    return {"space": space_facts(ptype.space), **level_facts(ptype.level)}


def stated_type(facts: Mapping[str, Any]) -> PrivacyType:
    """Read a privacy type from the JSON values of `type_facts`."""
    return PrivacyType(stated_space(facts["space"]), level_from_facts(facts))
