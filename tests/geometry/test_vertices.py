"""Vertices listed, streamed and counted: by several routes, and against brute force."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# A stream of vertices: a public call gives the whole list, or their number.
from utmost.design.geometry.vertex_search import vertex_blocks
from utmost.errors import Unsupported
from utmost.geometry import count_vertices, vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, graph, grid, hamming

HALF = {"alpha": "1/2"}


def closed(weights):
    """The shortest-path closure of symmetric weights: always a metric."""
    d = np.array(weights, dtype=np.int64)
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k])
    np.fill_diagonal(d, 0)
    return d


metrics = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.integers(1, 4), min_size=n * n, max_size=n * n).map(
        lambda w: closed(np.minimum(*(lambda a: (a, a.T))(np.array(w).reshape(n, n))))
    )
)


def brute_force(d):
    """All h with h(0) = 0 that n - 1 independent tight constraints fix: spanning trees with signs, kept if feasible."""
    n = len(d)
    pairs = list(combinations(range(n), 2))
    found = set()
    for tree in combinations(pairs, n - 1):
        for signs in product((1, -1), repeat=n - 1):
            h = {0: 0}
            for _ in range(n):
                for (x, y), s in zip(tree, signs, strict=True):
                    if x in h and y not in h:
                        h[y] = h[x] + s * d[x, y]
                    elif y in h and x not in h:
                        h[x] = h[y] - s * d[x, y]
            if len(h) == n and all(abs(h[x] - h[y]) <= d[x, y] for x, y in pairs):
                found.add(tuple(int(h[x]) for x in range(n)))
    return found


@given(metrics)
def test_reverse_search_lists_each_vertex_once(d):
    """The list = brute force over spanning trees."""
    d = d // max(1, np.gcd.reduce(d.ravel()))
    listed = vertices(PrivacyType(Space(d), **HALF)).exponents[:, :, 0]
    found = [tuple(int(x) - int(h[0]) for x in h) for h in listed]
    assert len(found) == len(set(found))
    assert set(found) == brute_force(d)


@given(metrics)
def test_the_count_is_the_length_of_the_list(d):
    """count_vertices (blocks, transfer matrix, closed forms) = number of vertices that are listed."""
    ptype = PrivacyType(Space(d), **HALF)
    assert count_vertices(ptype) == len(vertices(ptype))


@given(metrics)
def test_a_vertex_is_lipschitz_and_tight_everywhere_connected(d):
    """h(x) - h(y) <= d(x, y), least h is 0, and tight pairs join all secrets."""
    listed = vertices(PrivacyType(Space(d), **HALF))
    table = listed.distances.integers()
    for h in listed.exponents[:, :, 0]:
        steps = h[:, None] - h[None, :]
        assert h.min() == 0
        assert (steps <= table).all()
        tight = np.linalg.matrix_power((abs(steps) == table).astype(object), len(h))  # with each secret itself
        assert (tight > 0).all()


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (counts(0), 1),
        (counts(1), 2),
        *[(counts(n), 2**n) for n in (2, 5, 9)],
        *[(discrete(k), 2**k - 2) for k in (3, 4, 5, 10)],
        *[(hamming(b), c) for b, c in ((1, 2), (2, 6), (3, 38), (4, 990))],
        (grid(2, 2), 18),
        *[(grid(k, k, metric="manhattan"), c) for k, c in ((2, 6), (3, 82), (4, 2604))],
        (grid(1, 6), 2**5),
    ],
)
def test_counts_of_the_tables(space, count):
    """[fernandes2022], tables 4 to 7 (9 points: see below; 4 bits added)."""
    assert count_vertices(space) == count == len(vertices(PrivacyType(space, **HALF)))


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (hamming(5), 395094),
        (grid(5, 5, metric="manhattan"), 193662),
        (grid(6, 6, metric="manhattan"), 33865632),
        (counts(500), 2**500),
        (discrete(300), 2**300 - 2),
        (graph([(k, (k + 1) % 6) for k in range(6)]), comb(6, 3)),
        (graph([(k, (k + 1) % 12) for k in range(12)]), comb(12, 6)),
    ],
)
def test_counting_needs_no_list(space, count):
    """Transfer matrix and closed forms; an even cycle of length 2k has C(2k, k) height functions."""
    assert count_vertices(space) == count


@pytest.mark.slow
def test_the_six_bit_cube():
    """A third of the 100301050602 proper 3-colourings of the 6-cube."""
    assert count_vertices(hamming(6)) == 100301050602 // 3


def test_nine_points_of_the_plane_have_4346_vertices():
    """Not 4798 ([fernandes2022], table 6): rounded distances split vertices where more than 8 pairs are tight."""
    listed = vertices(PrivacyType(grid(3, 3), **HALF))
    assert len(listed) == 4346
    assert len(np.unique(listed.exponents, axis=0)) == 4346


def test_generic_metrics_have_a_central_binomial_number():
    """C(2n-2, n-1) vertices where no two sums of distances are equal."""
    rng = np.random.default_rng(7)
    for n in (3, 4, 5, 6):
        weights = rng.integers(10**6, 2 * 10**6, (n, n))
        assert count_vertices(Space(np.triu(weights, 1) + np.triu(weights, 1).T)) == comb(2 * n - 2, n - 1)


def test_a_list_of_the_five_bit_cube():
    """395 094 height functions, streamed in small blocks; steps of one around a square."""
    seen = 0
    for block in vertex_blocks(PrivacyType(hamming(5), **HALF), rows=50_000):
        assert len(block) <= 50_000
        assert (abs(np.diff(block.exponents[:, [0, 1, 3, 2, 0], 0], axis=1)) == 1).all()
        seen += len(block)
    assert seen == 395094


def test_streaming_does_not_list_first():
    """The first blocks of 3 x 10^7 and of 10^30 vertices come at once."""
    for space in (grid(6, 6, metric="manhattan"), counts(100), discrete(60), grid(4, 4)):
        block = next(vertex_blocks(PrivacyType(space, **HALF), rows=100))
        assert 0 < len(block) <= 100


def test_blocks_give_the_list_in_order():
    """Streaming changes nothing but the size of the pieces."""
    for space in (hamming(3), discrete(5), grid(2, 2), grid(2, 3)):
        ptype = PrivacyType(space, **HALF)
        pieces = [block.exponents for block in vertex_blocks(ptype, rows=7)]
        assert max(len(piece) for piece in pieces) <= 7
        assert np.array_equal(np.concatenate(pieces), vertices(ptype).exponents)


@given(st.integers(2, 7), st.randoms(use_true_random=False))
def test_transfer_matrix_agrees_with_the_list(n, random):
    """On random connected bipartite graphs, whose vertices are height functions."""
    edges = {(random.randrange(k), k) for k in range(1, n)}
    side = [0] * n
    for x, y in sorted(edges, key=lambda e: e[1]):
        side[y] = 1 - side[x]
    edges |= {(x, y) for x, y in combinations(range(n), 2) if side[x] != side[y] and random.random() < 0.3}
    space = graph(sorted(edges))
    assert count_vertices(space) == len(vertices(PrivacyType(space, **HALF)))


def test_wide_frontiers_are_refused():
    """40 leaves on each of two hubs that are joined through all of them: K(2, 40) fits; K(40, 40) does not."""
    assert count_vertices(graph([(h, k) for h in (0, 1) for k in range(2, 42)])) == 2**40 + 2 * 1
    with pytest.raises(Unsupported, match="at most 32 secrets"):
        count_vertices(graph([(h, k) for h in range(40) for k in range(40, 80)]))


def test_posteriors_in_both_kinds_of_numbers():
    """Rational alpha gives Fractions, epsilon floats; both sum to 1 and are the extreme ratios apart."""
    exact = vertices(PrivacyType(counts(2), alpha="1/2"))
    assert exact.is_exact
    assert {tuple(p) for p in exact} == {
        tuple(Fraction(k, sum(p)) for k in p) for p in ((1, 2, 4), (4, 2, 1), (1, 2, 1), (2, 1, 2))
    }
    assert exact.columns.shape == (3, 4)
    shown = vertices(PrivacyType(counts(2), epsilon=1))
    assert shown.columns.dtype == np.float64
    np.testing.assert_allclose(shown.columns.sum(axis=0), 1)
    np.testing.assert_allclose(shown.weights.min(axis=0), np.exp([-2.0, -1.0, -1.0, -2.0]))


def test_first_of_the_levels_changes_nothing_in_the_log_domain():
    """The exponents are the same at every level."""
    one = vertices(PrivacyType(grid(2, 2), alpha="1/2"))
    two = vertices(PrivacyType(grid(2, 2), epsilon="1/10"))
    assert np.array_equal(one.exponents, two.exponents)
