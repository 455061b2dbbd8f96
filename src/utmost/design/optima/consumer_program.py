"""The program of one consumer: the private channel with the least expected loss, for any metric space and any loss."""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.design.optima.checker import alpha_above
from utmost.design.spaces import Consumer
from utmost.design.types import PrivacyType
from utmost.laws.exact import Array, as_rationals, checked, objects
from utmost.laws.programs.linear_program import LinearProgram


@checked
def user_program(ptype: PrivacyType, consumer: Consumer) -> LinearProgram:
    r"""minimise sum_i p_i sum_r x_ir l(i, r) over the private channels x with the consumer's actions as outcomes.

    For every essential edge {i, j} of the space, every action r and both directions: x_ir >= alpha^d(i, j) x_jr; then
    sum_r x_ir = 1 for every i; x >= 0. The variable x_ir has the number i k + r for k actions; the row of edge e,
    direction g and action r the number (2 e + g) k + r, and the sums come last. An irrational alpha^d is replaced by a
    rational just above it, so that every solution is private.

    Returns: an exact program; the floats of a float consumer are read as the rationals that they are.

    Source: (2) to (6) of [ghosh2009] with the ranges of (3) and (4) corrected (i < n, every r) and, for other metrics
    than the line of counts, the edges of the metric in place of neighbouring counts.
    """
    n, k = consumer.secrets, consumer.actions
    edges = ptype.space.edges
    factors = objects(alpha_above(ptype, i, j) for i, j in edges.tolist())
    actions = np.arange(k)
    here = np.stack([edges, edges[:, ::-1]], axis=1).reshape(-1, 2)
    left, right = (here[:, side][:, None] * k + actions for side in (0, 1))
    privacy = np.arange(2 * len(edges) * k)
    total = 2 * len(edges) * k + np.repeat(np.arange(n), k)
    ones = _filled(len(privacy), Fraction(1))
    values = np.concatenate([ones, -np.repeat(factors, 2 * k), _filled(n * k, Fraction(1))])
    zeros, rest = _filled(len(privacy), Fraction(0)), _filled(n, Fraction(1))
    return LinearProgram.of_triplets(
        as_rationals(consumer.prior)[:, None].repeat(k, axis=1).ravel() * as_rationals(consumer.loss.ravel()),
        np.concatenate([privacy, privacy, total]),
        np.concatenate([left.ravel(), right.ravel(), np.arange(n * k)]),
        values,
        np.concatenate([zeros, rest]),
        np.concatenate([_filled(len(privacy), np.inf), rest]),
    )


def split_duals(duals: Array, edges: int, actions: int) -> tuple[Array, Array]:
    """The duals of the program as mu (n,) and the multipliers of privacy, (edges, 2, actions)."""
    cut = 2 * edges * actions
    return duals[cut:], duals[:cut].reshape(edges, 2, actions)


def _filled(size: int, value: Any) -> Array:
    return np.full(size, value, dtype=object)
