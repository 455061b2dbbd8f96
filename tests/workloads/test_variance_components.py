"""Orthogonal block structure: closed forms against dense least squares."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange, Unsupported

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring import variance_components as blocks
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, precision, relative_precision
from utmost.workloads import Domain, bins, hierarchy
from workload_cases import dense_variances, domains, rows_of_family, tree_of


@given(domains(), st.data())
def test_the_closed_form_is_dense_least_squares(domain, data):
    """For every family V, any levels: the variance of a sum over a group is that of least squares, to 1e-10."""
    structure = VarianceComponents.of(domain)
    levels = np.array(
        data.draw(
            st.lists(
                st.sampled_from([0.0, 0.2, 0.5, 1.0, 2.0]),
                min_size=len(structure.families),
                max_size=len(structure.families),
            ).filter(any)
        )
    )
    rows = [rows_of_family(domain, family)[-1] for family in structure.families]
    found = dense_variances(domain, dict(zip(structure.families, levels, strict=True)), rows)
    for family, dense in zip(structure.families, found, strict=True):
        assert structure.variance(family, levels) == pytest.approx(dense, rel=1e-10)


@given(domains())
def test_the_eigenspaces_share_out_the_cells(domain):
    """Dimensions add up to the cells, and the parts of an answer to the cells that it adds up."""
    structure = VarianceComponents.of(domain)
    assert structure.dimensions.sum() == structure.cells == domain.size
    assert (structure.dimensions >= 0).all()
    for family, size in zip(structure.families, structure.sizes, strict=True):
        assert sum(structure.answer_spectrum(family)) == Fraction(int(size))
        assert rows_of_family(domain, family).sum(axis=1) == pytest.approx(size)


@given(st.floats(1e-300, 600))
def test_precision_keeps_its_digits(level):
    """cosh(e) - 1 near 0 is e^2/2, far away exp(e)/2, and between them what high precision says."""
    small, large = level**2 / 2, math.exp(level) / 2
    assert precision(level) == pytest.approx(small, rel=level**2 / 11 + 1e-14) or level > 1e-2
    assert precision(level) == pytest.approx(large, rel=2.1 * math.exp(-level) + 1e-14) or level < 1
    if 1e-2 <= level <= 1:
        series = sum(Fraction(level) ** (2 * k) / math.factorial(2 * k) for k in range(1, 12))
        assert precision(level) == pytest.approx(float(series), rel=1e-14)


@given(st.floats(0, 1), st.floats(1e-9, 300))
def test_relative_precision_is_the_ratio(share, level):
    """p(share * level) / p(level), also where p overflows: then exp((share - 1) level)."""
    assert relative_precision(share, level) == pytest.approx(precision(share * level) / precision(level), rel=1e-12)
    assert relative_precision(share, 3000.0) == pytest.approx(math.exp((share - 1) * 3000) * (share > 0), rel=1e-9) or (
        0 < share < 0.01
    )


def test_a_level_above_all_measure_is_finite():
    """At level 5000 the variance is 0 to every digit, and what is not determined has variance inf all the same."""
    structure = VarianceComponents.of(Domain(sex=["men", "women"]))
    assert structure.variance((1,), np.array([5000.0, 0.0])) < 1e-200
    assert structure.variance((0,), np.array([0.0, 5000.0])) == math.inf
    assert structure.variance((1,), np.array([1e-9, 0.0])) == pytest.approx(4e18)


def test_one_value_and_one_cell():
    """An axis of one value has two families with the same groups, and one eigenspace of dimension 0."""
    structure = VarianceComponents.of(Domain(only=["here"]))
    assert structure.dimensions.tolist() == [0, 1]
    assert structure.variance((0,), np.array([1.0, 1.0])) == pytest.approx(1 / (2 * precision(1.0)))


def test_a_hundred_thousand_cells_are_a_few_numbers():
    """300 x 400 cells and a tree of 10^5 places: four families, three families."""
    assert VarianceComponents.of(Domain(a=range(300), b=range(400))).below.shape == (4, 4)
    assert VarianceComponents.of(Domain(place=tree_of(100, 1000))).sizes.tolist() == [1, 1000, 100_000]


def test_uneven_groups_and_too_many_families_are_refused():
    uneven = Domain(place=hierarchy({"N": ["n1", "n2"], "S": ["s1"]}, names=["region", "district"]), sex=["m", "w"])
    with pytest.raises(Unsupported, match="one size"):
        VarianceComponents.of(uneven)
    with pytest.raises(OutOfRange, match="10\\^8"):
        VarianceComponents.of(Domain({f"a{i}": range(2) for i in range(14)}))


def test_what_is_kept_cannot_be_written_and_travels():
    structure = VarianceComponents.of(Domain(age=bins(8)))
    assert not any(getattr(structure, name).flags.writeable for name in ("sizes", "dimensions", "below"))
    again = pickle.loads(pickle.dumps(structure))
    assert again.families == structure.families
    assert not again.sizes.flags.writeable
    assert (again.below == structure.below).all()
    assert blocks.chains_of(Domain(age=bins(8))) == ((1, 2, 4, 8),)
