"""The checker: what proves nothing is refused, whatever it claims; certificates survive pickling and copying."""

import copy
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from utmost.capacities import (
    CapacityCertificate,
    EnvelopeMechanism,
    LatticeMechanism,
    PairMultipliers,
    ProductDual,
    SimilarityMechanism,
    UniformDual,
    UniformMechanism,
    capacity,
    policy_capacity,
)
from utmost.channels import geometric_channel, randomized_response
from utmost.errors import OutOfRange, PromiseBroken
from utmost.exact import as_array
from utmost.optima import Bounds
from utmost.privacy_types import PolicyType, PrivacyType
from utmost.spaces import Policy, Space, counts, discrete, grid, hamming

HALF = {"alpha": "1/2"}
LINE, EQUAL = PrivacyType(counts(3), **HALF), PrivacyType(discrete(3), **HALF)
CASES = {
    "line": (LINE, "multiplicative"),
    "equal": (EQUAL, "additive"),
    "product": (PrivacyType(grid(2, 3, "manhattan"), **HALF), "multiplicative"),
    "lattice": (PrivacyType(grid(3, 5), epsilon=1), "additive"),
    "magnitude": (PrivacyType(grid(4, 4), **HALF), "multiplicative"),
    "packing": (PrivacyType(grid(3, 3), **HALF), "multiplicative"),
    "envelope": (PrivacyType(grid(7, 7), epsilon="1/10"), "multiplicative"),
    "additive envelope": (PrivacyType(grid(8, 8), epsilon="1/10"), "additive"),
}


@cache
def found_capacity(name):
    ptype, kind = CASES[name]
    return capacity(ptype, kind=kind)


