"""Spaces given by a table: the axioms, exactness, essential edges, labels."""

import copy
import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotAMetric, OutOfRange
from utmost.exact import Surd
from utmost.spaces import Space, counts, discrete, graph, grid, hamming


@st.composite
def metrics(draw):
    """Exact metrics: shortest paths of a complete graph with random rational lengths."""
    n = draw(st.integers(1, 6))
    lengths = st.fractions(min_value=1, max_value=5, max_denominator=draw(st.sampled_from([1, 6])))
    d = np.full((n, n), Fraction(0), dtype=object)
    for x, y in combinations(range(n), 2):
        d[x, y] = d[y, x] = draw(lengths)
    for z in range(n):
        d = np.minimum(d, d[:, z][:, None] + d[z][None, :])
    return d


def strictly_between(d, x, y):
    return [z for z in range(len(d)) if z not in (x, y) and d[x][z] + d[z][y] == d[x][y]]


@given(metrics())
def test_essential_edges_are_the_pairs_with_nothing_between(d):
    """(x, y) is essential iff no third z has d(x, z) + d(z, y) = d(x, y)."""
    expected = [[x, y] for x, y in combinations(range(len(d)), 2) if not strictly_between(d, x, y)]
    assert Space(d).edges.tolist() == expected


@given(metrics())
def test_shortest_paths_along_essential_edges_are_the_distances(d):
    """A promise kept along the essential edges is kept for every pair."""
    space = Space(d)
    if space.size > 1:
        again = graph([(int(x), int(y), space.length(x, y)) for x, y in space.edges])
        assert (again.distances == space.distances).all()
        assert again.edges.tolist() == space.edges.tolist()


@given(metrics(), st.data())
def test_a_raised_distance_breaks_the_triangle_inequality_by_name(d, data):
    """Raising d(x, y) above every sum over a third secret is refused, with the triple."""
    n = len(d)
    if n < 3:
        return
    x, y = data.draw(st.sampled_from(list(combinations(range(n), 2))))
    sum_over_z, z = min((d[x, z] + d[z, y], z) for z in range(n) if z not in (x, y))
    d[x, y] = d[y, x] = sum_over_z + Fraction(1, 1000)
    message = rf"d\({x}, {y}\) = {d[x, y]} > d\({x}, {z}\) \+ d\({z}, {y}\) = {sum_over_z}"
    with pytest.raises(NotAMetric, match=message):
        Space(d)
    d[x, y] = d[y, x] = sum_over_z
    assert [x, y] not in Space(d).edges.tolist()


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0, 1], [2, 0]], r"d\(x, y\) = d\(y, x\) must hold; got d\(0, 1\) = 1 but d\(1, 0\) = 2"),
        ([[0, 1], [1, 3]], r"d\(x, x\) = 0 must hold; got d\(1, 1\) = 3"),
        ([[0, 0], [0, 0]], r"d\(x, y\) > 0 for x != y must hold; got d\(0, 1\) = 0"),
        ([[0, -1], [-1, 0]], r"got d\(0, 1\) = -1"),
        ([[0.0, 1.0, 2.1], [1.0, 0.0, 1.0], [2.1, 1.0, 0.0]], r"d\(0, 2\) = 2.1 > d\(0, 1\) \+ d\(1, 2\) = 2.0"),
        ([[0, 1, 2]], "square"),
        ([0, 1], "2 dimensions"),
        (np.zeros((0, 0)), "at least one secret"),
        ([[0, float("nan")], [1, 0]], r"entry \[0, 1\] of the distance matrix"),
        ([[0, None], [1, 0]], r"entry \[0, 1\] of the distance matrix"),
        ([[0, Surd.sqrt(2)], [None, 0]], "distance must be a finite number"),
        ([[0, Surd.sqrt(2), 3], [Surd.sqrt(2), 0, Surd.sqrt(2)], [3, Surd.sqrt(2), 0]], "triangle"),
        ("abc", "distance matrix"),
    ],
)
def test_what_is_no_metric_is_refused(distances, message):
    """Each axiom, each with its place."""
    with pytest.raises(NotAMetric, match=message):
        Space(distances)


def test_rounding_may_break_the_triangle_inequality_only_within_the_tolerance():
    """Three points on a line whose float distances add up to a hair less than the whole."""
    d = np.array([[0.0, 0.1, 0.3], [0.1, 0.0, 0.2], [0.3, 0.2, 0.0]])
    d[0, 2] = d[2, 0] = np.nextafter(0.1 + 0.2, 1)
    assert Space(d).size == 3
    with pytest.raises(NotAMetric, match="triangle"):
        Space(d, tolerance=0)
    d[0, 2] = d[2, 0] = 0.300001
    with pytest.raises(NotAMetric, match="triangle"):
        Space(d)
    assert Space(d, tolerance=1e-5).edges.tolist() == [[0, 1], [1, 2]]


