"""counts, discrete, hamming, grid and graph: sizes, distances, edges, labels, refusals."""

from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from utmost.errors import NotAMetric, NotANumber, OutOfRange
from utmost.exact import Surd
from utmost.spaces import Space, counts, discrete, graph, grid, hamming


@pytest.mark.parametrize("n", [0, 1, 2, 10, 10_000])
def test_counts_have_n_edges_and_store_nothing(n):
    """{0, ..., n} with |i - j| has the n edges between neighbours."""
    space = counts(n)
    assert space.size == n + 1
    assert space.edges.tolist() == [[i, i + 1] for i in range(n)]
    assert space.edges.shape == (n, 2)
    assert space.length(0, n) == n
    assert space.labels == range(n + 1)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_discrete_secrets_are_all_adjacent(k):
    """d = 1 for all k (k - 1) / 2 pairs."""
    space = discrete(k)
    assert len(space.edges) == k * (k - 1) // 2
    assert (space.distances == 1 - np.eye(k, dtype=int)).all()


@pytest.mark.parametrize("bits", [1, 2, 3, 6])
def test_hamming_distance_counts_places(bits):
    """d is the number of places in which the labels differ; b 2^(b-1) edges."""
    space = hamming(bits)
    digits = np.array(space.labels)
    assert (space.distances == (digits[:, None, :] != digits[None, :, :]).sum(axis=2)).all()
    assert len(space.edges) == bits * 2 ** (bits - 1)
    assert {space.length(x, y) for x, y in space.edges.tolist()} == {1}


def test_a_large_cube_is_made_at_once():
    """Twenty bits: a million secrets, ten million edges, no table."""
    space = hamming(20)
    assert space.size == 2**20
    assert space.length(0, 2**20 - 1) == 20


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 5), (3, 4), (4, 4)])
def test_grid_distances(rows, cols):
    """Euclidean: the root of an integer, exactly; Manhattan: an integer."""
    euclidean, manhattan = grid(rows, cols), grid(rows, cols, metric="manhattan")
    assert euclidean.labels == manhattan.labels
    for x, (r, c) in enumerate(euclidean.labels):
        for y, (s, t) in enumerate(euclidean.labels):
            assert euclidean.length(x, y) == Surd.sqrt((r - s) ** 2 + (c - t) ** 2)
            assert manhattan.length(x, y) == abs(r - s) + abs(c - t)
    steps = [np.subtract(*np.array(euclidean.labels)[e]) for e in euclidean.edges]
    assert all(gcd(*map(int, abs(s))) == 1 for s in steps)
    assert len(manhattan.edges) == rows * (cols - 1) + cols * (rows - 1)


def test_nine_points_have_56_of_72_essential_directed_edges():
    """THEORY S1: 3 x 3 points, Euclidean."""
    assert 2 * len(grid(3, 3).edges) == 56


def test_the_distances_of_a_float_grid_are_correctly_rounded():
    """sqrt of an integer is the nearest float."""
    assert grid(2, 2).distances[0, 3] == np.sqrt(2)
    assert grid(2, 2).distances.dtype == np.float64
    assert grid(1, 4).length(0, 3) == 3


def test_graph_lengths_are_shortest_paths():
    """A weighted triangle with a pendant: exact, and the long road is not essential."""
    space = graph([("a", "b", "1/2"), ("b", "c", "1/3"), ("a", "c", 2), ("c", "d")])
    assert space.labels == ("a", "b", "c", "d")
    assert space.length(0, 2) == Fraction(5, 6)
    assert space.length(0, 3) == Fraction(11, 6)
    assert space.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    Space(space.distances)


def test_graph_kinds():
    """Integers give integers of any size, a float gives floats."""
    assert graph([(0, 1, 2), (1, 2)]).distances.dtype == np.int64
    assert graph([(0, 1, 2.5), (1, 2)]).distances.dtype == np.float64
    assert graph([(0, 1, 10**40), (1, 2)]).length(0, 2) == 10**40 + 1


