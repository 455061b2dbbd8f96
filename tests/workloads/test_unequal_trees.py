"""Trees of unequal groups: the two passes are dense least squares, unbiased in rationals, and blocks where equal."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange, Unsupported
from utmost.privacy import Unit

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.unequal_trees import TreeError, UnequalTree
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.publish.workloads.planning.tree_search import least_tree_shares
from utmost.workloads import Domain, Workload, bins, bounds_of, hierarchy, tree_estimate, tree_variances
from workload_cases import precision

ONE = Unit(1, 1)


def domain_of(sizes):
    """States with these many counties each."""
    branches = {f"s{i}": [f"s{i}c{j}" for j in range(size)] for i, size in enumerate(sizes)}
    return Domain(place=hierarchy(branches, names=["state", "county"]))


def three_levels(shape):
    """Divisions of states of counties: a list of lists of how many counties."""
    branches = {
        f"d{i}": {f"d{i}s{j}": [f"d{i}s{j}c{k}" for k in range(size)] for j, size in enumerate(states)}
        for i, states in enumerate(shape)
    }
    return Domain(place=hierarchy(branches, names=["division", "state", "county"]))


def rows_of(domain, level):
    """The groups of a level as rows of 0 and 1."""
    axis = domain.axes[0]
    return (np.arange(axis.groups(level))[:, None] == axis.group_of(level)[None, :]).astype(int)


def as_rationals(matrix):
    return fmpq_mat([[fmpq(Fraction(x).numerator, Fraction(x).denominator) for x in row] for row in matrix])


def dense(domain, precisions):
    """(A'PA)^-1 A'P, and the variances of every group, in rationals, by inverting a matrix."""
    rows = np.vstack([rows_of(domain, level) for level in range(len(precisions))])
    weights = [p for level, p in enumerate(precisions) for _ in range(domain.axes[0].groups(level))]
    A, weighted = (
        as_rationals(rows.tolist()),
        as_rationals([[w * x for x in row] for w, row in zip(weights, rows.tolist(), strict=True)]),
    )
    inverse = (A.transpose() * weighted).inv()
    variances = A * inverse * A.transpose()
    return inverse * weighted.transpose(), [Fraction(str(variances[i, i])) for i in range(len(rows))]


shapes = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=3)
positive = st.fractions(min_value="1/50", max_value=50, max_denominator=50)
upper = st.one_of(st.just(Fraction(0)), positive)


@given(shapes, positive, st.tuples(upper, upper, upper))
def test_two_passes_are_dense_least_squares(shape, finest, others):
    """Variances and estimates in Fractions, for three levels and "all" of any sizes, some not measured."""
    domain = three_levels(shape)
    tree, precisions = UnequalTree.of(domain), [finest, *others]
    estimator, variances = dense(domain, precisions)
    found = tree_variances(tree, precisions)
    assert [one for level in found for one in level.tolist()] == variances
    sums = [[(7 * g * g + level) % 11 - 3 for g in range(count)] for level, count in enumerate(tree.groups)]
    measured = [row if p else None for row, p in zip(sums, precisions, strict=True)]
    flat = as_rationals([[x] for row in sums for x in row])
    cells = [Fraction(str(x)) for x in (estimator * flat).entries()]
    estimates = tree_estimate(tree, measured, precisions)
    for level, estimate in enumerate(estimates):
        assert estimate.tolist() == [
            sum(x for x, taken in zip(cells, row, strict=True) if taken) for row in rows_of(domain, level)
        ]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.tuples(positive, positive, positive), st.data())
def test_estimates_are_exactly_unbiased_for_any_rational_weights(sizes, precisions, data):
    """B A = I: from true sums the estimate is the truth, so noise of mean 0 leaves it unbiased."""
    domain = domain_of(sizes)
    truth = np.array(data.draw(st.lists(st.integers(-9, 99), min_size=sum(sizes), max_size=sum(sizes))), dtype=object)
    sums = [rows_of(domain, level) @ truth for level in range(3)]
    for level, estimate in enumerate(tree_estimate(UnequalTree.of(domain), sums, precisions)):
        assert estimate.tolist() == sums[level].tolist()


@given(st.integers(1, 5), st.integers(1, 5), st.lists(st.floats(0, 4), min_size=3, max_size=3))
def test_equal_trees_agree_with_blocks(states, counties, levels):
    """Where all groups of a level have one size, the closed form of orthogonal blocks."""
    domain = domain_of([counties] * states)
    blocks, at = VarianceComponents.of(domain), np.array([levels[0] + 0.01, *levels[1:]])
    found = tree_variances(UnequalTree.of(domain), precision(at).tolist())
    for level in range(3):
        assert found[level] == pytest.approx(blocks.variance((level,), at), rel=1e-9)


@given(shapes, st.data())
def test_every_group_may_have_a_precision_of_its_own(shape, data):
    """As dense least squares with different noise in every county."""
    domain = three_levels(shape)
    tree = UnequalTree.of(domain)
    own = [data.draw(positive) for _ in range(tree.groups[0])]
    rows = np.vstack([np.eye(tree.groups[0], dtype=int), np.ones((1, tree.groups[0]), dtype=int)]).tolist()
    information = as_rationals([[w * x for x in row] for w, row in zip([*own, Fraction(2)], rows, strict=True)])
    inverse = (as_rationals(rows).transpose() * information).inv()
    found = tree_variances(tree, [own, 0, 0, 2])
    assert found[0].tolist() == [Fraction(str(inverse[i, i])) for i in range(tree.groups[0])]


def test_what_is_not_measured_finely_enough_is_not_determined():
    """States alone do not determine counties, but those of a state with one county throughout."""
    tree = UnequalTree.of(domain_of([1, 2]))
    assert tree_variances(tree, [0, 2, 0])[0].tolist() == [np.inf] * 3
    assert tree_estimate(tree, [None, [3, 4], None], [0, 1, 0])[0] is None
    alone = UnequalTree.of(domain_of([1, 1]))
    assert tree_variances(alone, [0, 2, 0])[0].tolist() == [Fraction(1, 2)] * 2
    assert tree_estimate(alone, [None, [3, 4], None], [0, 1, 0])[0].tolist() == [3, 4]


STATES = domain_of([3, 24, 15, 8, 1, 5, 12])


def test_no_random_shares_are_better_and_no_bound_is_broken():
    """The search is never worse than 60 random shares; all of them are above the bounds on mechanisms and rows."""
    wanted = Workload(STATES, {"county": 1, "state": 1, "": 1})
    unit = Unit(1, 2)
    for epsilon in (0.2, 2.0):
        error = TreeError.of(wanted, unit, epsilon)
        shares = least_tree_shares(wanted, unit, epsilon)
        assert sum(shares.values()) == 1
        found = float(error(np.array([float(shares.get((level,), 0)) for level in range(3)])))
        others = error(np.random.default_rng(2).dirichlet(np.ones(3), 30))
        assert others.shape == (30,)
        assert found <= others.min() * (1 + 1e-4)
        bounds = bounds_of(wanted, unit, epsilon)
        assert bounds.these_families is None
        assert all(factor >= 1 for factor in bounds.within(found / float(precision(epsilon / 2))).values())


def test_the_error_of_a_tree_is_the_weighted_sum_of_variances():
    """Also of one group by its label, and the shares known of 8 x 25 places, where the tree is equal."""
    wanted = Workload(STATES, {"state=s3": 2, "county": 5})
    error = TreeError.of(wanted, ONE, 1)
    variances = tree_variances(error.tree, precision(np.array([0.7, 0.3, 0.0])).tolist())
    direct = 2 * variances[1][3] + 5 * variances[0].mean()
    assert float(error(np.array([0.7, 0.3, 0.0]))) == pytest.approx(direct * float(precision(1.0)))
    equal = domain_of([25] * 8)
    found = least_tree_shares(Workload(equal, {"county": 1, "state": 1, "": 1}), ONE, 1)
    assert [float(share) for share in found.values()] == pytest.approx([0.346, 0.338, 0.317], abs=2e-3)


def test_thousands_of_counties():
    """Some 3 000 in 51 states: one evaluation touches each group once or twice."""
    sizes = np.random.default_rng(3).integers(1, 120, 51).tolist()
    tree = UnequalTree.of(domain_of(sizes))
    found = tree_variances(tree, [1.0, 2.0, 0.5])
    assert found[0].shape == (sum(sizes),)
    assert (found[0] <= 1).all()
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert twin.groups == tree.groups
        assert not twin.parents[0].flags.writeable


@pytest.mark.parametrize("precisions", [[1, 1], [-1, 1, 1], [0, 0, 0], [[1, 0, 1], 1, 1], [[1, 2], 1, 1]])
def test_precisions_that_are_none(precisions):
    with pytest.raises(OutOfRange):
        tree_variances(UnequalTree.of(domain_of([1, 2])), precisions)


def test_refusals():
    tree = UnequalTree.of(domain_of([1, 2]))
    with pytest.raises(OutOfRange, match="or it is not"):
        tree_estimate(tree, [[1, 2, 3], None, None], [1, 1, 0])
    with pytest.raises(OutOfRange, match="as many sums"):
        tree_estimate(tree, [[1, 2], None, None], [1, 0, 0])
    place = domain_of([1, 2]).axes[0]
    with pytest.raises(Unsupported, match="Drop the coarser level"):
        UnequalTree.of(Domain(place=place, sex=["men", "women"]))
    with pytest.raises(Unsupported, match="only groups are wanted"):
        TreeError.of(Workload.ranges(Domain(age=bins(6)), "age"), ONE, 1)
