"""Pricing over trees: against the simplex method on all rows, and what a tree proves, in rationals."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.design.optima.extreme_rays import Forest, generic_factors, plain_factors
from utmost.programs import LinearProgram, solve


def random_distances(rng, n):
    points = rng.random((n, 2)) * 3
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


def least_ratio(prices, weights, factors):
    """min <Y, v> over v with <q, v> = 1 and v_i >= a_ij v_j, with all its rows."""
    n = len(weights)
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    rows = np.arange(len(i))
    return solve(
        LinearProgram.of_triplets(
            prices,
            np.concatenate([rows, rows, np.full(n, len(i))]),
            np.concatenate([i, j, np.arange(n)]),
            np.concatenate([np.ones(len(i)), -factors[i, j], weights]),
            np.concatenate([np.zeros(len(i)), [1.0]]),
            np.concatenate([np.full(len(i), np.inf), [1.0]]),
        )
    ).value


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
@pytest.mark.parametrize("seed", range(6))
def test_pricing_finds_the_least_ratio_and_proves_it(seed, epsilon):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    factors, weights = generic_factors(random_distances(rng, n), epsilon), rng.dirichlet(np.ones(n))
    prices = rng.normal(size=(3, n))
    forest = Forest.of_stars(factors, weights, prices)
    forest.price(prices, np.arange(3, dtype=np.int32), 1000, 1e-9)
    for w in range(3):
        least = least_ratio(prices[w], weights, factors)
        assert forest.ratios[w] == pytest.approx(least, abs=1e-8)
        assert least - 1e-8 <= forest.proven[w] <= least + 1e-9
        v = forest.rays[w]
        assert weights @ v == pytest.approx(1)
        assert (v[:, None] >= factors * v[None, :] * (1 - 1e-12)).all()


@pytest.mark.parametrize("pivots", [0, 2, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_lowered_prices_prove_the_level_that_they_were_lowered_for(seed, pivots):
    """However unfinished the trees: no ray of the type has a lower ratio at these prices, by the simplex method."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    factors, weights = generic_factors(random_distances(rng, n), 1.0), rng.dirichlet(np.ones(n))
    prices = rng.normal(size=(3, n))
    forest = Forest.of_stars(factors, weights, prices)
    forest.price(prices, np.arange(3, dtype=np.int32), pivots, 1e-9)
    for level in (-0.5, float(forest.ratios.min()), 0.5):
        lacks = forest.lacks(prices, level)
        assert (lacks >= 0).all()
        assert all(least_ratio(row + lacks, weights, factors) >= level - 1e-8 for row in prices)
        if pivots == 1000 and level <= forest.proven.min():
            assert lacks.max() <= 1e-8


def test_every_ray_has_a_tree_of_tight_rows():
    rng = np.random.default_rng(7)
    factors, weights = generic_factors(random_distances(rng, 12), 1.0), np.full(12, 1 / 12)
    prices = rng.normal(size=(20, 12))
    forest = Forest.of_stars(factors, weights, prices)
    forest.price(prices, np.arange(20, dtype=np.int32), 1000, 1e-9)
    for v in forest.rays:
        tight = v[:, None] <= factors * v[None, :] * (1 + 1e-12)
        np.fill_diagonal(tight, False)
        reached = np.eye(12, dtype=bool)[0]
        for _ in range(12):
            reached = reached | ((tight | tight.T)[reached].any(axis=0))
        assert reached.all()
        assert tight.sum() == 11


@pytest.mark.parametrize("most", [0, 2, 1000])
def test_what_a_tree_proves_holds_in_rationals(most):
    """Y - level q - A'z >= 0 for the tree's z, at whatever tree pricing was stopped: weak duality without a float."""
    rng = np.random.default_rng(3)
    distances, weights = random_distances(rng, 9), rng.dirichlet(np.ones(9))
    factors = plain_factors(distances, 1.0)
    prices = rng.normal(size=(4, 9))
    forest = Forest.of_stars(generic_factors(distances, 1.0), weights, prices)
    forest.price(prices, np.arange(4, dtype=np.int32), most, 1e-9)
    below = prices - (forest.proven[:, None] - 1e-7) * weights
    proof = forest.multipliers(below, factors)
    left = [[Fraction(y) for y in row] for row in below.tolist()]
    for low, high, w, z in zip(
        *(part.tolist() for part in (proof.low, proof.high, proof.action, proof.value)), strict=True
    ):
        assert z >= 0
        left[w][low] -= Fraction(z)
        left[w][high] += Fraction(z) * Fraction(factors[low, high])
    assert min(map(min, left)) >= -Fraction(1, 10**12)
    for w in range(4):
        assert forest.proven[w] <= least_ratio(prices[w], weights, factors) + 1e-7


def test_factors_are_at_least_those_of_the_type_and_no_path_is_as_short_as_the_direct_one():
    """On a line all sums of distances tie; of the factors none does."""
    distances = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    factors = generic_factors(distances, 0.7)
    assert (factors >= np.exp(-0.7 * distances)).all()
    for i in range(6):
        for j in range(6):
            for m in set(range(6)) - {i, j}:
                assert i == j or factors[i, m] * factors[m, j] < factors[i, j]
    assert generic_factors(np.array([[0.0, 1e4], [1e4, 0.0]]), 50.0).min() > 0


def test_without_numba_the_answers_are_the_same():
    """The same steps in Python and in machine code."""
    code = """
import sys
if sys.argv[1] == "without":
    sys.modules["numba"] = None
import numpy as np
from utmost.design.optima.extreme_rays import Forest, generic_factors
from utmost.design.optima import tree_pricing
assert tree_pricing.COMPILED == (sys.argv[1] == "with")
tree_pricing.compile_if_it_pays(30)
assert not hasattr(tree_pricing.price_trees, "py_func")
tree_pricing.compile_if_it_pays(100)
assert hasattr(tree_pricing.price_trees, "py_func") == tree_pricing.COMPILED
rng = np.random.default_rng(5)
points = rng.random((15, 2)) * 3
factors = generic_factors(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)), 1.0)
prices = rng.normal(size=(6, 15))
forest = Forest.of_stars(factors, np.full(15, 1 / 15), prices)
pivots = forest.price(prices, np.arange(6, dtype=np.int32), 1000, 1e-9)
print(pivots, forest.parents.tolist(), forest.ratios.round(12).tolist())
"""
    pytest.importorskip("numba")
    with_it, without = (
        subprocess.run([sys.executable, "-c", code, how], capture_output=True, text=True, check=True).stdout
        for how in ("with", "without")
    )
    assert with_it == without != ""
