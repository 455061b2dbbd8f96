"""Places with labels: their distances are metrics exactly, and never above the distances that they stand for."""

import json
import math
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import BadTable, NotAMetric, OutOfRange, UtmostError
from utmost.spaces import Space, distance_in, places

SMALLEST_RADIUS = 6_335_439
"""The smallest radius of curvature of the ellipsoid WGS84, in whole metres."""

NORDIC = {"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32), "Hamar": (60.79, 11.07), "Tromsø": (69.65, 18.96)}

coordinates = st.tuples(
    st.integers(-9000, 9000).map(lambda c: Fraction(c, 100)), st.integers(-18000, 18000).map(lambda c: Fraction(c, 100))
)


def spot(point):
    """One point of the earth by one spelling."""
    latitude, longitude = point
    return latitude, 0 if abs(latitude) == 90 else longitude % 360


def haversine(p, q, radius=float(SMALLEST_RADIUS)):
    """The textbook's formula in floats."""
    (a, b), (c, d) = (tuple(map(math.radians, map(float, point))) for point in (p, q))
    h = math.sin((a - c) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((b - d) / 2) ** 2
    return 2 * radius * math.asin(min(1.0, math.sqrt(h)))


@given(st.lists(coordinates, min_size=1, max_size=7, unique_by=spot))
def test_distances_on_the_earth_are_a_metric_exactly_and_not_above_the_arcs(points):
    """d is symmetric, positive, keeps every triangle as integers, and D - n - 1 < d <= D for the great circles D."""
    space = places({f"p{k}": point for k, point in enumerate(points)})
    table = space.distances
    Space(table)  # checks the axioms on integers
    assert table.dtype == np.int64
    for x, p in enumerate(points):
        for y, q in enumerate(points):
            arc = haversine(p, q)
            assert table[x, y] <= arc + 0.2  # near the antipode the textbook's formula is off by that much
            assert table[x, y] > arc - len(points) - 0.2 or x == y


@given(
    st.lists(st.tuples(st.integers(-500, 500), st.integers(-500, 500)), min_size=1, max_size=7, unique=True),
    st.sampled_from(["1 m", "1/10 m", "7 cm"]),
)
def test_distances_in_the_plane_are_a_metric_and_not_above_the_roots(points, rounded):
    """For d in steps s: (d)^2 <= D^2 exactly, as rationals, and every triangle holds."""
    table = {"name": [str(k) for k in range(len(points))], "y": [p[0] for p in points], "x": [p[1] for p in points]}
    space = places(table, latitude="y", longitude="x", metric="metres", rounded=rounded)
    Space(space.distances)
    step = distance_in(rounded, "m")
    for x, (a, b) in enumerate(points):
        for y, (c, d) in enumerate(points):
            length, square = space.length(x, y), (a - c) ** 2 + (b - d) ** 2
            assert length**2 <= square
            assert (length + len(points) * step) ** 2 > square
            assert (length / step).denominator == 1


def test_rounding_alone_would_break_triangles_and_the_closure_keeps_them():
    """Three points in a row at 1.5 m: floors are 1, 1 and 3, which is no metric; the closure is 1, 1 and 2."""
    space = places(
        {"name": list("abc"), "y": ["0", "1.5", "3"], "x": [0, 0, 0]}, latitude="y", longitude="x", metric="metres"
    )
    assert space.distances.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    with pytest.raises(NotAMetric):
        Space([[0, 1, 3], [1, 0, 1], [3, 1, 0]])


def test_the_antimeridian_and_the_poles_are_no_edges_of_the_earth():
    """179.9 E and 179.9 W are neighbours; at a pole longitudes mean nothing; 190 E is 170 W."""
    space = places({"Fiji": (-17, "179.9"), "east": (-17, "-179.9"), "pole": (90, 77), "near": ("89.999", -103)})
    assert space.distances[0, 1] == pytest.approx(haversine((-17, 179.9), (-17, -179.9)), abs=1.1)
    assert space.distances[0, 1] < 22_000
    assert space.distances[2, 3] == 110
    one, other = (places({"a": (10, 20), "b": (-10, east)}).distances for east in (190, -170))
    assert (one == other).all()
    assert places({"n": (90, 0), "s": (-90, 123)}).distances[0, 1] == math.floor(math.pi * SMALLEST_RADIUS)


@pytest.mark.parametrize(
    "given",
    [
        {"a": (10, 20), "b": (10, 20)},
        {"a": (90, 0), "b": (90, 50)},
        {"a": (0, 180), "b": (0, -180)},
        {"a": (10, 20), "b": (10, "20.000001")},
    ],
)
def test_places_that_are_one_point_are_named_and_refused(given):
    with pytest.raises(NotAMetric, match="'a' and 'b'"):
        places(given)


def test_one_place_is_a_space():
    alone = places({"here": (1, 2)})
    assert alone.distances.tolist() == [[0]]
    assert alone.nearest(50, 50, reach=math.inf) == "here"


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ({"name": ["a", "b"], "latitude": [1, None], "longitude": [2, 3]}, BadTable),
        ({"name": ["a", "b"], "latitude": [1, math.nan], "longitude": [2, 3]}, BadTable),
        ({"name": ["a"], "latitude": [1], "longitude": ["west"]}, BadTable),
        ({"name": ["a", "a"], "latitude": [1, 2], "longitude": [2, 3]}, NotAMetric),
        ({"town": ["a"], "latitude": [1], "longitude": [2]}, BadTable),
        ({"a": (91, 0)}, OutOfRange),
        ({"a": (0, 361)}, OutOfRange),
        ({"a": (1, 2, 3)}, BadTable),
        ({"a": 3}, BadTable),
        ({}, BadTable),
        ({"name": [], "latitude": [], "longitude": []}, BadTable),
        (7, BadTable),
        (None, BadTable),
        ([], UtmostError),
    ],
)
def test_tables_without_places_are_refused_by_type(table, error):
    with pytest.raises(error):
        places(table)


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "roads"},
        {"metric": "cells"},
        {"metric": "miles"},
        {"unit": "min"},
        {"rounded": 0},
        {"rounded": "1 min"},
    ],
)
def test_a_metric_and_a_unit_must_go_with_the_table(options):
    with pytest.raises(UtmostError):
        places(NORDIC, **options)


