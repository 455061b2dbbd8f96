"""Hypothesis strategies for objects of the library: priors, losses, channels, levels, privacy types.

Every strategy draws objects that satisfy the hypothesis of a theorem by construction. Importing this module imports
hypothesis (the extra ``utmost[test]``); nothing else in the library does.
"""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from utmost.core.exact.arrays import Array, fractions
from utmost.core.exact.levels import Level, level
from utmost.core.exact.linear_algebra import matrix_product
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.spaces import losses
from utmost.design.spaces import priors as prior_distributions
from utmost.design.spaces.consumer import Consumer

sizes = st.integers(1, 7)
"""Numbers of secrets from 1 to 7."""

alphas = st.fractions(min_value=Fraction(1, 100), max_value=Fraction(99, 100), max_denominator=100)
"""Rational alphas from 1/100 to 99/100."""

levels = alphas.map(lambda alpha: level(alpha=alpha)) | st.sampled_from(["1/1000000", "1/2", "1", "3", "50"]).map(level)
"""Levels with a rational alpha, and levels with a rational epsilon from 10^-6 to 50."""


@st.composite
def priors(draw: st.DrawFn, n: int, full_support: bool = False) -> Array:
    """Exact priors on n secrets; zeros are likely unless `full_support` is true."""
    weights = draw(st.lists(st.integers(int(full_support), 9), min_size=n, max_size=n).filter(any))
    return prior_distributions.from_counts(weights)


@st.composite
def monotone_losses(draw: st.DrawFn, n: int, strict: bool = False) -> Array:
    """Exact (n, n) losses that are nondecreasing in |i - r| for every i; increasing if `strict`."""
    steps = st.lists(st.integers(int(strict), 5), min_size=n, max_size=n)
    rows = [np.cumsum([0, *draw(steps)[1:]]) + draw(st.integers(0, 2)) for _ in range(n)]
    i = np.arange(n)
    return losses.loss_matrix(np.array([row[abs(i - k)] for k, row in enumerate(rows)]).reshape(n, n))


@st.composite
def any_losses(draw: st.DrawFn, n: int, k: int) -> Array:
    """Exact (n, k) losses with no structure."""
    entries = st.lists(st.integers(0, 9), min_size=n * k, max_size=n * k)
    return losses.loss_matrix(np.array(draw(entries)).reshape(n, k))


@st.composite
def channels(draw: st.DrawFn, n: int, m: int) -> Channel:
    """Exact (n, m) channels; zero entries, zero columns and equal rows are likely."""
    weights = st.lists(st.integers(0, 4), min_size=m, max_size=m).filter(any)
    rows = [prior_distributions.from_counts(draw(weights)) for _ in range(n)]
    if n > 1 and draw(st.booleans()):
        rows[-1] = rows[0]
    return Channel(np.array(rows, dtype=object).reshape(n, m))


@st.composite
def refined_pairs(draw: st.DrawFn, n: int, m: int, k: int) -> tuple[Channel, Channel]:
    """Pairs of channels (B, B @ P) with a random channel P: the second refines the first."""
    coarse, after = draw(channels(n, m)), draw(channels(m, k))
    return coarse, coarse @ after


@st.composite
def private_channels(draw: st.DrawFn, n: int, at: Level) -> Channel:
    """Exact channels on counts 0, ..., n - 1 at a level with rational alpha: the geometric one, then any channel."""
    after = draw(channels(n, draw(st.integers(1, n))))
    return Channel(matrix_product(GeometricMatrix(n, at).matrix(), after.matrix))


@st.composite
def consumers(draw: st.DrawFn, n: int, strict: bool = False) -> Consumer:
    """Exact consumers on n secrets with a monotone loss; strict ones have full support and an increasing loss."""
    return Consumer(draw(priors(n, full_support=strict)), draw(monotone_losses(n, strict)))


def metrics(n: int) -> st.SearchStrategy[Array]:
    """Exact (n, n) metrics: shortest paths of a complete graph with random integer lengths."""

    def closed(lengths: list[int]) -> Array:
        d = np.triu(np.array(lengths).reshape(n, n), k=1)
        d = d + d.T
        for z in range(n):
            d = np.minimum(d, d[:, z][:, None] + d[z][None, :])
        return fractions(d)

    return st.lists(st.integers(1, 6), min_size=n * n, max_size=n * n).map(closed)
