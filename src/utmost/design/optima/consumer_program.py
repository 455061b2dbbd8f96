"""Write the search for the private channel with the least expected loss as a linear program, for any space and loss."""

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
    """Return the linear program that minimises sum_i p_i sum_r x_ir l(i, r) over the private channels x."""
    # The constraints are x_ir >= alpha^d(i, j) x_jr for every essential edge {i, j}, in both directions, and every
    # action r; sum_r x_ir = 1 for every i; and x >= 0. For k actions, x_ir is the variable i k + r; edge e, direction g
    # and action r have the row (2 e + g) k + r; the row sums come last. An irrational alpha^d is replaced by a rational
    # just above, so every solution is private. The exact program converts floats to rationals; with ``exactly=False``
    # the program has floats, because it takes longer to make Fractions than to solve a small program. Source: (2) to
    # (6) of [ghosh2009] with corrected ranges of (3) and (4) (i < n, every r), and essential edges in place of
    # neighbouring counts.
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
    """Return the indices of those rows of `user_program` that are often tight: the privacy constraints along the edges
    between each secret and its 4 nearest secrets, and the row sums.
    """
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
    """Return the duals of `user_program` as mu (n,) and multipliers of privacy constraints (edges, 2, actions)."""
    cut = 2 * edges * actions
    return duals[cut:], duals[:cut].reshape(edges, 2, actions)