@pytest.mark.parametrize("name", CASES)
def test_a_certificate_verifies_and_survives_a_copy(name):
    found = found_capacity(name)
    for again in (found, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again.certificate.verify()
        assert (again.value, again.lower, again.method) == (found.value, found.lower, found.method)


@pytest.mark.parametrize("name", CASES)
def test_a_better_claim_than_the_proof_is_refused(name):
    certificate = found_capacity(name).certificate
    little = certificate.upper / 10**9
    for bounds in (
        Bounds(certificate.lower, certificate.upper - little),
        Bounds(certificate.lower + little, certificate.upper),
    ):
        assert not replace(certificate, bounds=bounds).verify()
    assert replace(certificate, bounds=Bounds(certificate.lower - little, certificate.upper + little)).verify()


@pytest.mark.parametrize("name", CASES)
def test_a_mechanism_of_the_type_attains_the_lower_bound(name):
    """The implicit mechanism, written out, is a channel of the type and leaks what its certificate says."""
    found = found_capacity(name)
    ptype, matrix = found.certificate.ptype, found.mechanism.matrix
    assert matrix.shape == found.mechanism.shape
    assert ptype.contains(found.mechanism)
    own = capacity(found.mechanism, kind=found.certificate.kind)
    assert float(own.value) == pytest.approx(float(found.lower), rel=1e-11)
    if found.is_exact:
        assert own.value == found.value


def refused(ptype, kind, mechanism, dual, multipliers=None):
    with pytest.raises(PromiseBroken) as caught:
        CapacityCertificate(ptype, kind, mechanism, dual, multipliers)
    return str(caught.value)


ON_LINE = capacity(LINE)
GEOMETRIC, DUAL, WEIGHTS = geometric_channel(4, **HALF), ON_LINE.certificate.dual, ON_LINE.mechanism.weights


def test_mechanisms_that_are_not_of_the_type_are_refused():
    assert "4 rows" in refused(LINE, "multiplicative", geometric_channel(3, **HALF), DUAL)
    assert "satisfy the level" in refused(LINE, "multiplicative", geometric_channel(4, alpha="1/3"), DUAL)
    assert "Fractions" in refused(LINE, "multiplicative", GEOMETRIC.to_floats(), DUAL)
    assert "sum to 1" in refused(LINE, "multiplicative", SimilarityMechanism(LINE, WEIGHTS / 2), DUAL)
    assert "at most 1" in refused(LINE, "multiplicative", SimilarityMechanism(LINE, 2 * WEIGHTS, has_rest=True), DUAL)
    uneven = SimilarityMechanism(LINE, as_array(["9/10", 0, 0, 0]), has_rest=True)
    assert "rest" in refused(LINE, "multiplicative", uneven, DUAL)
    assert "nonnegative" in refused(LINE, "multiplicative", SimilarityMechanism(LINE, -WEIGHTS), DUAL)
    assert "nonnegative" in refused(LINE, "multiplicative", SimilarityMechanism(LINE, WEIGHTS[:2]), DUAL)
    other = PrivacyType(counts(3), alpha="1/3")
    assert "the mechanism must satisfy" in refused(LINE, "multiplicative", SimilarityMechanism(other, WEIGHTS), DUAL)
    assert "same distances" in refused(LINE, "multiplicative", UniformMechanism(LINE), DUAL)
    assert "sign" in refused(EQUAL, "multiplicative", UniformMechanism(EQUAL, -1), UniformDual())
    places = found_capacity("lattice").certificate
    assert "lattice" in refused(places.ptype, "multiplicative", places.mechanism, places.dual)
    with pytest.raises(OutOfRange, match="lattice"):
        LatticeMechanism(LINE)


def test_a_rest_that_is_even_enough_is_taken():
    """[E diag(w)/2 | 1/2]: half of the time nothing is said."""
    halved = CapacityCertificate(LINE, "multiplicative", SimilarityMechanism(LINE, WEIGHTS / 2, has_rest=True), DUAL)
    assert (halved.lower, halved.upper) == (1.5, 2.0)
    added = CapacityCertificate(
        LINE, "additive", SimilarityMechanism(LINE, WEIGHTS / 2, has_rest=True), as_array([0, 0, 0, 0])
    )
    assert (added.lower, added.upper) == (pytest.approx(1 / 3), 1.0)


def test_duals_that_prove_nothing_are_refused():
    low = DUAL.copy()
    low[0] -= Fraction(1, 10**30)
    assert "feasible" in refused(LINE, "multiplicative", GEOMETRIC, low)
    high = capacity(LINE, kind="additive").certificate.dual.copy()
    high[1] += Fraction(1, 10**30)
    assert "feasible" in refused(LINE, "additive", GEOMETRIC, high)
    assert "multipliers" in refused(LINE, "multiplicative", GEOMETRIC, as_array([2, 2, 2, -1]))
    assert "4 Fractions" in refused(LINE, "multiplicative", GEOMETRIC, DUAL[:3])
    assert "4 Fractions" in refused(LINE, "multiplicative", GEOMETRIC, DUAL.astype(np.float64))
    assert "same distances" in refused(LINE, "multiplicative", GEOMETRIC, UniformDual())
    assert "product" in refused(LINE, "multiplicative", GEOMETRIC, ProductDual((DUAL,)))


def test_multipliers_are_looked_at_one_by_one():
    odd = [
        [0, 1, 3, 2, 3, 3],
        [1, 0, 2, 1, 2, 2],
        [3, 2, 0, 1, 3, 2],
        [2, 1, 1, 0, 2, 1],
        [3, 2, 3, 2, 0, 3],
        [3, 2, 2, 1, 3, 0],
    ]
    ptype = PrivacyType(Space(odd), **HALF)  # its packing is no capacity: a program over pairs decides
    certificate = capacity(ptype).certificate
    multipliers = certificate.multipliers
    assert certificate.verify()
    worse = replace(certificate, multipliers=replace(multipliers, values=multipliers.values / 2))
    assert not worse.verify()
    negative = multipliers.values.copy()
    negative[0] = Fraction(-1)
    assert "not be negative" in refused(
        ptype, "multiplicative", certificate.mechanism, certificate.dual, replace(multipliers, values=negative)
    )
    empty = PairMultipliers(*(np.array([], dtype=np.int64) for _ in range(3)), np.array([], dtype=object))
    assert "feasible" in refused(ptype, "multiplicative", certificate.mechanism, certificate.dual, empty)


def test_envelopes_of_any_heights_are_private_and_their_rest_is_looked_at():
    certificate = found_capacity("envelope").certificate
    ptype, heights = certificate.ptype, certificate.mechanism.heights
    assert isinstance(certificate.mechanism, EnvelopeMechanism)
    rough = EnvelopeMechanism(ptype, heights * np.random.default_rng(1).uniform(0.6, 0.9, heights.shape))
    columns = rough.columns()
    edges, powers = ptype.space.edges, np.exp(-0.1 * ptype.space.distances)
    assert (columns[edges[:, 0]] >= powers[tuple(edges.T)][:, None] * columns[edges[:, 1]] * (1 - 1e-14)).all()
    assert "rest" in refused(ptype, "multiplicative", rough, certificate.dual)
    assert "at most 1" in refused(ptype, "multiplicative", EnvelopeMechanism(ptype, heights * 1.01), certificate.dual)
    for bad in (heights[:-1], -heights, heights + 1, heights * np.nan):
        with pytest.raises(OutOfRange):
            EnvelopeMechanism(ptype, bad)


def test_a_mechanism_that_leaks_less_leaves_a_gap():
    weaker = CapacityCertificate(EQUAL, "multiplicative", randomized_response(3, alpha="2/3"), UniformDual())
    assert weaker.lower <= Fraction(9, 7) < weaker.lower + 1e-15
    assert weaker.upper == 1.5
    assert weaker.gap > 0.2


def test_the_uniform_mechanism_of_irrational_levels_is_written_in_floats():
    found = capacity(PrivacyType(hamming(3), epsilon=1))
    assert found.mechanism.matrix.dtype == np.float64
    assert found.mechanism.channel().shape == (8, 8)
    assert not found.is_exact
    assert found.lower < found.value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.5])