def test_float_paths_are_as_long_in_both_directions():
    """0.1 + 0.2 + 0.3 depends on the order of addition; the table does not."""
    d = graph([(0, 1, 0.1), (1, 2, 0.2), (2, 3, 0.3)]).distances
    assert (0.1 + 0.2) + 0.3 != (0.3 + 0.2) + 0.1
    assert (d == d.T).all()


def test_graph_nodes_that_are_numbers_keep_their_numbers():
    """Nodes 0..n-1 are secrets 0..n-1 in whatever order the edges come; other nodes come in order of appearance."""
    assert graph([(0, 2), (2, 1)]).distances.tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    assert graph([(5, 2), (2, 9)]).labels == (5, 2, 9)
    assert graph([(0, 2), (2, 1)]).edges.tolist() == [[0, 2], [1, 2]]
    assert graph([(0, 2), (2, 1)]).labels == (0, 1, 2)


def test_the_shortest_of_parallel_edges_counts():
    """Two roads between the same places: the shorter one, in either order."""
    assert graph([(0, 1, 5), (1, 0, 3)]).length(0, 1) == 3
    assert graph([(0, 1, 3), (0, 1, 5)]).length(0, 1) == 3


@pytest.mark.parametrize("n", [3, 4, 7])
def test_paths_cycles_and_cubes_are_graphs(n):
    """The line and the cube as graphs; the cycle by its formula."""
    assert (graph([(i, i + 1) for i in range(n)]).distances == counts(n).distances).all()
    cube = hamming(3)
    assert (graph(cube.edges.tolist()).distances == cube.distances).all()
    cycle = graph([(i, (i + 1) % n) for i in range(n)])
    gaps = abs(np.subtract.outer(np.arange(n), np.arange(n)))
    assert (cycle.distances == np.minimum(gaps, n - gaps)).all()
    assert len(cycle.edges) == n


def test_networkx_graphs_are_read():
    """Anything with networkx's nodes, edges and is_directed, weights included; a directed one is refused."""

    class Graph:
        def __init__(self, directed):
            self.directed = directed
            self.nodes = ["x", "y", "z"]

        def is_directed(self):
            return self.directed

        def edges(self, data, default):
            assert (data, default) == ("weight", 1)
            return iter([("z", "y", 2), ("y", "x", 1)])

    space = graph(Graph(directed=False))
    assert space.labels == ("x", "y", "z")
    assert space.distances.tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    with pytest.raises(NotAMetric, match="undirected"):
        graph(Graph(directed=True))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "at least one edge"),
        ([(0, 1), (2, 3)], "no path from 0 to 2"),
        ([(0, 0)], "a loop at 0"),
        ([(0, 1, 0)], "from 0 to 1 must have a positive length; got 0"),
        ([(0, 1, -1.5)], "positive length"),
        ([(0, 1, None)], "finite number"),
        ([(0, 1, float("inf"))], "finite number"),
        ([(0, 1, 2, 3)], r"a pair \(u, v\) or a triple"),
        ([0, 1], r"a pair \(u, v\) or a triple"),
        (7, r"a pair \(u, v\) or a triple"),
    ],
)
def test_what_is_no_graph_is_refused(edges, message):
    """Unconnected graphs, loops, lengths that are not positive numbers, and things that are no edges."""
    with pytest.raises(NotAMetric, match=message):
        graph(edges)


@pytest.mark.parametrize("make", [counts, discrete, hamming, lambda n: grid(n, 2), lambda n: grid(2, n)])
def test_sizes_must_be_natural_numbers(make):
    """Negative, fractional and boolean sizes are refused."""
    with pytest.raises(OutOfRange):
        make(-1)
    for bad in (1.5, True, None, "two", float("nan")):
        with pytest.raises(NotANumber):
            make(bad)
    if make is not counts:
        with pytest.raises(OutOfRange):
            make(0)


def test_an_unknown_grid_metric_is_refused():
    """Only the two metrics that are offered."""
    with pytest.raises(OutOfRange, match="euclidean, manhattan"):
        grid(2, 2, metric="taxi")
