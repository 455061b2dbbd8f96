"""Goodness of fit at a fixed level, and sources of bits that a test has written itself.

A test of draws compares one of these p-values with `LEVEL`, so that it passes under other bits, too (`pytest --bits`).
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.special import kolmogorov
from scipy.stats import binom, chi2, chisquare

from utmost.gradual import joint_pmf

LEVEL = 1e-9
"""A true sampler fails a test at this level once in 10^9 runs; seeded ones, once chosen, never."""


def chi_square(draws: Any, cdf: Callable[[Any], Any], least: float = 20.0) -> float:
    """The p-value of integers against a distribution function, in bins where ``least`` draws or more are expected."""
    draws = np.asarray(draws)
    n = draws.size
    low, high = draws.min(), draws.max()
    if high - low > 4000:  # wide distributions: bins at quantiles
        edges = np.unique(np.quantile(draws, np.linspace(0, 1, 2001)).astype(np.int64))
    else:
        edges = np.arange(low, high + 1)
    below = np.asarray(cdf(edges), float)
    wanted = np.diff(np.concatenate([[0.0], below, [1.0]])) * n
    found = np.diff(np.concatenate([[0], np.searchsorted(np.sort(draws), edges, side="right"), [n]])).astype(float)
    groups = np.minimum(np.floor(np.cumsum(wanted) / least), np.floor(wanted.sum() / least) - 1).astype(int)
    expected = np.bincount(groups, wanted)
    seen = np.bincount(groups, found, minlength=expected.size)
    expected, seen = expected[expected > 0], seen[expected > 0]
    if expected.size == 1:  # all the mass in one bin, as where noise is almost never anything but zero
        return 1.0
    statistic = float(((seen - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, expected.size - 1))


def kolmogorov_smirnov(draws: Any, cdf: Callable[[Any], Any]) -> float:
    """An upper bound on the p-value of the largest distance between empirical and true distribution function."""
    values, counts = np.unique(np.asarray(draws), return_counts=True)
    empirical = np.cumsum(counts) / counts.sum()
    true = np.asarray(cdf(values), float)
    before = np.concatenate([[0.0], empirical[:-1]])
    left = np.asarray(cdf(values - 1), float)
    distance = max(np.abs(empirical - true).max(), np.abs(before - left).max())
    return float(kolmogorov(distance * np.sqrt(counts.sum())))


def mass_chi_square(draws: Any, pmf: Callable[[Any], Any], reach: int = 40) -> float:
    """The p-value of integers against a probability function, with all values beyond ``reach`` and rare ones pooled."""
    k = np.arange(-reach, reach + 1)
    expected = np.asarray(pmf(k), float) * draws.size
    observed = np.array([(draws == i).sum() for i in k])
    often = expected >= 8
    e = np.append(expected[often], draws.size - expected[often].sum())
    o = np.append(observed[often], draws.size - observed[often].sum())
    if e[-1] < 8:
        e[-2], o[-2] = e[-2] + e[-1], o[-2] + o[-1]
        e, o = e[:-1], o[:-1]
    return 1.0 if e.size == 1 else float(chisquare(o, e * (o.sum() / e.sum())).pvalue)


def joint_chi_square(noise: Any, levels: Any, reach: int = 2) -> float:
    """The p-value of rows of noise, one for each level, against their joint distribution, with far values pooled."""
    width = 2 * reach + 1
    near = (np.abs(noise) <= reach).all(axis=0)
    index = sum((row + reach) * width**i for i, row in enumerate(noise))
    observed = np.bincount(np.where(near, index, width ** len(noise)), minlength=width ** len(noise) + 1)
    grids = np.meshgrid(*[np.arange(-reach, reach + 1)] * len(levels), indexing="ij")
    expected = np.zeros(observed.size)
    where = sum((g + reach) * width**i for i, g in enumerate(grids))
    expected[where.ravel()] = joint_pmf(grids, levels).astype(float).ravel()
    expected[-1] = 1 - expected.sum()
    often = expected * noise.shape[1] >= 8
    e, o = expected[often] * noise.shape[1], observed[often]
    e, o = np.append(e, noise.shape[1] - e.sum()), np.append(o, noise.shape[1] - o.sum())
    return float(chisquare(o[e > 0], e[e > 0]).pvalue)


def as_often(hits: int, trials: int, chance: float) -> float:
    """The p-value of so many hits in independent trials, each with this chance: twice the smaller tail, exactly."""
    below, above = binom.cdf(hits, trials, chance), binom.sf(hits - 1, trials, chance)
    return min(1.0, 2 * float(min(below, above)))


def no_more_often(misses: int, trials: int, chance: float) -> float:
    """The p-value of so many misses, each of at most this chance whatever came before: the upper tail, exactly."""
    return float(binom.sf(misses - 1, trials, chance))


class Written:
    """Bits that are written down: single words and arrays are served in the order given, then zeros or ``then``."""

    is_secure = True

    def __init__(self, words: Iterable[int] = (), arrays: Iterable[Iterable[int]] = (), then: int = 0) -> None:
        self.left, self.arrays, self.then = list(words), [list(array) for array in arrays], then
        self.served, self.ahead = 0, {}

    @property
    def word(self) -> Callable[[], int]:
        return self._word

    def _word(self) -> int:
        self.served += 1
        return self.left.pop(0) if self.left else self.then

    def words(self, count: int, bits: int) -> Any:
        array = self.arrays.pop(0) if self.arrays else [self._word() for _ in range(count)]
        assert len(array) == count
        return np.array(array, dtype=f"u{bits // 8}")
