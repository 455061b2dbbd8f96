"""The distance from refinement at a prior and Kantorovich distances: known values, two routes, proofs, refusals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.errors import OutOfRange, UtmostError
from utmost.geometry import additive_capacity_at, kantorovich_distance, refinement_distance, refines
from utmost.leakage import g_vulnerability
from utmost.programs import LinearProgram, solve_exactly
from utmost.spaces import Space, counts, discrete, grid

A = [["1/10", "2/5", "1/10", "2/5"], ["1/5", "1/5", "3/10", "3/10"], ["1/2", "1/10", "1/10", "3/10"]]
B = [["1/5", "11/50", "29/50"], ["1/5", "2/5", "2/5"], ["7/20", "2/5", "1/4"]]
PRIOR = ["62/100", "3/100", "35/100"]
CLASSES = ["unit", "never negative"]


def random_channel(rng, n, m):
    rows = [[Fraction(int(v)) for v in rng.integers(0, 6, m) + (np.arange(m) == 0)] for _ in range(n)]
    return ut.channels.Channel([[v / sum(row) for v in row] for row in rows])


def random_prior(rng, n):
    weights = [Fraction(int(v)) for v in rng.integers(0, 5, n) + (np.arange(n) == n - 1)]
    return [w / sum(weights) for w in weights]


def test_the_distance_of_the_example_that_made_a_simplex_method_loop():
    """libqif's own test has 18643/2220000, for gains of at most 1; gains in [0, 1] are fewer, and gain 309/1480000."""
    found = {gains: refinement_distance(better=A, worse=B, prior=PRIOR, gains=gains) for gains in CLASSES}
    assert found["never negative"].value == Fraction(18643, 2220000)
    assert found["unit"].value == Fraction(309, 1480000)
    assert all(distance.verify() for distance in found.values())


@pytest.mark.parametrize("gains", CLASSES)
def test_it_is_zero_exactly_for_refinements_and_no_gain_has_more(gains):
    """Random gains of the class; the triangle inequality; and refinement itself, decided by another program."""
    rng = np.random.default_rng(5)
    zeros = 0
    for _ in range(12):
        n = int(rng.integers(2, 4))
        first, last = random_channel(rng, n, 3), random_channel(rng, n, 2)
        second = first @ random_channel(rng, 3, 3) if rng.integers(2) else random_channel(rng, n, 3)
        prior = random_prior(rng, n)
        pairs = [(first, second), (second, last), (first, last)]
        found = [refinement_distance(better=x, worse=y, prior=prior, gains=gains) for x, y in pairs]
        assert all(distance.verify() and 0 <= distance.value <= 1 for distance in found)
        assert found[2].value <= found[0].value + found[1].value
        if all(prior):
            assert (found[0].value == 0) == bool(refines(better=first, worse=second))
            zeros += found[0].value == 0
        for _ in range(20):
            gain = rng.random((n, 3)) if gains == "unit" else np.c_[1 - rng.exponential(1, (n, 3)), np.zeros(n)]
            measure = g_vulnerability(gain)
            less = measure.posterior(second.to_floats(), prior) - measure.posterior(first.to_floats(), prior)
            assert float(less) <= float(found[0].value) + 1e-12
    assert zeros


def test_the_capacity_at_a_prior_has_its_closed_form_and_its_order():
    """One minus the minima over secrets with mass, in the larger class; unit gains have less, spans are between."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        channel, prior = random_channel(rng, 3, 4), random_prior(rng, 3)
        large = additive_capacity_at(channel, prior, gains="never negative")
        unit = additive_capacity_at(channel, prior)
        mass = [x for x in range(3) if prior[x]]
        assert large.value == 1 - sum(min(channel.matrix[x, y] for x in mass) for y in range(4))
        outer = [sum(prior[x] * channel.matrix[x, y] for x in range(3)) for y in range(4)]
        joint = ((prior[x] * channel.matrix[x, y], prior[x] * outer[y]) for x in range(3) for y in range(4))
        spans = sum(max(both - apart, Fraction(0)) for both, apart in joint)
        assert unit.value <= spans <= large.value
        assert unit.verify()
        assert large.verify()
        leakage = g_vulnerability(unit.gain).additive_leakage(channel, prior)
        assert leakage == unit.value


def test_a_forged_distance_is_noticed():
    found = refinement_distance(better=A, worse=B, prior=PRIOR)
    for change in (
        {"value": found.value + Fraction(1, 10**9)},
        {"remap": found.remap * 2},
        {"gain": found.gain * 2},
        {"gains": "never negative"},
        {"better": ut.channels.Channel(B), "worse": ut.channels.Channel(B)},
    ):
        assert not replace(found, **change).verify()


def test_kantorovich_on_a_line_is_the_area_between_the_sums():
    rng = np.random.default_rng(7)
    for _ in range(10):
        n = int(rng.integers(1, 7))
        p, q = random_prior(rng, n), random_prior(rng, n)
        found = kantorovich_distance(counts(n - 1), p, q) if n > 1 else kantorovich_distance(discrete(1), p, q)
        assert found.value == sum(abs(sum(p[: x + 1]) - sum(q[: x + 1])) for x in range(n))
        assert found.verify()


def test_kantorovich_is_total_variation_on_equal_distances_and_the_transport_on_any():
    """Against the textbook's program with a variable for each pair, in rationals."""
    rng = np.random.default_rng(8)
    for _ in range(6):
        n = 5
        points = rng.integers(0, 9, (n, 2))
        table = abs(points[:, None] - points[None]).sum(axis=2) + 2 * (1 - np.eye(n, dtype=int))
        p, q = random_prior(rng, n), random_prior(rng, n)
        rows = [x for x in range(n) for _ in range(n)] + [n + y for _ in range(n) for y in range(n)]
        sides = np.array([*p, *q], dtype=object)
        cost = np.array([Fraction(int(d)) for d in table.ravel()], dtype=object)
        ones = np.array([Fraction(1)] * (2 * n * n), dtype=object)
        plan = solve_exactly(LinearProgram.of_triplets(cost, rows, [*range(n * n)] * 2, ones, sides, sides))
        assert kantorovich_distance(Space(table), p, q).value == plan.value
        variation = sum(max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True))
        assert kantorovich_distance(discrete(n), p, q).value == variation


def test_irrational_distances_are_between_two_bounds_and_forged_ones_are_noticed():
    found = kantorovich_distance(grid(3, 3), [1] + [0] * 8, [0] * 8 + [1])
    assert 0 < found.upper - found.lower < Fraction(1, 2**80)
    assert found.lower < Fraction(2828427124746190098, 10**18)
    assert found.upper > Fraction(2828427124746190097, 10**18)
    assert found.verify()
    assert not replace(found, lower=found.upper).verify()
    assert not replace(found, potential=found.potential * 2).verify()
    assert not replace(found, flow=found.flow[:0]).verify()


def test_what_is_no_prior_or_channel_is_refused():
    for change in (
        {"prior": ["1/2", "1/2"]},
        {"prior": ["1/2", "1/2", "1/2"]},
        {"prior": [0.5, 0.25, 0.25]},
        {"worse": [[0.5, 0.5]] * 3},
        {"worse": [[1], [1]]},
        {"gains": "all"},
    ):
        with pytest.raises(UtmostError):
            refinement_distance(**{"better": A, "worse": B, "prior": PRIOR} | change)
    for p, q in (([1, 0], [0, 1, 0]), ([1, 0, 0], [1, 1, 0]), ([2, -1, 0], [1, 0, 0])):
        with pytest.raises(OutOfRange):
            kantorovich_distance(counts(2), p, q)
