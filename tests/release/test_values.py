"""A release is the values plus exact noise, or nothing at all."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import LEVEL, chi_square
from utmost.errors import OutOfRange
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.releases import add_noise
from utmost.sampling import on_grid, sample
from utmost.testing import SeededRandomness, seeded_release

COUNTS = Geometric(epsilon=1)
SILENT = Geometric(epsilon=5000)  # noise other than 0 has a probability no test will live to see
REALS = Laplace(epsilon=1, sensitivity=2.5)

integers = st.one_of(st.integers(-100, 100), st.integers(-(2**63), 2**63 - 1), st.integers(-(2**80), 2**80))


@given(st.lists(integers, max_size=6))
def test_without_noise_integers_come_back_as_they_are(values):
    """As int64 exactly if all of them fit, whatever type they had."""
    released = add_noise(values, SILENT)
    fits = all(-(2**63) <= value < 2**63 for value in values)
    assert released.tolist() == values
    assert released.dtype == (np.int64 if fits else object)
    again = np.empty(len(values), object)
    again[:] = values
    assert add_noise(again, SILENT).tolist() == values


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_every_integer_type_is_read(kind):
    ends = np.array([np.iinfo(kind).min, 0, 1, np.iinfo(kind).max], kind)
    assert add_noise(ends, SILENT).tolist() == ends.tolist()
    assert add_noise(ends[:3], SILENT).dtype == np.int64


def test_unsigned_values_beyond_int64_are_read_as_they_are():
    for largest in (2**63 - 1, 2**63, 2**64 - 1):
        assert add_noise(np.array([largest], np.uint64), SILENT).tolist() == [largest]


@pytest.mark.parametrize("largest", [2**63 - 1, -(2**63)])
@pytest.mark.parametrize("wrapped", [list, np.array], ids=["list", "array"])
def test_sums_beyond_int64_widen_and_never_wrap(largest, wrapped):
    values = wrapped([largest] * 64)
    released = seeded_release(values, COUNTS, seed=1)
    noise = sample(COUNTS, 64, randomness=SeededRandomness(1)).tolist()
    assert released.tolist() == [largest + n for n in noise]
    assert released.dtype == object
    assert {type(x) for x in released} == {int}


def test_the_type_tells_nothing_that_the_sums_do_not():
    """A value beyond int64 with a noisy sum that fits is returned as int64, like any other sum that fits."""
    distribution = Geometric(epsilon="1/100")
    found = {}
    for value in (2**63 - 1, 2**63, 2**63 + 1):
        for seed in range(30):
            released = seeded_release(np.array([value], object), distribution, seed=seed)
            found.setdefault(released[0] < 2**63, set()).add(released.dtype)
    assert found == {True: {np.dtype(np.int64)}, False: {np.dtype(object)}}


@pytest.mark.parametrize("distribution", [COUNTS, DiscreteStaircase(epsilon=1, sensitivity=1000)], ids=repr)
@pytest.mark.parametrize("method", ["constant", "table", None])
def test_noise_has_the_distribution_whatever_the_values(distribution, method):
    values = np.arange(100_000) * 1000 - 10**7
    released = seeded_release(values, distribution, seed=3, method=method)
    assert chi_square(released - values, distribution.cdf) > LEVEL


@pytest.mark.parametrize("distribution", [REALS, Staircase(epsilon=1, sensitivity=2.5)], ids=repr)
def test_real_noise_has_the_distribution_on_the_grid(distribution):
    values = np.linspace(-1000, 1000, 50_001)
    released = seeded_release(values, distribution, seed=4)
    lattice, exponent = on_grid(distribution)
    points = np.ldexp(released, exponent)
    assert (points == np.floor(points)).all()
    snapped = np.floor(np.ldexp(values, exponent))
    assert chi_square((points - snapped).astype(np.int64), lattice.cdf) > LEVEL


@pytest.mark.parametrize(
    ("value", "distribution", "kind"),
    [
        (5, COUNTS, int),
        (2**70, COUNTS, int),
        (np.int8(5), COUNTS, int),
        (5, REALS, float),
        (0.5, REALS, float),
        (np.float32(0.5), REALS, float),
        (Fraction(1, 3), REALS, float),
        (Decimal("0.1"), REALS, float),
        (10**30, REALS, float),
    ],
)
def test_numbers_give_plain_numbers(value, distribution, kind):
    assert type(add_noise(value, distribution)) is kind


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (2, 3), (0, 3), (2, 0, 2), (2, 1, 3)])
def test_shapes_are_kept(shape):
    for values, distribution, kind in ((np.zeros(shape, int), COUNTS, np.int64), (np.zeros(shape), REALS, np.float64)):
        for given_values in (values, values.tolist(), values.astype(object), values[..., ::-1]):
            released = add_noise(given_values, distribution)
            assert released.shape == np.shape(given_values)
            assert released.dtype == kind
    assert add_noise(np.array(5), COUNTS).shape == ()


def test_tables_and_series_are_read():
    for values in (pd.Series([1, 2, 3]), pl.Series([1, 2, 3]), pd.Series([1, 2, 3], dtype="Int64"), (1, 2, 3)):
        assert add_noise(values, SILENT).tolist() == [1, 2, 3]
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert add_noise(frame, SILENT).tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize(
    "values", [np.arange(5), np.arange(5.0), np.arange(5).astype(object)], ids=lambda v: str(v.dtype)
)
def test_the_input_is_not_changed_nor_given_back(values):
    distribution = REALS if values.dtype == float else COUNTS
    kept = values.copy()
    values.setflags(write=False)
    released = add_noise(values, distribution)
    assert (values == kept).all()
    assert released.flags.writeable
    assert not np.shares_memory(released, values)


def test_large_releases_run_over_many_chunks():
    values = np.arange(150_000)
    assert (add_noise(values, SILENT) == values).all()
    assert (add_noise(values / 4, Laplace(epsilon=4000), grid="1/4") == values / 4).all()
    assert (np.abs(add_noise(values, REALS) - values) < 200).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.sampled_from([-3, 0, 1, 10, 20]))
def test_a_declared_grid_is_the_one_used(values, exponent):
    """Without noise: exactly floor(x/g + 1/2) g, for arrays, lists and single values."""
    width = Fraction(2) ** -exponent
    distribution = Laplace(epsilon=10**5, sensitivity=width)
    want = [float(math.floor(Fraction(x) / width + Fraction(1, 2)) * width) for x in values]
    assert add_noise(values, distribution, grid=width).tolist() == want
    assert add_noise(np.array(values), distribution, grid=width).tolist() == want
    assert add_noise(values[0], distribution, grid=width) == want[0]
    assert add_noise([Fraction(x) for x in values], distribution, grid=width).tolist() == want


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324, 1.7e308])
def test_tiny_and_huge_values_are_released(scale):
    values = [scale, -scale, 0.0]
    released = add_noise(values, Laplace(epsilon=1))
    assert np.isfinite(released).all()
    if scale < 1:
        assert np.abs(released).max() < 60
    else:
        assert released[:2].tolist() == values[:2]


@pytest.mark.parametrize("values", [[0.0], [1e-300, 0.1], np.linspace(0, 7, 50)])
def test_the_grid_does_not_depend_on_the_values(values):
    """The same grid for all data: released values are multiples of its width."""
    _, exponent = on_grid(REALS)
    assert all((Fraction(float(x)) * 2**exponent).denominator == 1 for x in add_noise(values, REALS))


def test_a_grid_is_for_distributions_on_the_reals():
    with pytest.raises(OutOfRange, match="no grid"):
        add_noise([1], COUNTS, grid=1)
    with pytest.raises(OutOfRange, match="power of two"):
        add_noise([1.0], REALS, grid="1/3")