def test_kilometres_are_the_same_distances():
    metres, kilometres = places(NORDIC), places(NORDIC, unit="km")
    assert (metres.distances == kilometres.distances * 1000).all()
    coarse = places(NORDIC, unit="km", rounded="10 km")
    assert all(d % 10 == 0 for d in coarse.distances.flat)
    assert (coarse.distances <= kilometres.distances).all()
    near = ut.PrivacyType(metres, "ln 2 per 50 km").level.scaled(1000)
    assert near == ut.PrivacyType(kilometres, "ln 2 per 50 km").level


def test_a_file_keeps_the_zeros_of_its_names(tmp_path):
    """Postal codes are text; other column names are named; other columns can be asked for."""
    path = tmp_path / "codes.csv"
    path.write_text("code,lat,lon,people\n01000,46.2,5.2,7\n02000,49.5,3.6,9\n", encoding="utf-8")
    space = places(path, name="code", latitude="lat", longitude="lon")
    assert space.labels == ("01000", "02000")
    assert ut.priors.from_counts(space.column("people")).tolist() == [Fraction(7, 16), Fraction(9, 16)]
    assert space.locate("02000") == {"code": ["02000"], "lat": ["49.5"], "lon": ["3.6"], "people": ["9"]}
    with pytest.raises(OutOfRange):
        space.column("prople")


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_dataframes_are_read_and_answered_in_kind(package):
    frames = pytest.importorskip(package)
    columns = {"name": ["a", "b", "c"], "latitude": [1.0, 2.0, 3.0], "longitude": [4.0, 5.0, 6.0]}
    frame = frames.table(columns) if package == "pyarrow" else frames.DataFrame(columns)
    space = places(frame, among=["c", "a"])
    assert space.labels == ("c", "a")
    assert (space.distances == places({"c": (3, 6), "a": (1, 4)}).distances).all()
    rows = space.locate(["a", "c", "a"])
    assert type(rows) is type(frame)
    assert list(rows["name"].to_pylist() if package == "pyarrow" else rows["name"]) == ["a", "c", "a"]
    assert space.column("latitude") == [3.0, 1.0]


def test_the_nearest_place_is_the_nearest_by_every_arc():
    rng = np.random.default_rng(5)
    spots = np.column_stack([rng.uniform(-89, 89, 60), rng.uniform(-180, 180, 60)]).round(3)
    space = places({k: tuple(pair) for k, pair in enumerate(spots.tolist())})
    asked = np.column_stack([rng.uniform(-90, 90, 200), rng.uniform(-180, 180, 200)])
    found = space.nearest(asked[:, 0], asked[:, 1])
    expected = [min(range(60), key=lambda k, p=p: haversine(p, spots[k])) for p in asked.tolist()]
    assert found.tolist() == expected
    assert space.nearest(asked[:4, 0].reshape(2, 2), asked[:4, 1].reshape(2, 2)).tolist() == [
        expected[:2],
        expected[2:4],
    ]


