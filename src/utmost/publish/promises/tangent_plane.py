"""Convert latitudes and longitudes to metres in a plane that touches the earth at a public place, and back."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, exact
from utmost.errors import BadTable, DegreesAsLengths, OutOfRange, warn

_A, _B = 6_378_137.0, 6_356_752.314245179  # the axes of WGS84, in metres
_SQUARED = np.array([_A * _A, _A * _A, _B * _B])
_DEGREES = frozenset({"lat", "latitude", "lon", "long", "lng", "longitude"})
_NO_TOWN = 100  # with a smaller `per`, coordinates up to 180 may be metres: there is no warning
_NEAR, _FAR = 1e-12, 1e9  # metres


class TangentPlane(Display):
    """The plane that touches the ellipsoid WGS84 at a place; positions are projected orthogonally onto this plane.

    No projection of the earth preserves all distances. This projection increases no distance: a straight line between
    two positions is at most as long as the path along the ground, and its projection at most as long as the line. So a
    mechanism with a level for each ``per`` metres in the plane has this level for each ``per`` metres on the ground,
    too, for all positions. At a distance d from the place, lengths are shorter by at most 1 - cos(d / 6 371 km): 0.012
    % at 100 km, 1.2 % at 1 000 km.

    Args:
        latitude, longitude: Coordinates of the place in degrees, chosen from public information, never from the data.

    Raises:
        OutOfRange: if a coordinate of the place is out of range.

    >>> paris = TangentPlane("48.86", "2.35")
    >>> homes = paris.project([48.8606, 48.8530], [2.3376, 2.3499])
    >>> homes.round().tolist(), paris.positions(homes).round(6).tolist()
    ([[-910.0, 67.0], [-7.0, -778.0]], [[48.8606, 2.3376], [48.853, 2.3499]])
    """

    __slots__ = ("_axes", "_latitude", "_longitude", "_place")

    def __init__(self, latitude: Number, longitude: Number) -> None:
        self._latitude, self._longitude = exact(latitude, "latitude"), exact(longitude, "longitude")
        if abs(self._latitude) > 90 or not -180 <= self._longitude <= 360:
            raise OutOfRange(
                "a place must have a latitude in -90..90 and a longitude in -180..360", came="other degrees"
            )
        north, east = np.radians([float(self._latitude), float(self._longitude)])
        up = _upwards(north, east)
        across = np.array([-np.sin(east), np.cos(east), 0.0])
        self._axes = np.stack([across, np.cross(up, across), up])
        self._place = _on_earth(north, east)

    @property
    def place(self) -> tuple[Fraction, Fraction]:
        """The point where the plane touches the earth: latitude and longitude in degrees."""
        return self._latitude, self._longitude

    def project(self, latitude: ArrayLike, longitude: ArrayLike) -> NDArray[np.float64]:
        """Convert positions to metres east and north of the place.

        Args:
            latitude, longitude: Coordinates in degrees, of equal shape.

        Returns:
            Array of the shape of the coordinates, with a last axis of 2 added. Rounding moves a position by less than
            10^-7 m.

        Raises:
            BadTable: if coordinates are invalid, or if a position is on the far side of the earth; the message shows no
                value. Since this error depends on the data, only the curator may see it.
        """
        if np.ma.is_masked(latitude) or np.ma.is_masked(longitude):
            raise BadTable("every position must have a latitude and a longitude", came="a position without one")
        try:
            degrees = np.broadcast_arrays(np.asarray(latitude, np.float64), np.asarray(longitude, np.float64))
        except (TypeError, ValueError, OverflowError):
            raise BadTable(
                "latitudes and longitudes must be numbers, as many of one as of the other", came="other values"
            ) from None
        north, east = degrees
        if not (np.isfinite(degrees).all() and (abs(north) <= 90).all() and ((east >= -180) & (east <= 360)).all()):
            raise BadTable("latitudes must be in -90..90 and longitudes in -180..360", came="other degrees")
        seen = (_on_earth(*np.radians(degrees)) - self._place) @ self._axes.T
        if (_upwards(*np.radians(degrees)) @ self._axes[2] <= 0).any():
            remedy = "Pass the latitude first, and make the plane around a place in the middle of the map."
            raise BadTable(
                "positions must be on the same side of the earth as the place of the plane",
                came="positions on the other side",
                remedy=remedy,
            )
        flat: NDArray[np.float64] = seen[..., :2]
        return flat

    def positions(self, points: ArrayLike) -> NDArray[np.float64]:
        """Convert points of the plane to the positions on the earth's surface above or below them.

        Args:
            points: Metres east and north, shape (..., 2), such as the answers of a `PlanarRelease`.

        Returns:
            Latitudes and longitudes in degrees, of the same shape. A point beyond the horizon is moved to the horizon.

        Raises:
            BadTable: if the points are not numbers, or if their last axis is not 2.
        """
        try:
            flat = np.asarray(points, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise BadTable(
                "points must be numbers in an array of the shape (..., 2)", came="other values", where="points"
            ) from None
        if flat.ndim == 0 or flat.shape[-1] != 2 or np.isnan(flat).any():
            raise BadTable(
                "points must be numbers in an array of the shape (..., 2)", came=str(flat.shape), where="points"
            )
        flat = np.where(abs(flat) < _NEAR, 0.0, np.clip(flat, -1e300, 1e300))  # smaller squares underflow
        flat = flat / np.maximum(
            1.0, abs(flat).max(axis=-1, keepdims=True) / _FAR
        )  # points that far are beyond the horizon
        away, up = flat @ self._axes[:2], self._axes[2]
        # (C + t W + u U)' A (C + t W + u U) = 1: a quadratic in u. Its discriminant is a quadratic in t, and is least
        # at the rim.
        uu, cu, wu = (up / _SQUARED) @ up, (self._place / _SQUARED) @ up, (away / _SQUARED) @ up
        cw, ww = (away / _SQUARED) @ self._place, ((away / _SQUARED) * away).sum(axis=-1)
        c2, c1, c0 = wu * wu - uu * ww, 2 * (cu * wu - uu * cw), cu * cu
        with np.errstate(divide="ignore", invalid="ignore"):
            rim = np.where(c2 < 0, (-c1 - np.sqrt(np.maximum(c1 * c1 - 4 * c2 * c0, 0))) / (2 * c2), np.inf)
        t = np.minimum(1.0, rim)
        u = (-(cu + t * wu) + np.sqrt(np.maximum(c2 * t * t + c1 * t + c0, 0))) / uu
        x, y, z = np.moveaxis(self._place + t[..., None] * away + u[..., None] * up, -1, 0)
        north = np.degrees(np.arctan2(z * _A * _A, np.hypot(x, y) * _B * _B))
        return np.stack([north, np.degrees(np.arctan2(y, x))], axis=-1)

    def __repr__(self) -> str:
        return f"TangentPlane({float(self._latitude)}, {float(self._longitude)})"


def check_lengths(columns: Sequence[str]) -> None:
    """Refuse columns of coordinates whose names say that they are degrees; the check reads no cell."""
    degrees = [name for name in columns if name.strip().casefold() in _DEGREES]
    if degrees:
        raise OutOfRange(
            "coordinates must be lengths in the unit of per=, not degrees",
            came=f"a column named {degrees[0]!r}",
            where="columns",
            remedy="Convert degrees to metres first: TangentPlane(latitude, longitude).project(...) around a public "
            "place, or to_crs() to a projected system; and name the columns east and north.",
        )


def warn_of_degrees(points: NDArray[Any], dimensions: int, per: Fraction) -> None:
    """Warn (DegreesAsLengths) if coordinates are all from -180 to 180, some fractional, and ``per`` is 100 or more."""
    # This warning depends on the data, like an error about a cell: only the curator may see it.
    if dimensions != 2 or per < _NO_TOWN or not points.size:
        return
    if bool((abs(points) <= 180).all()) and bool((points % 1 != 0).any()):
        said = (
            f"all coordinates are within 180, and epsilon is for a distance of {per}: if the coordinates are degrees, "
            "convert them to metres first, by TangentPlane(latitude, longitude).project(...) around a public place"
        )
        warn(said, DegreesAsLengths)


def _upwards(north: Any, east: Any) -> NDArray[np.float64]:
    """Return unit vectors orthogonal to the ground, given latitudes and longitudes in radians; shape (..., 3)."""
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=-1)


def _on_earth(north: Any, east: Any) -> NDArray[np.float64]:
    up = _upwards(north, east)
    found: NDArray[np.float64] = up * _SQUARED / np.sqrt((up * up) @ _SQUARED)[..., None]
    return found
