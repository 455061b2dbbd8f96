"""Sampling estimates of the number of kernels, against types whose number is known."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from utmost.errors import OutOfRange
from utmost.geometry import estimate_kernels, kernel_sizes, vertices
from utmost.geometry.kernel_walk import PairCompletions
from utmost.papers.fernandes import SEVEN_VERTICES
from utmost.privacy import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming


@pytest.mark.parametrize(
    ("space", "at"), [(counts(4), {"alpha": "1/2"}), (hamming(2), {"epsilon": 1}), (discrete(4), {"alpha": "1/2"})]
)
def test_intervals_hold_the_truth(space, at):
    """Every size: the 99.99% interval holds the number of kernels; the seed is fixed."""
    ptype = PrivacyType(space, **at)
    for size, count in kernel_sizes(ptype).items():
        found = estimate_kernels(ptype, 400, np.random.default_rng(size), size=size, confidence=0.9999)
        assert found.low <= count <= found.high


def test_an_exhaustive_sample_is_exact():
    """Averaged over all sets of the sampled size, the estimator is the number: it is unbiased."""
    from utmost.geometry.estimate import _Completions
    from utmost.geometry.kernel_walk import scaled_differences

    listed = vertices(PrivacyType(counts(3), alpha="1/2"))
    counter = _Completions(listed, scaled_differences(listed))
    for size, count in kernel_sizes(PrivacyType(counts(3), alpha="1/2")).items():
        total = sum(counter.count(np.array(chosen)) for chosen in combinations(range(len(listed)), size - 1))
        assert total == size * count
        assert comb(len(listed), size - 1) >= total / len(listed)


@pytest.mark.slow
def test_nine_points_of_the_plane():
    """About 2.78 * 10^24 kernels of nine outcomes."""
    found = estimate_kernels(PrivacyType(grid(3, 3), alpha="1/2"), 6000, np.random.default_rng(5), confidence=0.999)
    assert found.low < 2.78e24 < found.high
    assert found.high < 2 * found.low


def test_refusals():
    """Samples, size and confidence out of range."""
    ptype, generator = PrivacyType(counts(2), alpha="1/2"), np.random.default_rng(0)
    with pytest.raises(OutOfRange, match="at least 2"):
        estimate_kernels(ptype, 1, generator)
    with pytest.raises(OutOfRange, match="between 1 and 3"):
        estimate_kernels(ptype, 10, generator, size=4)
    with pytest.raises(OutOfRange, match="between 0 and 1"):
        estimate_kernels(ptype, 10, generator, confidence=1.0)


@pytest.mark.parametrize(
    ("space", "at"),
    [
        (counts(2), {"alpha": "1/2"}),
        (counts(4), {"alpha": "1/2"}),
        (counts(4), {"epsilon": "1/2"}),
        (discrete(4), {"epsilon": 1}),
        (hamming(2), {"alpha": "1/2"}),
        (grid(2, 2), {"alpha": "1/2"}),
    ],
)
def test_pairs_that_complete_a_set(space, at):
    """Summed over all sets of n - 2 vertices, each kernel of n is completed once for each of its pairs."""
    ptype, n = PrivacyType(space, **at), space.size
    completions = PairCompletions.of(vertices(ptype))
    total = sum(completions.count(chosen) for chosen in combinations(range(len(vertices(ptype))), n - 2))
    assert total == comb(n, 2) * kernel_sizes(ptype)[n]


@pytest.mark.slow
def test_one_set_of_the_plane_has_more_completions_than_the_paper_could_list():
    """[fernandes2022], table 6: more than 10 000 kernels on nine points; so many have the same seven vertices."""
    listed = vertices(PrivacyType(grid(3, 3), alpha="1/2"))
    assert PairCompletions.of(listed).count(SEVEN_VERTICES) > 10_000