def test_positions_apart_by_r_snap_to_places_apart_by_r_and_their_ways():
    """d(s(p), s(q)) <= d(p, q) + d(p, s(p)) + d(q, s(q)): what the promise of places says of positions."""
    rng = np.random.default_rng(6)
    space = places(NORDIC)
    where = dict(zip(space.labels, space.coordinates.tolist(), strict=True))
    number = {label: k for k, label in enumerate(space.labels)}
    for _ in range(100):
        p, q = rng.uniform([58, 4], [71, 20], (2, 2)).tolist()
        s, t = space.nearest(*p), space.nearest(*q)
        reach = haversine(p, q) + haversine(p, where[s]) + haversine(q, where[t])
        assert space.distances[number[s], number[t]] <= reach + 1e-3


@pytest.mark.parametrize(
    ("position", "secret"),
    [
        ((None, 5.4321), "5.4321"),
        ((123.4567, 5), "123.4567"),
        ((math.nan, 5.4321), "5.4321"),
        (([1, 2], [1, 2, 3]), "2"),
    ],
)
def test_refused_positions_are_not_quoted(position, secret):
    """A position is a secret, unlike a place."""
    with pytest.raises(BadTable) as refused:
        places(NORDIC).nearest(*position)
    assert secret not in str(refused.value)


def test_designs_speak_in_labels_and_are_kept_whole():
    space = places(NORDIC)
    ptype = ut.PrivacyType(space, "ln 2 per 100 km")
    found = ut.optimal_mechanism(ptype, ut.Consumer(ut.priors.uniform(4), ut.losses.distance(space)))
    assert found.certificate.verify()
    assert found.channel.secrets == found.channel.outcomes == tuple(NORDIC)
    assert ptype.contains(found.channel)
    copy = pickle.loads(pickle.dumps(space))
    assert copy.same_as(space)
    assert copy.unit == "m"
    assert copy.nearest(60, 10) == "Oslo"
    part = space.restrict([3, 0])
    assert part.labels == ("Tromsø", "Oslo")
    assert part.locate("Oslo") == [(59.91, 10.75)]
    with pytest.raises(OutOfRange) as refused:
        space.locate(["Oslo", "Stavanger"])
    assert "Stavanger" not in str(refused.value)


def test_four_hundred_places_take_seconds():
    rng = np.random.default_rng(7)
    spots = np.column_stack([rng.uniform(40, 50, 400), rng.uniform(0, 10, 400)]).round(5).tolist()
    started = time.process_time()
    space = places({k: tuple(pair) for k, pair in enumerate(spots)})
    assert time.process_time() - started < 10
    assert space.size == 400


def test_the_certified_arcs_agree_with_exact_quarters():
    """An eighth, a quarter and half of the way around, by rational multiples of pi."""
    round_the_equator = places({k: (0, k) for k in (0, 45, 90, 180)}).distances[0]
    assert round_the_equator.tolist() == [math.floor(math.pi * SMALLEST_RADIUS * part) for part in (0, 0.25, 0.5, 1)]


PARIS = {"Louvre": (48.8606, 2.3376), "Reuilly": (48.8447, 2.3876), "Menilmontant": (48.8667, 2.3850)}


def test_a_position_far_from_the_map_is_refused_and_not_told():
    """Sydney, exchanged coordinates and one among many; a town nearby is taken, and with a reach what lies in it."""
    paris = places(PARIS)
    for position in ((-33.87, 151.21), (2.3376, 48.8606), ([48.86, 2.33], [2.33, 48.86])):
        with pytest.raises(BadTable, match="within reach") as refused:
            paris.nearest(*position)
        assert not any(digit in str(refused.value) for digit in ("33", "151", "48", "2.3"))
    assert paris.nearest(48.85, 2.34) == "Louvre"
    assert paris.nearest(-33.87, 151.21, reach=math.inf) in PARIS
    with pytest.raises(BadTable):
        paris.nearest(48.85, 2.34, reach=100)
    assert paris.nearest(48.8607, 2.3376, reach=100) == "Louvre"
    with pytest.raises(OutOfRange):
        paris.nearest(48.85, 2.34, reach=0)
    with pytest.raises(BadTable):
        places({"here": (1, 2)}).nearest(-40, 100)
    assert places({"here": (1, 2)}).nearest(1.01, 2.02) == "here"
    street = places({"one": (48, 2.0), "other": (48, 2.01)})
    assert street.nearest(48, 1.985) == "one"  # a home outside a small map
    for wrong in ("10 km", [1], True, 10**400):
        with pytest.raises(OutOfRange):
            paris.nearest(48.85, 2.34, reach=wrong)
    for hidden in (np.ma.array([48.86, 47.0], mask=[0, 1]), 10**400):
        with pytest.raises(BadTable):
            paris.nearest(hidden, 2.33)
    flat = places({"a": (0, 0), "b": (0, 1000)}, metric="metres")
    assert flat.nearest(10, 900) == "b"
    with pytest.raises(BadTable):
        flat.nearest(1e6, 0)


