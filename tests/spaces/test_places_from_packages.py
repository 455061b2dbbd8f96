"""Places from GeoPandas, H3 and networkx: distances beside those of the packages, answers in kind."""

import sys
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.errors import BadTable, NotAMetric, OutOfRange, UtmostError
from utmost.spaces import Space, places

nx = pytest.importorskip("networkx")


def grid_of_streets(directed=False):
    """A town of 5 x 5 crossings with uneven streets, as osmnx stores it: a multigraph with x, y and lengths."""
    rng = np.random.default_rng(3)
    town = nx.MultiDiGraph(crs="epsg:4326") if directed else nx.MultiGraph(crs="epsg:4326")
    for k in range(25):
        town.add_node(k, y=48 + k // 5 / 1000, x=2 + k % 5 / 1000)
    for u in range(25):
        for v in [u + 1] * (u % 5 < 4) + [u + 5] * (u < 20):
            for length in rng.uniform(80, 160, 2).round(3).tolist():
                town.add_edge(u, v, length=length)
                if directed:
                    town.add_edge(v, u, length=length)
    return town


@pytest.mark.parametrize("directed", [False, True])
def test_road_distances_are_those_of_networkx_rounded_down(directed):
    """Shortest paths through a multigraph: a metric exactly, within a few metres below networkx's floats."""
    town = grid_of_streets(directed)
    space = places(town)
    Space(space.distances)
    for x, row in nx.all_pairs_dijkstra_path_length(town, weight="length"):
        for y, length in row.items():
            assert length - 9 < space.distances[x, y] <= length
    fine = places(town, rounded="1 mm")
    assert float(fine.length(0, 24)) == pytest.approx(nx.dijkstra_path_length(town, 0, 24, weight="length"), abs=0.01)
    assert space.nearest(48.0011, 2.0029) == 8
    assert space.locate(8) == [(48.001, 2.003)]


def test_paths_go_through_the_nodes_that_are_no_places():
    """Some of the nodes as places: their distances are those in the whole network."""
    town = grid_of_streets()
    some = places(town, among=[24, 0, 7], rounded="1 mm")
    whole = places(town, rounded="1 mm")
    assert some.labels == (24, 0, 7)
    assert abs(some.distances - whole.restrict([24, 0, 7]).distances).max() <= Fraction(25, 1000)


def test_one_way_streets_are_refused_or_taken_both_ways():
    """Taken both ways no distance is above the one that is driven in either direction."""
    town = nx.MultiDiGraph()
    town.add_weighted_edges_from([("a", "b", 5), ("b", "c", 5), ("c", "a", 7)], weight="length")
    with pytest.raises(NotAMetric, match="both_ways"):
        places(town)
    space = places(town, both_ways=True)
    assert space.distances.tolist() == [[0, 5, 7], [5, 0, 5], [7, 5, 0]]
    driven = dict(nx.all_pairs_dijkstra_path_length(town, weight="length"))
    for x, one in enumerate("abc"):
        for y, other in enumerate("abc"):
            assert space.distances[x, y] <= min(driven[one][other], driven[other][one])
    with pytest.raises(UtmostError, match="must have coordinates"):
        space.nearest(0, 0)


def test_minutes_are_kept_as_minutes():
    town = nx.Graph()
    town.add_edge("home", "work", minutes="12.5")
    town.add_edge("work", "gym", minutes=7)
    space = places(town, weight="minutes", unit="minutes")
    assert space.unit == "min"
    assert space.length(0, 2) == Fraction(39, 2)
    assert ut.PrivacyType(space, "1 per 10 min").level == ut.PrivacyType(space, "6 per hour").level
    with pytest.raises(OutOfRange):
        ut.PrivacyType(space, "1 per 10 m")


@pytest.mark.parametrize(
    "edges",
    [[("a", "b", None)], [("a", "b", -1)], [("a", "b", "far")], [("a", "b", 1), ("c", "d", 1)], [("a", "b", 0)], []],
)
def test_networks_without_distances_are_refused(edges):
    town = nx.Graph()
    for u, v, length in edges:
        town.add_edge(u, v, **({} if length is None else {"length": length}))
    with pytest.raises(NotAMetric):
        places(town)
    with pytest.raises(UtmostError):
        places(town, among=["nowhere"])


class TestGeoPandas:
    """Frames of points and of areas: the reference system decides, and comes back with the answer."""

    @pytest.fixture
    def gpd(self):
        return pytest.importorskip("geopandas")

    @pytest.fixture
    def towns(self, gpd):
        points = gpd.points_from_xy([10.75, 5.32, 11.07, 18.96], [59.91, 60.39, 60.79, 69.65])
        return gpd.GeoDataFrame({"name": ["Oslo", "Bergen", "Hamar", "Tromsø"]}, geometry=points, crs=4326)

    def test_degrees_give_great_circles_not_above_the_geodesics(self, towns):
        """0.9899 D - n < d <= D for the geodesics D of the ellipsoid, which pyproj computes."""
        pyproj = pytest.importorskip("pyproj")
        space, geod = places(towns), pyproj.Geod(ellps="WGS84")
        rng = np.random.default_rng(8)
        spots = np.column_stack([rng.uniform(-90, 90, 40), rng.uniform(-180, 180, 40)]).round(2)
        many = places({k: tuple(pair) for k, pair in enumerate(spots.tolist())})
        for found in (space, many):
            where = found.coordinates
            for x in range(found.size):
                for y in range(x):
                    geodesic = geod.inv(where[x, 1], where[x, 0], where[y, 1], where[y, 0])[2]
                    assert geodesic * 0.9899 - found.size < found.distances[x, y] <= geodesic

    def test_projected_systems_give_the_plane(self, towns):
        flat = towns.to_crs(32633)
        space = places(flat)
        Space(space.distances)
        for x in range(4):
            below = flat.geometry.distance(flat.geometry.iloc[x]).to_numpy() - space.distances[x]
            assert (below >= 0).all()
            assert (below < 4).all()

    def test_feet_are_metres(self, towns):
        feet, metres = places(towns.to_crs(2263)), places(towns.to_crs(2263), unit="ft")
        assert float(metres.length(0, 1)) * 1200 / 3937 == pytest.approx(float(feet.length(0, 1)), rel=1e-5)

    def test_answers_are_rows_with_their_reference_system(self, gpd, towns):
        flat = towns.to_crs(32633)
        rows = places(flat).locate(["Hamar", "Oslo", "Hamar"])
        assert type(rows) is gpd.GeoDataFrame
        assert rows.crs == flat.crs
        assert rows["name"].tolist() == ["Hamar", "Oslo", "Hamar"]

    def test_positions_are_brought_to_the_places_reference_system(self, gpd, towns):
        for frame in (towns, towns.to_crs(32633)):
            space = places(frame)
            assert space.nearest(towns.geometry).tolist() == list(space.labels)
            assert space.nearest(towns.to_crs(3857)).tolist() == list(space.labels)
        with pytest.raises(BadTable):
            space.nearest(gpd.GeoSeries(towns.geometry.to_list()))

    def test_a_series_is_labelled_by_its_index_and_areas_stand_at_a_point_in_them(self, gpd, towns):
        series = towns.set_index("name").geometry.to_crs(32633)
        assert places(series).labels == ("Oslo", "Bergen", "Hamar", "Tromsø")
        assert places(series).locate("Oslo").crs == series.crs
        assert (places(series.buffer(1)).distances == places(series).distances).mean() > 0.2

    def test_frames_without_places_are_refused(self, gpd, towns):
        with pytest.raises(BadTable):
            places(gpd.GeoSeries([None], crs=4326))
        with pytest.raises(OutOfRange):
            places(towns.to_crs(32633), metric="great-circle")
        with pytest.raises(OutOfRange):
            places(towns, metric="metres")


class TestCells:
    """Cells of H3 at their distances along the grid, and at those of their centres."""

    @pytest.fixture
    def cells(self):
        h3 = pytest.importorskip("h3")
        return h3, sorted(h3.grid_disk(h3.latlng_to_cell(48.86, 2.34, 8), 2))

    def test_cells_are_as_far_apart_as_h3_says(self, cells):
        h3, disk = cells
        space = places(disk)
        assert space.unit == "cells"
        assert space.distances.max() == 4
        assert all(space.distances[0, y] == h3.grid_distance(disk[0], cell) for y, cell in enumerate(disk))
        assert space.nearest(48.86, 2.34) == h3.latlng_to_cell(48.86, 2.34, 8)
        numbers = places([h3.str_to_int(cell) for cell in disk])
        assert (numbers.distances == space.distances).all()

    def test_centres_are_on_the_earth(self, cells):
        h3, disk = cells
        space = places(disk, metric="great-circle")
        assert space.unit == "m"
        there = h3.great_circle_distance(h3.cell_to_latlng(disk[0]), h3.cell_to_latlng(disk[5]), unit="m")
        assert there * 0.98 < space.distances[0, 5] <= there

    @pytest.mark.parametrize("wrong", [["x"], [1, 2], ["8a1fb46622dffff", "881fb46625fffff"]])
    def test_what_is_no_grid_of_cells_is_refused(self, cells, wrong):
        with pytest.raises(UtmostError):
            places(wrong)


def test_cells_without_the_package_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "h3", None)
    with pytest.raises(UtmostError, match="pip install h3"):
        places(["8a1fb46622dffff"])
