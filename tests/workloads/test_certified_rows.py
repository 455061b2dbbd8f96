"""Rows over cells that one individual changes together: certified levels, against enumeration and any levels."""

from itertools import product

import numpy as np
import pytest

from utmost.errors import OutOfRange, Unsupported
from utmost.privacy import Unit
from utmost.workloads import certified_rows
from workload_cases import precision

ALL_THREE = [(0, 0, 1), (1, -1, 0), (1, 1, -1)]


def records_of(unit, cells):
    """What one individual may be counted with, in steps: at most so many cells, each a step of either sign or none."""
    entries = (0, 1) if unit.nonnegative else (-1, 0, 1)
    return [record for record in product(entries, repeat=cells) if np.count_nonzero(record) <= unit.cells]


UNITS = [
    Unit(1, cells, neighbours, nonnegative=known)
    for cells in (1, 2, 3)
    for neighbours in ("add-remove", "change-one")
    for known in (False, True)
]


EPSILONS = (0.1, 3.0, 3.0, 0.1, 3.0, 0.1, 0.1, 3.0, 0.1, 3.0, 3.0, 0.1)
"""Every relation, nonnegative or not, is tried at both."""


HALF = [place for place, unit in enumerate(UNITS) if (unit.cells + place // 2 + place) % 2]
"""Every two of the number of cells, the relation and nonnegative or not, together."""


@pytest.mark.parametrize(
    ("unit", "epsilon"),
    [
        pytest.param(unit, epsilon, marks=() if place in HALF else pytest.mark.slow)
        for place, (unit, epsilon) in enumerate(zip(UNITS, EPSILONS, strict=True))
    ],
)
def test_no_levels_that_keep_the_level_are_below_the_bound(unit, epsilon):
    """Levels drawn by lot, scaled to what all pairs of records leave room for; dense least squares."""
    random, records = np.random.default_rng(3), np.array(records_of(unit, 3))
    changes = (records[:, None] - records).reshape(-1, 3) if unit.neighbours == "change-one" else records
    rows = [*ALL_THREE, (0, 1, 2)]
    found = certified_rows(rows, unit, epsilon, weights=[1, 2, "1/2"], tolerance="1/5")
    assert found.is_certified
    A, gram = np.array(rows), np.diag([1, 2, 0.5])
    for _ in range(40):
        levels = random.gamma(0.3, size=4) + 1e-9
        levels *= epsilon / (np.abs(changes @ A.T) @ levels).max()
        X = A.T @ (precision(levels)[:, None] * A)
        assert np.trace(gram @ np.linalg.pinv(X)) >= found.bound
    shares = np.array(list(found.shares.values()))
    assert (np.abs(changes @ A.T) @ shares).max() == pytest.approx(1)
    X = A.T @ (precision(shares * epsilon)[:, None] * A)
    assert np.trace(gram @ np.linalg.inv(X)) == pytest.approx(found.value, rel=1e-9)


def test_the_rotated_pair_is_the_best_of_two_rows_by_a_grid():
    """Two rows, all levels in steps of a thousandth: the certified error is the least of them."""
    found = certified_rows([(1, 1), (1, -1)], Unit(1, 2, nonnegative=True), 1, weights=[1, 3], tolerance="1/1000")
    sums = np.arange(1, 1000) / 1000
    p, m = precision(sums), precision(1 - sums)  # (1, 1) charges twice the sum's share, (1, 0) both
    tried = [4 * (1 / p_ + 1 / m_) / 4 for s, p_, m_ in zip(sums, p, m, strict=True) if max(2 * s, 1) <= 1 + 1e-12]
    assert found.is_certified
    assert found.bound <= min(tried) <= found.value * 1.002


def test_rows_and_units_that_are_none_are_refused():
    counts = Unit(1, 2, nonnegative=True)
    for rows in ([(1, 1)], [(1, 1), (2, 2)], [(1, 0), (0, 0), (0, 1)], [(1,) * 7]):
        with pytest.raises(OutOfRange):
            certified_rows(rows, counts, 1)
    for words in ({"weights": [1]}, {"weights": [1, 0]}, {"start": [1]}, {"start": [1, -1]}, {"tolerance": 0}):
        with pytest.raises(OutOfRange):
            certified_rows([(1, 0), (0, 1)], counts, 1, **words)
    with pytest.raises(OutOfRange, match="a multiple"):
        certified_rows([(1, 0), (0, 1)], Unit(1, 3), 1)
    for unit in (Unit(2, 2, in_total=3), Unit(1, 1, "change-one", nonnegative=True, exactly=True)):
        with pytest.raises(Unsupported):
            certified_rows([(1, 0), (0, 1)], unit, 1)


@pytest.mark.parametrize("epsilon", ["1e-6", 50])
def test_extreme_levels(epsilon):
    found = certified_rows(ALL_THREE, Unit(1000, 3, nonnegative=True), epsilon)
    assert found.is_certified
    assert 0 < found.bound <= found.value
