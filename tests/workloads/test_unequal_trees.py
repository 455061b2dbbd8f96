"""Trees of unequal groups: the two passes are dense least squares, and unbiased in rationals."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange, Unsupported
from utmost.workloads import Domain, hierarchy, tree_estimate, tree_variances


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


def as_rationals(matrix):
    return fmpq_mat([[fmpq(Fraction(x).numerator, Fraction(x).denominator) for x in row] for row in matrix])


shapes = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=3)
positive = st.fractions(min_value="1/50", max_value=50, max_denominator=50)


@given(shapes, st.data())
def test_every_group_may_have_a_precision_of_its_own(shape, data):
    """As dense least squares with different noise in every county."""
    domain = three_levels(shape)
    own = [data.draw(positive) for _ in range(domain.size)]
    rows = np.vstack([np.eye(domain.size, dtype=int), np.ones((1, domain.size), dtype=int)]).tolist()
    information = as_rationals([[w * x for x in row] for w, row in zip([*own, Fraction(2)], rows, strict=True)])
    inverse = (as_rationals(rows).transpose() * information).inv()
    found = tree_variances(domain, [own, 0, 0, 2])
    assert found[0].tolist() == [Fraction(str(inverse[i, i])) for i in range(domain.size)]


def test_what_is_not_measured_finely_enough_is_not_determined():
    """States alone do not determine counties, but those of a state with one county throughout."""
    open_, alone = domain_of([1, 2]), domain_of([1, 1])
    assert tree_variances(open_, [0, 2, 0])[0].tolist() == [np.inf] * 3
    assert tree_estimate(open_, [None, [3, 4], None], [0, 1, 0])[0] is None
    assert tree_variances(alone, [0, 2, 0])[0].tolist() == [Fraction(1, 2)] * 2
    assert tree_estimate(alone, [None, [3, 4], None], [0, 1, 0])[0].tolist() == [3, 4]


WRONG = {
    "too few levels": ([1, 1], [[1, 2, 3], [1, 2], [3]]),
    "below zero": ([-1, 1, 1], [[1, 2, 3], [1, 2], [3]]),
    "nothing measured": ([0, 0, 0], [None, None, None]),
    "a level in part": ([[1, 0, 1], 1, 1], [[1, 2, 3], [1, 2], [3]]),
    "another shape": ([[1, 2], 1, 1], [[1, 2, 3], [1, 2], [3]]),
    "a precision without sums": ([1, 1, 0], [[1, 2, 3], None, None]),
    "too few sums": ([1, 0, 0], [[1, 2], None, None]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_sums_and_precisions_that_do_not_fit_are_refused(wrong):
    precisions, sums = WRONG[wrong]
    with pytest.raises(OutOfRange):
        tree_estimate(domain_of([1, 2]), sums, precisions)


def test_a_tree_beside_another_axis_is_refused():
    with pytest.raises(Unsupported, match="Domain of one axis"):
        tree_variances(Domain(place=domain_of([1, 2]).axes[0], sex=["men", "women"]), [1, 1, 1])
