"""Degrees as metres in a plane: no length increases, positions come back, and degrees that look like lengths cause a
warning."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import BadTable, DegreesAsLengths, OutOfRange
from utmost.ledger import Ledger
from utmost.releases import PlanarRelease, TangentPlane

PLACES = st.tuples(st.floats(-89.9, 89.9), st.floats(-180, 180))


def geodesic(one, other):
    """The length of the shortest path on WGS84, by another library."""
    pyproj = pytest.importorskip("pyproj")
    return pyproj.Geod(ellps="WGS84").inv(one[1], one[0], other[1], other[0])[2]


@given(PLACES, st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=2))
def test_no_length_grows_and_near_ones_hardly_shrink(place, offsets):
    """Compared with pyproj: two projected points are at most as far apart as on the ground, to 10^-7 m."""
    plane = TangentPlane(*place)
    (one, other) = ((max(-90, min(90, place[0] + d)), place[1] + e) for d, e in offsets)
    one, other = ((lat, (lon + 180) % 360 - 180) for lat, lon in (one, other))
    apart = float(np.linalg.norm(np.subtract(*plane.project(*zip(one, other, strict=True)))))
    ground = geodesic(one, other)
    assert apart <= ground + 2e-7
    farthest = max(geodesic(place, one), geodesic(place, other))
    assert apart >= ground * (math.cos(1.01 * farthest / 6_335_000)) - 1e-6


@example((45, -46.04359), [(-1.8e-145, -5.8e-144)])  # what vanishes when it is squared
@given(PLACES, st.lists(st.tuples(st.floats(-3e6, 3e6), st.floats(-3e6, 3e6)), min_size=1, max_size=5))
def test_positions_come_back(place, points):
    plane = TangentPlane(*place)
    positions = plane.positions(points)
    assert np.allclose(plane.project(*positions.T), points, atol=1e-4)


def test_beyond_the_horizon_is_the_horizon():
    plane = TangentPlane(0, 0)
    far = plane.positions([[1e9, 0], [0, -1e9], [0, 0]])
    assert far[0] == pytest.approx([0, 90], abs=1e-3)
    assert far[1] == pytest.approx([-90, 0], abs=1e-3)
    assert far[2] == pytest.approx([0, 0])


def test_an_answer_in_metres_is_a_position_again():
    """The error in the plane is the error on the ground, here some hundred metres at epsilon 1 for 10 m."""
    paris = TangentPlane("48.86", "2.35")
    home = (48.8606, 2.3376)
    release = PlanarRelease([paris.project(*home)], per=10)
    found = paris.positions(release.at(epsilon=1))[0]
    assert geodesic(home, found) == pytest.approx(
        float(np.linalg.norm(release.at(epsilon=1)[0] - paris.project(*home))), rel=1e-3
    )


@pytest.mark.parametrize(
    "bad", [(91, 0), (0, 181 + 180), (float("nan"), 0), ("x", 0), (48.86, None), ([1, 2], [1, 2, 3])]
)
def test_what_is_no_position_is_refused_and_not_quoted(bad):
    with pytest.raises(BadTable) as refused:
        TangentPlane(48, 2).project(*bad)
    assert "91" not in str(refused.value)


def test_what_is_no_point_is_refused_and_the_far_ones_come_to_the_horizon():
    plane = TangentPlane(48, 2)
    for wrong in ("a", [[1, 2], [3]], [1j, 2], (10**400, 0), (float("nan"), 0)):
        with pytest.raises(BadTable):
            plane.positions(wrong)
    for masked in (np.ma.array([48.0, 47.0], mask=[0, 1]), [10**400, 1]):
        with pytest.raises(BadTable):
            plane.project(masked, [2.0, 2.0])
    east = plane.positions((1e9, 0))
    assert plane.positions((1e200, 0)) == pytest.approx(east)
    assert plane.positions((float("inf"), 0)) == pytest.approx(east)


def test_the_far_side_of_the_earth_is_refused():
    with pytest.raises(BadTable, match="the earth"):
        TangentPlane(48.86, 2.35).project(-33.9, 151.2)
    with pytest.raises(OutOfRange):
        TangentPlane(100, 0)
    with pytest.raises(BadTable, match="shape"):
        TangentPlane(0, 0).positions([1, 2, 3])


def test_degrees_that_pass_for_lengths_are_told(tmp_path):
    """By the names of their columns, or otherwise by their size."""
    with pytest.warns(DegreesAsLengths, match="TangentPlane"):
        PlanarRelease([[48.86, 2.33]], per=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PlanarRelease([[48.86, 2.33]], per=1)  # kilometres, or a unit square
        PlanarRelease([[0, 0], [1, 2]], per=200)
        PlanarRelease([[651_300.0, 6_861_200.5]], per=200)
    table = {"lat": [48.86, 48.87], "lng": [2.33, 2.34]}
    with pytest.raises(OutOfRange, match="named 'lat'"):
        ut.release(table, ut.Promise(["lat", "lng"], noise=ut.PointNoise(200)), epsilon=1, once=True)
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        with pytest.raises(OutOfRange, match="must be lengths"):
            ledger.publish("homes", table, ut.Promise(columns=["lat", "lng"], noise=ut.PointNoise(200)), epsilon=1)
        assert ledger.releases == ()
