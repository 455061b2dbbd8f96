"""Cycles, trees, products and points: each against another way to the same metric, and what is refused."""

import pickle
from decimal import Decimal
from fractions import Fraction as F
from itertools import product as pairs
from math import hypot

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotAMetric, NotANumber, OutOfRange
from utmost.exact import Surd
from utmost.geometry import automorphisms
from utmost.spaces import Space, balanced_tree, counts, cycle, discrete, graph, grid, hamming, points, product, tree


def lengths(space):
    return [[space.length(x, y) for y in range(space.size)] for x in range(space.size)]


def same(one, other):
    """One metric and one set of essential edges."""
    assert lengths(one) == lengths(other)
    assert one.edges.tolist() == other.edges.tolist()
    return True


@pytest.mark.parametrize("n", range(1, 9))
def test_a_cycle_is_the_graph_around_the_circle(n):
    found = cycle(n)
    checked = Space(found.distances.tolist())
    assert same(found, checked)
    if n > 2:
        assert same(found, graph([(i, (i + 1) % n) for i in range(n)]))
        assert automorphisms(found).order == (2 * n if n > 3 else 6)


def test_a_cycle_has_a_secret():
    with pytest.raises(OutOfRange, match="at least 1"):
        cycle(0)


@given(st.integers(1, 4), st.integers(1, 4))
def test_a_product_of_lines_is_a_manhattan_or_a_euclidean_grid(rows, cols):
    assert same(product(counts(rows - 1), counts(cols - 1)), grid(rows, cols, metric="manhattan"))
    assert same(product(counts(rows - 1), counts(cols - 1), metric="euclidean"), grid(rows, cols))
    assert product(counts(rows - 1), counts(cols - 1)).labels[-1] == (rows - 1, cols - 1)


@pytest.mark.parametrize("bits", range(1, 5))
def test_a_product_of_bits_is_a_cube(bits):
    assert same(product(*[discrete(2)] * bits), hamming(bits))


@pytest.mark.parametrize("metric", ["sum", "max", "euclidean"])
def test_a_product_by_its_definition(metric):
    """Also of spaces of different kinds, and with three factors: a part of each in every label."""
    parts = [cycle(4), graph([("a", "b", "1/2"), ("b", "c")]), discrete(2)]
    joined = product(*parts, metric=metric)
    names = list(pairs(*(range(part.size) for part in parts)))
    assert joined.size == 24
    for (k, x), (m, y) in pairs(enumerate(names), repeat=2):
        d = [part.length(a, b) for part, a, b in zip(parts, x, y, strict=True)]
        expected = {"sum": sum(d), "max": max(d), "euclidean": Surd.sqrt(sum(a * a for a in d))}[metric]
        assert joined.length(k, m) == expected
    assert same(joined, Space(lengths(joined)))
    assert joined.labels[5] == (0, "c", 1)
    assert pickle.loads(pickle.dumps(joined)).same_as(joined)


def test_products_of_irrational_and_float_distances():
    both = product(grid(2, 2), counts(1))
    assert both.length(0, 7) == Surd.sqrt(2) + 1
    assert both.distances.dtype == np.float64
    assert product(grid(2, 2), grid(2, 2), metric="euclidean").length(0, 15) == 2
    assert product(grid(2, 2), counts(1), metric="max").length(0, 6) == Surd.sqrt(2)
    floats = Space([[0, 0.5], [0.5, 0]])
    for metric, d in (("sum", 2**0.5 + 0.5), ("max", 2**0.5), ("euclidean", 1.5)):
        assert product(grid(2, 2), floats, metric=metric).length(0, 7) == pytest.approx(d)
    fractions = Space([[0, "1/2"], ["1/2", 0]])
    assert product(floats, fractions).distances.dtype == np.float64
    with pytest.raises(NotAMetric, match="squared distances are rational"):
        product(both, counts(1), metric="euclidean")


def test_a_large_product_stores_nothing():
    space = product(counts(999), counts(999))
    assert space.size == 10**6
    assert space.length(0, 10**6 - 1) == 1998