@pytest.mark.parametrize("names", [("id", "lat", "lon"), ("name", "Latitude", "Longitude"), ("label", "LAT", "lng")])
def test_columns_that_people_call_otherwise_are_found(names):
    rows = list(zip(*((name, *position) for name, position in PARIS.items()), strict=True))
    found = places(dict(zip(names, map(list, rows), strict=True)))
    assert found.labels == tuple(PARIS)
    assert found.distances.tolist() == places(PARIS).distances.tolist()


def test_pairs_are_pairs_whatever_they_are_called():
    """Places called x, y or lat; and metres are looked for as metres, never taken for degrees."""
    assert places({"x": (48.0, 2.0), "y": (49.0, 3.0), "place": (50.0, 4.0)}).labels == ("x", "y", "place")
    assert places({"Lat": (48.0, 2.0), "Long": (49.0, 3.0), "name": (50.0, 4.0)}).labels == ("Lat", "Long", "name")
    metres = {"name": ["gate", "well", "barn"], "x": [0, 30, 55], "y": [0, 40, 20]}
    with pytest.raises(BadTable):
        places(metres)
    assert places(metres, metric="metres").distances[0].tolist() == [0, 50, 58]
    both = {"name": ["a", "b"], "lat": [48, 49], "lon": [2, 2], "northing": [0, 111_000], "easting": [0, 0]}
    assert places(both, metric="metres").distances[0, 1] == 111_000


def test_a_column_that_is_not_found_names_its_argument():
    rows = list(map(list, zip(*((name, *position) for name, position in PARIS.items()), strict=True)))
    for columns, argument in (
        (dict(zip(("who", "lat", "lon"), rows, strict=True)), "name="),
        (dict(zip(("id", "label", "lat", "lon"), [rows[0], *rows], strict=True)), "name="),
        (dict(zip(("name", "breite", "laenge"), rows, strict=True)), "latitude="),
    ):
        with pytest.raises(BadTable, match=argument):
            places(columns)
    other = dict(zip(("ort", "breite", "laenge"), rows, strict=True))
    assert places(other, name="ort", latitude="breite", longitude="laenge").size == 3


def feature(at, **properties):
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": at}, "properties": properties}


def written_geojson(path, *features, **more):
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features} | more), encoding="utf-8")
    return path


def test_geojson_is_read_as_a_file_of_columns_is(tmp_path):
    """Longitude stands first there; the same distances, columns and positions as of the CSV file of the same towns."""
    towns = {"Oslo": (59.91, 10.75, 709), "Bergen": (60.39, 5.32, 290), "Hamar": (60.79, 11.07, 32)}
    features = [feature([east, north, 12.5], town=town, people=n) for town, (north, east, n) in towns.items()]
    found = places(written_geojson(tmp_path / "towns.GEOJSON", *features), name="town")
    same = places({name: (north, east) for name, (north, east, _) in towns.items()})
    assert found.labels == same.labels
    assert (found.distances == same.distances).all()
    assert found.column("people") == [709, 290, 32]
    assert found.locate("Hamar")["people"] == [32]
    by_id = places(written_geojson(tmp_path / "ids.geojson", {**feature([5, 60]), "id": "a"}))
    assert by_id.labels == ("a",)