def test_float_sums_are_compared_without_rounding():
    """1 + 1 = 2 exactly, so the long way is no edge; other sums are compared with what rounding took from them."""
    line = counts(6).distances
    assert Space(line.astype(float)).edges.tolist() == counts(6).edges.tolist()
    for a, b in ((0.1, 0.2), (0.1, 0.7), (0.3, 0.6), (1.0, 2.0**-60)):
        for d in (a + b, np.nextafter(a + b, 0), np.nextafter(a + b, 9)):
            space = Space([[0.0, a, d], [a, 0.0, b], [d, b, 0.0]])
            assert ([0, 2] in space.edges.tolist()) == (Fraction(a) + Fraction(b) > Fraction(d))


def test_exact_distances_stay_exact():
    """Integers, Fractions and surds are kept; a length is exact in every case."""
    assert Space([[0, 2], [2, 0]]).distances.dtype == np.int64
    assert Space([[0, "1/2"], ["1/2", 0]]).distances[0, 1] == Fraction(1, 2)
    assert Space([[0, 10**30], [10**30, 0]]).length(0, 1) == 10**30
    root = Surd.sqrt(2)
    surds = Space([[0, root, root * 2], [root, 0, root], [root * 2, root, 0]])
    assert surds.distances.dtype == np.float64
    assert surds.length(0, 2) == 2 * root
    assert surds.edges.tolist() == [[0, 1], [1, 2]]
    assert Space([[0, 0.1], [0.1, 0]]).length(0, 1) == Fraction(0.1)


def test_a_large_distance_does_not_overflow():
    """Sums of distances near 2^59 are taken in wide integers."""
    big = 2**59
    assert Space([[0, big, big], [big, 0, big], [big, big, 0]]).edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    wide = np.array([[0, 2**30, 2**31 - 1], [2**30, 0, 2**30], [2**31 - 1, 2**30, 0]])
    assert Space(wide).edges.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_labels_are_distinct_and_one_for_each_secret():
    """Too few labels and repeated labels are refused."""
    assert Space([[0, 1], [1, 0]]).labels == range(2)
    assert Space([[0, 1], [1, 0]], labels=["a", "b"]).labels == ("a", "b")
    with pytest.raises(NotAMetric, match="needs 2 labels; got 1"):
        Space([[0, 1], [1, 0]], labels=["a"])
    with pytest.raises(NotAMetric, match="'a' twice"):
        Space([[0, 1], [1, 0]], labels=["a", "a"])


SPACES = [counts(4), discrete(4), hamming(3), grid(3, 2), grid(2, 3, metric="manhattan"), Space([[0, 3], [3, 0]])]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_a_named_space_agrees_with_its_own_table(space):
    """Structure and table say the same metric, edges included (a float table may only keep more)."""
    table = Space(space.distances, labels=space.labels)
    assert table.same_as(space)
    assert space.same_as(table)
    edges = {tuple(e) for e in space.edges.tolist()}
    if space.distances.dtype == np.float64:
        assert edges <= {tuple(e) for e in table.edges.tolist()}
    else:
        assert space.edges.tolist() == table.edges.tolist()
    lengths = [[space.length(x, y) for y in range(space.size)] for x in range(space.size)]
    assert Space(lengths).edges.tolist() == space.edges.tolist()
    assert np.array([[float(d) for d in row] for row in lengths]) == pytest.approx(space.distances.astype(float))


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_restriction_keeps_the_metric(space):
    """The restriction to some secrets has their distances, exactly, and their labels."""
    kept = list(reversed(range(0, space.size, 2)))
    part = space.restrict(kept)
    assert part.labels == tuple(space.labels[x] for x in kept)
    assert [part.length(0, k) for k in range(len(kept))] == [space.length(kept[0], x) for x in kept]


@pytest.mark.parametrize("secrets", [[], [0, 0], [9], [-1], [True, False], [0.5], 1])
def test_a_restriction_needs_distinct_secrets_of_the_space(secrets):
    """Nothing, repetitions, booleans, and what is not in the space are refused."""
    with pytest.raises(OutOfRange):
        counts(4).restrict(secrets)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_copies_are_the_same_space_and_read_only(space):
    """Pickle and deepcopy rebuild the space; its arrays stay read-only."""
    for again in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        assert again.same_as(space)
        assert len(again) == space.size
        assert not again.distances.flags.writeable
    assert not space.same_as(counts(5))
    assert not counts(1).same_as(Space([[0, 2], [2, 0]]))


def test_distances_near_the_largest_integers_do_not_wrap_around():
    """Integers of 63 and 64 bits: their sums are taken exactly, whatever they come in."""
    far = 2**62 + 5
    for kind, number in ((np.int64, far), (np.uint64, 2 * far)):
        assert Space(np.array([[0, number], [number, 0]], dtype=kind)).edges.tolist() == [[0, 1]]
    table = [[0, far, 2 * far], [far, 0, far], [2 * far, far, 0]]
    assert Space(np.array(table, dtype=np.uint64)).edges.tolist() == [[0, 1], [1, 2]]
    assert Space(table).length(0, 2) == 2 * far


@pytest.mark.parametrize("number", [10**400, Fraction(10**400, 3), 1e307, 2 * 10**300])
def test_distances_that_floats_cannot_add_are_refused(number):
    with pytest.raises(NotAMetric, match="at most 10"):
        Space([[0, number], [number, 0]])
