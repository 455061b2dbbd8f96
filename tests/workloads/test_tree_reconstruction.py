"""Least squares on trees of unequal groups: exactly unbiased, dense least squares, the coefficients of every noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotDetermined

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.forms import group_of, selected
from utmost.publish.workloads.measuring.ways_to_measure import measurement_of
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.reconstruction.nonnegative_squares import nonnegative_least_squares
from utmost.publish.workloads.reconstruction.tree_reconstruction import TreeReconstruction
from utmost.workloads import Domain, hierarchy


@st.composite
def trees(draw):
    """Three levels, groups of any sizes, some levels measured."""
    shape = draw(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=1, max_size=3))
    tree = {
        f"s{i}": {f"s{i}r{j}": [f"s{i}r{j}d{k}" for k in range(size)] for j, size in enumerate(regions)}
        for i, regions in enumerate(shape)
    }
    domain = Domain(place=hierarchy(tree, names=["state", "region", "district"]))
    measured = draw(st.lists(st.sampled_from(list(domain.families())), min_size=1, unique=True))
    return domain, {family: draw(st.integers(1, 9)) for family in sorted(measured)}


def matrix(domain, family):
    """The 0/1 matrix of a level's sums."""
    group = domain.axes[0].group_of(family[0])
    return (group == np.arange(group.max() + 1)[:, None]).astype(float)


@given(trees(), st.integers(0, 10**6))
def test_estimates_and_coefficients_are_those_of_dense_least_squares(case, seed):
    """W (A'QA)^+ A'Q y of every level, and of an answer the coefficients Q A (A'QA)^+ w; unbiased in rationals."""
    domain, weights = case
    tree, draw = TreeReconstruction(domain, weights), np.random.default_rng(seed)
    A = np.vstack([matrix(domain, family) for family in weights])
    q = np.repeat([float(w) for w in weights.values()], [domain.group_shape(f)[0] for f in weights])
    measured = {family: draw.integers(-30, 30, domain.group_shape(family)) for family in weights}
    y = np.concatenate(list(measured.values()))
    inverse = np.linalg.pinv((A.T * q) @ A, rcond=1e-10)
    cells = np.array([int(one) * 10**16 + 1 for one in draw.integers(0, 99, domain.size)], dtype=object)
    for family in domain.families():
        W = matrix(domain, family)
        if not np.allclose(W @ inverse @ ((A.T * q) @ A), W, atol=1e-7):
            with pytest.raises(NotDetermined):
                tree.estimates(measured, family)
            continue
        want = W @ inverse @ (A.T @ (q * y))
        found, divisor = tree.estimates(measured, family)
        assert divisor == 1
        assert np.allclose(found.astype(float), want)
        assert np.allclose(tree.floats(measured, family), want)
        exact = tree.estimates({f: domain.sums(cells, f) for f in weights}, family)[0]
        assert (exact == domain.sums(cells, family)).all()
        last = (domain.group_shape(family)[0] - 1,)
        form = group_of(domain, family, last)
        assert float(tree.value(measured, form)) == pytest.approx(want[-1])
        c = np.abs(q * (A @ inverse @ W[-1]))
        terms = tree.terms(form)
        listed = [abs(float(key[0])) for t in terms.values() for key, count in t.items() for _ in range(count)]
        assert np.allclose(sorted(listed), sorted(c[c > 1e-12]))


@given(trees())
def test_groups_of_one_kind_have_errors_of_one_law(case):
    """Groups that the tree's symmetries exchange have equal coefficients, as multisets."""
    domain, weights = case
    tree = TreeReconstruction(domain, {(0,): 1, **weights})
    for family in domain.families():
        laws = {}
        for place, kind in enumerate(tree.kinds(family).tolist()):
            terms = tree.terms(group_of(domain, family, (place,)))
            law = {f: frozenset(t.items()) for f, t in terms.items()}
            assert laws.setdefault(kind, law) == law


def test_even_trees_are_estimated_alike_by_both():
    """Two routes: averages along axes, and two passes."""
    domain = Domain(place=hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"]))
    weights, draw = {(0,): 3, (1,): 5, (2,): 2}, np.random.default_rng(0)
    measured = {family: draw.integers(0, 99, domain.group_shape(family)) for family in weights}
    axes, tree = measurement_of(domain, weights).reconstruction(weights), TreeReconstruction(domain, weights)
    assert isinstance(axes, Reconstruction)
    for family in domain.families():
        sums, divisor = axes.estimates(measured, family)
        assert (tree.estimates(measured, family)[0] * divisor == sums).all()
    form = selected(domain, {"district": ["a", "c", "d"]})
    assert axes.terms(form) == tree.terms(form)
    assert axes.value(measured, form) == tree.value(measured, form)


def test_clean_cells_of_a_tree_of_unequal_groups():
    """The conditions of Karush, Kuhn and Tucker hold."""
    domain = Domain(place=hierarchy({"N": ["a", "b", "c"], "S": ["d"]}, names=["region", "district"]))
    weights = {(0,): 3, (1,): 5, (2,): 2}
    measured = {(0,): np.array([5, -4, 1, 0]), (1,): np.array([6, -3]), (2,): np.array([9])}
    found = nonnegative_least_squares(measurement_of(domain, weights).reconstruction(weights), measured)
    x = found.whole + found.rest
    gradient = sum(w * domain.spread(domain.sums(x, f) - measured[f], f) for f, w in weights.items())
    assert x.min() >= -1e-12
    assert gradient.min() > -1e-6
    assert np.abs(gradient * x).max() < 1e-6
