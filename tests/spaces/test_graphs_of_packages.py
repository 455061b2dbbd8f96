"""Graphs of networkx with lengths by any name, as osmnx makes them; points of GeoPandas."""

import numpy as np
import pytest

import utmost as ut
from utmost.errors import NotAMetric, OutOfRange, Unsupported
from utmost.spaces import graph, points

nx = pytest.importorskip("networkx")


def town():
    """A multigraph as osmnx makes one: parallel streets, a loop, lengths in metres."""
    streets = nx.MultiGraph(crs="epsg:4326")
    streets.add_edge("a", "b", length=70.5)
    streets.add_edge("a", "b", length=60)
    streets.add_edge("b", "c", length=100)
    streets.add_edge("c", "a", length=200)
    streets.add_edge("c", "c", length=33)
    return streets


def test_lengths_by_name_are_networkxs_shortest_paths():
    """Of parallel streets the shortest counts, and loops lead nowhere."""
    streets = town()
    space = graph(streets, weight="length")
    for x, row in nx.all_pairs_dijkstra_path_length(streets, weight="length"):
        for y, length in row.items():
            at = space.labels.index(x), space.labels.index(y)
            assert float(space.length(*at)) == pytest.approx(length)
    assert ut.PrivacyType(space, epsilon="1/100").space is space


def test_an_edge_without_the_named_length_is_refused():
    """Nothing is taken for 1 where lengths were asked for."""
    streets = town()
    streets.add_edge("c", "d")
    with pytest.raises(NotAMetric, match="length"):
        graph(streets, weight="length")
    with pytest.raises(OutOfRange):
        graph([("a", "b")], weight="length")
    with pytest.raises(NotAMetric, match="both_ways"):
        graph(nx.MultiDiGraph(town()), weight="length")
    assert graph(nx.Graph([(0, 1)])).length(0, 1) == 1


@pytest.mark.oracle
def test_points_of_a_geoseries_are_as_far_apart_as_geopandas_says():
    """In a projected system; degrees are no lengths, and areas stand at a point in them."""
    gpd = pytest.importorskip("geopandas")
    rng = np.random.default_rng(5)
    spots = rng.uniform(0, 1000, (6, 2)).round(1)
    series = gpd.GeoSeries(gpd.points_from_xy(*spots.T), index=list("uvwxyz"), crs=32633)
    space = points(series)
    assert space.labels == tuple("uvwxyz")
    for x, spot in enumerate(series):
        assert np.allclose(np.asarray(space.distances[x], dtype=float), series.distance(spot))
    assert points(gpd.GeoDataFrame(geometry=series)).same_as(space)
    assert points(series.buffer(1)).labels == space.labels
    assert float(points(series, metric=lambda p, q: p.distance(q)).length(0, 1)) == pytest.approx(
        float(space.length(0, 1))
    )
    with pytest.raises(Unsupported, match="degrees"):
        points(series.to_crs(4326))