def test_a_tree_in_four_ways():
    edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
    ways = [tree(edges), tree(nx.Graph(edges)), tree({k: None if k == 0 else (k - 1) // 2 for k in range(7)})]
    for space in ways:
        assert same(space, balanced_tree(2, 2))
        assert len(space.edges) == 6
    assert same(tree(e for e in [(0, 1, "1/3"), (1, 2)]), graph([(0, 1, "1/3"), (1, 2)]))
    assert balanced_tree(1, 3).same_as(counts(3))
    assert (tree({"a": None}).size, tree({"a": None}).labels) == (1, ("a",))
    assert automorphisms(balanced_tree(2, 2)).order == 8


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        ([(0, 1), (1, 2), (2, 0)], "a tree on 3 nodes must have 2 edges"),
        (nx.cycle_graph(4), "a tree on 4 nodes must have 3 edges"),
        ([(0, 1), (2, 3)], "connected"),
        ({"a": None, "b": None}, "2 roots"),
        ({"a": "b", "b": "a"}, "0 roots"),
        ({"a": None, "b": "c"}, "every parent must be a node"),
        ({"a": None, "b": "c", "c": "b", "d": "a"}, "connected"),
    ],
)
def test_what_is_no_tree_is_refused(edges, says):
    with pytest.raises(NotAMetric, match=says):
        tree(edges)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=6, unique=True))
def test_points_with_whole_coordinates_are_exact(places):
    """Against the definitions, and against the full check of a table."""
    for metric, rule in (
        ("euclidean", lambda p, q: Surd.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)),
        ("manhattan", lambda p, q: abs(p[0] - q[0]) + abs(p[1] - q[1])),
        ("chebyshev", lambda p, q: max(abs(p[0] - q[0]), abs(p[1] - q[1]))),
    ):
        named = points(places, metric=metric)
        assert same(named, points(places, metric=rule))
        assert named.labels == tuple(places)


def test_points_of_a_lattice_are_a_grid():
    lattice = [(r, c) for r in range(3) for c in range(3)]
    assert same(points(lattice), grid(3, 3))
    assert points(lattice).same_as(grid(3, 3))
    assert automorphisms(points(lattice)).order == 8


def test_points_in_other_number_kinds_and_dimensions():
    assert points([0, "1/2", 2]).length(1, 2) == F(3, 2)
    assert points([Decimal("0.1"), 0], metric="manhattan").length(0, 1) == F(1, 10)
    assert points([[0, 0, 0], [1, 1, 1]]).length(0, 1) == Surd.sqrt(3)
    floats = points(np.array([[0.5, 0.0], [0.0, 0.25]]))
    assert floats.distances.dtype == np.float64
    assert floats.distances[0, 1] == hypot(0.5, 0.25)
    assert floats.labels == ((0.5, 0.0), (0.0, 0.25))
    assert points([(0, 0), (3, 4)], labels=["home", "work"]).labels == ("home", "work")
    assert points([7]).size == 1


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: points([(0, 1), (0, 1)]), NotAMetric, "points 0 and 1"),
        (lambda: points([(0, 1), (0,)]), NotAMetric, "rectangular"),
        (lambda: points([]), NotAMetric, "shape"),
        (lambda: points([(0, float("nan"))]), NotAMetric, "finite"),
        (lambda: points([0, 1], metric="taxi"), OutOfRange, "taxi"),
        (lambda: points([0, 1, 3], metric=lambda p, q: (p - q) ** 2), NotAMetric, r"d\(0, 2\) = 9 > .*= 5"),
        (lambda: points([0, 1], metric=lambda p, q: p - q), NotAMetric, r"d\(y, x\)"),
        (lambda: points([0, 1], metric=lambda p, q: "far"), NotAMetric, "finite number"),
        (lambda: product(), NotAMetric, "at least one space"),
        (lambda: product(counts(1), metric="min"), OutOfRange, "min"),
        (lambda: balanced_tree(2, 0), OutOfRange, "depth"),
        (lambda: cycle(2.5), NotANumber, "integer"),
    ],
)
def test_what_makes_no_space_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_automorphisms_of_irrational_and_weighted_spaces():
    assert automorphisms(grid(2, 2)).order == 8
    assert automorphisms(Space([[0, 0.5], [0.5, 0]])).order == 2
    assert automorphisms(graph([("hub", "a"), ("hub", "b"), ("hub", "c", 2)])).order == 2
    assert automorphisms(product(cycle(3), counts(1))).order == 12
