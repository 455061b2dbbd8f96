"""All routes to a capacity give one answer: closed form, magnitude, packing, classes of pairs, whole program."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.capacities import UniformMechanism, capacity
from utmost.channels import Channel

# Each route to a capacity is compared with the others; `capacity` takes one of them.
from utmost.design.capacities.capacity import ROUTES
from utmost.design.capacities.pair_program import by_edge_program
from utmost.errors import NotAChannel
from utmost.exact import Surd
from utmost.geometry import vertices
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.programs import LinearProgram, solve_exactly
from utmost.spaces import Consumer, Space, counts, cycle, discrete, graph, grid, hamming, product

KINDS = ("multiplicative", "additive")


def by_all_routes(ptype, kind):
    found = [(name, route(ptype, kind)) for name, route in ROUTES]
    return {name: certificate for name, certificate in found if certificate is not None and name != "bound"}


def by_vertices(ptype, kind):
    """The capacity by brute force: a program over all vertices of the type, where they can be listed."""
    listed = vertices(ptype).columns
    n, count = listed.shape
    extremes = listed.max(axis=0) if kind == "multiplicative" else listed.min(axis=0)
    cost = -extremes * n if kind == "multiplicative" else extremes * n
    share = np.full(n, Fraction(1, n), dtype=object)
    rows, columns = (part.ravel() for part in np.indices((n, count)))
    value = solve_exactly(LinearProgram.of_triplets(cost, rows, columns, listed.ravel(), share, share)).value
    return -value if kind == "multiplicative" else 1 - value


SPACES = {
    "line": counts(4),
    "discrete": discrete(4),
    "cube": hamming(3),
    "manhattan": grid(2, 3, "manhattan"),
    "cycle": graph([(k, (k + 1) % 5) for k in range(5)]),
    "star": graph([("hub", k) for k in range(4)]),
    "weighted tree": graph([(0, 1, "1/2"), (1, 2, 2), (1, 3, 1), (3, 4, 3)]),
    "two": Space([[0, 3], [3, 0]]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", ["1/4", "81/100"])
@pytest.mark.parametrize("name", SPACES)
def test_all_routes_agree_exactly_where_all_is_rational(name, alpha, kind):
    ptype = PrivacyType(SPACES[name], alpha=alpha)
    found = by_all_routes(ptype, kind)
    assert "program" in found
    assert len({certificate.upper for certificate in found.values()}) == 1
    assert all(certificate.gap == 0 and certificate.verify() for certificate in found.values())
    value = capacity(ptype, kind=kind).value
    assert value == found["program"].upper == by_vertices(ptype, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [{"epsilon": "1/20"}, {"alpha": "1/2"}], ids=str)
@pytest.mark.parametrize("name", ["grid 3x4", "grid 3x3", "grid 1x4", "cube", "surds", "floats"])
def test_all_routes_agree_within_their_bounds_elsewhere(name, level, kind):
    surds = [[0, Surd.sqrt(2), 2], [Surd.sqrt(2), 0, Surd.sqrt(3)], [2, Surd.sqrt(3), 0]]
    spaces = {
        "grid 3x4": grid(3, 4),
        "grid 3x3": grid(3, 3),
        "grid 1x4": grid(1, 4),
        "cube": hamming(3),
        "surds": Space(surds),
        "floats": Space([[0, 0.3, 0.7], [0.3, 0, 0.9], [0.7, 0.9, 0]]),
    }
    ptype = PrivacyType(spaces[name], **level)
    found = by_all_routes(ptype, kind)
    assert len(found) >= 2
    assert max(c.lower for c in found.values()) <= min(c.upper for c in found.values())
    assert all(c.verify() and float(c.gap) < 1e-9 for c in found.values())


@st.composite
def metrics(draw, largest=6):
    """Integer metrics by shortest paths in a random complete graph."""
    n = draw(st.integers(1, largest))
    lengths = draw(st.lists(st.integers(1, 6), min_size=n * n, max_size=n * n))
    table = np.array(lengths, dtype=np.int64).reshape(n, n)
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0)
    for k in range(n):
        table = np.minimum(table, table[:, k, None] + table[None, k])
    return Space(table)


@given(metrics(), st.sampled_from(["1/2", "9/10", "1/10"]), st.sampled_from(KINDS))
def test_random_metrics_have_the_capacity_of_the_whole_program(space, alpha, kind):
    """Corollaries 17 and 18: the shortest route finds the optimum of the program in n^2 variables."""
    ptype = PrivacyType(space, alpha=alpha)
    found = capacity(ptype, kind=kind)
    assert found.certificate.verify()
    assert found.is_exact
    if space.size > 1:
        assert found.value == by_edge_program(ptype, kind).upper


@given(metrics(4), st.sampled_from(["1/2", "4/5"]))
def test_the_capacities_are_the_optima_of_the_binary_and_the_nib_consumer(space, alpha):
    """1 - capacity/n, and (1 - capacity)/n, are the least losses of the uniform consumers of theorems 4 and 5."""
    ptype, n = PrivacyType(space, alpha=alpha), space.size
    for kind, loss in (("multiplicative", losses.binary), ("additive", losses.nib)):
        optimum = optimal_mechanism(ptype, Consumer(priors.uniform(n), loss)).loss
        value = capacity(ptype, kind=kind).value
        assert optimum == (1 - value / n if kind == "multiplicative" else (1 - value) / n)


def test_a_negative_weighting_is_not_the_capacity():
    """Of 3 x 3 places the weighting is negative in the middle: the magnitude 2.5313 is above the capacity."""
    ptype = PrivacyType(grid(3, 3), alpha="1/2")
    similarity = 0.5 ** np.asarray(ptype.space.distances, dtype=float)
    weights = np.linalg.solve(similarity, np.ones(9))
    assert weights[4] == pytest.approx(-0.0703, abs=5e-5)
    assert weights.sum() == pytest.approx(2.5313, abs=5e-5)
    found = capacity(ptype)
    assert (found.method, float(found)) == ("packing", pytest.approx(2.502366599550, rel=1e-12))


STRICT = [
    [0, 1, 3, 2, 3, 3],
    [1, 0, 2, 1, 2, 2],
    [3, 2, 0, 1, 3, 2],
    [2, 1, 1, 0, 2, 1],
    [3, 2, 3, 2, 0, 3],
    [3, 2, 2, 1, 3, 0],
]


def test_where_the_packing_is_no_capacity_a_dual_with_multipliers_proves_it():
    """11/4 is the least sum of a nonnegative dual, 122/45 the capacity: the dual needs negative entries."""
    ptype = PrivacyType(Space(STRICT), alpha="1/2")
    found = capacity(ptype)
    assert (found.value, found.method) == (Fraction(122, 45), "program")
    assert found.value == by_vertices(ptype, "multiplicative")
    assert min(found.certificate.dual) < 0
    assert found.certificate.verify()


def test_a_lattice_too_large_for_programs_has_two_bounds_with_a_gap():
    """At epsilon = 1/2 the packing is no capacity (5 x 5 places: 3.39919511, the packing 3.39923530)."""
    small = PrivacyType(grid(5, 5), epsilon="1/2")
    found, bound = dict(ROUTES)["orbits"](small, "multiplicative"), dict(ROUTES)["bound"](small, "multiplicative")
    assert bound.lower < found.lower
    assert found.upper < 3.39919512 < 3.3992352 < bound.upper
    large = PrivacyType(grid(14, 14), epsilon="1/4")
    for kind in KINDS:
        found = capacity(large, kind=kind)
        assert found.certificate.verify()
        assert 0 < found.lower < found.value
    assert capacity(large).method == "bound"


def test_a_bound_is_a_bound_where_the_packing_is_no_capacity():
    found = dict(ROUTES)["bound"](PrivacyType(Space(STRICT), alpha="1/2"), "multiplicative")
    assert found.lower <= 122 / 45 <= found.upper
    assert found.verify()


def test_a_channel_has_its_own_capacity():
    """Of a channel the capacities are those of the room of leakage; what is neither is refused."""
    coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    assert (capacity(coin).value, capacity(coin, kind="additive").value) == (Fraction(3, 2), Fraction(1, 2))
    with pytest.raises(NotAChannel):
        capacity("a type")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", [counts(0), discrete(1), grid(1, 1), Space([[0]])], ids=str)
def test_one_secret_cannot_leak(space, kind):
    found = capacity(PrivacyType(space, epsilon=1), kind=kind)
    assert float(found) == (1 if kind == "multiplicative" else 0)
    assert found.certificate.verify()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [{"epsilon": "1e-6"}, {"epsilon": 50}, {"alpha": "1/1000000"}], ids=str)
@pytest.mark.parametrize("name", ["star", "grid 2x2", "grid 3x4", "line of 40", "two"])
def test_capacities_at_extreme_levels(name, level, kind):
    spaces = {"star": SPACES["star"], "grid 2x2": grid(2, 2), "grid 3x4": grid(3, 4), "line of 40": counts(39)}
    space = spaces.get(name, SPACES["two"])
    found = capacity(PrivacyType(space, **level), kind=kind)
    assert found.certificate.verify()
    assert float(found.gap) <= 1e-6
    assert found.lower <= space.size if kind == "multiplicative" else 0 < found.lower <= found.value <= 1


PRODUCTS = {
    "line by cycle": product(counts(2), cycle(3)),
    "three parts": product(counts(1), discrete(3), counts(2)),
    "tree by line": product(graph([("hub", k) for k in range(3)]), counts(1)),
    "places by line": product(grid(2, 2), counts(1)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_capacities_of_products_multiply(name, kind):
    """(1 - c) is multiplicative for additive capacities; both ways give what the program over pairs gives."""
    ptype = PrivacyType(PRODUCTS[name], alpha="1/2")
    found = capacity(ptype, kind=kind)
    assert found.method in ("product", "closed form")
    assert found.certificate.verify()
    assert ptype.contains(found.mechanism)
    other = by_edge_program(ptype, kind)
    assert other.lower <= found.upper
    assert found.lower <= other.upper
    if found.is_exact:
        assert found.value == other.upper


@pytest.mark.parametrize("epsilon", [140, 800])
@pytest.mark.parametrize(
    "space",
    [
        counts(3),
        counts(4),
        hamming(3),
        discrete(3),
        Space([[0, 150], [150, 0]]),
        Space([[0, 1, 9], [1, 0, 9], [9, 9, 0]]),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_level_at_which_nothing_is_hidden_has_a_capacity_and_a_mechanism(space, epsilon, kind):
    """On counts the call failed within its proof, and where all rows are alike the matrix was NaN."""
    found = capacity(PrivacyType(space, epsilon=epsilon), kind=kind)
    assert found.certificate.verify()
    assert float(found.value) == pytest.approx(space.size if kind == "multiplicative" else 1)
    matrix = np.array(found.mechanism.matrix, dtype=float)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(space.size))
    assert float(capacity(Channel(matrix), kind=kind).value) == pytest.approx(float(found.value))


@pytest.mark.parametrize("epsilon", [800, 100_000])
@pytest.mark.parametrize(
    "space", [counts(0), counts(3), hamming(2), cycle(5), grid(2, 2), product(counts(1), discrete(3))], ids=str
)
def test_a_capacity_is_within_its_limits_at_any_level(space, epsilon):
    """Additive capacities of counts needed too many bits, those of cycles took a minute; 4 secrets leaked 4 + 2^-50."""
    ptype = PrivacyType(space, epsilon=epsilon)
    most, one = capacity(ptype), capacity(ptype, kind="additive")
    assert most.certificate.verify()
    assert one.certificate.verify()
    assert 1 <= most.lower <= most.value <= space.size
    assert 0 <= one.lower <= one.value <= 1
    if space.size > 1:
        assert (float(most.value), float(one.value)) == pytest.approx((space.size, 1))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("space", [cycle(4), grid(2, 2)], ids=str)
def test_the_matrix_of_a_uniform_mechanism_has_the_nearest_floats(space, sign):
    """By mpmath, down to the smallest floats."""
    with mpmath.workdps(500):
        for epsilon in (1, 300, 360):
            found = UniformMechanism(PrivacyType(space, epsilon=epsilon), sign).matrix
            powers = [mpmath.exp(-sign * epsilon * mpmath.sqrt(round(d * d))) for d in space.distances[0].tolist()]
            assert found[0].tolist() == [float(p / sum(powers)) for p in powers]
