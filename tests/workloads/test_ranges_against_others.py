"""All ranges of an ordered axis: better than every tree and the wavelet."""

import numpy as np
import pytest

from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan
from workload_cases import precision

ONE = Unit(1, 1)


def ranges(fanout):
    return Workload.ranges(Domain(a=bins(1024, fanout=fanout)), "a")


def in_units(value, epsilon):
    return value * precision(float(epsilon))


def equal_levels(fanout, epsilon):
    """The tree of this fanout, every level and the total alike."""
    wanted = ranges(fanout)
    marginals = list(wanted.domain.marginals())
    shares = dict.fromkeys(marginals, f"1/{len(marginals)}")
    return in_units(Plan(wanted.domain, ONE, shares, wanted, level(epsilon)).value, epsilon)


def wavelet(n, epsilon):
    """Haar's wavelet: the total, and of every block of 2, 4, ... the difference of its halves, at one level each.

    The rows are orthogonal, so least squares weigh each by itself: |w.h|^2/|h|^4 times the variance of its noise.
    """
    places = np.arange(n)
    rows = [np.ones(n)]
    size = 2
    while size <= n:
        half = np.where(places % size < size // 2, 1.0, -1.0)
        rows += [half * (places // size == block) for block in range(n // size)]
        size *= 2
    H = np.array(rows)
    M = Workload.ranges(Domain(a=bins(n)), "a").gram()
    squares = (H @ M * H).sum(axis=1) / (H**2).sum(axis=1) ** 2
    return float(squares.sum()) / precision(epsilon / (np.log2(n) + 1)) * precision(epsilon)


@pytest.mark.parametrize(
    ("epsilon", "binary", "haar", "four", "ours"),
    [
        pytest.param("0.1", 238.5, 205.3, 137.9, 64.48, marks=pytest.mark.slow),
        pytest.param(1, 258.6, 222.7, 149.3, 69.72, marks=pytest.mark.slow),
        (3, 477.2, 410.8, 272.0, 123.05),
    ],
)
def test_ranges_are_better_than_trees_and_the_wavelet(epsilon, binary, haar, four, ours):
    """The figures of 1024 bins, in units of the variance at the whole level."""
    found = choose_plan(ranges(2), ONE, epsilon=epsilon)
    assert in_units(found.value, epsilon) == pytest.approx(ours, abs=0.01)
    others = [equal_levels(fanout, epsilon) for fanout in (2, 4, 32)]
    assert others[:2] == pytest.approx([binary, four], abs=0.06)
    assert wavelet(1024, float(epsilon)) == pytest.approx(haar, abs=0.06)
    assert in_units(found.value, epsilon) < min(others)
