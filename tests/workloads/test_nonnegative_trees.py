"""The least squares over x >= 0 of one tree: by enumeration of supports, and where floats have not the digits."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.counting import CountedTable
from utmost.privacy import Unit

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.unequal_trees import UnequalTree
from utmost.publish.workloads.reconstruction.nonnegative_squares import nonnegative_least_squares
from utmost.publish.workloads.reconstruction.nonnegative_trees import nearest_of_tree
from utmost.publish.workloads.reconstruction.tree_reconstruction import TreeReconstruction
from utmost.releases import release_detailed
from utmost.workloads import Domain, hierarchy

DOMAIN = Domain(place=hierarchy({"A": {"a": [1], "b": [2, 3]}, "B": {"c": [4, 5]}}, names=["state", "county", "town"]))
LEVELS = st.sampled_from([(0,), (0, 1), (0, 3), (0, 1, 2), (0, 1, 2, 3)])
SIZES = st.sampled_from([5, 10**6, 10**18, 10**40])


def exact(array):
    return np.array([Fraction(number) for number in array], dtype=object)


def gradient_of(cells, weights, measured):
    """Of half the sum of squares, by its definition."""
    slopes = exact([0] * DOMAIN.size)
    for family, weight in weights.items():
        off = DOMAIN.sums(cells, family) - measured[family].astype(object)
        slopes = slopes + weight * DOMAIN.spread(off, family)
    return slopes


@given(st.data(), LEVELS, SIZES)
def test_the_least_is_the_one_support_that_keeps_to_the_conditions_of_the_least(data, levels, size):
    """Of all 32 sets of cells that may be positive, solved by Gauss' elimination, those of the least give one point."""
    drawn = st.integers(-size, size)
    weights = {(level,): data.draw(st.sampled_from([1, 2, 7, 10**12])) for level in levels}
    measured = {
        family: np.array([data.draw(drawn) for _ in range(DOMAIN.group_shape(family)[0])], dtype=object)
        for family in weights
    }
    cells = exact(nearest_of_tree(UnequalTree.of(DOMAIN), weights, measured))
    points = set()
    for support in itertools.product([False, True], repeat=5):
        point = solved(support, weights, measured)
        slopes = gradient_of(point, weights, measured)
        if (point >= 0).all() and (slopes >= 0).all() and not (point * slopes).any():
            points.add(tuple(point))
    assert points == {tuple(cells)}


def solved(support, weights, measured):
    """The least over these cells, the others being zero: rows of the second derivative, by elimination."""
    free = [place for place, is_free in enumerate(support) if is_free]
    ones = np.array([[Fraction(int(a == b)) for b in range(5)] for a in range(5)], dtype=object)
    zero = exact([0] * 5)
    right = -gradient_of(zero, weights, measured)
    rows = [[*(gradient_of(ones[place], weights, measured) + right)[free], right[place]] for place in free]
    for at in range(len(rows)):
        rows[at] = [number / rows[at][at] for number in rows[at]]
        for other in range(len(rows)):
            if other != at:
                rows[other] = [a - rows[other][at] * b for a, b in zip(rows[other], rows[at], strict=True)]
    point = zero.copy()
    for place, row in zip(free, rows, strict=True):
        point[place] = row[-1]
    return point


@pytest.mark.parametrize("size", [10**15, 10**18, 10**40])
def test_numbers_beyond_the_digits_of_floats_are_nearest_to_the_last_one(size):
    """What was found at 10^18 was hundreds off, or nothing."""
    draw = np.random.default_rng(0)
    weights = {(0,): 1, (2,): 3}
    for _ in range(20):
        measured = {
            family: np.array([int(one * 10**9) * size for one in draw.normal(0, 1, groups)], dtype=object)
            for family, groups in (((0,), 5), ((2,), 2))
        }
        found = nonnegative_least_squares(TreeReconstruction(DOMAIN, weights), measured)
        cells = found.whole.astype(object) + exact(found.rest.tolist())
        assert max(abs(cells - exact(nearest_of_tree(UnequalTree.of(DOMAIN), weights, measured)))) < 1e-15
        assert found.residual == found.gap == 0


@pytest.mark.parametrize("seed", [5, 14])
def test_a_level_that_weighs_almost_nothing_beside_another_is_no_hindrance(seed):
    """Nothing was found within 10^-6 of a cell: the total weighed 10^10 times as much."""
    draw = np.random.default_rng(seed)
    domain, weights = Domain(a=list(range(6))), {(0,): 1, (1,): 10**10}
    measured = {(0,): draw.integers(-100, 1000, 6), (1,): draw.integers(0, 1000, 1)}
    found = nonnegative_least_squares(TreeReconstruction(domain, weights), measured)
    nearest = exact(nearest_of_tree(UnequalTree.of(domain), weights, measured))
    assert max(abs(found.whole.astype(object) + exact(found.rest.tolist()) - nearest)) < 1e-15


@pytest.mark.parametrize(("size", "reach", "share"), [(10**18, 10**18, "1/2"), (1000, 10, "0.999999")])
def test_a_release_in_two_stages_is_cleaned_at_every_size_and_share(size, reach, share):
    """One in twenty to one in two were refused: the tolerance is of a cell, whatever the size of the numbers."""
    domain = Domain(g=["a", "b"], x=["p", "q", "r", "s"])
    table = CountedTable(domain, np.array([0, size, 0, size // 3, 1, size // 7, 0, 0]).reshape(2, 4), Unit(reach, 1))
    for _ in range(3):
        release = release_detailed(table, "g", {"x": -(10**30)}, epsilon=1, first=share)
        clean = release.clean()
        both = release.together
        nearest = nearest_of_tree(UnequalTree.of(both.domain), both.reconstruction.weights, both.measured)
        assert max(abs(exact(clean.cells.tolist()) - exact(nearest))) < 1 + 1e-6