def test_geojson_that_is_none_is_refused(tmp_path):
    area = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[0, 0]]]}, "properties": {}}
    for features, more, wanted in (
        ([], {}, "got no feature"),
        ([feature([5, 60], name="a")], {"crs": {"type": "name"}}, "without a crs"),
        ([feature([5, 60], name="a"), area], {}, r"feature 1: every feature must be a point"),
        ([feature(["5", 60], name="a")], {}, "must be a point"),
        ([feature([5], name="a")], {}, "longitude and a latitude"),
        ([feature([5, 60])], {}, "'name'"),
        ([{**feature([5, 60]), "properties": [1]}], {}, "properties must be an object"),
        ([{"type": "Feature", "geometry": None}], {}, "must be a point"),
    ):
        with pytest.raises(BadTable, match=wanted):
            places(written_geojson(tmp_path / "bad.geojson", *features, **more))
    with pytest.raises(OutOfRange, match="latitude must lie"):
        places(written_geojson(tmp_path / "turned.geojson", feature([5, 95], name="a")))
    (tmp_path / "list.geojson").write_text("[1]")
    with pytest.raises(BadTable, match="FeatureCollection"):
        places(tmp_path / "list.geojson")


def test_geodesics_are_never_above_the_distance_and_close_below_it():
    """Against Vincenty's series on the ellipsoid: never longer, and short by the square of the length at most."""
    rng = np.random.default_rng(9)
    for length, most in ((10_000, 3e-9), (100_000, 2.1e-7), (300_000, 1.9e-6), (1_000_000, 2.1e-5), (3_000_000, 2e-4)):
        for _ in range(8):
            north, east = (Fraction(int(v), 1000) for v in rng.integers(-80_000, 80_000, 2))
            turn, scale = rng.uniform(0, 2 * np.pi), length / 6.37e6
            other = north + Fraction(round(np.degrees(scale * np.cos(turn)) * 1000), 1000)
            if not -85 < other < 85:
                continue
            across = np.degrees(scale * np.sin(turn)) / np.cos(np.radians(float(north)))
            position = other, east + Fraction(round(across * 1000), 1000)
            true = vincenty(*map(float, (north, east, *position)))
            ends = {"here": (north, east), "there": position}
            steps = float(places(ends, metric="geodesic", rounded="1/1000").length(0, 1))
            circle = float(places(ends, rounded="1/1000").length(0, 1))
            assert circle <= steps <= true + 1e-3
            assert steps >= true * (1 - most * max(1, (true / length) ** 2)) - 2e-3


def vincenty(north, east, other_north, other_east):
    """The length of a geodesic on WGS84 by Vincenty's iteration, to a tenth of a millimetre."""
    a, f = 6378137.0, 1 / 298.257223563
    b = a * (1 - f)
    u1, u2 = (np.arctan((1 - f) * np.tan(np.radians(phi))) for phi in (north, other_north))
    wide = turn = np.radians(other_east - east)
    for _ in range(200):
        sine = np.hypot(np.cos(u2) * np.sin(turn), np.cos(u1) * np.sin(u2) - np.sin(u1) * np.cos(u2) * np.cos(turn))
        cosine = np.sin(u1) * np.sin(u2) + np.cos(u1) * np.cos(u2) * np.cos(turn)
        sigma = np.arctan2(sine, cosine)
        alpha = np.cos(u1) * np.cos(u2) * np.sin(turn) / sine
        square = 1 - alpha**2
        middle = cosine - 2 * np.sin(u1) * np.sin(u2) / square if square else 0.0
        c = f / 16 * square * (4 + f * (4 - 3 * square))
        turn = wide + (1 - c) * f * alpha * (sigma + c * sine * (middle + c * cosine * (2 * middle**2 - 1)))
    u = square * (a**2 - b**2) / b**2
    big = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)))
    small = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)))
    inner = cosine * (2 * middle**2 - 1) - small / 6 * middle * (4 * sine**2 - 3) * (4 * middle**2 - 3)
    return b * big * (sigma - small * sine * (middle + small / 4 * inner))


def test_places_by_geodesics_are_places_with_longer_distances():
    towns = {"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32), "Hamar": (60.79, 11.07)}
    near, far = places(towns), places(towns, metric="geodesic")
    assert (far.distances >= near.distances).all()
    assert (far.distances[0] > near.distances[0])[1:].all()
    assert far.nearest(60.0, 10.0) == "Oslo"
    assert "geodesic" in repr(far)
    cities = {"Paris": ("48.8566", "2.3522"), "London": ("51.5074", "-0.1278")}
    assert places(cities, metric="geodesic").length(0, 1) == 343922, "343 923 m along the ellipsoid"
    poles = places({"north": (90, 0), "south": (-90, 0), "equator": (0, 7)}, metric="geodesic")
    assert poles.distances[0].tolist()[2] <= 10_001_966
    with pytest.raises(NotAMetric):
        places({"a": (90, 0), "b": (90, 30)}, metric="geodesic")