def test_multipliers_that_are_no_rationals_prove_nothing(value):
    """Of NaN no slack is below 0: z = 0 would prove a capacity of 0."""
    ptype = PrivacyType(discrete(4), alpha="1/2")
    mechanism = capacity(ptype).mechanism
    x, j = np.arange(16) // 4, np.arange(16) % 4
    zero = as_array(["0"] * 4)
    for values in (np.full(16, value), np.array([value] * 16, dtype=object), as_array(["1"] * 15)):
        with pytest.raises(PromiseBroken):
            CapacityCertificate(ptype, "multiplicative", mechanism, zero, PairMultipliers(x, (x + 1) % 4, j, values))
    with pytest.raises(PromiseBroken):
        CapacityCertificate(ptype, "multiplicative", mechanism, np.array([value] * 4, dtype=object))


@pytest.mark.parametrize("level", [{"alpha": "1/2"}, {"epsilon": 1}])
def test_what_the_parts_of_a_policy_do_not_prove_is_refused(level):
    two = PolicyType(Policy.product(Policy.public(2), counts(3)), **level)
    for kind in ("multiplicative", "additive"):
        found = policy_capacity(two, kind)
        assert found.verify()
        assert not replace(found, value=found.value / 2).verify()
        assert not replace(found, lower=found.lower * 2).verify()
    found = policy_capacity(two)
    assert sum(Fraction(part.value) for part in found.parts) <= found.value
    assert not replace(found, parts=found.parts[:1]).verify()
    assert not replace(found, parts=()).verify()


@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (2, 3), (5, 4), (4, 6), (1, 4)])
def test_the_least_entries_of_a_lattice_are_those_of_its_matrix(rows, cols):
    """Sides of an odd and of an even number of points have formulas of their own."""
    mechanism = LatticeMechanism(PrivacyType(grid(rows, cols), "7/5"))
    low, high = mechanism.least()
    assert low <= high
    assert float(low) == pytest.approx(np.asarray(mechanism.matrix, float).min(axis=0).sum(), rel=1e-9)


@pytest.mark.parametrize("epsilon", [800, 100_000])
@pytest.mark.parametrize("space", [counts(3), grid(3, 2), Space([[0, 1, 9], [1, 0, 9], [9, 9, 0]])], ids=str)
def test_a_dual_that_is_too_large_at_a_high_level_proves_nothing(space, epsilon):
    """Its sums are above every float, and need more bits than there are: it was an OverflowError."""
    found = capacity(PrivacyType(space, epsilon=epsilon), kind="additive").certificate
    dual = np.array([Fraction(1, 10)] * space.size, dtype=object)
    assert not replace(found, dual=dual).verify()
