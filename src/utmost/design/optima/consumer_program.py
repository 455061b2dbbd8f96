"""The program of one consumer: the private channel with the least expected loss, for any metric space and any loss."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, as_rationals
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.optima.checker import alphas_above, near_alphas_above
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer


def user_program(ptype: PrivacyType, consumer: Consumer, *, exactly: bool = True) -> LinearProgram:
    r"""minimise sum_i p_i sum_r x_ir l(i, r) over the private channels x with the consumer's actions as outcomes.

    For every essential edge {i, j} of the space, every action r and both directions: x_ir >= alpha^d(i, j) x_jr; then
    sum_r x_ir = 1 for every i; x >= 0. The variable x_ir has the number i k + r for k actions; the row of edge e,
    direction g and action r the number (2 e + g) k + r, and the sums come last. An irrational alpha^d is replaced by a
    rational just above it, so that every solution is private.

    Returns: an exact program; the floats of a float consumer are read as the rationals that they are. With
        ``exactly=False`` the same in floats: Fractions take longer to form than a small program takes to solve.

    Source: (2) to (6) of [ghosh2009] with the ranges of (3) and (4) corrected (i < n, every r) and, for other metrics
    than the line of counts, the edges of the metric in place of neighbouring counts.
    """
    n, k = consumer.secrets, consumer.actions
    edges = ptype.space.edges
    unit: Any = Fraction(1) if exactly else 1.0
    kind: Any = object if exactly else np.float64
    prior, loss = (
        as_rationals(numbers) if exactly else numbers.astype(np.float64)
        for numbers in (consumer.prior, consumer.loss.ravel())
    )
    factors = alphas_above(ptype, edges) if exactly else near_alphas_above(ptype, edges)
    actions = np.arange(k)
    here = np.stack([edges, edges[:, ::-1]], axis=1).reshape(-1, 2)
    left, right = (here[:, side][:, None] * k + actions for side in (0, 1))
    privacy = np.arange(2 * len(edges) * k)
    total = 2 * len(edges) * k + np.repeat(np.arange(n), k)
    zeros, free, rest = (
        np.full(size, value, dtype=kind)
        for size, value in ((len(privacy), 0 * unit), (len(privacy), np.inf), (n, unit))
    )
    return LinearProgram.of_triplets(
        prior[:, None].repeat(k, axis=1).ravel() * loss,
        np.concatenate([privacy, privacy, total]),
        np.concatenate([left.ravel(), right.ravel(), np.arange(n * k)]),
        np.concatenate([np.full(len(privacy), unit, kind), -np.repeat(factors, 2 * k), np.full(n * k, unit, kind)]),
        np.concatenate([zeros, rest]),
        np.concatenate([free, rest]),
    )


def rows_of_neighbours(ptype: PrivacyType, consumer: Consumer) -> NDArray[np.intp]:
    """The rows of the program for edges from each secret to its 4 nearest ones, and the sums: few others are tight."""
    edges, k = ptype.space.edges, consumer.actions
    lengths = np.concatenate([ptype.space.distances[edges[:, 0], edges[:, 1]].astype(np.float64)] * 2)
    ends = edges.T.ravel()
    order = np.lexsort((lengths, ends))
    first = np.flatnonzero(np.diff(ends[order], prepend=-1))
    nth = np.arange(ends.size) - np.repeat(first, np.diff(first, append=ends.size))
    near = np.unique(order[nth < 4] % len(edges))
    sums = 2 * len(edges) * k + np.arange(consumer.secrets)
    return np.concatenate([(near[:, None] * 2 * k + np.arange(2 * k)).ravel(), sums])


def split_duals(duals: Array, edges: int, actions: int) -> tuple[Array, Array]:
    """The duals of the program as mu (n,) and the multipliers of privacy, (edges, 2, actions)."""
    cut = 2 * edges * actions
    return duals[cut:], duals[:cut].reshape(edges, 2, actions)
